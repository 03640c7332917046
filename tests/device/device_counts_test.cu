// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Size queries of all device calls refuse impossible counts, and do not look at pointers.
#include <strata/device/device_adjacent_difference.cuh>
#include <strata/device/device_copy.cuh>
#include <strata/device/device_find.cuh>
#include <strata/device/device_for.cuh>
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
#include <strata/device/device_select.cuh>
#include <strata/device/device_top_k.cuh>
#include <strata/device/device_transform.cuh>
#include <strata/device/device_transpose.cuh>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "device/device_call.cuh"

namespace device_counts_test {

struct is_less {
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
};

struct is_odd {
  STRATA_HD bool operator()(int a) const { return a % 2 != 0; }
};

constexpr auto most = std::numeric_limits<std::int64_t>::max();

/// A size query with null pointers and with a count that the test chooses.
struct query {
  std::string name;
  std::function<cudaError_t(std::size_t&, std::int64_t)> ask;
  /// The size grows by at least this many bytes for each item.
  std::size_t bytes_per_item = 0;
};
std::ostream& operator<<(std::ostream& os, const query& q) { return os << q.name; }

const int* const in = nullptr;
int* const out = nullptr;
std::int64_t* const num_out = nullptr;
const int* const* const ins = nullptr;
int* const* const outs = nullptr;

#define STRATA_ASK(...) [](std::size_t& bytes, std::int64_t n) { return strata::__VA_ARGS__; }
std::vector<query> queries() {
  using strata::Sum;
  return {
      {"Reduce", STRATA_ASK(DeviceReduce::Reduce(nullptr, bytes, in, out, n, Sum{}, 0))},
      {"ReduceSum", STRATA_ASK(DeviceReduce::Sum(nullptr, bytes, in, out, n))},
      {"ArgMin", STRATA_ASK(DeviceReduce::ArgMin(nullptr, bytes, in, out, num_out, n))},
      {"ReduceByKey", STRATA_ASK(DeviceReduce::ReduceByKey(nullptr, bytes, in, out, in, out, num_out, Sum{}, n))},
      {"SegmentedSum", STRATA_ASK(DeviceSegmentedReduce::Sum(nullptr, bytes, in, out, n, in, in))},
      {"SegmentedSumOfSegmentsOfSize", STRATA_ASK(DeviceSegmentedReduce::Sum(nullptr, bytes, in, out, n, 10))},
      {"SegmentedSumOfSize", STRATA_ASK(DeviceSegmentedReduce::Sum(nullptr, bytes, in, out, 10, n))},
      {"ExclusiveSum", STRATA_ASK(DeviceScan::ExclusiveSum(nullptr, bytes, in, out, n))},
      {"InclusiveSumByKey", STRATA_ASK(DeviceScan::InclusiveSumByKey(nullptr, bytes, in, in, out, n))},
      {"SelectFlagged", STRATA_ASK(DeviceSelect::Flagged(nullptr, bytes, in, in, out, num_out, n))},
      {"SelectFlaggedInPlace", STRATA_ASK(DeviceSelect::Flagged(nullptr, bytes, out, in, num_out, n))},
      {"SelectUnique", STRATA_ASK(DeviceSelect::Unique(nullptr, bytes, in, out, num_out, n))},
      {"Encode", STRATA_ASK(DeviceRunLengthEncode::Encode(nullptr, bytes, in, out, out, num_out, n))},
      {"NonTrivialRuns", STRATA_ASK(DeviceRunLengthEncode::NonTrivialRuns(nullptr, bytes, in, out, out, num_out, n))},
      {"PartitionFlagged", STRATA_ASK(DevicePartition::Flagged(nullptr, bytes, in, in, out, num_out, n))},
      {"PartitionInThree",
       STRATA_ASK(DevicePartition::If(nullptr, bytes, in, out, out, out, num_out, n, is_odd{}, is_odd{}))},
      {"SegmentedScan", STRATA_ASK(DeviceSegmentedScan::InclusiveSegmentedSum(nullptr, bytes, in, out, in, in, n)), 8},
      {"RadixSortKeys", STRATA_ASK(DeviceRadixSort::SortKeys(nullptr, bytes, in, out, n)), 4},
      {"RadixSortPairs", STRATA_ASK(DeviceRadixSort::SortPairs(nullptr, bytes, in, out, in, out, n)), 8},
      {"ArgSort", STRATA_ASK(DeviceRadixSort::ArgSort(nullptr, bytes, in, num_out, n)), 4},
      {"TopKItems", STRATA_ASK(DeviceTopK::MaxKeys(nullptr, bytes, in, out, n, 10))},
      {"TopKPairs", STRATA_ASK(DeviceTopK::MinPairs(nullptr, bytes, in, out, in, out, n, 1000))},
      {"TopKResults", STRATA_ASK(DeviceTopK::MaxPairsSorted(nullptr, bytes, in, out, in, out, n, n)), 8},
      {"SegmentedRadixSortItems",
       STRATA_ASK(DeviceSegmentedRadixSort::SortKeys(nullptr, bytes, in, out, n, 10, in, in)), 4},
      {"SegmentedRadixSortSegments",
       STRATA_ASK(DeviceSegmentedRadixSort::SortKeys(nullptr, bytes, in, out, 10, n, in, in))},
      {"SegmentedSortItems", STRATA_ASK(DeviceSegmentedSort::SortKeys(nullptr, bytes, in, out, n, 10, in, in)), 4},
      {"SegmentedSortSegments", STRATA_ASK(DeviceSegmentedSort::SortKeys(nullptr, bytes, in, out, 10, n, in, in))},
      {"SegmentedMergeSortItems",
       STRATA_ASK(DeviceSegmentedMergeSort::SortKeysCopy(nullptr, bytes, in, out, n, 10, in, in, is_less{})), 4},
      {"SegmentedMergeSortSegments",
       STRATA_ASK(DeviceSegmentedMergeSort::SortKeysCopy(nullptr, bytes, in, out, 10, n, in, in, is_less{}))},
      {"SegmentedMergeSortOfSize",
       STRATA_ASK(DeviceSegmentedMergeSort::SortKeys(nullptr, bytes, out, n, 10, is_less{}))},
      {"MergeSort", STRATA_ASK(DeviceMergeSort::SortKeys(nullptr, bytes, out, n, is_less{})), 4},
      {"SubtractLeftCopy", STRATA_ASK(DeviceAdjacentDifference::SubtractLeftCopy(nullptr, bytes, in, out, n))},
      {"SubtractRight", STRATA_ASK(DeviceAdjacentDifference::SubtractRight(nullptr, bytes, out, n))},
      {"Transform", STRATA_ASK(DeviceTransform::Transform(nullptr, bytes, in, out, n, strata::CastOp<int>{}))},
      {"Bulk", STRATA_ASK(DeviceFor::Bulk(nullptr, bytes, n, strata::CastOp<int>{}))},
      {"FindIf", STRATA_ASK(DeviceFind::FindIf(nullptr, bytes, in, num_out, is_odd{}, n))},
      {"LowerBoundRange", STRATA_ASK(DeviceFind::LowerBound(nullptr, bytes, in, n, in, 10, num_out, is_less{}))},
      {"UpperBoundValues", STRATA_ASK(DeviceFind::UpperBound(nullptr, bytes, in, 10, in, n, out, is_less{}))},
      {"LowerBoundSortedRange",
       STRATA_ASK(DeviceFind::LowerBoundSortedValues(nullptr, bytes, in, n, in, 10, num_out, is_less{}))},
      {"UpperBoundSortedValues",
       STRATA_ASK(DeviceFind::UpperBoundSortedValues(nullptr, bytes, in, 10, in, n, out, is_less{})), 0},
      {"MergeFirst", STRATA_ASK(DeviceMerge::MergeKeys(nullptr, bytes, in, n, in, 0, out)), 0},
      {"MergeSecond", STRATA_ASK(DeviceMerge::MergePairs(nullptr, bytes, in, in, 0, in, in, n, out, out)), 0},
      {"TransposeRows", STRATA_ASK(DeviceTranspose::Transpose(nullptr, bytes, in, out, n, 1)), 0},
      {"TransposeColumns", STRATA_ASK(DeviceTranspose::Transpose(nullptr, bytes, in, out, 1, n)), 0},
      {"HistogramEven", STRATA_ASK(DeviceHistogram::HistogramEven(nullptr, bytes, in, out, 9, 0, 9, n))},
      {"HistogramRangeRows",
       STRATA_ASK(DeviceHistogram::HistogramRange(nullptr, bytes, in, out, 9, in, std::int64_t{1}, n, std::size_t{4}))},
      {"BatchedMemcpy", STRATA_ASK(DeviceMemcpy::Batched(nullptr, bytes, ins, outs, in, n)), 12},
      {"BatchedCopy", STRATA_ASK(DeviceCopy::Batched(nullptr, bytes, ins, outs, in, n)), 12},
      {"InnerCountBuildRows",
       STRATA_ASK(DeviceHashJoin::Inner(nullptr, bytes, strata::join_side(in, n), strata::join_side(in, 10),
                                        strata::join_count(), num_out)),
       4},
      {"InnerCountProbeRows",
       STRATA_ASK(DeviceHashJoin::Inner(nullptr, bytes, strata::join_side(in, 10), strata::join_side(in, n),
                                        strata::join_count(), num_out))},
      {"InnerPairsCapacity",
       STRATA_ASK(DeviceHashJoin::Inner(nullptr, bytes, strata::join_side(in, 10), strata::join_side(in, 10),
                                        strata::join_pairs(out, out, n), num_out))},
      {"JoinTableMemory",
       [](std::size_t& bytes, std::int64_t n) {
         const auto build = strata::join_side<int>(nullptr, n);
         return strata::JoinTable<int, std::int64_t>::MemoryBytes(build, bytes);
       },
       // The host back end of joins keeps no table.
       STRATA_JOIN_BACKEND == STRATA_JOIN_BACKEND_CUDA ? 4 : 0},
  };
}
#undef STRATA_ASK

class DeviceCounts : public ::testing::TestWithParam<query> {};
INSTANTIATE_TEST_SUITE_P(all, DeviceCounts, ::testing::ValuesIn(queries()),
                         [](const auto& instance) { return instance.param.name; });

TEST_P(DeviceCounts, answers_without_pointers) {
  for (const std::int64_t n : {0, 1, 100, 100000}) {
    std::size_t bytes = 0;
    EXPECT_CUDA_SUCCESS(GetParam().ask(bytes, n)) << n;
    EXPECT_GT(bytes, GetParam().bytes_per_item * (n < 100000 ? 0 : 100000)) << n;
  }
}

TEST_P(DeviceCounts, refuses_negative_counts) {
  for (const std::int64_t n : {std::int64_t{-1}, -most, -most - 1}) {
    std::size_t bytes = 12345;
    EXPECT_EQ(cudaErrorInvalidValue, GetParam().ask(bytes, n)) << n;
    EXPECT_EQ(12345u, bytes);
  }
}

// Size queries refuse a count whose storage has more bytes than size_t can represent. Calls whose storage does not grow
// with the number of items may accept it.
TEST_P(DeviceCounts, refuses_counts_whose_size_cannot_be_told) {
  std::size_t bytes = 12345;
  const cudaError_t status = GetParam().ask(bytes, most);
  if (GetParam().bytes_per_item > 2) {
    EXPECT_EQ(cudaErrorInvalidValue, status);
  }
  EXPECT_EQ(status == cudaSuccess, bytes != 12345);
  EXPECT_LT(bytes, std::size_t{1} << 63);
}

TEST(device_counts, refuses_counts_that_no_iterator_can_reach) {
  constexpr std::size_t count = ~std::size_t{0};
  std::size_t bytes = 12345;
  EXPECT_EQ(cudaErrorInvalidValue, strata::DeviceReduce::Sum(nullptr, bytes, in, out, count));
  EXPECT_EQ(cudaErrorInvalidValue, strata::DeviceScan::ExclusiveSum(nullptr, bytes, in, out, count));
  EXPECT_EQ(cudaErrorInvalidValue, strata::DeviceRadixSort::SortKeys(nullptr, bytes, in, out, count));
  EXPECT_EQ(cudaErrorInvalidValue, strata::DeviceSelect::Unique(nullptr, bytes, in, out, num_out, count));
  EXPECT_EQ(cudaErrorInvalidValue, strata::DeviceMergeSort::SortKeys(nullptr, bytes, out, count, is_less{}));
  EXPECT_EQ(12345u, bytes);
}

/// Counts of 128 bits compile only where the standard library takes `__int128` for an integer type, because calls check
/// the type of a count. Without extensions of the compiler (gnu++17), it does not.
template <class Wide>
void check_wide_counts_of_any_type(Wide n) {
  if constexpr (std::is_integral_v<Wide>) {
    std::size_t bytes = 12345;
    EXPECT_FALSE(strata::detail::is_count(n));
    EXPECT_FALSE(strata::detail::is_count(strata::FutureCount(in, n)));
    EXPECT_LT(strata::join_side(in, n).rows, 0);
    EXPECT_EQ(cudaErrorInvalidValue, strata::DeviceSegmentedReduce::Sum(nullptr, bytes, in, out, 2, n));
    EXPECT_CUDA_SUCCESS(strata::DeviceSegmentedReduce::Sum(nullptr, bytes, in, out, Wide{3}, Wide{10}));
  }
}

// Size queries refuse these counts. A call that cut them to 64 bits would take most of them for small counts.
TEST(device_counts, refuses_counts_that_64_bits_cannot_hold) {
  __extension__ using int128 = __int128;
  const int128 beyond = int128{1} << 64;
  for (const int128 n : {beyond + 3, 5 * beyond, beyond - 1, -beyond + 3, int128{-1}, int128{1} << 126}) {
    EXPECT_GT(strata::detail::count_of(n), static_cast<std::size_t>(most)) << static_cast<double>(n);
    check_wide_counts_of_any_type(n);
    std::size_t bytes = 12345;
    EXPECT_EQ(cudaErrorInvalidValue, strata::DeviceSegmentedReduce::Sum(nullptr, bytes, in, out, n, in, in));
    EXPECT_EQ(cudaErrorInvalidValue, strata::DeviceMerge::MergeKeys(nullptr, bytes, in, 1, in, n, out));
    EXPECT_EQ(cudaErrorInvalidValue, strata::DeviceTranspose::Transpose(nullptr, bytes, in, out, n, 1));
    EXPECT_EQ(cudaErrorInvalidValue, strata::DeviceMemcpy::Batched(nullptr, bytes, ins, outs, in, n));
    EXPECT_EQ(cudaErrorInvalidValue,
              strata::DeviceHashJoin::Inner(nullptr, bytes, strata::join_side(in, 10), strata::join_side(in, 10),
                                            strata::join_pairs(out, out, n), num_out));
    EXPECT_EQ(12345u, bytes);
  }
}

TEST(device_counts, refuses_bits_that_keys_do_not_have) {
  std::size_t bytes = 12345;
  EXPECT_EQ(cudaErrorInvalidValue, strata::DeviceRadixSort::SortKeys(nullptr, bytes, in, out, 10, 0, 33));
  EXPECT_EQ(cudaErrorInvalidValue,
            strata::DeviceSegmentedRadixSort::SortKeys(nullptr, bytes, in, out, 10, 1, in, in, 9, 8));
  EXPECT_EQ(12345u, bytes);
}

}  // namespace device_counts_test
