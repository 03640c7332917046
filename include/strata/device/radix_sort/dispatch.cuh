// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/temporary_storage.hpp>
#include <strata/core/types.hpp>
#include <strata/device/arguments.cuh>
#include <strata/device/call_tag.hpp>
#include <strata/device/radix_sort/counted_dispatch.cuh>
#include <strata/device/radix_sort/kernels.cuh>
#include <strata/device/radix_sort/tuning.hpp>
#include <strata/device/radix_sort/workspace.cuh>
#include <strata/device/reduce/output.cuh>
#include <strata/device/resident_grid.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Overloads for decomposers, and for counts of items.
template <class Decomposer, class Key>
using if_decomposer =
    std::enable_if_t<std::is_invocable_v<Decomposer, Key&> && !std::is_integral_v<Decomposer>,
                     cudaError_t>;
template <class NumItemsT>
using if_count = std::enable_if_t<std::is_integral_v<NumItemsT>, cudaError_t>;

/// Where a sort keeps what is not its result.
enum class radix_buffers {
  in_storage,
  two_of_the_caller,
  and_sorted_keys_in_storage,  // where values alone are wanted
};

/// Carries out one call of a device-wide radix sort; `PolicyHub` may be replaced to override the
/// tuning. `ValueIterator` is NullType for sorts of keys alone.
template <class KeyIterator, class ValueIterator, class Value, bool IsDescending, class Decomposer,
          class PolicyHub = radix_sort_policy_hub<
              iterator_value_t<KeyIterator>,
              std::conditional_t<std::is_same_v<ValueIterator, NullType>, NullType, Value>>>
struct DispatchRadixSort {
  using MaxPolicy = typename PolicyHub::MaxPolicy;
  using Key = iterator_value_t<KeyIterator>;
  using Digits = radix_digits<Key, IsDescending, Decomposer>;
  static constexpr bool has_values = !std::is_same_v<ValueIterator, NullType>;
  // Keys that are not moved, but counted and written anew.
  static constexpr bool is_counted = !has_values && is_counted_key<Key, Decomposer>;
  static constexpr bool may_count_words = !has_values && is_counted_word<Key, Decomposer>;
  static constexpr std::size_t most_blocks = 1024;
  static constexpr std::size_t most_grid_blocks = 256;
  // A state has two bits beside a count.
  static constexpr std::size_t most_items_of_small_states = (std::size_t{1} << 30) - 1;
  // not for users: who fills the places sees to it
  static_assert(has_values || std::is_same_v<Value, Key>,
                "without values, their type is no matter");

  radix_places<KeyIterator, Key> keys;
  radix_places<ValueIterator, Value> values;
  std::size_t num_items;
  radix_bit_range range;
  Digits digits;
  radix_buffers buffers;
  cudaStream_t stream;
  device_properties device;
  temporary_storage::layout<7> storage;

