// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Every device call is held against the table of include/strata/README.md, "Arguments". meta/arguments.py looks whether
// a call is missing. What is refused is logged.
#define STRATA_DEBUG_LOG 1
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_CUDA
#include <strata/device/device_adjacent_difference.cuh>
#include <strata/device/device_copy.cuh>
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

#include <array>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "device/device_arguments_support.cuh"
#include "support/debug_log.hpp"

namespace device_arguments_test {

using u32 = std::uint32_t;
using i64 = std::int64_t;
using index_and_value = strata::KeyValuePair<std::int32_t, u32>;

struct is_less {
  STRATA_HD bool operator()(u32 a, u32 b) const { return a < b; }
};
struct is_even {
  STRATA_HD bool operator()(u32 x) const { return x % 2 == 0; }
};
struct increase {
  STRATA_HD void operator()(u32& x) const { ++x; }
};
struct look_at {
  STRATA_HD void operator()(u32) const {}
};
struct plus_one {
  STRATA_HD u32 operator()(u32 x) const { return x + 1; }
};

// ------------------------------------------------------------------ arrays

constexpr auto n = static_cast<std::size_t>(item_count);
constexpr auto s = static_cast<std::size_t>(segment_count);

array in(std::size_t count = n) { return {role::input, sizeof(u32), count, count}; }
array out(std::size_t count = n, std::size_t item_bytes = sizeof(u32)) {
  return {role::output, item_bytes, count, count};
}
array in_place() { return {role::in_place, sizeof(u32), n, n}; }
array begins() { return {role::begins, sizeof(i64), s, s}; }
array ends() { return {role::ends, sizeof(i64), s, s}; }
array pointers() { return {role::pointers, sizeof(void*), s, s}; }
template <class T>
array result() {
  return {role::result, sizeof(T), 1, 1};
}
/// Of a histogram of eight bins.
array counters() { return {role::result, sizeof(u32), 8, 8}; }
/// An array of which the host knows the first item only.
array from_first(array a) {
  a.known_count = 1;
  return a;
}
array may_be(std::vector<int> which, array a) {
  a.may_be = std::move(which);
  return a;
}
array may_overlap(std::vector<int> which, array a) {
  a.may_overlap = std::move(which);
  return a;
}
/// An output of segments of array 0 that have offsets.
array of_segments(array a) {
  a.first_items_with = 0;
  return a;
}

// ------------------------------------------------------------------ calls

// Of the arguments `a`: U is an array of u32, I one of i64, N a count in the type that is tested.
#define STRATA_CALL(...)                                                               \
  written_call {                                                                       \
#__VA_ARGS__, [](void* temp, std::size_t& bytes, const arguments& a,               \
                     [[maybe_unused]] cudaStream_t on) { return strata::__VA_ARGS__; } \
  }
#define U(i) a.get<u32>(i)
#define I(i) a.get<i64>(i)
#define N(i) static_cast<Count>(a.counts[i])

template <class Count>
std::vector<device_call> reductions() {
  using pairs_out = index_and_value;
  return {
      {"Reduce",
       {in(), may_overlap({0}, result<u32>())},
       {item_count},
       STRATA_CALL(DeviceReduce::Reduce(temp, bytes, U(0), U(1), N(0), strata::Max{}, 3u, on))},
      {"Sum",
       {in(), may_overlap({0}, result<u32>())},
       {item_count},
       STRATA_CALL(DeviceReduce::Sum(temp, bytes, U(0), U(1), N(0), on))},
      {"Min",
       {in(), may_overlap({0}, result<u32>())},
       {item_count},
       STRATA_CALL(DeviceReduce::Min(temp, bytes, U(0), U(1), N(0), on))},
      {"Max",
       {in(), may_overlap({0}, result<u32>())},
       {item_count},
       STRATA_CALL(DeviceReduce::Max(temp, bytes, U(0), U(1), N(0), on))},
      {"ArgMin",
       {in(), may_overlap({0}, result<u32>()), may_overlap({0}, result<i64>())},
       {item_count},
       STRATA_CALL(DeviceReduce::ArgMin(temp, bytes, U(0), U(1), I(2), N(0), on))},
      {"ArgMaxOfPairs",
       {in(), may_overlap({0}, result<pairs_out>())},
       {item_count},
       STRATA_CALL(DeviceReduce::ArgMax(temp, bytes, U(0), a.get<index_and_value>(1), N(0), on))},
      {"TransformReduce",
       {in(), may_overlap({0}, result<u32>())},
       {item_count},
       STRATA_CALL(DeviceReduce::TransformReduce(temp, bytes, U(0), U(1), N(0), strata::Sum{}, plus_one{}, 3u, on))},
      {"ReduceByKey",
       {in(), from_first(out()), in(), from_first(out()), result<i64>()},
       {item_count},
       STRATA_CALL(DeviceReduce::ReduceByKey(temp, bytes, U(0), U(1), U(2), U(3), I(4), strata::Sum{}, N(0), on))},
      {"Encode",
       {in(), from_first(out()), from_first(out()), result<i64>()},
       {item_count},
       STRATA_CALL(DeviceRunLengthEncode::Encode(temp, bytes, U(0), U(1), U(2), I(3), N(0), on))},
      {"NonTrivialRuns",
       {in(), from_first(out()), from_first(out()), result<i64>()},
       {item_count},
       STRATA_CALL(DeviceRunLengthEncode::NonTrivialRuns(temp, bytes, U(0), U(1), U(2), I(3), N(0), on))},
      {"SegmentedSum",
       {from_first(in()), of_segments(out(s)), begins(), ends()},
       {segment_count},
       STRATA_CALL(DeviceSegmentedReduce::Sum(temp, bytes, U(0), U(1), N(0), I(2), I(3), on))},
      {"SegmentedSumOfSize",
       {in(), out(s)},
       {segment_count, segment_items},
       STRATA_CALL(DeviceSegmentedReduce::Sum(temp, bytes, U(0), U(1), N(0), N(1), on))},
      {"SegmentedReduce",
       {from_first(in()), of_segments(out(s)), begins(), ends()},
       {segment_count},
       STRATA_CALL(DeviceSegmentedReduce::Reduce(temp, bytes, U(0), U(1), N(0), I(2), I(3), strata::Sum{}, 3u, on))},
      {"SegmentedMin",
       {from_first(in()), of_segments(out(s)), begins(), ends()},
       {segment_count},
       STRATA_CALL(DeviceSegmentedReduce::Min(temp, bytes, U(0), U(1), N(0), I(2), I(3), on))},
      {"SegmentedArgMin",
       {from_first(in()), of_segments(out(s, sizeof(index_and_value))), begins(), ends()},
       {segment_count},
       STRATA_CALL(DeviceSegmentedReduce::ArgMin(temp, bytes, U(0), a.get<index_and_value>(1), N(0), I(2), I(3), on))},
      {"SegmentedArgMaxOfSize",
       {in(), out(s, sizeof(index_and_value))},
       {segment_count, segment_items},
       STRATA_CALL(DeviceSegmentedReduce::ArgMax(temp, bytes, U(0), a.get<index_and_value>(1), N(0), N(1), on))},
  };
}

