// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>

#if !STRATA_NVRTC
STRATA_NAMESPACE_BEGIN
namespace detail {

/// True if `Limits`, a specialisation of a template such as std::numeric_limits, has the extremes of its type.
template <class Limits, class = void>
struct has_extremes : std::false_type {};
template <class Limits>
struct has_extremes<
    Limits, std::void_t<std::enable_if_t<Limits::is_specialized>, decltype(Limits::max()), decltype(Limits::lowest())>>
    : std::true_type {};

/// The extremes of a type by cuda::std::numeric_limits. core/cuda_std_limits.hpp specialises it.
template <class T, class = void>
struct cuda_std_limits {
  static constexpr bool is_specialized = false;
  static constexpr T max() { return T(); }
  static constexpr T lowest() { return T(); }
};

}  // namespace detail
STRATA_NAMESPACE_END
#endif  // !STRATA_NVRTC
