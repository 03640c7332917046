// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Uses a little of every layer in one translation unit. It is compiled with every architecture, language level and
// setting that the library supports (see CMakeLists.txt), and never run.

// Defines names that other projects' headers define as macros. The library must not use these names.
#if defined(STRATA_TEST_POISON)
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif
#define I @
#define B0 @
#define CHECK @
#define LOG @
#define ASSERT @
#define DEVICE @
#define HOST @
#define KERNEL @
#define UNROLL @
#define WARP_SIZE @
#define WARP_THREADS @
#define BLOCK_THREADS @
#define FULL_MASK @
#define PTX_ARCH @
#define interface @
#define small @
#define far @
#define near @
#endif

#include <strata/block/block_adjacent_difference.cuh>
#include <strata/block/block_discontinuity.cuh>
#include <strata/block/block_exchange.cuh>
#include <strata/block/block_histogram.cuh>
#include <strata/block/block_load.cuh>
#include <strata/block/block_merge_sort.cuh>
#include <strata/block/block_radix_rank.cuh>
#include <strata/block/block_radix_sort.cuh>
#include <strata/block/block_reduce.cuh>
#include <strata/block/block_run_length_decode.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/block/block_segmented_merge_sort.cuh>
#include <strata/block/block_store.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/util_device.cuh>
#include <strata/core/util_ptx.cuh>
#include <strata/device/device_adjacent_difference.cuh>
#include <strata/device/device_find.cuh>
#include <strata/device/device_for.cuh>
#include <strata/device/device_hash_join.hpp>
#include <strata/device/device_histogram.cuh>
#include <strata/device/device_memcpy.cuh>
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_run_length_encode.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_segmented_merge_sort.cuh>
#include <strata/device/device_segmented_radix_sort.cuh>
#include <strata/device/device_segmented_reduce.cuh>
#include <strata/device/device_segmented_scan.cuh>
#include <strata/device/device_segmented_sort.cuh>
#include <strata/device/device_select.cuh>
#include <strata/device/device_top_k.cuh>
#include <strata/device/device_transform.cuh>
#include <strata/device/device_transpose.cuh>
#include <strata/device/join/common/strategy.hpp>
#include <strata/device/join/host/host_join.hpp>
#include <strata/device/join/output/outputs.hpp>
#include <strata/iterator/cache_modified_input_iterator.cuh>
#include <strata/thread/thread_load.cuh>
#include <strata/thread/thread_reduce.cuh>
#include <strata/thread/thread_store.cuh>
#include <strata/warp/warp_merge_sort.cuh>
#include <strata/warp/warp_reduce.cuh>
#include <strata/warp/warp_scan.cuh>

#if defined(STRATA_NAMESPACE_WRAP)
namespace lib = STRATA_NAMESPACE_WRAP::strata;
#else
namespace lib = strata;
#endif

namespace {

struct pair_of_values {
  double a;
  long long b;
};

struct is_positive {
  STRATA_HD bool operator()(float x) const { return x > 0; }
};

struct is_greater {
  template <class T>
  STRATA_D bool operator()(const T& a, const T& b) const {
    return a > b;
  }
};

struct low_digit {
  STRATA_D unsigned Digit(int key) const { return static_cast<unsigned>(key) & 15; }
};

struct join_pairs {
  STRATA_HD pair_of_values operator()(const pair_of_values& x, const pair_of_values& y) const {
    return {x.a + y.a, x.b < y.b ? y.b : x.b};
  }
};

}  // namespace

