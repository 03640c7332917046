// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/scan/agent_segmented.cuh>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Scans segments that end at `ends` in their logical sequence. All blocks are resident.
template <class MaxPolicy, class AccumT, class InputIterator, class OutputIterator, class Begins, class Index,
          class ScanOp, bool IsInclusive, class InitT>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.block_threads,
                  MaxPolicy::ActivePolicy::tuning.blocks_per_multiprocessor)
    STRATA_KERNEL void segmented_scan_kernel(InputIterator d_in, OutputIterator d_out, const Begins begins,
                                             const unsigned long long* ends, Index num_segments, ScanOp scan_op,
                                             InitT init, tile_aggregates_arguments exchange) {
  using Policy = typename MaxPolicy::ActivePolicy;
  using Agent =
      AgentSegmentedScan<Policy, AccumT, InputIterator, OutputIterator, Begins, Index, ScanOp, IsInclusive, InitT>;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  STRATA_ASSERT(blockDim.x == Policy::tuning.block_threads,
                "segmented_scan_kernel runs in a block of %u threads, its policy says %d", blockDim.x,
                Policy::tuning.block_threads);

  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();

  Agent(shared.Alias(), d_in, d_out, begins, ends, num_segments, scan_op, init).scan(exchange);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
