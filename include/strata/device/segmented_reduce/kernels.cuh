// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/reduce/grid_exchange.cuh>
#include <strata/device/reduce/output.cuh>
#include <strata/device/segmented_reduce/agent.cuh>
#include <strata/device/segmented_reduce/segments.cuh>

#include <cstddef>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Many segments: each block a batch. Long segments go to the queue, of which
/// `segmented_reduce_chunks_kernel` takes care.
template <class MaxPolicy, class AccumT, class InputIterator, class OutputIterator, class Segments,
          class ReductionOp, class TransformOp, class InitT>
__launch_bounds__(MaxPolicy::ActivePolicy::segmented.block_threads,
                  MaxPolicy::ActivePolicy::segmented.blocks_per_multiprocessor)
    STRATA_KERNEL void segmented_reduce_kernel(InputIterator d_in, OutputIterator d_out,
                                               Segments segments, long long num_segments,
                                               int segments_per_warp, chunk_queue<AccumT> queue,
                                               ReductionOp reduction_op, TransformOp transform_op,
                                               InitT init) {
  using Agent = AgentSegmentedReduce<typename MaxPolicy::ActivePolicy, AccumT, InputIterator,
                                     OutputIterator, Segments, ReductionOp, TransformOp, InitT>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  constexpr int block_warps = MaxPolicy::ActivePolicy::segmented.block_threads / warp_threads;
  const long long first_segment =
      static_cast<long long>(blockIdx.x) * block_warps * segments_per_warp;
  Agent(storage.Alias(), d_in, d_out, segments, reduction_op, transform_op, init)
      .reduce_batch(first_segment, num_segments, segments_per_warp, queue);
}

/// The chunks of long segments, in turn.
template <class MaxPolicy, class AccumT, class InputIterator, class OutputIterator, class Segments,
          class ReductionOp, class TransformOp, class InitT>
__launch_bounds__(MaxPolicy::ActivePolicy::segmented.block_threads,
                  MaxPolicy::ActivePolicy::segmented.blocks_per_multiprocessor)
    STRATA_KERNEL void segmented_reduce_chunks_kernel(InputIterator d_in, OutputIterator d_out,
                                                      Segments segments, chunk_queue<AccumT> queue,
                                                      ReductionOp reduction_op,
                                                      TransformOp transform_op, InitT init) {
  using Agent = AgentSegmentedReduce<typename MaxPolicy::ActivePolicy, AccumT, InputIterator,
                                     OutputIterator, Segments, ReductionOp, TransformOp, InitT>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent agent(storage.Alias(), d_in, d_out, segments, reduction_op, transform_op, init);
  const unsigned pushed = *queue.num_chunks;
  const unsigned num_chunks = pushed < max_chunks ? pushed : max_chunks;
  for (unsigned chunk = blockIdx.x; chunk < num_chunks; chunk += gridDim.x) {
    agent.reduce_queued_chunk(chunk, queue);
  }
}

/// Few segments, one launch: `blocks_per_segment` blocks for each, of which a short segment uses
/// one.
template <class MaxPolicy, class AccumT, class InputIterator, class OutputIterator, class Segments,
          class ReductionOp, class TransformOp, class InitT>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.block_threads,
                  MaxPolicy::ActivePolicy::tuning.blocks_per_multiprocessor)
    STRATA_KERNEL void few_segments_reduce_kernel(
        InputIterator d_in, OutputIterator d_out, Segments segments, unsigned blocks_per_segment,
        typename grid_exchange<AccumT>::arguments exchange_arguments, ReductionOp reduction_op,
        TransformOp transform_op, InitT init) {
  using Policy = typename MaxPolicy::ActivePolicy;
  using Agent = AgentReduce<Policy, AccumT, ReductionOp, TransformOp>;
  using Exchange = grid_exchange<AccumT>;
  struct shared_storage {
    typename Agent::TempStorage agent;
    typename Exchange::TempStorage exchange;
  };
  STRATA_SHARED(shared, Uninitialized<shared_storage>);
  Agent agent(shared.Alias().agent, reduction_op, transform_op);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();

  const unsigned segment = blockIdx.x / blocks_per_segment;
  const unsigned rank = blockIdx.x % blocks_per_segment;
  const segment_bounds bounds = segments(segment);
  // As many blocks as have something to do: enough bytes, and at least one granule each.
  constexpr long long item_bytes = sizeof(iterator_value_t<InputIterator>);
  constexpr long long min_items = Policy::tuning.min_bytes_per_block / item_bytes;
  constexpr long long items_per_block =
      min_items > 16 * 16 ? min_items : 16 * 16;  // a granule of 8 packs of up to 16 items, twice
  const long long wanted = bounds.length / items_per_block;
  const unsigned blocks = wanted < 1                    ? 1
                          : wanted < blocks_per_segment ? static_cast<unsigned>(wanted)
                                                        : blocks_per_segment;
  if (rank >= blocks) return;

  using difference = typename std::iterator_traits<InputIterator>::difference_type;
  const auto d_segment = d_in + static_cast<difference>(bounds.begin);
  const even_share share =
      even_share::cut(d_segment, static_cast<std::size_t>(bounds.length), blocks);
  AccumT result;
  const bool has_result = agent.reduce_share(d_segment, share, rank, 0, result);
  if (blocks > 1) {
    exchange_arguments.packets +=
        static_cast<std::size_t>(segment) * blocks_per_segment * Exchange::packets_per_value;
    Exchange exchange(shared.Alias().exchange, exchange_arguments, rank, blocks);
    if (!exchange.publish_and_collect(result)) return;
    result = agent.reduce_values(result, static_cast<int>(blocks));
    if (!exchange.is_winner()) return;
  }
  if (threadIdx.x == 0) {
    store_result(agent, d_out + static_cast<std::ptrdiff_t>(segment), init, result, has_result);
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END
