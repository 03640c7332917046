// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/transform/agent_batched_copy.cuh>
#include <strata/device/transform/batched_copy_tuning.hpp>

#include <cstddef>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// All buffers but for the bodies of long ones, `buffers_per_warp` (up to 32) for a warp at a time; those are queued.
/// With `IsQueue`, what has been queued.
template <class MaxPolicy, class Buffers, bool IsQueue>
__launch_bounds__(MaxPolicy::ActivePolicy::batched_copy.block_threads,
                  IsQueue ? blocks_of_queue<Buffers>(MaxPolicy::ActivePolicy::batched_copy)
                          : MaxPolicy::ActivePolicy::batched_copy.blocks_per_multiprocessor)
    STRATA_KERNEL void batched_copy_kernel(Buffers buffers, std::size_t num_buffers, unsigned buffers_per_warp,
                                           buffer_queue queue) {
  using Agent = AgentBatchedCopy<typename MaxPolicy::ActivePolicy, Buffers>;
  constexpr unsigned block_warps = MaxPolicy::ActivePolicy::batched_copy.block_threads / warp_threads;
  STRATA_SHARED(storage, typename Agent::TempStorage[block_warps]);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent agent(storage[threadIdx.x / warp_threads], buffers);
  const std::size_t warp = std::size_t{blockIdx.x} * block_warps + threadIdx.x / warp_threads;
  const std::size_t warps = std::size_t{gridDim.x} * block_warps;
  if constexpr (IsQueue) {
    agent.copy_share(static_cast<unsigned>(warp), static_cast<unsigned>(warps), queue);
  } else {
    for (std::size_t first = warp * buffers_per_warp; first < num_buffers; first += warps * buffers_per_warp) {
      const std::size_t rest = num_buffers - first;
      agent.copy_batch(first, rest < buffers_per_warp ? static_cast<unsigned>(rest) : buffers_per_warp, queue);
    }
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END
