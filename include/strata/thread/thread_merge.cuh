// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/values.cuh>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Returns (first + last) / 2 without overflow. Neither number may be negative, and `first` must not exceed `last`.
template <class Integer>
STRATA_HD Integer middle_of(Integer first, Integer last) {
  if constexpr (std::is_signed_v<Integer>) {
    // Halving an unsigned sum takes two instructions fewer than halving a signed number.
    using sum = std::make_unsigned_t<Integer>;
    return static_cast<Integer>((static_cast<sum>(first) + static_cast<sum>(last)) / 2);
  } else {
    return static_cast<Integer>(first + (last - first) / 2);
  }
}

/// Returns the first index in [first, last) for which `is_behind` is true, or `last`. It must be false for all indices
/// before, and true for all after. It is called at most ceil(log2(last - first + 1)) times.
template <class Integer, class Predicate>
STRATA_HD Integer partition_point(Integer first, Integer last, const Predicate& is_behind) {
  while (first < last) {
    const Integer middle = detail::middle_of(first, last);
    if (is_behind(middle)) {
      last = middle;
    } else {
      first = static_cast<Integer>(middle + 1);
    }
  }
  return first;
}

/// MergePath, see below. MergePathSearch and the merges of segment_tile.cuh call it too.
template <class Keys1, class Keys2, class OffsetT, class Compare>
STRATA_HD OffsetT merge_path(Keys1&& keys1, Keys2&& keys2, OffsetT count1, OffsetT count2, OffsetT diagonal,
                             Compare& compare) {
  const OffsetT first = diagonal < count2 ? OffsetT{0} : static_cast<OffsetT>(diagonal - count2);
  const OffsetT last = detail::least(diagonal, count1);
  return detail::partition_point(first, last, [&](OffsetT middle) {
    return compare(keys2[static_cast<OffsetT>(diagonal - 1 - middle)], keys1[middle]);
  });
}

/// Merges [begin1, end1) and [begin2, end2) of `keys` until `output` is full or both are at an end,
/// and calls `visit(i, index)` for each key with its index in `output` and in `keys`. Returns where
/// the first range goes on. If `Full`, there are enough keys to fill `output`.
///
/// Reads nothing outside of the ranges. `merge_in_tile` of the block layer reads on behind them, which
/// takes fewer instructions but needs memory that may be read there.
template <bool Full, class Keys, class Key, std::size_t Length, class Compare, class Visit>
STRATA_D int serial_merge(const Keys& keys, int begin1, int end1, int begin2, int end2, Key (&output)[Length],
                          Compare& compare, const Visit& visit) {
  if (begin1 >= end1 && begin2 >= end2) return begin1;
  const int last1 = end1 - 1, last2 = end2 - 1;
  // No key of an empty range is read. The loop selects values instead of branching, because divergent branches would
  // take longer.
  Key key1 = keys[begin1 < end1 ? begin1 : begin2], key2 = keys[begin2 < end2 ? begin2 : begin1];
  STRATA_UNROLL
  for (int i = 0; i < static_cast<int>(Length); ++i) {
    if (!Full && begin1 >= end1 && begin2 >= end2) break;
    const bool from2 = begin2 < end2 && (begin1 >= end1 || compare(key2, key1));
    output[i] = from2 ? key2 : key1;
    const int index = from2 ? begin2 : begin1;
    visit(i, index);
    platform::advance_either<1, 1>(from2, begin1, begin2);
    if (i + 1 < static_cast<int>(Length)) {
      // At its end a range is not read further.
      const Key key = keys[detail::least(index + 1, from2 ? last2 : last1)];
      key1 = from2 ? key1 : key;
      key2 = from2 ? key : key2;
    }
  }
  return begin1;
}

/// Calls serial_merge. If there are enough keys to fill `output`, its loop does not test whether both ranges are at an
/// end.
template <class Keys, class Key, std::size_t Length, class Compare, class Visit>
STRATA_D void serial_merge_any(const Keys& keys, int begin1, int count1, int begin2, int count2, Key (&output)[Length],
                               Compare& compare, const Visit& visit) {
  const int end1 = begin1 + count1, end2 = begin2 + count2;
  if (count1 + count2 >= static_cast<int>(Length)) {
    detail::serial_merge<true>(keys, begin1, end1, begin2, end2, output, compare, visit);
  } else {
    detail::serial_merge<false>(keys, begin1, end1, begin2, end2, output, compare, visit);
  }
}

}  // namespace detail

