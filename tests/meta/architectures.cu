// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Device algorithms of every policy hub, for types that stand for others. architectures.py compiles this for each
// architecture and looks whether the kernels fit. It is never run.
#include <strata/device/device_adjacent_difference.cuh>
#include <strata/device/device_hash_join.hpp>
#include <strata/device/device_histogram.cuh>
#include <strata/device/device_memcpy.cuh>
#include <strata/device/device_merge.cuh>
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_segmented_merge_sort.cuh>
#include <strata/device/device_segmented_radix_sort.cuh>
#include <strata/device/device_segmented_reduce.cuh>
#include <strata/device/device_segmented_scan.cuh>
#include <strata/device/device_top_k.cuh>
#include <strata/device/device_transpose.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace architectures_test {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using namespace strata::detail;

struct record {
  double key;
  long long count, most;
};
struct is_less {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a < b;
  }
  STRATA_HD bool operator()(const record& a, const record& b) const { return a.key < b.key; }
};
struct add_records {
  STRATA_HD record operator()(const record& a, const record& b) const {
    return {a.key + b.key, a.count + b.count, a.most < b.most ? b.most : a.most};
  }
};

template <class Hub>
using policy = typename Hub::MaxPolicy::ActivePolicy;
template <class Key>
using digits = radix_digits<Key, false, identity_decomposer>;

/// Threads of a block, blocks that a multiprocessor is to hold, and bytes of dynamic shared memory.
struct launch_shape {
  int threads, blocks;
  std::size_t shared_bytes;
};

template <class Hub, class Key, class Values>
struct radix_shapes {
  using Policy = policy<Hub>;
  template <template <class> class Block>
  static constexpr launch_shape block() {
    return {Block<Policy>::value.block_threads, 1,
            AgentRadixBlock<Block<Policy>, const Key*, Values, digits<Key>>::shared_bytes};
  }
  static constexpr launch_shape histogram{Policy::histogram.block_threads, 1,
                                          radix_digit_counts<Policy, const Key*, digits<Key>>::shared_bytes()};
  static constexpr launch_shape pass{Policy::pass.block_threads, Policy::pass.blocks_per_multiprocessor,
                                     AgentRadixPass<Policy, const Key*, Values, digits<Key>, u64>::shared_bytes};
  static constexpr launch_shape grid{Policy::grid.block_threads, Policy::grid.blocks_per_multiprocessor,
                                     AgentRadixGrid<Policy, const Key*, Values, digits<Key>>::shared_bytes};
  static constexpr launch_shape large_block = block<large_radix_block>();
};

template <class Key>
struct merge_sort_shapes {
  using Policy = policy<strata::segmented_merge_sort_policy_hub<sizeof(Key)>>;
  template <segment_class Class>
  static constexpr launch_shape tile() {
    using Segments = offset_segments<const int*, const int*>;
    using Agent =
        segments_agent<Policy, Class, Segments, Key, strata::NullType, const Key*, const strata::NullType*, is_less>;
    constexpr auto tuning = tuning_of<Policy>(Class);
    return {tuning.block_threads, tuning.blocks_per_multiprocessor, sizeof(typename Agent::TempStorage)};
  }
  template <segment_class Class>
  static constexpr launch_shape merge() {
    using Agent = merge_agent<Policy, Class, Key, strata::NullType, is_less>;
    constexpr auto tuning = merge_tuning_of<Policy>(Class);
    return {tuning.block_threads, tuning.blocks_per_multiprocessor, sizeof(typename Agent::TempStorage)};
  }
  template <template <class> class Row>
  static constexpr launch_shape grid() {
    using Agent = AgentMergeSortGrid<Row<Policy>, Key, strata::NullType, const Key*, strata::NullType, is_less>;
    constexpr auto tuning = Row<Policy>::value;
    return {tuning.block_threads, tuning.blocks_per_multiprocessor, sizeof(typename Agent::TempStorage)};
  }
};

using segmented_policy = policy<strata::segmented_radix_sort_policy_hub<u64, strata::NullType>>;
constexpr launch_shape segmented_shape() {
  using Agent =
      AgentSegmentedRadixSort<segmented_policy, false, u64, u64, offset_segments<const int*, const int*>, digits<u64>>;
  return {segmented_policy::segmented.block_threads, segmented_policy::segmented.blocks_per_multiprocessor,
          Agent::shared_bytes};
}
constexpr launch_shape long_segments_shape() {
  return {segmented_policy::pass.block_threads, segmented_policy::pass.blocks_per_multiprocessor,
          AgentLongSegmentPasses<segmented_policy, u64, strata::NullType, u64, digits<u64>, u64>::shared_bytes};
}

// With as many partitions as a pass may have, and 8 or 12 bytes for each row.
constexpr launch_shape join_shape(strata::join_pass pass, bool is_wide) {
  constexpr auto tuning = policy<strata::join_policy_hub>::partition;
  const auto rows = static_cast<std::size_t>(tuning.partition_threads * tuning.items(pass, is_wide));
  const std::size_t of_first_pass = pass == strata::join_pass::second ? std::size_t{8} << tuning.one_pass_bits : 0;
  return {tuning.partition_threads, 1,
          rows * (is_wide ? 12 : 8) + 2 * join_count_bytes(tuning.one_pass_bits) + of_first_pass +
              join_static_shared_bytes};
}

