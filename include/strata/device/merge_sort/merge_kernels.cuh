// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/merge_sort/agent_merge_ranges.cuh>
#include <strata/thread/thread_merge.cuh>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// For each tile, and behind the last: how many items of the first range come before it.
///
/// A warp searches for 32 neighbouring diagonals. Half a warp each searches for the first of them, and for the first of
/// the next warp. Then each lane searches between the two results, where at most the items of 32 tiles are left.
template <class MaxPolicy, class Arrays, class Compare>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.block_threads)
    STRATA_KERNEL void merge_splits_kernel(const STRATA_GRID_CONSTANT Arrays arrays, Compare compare,
                                           unsigned long long tiles, unsigned long long* splits) {
  using Diagonal = merge_diagonal<Arrays, Compare>;
  constexpr unsigned long long tile_items = AgentMerge<typename MaxPolicy::ActivePolicy, Arrays, Compare>::tile_items;
  constexpr unsigned half_warp = warp_threads / 2;
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  const unsigned lane = platform::lane_id();
  const unsigned long long tile = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const auto diagonal_of = [&](unsigned long long t) { return t < tiles ? t * tile_items : arrays.count(); };
  const unsigned long long begin = diagonal_of(tile - lane), end = diagonal_of(tile - lane + warp_threads);
  const Diagonal bound{arrays, compare, lane < half_warp ? begin : end};
  const unsigned long long found = detail::warp_partition_point(bound.first(), bound.last(), 4, bound);
  const unsigned long long begin1 = __shfl_sync(full_warp_mask, found, 0);
  const unsigned long long end1 = __shfl_sync(full_warp_mask, found, half_warp);
  if (tile > tiles) return;
  const Diagonal cut{arrays, compare, diagonal_of(tile)};
  const unsigned long long begin2 = begin - begin1, end2 = end - end1;
  const unsigned long long first = cut.diagonal > end2 ? cut.diagonal - end2 : 0, last = cut.diagonal - begin2;
  splits[tile] = detail::partition_point(detail::most(first, begin1), detail::least(last, end1), cut);
}

/// A block for each tile.
template <class MaxPolicy, class Arrays, class Compare>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.block_threads,
                  MaxPolicy::ActivePolicy::tuning.blocks_per_multiprocessor)
    STRATA_KERNEL void merge_ranges_kernel(const STRATA_GRID_CONSTANT Arrays arrays, Compare compare,
                                           const unsigned long long* splits) {
  using Agent = AgentMerge<typename MaxPolicy::ActivePolicy, Arrays, Compare>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(storage.Alias(), arrays, compare).merge(blockIdx.x, splits);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