template <class T, int Threads, int Items>
STRATA_KERNEL void every_layer_kernel(const T* in, T* out, T* sums, int count) {
  using load = lib::BlockLoad<T, Threads, Items, lib::BLOCK_LOAD_VECTORIZE>;
  using store = lib::BlockStore<T, Threads, Items, lib::BLOCK_STORE_STRIPED>;
  using block_reduce = lib::BlockReduce<T, Threads>;
  using block_exchange = lib::BlockExchange<T, Threads, Items>;
  using block_scan = lib::BlockScan<T, Threads>;
  using block_rank = lib::BlockRadixRankMatch<Threads, 4, false>;
  using block_sort = lib::BlockRadixSort<T, Threads, Items>;
  using merge_sort = lib::BlockMergeSort<T, Threads, Items, int>;
  using warp_sort = lib::WarpMergeSort<T, Items, 16>;
  using warp_reduce = lib::WarpReduce<T, 16>;
  using warp_scan = lib::WarpScan<T>;
  constexpr int logical_warps = Threads / 16;

  STRATA_SHARED(load_storage, typename load::TempStorage);
  STRATA_SHARED(store_storage, typename store::TempStorage);
  STRATA_SHARED(block_storage, typename block_reduce::TempStorage);
  STRATA_SHARED(exchange_storage, typename block_exchange::TempStorage);
  STRATA_SHARED(scan_storage, typename block_scan::TempStorage);
  STRATA_SHARED(rank_storage, typename block_rank::TempStorage);
  STRATA_SHARED(sort_storage, typename block_sort::TempStorage);
  STRATA_SHARED(merge_sort_storage, typename merge_sort::TempStorage);
  STRATA_SHARED(warp_sort_storage, typename warp_sort::TempStorage[logical_warps]);
  STRATA_SHARED(warp_scan_storage, typename warp_scan::TempStorage);
  STRATA_SHARED(warp_storage, typename warp_reduce::TempStorage[logical_warps]);

  T items[Items];
  load(load_storage).Load(in, items, count, T{});
  const T mine = lib::ThreadReduce(items, lib::Sum{});
  const int warp = static_cast<int>(threadIdx.x) / 16;
  const T warp_sum = warp_reduce(warp_storage[warp]).Sum(mine);
  const T block_sum = block_reduce(block_storage).Reduce(mine, lib::Sum{});
  if (threadIdx.x == 0) {
    sums[0] = warp_sum;
    sums[1] = block_sum;
  }
  block_exchange(exchange_storage).BlockedToStriped(items);
  block_scan(scan_storage).InclusiveSum(items, items);
  warp_scan(warp_scan_storage).ExclusiveSum(items[0], items[0]);
  int ranks[Items];
  block_rank(rank_storage).RankKeys(items, ranks, low_digit{});
  warp_sort(warp_sort_storage[warp]).Sort(items, is_greater{});
  merge_sort(merge_sort_storage).SortPartialTile(items, ranks, count, is_greater{});
  block_sort(sort_storage).SortDescendingPartialTile(items, ranks[0], 0, 16);
  items[0] += lib::ThreadLoad<lib::LOAD_CG>(sums) + lib::ThreadLoad<lib::LOAD_CS>(sums + 1);
  items[1] += lib::ThreadLoad<lib::LOAD_CV>(sums) + lib::ThreadLoad<lib::LOAD_VOLATILE>(sums + 1);
  items[2] += lib::ThreadLoad<lib::LOAD_CA>(in) + lib::CacheModifiedInputIterator<lib::LOAD_LDG, T>(in)[1];
  items[0] = lib::ShuffleUp<16>(items[0], 1, 0, lib::full_warp_mask);
  items[1] = lib::ShuffleDown<16>(items[1], 1, 15, lib::full_warp_mask);
  if (lib::WarpId() == 77) items[2] = lib::ShuffleIndex<16>(items[2], 3, lib::WarpMask<32>(0));
  store(store_storage).Store(out, items, count);
  lib::ThreadStore<lib::STORE_WB>(sums, items[0]);
  lib::ThreadStore<lib::STORE_CG>(sums + 1, items[1]);
  lib::ThreadStore<lib::STORE_CS>(sums + 2, items[2]);
  lib::ThreadStore<lib::STORE_WT>(sums + 3, items[2]);
  lib::ThreadStore<lib::STORE_VOLATILE>(sums + 4, items[2]);
}

