// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/transform/agent_transpose.cuh>
#include <strata/device/transform/transpose_tuning.hpp>

#include <cstdint>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// One tile per block, as far as a grid has blocks enough.
template <class MaxPolicy, int ElementBytes, int PieceBytes, transpose_kind Kind>
__launch_bounds__(transpose_row<typename MaxPolicy::ActivePolicy, Kind>().block_threads,
                  transpose_row<typename MaxPolicy::ActivePolicy, Kind>().blocks_per_multiprocessor)
    STRATA_KERNEL void transpose_kernel(const void* d_in, void* d_out,
                                        const STRATA_GRID_CONSTANT transpose_shape shape) {
  using Agent = AgentTranspose<typename MaxPolicy::ActivePolicy, ElementBytes, PieceBytes, Kind>;
  STRATA_SHARED(storage, typename Agent::TempStorage);
  STRATA_ASSERT(blockDim.x == Agent::tuning.block_threads,
                "transpose_kernel runs in a block of %u threads, its policy says %d", blockDim.x,
                Agent::tuning.block_threads);
  Agent agent{storage, static_cast<const typename Agent::element*>(d_in), static_cast<typename Agent::element*>(d_out),
              shape};

  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();

  for (std::uint64_t tile = blockIdx.x; tile < shape.tiles(); tile += gridDim.x) {
    if (tile != blockIdx.x) __syncthreads();  // The last tile has left shared memory.
    agent.transpose_tile_number(tile);
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END
