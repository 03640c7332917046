// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/agent_block.cuh>
#include <strata/device/radix_sort/agent_cluster.cuh>
#include <strata/device/radix_sort/agent_count_words.cuh>
#include <strata/device/radix_sort/agent_expand.cuh>
#include <strata/device/radix_sort/agent_expand_words.cuh>
#include <strata/device/radix_sort/agent_grid.cuh>
#include <strata/device/radix_sort/agent_histogram.cuh>
#include <strata/device/radix_sort/agent_pass.cuh>
#include <strata/device/radix_sort/tuning.hpp>
#include <strata/device/radix_sort/workspace.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Which of a policy's tunings a kernel takes.
template <class Policy>
struct small_radix_block {
  static constexpr radix_block_tuning value = Policy::small_block;
};
template <class Policy>
struct large_radix_block {
  static constexpr radix_block_tuning value = Policy::large_block;
};

/// Sorts in one block.
template <class MaxPolicy, template <class> class BlockTuning, class KeyIterator,
          class ValueIterator, class Value, class Digits>
__launch_bounds__(BlockTuning<typename MaxPolicy::ActivePolicy>::value.block_threads, 1)
    STRATA_KERNEL void radix_block_kernel(KeyIterator keys_in,
                                          iterator_value_t<KeyIterator>* keys_out,
                                          ValueIterator values_in, Value* values_out, int num_items,
                                          radix_bit_range range, Digits digits) {
  using Agent = AgentRadixBlock<BlockTuning<typename MaxPolicy::ActivePolicy>, KeyIterator,
                                ValueIterator, Digits>;
  STRATA_DYNAMIC_SHARED(shared);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared, num_items, range, digits).sort(keys_in, keys_out, values_in, values_out);
}

/// Sorts in one cluster.
template <class MaxPolicy, class KeyIterator, class ValueIterator, class Value, class Digits>
__launch_bounds__(MaxPolicy::ActivePolicy::cluster.block_threads, 1) STRATA_KERNEL
    void radix_cluster_kernel(KeyIterator keys_in, iterator_value_t<KeyIterator>* keys_out,
                              ValueIterator values_in, Value* values_out, int num_items,
                              int tile_bits, radix_bit_range range, Digits digits) {
  if constexpr (MaxPolicy::ActivePolicy::cluster.blocks > 0) {
    using Agent =
        AgentRadixCluster<typename MaxPolicy::ActivePolicy, KeyIterator, ValueIterator, Digits>;
    STRATA_DYNAMIC_SHARED(shared);
    platform::wait_for_previous_kernel();
    platform::launch_next_kernel();
    Agent(shared, num_items, tile_bits, range, digits)
        .sort(keys_in, keys_out, values_in, values_out);
  }
}

/// Sorts in one launch. All blocks are resident.
template <class MaxPolicy, class KeyIterator, class ValueIterator, class Value, class Digits>
__launch_bounds__(MaxPolicy::ActivePolicy::grid.block_threads,
                  MaxPolicy::ActivePolicy::grid.blocks_per_multiprocessor) STRATA_KERNEL
    void radix_grid_kernel(
        const STRATA_GRID_CONSTANT radix_places<KeyIterator, iterator_value_t<KeyIterator>> keys,
        const STRATA_GRID_CONSTANT radix_places<ValueIterator, Value> values, unsigned num_items,
        int rows, radix_bit_range range, Digits digits, radix_grid_workspace workspace) {
  using Agent =
      AgentRadixGrid<typename MaxPolicy::ActivePolicy, KeyIterator, ValueIterator, Digits>;
  STRATA_DYNAMIC_SHARED(shared);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared, keys, values, num_items, rows, range, digits, workspace).run();
}