using keys = radix_shapes<strata::radix_sort_policy_hub<u32, strata::NullType>, u32, strata::NullType>;
using pairs = radix_shapes<strata::radix_sort_policy_hub<u64, u64>, u64, const u64*>;

}  // namespace architectures_test

using namespace architectures_test;

// architectures.py reads what begins with shape_.
#define SHAPE(name, ...) __constant__ launch_shape shape_##name = __VA_ARGS__
SHAPE(radix_histogram_of_keys, keys::histogram);
SHAPE(radix_pass_of_keys, keys::pass);
SHAPE(radix_grid_of_keys, keys::grid);
SHAPE(radix_block_of_keys, keys::large_block);
SHAPE(radix_histogram_of_pairs, pairs::histogram);
SHAPE(radix_pass_of_pairs, pairs::pass);
SHAPE(radix_grid_of_pairs, pairs::grid);
SHAPE(radix_block_of_pairs, pairs::large_block);
SHAPE(segmented_radix_sort, segmented_shape());
SHAPE(long_segments, long_segments_shape());
#define MERGE_SORT_SHAPES(name, Key)                                                                   \
  SHAPE(name##_one_thread, merge_sort_shapes<Key>::tile<segment_class::one_thread>());                 \
  SHAPE(name##_few_threads, merge_sort_shapes<Key>::tile<segment_class::few_threads>());               \
  SHAPE(name##_part_of_tile, merge_sort_shapes<Key>::tile<segment_class::part_of_tile>());             \
  SHAPE(name##_one_tile, merge_sort_shapes<Key>::tile<segment_class::one_tile>());                     \
  SHAPE(name##_many_tiles, merge_sort_shapes<Key>::tile<segment_class::many_tiles>());                 \
  SHAPE(name##_per_processor, merge_sort_shapes<Key>::tile<segment_class::tile_per_multiprocessor>()); \
  SHAPE(name##_whole_array, merge_sort_shapes<Key>::tile<segment_class::whole_array>());               \
  SHAPE(name##_merge, merge_sort_shapes<Key>::merge<segment_class::many_tiles>());                     \
  SHAPE(name##_merge_array, merge_sort_shapes<Key>::merge<segment_class::whole_array>());              \
  SHAPE(name##_one_cluster, merge_sort_shapes<Key>::grid<one_cluster_row>());                          \
  SHAPE(name##_resident_grid, merge_sort_shapes<Key>::grid<resident_grid_row>())
MERGE_SORT_SHAPES(merge_sort_4, u32);
MERGE_SORT_SHAPES(merge_sort_8, u64);
MERGE_SORT_SHAPES(merge_sort_24, record);
SHAPE(join_only_pass, join_shape(strata::join_pass::only, false));
SHAPE(join_first_pass, join_shape(strata::join_pass::first, false));
SHAPE(join_second_pass, join_shape(strata::join_pass::second, false));
SHAPE(wide_join_only_pass, join_shape(strata::join_pass::only, true));
SHAPE(wide_join_first_pass, join_shape(strata::join_pass::first, true));
SHAPE(wide_join_second_pass, join_shape(strata::join_pass::second, true));

cudaError_t every_hub(void* s, std::size_t& b, const u32* in, u32* out, const u64* wide, u64* wide_out,
                      const double* reals, double* reals_out, record* records, int* counts, std::int64_t* total,
                      int n) {
  using namespace strata;
  cudaError_t all[] = {
      DeviceReduce::Sum(s, b, reals, reals_out, n),
      DeviceReduce::Reduce(s, b, records, records + 1, n, add_records{}, record{}),
      DeviceScan::ExclusiveSum(s, b, in, out, n),
      DeviceAdjacentDifference::SubtractLeftCopy(s, b, in, out, n),
      DeviceHistogram::HistogramEven(s, b, in, counts, 257, 0u, 256u, n),
      DeviceMemcpy::Batched(s, b, static_cast<const void* const*>(nullptr), static_cast<void* const*>(nullptr), counts,
                            n),
      DeviceMerge::MergeKeys(s, b, in, n, in, n, out, is_less{}),
      DeviceMerge::MergePairs(s, b, wide, wide, n, wide, wide, n, wide_out, wide_out, is_less{}),
      DeviceMergeSort::SortKeysCopy(s, b, in, out, n, is_less{}),
      DeviceRadixSort::SortKeys(s, b, in, out, n),
      DeviceRadixSort::SortPairs(s, b, wide, wide_out, wide, wide_out, n),
      DeviceSegmentedMergeSort::SortKeysCopy(s, b, in, out, n, n, counts, counts + 1, is_less{}),
      DeviceSegmentedRadixSort::SortKeys(s, b, wide, wide_out, n, n, counts, counts + 1),
      DeviceSegmentedReduce::Sum(s, b, reals, reals_out, n, counts, counts + 1),
      DeviceSegmentedScan::InclusiveSegmentedSum(s, b, reals, reals_out, counts, counts + 1, n),
      DeviceTopK::MaxKeys(s, b, in, out, n, n),
      DeviceTranspose::Transpose(s, b, in, out, n, n),
      DeviceHashJoin::Inner(s, b, join_side(in, n), join_side(in, n), join_count(), total),
  };
  for (cudaError_t status : all) {
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}