/// Finds where a diagonal cuts the merge of two sorted ranges. Returns how many of the first `diag` items of
/// merge(keys1[0 .. keys1_count), keys2[0 .. keys2_count)) come from the first range.
///
///              keys2
///                1   3   3   6
///              o---o   .   .   /
///    keys1  2      |                Steps right take from keys2, steps down from keys1. If keys are
///              .   o   .   /   .    equal, keys1 comes first. The diagonal has the points with
///           3      |                `diag` items before them, here 4. The path crosses it once,
///              .   o   /   .   .    at X: 3 items of keys1 are before it. A binary search along
///           3      |                the diagonal finds X.
///              .   X---o---o   .
///           5              |
///              /   .   .   o---o
///
/// - The merge is stable: keys of the first range come before equal ones of the second.
/// - `compare(a, b)` says whether a must come before b: a strict weak ordering in which both ranges
///   are sorted. It is called at most ceil(log2(min(diag, keys1_count, keys2_count) + 1)) times.
/// - `diag` must be in 0 .. keys1_count + keys2_count. Whatever the keys are and `compare` answers,
///   the search ends, reads keys of the two ranges only, and returns at least diag - keys2_count
///   and at most keys1_count.
/// - `OffsetT` may be any integer, 64-bit ones too. Keys may be any iterators or things with
///   `operator[]`.
template <class Keys1, class Keys2, class OffsetT, class CompareOp>
STRATA_HD OffsetT MergePath(Keys1 keys1, Keys2 keys2, OffsetT keys1_count, OffsetT keys2_count, OffsetT diag,
                            CompareOp compare) {
  static_assert(std::is_integral_v<OffsetT>, "MergePath: offsets and counts must be integers");
  if constexpr (std::is_integral_v<OffsetT>) {
    return detail::merge_path(keys1, keys2, keys1_count, keys2_count, diag, compare);
  } else {
    return diag;
  }
}

/// Merges two sorted ranges of `keys`, which begin at `keys1_begin` and `keys2_begin` and have
/// `keys1_count` and `keys2_count` items, until `output` is full or no items are left. `indices[i]`
/// says where in `keys` output[i] was found. Items of `output` and `indices` for which there are no
/// keys keep what they had.
///
/// - Stable: keys of the first range come before equal ones of the second.
/// - `compare(a, b)` says whether a must come before b. It is called at most once for each item of
///   `output`, and for items of the ranges only.
/// - Whatever the keys are and `compare` answers, only items of the ranges are read, and each is
///   written once at most.
/// - Together with MergePath, each of many threads finds its slice of a merge and merges it.
///
/// @code
/// #include <strata/core/launcher.cuh>
/// #include <strata/core/operators.hpp>
///
/// __managed__ int numbers[10] = {1, 3, 5, 7, 9, 11, /* and */ 2, 3, 4, 10}, merged[10];
///
/// // Merges two sorted arrays, one behind the other: each thread writes 4 items of the result.
/// STRATA_KERNEL void merge(const int* keys, int count1, int count2, int* out) {
///   const int diagonal = static_cast<int>(threadIdx.x) * 4;
///   const int begin1 = strata::MergePath(keys, keys + count1, count1, count2, diagonal, strata::Less{});
///   const int begin2 = diagonal - begin1;
///   int items[4];
///   strata::SerialMerge(keys, begin1, count1 + begin2, count1 - begin1, count2 - begin2, items, strata::Less{});
///   for (int i = 0; i < 4 && diagonal + i < count1 + count2; ++i) out[diagonal + i] = items[i];
/// }
///
/// int main() {
///   if (strata::launch({"merge", 1, 3}, merge, numbers, 6, 4, merged) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const int number : merged) std::printf("%d ", number);
/// }
/// // prints: 1 2 3 3 4 5 7 9 10 11
/// @endcode
template <class Keys, class KeyT, std::size_t Length, class CompareOp>
STRATA_D void SerialMerge(Keys keys, int keys1_begin, int keys2_begin, int keys1_count, int keys2_count,
                          KeyT (&output)[Length], int (&indices)[Length], CompareOp compare) {
  detail::serial_merge_any(keys, keys1_begin, keys1_count, keys2_begin, keys2_count, output, compare,
                           [&](int i, int index) { indices[i] = index; });
}
/// Merges two sorted ranges of `keys` into `output`, without the indices of the keys.
template <class Keys, class KeyT, std::size_t Length, class CompareOp>
STRATA_D void SerialMerge(Keys keys, int keys1_begin, int keys2_begin, int keys1_count, int keys2_count,
                          KeyT (&output)[Length], CompareOp compare) {
  detail::serial_merge_any(keys, keys1_begin, keys1_count, keys2_begin, keys2_count, output, compare, [](int, int) {});
}

STRATA_NAMESPACE_END
