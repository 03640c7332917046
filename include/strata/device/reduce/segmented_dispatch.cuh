// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/dispatch_if.cuh>
#include <strata/device/engine/last_block.cuh>
#include <strata/device/engine/tagged_word.cuh>
#include <strata/device/reduce/agent_segmented.cuh>
#include <strata/device/reduce/agent_segmented_one_launch.cuh>
#include <strata/device/reduce/segmented_tuning.hpp>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

template <class Agent>
STRATA_HD constexpr void check_segmented_storage() {
  static_assert(sizeof(typename Agent::TempStorage) <= std::size_t{48} << 10,
                "the accumulator is too large: segmented reductions keep results of up to 256 chunks in 48 KB of "
                "shared memory. Reduce smaller parts of the accumulator in several calls");
}

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
  detail::check_segmented_storage<Agent>();
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  constexpr int block_warps = MaxPolicy::ActivePolicy::segmented.block_threads / warp_threads;
  const long long first_segment = static_cast<long long>(blockIdx.x) * block_warps * segments_per_warp;
  Agent(storage.Alias(), d_in, d_out, segments, reduction_op, transform_op, init)
      .reduce_batch(first_segment, num_segments, segments_per_warp, queue);
}

/// Reduces the chunks of long segments. Blocks take them in turn.
template <class MaxPolicy, class AccumT, class InputIterator, class OutputIterator, class Segments, class ReductionOp,
          class TransformOp, class InitT>
__launch_bounds__(MaxPolicy::ActivePolicy::segmented.block_threads,
                  MaxPolicy::ActivePolicy::segmented.blocks_per_multiprocessor)
    STRATA_KERNEL void segmented_reduce_chunks_kernel(InputIterator d_in, OutputIterator d_out, Segments segments,
                                                      chunk_queue<AccumT> queue, ReductionOp reduction_op,
                                                      TransformOp transform_op, InitT init) {
  using Agent = AgentSegmentedReduce<typename MaxPolicy::ActivePolicy, AccumT, InputIterator, OutputIterator, Segments,
                                     ReductionOp, TransformOp, InitT>;
  detail::check_segmented_storage<Agent>();
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

/// Reduces up to `max_one_launch_segments` segments in one launch.
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
  detail::check_segmented_storage<Agent>();
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent agent(storage.Alias(), num_segments, d_in, d_out, segments, reduction_op, transform_op, init);
  const bool has_long = agent.find_long_segments();
  agent.reduce_in_turn(blockIdx.x, gridDim.x);
  if (has_long) agent.reduce_share_of_long(blockIdx.x, gridDim.x, gather);
}

template <class Policy>
using segmented_reduce_rows =
    std::void_t<if_rows<segmented_reduce_tuning, decltype(Policy::segmented)>,
                if_rows<reduce_tuning, decltype(Policy::tuning), decltype(Policy::one_launch_tuning)>>;

/// One call of a segmented reduction.
template <class AccumT, class InputIterator, class OutputIterator, class Segments, class ReductionOp, class TransformOp,
          class InitT, class PolicyHub = default_policy_hub>
struct DispatchSegmentedReduce {
  static_assert(hub_has_rows<segmented_reduce_rows, PolicyHub>,
                "DeviceSegmentedReduce: each policy in the chain of PolicyHub::MaxPolicy must name itself in its "
                "ChainedPolicy and have the members segmented (segmented_reduce_tuning), tuning and one_launch_tuning "
                "(reduce_tuning)");
  using MaxPolicy = typename hub_or<segmented_reduce_rows, PolicyHub, segmented_reduce_policy_hub<AccumT>>::MaxPolicy;
  using Gather = last_block_gather<AccumT>;

