// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The positions, in a block's tile, of the items of one thread: item i is at `first + i * Stride`.
template <int Stride>
struct tile_positions {
  int first;
  STRATA_HD int operator()(int item) const { return first + item * Stride; }
};

/// Blocked: consecutive items belong to one thread.
template <std::size_t Items>
STRATA_HD tile_positions<1> blocked_positions(int linear_tid) {
  return {linear_tid * static_cast<int>(Items)};
}

/// Striped: consecutive items belong to consecutive threads of the block.
template <int Threads>
STRATA_HD tile_positions<Threads> striped_positions(int linear_tid) {
  return {linear_tid};
}

/// Warp-striped: consecutive items belong to consecutive threads of a warp, and consecutive ranges of
/// 32 * Items items to consecutive warps.
template <std::size_t Items>
STRATA_HD tile_positions<warp_threads> warp_striped_positions(int linear_tid) {
  return {linear_tid / warp_threads * warp_threads * static_cast<int>(Items) + linear_tid % warp_threads};
}

}  // namespace detail
STRATA_NAMESPACE_END
