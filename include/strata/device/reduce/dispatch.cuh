// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/dispatch_if.cuh>
#include <strata/device/engine/last_block.cuh>
#include <strata/device/engine/tagged_word.cuh>
#include <strata/device/reduce/agent.cuh>
#include <strata/device/reduce/output.cuh>
#include <strata/device/reduce/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// What a block of a reduction has in shared memory.
template <class Agent, class Gather>
struct reduce_storage {
  typename Agent::TempStorage agent;
  typename Gather::TempStorage gather;
};

/// The input of a call with a FutureCount, which the kernel cuts into shares.
template <class NumItems>
struct uncut_input {
  NumItems num_items;
  float evict_first_fraction;
};

/// Each of `blocks` blocks reduces its share, and the last one stores the result.
template <class Gather, class Agent, class InputIterator, class OutputIterator, class InitT>
STRATA_D void reduce_and_store(Agent& agent, typename Gather::TempStorage& storage, InputIterator d_in,
                               OutputIterator d_out, const even_share& share, unsigned blocks,
                               const typename Gather::arguments& gather_arguments, const InitT& init) {
  typename Agent::accumulator_type result;
  const bool has_result = agent.reduce_share(d_in, share, blockIdx.x, 0, result);
  if (blocks > 1) {
    Gather gather(storage, gather_arguments, blockIdx.x, blocks);
    if (!gather.publish_and_collect(result)) return;
    result = agent.reduce_values(result, static_cast<int>(blocks));
    if (!gather.is_elected()) return;
  }
  if (threadIdx.x == 0) detail::store_result(agent, d_out, init, result, has_result);
}

/// Reduces the whole input in one launch. Each block reduces its share of the input, and the last block to publish its
/// result reduces the results of all blocks, in the order of the blocks. An empty input takes one block, which writes
/// `init`. `Share` is `even_share`, or the `uncut_input` of a FutureCount. With `uncut_input`, the grid may have more
/// blocks than `even_share::max_blocks` allows for the actual number of items. The blocks above this limit return at
/// once.
template <class MaxPolicy, class AccumT, class InputIterator, class OutputIterator, class Share, class ReductionOp,
          class TransformOp, class InitT>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.block_threads,
                  MaxPolicy::ActivePolicy::tuning.blocks_per_multiprocessor)
    STRATA_KERNEL void reduce_kernel(InputIterator d_in, OutputIterator d_out, Share share,
                                     typename last_block_gather<AccumT>::arguments gather_arguments,
                                     ReductionOp reduction_op, TransformOp transform_op, InitT init) {
  using Agent = AgentReduce<typename MaxPolicy::ActivePolicy, AccumT, ReductionOp, TransformOp>;
  using Gather = last_block_gather<AccumT>;
  using shared_storage = reduce_storage<Agent, Gather>;
  static_assert(sizeof(shared_storage) <= std::size_t{48} << 10,
                "the accumulator is too large: blocks of a reduction exchange results in 48 KB of shared memory. "
                "Reduce smaller parts of the accumulator in several calls");
  STRATA_SHARED(shared, Uninitialized<shared_storage>);
  STRATA_ASSERT(blockDim.x == MaxPolicy::ActivePolicy::tuning.block_threads,
                "reduce_kernel runs in a block of %u threads, its policy says %d", blockDim.x,
                MaxPolicy::ActivePolicy::tuning.block_threads);
  Agent agent(shared.Alias().agent, reduction_op, transform_op);

  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();

  if constexpr (std::is_same_v<Share, even_share>) {
    detail::reduce_and_store<Gather>(agent, shared.Alias().gather, d_in, d_out, share, gridDim.x, gather_arguments,
                                     init);
  } else {
    const std::size_t num_items = share.num_items.get();
    const std::size_t max_blocks = even_share::max_blocks<InputIterator>(num_items);
    const unsigned blocks = max_blocks < gridDim.x ? static_cast<unsigned>(max_blocks) : gridDim.x;
    if (blockIdx.x >= blocks) return;
    even_share cut = even_share::cut(d_in, num_items, blocks, Agent::template interleaved_packs<InputIterator>);
    cut.evict_first_fraction = share.evict_first_fraction;
    detail::reduce_and_store<Gather>(agent, shared.Alias().gather, d_in, d_out, cut, blocks, gather_arguments, init);
  }
}

