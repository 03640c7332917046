// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Instantiates device algorithms with every policy hub, for a few representative types. architectures.py compiles this
// for each architecture, and checks that kernels fit. It is never run.
#include <strata/device/device_adjacent_difference.cuh>
#include <strata/device/device_find.cuh>
#include <strata/device/device_group_by.cuh>
#include <strata/device/device_hash_join.hpp>
#include <strata/device/device_histogram.cuh>
#include <strata/device/device_memcpy.cuh>
#include <strata/device/device_merge.cuh>
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_partition.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_run_length_encode.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_segmented_merge_sort.cuh>
#include <strata/device/device_segmented_radix_sort.cuh>
#include <strata/device/device_segmented_reduce.cuh>
#include <strata/device/device_segmented_scan.cuh>
#include <strata/device/device_segmented_sort.cuh>
#include <strata/device/device_segmented_top_k.cuh>
#include <strata/device/device_select.cuh>
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
struct is_odd {
  STRATA_HD bool operator()(u32 a) const { return a % 2 != 0; }
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

/// Threads of a block, blocks per multiprocessor, and bytes of dynamic shared memory of a block.
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
    using Agent =
        AgentMergeSortGrid<Row<Policy>, whole_grid, Key, strata::NullType, const Key*, strata::NullType, is_less>;
    constexpr auto tuning = Row<Policy>::value;
    return {tuning.block_threads, tuning.blocks_per_multiprocessor, sizeof(typename Agent::TempStorage)};
  }
  static constexpr launch_shape segments_grid() {
    using Row = resident_grid_row<Policy>;
    using Agent = AgentSegmentsGrid<Row, Key, strata::NullType, const Key*, strata::NullType, is_less>;
    return {Row::value.block_threads, Row::value.blocks_per_multiprocessor, sizeof(typename Agent::TempStorage)};
  }
};

using segmented_policy = policy<strata::segmented_radix_sort_policy_hub<u64, strata::NullType>>;
constexpr launch_shape segmented_shape() {
  using Agent =
      AgentSegmentedRadixSort<segmented_policy, false, u64, u64, offset_segments<const int*, const int*>, digits<u64>>;
  return {segmented_policy::segmented.block_threads, segmented_policy::segmented.blocks_per_multiprocessor,
          Agent::shared_bytes};
}
using number_policy = policy<strata::segmented_sort_policy_hub<u32, strata::NullType>>;
template <class Policy, class Key, class State>
constexpr launch_shape long_segments_shape() {
  return {Policy::pass.block_threads, Policy::pass.blocks_per_multiprocessor,
          AgentLongSegmentPasses<Policy, Key, strata::NullType, Key, digits<Key>, State>::shared_bytes};
}

// With the greatest number of partitions that a pass may have. A row has 8 or 12 bytes.
constexpr launch_shape join_shape(strata::join_pass pass, bool is_wide) {
  constexpr auto tuning = policy<strata::join_policy_hub>::partition;
  const auto rows = static_cast<std::size_t>(tuning.partition_threads * tuning.items(pass, is_wide));
  const std::size_t of_first_pass = pass == strata::join_pass::second ? std::size_t{8} << tuning.one_pass_bits : 0;
  return {tuning.partition_threads, 1,
          rows * (is_wide ? 12 : 8) + 2 * join_count_bytes(tuning.one_pass_bits) + of_first_pass +
              join_static_shared_bytes};
}

/// The kernels of columns_policy_hub that use the most registers. All of its kernels would double the test's time.
template <class Problem, bool LoadsItems>
struct column_kernels : DispatchScan<Problem> {
  template <class Policy>
  cudaError_t Invoke() const {
    if constexpr (Policy::pipeline_above != strata::no_pipeline) {
      if (LoadsItems && this->num_items > 0) return this->template launch_pipeline<Policy, !LoadsItems>(0);
      if (this->problem.can_copy_in_bulk()) return this->template launch_pipeline<Policy, true>(0);
    }
    return this->template launch_rounds<Policy, large_tile>();
  }
};
template <class Problem, bool LoadsItems = false>
cudaError_t columns_of() {
  column_kernels<Problem, LoadsItems> kernels{};
  return DispatchScan<Problem>::MaxPolicy::Invoke(0, kernels);
}
template <class Problem, bool UsesBulkCopies>
constexpr launch_shape pipeline_shape() {
  using Policy = policy<typename Problem::policy_hub>;
  if constexpr (Policy::pipeline_above == strata::no_pipeline) {
    return {};
  } else {
    using Agent = AgentScanPipeline<typename Problem::template steps<Policy, UsesBulkCopies>>;
    return {Agent::block_threads, Agent::blocks_per_multiprocessor,
            Agent::dynamic_shared_bytes + sizeof(typename Agent::TempStorage)};
  }
}

using strata::NullType;
using selection = select_problem<select_by::key, u32, const u32*, NullType, u32*, NullType, int*, is_odd>;
using partition =
    partition_problem<u32, const u32*, NullType, part_of<is_odd, NullType>, u32*, NullType, NullType, int*>;
template <class ValueIterator>
using by_key =
    reduce_by_key_problem<u32, u32, const u32*, ValueIterator, u32*, u32*, int*, strata::Sum, strata::Equality>;
using sums_by_key = by_key<const u32*>;
using run_lengths = by_key<NullType>;
using scan_by_key = scan_by_key_problem<double, begins_by_keys<const u32*, strata::Equality>, const double*, double*,
                                        strata::Sum, false, double>;