/// Counts all digits, and plans the passes. All blocks are resident.
template <class MaxPolicy, class KeyIterator, class Digits, class State>
__launch_bounds__(MaxPolicy::ActivePolicy::histogram.block_threads, 1) STRATA_KERNEL
    void radix_histogram_kernel(KeyIterator keys, std::size_t num_items, radix_bit_range range,
                                Digits digits,
                                const STRATA_GRID_CONSTANT radix_workspace<State> workspace,
                                unsigned long long tag, bool may_be_replayed,
                                bool between_two_buffers) {
  using Agent =
      AgentRadixHistogram<typename MaxPolicy::ActivePolicy, KeyIterator, Digits, State>;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  STRATA_DYNAMIC_SHARED(counters);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared.Alias(), reinterpret_cast<unsigned*>(counters), keys, num_items, range, digits,
        workspace, tag, may_be_replayed, between_two_buffers)
      .run();
}

/// Moves the items by one digit, if it is not the same everywhere.
template <class MaxPolicy, class KeyIterator, class ValueIterator, class Value, class Digits,
          class State>
__launch_bounds__(MaxPolicy::ActivePolicy::pass.block_threads,
                  MaxPolicy::ActivePolicy::pass.blocks_per_multiprocessor) STRATA_KERNEL
    void radix_pass_kernel(
        const STRATA_GRID_CONSTANT radix_places<KeyIterator, iterator_value_t<KeyIterator>> keys,
        const STRATA_GRID_CONSTANT radix_places<ValueIterator, Value> values, std::size_t num_items,
        int pass, radix_bit_range range, Digits digits,
        const STRATA_GRID_CONSTANT radix_workspace<State> workspace) {
  using Agent =
      AgentRadixPass<typename MaxPolicy::ActivePolicy, KeyIterator, ValueIterator, Digits, State>;
  STRATA_DYNAMIC_SHARED(shared);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared, keys, values, num_items, pass, range, digits, workspace).run();
}

/// Writes keys of one digit, when all are counted.
template <class MaxPolicy, class Key, bool IsDescending>
__launch_bounds__(MaxPolicy::ActivePolicy::histogram.block_threads, 1) STRATA_KERNEL
    void radix_expand_kernel(const unsigned long long* first, Key* keys_out,
                             std::size_t num_items) {
  using Agent = AgentRadixExpand<typename MaxPolicy::ActivePolicy, Key, IsDescending>;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared.Alias(), first, keys_out, num_items).run();
}

/// Counts keys of two bytes. All blocks are resident.
template <class MaxPolicy, class KeyIterator, class Digits>
__launch_bounds__(MaxPolicy::ActivePolicy::words.block_threads, 1) STRATA_KERNEL
    void radix_count_words_kernel(KeyIterator keys, std::size_t num_items, Digits digits,
                                  radix_words_workspace workspace) {
  using Agent = AgentRadixCountWords<typename MaxPolicy::ActivePolicy, KeyIterator, Digits>;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  STRATA_DYNAMIC_SHARED(counters);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared.Alias(), reinterpret_cast<unsigned*>(counters), keys, num_items, digits, workspace)
      .run();
}

/// Writes keys of two bytes, when all are counted.
template <class MaxPolicy, class Key, bool IsDescending>
__launch_bounds__(MaxPolicy::ActivePolicy::words.block_threads, 1) STRATA_KERNEL
    void radix_expand_words_kernel(const unsigned long long* first, Key* keys_out,
                                   std::size_t num_items) {
  using Agent = AgentRadixExpandWords<typename MaxPolicy::ActivePolicy, Key, IsDescending>;
  STRATA_SHARED(shared, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared.Alias(), first, keys_out, num_items).run();
}

/// Where there are no bits to sort by.
template <class KeyIterator, class ValueIterator, class Value>
STRATA_KERNEL void radix_copy_kernel(KeyIterator keys_in, iterator_value_t<KeyIterator>* keys_out,
                                     ValueIterator values_in, Value* values_out,
                                     std::size_t num_items) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < num_items; i += step) {
    keys_out[i] = *detail::advanced(keys_in, i);
    if constexpr (!std::is_same_v<ValueIterator, NullType>)
      values_out[i] = *detail::advanced(values_in, i);
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END
