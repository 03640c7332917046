// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/thread/thread_reduce.cuh>
#include <strata/thread/thread_scan.cuh>
#include <strata/warp/specializations/warp_scan_lanes.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What precedes the first item of a block: nothing; a value that every thread has; or the result of a functor
/// that the first warp calls with the sum of the block's items, in lane 0.
struct no_prefix {
  static constexpr bool is_value = false, is_callback = false;
};

template <class T>
struct prefix_value {
  static constexpr bool is_value = true, is_callback = false;
  const T& value;
};

template <class Callback>
struct prefix_callback {
  static constexpr bool is_value = false, is_callback = true;
  Callback& callback;
};

/// Distinguishes a prefix callback from an operator or an aggregate at the same position of an overload. Where it is
/// unknown if it can be called, it is what is neither of them.
template <class Callback, class T>
inline constexpr bool is_callback = std::is_invocable_r_v<T, Callback&, T> ||
                                    (is_unknown_if_callable && !std::is_convertible_v<Callback&, T> &&
                                     !std::is_invocable_v<Callback&, T, T>);
template <class Callback, class T>
using if_callback = std::enable_if_t<is_callback<Callback, T>, int>;

/// The overloads of BlockScan, for an algorithm that scans one item of each thread. `aggregate` may be
/// not_given, and so may `valid_items`, if all are valid.
template <class T, int Threads, class Algorithm>
struct block_scan_forms {
  typename Algorithm::storage& storage;
  int thread;

  template <class Item, class Operator, class Prefix, class Aggregate, class Valid>
  STRATA_D void inclusive(const Item& input, Item& output, Operator& op, Prefix prefix, Aggregate&& aggregate,
                          Valid valid_items) {
    if constexpr (operator_requirements<Operator, T>::are_met) {
      scan<true>(input, output, op, prefix, aggregate, valid_items);
    }
  }
  template <class Item, class Operator, class Prefix, class Aggregate, class Valid>
  STRATA_D void exclusive(const Item& input, Item& output, Operator& op, Prefix prefix, Aggregate&& aggregate,
                          Valid valid_items) {
    if constexpr (operator_requirements<Operator, T>::are_met) {
      scan<false>(input, output, op, prefix, aggregate, valid_items);
    }
  }

 private:
  template <bool Inclusive, class Operator, class Prefix, class Aggregate, class Valid>
  STRATA_D void scan(const T& input, T& output, Operator& op, Prefix prefix, Aggregate&& aggregate, Valid valid_items) {
    constexpr bool full = !is_given<Valid>;
    int valid = Threads;
    if constexpr (!full) {
      if (valid_items < 1) return;
      if (valid_items < Threads) valid = valid_items;
    }
    const T result = Algorithm::template scan<Inclusive, full>(storage, thread, input, op, prefix, aggregate, valid);
    if (full || thread < valid) output = result;
  }

  /// Each thread reduces its array, the threads' sums are scanned, and each thread scans its array after the
  /// sum of those before it: the least operator calls, and no second array in registers.
  template <bool Inclusive, std::size_t Items, class Operator, class Prefix, class Aggregate, class Valid>
  STRATA_D void scan(const T (&input)[Items], T (&output)[Items], Operator& op, Prefix prefix, Aggregate&& aggregate,
                     Valid valid_items) {
    constexpr bool full = !is_given<Valid>;
    constexpr int items = static_cast<int>(Items);
    if constexpr (items == 1) {
      scan<Inclusive>(input[0], output[0], op, prefix, aggregate, valid_items);
    } else {
      int valid_threads = Threads;
      int thread_valid = items;
      T sum = input[0];
      if constexpr (full) {
        sum = detail::reduce_in_thread<items>(sum, input, op, 1);
      } else {
        if (valid_items < 1) return;
        if (valid_items < Threads * items) valid_threads = ceiling_divide(valid_items, items);
        thread_valid = valid_items - thread * items;
        STRATA_UNROLL
        for (int i = 1; i < items; ++i) {
          if (i < thread_valid) sum = static_cast<T>(op(sum, input[i]));
        }
      }
      const T before =
          Algorithm::template scan<false, full>(storage, thread, sum, op, prefix, aggregate, valid_threads);
      // A sum of words begins with 0 in the first thread, with a prefix or without.
      constexpr bool has_prefix = Prefix::is_value || Prefix::is_callback || adds_as_words<Operator, T>;
      detail::scan_in_thread<Inclusive, false, full, items>(+input, +output, op, before, has_prefix || thread > 0,
                                                            thread_valid);
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
