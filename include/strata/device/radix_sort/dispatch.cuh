// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/launch.cuh>
#include <strata/device/engine/look_back.cuh>
#include <strata/device/engine/tagged_word.cuh>
#include <strata/device/radix_sort/counting_sort_dispatch.cuh>
#include <strata/device/radix_sort/pass_dispatch.cuh>
#include <strata/device/radix_sort/problem.cuh>
#include <strata/device/radix_sort/single_launch_dispatch.cuh>

#include <cstddef>
#include <limits>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// How an array is sorted; from few items to many.
enum class radix_algorithm { copy, small_block, cluster, large_block, grid, counting_sort_words, passes };

/// The algorithm that a policy names for a number of items. Without passes there are no bits to sort by.
template <class Policy>
constexpr radix_algorithm choose_radix_algorithm(std::size_t num_items, int passes, bool may_use_cluster,
                                                 bool may_count_words) {
  constexpr auto capacity = [](const auto& tuning, int blocks) {
    return static_cast<std::size_t>(tuning.block_threads) * static_cast<std::size_t>(tuning.items_per_thread) *
           static_cast<std::size_t>(blocks);
  };
  if (passes == 0) return radix_algorithm::copy;
  if (num_items <= capacity(Policy::small_block, 1)) return radix_algorithm::small_block;
  if (may_use_cluster && num_items <= capacity(Policy::cluster, Policy::cluster.blocks)) {
    return radix_algorithm::cluster;
  }
  if (num_items <= capacity(Policy::large_block, 1)) return radix_algorithm::large_block;
  if (num_items <= static_cast<std::size_t>(Policy::grid.most_items)) return radix_algorithm::grid;
  if constexpr (Policy::words.least_items > 0) {
    if (may_count_words && num_items >= Policy::words.least_items) return radix_algorithm::counting_sort_words;
  }
  return radix_algorithm::passes;
}

template <class Policy>
using radix_sort_rows = std::void_t<
    if_rows<radix_histogram_tuning, decltype(Policy::histogram)>, if_rows<radix_pass_tuning, decltype(Policy::pass)>,
    if_rows<radix_block_tuning, decltype(Policy::small_block), decltype(Policy::large_block)>,
    if_rows<radix_cluster_tuning, decltype(Policy::cluster)>, if_rows<radix_grid_tuning, decltype(Policy::grid)>,
    if_rows<radix_words_tuning, decltype(Policy::words)>>;

/// Carries out one call of a device-wide radix sort.
/// `ValueIterator` is NullType for sorts of keys alone.
template <class KeyIterator, class ValueIterator, class Value, class NumItemsT, bool IsDescending, class Decomposer,
          class PolicyHub = default_policy_hub>
struct DispatchRadixSort {
  static_assert(hub_has_rows<radix_sort_rows, PolicyHub>,
                "DeviceRadixSort: each policy in the chain of PolicyHub::MaxPolicy must name itself in its "
                "ChainedPolicy and have the members histogram (radix_histogram_tuning), pass (radix_pass_tuning), "
                "small_block and large_block (radix_block_tuning), cluster (radix_cluster_tuning), "
                "grid (radix_grid_tuning) and words (radix_words_tuning)");
  using Key = iterator_value_t<KeyIterator>;
  using MaxPolicy =
      typename hub_or<radix_sort_rows, PolicyHub,
                      radix_sort_policy_hub<Key, std::conditional_t<std::is_same_v<ValueIterator, NullType>, NullType,
                                                                    Value>>>::MaxPolicy;
  using Digits = radix_digits<Key, IsDescending, Decomposer>;
  static constexpr bool has_future_count = is_future_count<NumItemsT>;
  using Count = std::conditional_t<has_future_count, NumItemsT, std::size_t>;
  using Problem = radix_sort_problem<KeyIterator, ValueIterator, Value, Digits, Count>;
  static constexpr bool has_values = Problem::has_values;
  static constexpr bool may_count = !has_values && !has_future_count;
  static constexpr bool is_counting_sort_byte = may_count && is_counting_sort_key<1, Key, Decomposer>;
  static constexpr bool is_counting_sort_word = may_count && is_counting_sort_key<2, Key, Decomposer>;
  static constexpr std::size_t max_blocks = 1024, max_grid_blocks = 256;
  static constexpr std::size_t max_items_of_small_states = thread_look_back<unsigned, radix_bins>::max_value;
  // not for users: the calls ensure it
  static_assert(has_values || std::is_same_v<Value, Key>,
                "a sort without values must use the type of the keys as "
                "the type of values");