template <class Count>
std::vector<device_call> scans() {
  return {
      {"ExclusiveSum",
       {in(), may_be({0}, out())},
       {item_count},
       STRATA_CALL(DeviceScan::ExclusiveSum(temp, bytes, U(0), U(1), N(0), on))},
      {"InclusiveSum",
       {in(), may_be({0}, out())},
       {item_count},
       STRATA_CALL(DeviceScan::InclusiveSum(temp, bytes, U(0), U(1), N(0), on))},
      {"ExclusiveScan",
       {in(), may_be({0}, out())},
       {item_count},
       STRATA_CALL(DeviceScan::ExclusiveScan(temp, bytes, U(0), U(1), strata::Sum{}, 4u, N(0), on))},
      {"InclusiveScanInit",
       {in(), may_be({0}, out())},
       {item_count},
       STRATA_CALL(DeviceScan::InclusiveScanInit(temp, bytes, U(0), U(1), strata::Sum{}, 4u, N(0), on))},
      {"InclusiveScan",
       {in(), may_be({0}, out())},
       {item_count},
       STRATA_CALL(DeviceScan::InclusiveScan(temp, bytes, U(0), U(1), strata::Max{}, N(0), on))},
      {"ExclusiveScanOfFutureValue",
       {in(), may_be({0}, out()), in(2)},
       {item_count},
       STRATA_CALL(DeviceScan::ExclusiveScan(temp, bytes, U(0), U(1), strata::Sum{}, strata::FutureValue<u32>(U(2)),
                                             N(0), on))},
      {"InclusiveSumByKey",
       {in(), in(), may_be({0, 1}, out())},
       {item_count},
       STRATA_CALL(DeviceScan::InclusiveSumByKey(temp, bytes, U(0), U(1), U(2), N(0), strata::Equality{}, on))},
      {"ExclusiveSumByKey",
       {in(), in(), may_be({0, 1}, out())},
       {item_count},
       STRATA_CALL(DeviceScan::ExclusiveSumByKey(temp, bytes, U(0), U(1), U(2), N(0), strata::Equality{}, on))},
      {"InclusiveScanByKey",
       {in(), in(), may_be({0, 1}, out())},
       {item_count},
       STRATA_CALL(
           DeviceScan::InclusiveScanByKey(temp, bytes, U(0), U(1), U(2), strata::Sum{}, N(0), strata::Equality{}, on))},
      {"ExclusiveScanByKey",
       {in(), in(), may_be({0, 1}, out())},
       {item_count},
       STRATA_CALL(DeviceScan::ExclusiveScanByKey(temp, bytes, U(0), U(1), U(2), strata::Sum{}, 4u, N(0),
                                                  strata::Equality{}, on))},
      {"ExclusiveSegmentedSum",
       {in(), may_be({0}, of_segments(from_first(out()))), begins(), ends()},
       {segment_count},
       STRATA_CALL(DeviceSegmentedScan::ExclusiveSegmentedSum(temp, bytes, U(0), U(1), I(2), I(3), N(0), on))},
      {"ExclusiveSegmentedScan",
       {in(), may_be({0}, of_segments(from_first(out()))), begins(), ends()},
       {segment_count},
       STRATA_CALL(DeviceSegmentedScan::ExclusiveSegmentedScan(temp, bytes, U(0), U(1), I(2), I(3), N(0), strata::Sum{},
                                                               4u, on))},
      {"InclusiveSegmentedScan",
       {in(), may_be({0}, of_segments(from_first(out()))), begins(), ends()},
       {segment_count},
       STRATA_CALL(
           DeviceSegmentedScan::InclusiveSegmentedScan(temp, bytes, U(0), U(1), I(2), I(3), N(0), strata::Sum{}, on))},
      {"InclusiveSegmentedScanInit",
       {in(), may_be({0}, of_segments(from_first(out()))), begins(), ends()},
       {segment_count},
       STRATA_CALL(DeviceSegmentedScan::InclusiveSegmentedScanInit(temp, bytes, U(0), U(1), I(2), I(3), N(0),
                                                                   strata::Sum{}, 4u, on))},
      {"SegmentedScanToOffsets",
       {in(), of_segments(from_first(out())), begins(), ends(), begins()},
       {segment_count},
       STRATA_CALL(DeviceSegmentedScan::InclusiveSegmentedSum(temp, bytes, U(0), U(1), I(2), I(3), I(4), N(0), on))},
  };
}

