// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares DeviceSegmentedScan with CUB's, which exists since CUB 3.3, and with a scan by key (`cub_by_key`), whose
// keys are the segment numbers of the items. The necessary traffic is the items, read once and written once, and the
// offsets. The keys of the scan by key do not count.

#include <cub/device/device_scan.cuh>
#include <cub/version.cuh>
#define STRATA_BENCHMARK_CUB_HAS_SEGMENTED_SCAN (CUB_VERSION >= 300300)
#if STRATA_BENCHMARK_CUB_HAS_SEGMENTED_SCAN
#include <cub/device/device_segmented_scan.cuh>
#endif
#include <cuda/std/functional>
#include <strata/device/device_segmented_scan.cuh>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"
#include "harness/segments.cuh"

namespace {

using bench::device_array;
using bench::environment;
using bench::offset_list;
using bench::workload;

/// Returns the number of the segment of each item.
device_array<std::uint32_t> segment_numbers(const offset_list& offsets, cudaStream_t stream) {
  std::vector<std::uint32_t> numbers(static_cast<std::size_t>(offsets.back()));
  for (std::size_t segment = 0; segment + 1 < offsets.size(); ++segment) {
    std::fill(numbers.begin() + offsets[segment], numbers.begin() + offsets[segment + 1],
              static_cast<std::uint32_t>(segment));
  }
  const device_array<std::uint32_t> keys(numbers.size());
  keys.upload(numbers, stream);
  return keys;
}

/// Sums integers, which are exact in any order.
template <class T>
workload segmented_sum(const environment& env, const offset_list& host_offsets) {
  const device_array<std::int32_t> offsets(host_offsets.size());
  offsets.upload(host_offsets, env.stream);
  const int n = host_offsets.back();
  const auto segments = static_cast<std::int64_t>(host_offsets.size()) - 1;
  const auto in = bench::random_array<T>(n, env.settings.seed, env.stream);
  const auto keys = segment_numbers(host_offsets, env.stream);
  const device_array<T> ours(in.size()), theirs(in.size()), by_key(in.size());
  ours.fill_bytes(0xa5, env.stream);
  theirs.fill_bytes(0x5a, env.stream);
  workload work;
  work.bytes = 2 * static_cast<double>(in.bytes()) + static_cast<double>(offsets.bytes());
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const std::int32_t* begins = offsets.data();
    return strata::DeviceSegmentedScan::ExclusiveSegmentedSum(storage, bytes, in.data(), ours.data(), begins,
                                                              begins + 1, segments, stream);
  }));
  const cudaStream_t stream = env.stream;
#if STRATA_BENCHMARK_CUB_HAS_SEGMENTED_SCAN
  bench::peer rival = bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t on) {
    const std::int32_t* begins = offsets.data();
    return cub::DeviceSegmentedScan::ExclusiveSegmentedSum(storage, bytes, in.data(), theirs.data(), begins, begins + 1,
                                                           segments, on);
  });
  rival.verify = [=] { return bench::difference(theirs, by_key, {}, stream); };
  work.peers.push_back(rival);
#endif
  work.peers.push_back(bench::storage_peer("cub_by_key", [=](void* storage, std::size_t& bytes, cudaStream_t on) {
    return cub::DeviceScan::ExclusiveSumByKey(storage, bytes, keys.data(), in.data(), by_key.data(), n,
                                              cuda::std::equal_to<>{}, on);
  }));
  work.peers.push_back(bench::copy_peer(in.data(), in.bytes()));
  work.verify = [=] { return bench::difference(ours, by_key, {}, stream); };
  return work;
}

void add_segments(bench::suite& suite, const char* name, int log_size,
                  offset_list (*lengths)(std::int64_t, std::uint64_t), bench::timing how = bench::timing::batched) {
  const std::int64_t n = std::int64_t{1} << log_size;
  const auto prepare = [=](const environment& env) {
    return segmented_sum<std::int32_t>(env, lengths(n, env.settings.seed));
  };
  bench::benchmark_case what{"DeviceSegmentedScan::ExclusiveSegmentedSum", "i32", name, n, how, prepare};
#if STRATA_BENCHMARK_CUB_HAS_SEGMENTED_SCAN
  what.rivals = {"cub", "cub_by_key"};
#else
  what.rivals = {"cub_by_key"};
#endif
  suite.add(what);
}

void add_cases(bench::suite& suite) {
  for (const int log_size : {16, 20, 24, 27}) {
    add_segments(suite, "u10", log_size, bench::alike<10>);
    add_segments(suite, "u100", log_size, bench::alike<100>);
    add_segments(suite, "u1000", log_size, bench::alike<1000>);
    add_segments(suite, "u10000", log_size, bench::alike<10000>);
  }
  add_segments(suite, "u1e6", 27, bench::alike<1000000>);
  add_segments(suite, "zipf", 24, bench::zipf);
  add_segments(suite, "huge_tiny", 24, bench::one_huge_many_tiny);
  add_segments(suite, "many_empty", 24, bench::mostly_empty);
  add_segments(suite, "u100", 16, bench::alike<100>, bench::timing::single_call);
}

}  // namespace

int main(int argc, char** argv) { return bench::run("segmented_scan", argc, argv, add_cases); }
