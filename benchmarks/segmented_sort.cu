// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares DeviceSegmentedMergeSort, with a comparator, with CUB's DeviceSegmentedSort, which sorts numbers by their
// bits, and DeviceMergeSort with CUB's. If no segment has more than 128 x 50 items, a kernel of one block for each
// segment is a rival too. The necessary traffic is the items, read once and written once, and the offsets.

#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <strata/block/block_load.cuh>
#include <strata/block/block_merge_sort.cuh>
#include <strata/block/block_store.cuh>
#include <strata/core/launcher.cuh>
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_segmented_merge_sort.cuh>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "harness/harness.cuh"
#include "harness/inputs.cuh"
#include "harness/segments.cuh"

namespace {

using bench::device_array;
using bench::environment;
using bench::offset_list;
using bench::timing;
using bench::workload;

/// A user's comparator, which neither library recognises as an ascending order of numbers.
struct is_less {
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

// ------------------------------------------------------------------ one block for each segment

constexpr int one_block_threads = 128;
constexpr int one_block_items = 50;

__launch_bounds__(one_block_threads)
    STRATA_KERNEL void one_block_kernel(const std::int32_t* in, std::int32_t* out, const std::int32_t* offsets) {
  using Load = strata::BlockLoad<std::int32_t, one_block_threads, one_block_items, strata::BLOCK_LOAD_TRANSPOSE>;
  using Sort = strata::BlockMergeSort<std::int32_t, one_block_threads, one_block_items>;
  using Store = strata::BlockStore<std::int32_t, one_block_threads, one_block_items, strata::BLOCK_STORE_TRANSPOSE>;
  union Shared {
    typename Load::TempStorage load;
    typename Sort::TempStorage sort;
    typename Store::TempStorage store;
  };
  STRATA_SHARED(shared, Shared);
  const std::int32_t begin = offsets[blockIdx.x];
  const int count = offsets[blockIdx.x + 1] - begin;
  std::int32_t items[one_block_items];
  Load(shared.load).Load(in + begin, items, count);
  __syncthreads();
  Sort(shared.sort).SortPartialTile(items, count, is_less{});
  __syncthreads();
  Store(shared.store).Store(out + begin, items, count);
}

// ------------------------------------------------------------------ peers

workload keys_workload(const environment& env, const offset_list& host_offsets, bool is_rival, bool has_one_block) {
  const device_array<std::int32_t> offsets(host_offsets.size());
  offsets.upload(host_offsets, env.stream);
  const int n = host_offsets.back();
  const auto segments = static_cast<int>(host_offsets.size()) - 1;
  const auto in = bench::random_array<std::int32_t>(n, env.settings.seed, env.stream);
  const device_array<std::int32_t> ours(static_cast<std::size_t>(n));
  const device_array<std::int32_t> theirs(static_cast<std::size_t>(n));
  const device_array<std::int32_t> alone(static_cast<std::size_t>(n));
  ours.fill_bytes(0xa5, env.stream);
  theirs.fill_bytes(0x5a, env.stream);
  alone.fill_bytes(0x55, env.stream);
  workload work;
  work.bytes = 2 * static_cast<double>(in.bytes()) + static_cast<double>(offsets.bytes());
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const std::int32_t* begins = offsets.data();
    const std::int32_t* keys = in.data();
    return strata::DeviceSegmentedMergeSort::SortKeysCopy(storage, bytes, keys, ours.data(), n, segments, begins,
                                                          begins + 1, is_less{}, stream);
  }));
  const bench::peer cub = bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const std::int32_t* begins = offsets.data();
    const std::int32_t* keys = in.data();
    return cub::DeviceSegmentedSort::SortKeys(storage, bytes, keys, theirs.data(), n, segments, begins, begins + 1,
                                              stream);
  });
  bench::add_rival(work, cub, is_rival, env);
  if (has_one_block) {
    work.peers.push_back({"one_block", [=](cudaStream_t stream) {
                            const strata::launch_configuration grid{"one_block", dim3(static_cast<unsigned>(segments)),
                                                                    dim3(one_block_threads), 0, stream};
                            return strata::launch(grid, one_block_kernel, in.data(), alone.data(), offsets.data());
                          }});
  }
  work.peers.push_back(bench::copy_peer(in.data(), in.bytes()));
  const cudaStream_t stream = env.stream;
  work.verify = [=] {
    const std::string text = bench::difference(ours, theirs, {}, stream);
    return text.empty() && has_one_block ? bench::difference(ours, alone, {}, stream) : text;
  };
  return work;
}