  Problem problem;
  temporary_storage::layout<7> storage;

  /// Sorts from `keys.input` to `keys.output`. `scratch` says whether the caller passes the scratch arrays, and whether
  /// it passes an array for the sorted keys.
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              radix_buffers<KeyIterator, Key> keys, radix_buffers<ValueIterator, Value> values,
                              NumItemsT num_items, int begin_bit, int end_bit, Decomposer decomposer,
                              radix_scratch scratch, cudaStream_t stream) {
    static_assert(relocatable_requirements<Key>::check());
    static_assert(relocatable_requirements<Value>::check());
    static_assert(sizeof(Value) <= most_radix_value_bytes,
                  "a radix sort keeps at least 256 values in shared memory, which has room for values of up to 800 "
                  "bytes: sort indices by ArgSort, and gather larger values");
    const std::size_t count = detail::max_items(num_items);
    if (detail::refuses_count(num_items, "num_items") || detail::refuses_reach(keys.input, count, "d_keys_in") ||
        detail::refuses_reach(values.input, count, "d_values_in") ||
        detail::refuses_bits(begin_bit, end_bit, Digits::key_bits)) {
      return cudaErrorInvalidValue;
    }
    const radix_bit_range range{begin_bit, end_bit};
    Problem call{keys, values, count, static_cast<Count>(num_items), range, Digits{decomposer}, scratch, stream, {}};
    DispatchRadixSort dispatch{call, {}};
    Problem& problem = dispatch.problem;
    dispatch.reserve();
    if (d_temp_storage == nullptr) return detail::answer_size_query(dispatch.storage, temp_storage_bytes);
    if (detail::refuses_storage(dispatch.storage, d_temp_storage, temp_storage_bytes) ||
        detail::refuses_null_count(num_items)) {
      return cudaErrorInvalidValue;
    }
    if (count == 0) return cudaSuccess;
    if (scratch == radix_scratch::in_storage_with_sorted_keys) {
      problem.keys.output = dispatch.storage.template get<Key>(sorted_keys_slot);
    }
    if (scratch != radix_scratch::double_buffer) {
      problem.keys.scratch = dispatch.storage.template get<Key>(keys_slot);
      problem.values.scratch = dispatch.storage.template get<Value>(values_slot);
    }
    if (detail::refuses_null(problem.keys, radix_arguments::of_keys(scratch)) ||
        (has_values && detail::refuses_null(problem.values, radix_arguments::of_values(scratch)))) {
      return cudaErrorInvalidValue;
    }
    problem.result = scratch == radix_scratch::double_buffer                    ? radix_result::double_buffer
                     : is_in_place(problem.keys) || is_in_place(problem.values) ? radix_result::in_place
                                                                                : radix_result::output;
    const cudaError_t status = detail::current_device_properties(problem.device, stream);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(problem.device.ptx_version, dispatch);
  }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    using P = ActivePolicy;
    static_assert(detail::are_radix_blocks(P::histogram.block_threads, P::pass.block_threads,
                                           P::small_block.block_threads, P::large_block.block_threads,
                                           P::cluster.block_threads, P::grid.block_threads, P::words.block_threads),
                  "radix sort tuning: block_threads must be multiples of 32 from 256 to 1024");
    static_assert(P::cluster.blocks <= 0 || (detail::is_power_of_two(P::cluster.block_threads) &&
                                             detail::is_power_of_two(P::cluster.items_per_thread)),
                  "radix_cluster_tuning: block_threads and items_per_thread must be powers of two");
    // A green context may not have enough multiprocessors in one GPC for a cluster.
    return start<ActivePolicy>(ActivePolicy::cluster.blocks > 0 && !problem.device.in_green_context);
  }

 private:
  enum slot { keys_slot, values_slot, sorted_keys_slot, bins_slot, counters_slot, states_slot, arrivals_slot };
  static constexpr auto max_passes = static_cast<std::size_t>(detail::ceiling_divide(Digits::key_bits, radix_bits));
  // A ticket of each pass, departures, whether there are inexact keys, and plans.
  static constexpr std::size_t ticket_words = detail::most<std::size_t>(32, max_passes);
  static constexpr std::size_t first_plan_word = 2 * ticket_words;

  template <class Iterator, class T>
  static bool is_in_place(const radix_buffers<Iterator, T>& buffers) {
    return detail::are_same_array(buffers.input, buffers.output);
  }

  // Reserves the same storage for all ranges of bits, whether the sort is in place or not.
  void reserve() {
    const std::size_t num_items = problem.num_items;
    if (problem.scratch != radix_scratch::double_buffer) {
      storage.template reserve<Key>(keys_slot, num_items);
      if (has_values) storage.template reserve<Value>(values_slot, num_items);
    }
    if (problem.scratch == radix_scratch::in_storage_with_sorted_keys) {
      storage.template reserve<Key>(sorted_keys_slot, num_items);
    }
    storage.template reserve<unsigned long long>(bins_slot, max_passes * radix_bins);
    storage.template reserve<unsigned>(counters_slot, first_plan_word + max_passes * sizeof(radix_pass_plan));
    const std::size_t states =
        2 * detail::ceiling_divide(num_items, detail::least_in_chain<radix_pass_tile, MaxPolicy>()) * radix_bins;
    if (num_items <= max_items_of_small_states) {
      storage.template reserve<unsigned>(states_slot, states);
    } else {
      storage.template reserve<unsigned long long>(states_slot, states);
    }
    const std::size_t grid_blocks =
        detail::ceiling_divide(num_items, detail::least_in_chain<radix_grid_tile, MaxPolicy>());
    storage.template reserve<unsigned>(states_slot,
                                       grid_bin_counts<radix_bins>::number_of_words(
                                           grid_blocks < max_grid_blocks ? grid_blocks : max_grid_blocks, max_passes));
    if constexpr (is_counting_sort_word) {
      constexpr std::size_t least_words = detail::least_in_chain<radix_least_words, MaxPolicy>();
      if (least_words != radix_no_words && num_items >= least_words) {
        storage.template reserve<unsigned long long>(bins_slot, counting_sort_bins + 1 + 2 * max_blocks);
      }
    }
    storage.template reserve<platform::tagged_word>(arrivals_slot, max_blocks);
  }

  template <class ActivePolicy>
  cudaError_t start(bool may_use_cluster) {
    switch (detail::choose_radix_algorithm<ActivePolicy>(problem.num_items, problem.range.passes(), may_use_cluster,
                                                         is_counting_sort_word && problem.has_all_bits())) {
      case radix_algorithm::copy:
        if (problem.result == radix_result::double_buffer) return cudaSuccess;
        return detail::launch_radix_copy(problem, problem.keys.output, problem.values.output, max_blocks);
      case radix_algorithm::small_block:
        return start_block<ActivePolicy, small_radix_block>();
      case radix_algorithm::cluster:
        if constexpr (ActivePolicy::cluster.blocks > 0) {
          bool is_launched = false;
          const cudaError_t status = detail::launch_radix_cluster<MaxPolicy, ActivePolicy>(problem, is_launched);
          return status != cudaSuccess || is_launched ? status : start<ActivePolicy>(false);
        }
        break;
      case radix_algorithm::large_block:
        return start_block<ActivePolicy, large_radix_block>();
      case radix_algorithm::grid:
        // All blocks of the grid take part. The items need a certain number of blocks, which the host cannot know with
        // a FutureCount.
        if constexpr (ActivePolicy::grid.most_items > 0 && !has_future_count) {
          bool is_launched = false;
          cudaError_t status = begin_in_scratch();
          if (status != cudaSuccess) return status;
          status = detail::launch_radix_grid<MaxPolicy, ActivePolicy>(
              problem, {barrier(), storage.template get<unsigned>(states_slot)}, max_grid_blocks, is_launched);
          if (status != cudaSuccess || is_launched) return status;
        }
        break;
      case radix_algorithm::counting_sort_words:
        if constexpr (is_counting_sort_word && ActivePolicy::words.least_items > 0) {
          return detail::counting_sort_words<MaxPolicy, ActivePolicy, IsDescending>(
              problem, barrier(), storage.template get<unsigned long long>(bins_slot), max_blocks);
        }
        break;
      case radix_algorithm::passes:
        break;
    }
    return start_passes<ActivePolicy>();
  }

  // Passes sort items that are too large for shared memory of a block.
  template <class ActivePolicy, template <class> class Block>
  cudaError_t start_block() {
    bool is_launched = false;
    const cudaError_t status = detail::launch_radix_block<MaxPolicy, ActivePolicy, Block>(problem, is_launched);
    return status != cudaSuccess || is_launched ? status : start_passes<ActivePolicy>();
  }

  // In place, an odd number of passes begins in the scratch arrays: see plan_radix_passes(). The other algorithms read
  // all items before they write the first.
  cudaError_t begin_in_scratch() {
    if (problem.result != radix_result::in_place || problem.range.passes() % 2 == 0) return cudaSuccess;
    const cudaError_t status =
        detail::launch_radix_copy(problem, problem.keys.scratch, problem.values.scratch, max_blocks);
    if constexpr (std::is_pointer_v<KeyIterator>) problem.keys.input = problem.keys.scratch;
    if constexpr (std::is_pointer_v<ValueIterator>) problem.values.input = problem.values.scratch;
    return status;
  }

  grid_barrier_arguments barrier() const {
    return {storage.template get<unsigned long long>(arrivals_slot), storage.template get<unsigned>(counters_slot),
            next_epoch(), detail::is_replayable(problem.stream)};
  }

  template <class ActivePolicy>
  cudaError_t start_passes() {
    constexpr auto max_items = static_cast<std::size_t>(std::numeric_limits<count_value_t<NumItemsT>>::max());
    if constexpr (max_items > max_items_of_small_states) {
      if (problem.num_items > max_items_of_small_states) return start_passes<ActivePolicy, unsigned long long>();
    }
    return start_passes<ActivePolicy, unsigned>();
  }

  template <class ActivePolicy, class State>
  cudaError_t start_passes() {
    using Agent = AgentRadixPass<ActivePolicy, KeyIterator, ValueIterator, Digits, State>;
    const std::size_t tiles = detail::ceiling_divide<std::size_t>(problem.num_items, Agent::tile_items);
    auto* const counters = storage.template get<unsigned>(counters_slot);
    auto* const states = storage.template get<State>(states_slot);
    const radix_workspace workspace{storage.template get<unsigned long long>(bins_slot),
                                    /*tickets=*/counters,
                                    /*departures=*/counters + ticket_words,
                                    /*inexact=*/counters + ticket_words + 1,
                                    reinterpret_cast<radix_pass_plan*>(counters + first_plan_word),
                                    {states, states + tiles * radix_bins},
                                    tiles * radix_bins * sizeof(State),
                                    storage.template get<platform::tagged_word>(arrivals_slot)};
    cudaError_t status = detail::launch_radix_histogram<MaxPolicy, ActivePolicy>(problem, workspace, max_blocks);
    if (status != cudaSuccess) return status;
    if constexpr (is_counting_sort_byte) {
      if (problem.has_all_bits()) {
        return detail::counting_sort_bytes<MaxPolicy, ActivePolicy, IsDescending>(problem, workspace.bins);
      }
    }
    status = begin_in_scratch();
    if (status != cudaSuccess) return status;
    return detail::launch_radix_passes<MaxPolicy, ActivePolicy, State>(problem, workspace, tiles);
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
