// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shuffle.cuh>
#include <strata/core/platform/shuffle_ptx.cuh>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The type of an argument that is absent: a result or an initial value.
struct not_given {};
template <class Argument>
inline constexpr bool is_given = !std::is_same_v<std::decay_t<Argument>, not_given>;

/// True if `Operator` adds integers that wrap around like machine words: then words may be added, and an item
/// may be subtracted again.
template <class Operator, class T>
inline constexpr bool adds_as_words =
    std::is_same_v<Operator, Sum>&& std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8;

template <class T>
using word_of_t = std::conditional_t<sizeof(T) <= 4, unsigned, unsigned long long>;

/// The segments of a shuffle, for logical warps of `Lanes`. A power of two divides each warp. Otherwise the
/// logical warp is the first lanes of the warp, and no lane reads from one above it.
template <int Lanes>
inline constexpr int scan_width = is_power_of_two(Lanes) ? Lanes : warp_threads;

/// Inclusive scan over the lanes of `mask`, in logical warps of `Lanes` lanes: a lane gets the sum of the
/// items of all lanes up to its own. Before step k a lane has the sum of 2^k items; the step adds the sum of
/// the 2^k items before these, which the lane 2^k below has. Operands are neighbours, so order is kept.
/// (Kogge and Stone, "A Parallel Algorithm for the Efficient Solution of a General Class of Recurrence
/// Equations", 1973.)
///
/// Unless `Full`, lanes with `is_valid` false have no item, and `op` is not called there. They must be the
/// last ones.
template <int Lanes, bool Full, class T, class Operator>
STRATA_D T scan_lanes(unsigned mask, const T& item, Operator& op, [[maybe_unused]] bool is_valid) {
  constexpr int width = scan_width<Lanes>;
  if constexpr (adds_as_words<Operator, T>) {
    auto sum = static_cast<word_of_t<T>>(item);
    STRATA_UNROLL
    for (unsigned distance = 1; distance < Lanes; distance *= 2) {
      sum = platform::add_from_below(mask, sum, distance, width);
    }
    return static_cast<T>(sum);
  } else {
    T sum = item;
    STRATA_UNROLL
    for (unsigned distance = 1; distance < Lanes; distance *= 2) {
      bool has_source;
      const T below = platform::shuffle_up(mask, sum, distance, width, has_source);
      if (has_source && (Full || is_valid)) sum = static_cast<T>(op(below, sum));
    }
    return sum;
  }
}

/// The sum of the items of the lanes below; `inclusive` is what scan_lanes returned for `item`. Unspecified
/// in lane 0; 0 there if `adds_as_words`.
template <int Lanes, class Operator, class T>
STRATA_D T sum_of_lanes_below(unsigned mask, const T& item, const T& inclusive) {
  if constexpr (adds_as_words<Operator, T>) {
    static_cast<void>(mask);
    using word = word_of_t<T>;
    return static_cast<T>(static_cast<word>(inclusive) - static_cast<word>(item));
  } else {
    static_cast<void>(item);
    return platform::shuffle_up(mask, inclusive, 1, scan_width<Lanes>);
  }
}

}  // namespace detail
STRATA_NAMESPACE_END