template <class Count>
std::vector<device_call> selections() {
  return {
      {"If",
       {in(), from_first(out()), result<i64>()},
       {item_count},
       STRATA_CALL(DeviceSelect::If(temp, bytes, U(0), U(1), I(2), N(0), is_even{}, on))},
      {"IfInPlace",
       {in_place(), result<i64>()},
       {item_count},
       STRATA_CALL(DeviceSelect::If(temp, bytes, U(0), I(1), N(0), is_even{}, on))},
      {"Flagged",
       {in(), in(), from_first(out()), result<i64>()},
       {item_count},
       STRATA_CALL(DeviceSelect::Flagged(temp, bytes, U(0), U(1), U(2), I(3), N(0), on))},
      {"FlaggedInPlace",
       {may_be({1}, from_first(in_place())), in(), result<i64>()},
       {item_count},
       STRATA_CALL(DeviceSelect::Flagged(temp, bytes, U(0), U(1), I(2), N(0), on))},
      {"FlaggedIf",
       {in(), in(), from_first(out()), result<i64>()},
       {item_count},
       STRATA_CALL(DeviceSelect::FlaggedIf(temp, bytes, U(0), U(1), U(2), I(3), N(0), is_even{}, on))},
      {"FlaggedIfInPlace",
       {may_be({1}, from_first(in_place())), in(), result<i64>()},
       {item_count},
       STRATA_CALL(DeviceSelect::FlaggedIf(temp, bytes, U(0), U(1), I(2), N(0), is_even{}, on))},
      {"Partition",
       {in(), out(), result<i64>()},
       {item_count},
       STRATA_CALL(DevicePartition::If(temp, bytes, U(0), U(1), I(2), N(0), is_even{}, on))},
      {"PartitionFlagged",
       {in(), in(), out(), result<i64>()},
       {item_count},
       STRATA_CALL(DevicePartition::Flagged(temp, bytes, U(0), U(1), U(2), I(3), N(0), on))},
      {"PartitionInThree",
       {in(), from_first(out()), from_first(out()), from_first(out()), {role::result, sizeof(i64), 2, 2}},
       {item_count},
       STRATA_CALL(DevicePartition::If(temp, bytes, U(0), U(1), U(2), U(3), I(4), N(0), is_even{}, is_even{}, on))},
      {"Unique",
       {in(), from_first(out()), result<i64>()},
       {item_count},
       STRATA_CALL(DeviceSelect::Unique(temp, bytes, U(0), U(1), I(2), N(0), on))},
      {"UniqueByKey",
       {in(), in(), from_first(out()), from_first(out()), result<i64>()},
       {item_count},
       STRATA_CALL(DeviceSelect::UniqueByKey(temp, bytes, U(0), U(1), U(2), U(3), I(4), N(0), strata::Equality{}, on))},
  };
}

/// A call with double buffers, whose selectors only it sees.
template <class Call>
written_call with_buffers(const char* text, const Call& call) {
  return {text, [call](void* temp, std::size_t& bytes, const arguments& a, cudaStream_t on) {
            strata::DoubleBuffer<u32> keys(U(0), U(1));
            strata::DoubleBuffer<u32> values;
            if (a.arrays.size() >= 4) values = {U(2), U(3)};
            return call(temp, bytes, keys, values, a, on);
          }};
}
#define STRATA_BUFFERS(...)                                                                             \
  with_buffers(#__VA_ARGS__, [](void* temp, std::size_t& bytes, strata::DoubleBuffer<u32>& keys,        \
                                [[maybe_unused]] strata::DoubleBuffer<u32>& values, const arguments& a, \
                                cudaStream_t on) { return strata::__VA_ARGS__; })

template <class Count>
std::vector<device_call> sorts() {
  return {
      {"RadixSortKeys",
       {in(), may_be({0}, out())},
       {item_count},
       STRATA_CALL(DeviceRadixSort::SortKeys(temp, bytes, U(0), U(1), N(0), 0, 32, on))},
      {"RadixSortKeysDescending",
       {in(), may_be({0}, out())},
       {item_count},
       STRATA_CALL(DeviceRadixSort::SortKeysDescending(temp, bytes, U(0), U(1), N(0), 0, 32, on))},
      {"RadixSortKeysOfBuffers",
       {in_place(), out()},
       {item_count},
       STRATA_BUFFERS(DeviceRadixSort::SortKeys(temp, bytes, keys, N(0), 0, 32, on))},
      {"RadixSortPairs",
       {in(), may_be({0}, out()), in(), may_be({2}, out())},
       {item_count},
       STRATA_CALL(DeviceRadixSort::SortPairs(temp, bytes, U(0), U(1), U(2), U(3), N(0), 0, 32, on))},
      {"RadixSortPairsOfBuffers",
       {in_place(), out(), in_place(), out()},
       {item_count},
       STRATA_BUFFERS(DeviceRadixSort::SortPairs(temp, bytes, keys, values, N(0), 0, 32, on))},
      {"ArgSort",
       {in(), out()},
       {item_count},
       STRATA_CALL(DeviceRadixSort::ArgSort(temp, bytes, U(0), U(1), N(0), 0, 32, on))},
      {"TopKMaxKeys",
       {in(), out(5)},
       {item_count},
       STRATA_CALL(DeviceTopK::MaxKeys(temp, bytes, U(0), U(1), N(0), 5, on))},
      {"TopKMinPairs",
       {in(), out(5), in(), out(5)},
       {item_count},
       STRATA_CALL(DeviceTopK::MinPairs(temp, bytes, U(0), U(1), U(2), U(3), N(0), 5, on))},
      {"TopKMaxPairsSorted",
       {in(), out(), in(), out()},
       {item_count},
       STRATA_CALL(DeviceTopK::MaxPairsSorted(temp, bytes, U(0), U(1), U(2), U(3), N(0), N(0), on))},
      {"TopKMinKeysSorted",
       {in(), out(5)},
       {item_count},
       STRATA_CALL(DeviceTopK::MinKeysSorted(temp, bytes, U(0), U(1), N(0), 5, on))},
      {"MergeSortKeys",
       {in_place()},
       {item_count},
       STRATA_CALL(DeviceMergeSort::SortKeys(temp, bytes, U(0), N(0), is_less{}, on))},
      {"MergeSortKeysCopy",
       {in(), may_be({0}, out())},
       {item_count},
       STRATA_CALL(DeviceMergeSort::SortKeysCopy(temp, bytes, U(0), U(1), N(0), is_less{}, on))},
      {"MergeSortPairs",
       {in_place(), in_place()},
       {item_count},
       STRATA_CALL(DeviceMergeSort::SortPairs(temp, bytes, U(0), U(1), N(0), is_less{}, on))},
      {"MergeSortPairsCopy",
       {in(), in(), may_be({0}, out()), may_be({1}, out())},
       {item_count},
       STRATA_CALL(DeviceMergeSort::SortPairsCopy(temp, bytes, U(0), U(1), U(2), U(3), N(0), is_less{}, on))},
  };
}