  InputIterator d_in;
  OutputIterator d_out;
  Segments segments;
  long long num_segments;
  ReductionOp reduction_op;
  TransformOp transform_op;
  InitT init;
  cudaStream_t stream;
  device_properties device;
  platform::tagged_word* words;
  chunk_queue<AccumT> queue;

  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                              OutputIterator d_out, Segments segments, long long num_segments, ReductionOp reduction_op,
                              TransformOp transform_op, InitT init, cudaStream_t stream) {
    if (!segments.have_valid_counts(num_segments) || !segments.have_valid_types(d_in, d_out, num_segments)) {
      return cudaErrorInvalidValue;
    }
    temporary_storage::layout<4> storage;
    // Tagged words are reserved in every case, so that the size never shrinks when the number of segments grows.
    storage.template reserve<platform::tagged_word>(0, 2 * max_one_launch_blocks * Gather::words_per_value);
    if (num_segments > max_one_launch_segments<AccumT>) {
      storage.template reserve<unsigned>(1, 1);
      storage.template reserve<queued_chunk>(2, max_chunks);
      storage.template reserve<unsigned>(3, max_chunks);
      storage.template reserve<AccumT>(0, max_chunks);  // never in use together with the words
    }
    if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
    if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    if (num_segments == 0) return cudaSuccess;
    if (detail::refuses_null(d_out, "d_out") || !segments.are_valid(d_in, d_out, num_segments)) {
      return cudaErrorInvalidValue;
    }

    DispatchSegmentedReduce dispatch{d_in,
                                     d_out,
                                     segments,
                                     num_segments,
                                     reduction_op,
                                     transform_op,
                                     init,
                                     stream,
                                     {},
                                     storage.template get<platform::tagged_word>(0),
                                     {storage.template get<unsigned>(1), storage.template get<queued_chunk>(2),
                                      storage.template get<unsigned>(3), storage.template get<AccumT>(0)}};
    const cudaError_t status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    return num_segments <= max_one_launch_segments<AccumT> ? reduce_in_one_launch<ActivePolicy>()
                                                           : reduce_many_segments<ActivePolicy>();
  }

  long long resident_blocks(int blocks_per_multiprocessor) const {
    return static_cast<long long>(device.multiprocessors) * blocks_per_multiprocessor;
  }

  template <class ActivePolicy>
  cudaError_t reduce_in_one_launch() {
    constexpr reduce_tuning tuning = ActivePolicy::one_launch_tuning;
    constexpr int block_warps = tuning.block_threads / warp_threads;
    using Agent = AgentSegmentedReduceOneLaunch<ActivePolicy, AccumT, InputIterator, OutputIterator, Segments,
                                                ReductionOp, TransformOp, InitT>;
    // A segment of unknown length may need all resident blocks.
    long long blocks = resident_blocks(tuning.blocks_per_multiprocessor);
    blocks = detail::least(blocks, max_one_launch_blocks);
    if (!segments.may_exceed(Agent::max_items_of_warp(num_segments))) {
      const long long enough = ceiling_divide<long long>(num_segments, block_warps);
      blocks = detail::least(enough, blocks);
    }
    return strata::launch({"strata::DeviceSegmentedReduce", dim3(static_cast<unsigned>(blocks)),
                           dim3(tuning.block_threads), 0, stream, 1, has_programmatic()},
                          segmented_reduce_one_launch_kernel<MaxPolicy, AccumT, InputIterator, OutputIterator, Segments,
                                                             ReductionOp, TransformOp, InitT>,
                          d_in, d_out, segments, num_segments, typename Gather::arguments{words, next_epoch()},
                          reduction_op, transform_op, init);
  }

  template <class ActivePolicy>
  cudaError_t reduce_many_segments() {
    constexpr segmented_reduce_tuning tuning = ActivePolicy::segmented;
    const long long resident = resident_blocks(tuning.blocks_per_multiprocessor);
    constexpr int block_warps = tuning.block_threads / warp_threads;
    using Agent = AgentSegmentedReduce<ActivePolicy, AccumT, InputIterator, OutputIterator, Segments, ReductionOp,
                                       TransformOp, InitT>;

    // Small batches balance better, large ones cost less per segment. A warp takes up to one segment for each lane. It
    // takes fewer if there would be less than four such sets for each resident warp.
    int segments_per_warp = warp_threads;
    while (segments_per_warp > 1 && num_segments / segments_per_warp < 4 * resident * block_warps) {
      segments_per_warp /= 2;
    }
    const long long blocks =
        ceiling_divide<long long>(num_segments, static_cast<long long>(block_warps) * segments_per_warp);
    if (detail::refuses_blocks(blocks > 0x7fffffff, "num_segments")) return cudaErrorInvalidValue;

    const bool may_have_chunks = segments.may_exceed(Agent::max_unqueued_items);
    cudaError_t status = cudaSuccess;
    if (may_have_chunks) status = cudaMemsetAsync(queue.num_chunks, 0, sizeof(*queue.num_chunks), stream);
    if (status != cudaSuccess) return status;
    status =
        strata::launch({"strata::DeviceSegmentedReduce (batches)", dim3(static_cast<unsigned>(blocks)),
                        dim3(tuning.block_threads), 0, stream, 1, has_programmatic()},
                       segmented_reduce_kernel<MaxPolicy, AccumT, InputIterator, OutputIterator, Segments, ReductionOp,
                                               TransformOp, InitT>,
                       d_in, d_out, segments, num_segments, segments_per_warp, queue, reduction_op, transform_op, init);
    if (status != cudaSuccess || !may_have_chunks) return status;
    return strata::launch({"strata::DeviceSegmentedReduce (chunks)", dim3(static_cast<unsigned>(resident)),
                           dim3(tuning.block_threads), 0, stream, 1, has_programmatic()},
                          segmented_reduce_chunks_kernel<MaxPolicy, AccumT, InputIterator, OutputIterator, Segments,
                                                         ReductionOp, TransformOp, InitT>,
                          d_in, d_out, segments, queue, reduction_op, transform_op, init);
  }

  bool has_programmatic() const { return device.ptx_version >= 900; }
};

/// Carries out one call of a segmented reduction, whose partial results have the type `AccumT`.
template <class AccumT, class PolicyHub, class InputIterator, class OutputIterator, class Segments, class ReductionOp,
          class TransformOp, class InitT>
cudaError_t dispatch_segmented_reduce(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                                      OutputIterator d_out, const Segments& segments, long long num_segments,
                                      ReductionOp reduction_op, TransformOp transform_op, InitT init,
                                      cudaStream_t stream) {
  constexpr bool is_possible = can_accumulate<ReductionOp, AccumT, InputIterator, OutputIterator>;
  using Dispatcher = DispatchSegmentedReduce<AccumT, InputIterator, OutputIterator, Segments, ReductionOp, TransformOp,
                                             InitT, PolicyHub>;
  return dispatch_if<is_possible, Dispatcher>::Dispatch(d_temp_storage, temp_storage_bytes, d_in, d_out, segments,
                                                        num_segments, reduction_op, transform_op, init, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