workload pairs_workload(const environment& env, const offset_list& host_offsets, bool is_rival, bool) {
  const device_array<std::int32_t> offsets(host_offsets.size());
  offsets.upload(host_offsets, env.stream);
  const int n = host_offsets.back();
  const auto count = static_cast<std::size_t>(n);
  const auto segments = static_cast<int>(host_offsets.size()) - 1;
  const auto in = bench::random_array<std::int32_t>(n, env.settings.seed, env.stream);
  const auto values = bench::random_array<std::int32_t>(n, env.settings.seed + 1, env.stream);
  const device_array<std::int32_t> ours(count), theirs(count), our_values(count), their_values(count);
  our_values.fill_bytes(0xa5, env.stream);
  their_values.fill_bytes(0x5a, env.stream);
  workload work;
  work.bytes = 2 * static_cast<double>(in.bytes() + values.bytes()) + static_cast<double>(offsets.bytes());
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const std::int32_t* begins = offsets.data();
    const std::int32_t *keys = in.data(), *with = values.data();
    return strata::DeviceSegmentedMergeSort::SortPairsCopy(storage, bytes, keys, with, ours.data(), our_values.data(),
                                                           n, segments, begins, begins + 1, is_less{}, stream);
  }));
  const bench::peer cub = bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const std::int32_t* begins = offsets.data();
    const std::int32_t *keys = in.data(), *with = values.data();
    return cub::DeviceSegmentedSort::StableSortPairs(storage, bytes, keys, theirs.data(), with, their_values.data(), n,
                                                     segments, begins, begins + 1, stream);
  });
  bench::add_rival(work, cub, is_rival, env);
  work.peers.push_back(bench::copy_peer(in.data(), in.bytes()));
  const cudaStream_t stream = env.stream;
  work.verify = [=] {
    const std::string text = bench::difference(ours, theirs, {}, stream);
    return text.empty() ? bench::difference(our_values, their_values, {}, stream) : text;
  };
  return work;
}

workload merge_sort_workload(const environment& env, std::int64_t n) {
  const auto in = bench::random_array<std::int32_t>(n, env.settings.seed, env.stream);
  const device_array<std::int32_t> ours(in.size()), theirs(in.size());
  ours.fill_bytes(0xa5, env.stream);
  theirs.fill_bytes(0x5a, env.stream);
  workload work;
  work.bytes = 2 * static_cast<double>(in.bytes());
  work.peers.push_back(bench::storage_peer("strata", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const std::int32_t* keys = in.data();
    return strata::DeviceMergeSort::SortKeysCopy(storage, bytes, keys, ours.data(), n, is_less{}, stream);
  }));
  work.peers.push_back(bench::storage_peer("cub", [=](void* storage, std::size_t& bytes, cudaStream_t stream) {
    const std::int32_t* keys = in.data();
    return cub::DeviceMergeSort::SortKeysCopy(storage, bytes, keys, theirs.data(), n, is_less{}, stream);
  }));
  work.peers.push_back(bench::copy_peer(in.data(), in.bytes()));
  const cudaStream_t stream = env.stream;
  work.verify = [=] { return bench::difference(ours, theirs, {}, stream); };
  return work;
}

// ------------------------------------------------------------------ cases

void add_segments(bench::suite& suite, const char* algorithm, const char* type,
                  workload (*prepare)(const environment&, const offset_list&, bool, bool), bool beside_one_block,
                  std::initializer_list<int> log_sizes) {
  for (const int log_size : log_sizes) {
    const std::int64_t n = std::int64_t{1} << log_size;
    for (const bench::named_law& which : bench::sort_laws) {
      const bool is_rival = log_size <= which.most_of_cub;
      const bool has_one_block = log_size <= which.most_of_one_block;
      bench::benchmark_case what{algorithm, type, which.name, n, timing::batched, [=](const environment& env) {
                                   return prepare(env, which.offsets(n, env.settings.seed), is_rival, has_one_block);
                                 }};
      if (!is_rival) what.rivals.clear();
      if (beside_one_block && has_one_block) what.rivals.emplace_back("one_block");
      suite.add(what);
    }
  }
}

void add_cases(bench::suite& suite) {
  add_segments(suite, "DeviceSegmentedMergeSort::SortKeysCopy", "i32", keys_workload, true, {20, 24, 27});
  add_segments(suite, "DeviceSegmentedMergeSort::SortPairsCopy", "i32:i32", pairs_workload, false, {20, 24, 27});
  for (const int log_size : {10, 14, 17, 20, 24, 27, 28}) {
    const std::int64_t n = std::int64_t{1} << log_size;
    suite.add({"DeviceMergeSort::SortKeysCopy", "i32", "uniform", n, timing::batched,
               [n](const environment& env) { return merge_sort_workload(env, n); }});
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run("segmented_sort", argc, argv, add_cases); }
