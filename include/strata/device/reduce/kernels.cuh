// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/reduce/agent.cuh>
#include <strata/device/reduce/grid_exchange.cuh>
#include <strata/device/reduce/input.cuh>
#include <strata/device/reduce/output.cuh>

#include <cstddef>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Reduces the whole input in one launch: each block its share, and the last block to finish all
/// the blocks' results, in the order of the input. With an empty input the grid has one block,
/// which writes `init`.
template <class MaxPolicy, class AccumT, class InputIterator, class OutputIterator,
          class ReductionOp, class TransformOp, class InitT>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.block_threads,
                  MaxPolicy::ActivePolicy::tuning.blocks_per_multiprocessor)
    STRATA_KERNEL void reduce_kernel(InputIterator d_in, OutputIterator d_out, even_share share,
                                     typename grid_exchange<AccumT>::arguments exchange_arguments,
                                     ReductionOp reduction_op, TransformOp transform_op,
                                     InitT init) {
  using Agent = AgentReduce<typename MaxPolicy::ActivePolicy, AccumT, ReductionOp, TransformOp>;
  using Exchange = grid_exchange<AccumT>;
  struct shared_storage {
    typename Agent::TempStorage agent;
    typename Exchange::TempStorage exchange;
  };
  static_assert(
      sizeof(shared_storage) <= std::size_t{48} << 10,
      "blocks of a reduction exchange results in 48 KB of shared memory: the accumulator is "
      "too large, reduce smaller parts of it one after the other");
  STRATA_SHARED(shared, Uninitialized<shared_storage>);
  STRATA_ASSERT(blockDim.x == MaxPolicy::ActivePolicy::tuning.block_threads,
                "reduce_kernel runs in a block of %u threads, its policy says %d", blockDim.x,
                MaxPolicy::ActivePolicy::tuning.block_threads);
  Agent agent(shared.Alias().agent, reduction_op, transform_op);

  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();

  AccumT result;
  const bool has_result = agent.reduce_share(d_in, share, blockIdx.x, 0, result);
  if (gridDim.x > 1) {
    Exchange exchange(shared.Alias().exchange, exchange_arguments, blockIdx.x, gridDim.x);
    if (!exchange.publish_and_collect(result)) return;
    result = agent.reduce_values(result, static_cast<int>(gridDim.x));
    if (!exchange.is_winner()) return;
  }
  if (threadIdx.x == 0) {
    detail::store_result(agent, d_out, init, result, has_result);
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END
