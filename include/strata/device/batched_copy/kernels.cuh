// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/batched_copy/agent.cuh>
#include <strata/device/batched_copy/tuning.hpp>

#include <cstddef>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// All buffers but for the long ones, `buffers_per_warp` (up to 32) for a warp at a time.
template <class MaxPolicy, class Buffers>
__launch_bounds__(MaxPolicy::ActivePolicy::batched_copy.block_threads,
                  MaxPolicy::ActivePolicy::batched_copy.blocks_per_multiprocessor)
    STRATA_KERNEL void batched_copy_kernel(Buffers buffers, std::size_t num_buffers, unsigned buffers_per_warp,
                                           buffer_queue queue) {
  using Agent = AgentBatchedCopy<typename MaxPolicy::ActivePolicy, Buffers>;
  constexpr unsigned block_warps = MaxPolicy::ActivePolicy::batched_copy.block_threads / warp_threads;
  STRATA_SHARED(storage, typename Agent::TempStorage[block_warps]);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  const unsigned warp = threadIdx.x / warp_threads;
  Agent agent(storage[warp], buffers);
  const std::size_t step = std::size_t{gridDim.x} * block_warps * buffers_per_warp;
  for (std::size_t first = (std::size_t{blockIdx.x} * block_warps + warp) * buffers_per_warp; first < num_buffers;
       first += step) {
    const std::size_t rest = num_buffers - first;
    agent.copy_batch(first, rest < buffers_per_warp ? static_cast<unsigned>(rest) : buffers_per_warp, queue);
  }
}

/// The long buffers.
template <class MaxPolicy, class Buffers>
__launch_bounds__(MaxPolicy::ActivePolicy::batched_copy.block_threads,
                  MaxPolicy::ActivePolicy::batched_copy.blocks_per_multiprocessor)
    STRATA_KERNEL void batched_copy_queued_kernel(Buffers buffers, buffer_queue queue) {
  using Agent = AgentBatchedCopy<typename MaxPolicy::ActivePolicy, Buffers>;
  constexpr unsigned block_warps = MaxPolicy::ActivePolicy::batched_copy.block_threads / warp_threads;
  STRATA_SHARED(storage, typename Agent::TempStorage[block_warps]);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  const unsigned warp = threadIdx.x / warp_threads;
  Agent(storage[warp], buffers).copy_share(blockIdx.x * block_warps + warp, gridDim.x * block_warps, queue);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