/// Reduces a short input in one block, with little code. A single call is faster than by reduce_kernel, see README.md.
template <class MaxPolicy, class AccumT, class InputIterator, class OutputIterator, class ReductionOp,
          class TransformOp, class InitT>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.block_threads)
    STRATA_KERNEL void reduce_short_kernel(InputIterator d_in, OutputIterator d_out, unsigned num_items,
                                           ReductionOp reduction_op, TransformOp transform_op, InitT init) {
  using Agent = AgentReduce<typename MaxPolicy::ActivePolicy, AccumT, ReductionOp, TransformOp>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  Agent agent(storage.Alias(), reduction_op, transform_op);

  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();

  const AccumT result = agent.reduce_short(d_in, num_items);
  if (threadIdx.x == 0) detail::store_result(agent, d_out, init, result, true);
}

template <class Policy>
using reduce_rows = if_rows<reduce_tuning, decltype(Policy::tuning)>;

/// One call of a device-wide reduction. `num_items` is the number of items, in the form that kernels take. The host
/// knows that there are at most `max_items`.
template <class AccumT, class InputIterator, class OutputIterator, class ReductionOp, class TransformOp, class InitT,
          class PolicyHub = default_policy_hub, class NumItems = std::size_t>
struct DispatchReduce {
  static_assert(hub_has_rows<reduce_rows, PolicyHub>,
                "DeviceReduce: each policy in the chain of PolicyHub::MaxPolicy must name itself in its ChainedPolicy "
                "and have the member tuning (reduce_tuning)");
  using MaxPolicy = typename hub_or<reduce_rows, PolicyHub, reduce_policy_hub<AccumT>>::MaxPolicy;
  using Gather = last_block_gather<AccumT>;

  InputIterator d_in;
  OutputIterator d_out;
  std::size_t max_items;
  ReductionOp reduction_op;
  TransformOp transform_op;
  InitT init;
  cudaStream_t stream;
  device_properties device;
  platform::tagged_word* words;
  NumItems num_items;

