// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/requirements.hpp>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/announced_index.cuh>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/dispatch_if.cuh>
#include <strata/device/engine/last_block.cuh>
#include <strata/device/engine/tagged_word.cuh>
#include <strata/device/engine/tile_input.cuh>
#include <strata/device/find/agent_find.cuh>
#include <strata/device/find/tuning.hpp>

#include <cstddef>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The memory by which the blocks of FindIf communicate. Each block announces its matches. The last block to end
/// gathers the matches of all blocks.
struct find_arguments {
  last_block_gather<unsigned long long>::arguments gather;
  announced_index::arguments announced;
};

/// Finds the first match in one launch. The last block to end writes the minimum of all matches. If several blocks find
/// the matches of all blocks, each of them writes the same minimum.
template <class MaxPolicy, class InputIterator, class OutputIterator, class Predicate>
__launch_bounds__(MaxPolicy::ActivePolicy::find.block_threads, MaxPolicy::ActivePolicy::find.blocks_per_multiprocessor)
    STRATA_KERNEL void find_kernel(InputIterator d_in, OutputIterator d_out, find_share share,
                                   unsigned long long num_items, find_arguments arguments, Predicate predicate) {
  using Agent = AgentFind<typename MaxPolicy::ActivePolicy, Predicate>;
  using Gather = last_block_gather<unsigned long long>;
  struct shared_storage {
    typename Agent::TempStorage agent;
    typename Gather::TempStorage gather;
  };
  STRATA_SHARED(shared, Uninitialized<shared_storage>);
  STRATA_ASSERT(blockDim.x == MaxPolicy::ActivePolicy::find.block_threads,
                "find_kernel runs in a block of %u threads, its policy says %d", blockDim.x,
                MaxPolicy::ActivePolicy::find.block_threads);
  const announced_index announced(arguments.announced);
  Agent agent(shared.Alias().agent, predicate, announced, num_items);

  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();

  unsigned long long match = agent.find(d_in, share, blockIdx.x);
  if (gridDim.x > 1) {
    Gather gather(shared.Alias().gather, arguments.gather, blockIdx.x, gridDim.x);
    if (!gather.publish_and_collect_all(match)) return;
    match = agent.least_of_block(match);
    if (threadIdx.x == 0) announced.erase();
  }
  if (threadIdx.x == 0) detail::store_count(d_out, match);
}

template <class Policy>
using find_rows = if_rows<find_tuning, decltype(Policy::find)>;

/// One call of FindIf.
template <class InputIterator, class OutputIterator, class Predicate, class PolicyHub>
struct DispatchFind {
  static_assert(hub_has_rows<find_rows, PolicyHub>,
                "DeviceFind::FindIf: each policy in the chain of PolicyHub::MaxPolicy must name itself in its "
                "ChainedPolicy and have the member find (find_tuning)");
  using MaxPolicy = typename hub_or<find_rows, PolicyHub, find_policy_hub>::MaxPolicy;
  using T = iterator_value_t<InputIterator>;

  InputIterator d_in;
  OutputIterator d_out;
  Predicate predicate;
  std::size_t num_items;
  cudaStream_t stream;
  platform::tagged_word* words;
  device_properties device;

  template <class NumItemsT>
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                              OutputIterator d_out, Predicate predicate, NumItemsT num_items, cudaStream_t stream) {
    if (detail::refuses_input(d_in, num_items, "d_in") ||
        detail::refuses_count_type<declared_value_t<OutputIterator, unsigned long long>>(num_items, "d_out")) {
      return cudaErrorInvalidValue;
    }
    temporary_storage::layout<1> storage;
    storage.template reserve<platform::tagged_word>(0, max_find_blocks + 1);
    if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
    if ((num_items > 0 && detail::refuses_null(d_in, "d_in")) || detail::refuses_null(d_out, "d_out") ||
        detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes)) {
      return cudaErrorInvalidValue;
    }
    DispatchFind dispatch{d_in,      d_out,
                          predicate, static_cast<std::size_t>(num_items),
                          stream,    storage.template get<platform::tagged_word>(0),
                          {}};
    const cudaError_t status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    constexpr find_tuning tuning = ActivePolicy::find;
    static_assert(are_whole_warps(tuning.block_threads) && tuning.block_threads <= max_find_blocks,
                  "find_tuning::block_threads must be a multiple of 32 and must not exceed max_find_blocks, because "
                  "a block reads one match per thread");
    using Agent = AgentFind<ActivePolicy, Predicate>;
    const unsigned blocks = number_of_blocks(tuning);
    find_share share = find_share::cut(d_in, num_items, blocks, Agent::template interleaved_packs<InputIterator>,
                                       static_cast<std::size_t>(tuning.block_threads));
    share.evict_first_fraction = detail::evict_first_fraction(device.l2_bytes, num_items * sizeof(T));
    const unsigned long long epoch = next_epoch();
    return strata::launch({"strata::DeviceFind::FindIf", dim3(blocks), dim3(tuning.block_threads), 0, stream, 1,
                           device.ptx_version >= 900},
                          find_kernel<MaxPolicy, InputIterator, OutputIterator, Predicate>, d_in, d_out, share,
                          static_cast<unsigned long long>(num_items),
                          find_arguments{{words + 1, epoch}, {words, epoch}}, predicate);
  }

  unsigned number_of_blocks(const find_tuning& tuning) const {
    const std::size_t bytes = num_items * sizeof(T);
    if (bytes <= static_cast<std::size_t>(tuning.single_block_bytes)) return 1;
    std::size_t blocks =
        static_cast<std::size_t>(device.multiprocessors) * static_cast<unsigned>(tuning.blocks_per_multiprocessor);
    const auto at_most = [&](std::size_t limit) { blocks = detail::least(blocks, limit); };
    at_most(bytes / static_cast<std::size_t>(tuning.min_bytes_per_block));
    at_most(static_cast<std::size_t>(tuning.block_threads));
    at_most(even_share::max_blocks<InputIterator>(num_items));
    return blocks > 0 ? static_cast<unsigned>(blocks) : 1;
  }
};

/// Carries out one call of FindIf.
template <class PolicyHub, class InputIterator, class OutputIterator, class Predicate, class NumItemsT>
cudaError_t dispatch_find(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                          OutputIterator d_out, Predicate predicate, NumItemsT num_items, cudaStream_t stream) {
  constexpr bool is_possible = iterator_requirements<InputIterator>::are_met &&
                               output_requirements<OutputIterator>::are_met &&
                               predicate_requirements<Predicate, iterator_value_t<InputIterator>>::are_met;
  using Dispatcher = DispatchFind<InputIterator, OutputIterator, Predicate, PolicyHub>;
  return dispatch_if<is_possible, Dispatcher>::Dispatch(d_temp_storage, temp_storage_bytes, d_in, d_out, predicate,
                                                        num_items, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
