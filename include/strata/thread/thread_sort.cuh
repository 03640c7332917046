// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Sorts the first `valid_items` of `Length` keys, or all keys if `Full`. `others` is an array whose items move with
/// their keys, or NullType.
template <bool Full, std::size_t Length, class Key, class Others, class Compare>
STRATA_D void odd_even_sort(Key (&keys)[Length], [[maybe_unused]] Others& others, Compare& compare,
                            [[maybe_unused]] int valid_items = 0) {
  compare_requirements<Compare, Key>::check();
  constexpr int length = static_cast<int>(Length);
  STRATA_UNROLL
  for (int round = 0; round < length; ++round) {
    STRATA_UNROLL
    for (int i = round & 1; i < length - 1; i += 2) {
      if ((Full || i + 1 < valid_items) && compare(keys[i + 1], keys[i])) {
        const Key key = keys[i];
        keys[i] = keys[i + 1];
        keys[i + 1] = key;
        if constexpr (std::is_array_v<Others>) {
          const auto other = others[i];
          others[i] = others[i + 1];
          others[i + 1] = other;
        }
      }
    }
  }
}

}  // namespace detail

/// Sorts the keys of one thread, stably; the next overload also moves values. Each of N rounds compares odd or even
/// pairs of neighbours and exchanges those out of order: after N rounds, N keys are sorted.
///
/// - `compare(a, b)` says whether a must come before b: a strict weak ordering.
/// - Stable: two keys keep their order if neither must come before the other. (Only neighbours are exchanged, and equal
///   ones never.)
/// - `compare` is called N * (N - 1) / 2 times, or fewer times by `StableOddEvenSortPartial`. All indices are
///   constants, so the arrays stay in registers. For N up to some 30 this costs less than indices that depend on the
///   keys.
/// - `StableOddEvenSortPartial` sorts the first `valid_items` items. It neither reads nor moves other items. If
///   `valid_items` exceeds N, all items are sorted; if it is 0 or less, none.
/// - Whatever `compare` answers, the result is a permutation of the input.
///
/// Source: odd-even transposition, N. Habermann, Parallel neighbor-sort, 1972. The name is CUB's.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// struct is_greater {
///   STRATA_HD bool operator()(float a, float b) const { return a > b; }
/// };
/// __managed__ float scores[2][4] = {{1, 4, 2, 4}, {0.5f, 3, 9, -1}};
/// __managed__ int players[2][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}};
///
/// // Each thread sorts a row.
/// STRATA_KERNEL void sort_rows(float* keys, int* values) {
///   float row[4];
///   int row_values[4];
///   for (unsigned i = 0; i < 4; ++i) row[i] = keys[4 * threadIdx.x + i];
///   for (unsigned i = 0; i < 4; ++i) row_values[i] = values[4 * threadIdx.x + i];
///   strata::StableOddEvenSort(row, row_values, is_greater{});
///   for (unsigned i = 0; i < 4; ++i) values[4 * threadIdx.x + i] = row_values[i];
/// }
///
/// int main() {
///   if (strata::launch({"sort_rows", 1, 2}, sort_rows, scores[0], players[0]) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const auto& row : players) std::printf("%d %d %d %d\n", row[0], row[1], row[2], row[3]);
/// }
/// // prints: 1 3 2 0
/// // prints: 6 5 4 7
/// @endcode
template <class KeyT, std::size_t Length, class CompareOp>
STRATA_D void StableOddEvenSort(KeyT (&keys)[Length], CompareOp compare) {
  NullType no_values;
  detail::odd_even_sort<true>(keys, no_values, compare);
}
/// Sorts keys with their values in one thread, stably.
template <class KeyT, class ValueT, std::size_t Length, class CompareOp>
STRATA_D void StableOddEvenSort(KeyT (&keys)[Length], ValueT (&values)[Length], CompareOp compare) {
  detail::odd_even_sort<true>(keys, values, compare);
}

/// Sorts the first `valid_items` keys in one thread, stably.
template <class KeyT, std::size_t Length, class CompareOp>
STRATA_D void StableOddEvenSortPartial(KeyT (&keys)[Length], int valid_items, CompareOp compare) {
  NullType no_values;
  detail::odd_even_sort<false>(keys, no_values, compare, valid_items);
}
/// Sorts the first `valid_items` keys with their values in one thread, stably.
template <class KeyT, class ValueT, std::size_t Length, class CompareOp>
STRATA_D void StableOddEvenSortPartial(KeyT (&keys)[Length], ValueT (&values)[Length], int valid_items,
                                       CompareOp compare) {
  detail::odd_even_sort<false>(keys, values, compare, valid_items);
}

STRATA_NAMESPACE_END