template <class Count>
std::vector<device_call> segmented_sorts() {
  const std::vector<i64> counts = {item_count, segment_count};
  return {
      {"SegmentedRadixSortKeys",
       {in(), may_be({0}, out()), begins(), ends()},
       counts,
       STRATA_CALL(DeviceSegmentedRadixSort::SortKeys(temp, bytes, U(0), U(1), N(0), N(1), I(2), I(3), 0, 32, on))},
      {"SegmentedRadixSortPairs",
       {in(), may_be({0}, out()), in(), may_be({2}, out()), begins(), ends()},
       counts,
       STRATA_CALL(DeviceSegmentedRadixSort::SortPairs(temp, bytes, U(0), U(1), U(2), U(3), N(0), N(1), I(4), I(5), 0,
                                                       32, on))},
      {"SegmentedRadixSortPairsOfBuffers",
       {in_place(), out(), in_place(), out(), begins(), ends()},
       counts,
       STRATA_BUFFERS(
           DeviceSegmentedRadixSort::SortPairs(temp, bytes, keys, values, N(0), N(1), I(4), I(5), 0, 32, on))},
      {"SegmentedSortKeys",
       {in(), may_be({0}, out()), begins(), ends()},
       counts,
       STRATA_CALL(DeviceSegmentedSort::SortKeys(temp, bytes, U(0), U(1), N(0), N(1), I(2), I(3), on))},
      {"SegmentedSortPairs",
       {in(), may_be({0}, out()), in(), may_be({2}, out()), begins(), ends()},
       counts,
       STRATA_CALL(DeviceSegmentedSort::SortPairs(temp, bytes, U(0), U(1), U(2), U(3), N(0), N(1), I(4), I(5), on))},
      {"SegmentedSortPairsOfBuffers",
       {in_place(), out(), in_place(), out(), begins(), ends()},
       counts,
       STRATA_BUFFERS(DeviceSegmentedSort::SortPairs(temp, bytes, keys, values, N(0), N(1), I(4), I(5), on))},
      {"SegmentedSortIndices",
       {in(), out(), begins(), ends()},
       counts,
       STRATA_CALL(DeviceSegmentedSort::SortIndices(temp, bytes, U(0), U(1), N(0), N(1), I(2), I(3), on))},
      {"SegmentedMergeSortKeys",
       {in_place(), begins(), ends()},
       counts,
       STRATA_CALL(DeviceSegmentedMergeSort::SortKeys(temp, bytes, U(0), N(0), N(1), I(1), I(2), is_less{}, on))},
      {"SegmentedMergeSortPairs",
       {in_place(), in_place(), begins(), ends()},
       counts,
       STRATA_CALL(
           DeviceSegmentedMergeSort::SortPairs(temp, bytes, U(0), U(1), N(0), N(1), I(2), I(3), is_less{}, on))},
      {"SegmentedMergeSortPairsCopy",
       {in(), in(), may_be({0}, out()), may_be({1}, out()), begins(), ends()},
       counts,
       STRATA_CALL(DeviceSegmentedMergeSort::SortPairsCopy(temp, bytes, U(0), U(1), U(2), U(3), N(0), N(1), I(4), I(5),
                                                           is_less{}, on))},
      {"SegmentedMergeSortIndices",
       {in(), out(), begins(), ends()},
       counts,
       STRATA_CALL(
           DeviceSegmentedMergeSort::SortIndices(temp, bytes, U(0), U(1), N(0), N(1), I(2), I(3), is_less{}, on))},
      {"MergeSortKeysOfSegmentsOfSize",
       {in(), may_be({0}, out())},
       {segment_count, segment_items},
       STRATA_CALL(DeviceSegmentedMergeSort::SortKeysCopy(temp, bytes, U(0), U(1), N(0), N(1), is_less{}, on))},
  };
}

/// A table of keys of its own, made by the first size query. It stays until the program ends.
const strata::JoinTable<u32, u32>& join_table() {
  struct owner {
    owner() {
      std::size_t bytes = 0;
      void* memory = nullptr;
      void* keys = nullptr;
      EXPECT_CUDA_SUCCESS(cudaMalloc(&keys, n * sizeof(u32)));
      const auto build = strata::join_side(static_cast<const u32*>(keys), item_count);
      EXPECT_CUDA_SUCCESS((strata::JoinTable<u32, u32>::MemoryBytes(build, bytes)));
      EXPECT_CUDA_SUCCESS(cudaMalloc(&memory, bytes));
      EXPECT_CUDA_SUCCESS(cudaMemset(keys, 0, n * sizeof(u32)));
      table = strata::JoinTable<u32, u32>(memory, bytes, build);
      EXPECT_CUDA_SUCCESS(table.Build(item_count));
      EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
    }
    strata::JoinTable<u32, u32> table{nullptr, 0, strata::join_side<u32>(nullptr, 0)};
  };
  static const owner one;
  return one.table;
}

