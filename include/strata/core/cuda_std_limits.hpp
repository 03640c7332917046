// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/cuda_std_limits.hpp>
#include <strata/core/macros.hpp>

/// \file
/// Lets `Min`, `Max`, `ArgMin` and `ArgMax` of device calls take the extremes of a type from cuda::std::numeric_limits,
/// if std::numeric_limits has none. No other header includes libcu++, so include this one where you specialise
/// cuda::std::numeric_limits: before or after other headers of strata, and before the first call.
///
/// A program that includes <cuda/std/limits>, CUB or Thrust before the first header of strata does not need this
/// header.

#if !STRATA_NVRTC

#if __has_include(<cuda/std/limits>)
#include <cuda/std/limits>
#endif

#if __has_include(<cuda/std/limits>) || defined(_CUDA_STD_LIMITS)
STRATA_NAMESPACE_BEGIN
namespace detail {

template <class T>
struct cuda_std_limits<T, std::enable_if_t<has_extremes<::cuda::std::numeric_limits<T>>::value>>
    : ::cuda::std::numeric_limits<T> {};

}  // namespace detail
STRATA_NAMESPACE_END
#endif

#endif  // !STRATA_NVRTC
