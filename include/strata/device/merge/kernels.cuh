// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/merge/agent.cuh>
#include <strata/thread/thread_merge.cuh>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// For each tile, and behind the last: how many items of the first range come before it.
template <class MaxPolicy, class Arrays, class Compare>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.block_threads)
    STRATA_KERNEL void merge_splits_kernel(const STRATA_GRID_CONSTANT Arrays arrays, Compare compare,
                                           unsigned long long tiles, unsigned long long* splits) {
  constexpr unsigned long long tile_items = AgentMerge<typename MaxPolicy::ActivePolicy, Arrays, Compare>::tile_items;
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  const unsigned long long tile = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (tile > tiles) return;
  const merge_diagonal<Arrays, Compare> cut{arrays, compare, tile < tiles ? tile * tile_items : arrays.count()};
  splits[tile] = detail::partition_point(cut.first(), cut.last(), cut);
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