template <class Count>
std::vector<device_call> transformations() {
  using strata::Difference;
  return {
      {"SubtractLeftCopy",
       {in(), out()},
       {item_count},
       STRATA_CALL(DeviceAdjacentDifference::SubtractLeftCopy(temp, bytes, U(0), U(1), N(0), Difference{}, on))},
      {"SubtractLeft",
       {in_place()},
       {item_count},
       STRATA_CALL(DeviceAdjacentDifference::SubtractLeft(temp, bytes, U(0), N(0), Difference{}, on))},
      {"SubtractRightCopy",
       {in(), out()},
       {item_count},
       STRATA_CALL(DeviceAdjacentDifference::SubtractRightCopy(temp, bytes, U(0), U(1), N(0), Difference{}, on))},
      {"SubtractRight",
       {in_place()},
       {item_count},
       STRATA_CALL(DeviceAdjacentDifference::SubtractRight(temp, bytes, U(0), N(0), Difference{}, on))},
      {"Transform",
       {in(), may_be({0}, out())},
       {item_count},
       STRATA_CALL(DeviceTransform::Transform(temp, bytes, U(0), U(1), N(0), plus_one{}, on))},
      {"TransformOfTwo",
       {in(), in(), may_be({0, 1}, out())},
       {item_count},
       STRATA_CALL(DeviceTransform::TransformStableArgumentAddresses(temp, bytes, std::make_tuple(U(0), U(1)), U(2),
                                                                     N(0), strata::Sum{}, on))},
      {"ForEachN",
       {in_place()},
       {item_count},
       STRATA_CALL(DeviceFor::ForEachN(temp, bytes, U(0), N(0), increase{}, on))},
      {"ForEachCopyN",
       {in()},
       {item_count},
       STRATA_CALL(DeviceFor::ForEachCopyN(temp, bytes, U(0), N(0), look_at{}, on))},
      {"Memcpy",
       {pointers(), pointers(), in(s)},
       {segment_count},
       STRATA_CALL(DeviceMemcpy::Batched(temp, bytes, a.get<u32*>(0), a.get<u32*>(1), U(2), N(0), on))},
      {"Copy",
       {pointers(), pointers(), in(s)},
       {segment_count},
       STRATA_CALL(DeviceCopy::Batched(temp, bytes, a.get<u32*>(0), a.get<u32*>(1), U(2), N(0), on))},
  };
}

template <class T>
std::array<T, 2> channels(T first, T second) {
  return {first, second};
}

template <class Count>
std::vector<device_call> other_calls() {
  return {
      {"MergeKeys",
       {in(100), in(n - 100), out()},
       {100, item_count - 100},
       STRATA_CALL(DeviceMerge::MergeKeys(temp, bytes, U(0), N(0), U(1), N(1), U(2), is_less{}, on))},
      {"MergePairs",
       {in(100), in(100), in(n - 100), in(n - 100), out(), out()},
       {100, item_count - 100},
       STRATA_CALL(
           DeviceMerge::MergePairs(temp, bytes, U(0), U(1), N(0), U(2), U(3), N(1), U(4), U(5), is_less{}, on))},
      {"Transpose",
       {in(), out()},
       {segment_count, segment_items},
       STRATA_CALL(DeviceTranspose::Transpose(temp, bytes, U(0), U(1), N(0), N(1), on))},
      {"TransposeOfRows",
       {in(), out()},
       {segment_count, segment_items, segment_items, segment_count},
       STRATA_CALL(DeviceTranspose::Transpose(temp, bytes, U(0), U(1), N(0), N(1), N(2), N(3), on))},
      {"HistogramEven",
       {in(), counters()},
       {item_count},
       STRATA_CALL(DeviceHistogram::HistogramEven(temp, bytes, U(0), U(1), 9, 0, 9, N(0), on))},
      {"HistogramEvenOfRows",
       {in(), counters()},
       {segment_items, segment_count},
       STRATA_CALL(DeviceHistogram::HistogramEven(temp, bytes, U(0), U(1), 9, 0, 9, N(0), N(1),
                                                  segment_items * sizeof(u32), on))},
      {"HistogramRange",
       {in(), counters(), in(9)},
       {item_count},
       STRATA_CALL(DeviceHistogram::HistogramRange(temp, bytes, U(0), U(1), 9, U(2), N(0), on))},
      {"MultiHistogramEven",
       {in(), counters(), counters()},
       {item_count / 2},
       STRATA_CALL(DeviceHistogram::MultiHistogramEven<2, 2>(temp, bytes, U(0), channels(U(1), U(2)), channels(9, 9),
                                                             channels(0, 0), channels(9, 9), N(0), on))},
      {"MultiHistogramRange",
       {in(), counters(), counters(), in(9), in(9)},
       {item_count / 2},
       STRATA_CALL(DeviceHistogram::MultiHistogramRange<2, 2>(temp, bytes, U(0), channels(U(1), U(2)), channels(9, 9),
                                                              channels(U(3), U(4)), N(0), on))},
      {"JoinTableInnerCount",
       {in(), result<i64>()},
       {item_count},
       {"JoinTable::Inner(",
        [](void* temp, std::size_t& bytes, const arguments& a, cudaStream_t on) {
          return join_table().Inner(temp, bytes, strata::join_side(U(0), N(0)), strata::join_count(), I(1), on);
        }}},
      {"JoinTableInnerPairs",
       {in(), out(), out(), result<i64>()},
       {item_count, item_count},
       {"JoinTable::Inner(",
        [](void* temp, std::size_t& bytes, const arguments& a, cudaStream_t on) {
          return join_table().Inner(temp, bytes, strata::join_side(U(0), N(0)), strata::join_pairs(U(1), U(2), N(1)),
                                    I(3), on);
        }},
       true},
      {"InnerCount",
       {in(), in(), result<i64>()},
       {item_count, item_count},
       STRATA_CALL(DeviceHashJoin::Inner(temp, bytes, strata::join_side(U(0), N(0)), strata::join_side(U(1), N(1)),
                                         strata::join_count(), I(2), {}, on))},
      {"InnerPairs",
       {in(), in(), out(), out(), result<i64>()},
       {item_count, item_count, item_count},
       STRATA_CALL(DeviceHashJoin::Inner(temp, bytes, strata::join_side(U(0), N(0)), strata::join_side(U(1), N(1)),
                                         strata::join_pairs(U(2), U(3), N(2)), I(4), {}, on)),
       true},
      {"SemiPairs",
       {in(), in(), out(), result<i64>()},
       {item_count, item_count, item_count},
       STRATA_CALL(DeviceHashJoin::Semi(temp, bytes, strata::join_side(U(0), N(0)), strata::join_side(U(1), N(1)),
                                        strata::join_pairs(nullptr, U(2), N(2)), I(3), {}, on)),
       true},
  };
}
#undef STRATA_CALL
#undef STRATA_BUFFERS
#undef U
#undef I
#undef N