template <class T, int Threads, int Items>
STRATA_KERNEL void runs_and_bins_kernel(const T* in, T* out, int* counts) {
  using difference = lib::BlockAdjacentDifference<T, Threads>;
  using discontinuity = lib::BlockDiscontinuity<T, Threads>;
  using histogram = lib::BlockHistogram<T, Threads, Items, 64>;
  using atomic_histogram = lib::BlockHistogram<T, Threads, Items, 64, lib::BLOCK_HISTO_ATOMIC>;
  using decode = lib::BlockRunLengthDecode<T, Threads, Items, Items>;
  const int thread = static_cast<int>(threadIdx.x);
  T items[Items], differences[Items];
  int heads[Items];
  unsigned total;
  lib::LoadDirectBlocked(thread, in, items);
  histogram().Composite(items, counts);
  atomic_histogram().Composite(items, counts + 64);
  discontinuity().FlagHeads(heads, items, is_greater{});
  difference().SubtractLeft(items, differences, lib::Max{});
  decode runs(differences, heads, total);
  runs.RunLengthDecode(items, total / 2);
  lib::StoreDirectBlocked(thread, out, items);
}

cudaError_t every_block_layer(const int* in, int* out, int* sums, int count, cudaStream_t stream) {
  const cudaError_t status =
      lib::launch({"runs and bins", dim3(1), dim3(128), 0, stream}, runs_and_bins_kernel<int, 128, 4>, in, out, sums);
  if (status != cudaSuccess) return status;
  return lib::launch({"every layer", dim3(1), dim3(128), 0, stream}, every_layer_kernel<int, 128, 4>, in, out, sums,
                     count);
}

[[maybe_unused]] lib::HostJoinStatus every_host_call(void* storage, std::size_t& bytes, const int* keys,
                                                     std::int64_t count, const float* floats, float* floats_out,
                                                     std::int64_t* num_out) {
  static_assert(lib::choose_join_strategy(1000000, 10000000, 4, 227u << 10) == lib::JoinStrategy::radix_single,
                "a million rows are partitioned once");
  const auto column = lib::build_column(floats, floats_out, 0.0f);
  const auto status = lib::detail::host_join_gather<int>(storage, bytes, lib::JoinKind::full, keys, count, keys, count,
                                                         column, num_out, count);
  if (status != lib::HostJoinStatus::success) return status;
  return lib::detail::host_join_count<std::uint64_t>(storage, bytes, lib::JoinKind::anti, floats, count, floats, count,
                                                     num_out);
}

[[maybe_unused]] cudaError_t every_join(void* storage, std::size_t& bytes, const int* keys, std::int64_t count,
                                        const float* floats, float* floats_out, int* rows, int* other_rows,
                                        std::int64_t* num_out, cudaStream_t stream) {
  using lib::DeviceHashJoin;
  const lib::OrderedJoinOptions<> options;
  const auto column = lib::probe_column(floats, floats_out, 0.0f);
  static_cast<void>(DeviceHashJoin::Full(storage, bytes, lib::join_side(keys, count), lib::join_side(keys, count),
                                         lib::join_columns<int>(count, column), num_out, options, stream));
  static_cast<void>(DeviceHashJoin::Semi(storage, bytes, lib::join_side(floats, count), lib::join_side(floats, count),
                                         lib::join_count(), num_out));
  return DeviceHashJoin::Inner(storage, bytes, lib::join_side(keys, count), lib::join_side(keys, count),
                               lib::join_pairs(rows, other_rows, count), num_out);
}

