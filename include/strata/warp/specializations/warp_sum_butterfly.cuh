// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The sum of integers over the 32 lanes of a warp, in every lane. For integers of 64 bits, WarpReduce::AllSum takes
/// one shuffle more: it reduces to lane 0 first, and then sends the sum to all lanes.
template <class Integer>
STRATA_D Integer sum_of_warp(Integer sum) {
  STRATA_UNROLL
  for (int distance = warp_threads / 2; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(full_warp_mask, sum, distance);
  }
  return sum;
}

}  // namespace detail
STRATA_NAMESPACE_END