  /// Sorts from `input` to `output`, with the places that `buffers` does not put into storage.
  template <class NumItemsT>
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              radix_places<KeyIterator, Key> keys,
                              radix_places<ValueIterator, Value> values, NumItemsT num_items,
                              int begin_bit, int end_bit, Decomposer decomposer,
                              radix_buffers buffers, cudaStream_t stream) {
    static_assert(is_trivially_relocatable_v<Key> && is_trivially_relocatable_v<Value>,
                  "sorts move keys and values bit by bit: they must be trivially relocatable");
    static_assert(sizeof(Value) <= most_radix_value_bytes,
                  "a radix sort keeps 256 values and more in shared memory, which has room for "
                  "values of up to 800 bytes: sort indices by ArgSort, and gather larger values");
    if (!is_count(num_items) || begin_bit < 0 || begin_bit > end_bit ||
        end_bit > Digits::key_bits) {
      return cudaErrorInvalidValue;
    }
    const auto count = static_cast<std::size_t>(num_items);
    DispatchRadixSort dispatch{keys,   values, count, {begin_bit, end_bit}, Digits{decomposer},
                               buffers, stream, {}, {}};
    dispatch.reserve();
    if (d_temp_storage == nullptr) {
      return answer_size_query(dispatch.storage, temp_storage_bytes);
    }
    if (!dispatch.storage.map(d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    if (count == 0) return cudaSuccess;
    if (buffers == radix_buffers::and_sorted_keys_in_storage) {
      dispatch.keys.output = dispatch.storage.template get<Key>(sorted_keys_slot);
    }
    if (buffers != radix_buffers::two_of_the_caller) {
      dispatch.keys.buffer = dispatch.storage.template get<Key>(keys_slot);
      dispatch.values.buffer = dispatch.storage.template get<Value>(values_slot);
    }
    if (has_null(dispatch.keys) || (has_values && has_null(dispatch.values))) {
      return cudaErrorInvalidValue;
    }
    const cudaError_t status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    if (range.passes() == 0) return copy();
    if (num_items <= block_items<ActivePolicy, small_radix_block>()) {
      return start_block<ActivePolicy, small_radix_block>();
    }
    if constexpr (ActivePolicy::cluster.blocks > 0) {
      constexpr radix_cluster_tuning tuning = ActivePolicy::cluster;
      constexpr int most_items = tuning.blocks * tuning.block_threads * tuning.items_per_thread;
      // The multiprocessors of a green context need not be such that a cluster fits on them.
      if (num_items <= static_cast<std::size_t>(most_items) && !device.in_green_context) {
        bool has_clusters = false;
        const cudaError_t status = start_cluster<ActivePolicy>(has_clusters);
        if (status != cudaSuccess || has_clusters) return status;
      }
    }
    if (num_items <= block_items<ActivePolicy, large_radix_block>()) {
      return start_block<ActivePolicy, large_radix_block>();
    }
    if constexpr (ActivePolicy::grid.most_items > 0) {
      if (num_items <= static_cast<std::size_t>(ActivePolicy::grid.most_items)) {
        return start_grid<ActivePolicy>();
      }
    }
    if constexpr (may_count_words && ActivePolicy::words.least_items > 0) {
      static_assert(PolicyHub::least_counted_words > 0 &&
                        ActivePolicy::words.least_items >= PolicyHub::least_counted_words,
                    "radix_sort_policy_hub::least_counted_words must be that of all policies");
      const bool has_all_bits = range.begin_bit == 0 && range.end_bit == Digits::key_bits;
      if (has_all_bits && num_items >= ActivePolicy::words.least_items) {
        return start_words<ActivePolicy>();
      }
    }
    if (num_items <= most_items_of_small_states) return start_passes<ActivePolicy, unsigned>();
    return start_passes<ActivePolicy, unsigned long long>();
  }

 private:
  enum slot {
    keys_slot,
    values_slot,
    sorted_keys_slot,
    bins_slot,
    counters_slot,
    states_slot,
    arrivals_slot
  };
  static constexpr std::size_t most_passes =
      static_cast<std::size_t>(ceiling_divide(Digits::key_bits, radix_bits));

  template <class Iterator, class T>
  static bool has_null(const radix_places<Iterator, T>& places) {
    return detail::is_null(places.input) || places.output == nullptr || places.buffer == nullptr;
  }

  // The same for all ranges of bits.
  void reserve() {
    if (buffers != radix_buffers::two_of_the_caller) {
      storage.template reserve<Key>(keys_slot, num_items);
      if (has_values) storage.template reserve<Value>(values_slot, num_items);
    }
    if (buffers == radix_buffers::and_sorted_keys_in_storage) {
      storage.template reserve<Key>(sorted_keys_slot, num_items);
    }
    storage.template reserve<unsigned long long>(bins_slot, most_passes * radix_bins);
    // Tickets, departures, whether there are inexact keys, and plans.
    storage.template reserve<unsigned>(counters_slot, 64 + most_passes * sizeof(radix_pass_plan));
    const std::size_t states =
        2 * ceiling_divide(num_items, PolicyHub::least_tile_items) * radix_bins;
    if (num_items <= most_items_of_small_states) {
      storage.template reserve<unsigned>(states_slot, states);
    } else {
      storage.template reserve<unsigned long long>(states_slot, states);
    }
    const std::size_t grid_blocks = ceiling_divide(num_items, PolicyHub::least_grid_tile_items);
    storage.template reserve<unsigned>(
        states_slot, radix_grid_counts::number_of_words(
                         grid_blocks < most_grid_blocks ? grid_blocks : most_grid_blocks,
                         most_passes));
    if constexpr (may_count_words && PolicyHub::least_counted_words > 0) {
      if (num_items >= PolicyHub::least_counted_words) {
        storage.template reserve<unsigned long long>(bins_slot, radix_words + 1 + 2 * most_blocks);
      }
    }
    storage.template reserve<platform::packet>(arrivals_slot, most_blocks);
  }

  // Whether a graph may replay what is launched: then the same tag comes again.
  bool may_be_replayed() const {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusActive;
    const bool is_known = cudaStreamIsCapturing(stream, &capture) == cudaSuccess;
    return !is_known || capture != cudaStreamCaptureStatusNone;
  }

  template <class State>
  radix_workspace<State> workspace(std::size_t tiles) const {
    auto* const counters = storage.template get<unsigned>(counters_slot);
    auto* const states = storage.template get<State>(states_slot);
    return {storage.template get<unsigned long long>(bins_slot),
            counters,
            counters + 32,
            counters + 33,
            reinterpret_cast<radix_pass_plan*>(counters + 64),
            {states, states + tiles * radix_bins},
            storage.template get<platform::packet>(arrivals_slot),
            tiles};
  }

  template <class ActivePolicy, template <class> class Block>
  static constexpr std::size_t block_items() {
    constexpr radix_block_tuning tuning = Block<ActivePolicy>::value;
    return static_cast<std::size_t>(tuning.block_threads) * tuning.items_per_thread;
  }

  // The kernel's dynamic shared memory has been allowed; once for each device is enough.
  template <class Kernel>
  cudaError_t allow(kernel_property_cache& cache, Kernel kernel, int threads,
                    std::size_t shared_bytes) const {
    int blocks;
    return detail::resident_blocks_per_multiprocessor(cache, kernel, threads, shared_bytes, blocks);
  }

  template <class ActivePolicy, template <class> class Block>
  cudaError_t start_block() {
    using Agent = AgentRadixBlock<Block<ActivePolicy>, KeyIterator, ValueIterator, Digits>;
    const auto kernel =
        radix_block_kernel<MaxPolicy, Block, KeyIterator, ValueIterator, Value, Digits>;
    constexpr int threads = Block<ActivePolicy>::value.block_threads;
    static kernel_property_cache cache;
    const cudaError_t status = allow(cache, kernel, threads, Agent::shared_bytes);
    if (status != cudaSuccess) return status;
    launch_configuration configuration{"strata::DeviceRadixSort", dim3(1), dim3(threads)};
    configuration.dynamic_shared_bytes = Agent::shared_bytes;
    configuration.stream = stream;
    configuration.programmatic = device.ptx_version >= 900;
    return strata::launch(configuration, kernel, keys.input, keys.output, values.input,
                          values.output, static_cast<int>(num_items), range, digits);
  }

  // `has_clusters`: false if the device, or the part of it that is a device of its own, cannot hold a
  // cluster; nothing was started then.
  template <class ActivePolicy>
  cudaError_t start_cluster(bool& has_clusters) {
    using Agent = AgentRadixCluster<ActivePolicy, KeyIterator, ValueIterator, Digits>;
    constexpr radix_cluster_tuning tuning = ActivePolicy::cluster;
    const auto kernel = radix_cluster_kernel<MaxPolicy, KeyIterator, ValueIterator, Value, Digits>;
    static kernel_property_cache cache;
    cudaError_t status = allow(cache, kernel, tuning.block_threads, Agent::shared_bytes);
    if (status != cudaSuccess) return status;
    launch_configuration configuration{"strata::DeviceRadixSort", dim3(tuning.blocks),
                                       dim3(tuning.block_threads)};
    configuration.cluster_size = tuning.blocks;
    configuration.dynamic_shared_bytes = Agent::shared_bytes;
    static kernel_property_cache clusters_cache;
    int clusters = 0;
    status = clusters_cache.get(clusters, [&](int& count) {
      return strata::resident_clusters(configuration, kernel, count);
    });
    has_clusters = clusters > 0;
    if (status != cudaSuccess || !has_clusters) return status;
    configuration.stream = stream;
    configuration.programmatic = device.ptx_version >= 900;
    constexpr auto blocks = static_cast<std::size_t>(tuning.blocks);
    const std::size_t tile = ceiling_divide(num_items, blocks);
    const int least_bits = log2_ceiling(tuning.block_threads);
    const int tile_bits = log2_ceiling(tile);
    return strata::launch(configuration, kernel, keys.input, keys.output, values.input,
                          values.output, static_cast<int>(num_items),
                          tile_bits < least_bits ? least_bits : tile_bits, range, digits);
  }

  // Where the device does not hold all blocks at a time, in passes.
  template <class ActivePolicy>
  cudaError_t start_grid() {
    using Agent = AgentRadixGrid<ActivePolicy, KeyIterator, ValueIterator, Digits>;
    constexpr radix_grid_tuning tuning = ActivePolicy::grid;
    static_assert(static_cast<std::size_t>(tuning.block_threads) * tuning.least_items_per_thread >=
                      PolicyHub::least_grid_tile_items,
                  "radix_sort_policy_hub::least_grid_tile_items must be that of all policies");
    constexpr std::size_t threads = static_cast<std::size_t>(tuning.block_threads);
    const auto kernel = radix_grid_kernel<MaxPolicy, KeyIterator, ValueIterator, Value, Digits>;
    static kernel_property_cache cache;
    int per_multiprocessor = 0;
    const cudaError_t status = detail::resident_blocks_per_multiprocessor(
        cache, kernel, tuning.block_threads, Agent::shared_bytes, per_multiprocessor);
    if (status != cudaSuccess) return status;
    const auto multiprocessors = static_cast<std::size_t>(device.multiprocessors);
    const std::size_t resident = static_cast<std::size_t>(per_multiprocessor) * multiprocessors;

    constexpr std::size_t least_rows = static_cast<std::size_t>(tuning.least_items_per_thread);
    constexpr std::size_t most_rows = static_cast<std::size_t>(tuning.items_per_thread);
    std::size_t rows = ceiling_divide(num_items, threads * multiprocessors);
    rows = rows < least_rows ? least_rows : rows > most_rows ? most_rows : rows;
    const std::size_t blocks = ceiling_divide(num_items, threads * rows);
    if (blocks > resident || blocks > most_grid_blocks) {
      return start_passes<ActivePolicy, unsigned>();
    }
    launch_configuration configuration{"strata::DeviceRadixSort",
                                       dim3(static_cast<unsigned>(blocks)),
                                       dim3(static_cast<unsigned>(threads))};
    configuration.dynamic_shared_bytes = Agent::shared_bytes;
    configuration.stream = stream;
    configuration.cooperative = blocks > 1;
    auto* const counters = storage.template get<unsigned>(counters_slot);
    const radix_grid_workspace shared{
        {storage.template get<unsigned long long>(arrivals_slot), counters, next_call_tag(),
         may_be_replayed()},
        storage.template get<unsigned>(states_slot)};
    return strata::launch(configuration, kernel, keys, values, static_cast<unsigned>(num_items),
                          static_cast<int>(rows), range, digits, shared);
  }

  template <class ActivePolicy, class State>
  cudaError_t start_passes() {
    using Histogram = AgentRadixHistogram<ActivePolicy, KeyIterator, Digits, State>;
    using Pass = AgentRadixPass<ActivePolicy, KeyIterator, ValueIterator, Digits, State>;
    static_assert(Pass::tile_items >= PolicyHub::least_tile_items,
                  "radix_sort_policy_hub::least_tile_items must be that of all policies");
    const std::size_t tiles = ceiling_divide<std::size_t>(num_items, Pass::tile_items);
    const radix_workspace<State> shared = workspace<State>(tiles);

    constexpr int histogram_threads = ActivePolicy::histogram.block_threads;
    static kernel_property_cache histogram_cache;
    launch_configuration counting{"strata::DeviceRadixSort, digits", dim3(1),
                                  dim3(histogram_threads)};
    counting.dynamic_shared_bytes = Histogram::counter_bytes();
    counting.stream = stream;
    cudaError_t status = detail::launch_resident(
        counting, histogram_cache, device,
        ceiling_divide<std::size_t>(num_items, std::size_t{histogram_threads} * 4), most_blocks,
        radix_histogram_kernel<MaxPolicy, KeyIterator, Digits, State>, keys.input, num_items, range,
        digits, shared, next_call_tag(), may_be_replayed(),
        buffers == radix_buffers::two_of_the_caller);
    if (status != cudaSuccess) return status;
    if constexpr (is_counted) {
      if (range.begin_bit == 0 && range.end_bit == Digits::key_bits) {
        return counted().template expand<ActivePolicy>(shared.bins);
      }
    }

    const auto kernel =
        radix_pass_kernel<MaxPolicy, KeyIterator, ValueIterator, Value, Digits, State>;
    constexpr int pass_threads = ActivePolicy::pass.block_threads;
    static kernel_property_cache pass_cache;
    status = allow(pass_cache, kernel, pass_threads, Pass::shared_bytes);
    launch_configuration moving{"strata::DeviceRadixSort, pass",
                                dim3(static_cast<unsigned>(tiles)), dim3(pass_threads)};
    moving.dynamic_shared_bytes = Pass::shared_bytes;
    moving.stream = stream;
    moving.programmatic = device.ptx_version >= 900;
    for (int pass = 0; pass < range.passes() && status == cudaSuccess; ++pass) {
      status = strata::launch(moving, kernel, keys, values, num_items, pass, range, digits, shared);
    }
    return status;
  }

  counted_radix_launches<MaxPolicy, KeyIterator, IsDescending, Digits> counted() const {
    return {keys, num_items, digits, stream, device};
  }

  // Into a buffer that nobody needs for keys.
  template <class ActivePolicy>
  cudaError_t start_words() const {
    Key* buffer = keys.buffer;
    if constexpr (std::is_pointer_v<KeyIterator>) {
      if (buffer == keys.input) buffer = keys.output;
    }
    return counted().template run_words<ActivePolicy>(
        {storage.template get<unsigned long long>(arrivals_slot),
         storage.template get<unsigned>(counters_slot), next_call_tag(), may_be_replayed()},
        storage.template get<unsigned long long>(bins_slot), buffer, most_blocks);
  }

  // No bits to sort by.
  cudaError_t copy() {
    if (buffers == radix_buffers::two_of_the_caller) return cudaSuccess;
    constexpr unsigned threads = 256;
    const std::size_t blocks = ceiling_divide<std::size_t>(num_items, threads);
    launch_configuration configuration{
        "strata::DeviceRadixSort, copy",
        dim3(static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks)), dim3(threads)};
    configuration.stream = stream;
    return strata::launch(configuration, radix_copy_kernel<KeyIterator, ValueIterator, Value>,
                          keys.input, keys.output, values.input, values.output, num_items);
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
