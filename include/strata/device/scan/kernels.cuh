// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform_bulk_copy.cuh>
#include <strata/core/types.hpp>
#include <strata/device/scan/agent_ring.cuh>
#include <strata/device/scan/agent_tiles.cuh>
#include <strata/device/scan/tuning.hpp>
#include <strata/device/scan/wave_sums.cuh>

#include <cstddef>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Which of a policy's tunings a kernel takes.
template <class Policy>
struct small_tiles {
  static constexpr scan_tile_tuning value = Policy::small_tile;
};
template <class Policy>
struct large_tiles {
  static constexpr scan_tile_tuning value = Policy::large_tile;
};

/// Scans by tiles held in registers: one for each block, or in waves of blocks that are all
/// resident.
template <class MaxPolicy, template <class> class Tiles, bool IsOneWave, class AccumT,
          class InputIterator, class OutputIterator, class ScanOp, bool IsInclusive, class InitT>
__launch_bounds__(Tiles<typename MaxPolicy::ActivePolicy>::value.block_threads,
                  Tiles<typename MaxPolicy::ActivePolicy>::value.blocks_per_multiprocessor)
    STRATA_KERNEL void scan_tiles_kernel(InputIterator d_in, OutputIterator d_out,
                                         std::size_t num_items, bool may_overwrite_input,
                                         ScanOp scan_op, InitT init,
                                         wave_sums_arguments exchange) {
  using Tuning = Tiles<typename MaxPolicy::ActivePolicy>;
  using Agent = AgentScanTiles<Tuning, IsOneWave, AccumT, InputIterator, OutputIterator, ScanOp,
                               IsInclusive, InitT>;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  STRATA_ASSERT(blockDim.x == Tuning::value.block_threads,
                "scan_tiles_kernel runs in a block of %u threads, its policy says %d", blockDim.x,
                Tuning::value.block_threads);

  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();

  Agent(shared.Alias(), d_in, d_out, num_items, may_overwrite_input, scan_op, init, exchange)
      .scan();
}

/// The ring that does the work of a form (see AgentRing).
template <class Policy, class Form>
using ring_of = AgentRing<typename Form::template work<Policy>>;

/// Goes through a ring of stages in dynamic shared memory. All blocks are resident.
template <class MaxPolicy, class Form>
__launch_bounds__(ring_of<typename MaxPolicy::ActivePolicy, Form>::block_threads,
                  ring_of<typename MaxPolicy::ActivePolicy, Form>::blocks_per_multiprocessor)
    STRATA_KERNEL void scan_ring_kernel(const STRATA_GRID_CONSTANT Form form,
                                        const STRATA_GRID_CONSTANT ring_shape shape,
                                        wave_sums_arguments exchange) {
  if constexpr (platform::has_bulk_copies) {
    using Agent = ring_of<typename MaxPolicy::ActivePolicy, Form>;
    STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
    STRATA_DYNAMIC_SHARED(stages);
    STRATA_ASSERT(blockDim.x == Agent::block_threads,
                  "scan_ring_kernel runs in a block of %u threads, its policy says %d", blockDim.x,
                  Agent::block_threads);

    platform::wait_for_previous_kernel();
    platform::launch_next_kernel();

    typename Form::template work<typename MaxPolicy::ActivePolicy> work(form, shape);
    Agent(shared.Alias(), stages, work, shape, exchange).run();
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END
