// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/merge/agent.cuh>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// A block for each `tiles_per_block` tiles.
template <class MaxPolicy, class Arrays, class Compare>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.block_threads,
                  MaxPolicy::ActivePolicy::tuning.blocks_per_multiprocessor)
    STRATA_KERNEL void merge_ranges_kernel(const STRATA_GRID_CONSTANT Arrays arrays, Compare compare,
                                           unsigned long long tiles, unsigned long long tiles_per_block) {
  using Agent = AgentMerge<typename MaxPolicy::ActivePolicy, Arrays, Compare>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  const unsigned long long first = blockIdx.x * tiles_per_block, left = tiles - first;
  Agent(storage.Alias(), arrays, compare).merge(first, first + (left < tiles_per_block ? left : tiles_per_block));
}

STRATA_ARCH_DETAIL_NAMESPACE_END
