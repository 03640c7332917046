// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/radix_sort/agent_segmented.cuh>
#include <strata/device/radix_sort/long_segments.cuh>
#include <strata/device/radix_sort/problem.cuh>
#include <strata/device/radix_sort/segmented_tuning.hpp>

#include <cstddef>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Sorts all segments but the long ones, which it lists. Blocks take them by tickets.
template <class MaxPolicy, bool HasValues, class Key, class Value, class Segments, class Digits>
__launch_bounds__(MaxPolicy::ActivePolicy::segmented.block_threads,
                  MaxPolicy::ActivePolicy::segmented.blocks_per_multiprocessor)
    STRATA_KERNEL void segmented_radix_sort_kernel(
        const STRATA_GRID_CONSTANT radix_buffers<const Key*, Key> keys,
        const STRATA_GRID_CONSTANT radix_buffers<const Value*, Value> values, std::size_t num_items,
        const STRATA_GRID_CONSTANT radix_bit_range range, const STRATA_GRID_CONSTANT Digits digits, radix_result result,
        Segments segments, unsigned long long num_segments, int segments_per_ticket,
        const STRATA_GRID_CONSTANT long_segments_of<Digits> long_segments, segmented_radix_sort_progress* progress) {
  using Policy = typename MaxPolicy::ActivePolicy;
  using Agent = AgentSegmentedRadixSort<Policy, HasValues, Key, Value, Segments, Digits>;
  STRATA_DYNAMIC_SHARED(shared);
  STRATA_ASSERT(blockDim.x == Policy::segmented.block_threads,
                "segmented_radix_sort_kernel runs in a block of %u threads, its policy says %d", blockDim.x,
                Policy::segmented.block_threads);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared, keys, values, num_items, range, digits, result, long_segments, progress)
      .sort(segments, num_segments, segments_per_ticket);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
