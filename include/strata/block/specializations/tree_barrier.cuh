// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A barrier between two levels of a tree. On both levels only the first `active` threads of the block access
/// shared memory. If these are in one warp, other warps do not wait. All threads call it, with the same
/// `active`.
template <int BlockThreads>
STRATA_D void tree_barrier(int thread, int active) {
  if (active > warp_threads) {
    __syncthreads();
  } else if (thread < warp_threads) {
    constexpr unsigned first_warp =
        BlockThreads < warp_threads ? (1u << (BlockThreads % warp_threads)) - 1u : full_warp_mask;
    __syncwarp(first_warp);
  }
}

}  // namespace detail
STRATA_NAMESPACE_END
