// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares DeviceSegmentedReduce with CUB's. The necessary traffic is the input, the offsets if there are any, and one
// result per segment.

#include <cub/device/device_segmented_reduce.cuh>
#include <cub/version.cuh>
#include <strata/device/device_segmented_reduce.cuh>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"
#include "harness/segments.cuh"

namespace {

using bench::benchmark_case;
using bench::device_array;
using bench::environment;
using bench::equal_segments;
using bench::mostly_empty;
using bench::offset_list;
using bench::one_huge_many_tiny;
using bench::timing;
using bench::workload;
using bench::zipf;

// ------------------------------------------------------------------ peers

/// The length of all segments if the call gets one length, or 0 if it gets offsets.
struct fixed_length {
  int value = 0;
};

template <class T>
workload segmented_sum(const environment& env, const offset_list& host_offsets, fixed_length fixed) {
  const device_array<std::int32_t> offsets(host_offsets.size());
  offsets.upload(host_offsets, env.stream);
  const std::int64_t n = host_offsets.back();
  const auto segments = static_cast<std::int64_t>(host_offsets.size()) - 1;
  const auto in = bench::random_array<T>(n, env.settings.seed, env.stream);
  const device_array<T> by_strata(static_cast<std::size_t>(segments));
  const device_array<T> by_cub(static_cast<std::size_t>(segments));
  by_strata.fill_bytes(0xa5, env.stream);
  by_cub.fill_bytes(0x5a, env.stream);

  workload work;
  const bool has_offsets = fixed.value == 0;
  work.bytes =
      static_cast<double>(in.bytes() + by_strata.bytes()) + (has_offsets ? static_cast<double>(offsets.bytes()) : 0.0);
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const std::int32_t* begins = offsets.data();
    const T* items = in.data();
    return fixed.value > 0 ? strata::DeviceSegmentedReduce::Sum(storage, bytes, items, by_strata.data(), segments,
                                                                fixed.value, stream)
                           : strata::DeviceSegmentedReduce::Sum(storage, bytes, items, by_strata.data(), segments,
                                                                begins, begins + 1, stream);
  }));
  work.peers.push_back(bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const std::int32_t* begins = offsets.data();
    const T* items = in.data();
#if CUB_VERSION >= 300200
    if (fixed.value > 0) {
      return cub::DeviceSegmentedReduce::Sum(storage, bytes, items, by_cub.data(), segments, fixed.value, stream);
    }
#endif
    return cub::DeviceSegmentedReduce::Sum(storage, bytes, items, by_cub.data(), segments, begins, begins + 1, stream);
  }));
  work.peers.push_back(bench::copy_peer(in.data(), in.bytes()));
  const cudaStream_t stream = env.stream;
  const bench::tolerance allowed = {1e-4, 0};  // the libraries add floating-point numbers in different orders
  work.verify = [=] { return bench::difference(by_strata, by_cub, allowed, stream); };
  return work;
}

// ------------------------------------------------------------------ cases

benchmark_case segmented_case(const char* type, std::string data_case, std::int64_t n, timing how,
                              std::function<workload(const environment&)> prepare) {
  return {"DeviceSegmentedReduce::Sum", type, std::move(data_case), n, how, std::move(prepare)};
}

/// About 2^log_size items in whole segments of `length`. The call gets offsets or (`fixed`) the length. CUB before 3.2
/// takes no length, so it always gets offsets.
template <class T>
void add_equal(bench::suite& suite, const char* type, int log_size, int length, bool fixed = false,
               timing how = timing::batched) {
  const std::int64_t segments = (std::int64_t{1} << log_size) / length;
  const std::string data_case =
      how == timing::host_call ? "host_call" : "len=" + std::to_string(length) + (fixed ? " fixed" : "");
  const auto prepare = [=](const environment& env) {
    return segmented_sum<T>(env, equal_segments(segments, length), {fixed ? length : 0});
  };
  suite.add(segmented_case(type, data_case, segments * length, how, prepare));
}

/// 2^log_size items in segments whose offsets `lengths(n, seed)` returns.
template <class T, class Lengths>
void add_unequal(bench::suite& suite, const char* type, const char* data_case, int log_size, Lengths lengths) {
  const std::int64_t n = std::int64_t{1} << log_size;
  const auto prepare = [=](const environment& env) { return segmented_sum<T>(env, lengths(n, env.settings.seed), {}); };
  suite.add(segmented_case(type, data_case, n, timing::batched, prepare));
}

void add_cases(bench::suite& suite) {
  for (const int length : {10, 100, 1'000, 10'000, 100'000}) {
    add_equal<std::int32_t>(suite, "i32", 28, length);
  }
  for (const int length : {10, 100, 1'000, 10'000, 100'000}) {
    add_equal<std::int32_t>(suite, "i32", 28, length, true);
  }
  for (const int log_size : {16, 20, 24}) {
    add_equal<std::int32_t>(suite, "i32", log_size, 100);
  }
  add_equal<float>(suite, "f32", 28, 100);
  add_unequal<std::int32_t>(suite, "i32", "zipf", 28, zipf);
  add_unequal<std::int32_t>(suite, "i32", "huge_tiny", 28, one_huge_many_tiny);
  add_unequal<std::int32_t>(suite, "i32", "many_empty", 28, mostly_empty);
  add_equal<std::int32_t>(suite, "i32", 16, 100, false, timing::single_call);
  add_equal<std::int32_t>(suite, "i32", 16, 100, false, timing::host_call);
}

}  // namespace

int main(int argc, char** argv) { return bench::run("segmented_reduce", argc, argv, add_cases); }
