// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/last_block.cuh>
#include <strata/device/reduce/agent_segmented.cuh>
#include <strata/device/reduce/agent_segmented_one_launch.cuh>
#include <strata/device/reduce/segmented_chunks.cuh>

#include <cstddef>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

template <class Storage>
inline constexpr bool segmented_storage_fits = sizeof(Storage) <= std::size_t{48} << 10;

/// Many segments: each block reduces a batch. `segmented_reduce_chunks_kernel` reduces the chunks that it queues.
template <class MaxPolicy, class AccumT, class InputIterator, class OutputIterator, class Segments, class ReductionOp,
          class TransformOp, class InitT>
__launch_bounds__(MaxPolicy::ActivePolicy::segmented.block_threads,
                  MaxPolicy::ActivePolicy::segmented.blocks_per_multiprocessor)
    STRATA_KERNEL void segmented_reduce_kernel(InputIterator d_in, OutputIterator d_out, Segments segments,
                                               long long num_segments, int segments_per_warp, chunk_queue<AccumT> queue,
                                               ReductionOp reduction_op, TransformOp transform_op, InitT init) {
  using Agent = AgentSegmentedReduce<typename MaxPolicy::ActivePolicy, AccumT, InputIterator, OutputIterator, Segments,
                                     ReductionOp, TransformOp, InitT>;
  static_assert(segmented_storage_fits<typename Agent::TempStorage>,
                "segmented reductions keep a result for each thread of a block in 48 KB of shared "
                "memory: the accumulator is too large, reduce its parts one after the other");
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  constexpr int block_warps = MaxPolicy::ActivePolicy::segmented.block_threads / warp_threads;
  const long long first_segment = static_cast<long long>(blockIdx.x) * block_warps * segments_per_warp;
  Agent(storage.Alias(), d_in, d_out, segments, reduction_op, transform_op, init)
      .reduce_batch(first_segment, num_segments, segments_per_warp, queue);
}

/// The chunks of long segments; blocks take them in turn.
template <class MaxPolicy, class AccumT, class InputIterator, class OutputIterator, class Segments, class ReductionOp,
          class TransformOp, class InitT>
__launch_bounds__(MaxPolicy::ActivePolicy::segmented.block_threads,
                  MaxPolicy::ActivePolicy::segmented.blocks_per_multiprocessor)
    STRATA_KERNEL void segmented_reduce_chunks_kernel(InputIterator d_in, OutputIterator d_out, Segments segments,
                                                      chunk_queue<AccumT> queue, ReductionOp reduction_op,
                                                      TransformOp transform_op, InitT init) {
  using Agent = AgentSegmentedReduce<typename MaxPolicy::ActivePolicy, AccumT, InputIterator, OutputIterator, Segments,
                                     ReductionOp, TransformOp, InitT>;
  static_assert(segmented_storage_fits<typename Agent::TempStorage>,
                "segmented reductions keep a result for each thread of a block in 48 KB of shared "
                "memory: the accumulator is too large, reduce its parts one after the other");
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent agent(storage.Alias(), d_in, d_out, segments, reduction_op, transform_op, init);
  const unsigned pushed = *queue.num_chunks;
  const unsigned num_chunks = detail::least(pushed, max_chunks);
  for (unsigned chunk = blockIdx.x; chunk < num_chunks; chunk += gridDim.x) {
    agent.reduce_queued_chunk(chunk, queue);
  }
}

/// Up to `max_one_launch_segments` segments in one launch.
template <class MaxPolicy, class AccumT, class InputIterator, class OutputIterator, class Segments, class ReductionOp,
          class TransformOp, class InitT>
__launch_bounds__(MaxPolicy::ActivePolicy::one_launch_tuning.block_threads,
                  MaxPolicy::ActivePolicy::one_launch_tuning.blocks_per_multiprocessor)
    STRATA_KERNEL void segmented_reduce_one_launch_kernel(InputIterator d_in, OutputIterator d_out, Segments segments,
                                                          long long num_segments,
                                                          typename last_block_gather<AccumT>::arguments gather,
                                                          ReductionOp reduction_op, TransformOp transform_op,
                                                          InitT init) {
  using Agent = AgentSegmentedReduceOneLaunch<typename MaxPolicy::ActivePolicy, AccumT, InputIterator, OutputIterator,
                                              Segments, ReductionOp, TransformOp, InitT>;
  static_assert(segmented_storage_fits<typename Agent::TempStorage>,
                "segmented reductions keep a result for each thread of a block in 48 KB of shared "
                "memory: the accumulator is too large, reduce its parts one after the other");
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent agent(storage.Alias(), num_segments, d_in, d_out, segments, reduction_op, transform_op, init);
  const bool has_long = agent.find_long_segments();
  agent.reduce_in_turn(blockIdx.x, gridDim.x);
  if (has_long) agent.reduce_share_of_long(blockIdx.x, gridDim.x, gather);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
