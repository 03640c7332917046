// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// True if one instruction reduces a `T` of every lane by `Operator`.
template <class Operator, class T>
inline constexpr bool warp_reduces_in_hardware =
    platform::has_redux&& is_word_integer<T>&& operator_traits<Operator, T>::hardware != hardware_reduction::none;

/// Reduces 32-bit integers over the 32 lanes of a warp; the result is in every lane. Narrower
/// logical warps gain nothing from the instruction: each of them would issue it by itself, and it
/// is slower than their two to four shuffles.
template <hardware_reduction Kind, class T>
STRATA_D T reduce_warp_in_hardware(T value) {
  // The instruction knows int and unsigned; T may be a long or a character of that size.
  using word = std::conditional_t<std::is_signed_v<T>, int, unsigned>;
  if constexpr (Kind == hardware_reduction::add) {
    return static_cast<T>(platform::redux_add(full_warp_mask, static_cast<unsigned>(value)));
  } else if constexpr (Kind == hardware_reduction::min) {
    return static_cast<T>(platform::redux_min(full_warp_mask, static_cast<word>(value)));
  } else if constexpr (Kind == hardware_reduction::max) {
    return static_cast<T>(platform::redux_max(full_warp_mask, static_cast<word>(value)));
  } else if constexpr (Kind == hardware_reduction::bit_and) {
    return static_cast<T>(platform::redux_and(full_warp_mask, static_cast<unsigned>(value)));
  } else if constexpr (Kind == hardware_reduction::bit_or) {
    return static_cast<T>(platform::redux_or(full_warp_mask, static_cast<unsigned>(value)));
  } else {
    return static_cast<T>(platform::redux_xor(full_warp_mask, static_cast<unsigned>(value)));
  }
}

}  // namespace detail
STRATA_NAMESPACE_END