  template <class NumItemsT>
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                              OutputIterator d_out, NumItemsT num_items, ReductionOp reduction_op,
                              TransformOp transform_op, InitT init, cudaStream_t stream) {
    const std::size_t max_items = detail::max_items(num_items);
    if (detail::refuses_input(d_in, num_items, "d_in") || detail::refuses_index(d_out, max_items)) {
      return cudaErrorInvalidValue;
    }
    temporary_storage::layout<1> storage;
    storage.template reserve<platform::tagged_word>(0, max_reduce_blocks * Gather::words_per_value);
    if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
    if ((max_items > 0 && detail::refuses_null(d_in, "d_in")) || detail::refuses_result(d_out) ||
        detail::refuses_null_count(num_items) || detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes)) {
      return cudaErrorInvalidValue;
    }
    DispatchReduce<AccumT, InputIterator, OutputIterator, ReductionOp, TransformOp, InitT, PolicyHub,
                   kernel_count_t<NumItemsT>>
        dispatch{d_in,
                 d_out,
                 max_items,
                 reduction_op,
                 transform_op,
                 init,
                 stream,
                 {},
                 storage.template get<platform::tagged_word>(0),
                 static_cast<kernel_count_t<NumItemsT>>(num_items)};
    const cudaError_t status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    constexpr reduce_tuning tuning = ActivePolicy::tuning;
    static_assert(tuning.block_threads <= max_reduce_blocks && tuning.block_threads <= 1024,
                  "reduce_tuning::block_threads must not exceed max_reduce_blocks: a grid has up to block_threads "
                  "blocks, and temporary storage has room for max_reduce_blocks results");
    static_assert(tuning.min_bytes_per_block > 0, "reduce_tuning::min_bytes_per_block must be above 0");
    using T = iterator_value_t<InputIterator>;

    const unsigned blocks = number_of_blocks(tuning, max_items * sizeof(T));
    const float evict_first = detail::evict_first_fraction(device.l2_bytes, max_items * sizeof(T));
    const launch_configuration configuration{
        "strata::DeviceReduce", dim3(blocks), dim3(tuning.block_threads), 0, stream, 1, device.ptx_version >= 900};
    using Agent = AgentReduce<ActivePolicy, AccumT, ReductionOp, TransformOp>;
    if constexpr (is_future_count<NumItems>) {
      return launch_kernel(configuration, uncut_input<NumItems>{num_items, evict_first});
    } else {
      constexpr std::size_t short_items = std::size_t{Agent::short_items} * tuning.block_threads;
      if (num_items > 0 && num_items <= short_items &&
          num_items * sizeof(T) <= static_cast<std::size_t>(tuning.single_block_bytes)) {
        return strata::launch(
            configuration,
            reduce_short_kernel<MaxPolicy, AccumT, InputIterator, OutputIterator, ReductionOp, TransformOp, InitT>,
            d_in, d_out, static_cast<unsigned>(num_items), reduction_op, transform_op, init);
      }
      even_share share = even_share::cut(d_in, num_items, blocks, Agent::template interleaved_packs<InputIterator>);
      share.evict_first_fraction = evict_first;
      return launch_kernel(configuration, share);
    }
  }

  template <class Share>
  cudaError_t launch_kernel(const launch_configuration& configuration, const Share& share) const {
    return strata::launch(
        configuration,
        reduce_kernel<MaxPolicy, AccumT, InputIterator, OutputIterator, Share, ReductionOp, TransformOp, InitT>, d_in,
        d_out, share, typename Gather::arguments{words, next_epoch()}, reduction_op, transform_op, init);
  }

  unsigned number_of_blocks(const reduce_tuning& tuning, std::size_t bytes) const {
    if (bytes <= static_cast<std::size_t>(tuning.single_block_bytes)) return 1;
    const auto multiprocessors = static_cast<std::size_t>(device.multiprocessors);
    const auto one_block_bytes = static_cast<std::size_t>(tuning.one_block_per_multiprocessor_bytes);
    std::size_t blocks = bytes / multiprocessors <= one_block_bytes
                             ? multiprocessors
                             : multiprocessors * static_cast<unsigned>(tuning.blocks_per_multiprocessor);
    const auto at_most = [&](std::size_t limit) { blocks = detail::least(blocks, limit); };
    at_most(bytes / static_cast<std::size_t>(tuning.min_bytes_per_block));
    at_most(static_cast<std::size_t>(tuning.block_threads));
    at_most(even_share::max_blocks<InputIterator>(max_items));
    return blocks > 0 ? static_cast<unsigned>(blocks) : 1;
  }
};

/// Carries out one call of a reduction, whose partial results have the type `AccumT`.
template <class AccumT, class PolicyHub, class InputIterator, class OutputIterator, class NumItemsT, class ReductionOp,
          class TransformOp, class InitT>
cudaError_t dispatch_reduce(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                            OutputIterator d_out, NumItemsT num_items, ReductionOp reduction_op,
                            TransformOp transform_op, InitT init, cudaStream_t stream) {
  constexpr bool is_possible = can_accumulate<ReductionOp, AccumT, InputIterator, OutputIterator>;
  using Dispatcher = DispatchReduce<AccumT, InputIterator, OutputIterator, ReductionOp, TransformOp, InitT, PolicyHub>;
  return dispatch_if<is_possible, Dispatcher>::Dispatch(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items,
                                                        reduction_op, transform_op, init, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
