// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Lists of all device calls. The tests device_arguments_* check each call against the table "Arguments" of
// include/strata/README.md; the tests device_execution_* compare its forms. meta/arguments.py finds functions that are
// missing here. Several sources compile these lists, because nvcc takes minutes for the kernels of one list.
#pragma once

#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_CUDA
#include <strata/device/device_adjacent_difference.cuh>
#include <strata/device/device_copy.cuh>
#include <strata/device/device_find.cuh>
#include <strata/device/device_for.cuh>
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
#include <strata/device/device_transform.cuh>
#include <strata/device/device_transpose.cuh>
#include <strata/iterator/counting_input_iterator.cuh>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <tuple>
#include <utility>
#include <vector>

#include "device/device_calls_support.cuh"

namespace device_calls {

using namespace strata;

using u32 = std::uint32_t;
using i64 = std::int64_t;
using index_and_value = KeyValuePair<std::int32_t, u32>;

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

struct is_near {
  STRATA_HD bool operator()(u32 a, u32 b) const { return a / 4 == b / 4; }
};
struct its_number {
  STRATA_HD RadixFields<u32&> operator()(u32& x) const { return {x}; }
};
struct write_to {
  u32* out;
  template <class Index>
  STRATA_HD void operator()(Index i) const {
    out[i] = static_cast<u32>(i);
  }
};

struct is_any {
  STRATA_HD bool operator()(u32) const { return true; }
};
struct always_five {
  STRATA_HD u32 operator()() const { return 5; }
};
/// The extents of a matrix of one row.
struct row_of {
  using index_type = i64;
  static constexpr std::size_t rank() { return 2; }
  i64 extent(std::size_t r) const { return r == 0 ? 1 : columns; }
  i64 columns;
};
struct layout_of_row {
  using extents_type = row_of;
  row_of extents() const { return row; }
  i64 stride(std::size_t r) const { return r == 0 ? row.columns : 1; }
  row_of row;
};
/// A row of numbers with the interface of an mdspan.
struct array_of_row {
  struct mapping_type : layout_of_row {
    i64 required_span_size() const { return row.columns; }
    STRATA_HD i64 operator()(i64, i64 column) const { return column; }
  };
  struct accessor_type {
    STRATA_HD u32& access(u32* first, std::size_t i) const { return first[i]; }
  };
  using element_type = u32;
  using index_type = i64;
  using data_handle_type = u32*;
  static constexpr std::size_t rank() { return 2; }
  STRATA_HD u32* data_handle() const { return first; }
  STRATA_HD const mapping_type& mapping() const { return layout; }
  STRATA_HD accessor_type accessor() const { return {}; }
  row_of extents() const { return layout.row; }
  u32* first;
  mapping_type layout;
};
struct write_column {
  u32* out;
  STRATA_HD void operator()(i64, i64, i64 column) const { out[column] = static_cast<u32>(column) * 5; }
};

// ------------------------------------------------------------------ arrays

constexpr auto n = static_cast<std::size_t>(item_count);
constexpr auto s = static_cast<std::size_t>(segment_count);
/// Capacity for the results of joins in probe order, more than they need. It fits every type of counts, even unsigned
/// char.
constexpr i64 capacity = 255;

inline array in(std::size_t count = n) { return {role::input, sizeof(u32), count, count}; }
inline array out(std::size_t count = n, std::size_t item_bytes = sizeof(u32)) {
  return {role::output, item_bytes, count, count};
}
inline array in_place() { return {role::in_place, sizeof(u32), n, n}; }
inline array begins() { return {role::begins, sizeof(i64), s, s}; }
inline array ends() { return {role::ends, sizeof(i64), s, s}; }
inline array pointers() { return {role::pointers, sizeof(void*), s, s}; }
template <class T>
array result() {
  return {role::result, sizeof(T), 1, 1};
}
inline array counters(std::size_t bins = 8) { return {role::result, sizeof(u32), bins, bins}; }
/// An output for a number of items.
inline array number() { return result<i64>(); }
/// An array of unknown length: the host knows only that its first item is used.
inline array from_first(array a) {
  a.known_count = 1;
  return a;
}
inline array may_be(std::vector<int> which, array a) {
  a.may_be = std::move(which);
  return a;
}
inline array may_overlap(std::vector<int> which, array a) {
  a.may_overlap = std::move(which);
  return a;
}
/// An output of segments of array 0 that have offsets: only the first items of both arrays are checked for overlap.
inline array of_segments(array a) {
  a.first_items_with = 0;
  return a;
}
/// An output that may be the same array as one of these inputs.
inline array out_over(std::vector<int> which) { return may_be(std::move(which), out()); }
/// An output whose length only the device knows.
inline array some_out() { return from_first(out()); }
/// A single result, which may lie anywhere in array 0.
template <class T>
array single() {
  return may_overlap({0}, result<T>());
}

/// Makes a row of the table of calls.
inline device_call row(std::vector<array> arrays, std::vector<i64> counts, written_call call) {
  return {std::move(arrays), std::move(counts), std::move(call)};
}

const std::vector<i64> items = {item_count}, segments = {segment_count},
                       items_and_segments = {item_count, segment_count},
                       equal_segments = {segment_count, segment_items};

// ------------------------------------------------------------------ calls

// A call with the arguments `a`. U(i), I(i), P(i) and PP(i) are array i: of u32, of i64, of indices with values, and of
// pointers. B(i) is a double buffer of arrays i and i + 1. N(i) is count i, in the tested type. Arrays are not const
// and N(i) is an lvalue: an overload with too few requirements could take them for storage.
#define STRATA_CALL_AS(text, function, ...)                                          \
  Maker::make(text "(" #__VA_ARGS__ ")", [](const arguments& a, auto&&... storage) { \
    return [&](const auto&... where) {                                               \
      [[maybe_unused]] counts_as<Count> counts_of_call(a);                           \
      return function(storage..., __VA_ARGS__, where...);                            \
    };                                                                               \
  })