template <class Count>
std::vector<device_call> calls() {
  std::vector<device_call> all;
  for (const auto& some : {reductions<Count>(), scans<Count>(), selections<Count>(), sorts<Count>(),
                           segmented_sorts<Count>(), transformations<Count>(), other_calls<Count>()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

class DeviceArguments : public ::testing::TestWithParam<device_call> {
 protected:
  static const device_call& c() { return GetParam(); }

  static std::size_t storage_bytes(const std::vector<i64>& counts) {
    arguments a = scene::without_arrays(c());
    a.counts = counts;
    std::size_t bytes = 0;
    EXPECT_CUDA_SUCCESS(c().call(nullptr, bytes, a, nullptr));
    EXPECT_GT(bytes, 0u);
    return bytes;
  }
  static std::size_t storage_bytes() { return storage_bytes(c().counts); }

  /// What a call with arrays at `a` writes.
  static std::vector<unsigned char> run(scene& memory, const arguments& a, std::size_t misalignment = 0) {
    memory.reset(a);
    EXPECT_CUDA_SUCCESS(in_two_phases([&](void* temp, std::size_t& bytes) { return c().call(temp, bytes, a, nullptr); },
                                      contents::random, misalignment));
    return memory.written(a);
  }

  /// Refused for one reason, nothing launched, no byte written.
  void expect_refused(scene& memory, const arguments& a, const scratch& storage, std::size_t bytes) {
    const std::vector<unsigned char> before = memory.read();
    std::size_t given = bytes;
    const graph recorded([&](cudaStream_t on) { return c().call(storage.data(), given, a, on); });
    EXPECT_EQ(cudaErrorInvalidValue, recorded.status());
    strata_test::expect_refusal(log_, c().call.function());
    EXPECT_EQ(0u, recorded.nodes()) << "something was launched";
    // What is not refused must not run: it would write over memory that it may not have.
    if (recorded.status() == cudaErrorInvalidValue) {
      EXPECT_EQ(cudaErrorInvalidValue, c().call(storage.data(), given, a, nullptr));
      strata_test::expect_refusal(log_, c().call.function());
    }
    EXPECT_EQ(bytes, given);
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
    EXPECT_CUDA_SUCCESS(cudaPeekAtLastError());
    EXPECT_TRUE(before == memory.read()) << "memory was written";
  }
  void expect_refused(scene& memory, const arguments& a, const scratch& storage) {
    expect_refused(memory, a, storage, storage.bytes());
  }
  void TearDown() override { EXPECT_EQ(std::vector<std::string>{}, log_.take_refusals()) << "of what is not refused"; }

  strata_test::debug_log log_;
};
INSTANTIATE_TEST_SUITE_P(all, DeviceArguments, ::testing::ValuesIn(calls<i64>()),
                         [](const auto& instance) { return instance.param.name; });

constexpr i64 bad_counts[] = {-1, std::numeric_limits<i64>::lowest()};

// ------------------------------------------------------------------ size queries and counts

TEST_P(DeviceArguments, size_query_looks_at_no_pointers_and_launches_nothing) {
  scene memory(c());
  const arguments a = memory.of_call();
  memory.reset(a);
  const std::vector<unsigned char> before = memory.read();
  // A join table is built by the first call, which cannot be captured.
  const std::size_t expected = storage_bytes();
  std::size_t bytes = 0;
  const graph recorded([&](cudaStream_t on) { return c().call(nullptr, bytes, a, on); });
  EXPECT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(0u, recorded.nodes());
  EXPECT_EQ(expected, bytes);
  // Arrays that a call would refuse: all at one address.
  arguments same = a;
  std::fill(same.arrays.begin(), same.arrays.end(), a.arrays[0]);
  EXPECT_CUDA_SUCCESS(c().call(nullptr, bytes, same, nullptr));
  EXPECT_EQ(expected, bytes);
  EXPECT_TRUE(before == memory.read());
}

TEST_P(DeviceArguments, bad_counts_are_refused_in_size_queries_too) {
  scene memory(c());
  const scratch storage(storage_bytes());
  for (std::size_t i = 0; i < c().counts.size(); ++i) {
    for (const i64 bad : bad_counts) {
      SCOPED_TRACE(testing::Message() << "count " << i << " is " << bad);
      arguments none = scene::without_arrays(c());
      none.counts[i] = bad;
      std::size_t bytes = 12345;
      EXPECT_EQ(cudaErrorInvalidValue, c().call(nullptr, bytes, none, nullptr));
      strata_test::expect_refusal(log_, c().call.function());
      EXPECT_EQ(12345u, bytes);
      arguments a = memory.of_call();
      memory.reset(a);
      a.counts[i] = bad;
      expect_refused(memory, a, storage);
    }
  }
}

// ------------------------------------------------------------------ temporary storage

TEST_P(DeviceArguments, storage_that_is_one_byte_too_small_is_refused) {
  scene memory(c());
  for (const std::vector<i64>& counts : {c().counts, std::vector<i64>(c().counts.size(), 0)}) {
    arguments a = memory.of_call();
    a.counts = counts;
    memory.reset(a);
    const scratch storage(storage_bytes(counts));
    const std::vector<unsigned char> before = storage.read();
    expect_refused(memory, a, storage, storage.bytes() - 1);
    expect_refused(memory, a, storage, 0);
    EXPECT_EQ(before, storage.read());
  }
}

TEST_P(DeviceArguments, storage_may_have_any_alignment) {
  scene memory(c());
  const arguments a = memory.of_call();
  const std::vector<unsigned char> expected = run(memory, a);
  for (const std::size_t misalignment : sizes{1, 8, 255}) {
    EXPECT_EQ(expected, run(memory, a, misalignment)) << misalignment;
  }
}

// ------------------------------------------------------------------ pointers

TEST_P(DeviceArguments, null_pointers_are_refused) {
  scene memory(c());
  const scratch storage(storage_bytes());
  for (std::size_t i = 0; i < c().arrays.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "array " << i);
    arguments a = memory.of_call();
    memory.reset(a);
    a.arrays[i] = nullptr;
    expect_refused(memory, a, storage);
  }
}

TEST_P(DeviceArguments, nothing_needs_no_arrays_but_those_of_single_results) {
  scene memory(c());
  const std::vector<i64> zeros(c().counts.size(), 0);
  arguments a = memory.of_call();
  memory.reset(a);
  a.counts = zeros;
  for (std::size_t i = 0; i < c().arrays.size(); ++i) {
    if (c().arrays[i].is != role::result) a.arrays[i] = nullptr;
  }
  const scratch storage(storage_bytes(zeros));
  for (std::size_t i = 0; i < c().arrays.size(); ++i) {
    if (c().arrays[i].is != role::result) continue;
    arguments without = a;
    without.arrays[i] = nullptr;
    expect_refused(memory, without, storage);
  }
  const bool has_results =
      std::any_of(c().arrays.begin(), c().arrays.end(), [](const array& each) { return each.is == role::result; });
  const std::vector<unsigned char> before = memory.read();
  std::size_t bytes = storage.bytes();
  EXPECT_CUDA_SUCCESS(c().call(storage.data(), bytes, a, nullptr));
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(has_results, before != memory.read());
}

// ------------------------------------------------------------------ common memory

/// Calls `judge(placed, is_refused, is_same)` with every written array at each edge of every other array.
template <class Judge>
void for_each_overlap(const device_call& call, const scene& memory, const Judge& judge) {
  const arguments home = memory.of_call();
  for (std::size_t o = 0; o < call.arrays.size(); ++o) {
    const array& out = call.arrays[o];
    if (!out.is_written()) continue;
    for (std::size_t i = 0; i < call.arrays.size(); ++i) {
      const array& other = call.arrays[i];
      const auto index = static_cast<int>(i);
      if (i == o || out.may_overlap_array(index)) continue;
      // The first bytes of arrays, the last ones that the host knows of, and side by side. Multiples
      // of 8 keep all alignments.
      const auto known = [&](const array& each) {
        const std::size_t bytes = out.first_items_with == index ? each.item_bytes : each.known_bytes();
        return static_cast<std::ptrdiff_t>((bytes + 7) / 8 * 8);
      };
      const auto whole = [](const array& each) { return static_cast<std::ptrdiff_t>((each.bytes() + 7) / 8 * 8); };
      const std::ptrdiff_t same = 0, last_of_other = known(other) - 8, last_of_out = 8 - known(out);
      const std::ptrdiff_t behind = whole(other), before = -whole(out);
      for (const std::ptrdiff_t distance : {same, last_of_other, last_of_out, behind, before}) {
        SCOPED_TRACE(testing::Message() << "array " << o << " begins " << distance << " bytes after array " << i);
        arguments placed = home;
        placed.arrays[o] = home.arrays[i] + distance;
        const bool is_same = distance == 0 && out.may_be_array(index);
        const bool is_apart = distance == behind || distance == before;
        judge(placed, !is_same && !is_apart, is_same);
      }
    }
  }
}

TEST_P(DeviceArguments, overlaps_are_refused) {
  scene memory(c());
  const scratch storage(storage_bytes());
  for_each_overlap(c(), memory, [&](const arguments& placed, bool is_refused, bool) {
    if (!is_refused) return;
    memory.reset(memory.of_call());
    expect_refused(memory, placed, storage);
  });
}

TEST_P(DeviceArguments, arrays_side_by_side_and_in_place_are_allowed) {
  scene memory(c());
  const std::vector<unsigned char> expected = run(memory, memory.of_call());
  for_each_overlap(c(), memory, [&](const arguments& placed, bool is_refused, bool is_same) {
    if (is_refused) return;
    const std::vector<unsigned char> written = run(memory, placed);
    // Data that are their own flags have other contents.
    if (is_same && c().arrays[0].is == role::in_place) return;
    EXPECT_TRUE(expected == written);
  });
}

// ------------------------------------------------------------------ types of counts

// Types of counts are a matter of the host; kernels for all of them would take nvcc minutes.
#if STRATA_HOST_SIMT && !STRATA_TEST_FEW_TYPES
TEST(device_arguments, counts_may_have_any_integer_type) {
  const std::vector<device_call> expected = calls<i64>(), shorter = calls<unsigned char>();
  ASSERT_EQ(expected.size(), shorter.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(expected[i].name);
    std::vector<unsigned char> written[2];
    for (const device_call* call : {&expected[i], &shorter[i]}) {
      scene memory(*call);
      const arguments a = memory.of_call();
      memory.reset(a);
      EXPECT_CUDA_SUCCESS(
          in_two_phases([&](void* temp, std::size_t& bytes) { return call->call(temp, bytes, a, nullptr); }));
      written[call == &shorter[i]] = memory.written(a);
    }
    EXPECT_TRUE(written[0] == written[1]);
  }
}
#endif

/// It cannot be advanced by more than 127.
struct narrow_iterator {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = u32;
  using difference_type = signed char;
  using pointer = const u32*;
  using reference = u32;

  const u32* items;

  STRATA_HD narrow_iterator operator+(std::ptrdiff_t distance) const { return {items + distance}; }
  STRATA_HD u32 operator[](std::ptrdiff_t i) const { return items[i]; }
  STRATA_HD u32 operator*() const { return *items; }
};

TEST(device_arguments, inputs_must_be_able_to_reach_all_items) {
  const device_vector<u32> items(std::vector<u32>(200, 1));
  device_vector<u32> out(200);
  const narrow_iterator narrow{items.data()};
  const auto expect_128_at_most = [&](const auto& call) {
    EXPECT_CUDA_SUCCESS(in_two_phases([&](void* temp, std::size_t& bytes) { return call(temp, bytes, 128); }));
    std::size_t bytes = 12345;
    EXPECT_EQ(cudaErrorInvalidValue, call(nullptr, bytes, 129));
    EXPECT_EQ(12345u, bytes);
  };
  expect_128_at_most([&](void* temp, std::size_t& bytes, int count) {
    return strata::DeviceReduce::Sum(temp, bytes, narrow, out.data(), count);
  });
  expect_128_at_most([&](void* temp, std::size_t& bytes, int count) {
    return strata::DeviceScan::InclusiveSum(temp, bytes, narrow, out.data(), count);
  });
  expect_128_at_most([&](void* temp, std::size_t& bytes, int count) {
    return strata::DeviceRadixSort::SortKeys(temp, bytes, narrow, out.data(), count);
  });
  expect_128_at_most([&](void* temp, std::size_t& bytes, int count) {
    return strata::DeviceMergeSort::SortKeysCopy(temp, bytes, narrow, out.data(), count, is_less{});
  });
  expect_128_at_most([&](void* temp, std::size_t& bytes, int count) {
    return strata::DeviceSegmentedReduce::Sum(temp, bytes, narrow, out.data(), 1, count);
  });
}

// ------------------------------------------------------------------ arithmetic

const u32* at(std::uintptr_t address) { return reinterpret_cast<const u32*>(address); }

TEST(device_arguments, nothing_overflows_near_the_last_address) {
  using namespace strata::detail;
  constexpr std::uintptr_t end = ~std::uintptr_t{0} - 3;
  EXPECT_TRUE(arrays_overlap(at(end - 400), 200, at(end - 4), 1));
  EXPECT_FALSE(arrays_overlap(at(end - 400), 200, at(4), 1));
  EXPECT_FALSE(arrays_overlap(at(end - 400), 100, at(end), 1));
  EXPECT_TRUE(arrays_overlap(at(4), ~std::size_t{0}, at(end - 8), 1));
  EXPECT_TRUE(arrays_overlap(at(end - 8), 1, at(4), ~std::size_t{0}));
  EXPECT_FALSE(arrays_overlap(at(0), 100, at(end), 1));
  // Rows of 8 bytes, 16 apart: behind the first matrix, and behind the last address.
  const strided_bytes high{end - 64, 1000, 8, 16}, low{16, 1000, 8, 16};
  EXPECT_FALSE(have_common_bytes(high, low));
  EXPECT_FALSE(have_common_bytes(low, high));
  EXPECT_TRUE(have_common_bytes(high, strided_bytes{end - 48 + 4, 1, 8, 8}));
  EXPECT_FALSE(have_common_bytes(high, strided_bytes{end - 48 + 8, 1000, 8, 16}));
  EXPECT_TRUE(have_common_bytes(high, strided_bytes{end - 48 + 8, 1000, 9, 16}));
}

TEST(device_arguments, matrices_have_the_common_bytes_that_their_elements_have) {
  using strata::detail::strided_bytes;
  std::mt19937_64 bits = strata_test::random_bits(3);
  const auto below = [&](std::uint64_t limit) { return bits() % limit; };
  for (int i = 0; i < 20000; ++i) {
    const auto make = [&] {
      const std::uintptr_t width = 1 + below(4);
      return strided_bytes{100 + below(40), below(4), width, width + below(4)};
    };
    const strided_bytes a = make();
    strided_bytes b = make();
    // Different pitches of matrices with gaps are not wholly compared.
    if (!a.is_dense() && !b.is_dense()) b.pitch = a.pitch, b.width = std::min(b.width, a.pitch);
    std::vector<char> has(256);
    bool expected = false;
    for (std::uintptr_t row = 0; row < a.rows; ++row) {
      for (std::uintptr_t byte = 0; byte < a.width; ++byte) has[a.begin + row * a.pitch + byte] = 1;
    }
    for (std::uintptr_t row = 0; row < b.rows; ++row) {
      for (std::uintptr_t byte = 0; byte < b.width; ++byte) {
        expected = expected || has[b.begin + row * b.pitch + byte] != 0;
      }
    }
    ASSERT_EQ(expected, have_common_bytes(a, b));
  }
}

}  // namespace device_arguments_test
