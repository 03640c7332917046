// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/thread/thread_merge.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// `b < a` of items that have no operator but `<=`.
struct less_by_less_equal {
  template <class B, class A>
  STRATA_HD bool operator()(const B& b, const A& a) const {
    return !(a <= b);
  }
};

}  // namespace detail

/// LowerBound returns the index of the first of the sorted items input[0 .. num_items) that is not less than `val`, and
/// UpperBound the index of the first item that is greater. They return `num_items` if there is none.
///
/// - One thread searches, with at most ceil(log2(num_items + 1)) comparisons. The number of items may be 0.
/// - Items and `val` are compared by `<` alone: item < val by LowerBound, val < item by UpperBound. Their types may
///   differ. Items must be partitioned by that comparison, as sorted ones are.
/// - `InputIteratorT` is a random-access iterator or any type with `operator[]`. `OffsetT` is any integer type.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// __managed__ int numbers[8] = {1, 3, 3, 3, 4, 7, 7, 9}, values[4] = {3, 5, 7, 9}, counts[4];
///
/// // How often each value occurs in a sorted array.
/// STRATA_KERNEL void count_values(const int* sorted, int num_items, const int* in, int* out) {
///   const int value = in[threadIdx.x];
///   out[threadIdx.x] = strata::UpperBound(sorted, num_items, value) - strata::LowerBound(sorted, num_items, value);
/// }
///
/// int main() {
///   if (strata::launch({"count_values", 1, 4}, count_values, numbers, 8, values, counts) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const int count : counts) std::printf("%d ", count);
/// }
/// // prints: 3 0 2 1
/// @endcode
template <class InputIteratorT, class OffsetT, class T>
STRATA_D OffsetT LowerBound(InputIteratorT input, OffsetT num_items, T val) {
  static_assert(std::is_integral_v<OffsetT>, "LowerBound: the number of items must be an integer");
  return detail::partition_point(OffsetT{0}, num_items, [&](OffsetT i) { return !(input[i] < val); });
}

/// Returns the index of the first item that is greater than `val`, or `num_items` if there is none.
template <class InputIteratorT, class OffsetT, class T>
STRATA_D OffsetT UpperBound(InputIteratorT input, OffsetT num_items, T val) {
  static_assert(std::is_integral_v<OffsetT>, "UpperBound: the number of items must be an integer");
  return detail::partition_point(OffsetT{0}, num_items, [&](OffsetT i) { return val < input[i]; });
}

/// Finds where a diagonal cuts the merge of the sorted ranges a[0 .. a_len) and b[0 .. b_len): its first `diagonal`
/// items are path_coordinate.x items of `a` and path_coordinate.y items of `b`. Items are compared by `<=` alone; items
/// of `a` come before equal items of `b`. `CoordinateT` is any type with members x and y, such as int2. MergePath takes
/// any comparator; see there for the rest.
template <class AIteratorT, class BIteratorT, class OffsetT, class CoordinateT>
STRATA_HD void MergePathSearch(OffsetT diagonal, AIteratorT a, BIteratorT b, OffsetT a_len, OffsetT b_len,
                               CoordinateT& path_coordinate) {
  static_assert(std::is_integral_v<OffsetT>, "MergePathSearch: the diagonal and the lengths must be integers");
  if constexpr (std::is_integral_v<OffsetT>) {
    const detail::less_by_less_equal is_behind;
    const OffsetT from_a = detail::merge_path(a, b, a_len, b_len, diagonal, is_behind);
    path_coordinate.x = static_cast<decltype(path_coordinate.x)>(from_a);
    path_coordinate.y = static_cast<decltype(path_coordinate.y)>(diagonal - from_a);
  }
}

STRATA_NAMESPACE_END