#define STRATA_CALL(function, ...) STRATA_CALL_AS(#function, function, __VA_ARGS__)
#define STRATA_TABLE_CALL(order, function, ...) \
  STRATA_CALL_AS("JoinTable::" #function, join_table<order>().function, __VA_ARGS__)
#define U(i) a.get<u32>(i)
#define I(i) a.get<i64>(i)
#define P(i) a.get<index_and_value>(i)
#define PP(i) a.get<u32*>(i)
#define B(i) a.buffers(i)
#define N(i) counts_of_call[i]

template <class Count, class Maker>
std::vector<device_call> reductions() {
  return {
      row({in(), single<u32>()}, items, STRATA_CALL(DeviceReduce::Reduce, U(0), U(1), N(0), Max{}, 3u)),
      row({in(), single<u32>()}, items, STRATA_CALL(DeviceReduce::Sum, U(0), U(1), N(0))),
      row({in(), single<u32>()}, items, STRATA_CALL(DeviceReduce::Min, U(0), U(1), N(0))),
      row({in(), single<u32>()}, items, STRATA_CALL(DeviceReduce::Max, U(0), U(1), N(0))),
      row({in(), single<u32>(), single<i64>()}, items, STRATA_CALL(DeviceReduce::ArgMin, U(0), U(1), I(2), N(0))),
      row({in(), single<index_and_value>()}, items, STRATA_CALL(DeviceReduce::ArgMax, U(0), P(1), N(0))),
      row({in(), single<u32>(), single<i64>()}, items, STRATA_CALL(DeviceReduce::ArgMax, U(0), U(1), I(2), N(0))),
      row({in(), single<u32>(), single<i64>()}, items,
          STRATA_CALL(DeviceReduce::ArgMin, U(0), U(1), I(2), N(0), is_less{})),
      row({in(), single<u32>(), single<i64>()}, items,
          STRATA_CALL(DeviceReduce::ArgMax, U(0), U(1), I(2), N(0), is_less{})),
      row({in(), single<u32>()}, items,
          STRATA_CALL(DeviceReduce::TransformReduce, U(0), U(1), N(0), Sum{}, plus_one{}, 3u)),
      row({in(), single<u32>()}, items, STRATA_CALL(DeviceReduce::ReproducibleSum, U(0), U(1), N(0))),
      row({in(), single<u32>()}, items, STRATA_CALL(DeviceReduce::ReproducibleReduce, U(0), U(1), N(0), Max{}, 3u)),
      row({in(), single<u32>()}, items,
          STRATA_CALL(DeviceReduce::ReproducibleTransformReduce, U(0), U(1), N(0), Sum{}, plus_one{}, 3u)),
      row({in(), some_out(), in(), some_out(), number()}, items,
          STRATA_CALL(DeviceReduce::ReduceByKey, U(0), U(1), U(2), U(3), I(4), Sum{}, N(0))),
      row({in(), some_out(), some_out(), number()}, items,
          STRATA_CALL(DeviceRunLengthEncode::Encode, U(0), U(1), U(2), I(3), N(0))),
      row({in(), some_out(), some_out(), number()}, items,
          STRATA_CALL(DeviceRunLengthEncode::NonTrivialRuns, U(0), U(1), U(2), I(3), N(0))),
      row({from_first(in()), of_segments(out(s)), begins(), ends()}, segments,
          STRATA_CALL(DeviceSegmentedReduce::Sum, U(0), U(1), N(0), I(2), I(3))),
      row({in(), out(s)}, equal_segments, STRATA_CALL(DeviceSegmentedReduce::Sum, U(0), U(1), N(0), N(1))),
      row({from_first(in()), of_segments(out(s)), begins(), ends()}, segments,
          STRATA_CALL(DeviceSegmentedReduce::Reduce, U(0), U(1), N(0), I(2), I(3), Sum{}, 3u)),
      row({from_first(in()), of_segments(out(s)), begins(), ends()}, segments,
          STRATA_CALL(DeviceSegmentedReduce::Min, U(0), U(1), N(0), I(2), I(3))),
      row({in(), out(s)}, equal_segments, STRATA_CALL(DeviceSegmentedReduce::Min, U(0), U(1), N(0), N(1))),
      row({in(), out(s)}, equal_segments, STRATA_CALL(DeviceSegmentedReduce::Max, U(0), U(1), N(0), N(1))),
      row({from_first(in()), of_segments(out(s, sizeof(index_and_value))), begins(), ends()}, segments,
          STRATA_CALL(DeviceSegmentedReduce::ArgMin, U(0), P(1), N(0), I(2), I(3))),
      row({in(), out(s, sizeof(index_and_value))}, equal_segments,
          STRATA_CALL(DeviceSegmentedReduce::ArgMin, U(0), P(1), N(0), N(1))),
      row({in(), out(s, sizeof(index_and_value))}, equal_segments,
          STRATA_CALL(DeviceSegmentedReduce::ArgMax, U(0), P(1), N(0), N(1))),
      row({from_first(in()), of_segments(out(s, sizeof(index_and_value))), begins(), ends()}, segments,
          STRATA_CALL(DeviceSegmentedReduce::ArgMax, U(0), P(1), N(0), I(2), I(3))),
  };
}

template <class Count, class Maker>
std::vector<device_call> scans() {
  return {
      row({in(), out_over({0})}, items, STRATA_CALL(DeviceScan::ExclusiveSum, U(0), U(1), N(0))),
      row({in_place()}, items, STRATA_CALL(DeviceScan::ExclusiveSum, U(0), N(0))),
      row({in(), out_over({0})}, items, STRATA_CALL(DeviceScan::InclusiveSum, U(0), U(1), N(0))),
      row({in_place()}, items, STRATA_CALL(DeviceScan::InclusiveSum, U(0), N(0))),
      row({in(), out_over({0})}, items, STRATA_CALL(DeviceScan::ExclusiveScan, U(0), U(1), Sum{}, 4u, N(0))),
      row({in_place()}, items, STRATA_CALL(DeviceScan::ExclusiveScan, U(0), Max{}, 9u, N(0))),
      row({in(), out_over({0})}, items, STRATA_CALL(DeviceScan::InclusiveScanInit, U(0), U(1), Sum{}, 4u, N(0))),
      row({in(), out_over({0})}, items, STRATA_CALL(DeviceScan::InclusiveScan, U(0), U(1), Max{}, N(0))),
      row({in_place()}, items, STRATA_CALL(DeviceScan::InclusiveScan, U(0), Max{}, N(0))),
      row({in(), out_over({0}), in(2)}, items,
          STRATA_CALL(DeviceScan::ExclusiveScan, U(0), U(1), Sum{}, FutureValue<u32>(U(2)), N(0))),
      row({in(), in(), out_over({0, 1})}, items,
          STRATA_CALL(DeviceScan::InclusiveSumByKey, U(0), U(1), U(2), N(0), is_near{})),
      row({in(), in(), out_over({0, 1})}, items,
          STRATA_CALL(DeviceScan::ExclusiveSumByKey, U(0), U(1), U(2), N(0), is_near{})),
      row({in(), in(), out_over({0, 1})}, items,
          STRATA_CALL(DeviceScan::InclusiveScanByKey, U(0), U(1), U(2), Sum{}, N(0), is_near{})),
      row({in(), in(), out_over({0, 1})}, items,
          STRATA_CALL(DeviceScan::ExclusiveScanByKey, U(0), U(1), U(2), Sum{}, 4u, N(0), is_near{})),
      row({in(), may_be({0}, of_segments(some_out())), begins(), ends()}, segments,
          STRATA_CALL(DeviceSegmentedScan::ExclusiveSegmentedSum, U(0), U(1), I(2), I(3), N(0))),
      row({in(), may_be({0}, of_segments(some_out())), begins(), ends()}, segments,
          STRATA_CALL(DeviceSegmentedScan::ExclusiveSegmentedScan, U(0), U(1), I(2), I(3), N(0), Sum{}, 4u)),
      row({in(), may_be({0}, of_segments(some_out())), begins(), ends()}, segments,
          STRATA_CALL(DeviceSegmentedScan::InclusiveSegmentedScan, U(0), U(1), I(2), I(3), N(0), Sum{})),
      row({in(), may_be({0}, of_segments(some_out())), begins(), ends()}, segments,
          STRATA_CALL(DeviceSegmentedScan::InclusiveSegmentedScanInit, U(0), U(1), I(2), I(3), N(0), Sum{}, 4u)),
      row({in(), of_segments(some_out()), begins(), ends(), begins()}, segments,
          STRATA_CALL(DeviceSegmentedScan::InclusiveSegmentedSum, U(0), U(1), I(2), I(3), I(4), N(0))),
  };
}

template <class Count, class Maker>
std::vector<device_call> selections() {
  return {
      row({in(), some_out(), number()}, items, STRATA_CALL(DeviceSelect::If, U(0), U(1), I(2), N(0), is_even{})),
      row({in_place(), number()}, items, STRATA_CALL(DeviceSelect::If, U(0), I(1), N(0), is_even{})),
      row({in(), in(), some_out(), number()}, items, STRATA_CALL(DeviceSelect::Flagged, U(0), U(1), U(2), I(3), N(0))),
      row({may_be({1}, from_first(in_place())), in(), number()}, items,
          STRATA_CALL(DeviceSelect::Flagged, U(0), U(1), I(2), N(0))),
      row({in(), in(), some_out(), number()}, items,
          STRATA_CALL(DeviceSelect::FlaggedIf, U(0), U(1), U(2), I(3), N(0), is_even{})),
      row({may_be({1}, from_first(in_place())), in(), number()}, items,
          STRATA_CALL(DeviceSelect::FlaggedIf, U(0), U(1), I(2), N(0), is_even{})),
      row({in(), out(), number()}, items, STRATA_CALL(DevicePartition::If, U(0), U(1), I(2), N(0), is_even{})),
      row({in(), in(), out(), number()}, items, STRATA_CALL(DevicePartition::Flagged, U(0), U(1), U(2), I(3), N(0))),
      row({in(), some_out(), some_out(), some_out(), {role::result, sizeof(i64), 2, 2}}, items,
          STRATA_CALL(DevicePartition::If, U(0), U(1), U(2), U(3), I(4), N(0), is_even{}, is_even{})),
      row({in(), some_out(), number()}, items, STRATA_CALL(DeviceSelect::Unique, U(0), U(1), I(2), N(0))),
      row({in(), some_out(), number()}, items, STRATA_CALL(DeviceSelect::Unique, U(0), U(1), I(2), N(0), is_near{})),
      row({in_place(), number()}, items, STRATA_CALL(DeviceSelect::Unique, U(0), I(1), N(0))),
      row({in_place(), number()}, items, STRATA_CALL(DeviceSelect::Unique, U(0), I(1), N(0), is_near{})),
      row({in(), in(), some_out(), some_out(), number()}, items,
          STRATA_CALL(DeviceSelect::UniqueByKey, U(0), U(1), U(2), U(3), I(4), N(0), is_near{})),
      row({in(), in(), some_out(), some_out(), number()}, items,
          STRATA_CALL(DeviceSelect::UniqueByKey, U(0), U(1), U(2), U(3), I(4), N(0))),
  };
}

template <class Count, class Maker>
std::vector<device_call> sorts() {
  return {
      row({in(), out_over({0})}, items, STRATA_CALL(DeviceRadixSort::SortKeys, U(0), U(1), N(0), 0, 32)),
      row({in(), out_over({0})}, items, STRATA_CALL(DeviceRadixSort::SortKeys, U(0), U(1), N(0), its_number{})),
      row({in(), out_over({0})}, items, STRATA_CALL(DeviceRadixSort::SortKeysDescending, U(0), U(1), N(0), 0, 32)),
      row({in_place(), out()}, items, STRATA_CALL(DeviceRadixSort::SortKeys, B(0), N(0), 2, 5)),
      row({in(), out_over({0}), in(), out_over({2})}, items,
          STRATA_CALL(DeviceRadixSort::SortPairs, U(0), U(1), U(2), U(3), N(0), 0, 32)),
      row({in_place(), out(), in_place(), out()}, items,
          STRATA_CALL(DeviceRadixSort::SortPairs, B(0), B(2), N(0), 0, 32)),
      row({in_place(), out(), in_place(), out()}, items,
          STRATA_CALL(DeviceRadixSort::SortPairsDescending, B(0), B(2), N(0), 0, 32)),
      row({in(), out()}, items, STRATA_CALL(DeviceRadixSort::ArgSort, U(0), U(1), N(0), 0, 32)),
      row({in(), out()}, items, STRATA_CALL(DeviceRadixSort::ArgSortDescending, U(0), U(1), N(0), 0, 32)),
      row({in_place()}, items, STRATA_CALL(DeviceMergeSort::SortKeys, U(0), N(0), is_less{})),
      row({in(), out_over({0})}, items, STRATA_CALL(DeviceMergeSort::SortKeysCopy, U(0), U(1), N(0), is_less{})),
      row({in_place(), in_place()}, items, STRATA_CALL(DeviceMergeSort::SortPairs, U(0), U(1), N(0), is_less{})),
      row({in(), in(), out_over({0}), out_over({1})}, items,
          STRATA_CALL(DeviceMergeSort::SortPairsCopy, U(0), U(1), U(2), U(3), N(0), is_less{})),
      row({in_place()}, items, STRATA_CALL(DeviceMergeSort::StableSortKeys, U(0), N(0), is_less{})),
      row({in(), out_over({0})}, items, STRATA_CALL(DeviceMergeSort::StableSortKeysCopy, U(0), U(1), N(0), is_less{})),
      row({in_place(), in_place()}, items, STRATA_CALL(DeviceMergeSort::StableSortPairs, U(0), U(1), N(0), is_less{})),
      row({in(), in(), out_over({0}), out_over({1})}, items,
          STRATA_CALL(DeviceMergeSort::StableSortPairsCopy, U(0), U(1), U(2), U(3), N(0), is_less{})),
  };
}

template <class Count, class Maker>
std::vector<device_call> top_k_calls() {
  return {
      row({in(), out(5)}, items, STRATA_CALL(DeviceTopK::MaxKeys, U(0), U(1), N(0), 5)),
      row({in(), out(5), in(), out(5)}, items, STRATA_CALL(DeviceTopK::MinPairs, U(0), U(1), U(2), U(3), N(0), 5)),
      row({in(), out(), in(), out()}, items,
          STRATA_CALL(DeviceTopK::MaxPairsSorted, U(0), U(1), U(2), U(3), N(0), N(0))),
      row({in(), out(5)}, items, STRATA_CALL(DeviceTopK::MinKeysSorted, U(0), U(1), N(0), 5)),
      row({in(), out(33)}, {item_count, 33}, STRATA_CALL(DeviceTopK::MinKeys, U(0), U(1), N(0), N(1))),
      row({in(), out(33)}, {item_count, 33}, STRATA_CALL(DeviceTopK::MaxKeysSorted, U(0), U(1), N(0), N(1))),
      row({in(), out(33), in(), out(33)}, {item_count, 33},
          STRATA_CALL(DeviceTopK::MaxPairs, U(0), U(1), U(2), U(3), N(0), N(1))),
      row({in(), out(33), in(), out(33)}, {item_count, 33},
          STRATA_CALL(DeviceTopK::MinPairsSorted, U(0), U(1), U(2), U(3), N(0), N(1))),
      row({in(), out(5 * s)}, equal_segments,
          STRATA_CALL(DeviceSegmentedTopK::MaxKeys, U(0), U(1), SegmentsOfSize(N(0), N(1)), 5)),
      row({in(), out(5 * s)}, equal_segments,
          STRATA_CALL(DeviceSegmentedTopK::MinKeys, U(0), U(1), SegmentsOfSize(N(0), N(1)), 5)),
      row({in(), out(5 * s), in(), out(5 * s)}, equal_segments,
          STRATA_CALL(DeviceSegmentedTopK::MaxPairs, U(0), U(1), U(2), U(3), SegmentsOfSize(N(0), N(1)), 5)),
      row({in(), out(5 * s), in(), out(5 * s)}, equal_segments,
          STRATA_CALL(DeviceSegmentedTopK::MinPairs, U(0), U(1), U(2), U(3), SegmentsOfSize(N(0), N(1)), 5)),
      row({in(), out(5 * s), out(5 * s)}, equal_segments,
          STRATA_CALL(DeviceSegmentedTopK::ArgMax, U(0), U(1), U(2), SegmentsOfSize(N(0), N(1)), 5)),
      row({in(), out(5 * s), out(5 * s)}, equal_segments,
          STRATA_CALL(DeviceSegmentedTopK::ArgMin, U(0), U(1), U(2), SegmentsOfSize(N(0), N(1)), 5)),
      row({in(), out(5 * s)}, equal_segments,
          STRATA_CALL(DeviceSegmentedTopK::MaxKeysSorted, U(0), U(1), SegmentsOfSize(N(0), N(1)), 5)),
      row({in(), out(5 * s)}, equal_segments,
          STRATA_CALL(DeviceSegmentedTopK::MinKeysSorted, U(0), U(1), SegmentsOfSize(N(0), N(1)), 5)),
      row({in(), out(5 * s), in(), out(5 * s)}, equal_segments,
          STRATA_CALL(DeviceSegmentedTopK::MaxPairsSorted, U(0), U(1), U(2), U(3), SegmentsOfSize(N(0), N(1)), 5)),
      row({in(), out(5 * s), in(), out(5 * s)}, equal_segments,
          STRATA_CALL(DeviceSegmentedTopK::MinPairsSorted, U(0), U(1), U(2), U(3), SegmentsOfSize(N(0), N(1)), 5)),
      row({in(), out(5 * s), out(5 * s)}, equal_segments,
          STRATA_CALL(DeviceSegmentedTopK::ArgMaxSorted, U(0), U(1), U(2), SegmentsOfSize(N(0), N(1)), 5)),
      row({in(), out(5 * s), out(5 * s)}, equal_segments,
          STRATA_CALL(DeviceSegmentedTopK::ArgMinSorted, U(0), U(1), U(2), SegmentsOfSize(N(0), N(1)), 5)),
  };
}

template <class Count, class Maker>
std::vector<device_call> segmented_sorts() {
  return {
      row({in(), out_over({0}), begins(), ends()}, items_and_segments,
          STRATA_CALL(DeviceSegmentedRadixSort::SortKeys, U(0), U(1), N(0), N(1), I(2), I(3), 0, 32)),
      row({in(), out_over({0}), in(), out_over({2}), begins(), ends()}, items_and_segments,
          STRATA_CALL(DeviceSegmentedRadixSort::SortPairs, U(0), U(1), U(2), U(3), N(0), N(1), I(4), I(5), 0, 32)),
      row({in_place(), out(), in_place(), out(), begins(), ends()}, items_and_segments,
          STRATA_CALL(DeviceSegmentedRadixSort::SortPairs, B(0), B(2), N(0), N(1), I(4), I(5), 0, 32)),
      row({in_place(), out(), begins(), ends()}, items_and_segments,
          STRATA_CALL(DeviceSegmentedRadixSort::SortKeysDescending, B(0), N(0), N(1), I(2), I(3), 0, 32)),
      row({in(), out_over({0}), in(), out_over({2}), begins(), ends()}, items_and_segments,
          STRATA_CALL(DeviceSegmentedRadixSort::SortPairsDescending, U(0), U(1), U(2), U(3), N(0), N(1), I(4), I(5), 0,
                      32)),
      row({in(), out_over({0}), begins(), ends()}, items_and_segments,
          STRATA_CALL(DeviceSegmentedSort::SortKeys, U(0), U(1), N(0), N(1), I(2), I(3))),
      row({in(), out_over({0}), in(), out_over({2}), begins(), ends()}, items_and_segments,
          STRATA_CALL(DeviceSegmentedSort::SortPairs, U(0), U(1), U(2), U(3), N(0), N(1), I(4), I(5))),
      row({in_place(), out(), in_place(), out(), begins(), ends()}, items_and_segments,
          STRATA_CALL(DeviceSegmentedSort::SortPairs, B(0), B(2), N(0), N(1), I(4), I(5))),
      row({in(), out(), begins(), ends()}, items_and_segments,
          STRATA_CALL(DeviceSegmentedSort::SortIndices, U(0), U(1), N(0), N(1), I(2), I(3))),
      row({in(), out_over({0})}, equal_segments,
          STRATA_CALL(DeviceSegmentedSort::SortKeysDescending, U(0), U(1), N(0), N(1))),
      row({in(), out_over({0}), in(), out_over({2})}, equal_segments,
          STRATA_CALL(DeviceSegmentedSort::SortPairsDescending, U(0), U(1), U(2), U(3), N(0), N(1))),
      row({in(), out_over({0}), begins(), ends()}, items_and_segments,
          STRATA_CALL(DeviceSegmentedSort::StableSortKeys, U(0), U(1), N(0), N(1), I(2), I(3))),
      row({in(), out_over({0}), begins(), ends()}, items_and_segments,
          STRATA_CALL(DeviceSegmentedSort::StableSortKeysDescending, U(0), U(1), N(0), N(1), I(2), I(3))),
      row({in(), out_over({0}), in(), out_over({2}), begins(), ends()}, items_and_segments,
          STRATA_CALL(DeviceSegmentedSort::StableSortPairs, U(0), U(1), U(2), U(3), N(0), N(1), I(4), I(5))),
      row({in(), out_over({0}), in(), out_over({2}), begins(), ends()}, items_and_segments,
          STRATA_CALL(DeviceSegmentedSort::StableSortPairsDescending, U(0), U(1), U(2), U(3), N(0), N(1), I(4), I(5))),
      row({in(), out()}, equal_segments,
          STRATA_CALL(DeviceSegmentedSort::SortIndicesDescending, U(0), U(1), N(0), N(1))),
      row({in_place(), begins(), ends()}, items_and_segments,
          STRATA_CALL(DeviceSegmentedMergeSort::SortKeys, U(0), N(0), N(1), I(1), I(2), is_less{})),
      row({in_place(), in_place(), begins(), ends()}, items_and_segments,
          STRATA_CALL(DeviceSegmentedMergeSort::SortPairs, U(0), U(1), N(0), N(1), I(2), I(3), is_less{})),
      row({in(), in(), out_over({0}), out_over({1}), begins(), ends()}, items_and_segments,
          STRATA_CALL(DeviceSegmentedMergeSort::SortPairsCopy, U(0), U(1), U(2), U(3), N(0), N(1), I(4), I(5),
                      is_less{})),
      row({in(), out(), begins(), ends()}, items_and_segments,
          STRATA_CALL(DeviceSegmentedMergeSort::SortIndices, U(0), U(1), N(0), N(1), I(2), I(3), is_less{})),
      row({in(), out_over({0})}, equal_segments,
          STRATA_CALL(DeviceSegmentedMergeSort::SortKeysCopy, U(0), U(1), N(0), N(1), is_less{})),
      row({in_place()}, equal_segments, STRATA_CALL(DeviceSegmentedMergeSort::SortKeys, U(0), N(0), N(1), is_less{})),
      row({in(), out_over({0}), begins(), ends()}, items_and_segments,
          STRATA_CALL(DeviceSegmentedMergeSort::SortKeysCopy, U(0), U(1), N(0), N(1), I(2), I(3), is_less{})),
      row({in_place(), in_place()}, equal_segments,
          STRATA_CALL(DeviceSegmentedMergeSort::SortPairs, U(0), U(1), N(0), N(1), is_less{})),
      row({in(), out()}, equal_segments,
          STRATA_CALL(DeviceSegmentedMergeSort::SortIndices, U(0), U(1), N(0), N(1), is_less{})),
      row({in_place()}, equal_segments,
          STRATA_CALL(DeviceSegmentedMergeSort::StableSortKeys, U(0), N(0), N(1), is_less{})),
      row({in(), out_over({0})}, equal_segments,
          STRATA_CALL(DeviceSegmentedMergeSort::StableSortKeysCopy, U(0), U(1), N(0), N(1), is_less{})),
      row({in_place(), in_place()}, equal_segments,
          STRATA_CALL(DeviceSegmentedMergeSort::StableSortPairs, U(0), U(1), N(0), N(1), is_less{})),
      row({in(), in(), out_over({0}), out_over({1}), begins(), ends()}, items_and_segments,
          STRATA_CALL(DeviceSegmentedMergeSort::StableSortPairsCopy, U(0), U(1), U(2), U(3), N(0), N(1), I(4), I(5),
                      is_less{})),
  };
}

template <class Count, class Maker>
std::vector<device_call> transformations() {
  return {
      row({in(), out()}, items,
          STRATA_CALL(DeviceAdjacentDifference::SubtractLeftCopy, U(0), U(1), N(0), Difference{})),
      row({in_place()}, items, STRATA_CALL(DeviceAdjacentDifference::SubtractLeft, U(0), N(0), Difference{})),
      row({in(), out()}, items,
          STRATA_CALL(DeviceAdjacentDifference::SubtractRightCopy, U(0), U(1), N(0), Difference{})),
      row({in_place()}, items, STRATA_CALL(DeviceAdjacentDifference::SubtractRight, U(0), N(0), Difference{})),
      without_memory(
          {{in(), out_over({0})}, items, STRATA_CALL(DeviceTransform::Transform, U(0), U(1), N(0), plus_one{})}),
      without_memory(row({in(), out_over({0})}, items,
                         STRATA_CALL(DeviceTransform::TransformStableArgumentAddresses, U(0), U(1), N(0), plus_one{}))),
      without_memory(row({in(), in(), out_over({0, 1})}, items,
                         STRATA_CALL(DeviceTransform::TransformStableArgumentAddresses, std::make_tuple(U(0), U(1)),
                                     U(2), N(0), Sum{}))),
      without_memory(row({in(), out_over({0})}, items,
                         STRATA_CALL(DeviceTransform::TransformIf, U(0), U(1), N(0), is_any{}, plus_one{}))),
      without_memory(row(
          {in(), out_over({0})}, items,
          STRATA_CALL(DeviceTransform::TransformIfStableArgumentAddresses, U(0), U(1), N(0), is_any{}, plus_one{}))),
      without_memory(row({out()}, items, STRATA_CALL(DeviceTransform::Fill, U(0), N(0), 7u))),
      without_memory(row({out()}, items, STRATA_CALL(DeviceTransform::Generate, U(0), N(0), always_five{}))),
      without_memory(row({in_place()}, items, STRATA_CALL(DeviceFor::ForEachN, U(0), N(0), increase{}))),
      without_memory(row({in()}, items, STRATA_CALL(DeviceFor::ForEachCopyN, U(0), N(0), look_at{}))),
      row({pointers(), pointers(), in(s)}, segments, STRATA_CALL(DeviceMemcpy::Batched, PP(0), PP(1), U(2), N(0))),
      row({pointers(), pointers(), in(s)}, segments, STRATA_CALL(DeviceCopy::Batched, PP(0), PP(1), U(2), N(0))),
  };
}

/// Loops that write to memory that the host cannot check, or whose count is a distance between iterators. Only the
/// tests device_execution_* make these calls.
template <class Count, class Maker>
std::vector<device_call> loops() {
  using indices = CountingInputIterator<u32>;
  return {
      without_memory(row({out()}, items, STRATA_CALL(DeviceFor::Bulk, N(0), write_to{U(0)}))),
      without_memory(row({in_place()}, items, STRATA_CALL(DeviceFor::ForEach, U(0), U(0) + N(0), increase{}))),
      without_memory(row({out()}, items, STRATA_CALL(DeviceFor::ForEachCopyN, indices(0), N(0), write_to{U(0)}))),
      without_memory(row({out()}, items,
                         STRATA_CALL(DeviceFor::ForEachInExtents, row_of{static_cast<i64>(N(0))}, write_column{U(0)}))),
      without_memory(
          row({out()}, items,
              STRATA_CALL(DeviceFor::ForEachInLayout, layout_of_row{{static_cast<i64>(N(0))}}, write_column{U(0)}))),
      without_memory(row({in(), out()}, items,
                         STRATA_CALL(DeviceCopy::Copy, array_of_row{U(0), {{{static_cast<i64>(N(0))}}}},
                                     array_of_row{U(1), {{{static_cast<i64>(N(0))}}}}))),
      without_memory(
          {{out()}, items, STRATA_CALL(DeviceFor::ForEachCopy, indices(0), indices(0) + N(0), write_to{U(0)})}),
  };
}

template <class T>
std::array<T, 2> channels(T first, T second) {
  return {first, second};
}
template <class T>
struct c_array {
  c_array(T first, T second) : items{first, second} {}
  T items[2];
};

template <class Count, class Maker>
std::vector<device_call> other_calls() {
  return {
      row({in(100), in(n - 100), out()}, {100, item_count - 100},
          STRATA_CALL(DeviceMerge::MergeKeys, U(0), N(0), U(1), N(1), U(2), is_less{})),
      row({in(100), in(100), in(n - 100), in(n - 100), out(), out()}, {100, item_count - 100},
          STRATA_CALL(DeviceMerge::MergePairs, U(0), U(1), N(0), U(2), U(3), N(1), U(4), U(5), is_less{})),
      row({in(), in(), out(), out(), out(), result<u32>()}, {item_count, item_count},
          STRATA_CALL(DeviceGroupBy::Aggregate, group_keys(U(0), N(0)),
                      group_aggregates(group_sum(U(1), U(2)), group_count(U(3))), group_output(U(4), N(1)).sorted(),
                      U(5))),
      row({in(), out(), out(), out(), result<u32>()}, {item_count, item_count},
          STRATA_CALL(DeviceGroupBy::Groups, group_keys(U(0), N(0)), U(1), group_aggregates(group_count(U(2))),
                      group_output(U(3), N(1)).first_occurrence(), U(4))),
      row({in(), result<u32>()}, items, STRATA_CALL(DeviceGroupBy::CountDistinct, group_keys(U(0), N(0)), U(1))),
      row({in(), single<u32>()}, items, STRATA_CALL(DeviceFind::FindIf, U(0), U(1), is_even{}, N(0))),
      without_memory(row({in(100), in(n - 100), out(n - 100)}, {100, item_count - 100},
                         STRATA_CALL(DeviceFind::LowerBound, U(0), N(0), U(1), N(1), U(2), is_less{}))),
      without_memory(row({in(100), in(n - 100), out(n - 100)}, {100, item_count - 100},
                         STRATA_CALL(DeviceFind::UpperBound, U(0), N(0), U(1), N(1), U(2), is_less{}))),
      row({in(100), in(n - 100), out(n - 100)}, {100, item_count - 100},
          STRATA_CALL(DeviceFind::LowerBoundSortedValues, U(0), N(0), U(1), N(1), U(2), is_less{})),
      row({in(100), in(n - 100), out(n - 100)}, {100, item_count - 100},
          STRATA_CALL(DeviceFind::UpperBoundSortedValues, U(0), N(0), U(1), N(1), U(2), is_less{})),
      without_memory(
          row({in(), out()}, equal_segments, STRATA_CALL(DeviceTranspose::Transpose, U(0), U(1), N(0), N(1)))),
      without_memory(row({in(), out()}, {segment_count, segment_items, segment_items, segment_count},
                         STRATA_CALL(DeviceTranspose::Transpose, U(0), U(1), N(0), N(1), N(2), N(3)))),
      row({in(), counters()}, items, STRATA_CALL(DeviceHistogram::HistogramEven, U(0), U(1), 9, 0, 9, N(0))),
      row({in(), counters()}, {segment_items, segment_count},
          STRATA_CALL(DeviceHistogram::HistogramEven, U(0), U(1), 9, 0, 9, N(0), N(1), segment_items * sizeof(u32))),
      row({in(), counters(), in(9)}, items, STRATA_CALL(DeviceHistogram::HistogramRange, U(0), U(1), 9, U(2), N(0))),
      row({in(), counters(), in(9)}, {segment_items, segment_count},
          STRATA_CALL(DeviceHistogram::HistogramRange, U(0), U(1), 9, U(2), N(0), N(1), segment_items * sizeof(u32))),
      row({in(), counters(), counters()}, {item_count / 2},
          STRATA_CALL((DeviceHistogram::MultiHistogramEven<2, 2>), U(0), channels(U(1), U(2)), channels(9, 9),
                      channels(0, 0), channels(9, 9), N(0))),
      row({in(), counters(), counters(), in(9), in(9)}, {item_count / 2},
          STRATA_CALL((DeviceHistogram::MultiHistogramRange<2, 2>), U(0), channels(U(1), U(2)), channels(9, 9),
                      channels(U(3), U(4)), N(0))),
      row({in(), counters(), counters(4)}, {item_count / 2},
          STRATA_CALL((DeviceHistogram::MultiHistogramEven<2, 2>), U(0), c_array(U(1), U(2)).items, c_array(9, 5).items,
                      c_array(0, 0).items, c_array(9, 100).items, N(0))),
      row({in(), counters(1), counters(1), in(2), in(2)}, {item_count / 2},
          STRATA_CALL((DeviceHistogram::MultiHistogramRange<2, 2>), U(0), c_array(U(1), U(2)).items,
                      c_array(2, 2).items, c_array(U(3), U(4)).items, N(0))),
  };
}

/// Returns a table of the keys 0, 2, 4, ..., 38. The first call builds it; it stays until the program ends.
template <JoinOrder Order>
const auto& join_table() {
  using Table = JoinTable<u32, u32, JoinHash, Equality, Order>;
  // The library's types are hidden in CUDA sources, so a class that has one as a member must be hidden, too.
  struct __attribute__((visibility("hidden"))) owner {
    owner() {
      constexpr int rows = 20;
      std::vector<u32> numbers;
      for (u32 i = 0; i < rows; ++i) numbers.push_back(2 * i);
      std::size_t bytes = 0;
      void* memory = nullptr;
      u32* keys = nullptr;
      EXPECT_CUDA_SUCCESS(cudaMalloc(&keys, rows * sizeof(u32)));
      EXPECT_CUDA_SUCCESS(cudaMemcpy(keys, numbers.data(), rows * sizeof(u32), cudaMemcpyHostToDevice));
      const auto build = join_side(static_cast<const u32*>(keys), rows);
      EXPECT_CUDA_SUCCESS(Table::MemoryBytes(build, bytes));
      EXPECT_CUDA_SUCCESS(cudaMalloc(&memory, bytes));
      table = Table(memory, bytes, build);
      EXPECT_CUDA_SUCCESS(table.Build(rows));
      EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
    }
    Table table{nullptr, 0, join_side<u32>(nullptr, 0)};
  };
  static const owner one;
  return one.table;
}

template <class Count, class Maker>
std::vector<device_call> joins() {
  const std::vector<i64> few_rows = {10, 8, capacity};
  return {
      row({in(), in(), number()}, {item_count, item_count},
          STRATA_CALL(DeviceHashJoin::Inner, join_side(U(0), N(0)), join_side(U(1), N(1)), join_count(), I(2),
                      JoinOptions<>{})),
      unordered(row({in(), in(), out(), out(), number()}, {item_count, item_count, item_count},
                    STRATA_CALL(DeviceHashJoin::Inner, join_side(U(0), N(0)), join_side(U(1), N(1)),
                                join_pairs(U(2), U(3), N(2)), I(4), JoinOptions<>{}))),
      unordered(row({in(), in(), out(), number()}, {item_count, item_count, item_count},
                    STRATA_CALL(DeviceHashJoin::Semi, join_side(U(0), N(0)), join_side(U(1), N(1)),
                                join_pairs(nullptr, U(2), N(2)), I(3), JoinOptions<>{}))),
      row({in(10), in(8), out(capacity), out(capacity), number()}, few_rows,
          STRATA_CALL(DeviceHashJoin::Inner, join_side(U(0), N(0)), join_side(U(1), N(1)), join_pairs(U(2), U(3), N(2)),
                      I(4), OrderedJoinOptions<>{})),
      row({in(10), in(8), out(capacity), out(capacity), number()}, few_rows,
          STRATA_CALL(DeviceHashJoin::Left, join_side(U(0), N(0)), join_side(U(1), N(1)), join_pairs(U(2), U(3), N(2)),
                      I(4), OrderedJoinOptions<>{})),
      row({in(10), in(8), out(capacity), out(capacity), number()}, few_rows,
          STRATA_CALL(DeviceHashJoin::Full, join_side(U(0), N(0)), join_side(U(1), N(1)), join_pairs(U(2), U(3), N(2)),
                      I(4), OrderedJoinOptions<>{})),
      row({in(10), in(8), out(capacity), number()}, few_rows,
          STRATA_CALL(DeviceHashJoin::Semi, join_side(U(0), N(0)), join_side(U(1), N(1)),
                      join_pairs(nullptr, U(2), N(2)), I(3), OrderedJoinOptions<>{})),
      row({in(10), in(8), out(capacity), number()}, few_rows,
          STRATA_CALL(DeviceHashJoin::Anti, join_side(U(0), N(0)), join_side(U(1), N(1)),
                      join_pairs(nullptr, U(2), N(2)), I(3), OrderedJoinOptions<>{})),
      row({in(), number()}, items, STRATA_TABLE_CALL(JoinOrder::any, Inner, join_side(U(0), N(0)), join_count(), I(1))),
      unordered(
          row({in(), out(), out(), number()}, {item_count, item_count},
              STRATA_TABLE_CALL(JoinOrder::any, Inner, join_side(U(0), N(0)), join_pairs(U(1), U(2), N(1)), I(3)))),
      row({in(), out(capacity), out(capacity), number()}, {item_count, capacity},
          STRATA_TABLE_CALL(JoinOrder::probe, Inner, join_side(U(0), N(0)), join_pairs(U(1), U(2), N(1)), I(3))),
      row({in(), out(capacity), out(capacity), number()}, {item_count, capacity},
          STRATA_TABLE_CALL(JoinOrder::probe, Left, join_side(U(0), N(0)), join_pairs(U(1), U(2), N(1)), I(3))),
      row({in(), out(capacity), out(capacity), number()}, {item_count, capacity},
          STRATA_TABLE_CALL(JoinOrder::probe, Full, join_side(U(0), N(0)), join_pairs(U(1), U(2), N(1)), I(3))),
      row({in(), out(capacity), number()}, {item_count, capacity},
          STRATA_TABLE_CALL(JoinOrder::probe, Semi, join_side(U(0), N(0)), join_pairs(nullptr, U(1), N(1)), I(2))),
      row({in(), out(capacity), number()}, {item_count, capacity},
          STRATA_TABLE_CALL(JoinOrder::probe, Anti, join_side(U(0), N(0)), join_pairs(nullptr, U(1), N(1)), I(2))),
  };
}
#undef STRATA_CALL_AS
#undef STRATA_CALL
#undef STRATA_TABLE_CALL
#undef U
#undef I
#undef P
#undef PP
#undef B
#undef N

/// Concatenates lists of calls.
inline std::vector<device_call> joined(std::initializer_list<std::vector<device_call>> lists) {
  std::vector<device_call> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace device_calls
