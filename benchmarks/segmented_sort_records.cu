// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceSegmentedMergeSort of 16-byte records, with a comparator of one member. No segmented sort of CUB takes them, so
// the only rival is CUB's DeviceMergeSort, for a single segment.

#include <cub/device/device_merge_sort.cuh>
#include <strata/device/device_segmented_merge_sort.cuh>

#include <cstdint>
#include <string>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"
#include "harness/segments.cuh"

namespace {

using bench::device_array;
using bench::environment;
using bench::offset_list;
using bench::workload;

/// A record. Many records have the same key. The other members tell where the record was.
struct alignas(16) record {
  std::int32_t key;
  std::int32_t place;
  std::uint64_t text;
};
struct has_lower_key {
  __host__ __device__ bool operator()(const record& a, const record& b) const { return a.key < b.key; }
};

__device__ record record_at(std::int32_t place, std::uint64_t seed) {
  const std::uint64_t bits = bench::random_bits(seed + static_cast<std::uint64_t>(place));
  return {static_cast<std::int32_t>(bits % 100003), place, bits};
}

__global__ void make_records(record* records, std::int32_t count, std::uint64_t seed) {
  const auto stride = static_cast<std::int32_t>(gridDim.x * blockDim.x);
  for (auto i = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += stride) {
    records[i] = record_at(i, seed);
  }
}

/// Counts records that have changed, that are not of their segment, or that do not follow their neighbour by key and
/// place. If the count is 0, no record is lost: each segment has as many different records of its own as before.
__global__ void count_wrong(const record* records, const std::int32_t* offsets, std::int32_t segments,
                            std::uint64_t seed, unsigned long long* wrong) {
  for (auto s = static_cast<std::int32_t>(blockIdx.x); s < segments; s += static_cast<std::int32_t>(gridDim.x)) {
    const std::int32_t begin = offsets[s], end = offsets[s + 1];
    for (std::int32_t i = begin + static_cast<std::int32_t>(threadIdx.x); i < end;
         i += static_cast<std::int32_t>(blockDim.x)) {
      const record found = records[i];
      bool is_right = found.place >= begin && found.place < end;
      const record expected = record_at(found.place, seed);
      is_right = is_right && found.key == expected.key && found.text == expected.text;
      if (i > begin) {
        const record before = records[i - 1];
        is_right = is_right && (before.key < found.key || (before.key == found.key && before.place < found.place));
      }
      if (!is_right) atomicAdd(wrong, 1ull);
    }
  }
}

workload records_workload(const environment& env, const offset_list& host_offsets) {
  const device_array<std::int32_t> offsets(host_offsets.size());
  offsets.upload(host_offsets, env.stream);
  const int n = host_offsets.back();
  const auto segments = static_cast<int>(host_offsets.size()) - 1;
  const std::uint64_t seed = env.settings.seed;
  const device_array<record> in(static_cast<std::size_t>(n));
  make_records<<<bench::detail::blocks_for(in.size()), 256, 0, env.stream>>>(in.data(), n, seed);
  bench::check(cudaGetLastError(), "make_records");
  const device_array<record> ours(in.size()), theirs(in.size());
  ours.fill_bytes(0xa5, env.stream);
  workload work;
  work.bytes = 2 * static_cast<double>(in.bytes()) + static_cast<double>(offsets.bytes());
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const std::int32_t* begins = offsets.data();
    const record* records = in.data();
    return strata::DeviceSegmentedMergeSort::SortKeysCopy(storage, bytes, records, ours.data(), n, segments, begins,
                                                          begins + 1, has_lower_key{}, stream);
  }));
  if (segments == 1) {
    work.peers.push_back(bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
      const record* records = in.data();
      return cub::DeviceMergeSort::StableSortKeysCopy(storage, bytes, records, theirs.data(), n, has_lower_key{},
                                                      stream);
    }));
  }
  work.peers.push_back(bench::copy_peer(in.data(), in.bytes()));
  const cudaStream_t stream = env.stream;
  work.peers.front().verify = [=] {
    const device_array<unsigned long long> wrong(1);
    wrong.upload({0}, stream);
    const int blocks = segments == 1 ? 1 : 4096;
    count_wrong<<<static_cast<unsigned>(blocks), 1024, 0, stream>>>(ours.data(), offsets.data(), segments, seed,
                                                                    wrong.data());
    bench::check(cudaGetLastError(), "count_wrong");
    bench::check(cudaStreamSynchronize(stream), "count_wrong");
    const unsigned long long count = wrong.value_at(0);
    return count == 0 ? std::string() : std::to_string(count) + " records are wrong";
  };
  return work;
}

void add_cases(bench::suite& suite) {
  for (const int log_size : {20, 24, 25}) {
    const std::int64_t n = std::int64_t{1} << log_size;
    for (const bench::named_law& which : bench::sort_laws) {
      const std::string name = which.name;
      if (name != "u500" && name != "u10000" && name != "single") continue;
      bench::benchmark_case what{
          "DeviceSegmentedMergeSort::SortKeysCopy",
          "record16",
          name,
          n,
          bench::timing::batched,
          [=](const environment& env) { return records_workload(env, which.offsets(n, env.settings.seed)); }};
      if (name != "single") what.rivals.clear();
      suite.add(what);
    }
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run("segmented_sort_records", argc, argv, add_cases); }