using keys = radix_shapes<strata::radix_sort_policy_hub<u32, strata::NullType>, u32, strata::NullType>;
using pairs = radix_shapes<strata::radix_sort_policy_hub<u32, u32>, u32, const u32*>;
using wide_pairs = radix_shapes<strata::radix_sort_policy_hub<u64, u64>, u64, const u64*>;

}  // namespace architectures_test

using namespace architectures_test;

// architectures.py reads constants whose names begin with shape_.
#define SHAPE(name, ...) __constant__ launch_shape shape_##name = __VA_ARGS__
SHAPE(radix_histogram_of_keys, keys::histogram);
SHAPE(radix_pass_of_keys, keys::pass);
SHAPE(radix_grid_of_keys, keys::grid);
SHAPE(radix_block_of_keys, keys::large_block);
SHAPE(radix_histogram_of_pairs, pairs::histogram);
SHAPE(radix_pass_of_pairs, pairs::pass);
SHAPE(radix_grid_of_pairs, pairs::grid);
SHAPE(radix_block_of_pairs, pairs::large_block);
SHAPE(radix_histogram_of_wide_pairs, wide_pairs::histogram);
SHAPE(radix_pass_of_wide_pairs, wide_pairs::pass);
SHAPE(radix_grid_of_wide_pairs, wide_pairs::grid);
SHAPE(radix_block_of_wide_pairs, wide_pairs::large_block);
SHAPE(segmented_radix_sort, segmented_shape());
SHAPE(long_segments, long_segments_shape<segmented_policy, u64, u64>());
SHAPE(long_segments_of_numbers, long_segments_shape<number_policy, u32, u32>());
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
  SHAPE(name##_resident_grid, merge_sort_shapes<Key>::grid<resident_grid_row>());                      \
  SHAPE(name##_segments_grid, merge_sort_shapes<Key>::segments_grid())
MERGE_SORT_SHAPES(merge_sort_4, u32);
MERGE_SORT_SHAPES(merge_sort_8, u64);
MERGE_SORT_SHAPES(merge_sort_24, record);
#define PIPELINE_SHAPES(Problem)                             \
  SHAPE(Problem##_in_bulk, pipeline_shape<Problem, true>()); \
  SHAPE(Problem##_by_items, pipeline_shape<Problem, false>())
PIPELINE_SHAPES(selection);
PIPELINE_SHAPES(partition);
PIPELINE_SHAPES(sums_by_key);
PIPELINE_SHAPES(run_lengths);
PIPELINE_SHAPES(scan_by_key);
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
      columns_of<sums_by_key, true>(),
      columns_of<run_lengths>(),
      columns_of<scan_by_key>(),
      columns_of<selection>(),
      columns_of<partition>(),
      DeviceAdjacentDifference::SubtractLeftCopy(s, b, in, out, n),
      DeviceFind::FindIf(s, b, in, counts, is_odd{}, n),
      DeviceFind::LowerBound(s, b, reals, n, reals, n, total, is_less{}),
      DeviceFind::UpperBoundSortedValues(s, b, wide, n, wide, n, total, is_less{}),
      DeviceGroupBy::Aggregate(s, b, group_keys(in, n), group_aggregates(group_sum(in, wide_out)), group_output(out, n),
                               counts),
      DeviceHistogram::HistogramEven(s, b, in, counts, 257, 0u, 256u, n),
      DeviceMemcpy::Batched(s, b, static_cast<const void* const*>(nullptr), static_cast<void* const*>(nullptr), counts,
                            n),
      DeviceMerge::MergeKeys(s, b, in, n, in, n, out, is_less{}),
      DeviceMerge::MergePairs(s, b, wide, wide, n, wide, wide, n, wide_out, wide_out, is_less{}),
      DeviceMergeSort::SortKeysCopy(s, b, in, out, n, is_less{}),
      DeviceRadixSort::SortKeys(s, b, in, out, n),
      DeviceRadixSort::SortPairs(s, b, in, out, in, out, n),
      DeviceRadixSort::SortPairs(s, b, wide, wide_out, wide, wide_out, n),
      DeviceSegmentedRadixSort::SortKeys(s, b, wide, wide_out, n, n, counts, counts + 1),
      // Also with the rows of DeviceSegmentedMergeSort.
      DeviceSegmentedSort::SortKeys(s, b, in, out, n, n, counts, counts + 1),
      DeviceSegmentedReduce::Sum(s, b, reals, reals_out, n, counts, counts + 1),
      DeviceSegmentedScan::InclusiveSegmentedSum(s, b, reals, reals_out, counts, counts + 1, n),
      DeviceTopK::MaxKeys(s, b, in, out, n, n),
      DeviceSegmentedTopK::MaxKeys(s, b, in, out, SegmentsOfSize(n, n), 5),
      DeviceTranspose::Transpose(s, b, in, out, n, n),
      DeviceHashJoin::Inner(s, b, join_side(in, n), join_side(in, n).match_ratio(0.0), join_count(), total),
      // Joins by an array, by a merge, and in the order of probe rows, with and without lists.
      DeviceHashJoin::Inner(s, b, join_side(in, n).unique().sorted().key_range(0, 9), join_side(in, n).sorted(),
                            join_pairs(counts, counts, n), total, OrderedJoinOptions<>{}),
      DeviceHashJoin::Semi(s, b, join_side(in, n), join_side(in, n), join_count(), total),
  };
  for (cudaError_t status : all) {
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}