[[maybe_unused]] cudaError_t every_device_call(void* storage, std::size_t& bytes, const float* floats, float* float_sum,
                                               const pair_of_values* pairs, pair_of_values* joined, const int* offsets,
                                               float* segment_sums, int count, int segments, cudaStream_t stream) {
  cudaError_t status = lib::DeviceReduce::Sum(storage, bytes, floats, float_sum, count, stream);
  if (status != cudaSuccess) return status;
  status = lib::DeviceReduce::Reduce(storage, bytes, pairs, joined, count, join_pairs{}, pair_of_values{0, 0}, stream);
  if (status != cudaSuccess) return status;
  status = lib::DeviceScan::InclusiveSum(storage, bytes, floats, segment_sums, count, stream);
  if (status != cudaSuccess) return status;
  status =
      lib::DeviceScan::ExclusiveSumByKey(storage, bytes, offsets, floats, segment_sums, count, lib::Equality{}, stream);
  if (status != cudaSuccess) return status;
  status = lib::DeviceSegmentedScan::InclusiveSegmentedSum(storage, bytes, floats, segment_sums, offsets, offsets + 1,
                                                           segments, stream);
  if (status != cudaSuccess) return status;
  status = lib::DeviceSelect::If(storage, bytes, floats, segment_sums, float_sum, count, is_positive{}, stream);
  if (status != cudaSuccess) return status;
  status =
      lib::DeviceRunLengthEncode::Encode(storage, bytes, floats, float_sum, segment_sums, segment_sums, count, stream);
  if (status != cudaSuccess) return status;
  status = lib::DeviceRadixSort::SortKeys(storage, bytes, floats, segment_sums, count, 0, 32, stream);
  if (status != cudaSuccess) return status;
  status = lib::DeviceTopK::MaxKeys(storage, bytes, floats, segment_sums, count, segments, stream);
  if (status != cudaSuccess) return status;
  status = lib::DeviceSegmentedRadixSort::SortPairs(storage, bytes, floats, segment_sums, pairs, joined, count,
                                                    segments, offsets, offsets + 1, 0, 32, stream);
  if (status != cudaSuccess) return status;
  int* const counters = nullptr;
  status = lib::DeviceHistogram::HistogramEven(storage, bytes, floats, counters, 9, 0.0f, 1.0f, count, stream);
  status = lib::DeviceMemcpy::Batched(storage, bytes, static_cast<const void* const*>(nullptr),
                                      static_cast<void* const*>(nullptr), offsets, count, stream);
  if (status != cudaSuccess) return status;
  status = lib::DeviceFind::FindIf(storage, bytes, floats, counters, is_positive{}, count, stream);
  if (status != cudaSuccess) return status;
  status = lib::DeviceFind::LowerBound(storage, bytes, floats, count, floats, count, counters, lib::Less{}, stream);
  if (status != cudaSuccess) return status;
  status = lib::DeviceFind::UpperBoundSortedValues(storage, bytes, floats, count, floats, count, counters, lib::Less{},
                                                   stream);
  if (status != cudaSuccess) return status;
  status = lib::DeviceTranspose::Transpose(storage, bytes, floats, float_sum, count, segments, stream);
  if (status != cudaSuccess) return status;
  status = lib::DeviceTransform::Transform(storage, bytes, floats, float_sum, count, is_positive{}, stream);
  if (status != cudaSuccess) return status;
  status =
      lib::DeviceTransform::TransformIf(storage, bytes, floats, float_sum, count, is_positive{}, is_positive{}, stream);
  if (status != cudaSuccess) return status;
  status = lib::DeviceTransform::Fill(storage, bytes, float_sum, count, 1.0f, stream);
  if (status != cudaSuccess) return status;
  status = lib::DeviceFor::ForEachCopyN(storage, bytes, floats, count, is_positive{}, stream);
  if (status != cudaSuccess) return status;
  status = lib::DeviceAdjacentDifference::SubtractLeft(storage, bytes, float_sum, count, lib::Difference{}, stream);
  if (status != cudaSuccess) return status;
  return lib::DeviceSegmentedReduce::Sum(storage, bytes, floats, segment_sums, segments, offsets, offsets + 1, stream);
}
