// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/temporary_storage.hpp>
#include <strata/core/types.hpp>
#include <strata/device/arguments.cuh>
#include <strata/device/resident_grid.cuh>
#include <strata/device/segmented_merge_sort/kernels.cuh>
#include <strata/device/segmented_merge_sort/tuning.hpp>
#include <strata/device/segmented_merge_sort/workspace.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Carries out one call of a merge sort of segments whose arguments are checked; `PolicyHub` may be
/// replaced to override the tuning. `Value` is NullType for keys alone; output keys may be null.
template <class Key, class Value, class KeysIn, class ValuesIn, class Segments, class Compare,
          class PolicyHub = segmented_merge_sort_policy_hub<sizeof(segment_item<Key, Value>)>>
struct DispatchSegmentedMergeSort {
  using MaxPolicy = typename PolicyHub::MaxPolicy;
  using Arrays = merge_sort_arrays<Key, Value>;
  static constexpr bool has_values = !std::is_same_v<Value, NullType>;
  template <class Policy, segment_tile_class Class>
  static constexpr long long items_of_tile =
      static_cast<long long>(detail::tuning_of<Policy>(Class).block_threads) *
      detail::tuning_of<Policy>(Class).items_per_thread;
  // Storage has room for tiles of this size, whichever are taken.
  static constexpr long long least_tile_items = items_of_tile<MaxPolicy, segment_tile_class::large>;
  // Segments of no more items are sorted by whoever finds them, where there are many.
  static constexpr long long least_queued = MaxPolicy::tiny.most_items;
  static constexpr unsigned long long most_tiles = 1ull << 28;
  // Flags of a barrier for so many blocks follow the counters of the call.
  static constexpr std::size_t most_blocks = 2048;
  static constexpr std::size_t progress_words = sizeof(merge_sort_progress) / sizeof(long long);
  static_assert(is_trivially_relocatable_v<Key> && is_trivially_relocatable_v<Value> &&
                    std::is_default_constructible_v<Key> && std::is_default_constructible_v<Value>,
                "merge sorts of device memory move keys and values as bits: both must be trivially "
                "relocatable and default constructible");

  /// What is sorted, and by what.
  struct arguments {
    KeysIn keys;
    ValuesIn values;
    Arrays output;
    unsigned long long num_items;
    long long num_segments;
    Segments segments;
    /// No segment is longer, as far as the host knows.
    long long longest;
    bool is_in_place;
    bool wants_keys;
    Compare compare;
    cudaStream_t stream;
  };

  const arguments& call;
  Arrays merged;
  Arrays buffer;
  merge_sort_workspace workspace;
  unsigned long long* barrier_flags;
  /// Which tiles longer segments are sorted in: `large`, `huge` or `few`.
  segment_tile_class long_class;
  device_properties device;

  /// `storage_bytes` is what the caller has, or, without storage, will need.
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& storage_bytes,
                              const arguments& call) {
    enum slot { progress, queue, split, tiles, keys, values, scratch, slots };
    const unsigned long long items = call.num_items;
    temporary_storage::layout<slots> storage;
    merge_sort_workspace workspace{};
    storage.template reserve<unsigned long long>(
        progress, progress_words + (call.longest > least_tile_items ? most_blocks : 0));
    if (call.longest > least_queued) {
      // Where segments are few, all are queued: then these are fewer.
      workspace.queue_room = items / (least_queued + 1);
      storage.template reserve<long long>(queue, workspace.queue_room);
    }
    if (call.longest > least_tile_items) {
      workspace.split_room = items / (least_tile_items + 1);
      workspace.tile_room = items / least_tile_items + workspace.split_room;
      workspace.buffer_room = items + workspace.split_room * merge_sort_workspace::buffer_step;
      if (workspace.tile_room > most_tiles) return cudaErrorInvalidValue;
      storage.template reserve<split_segment>(split, workspace.split_room);
      storage.template reserve<unsigned>(tiles, workspace.tile_room);
      storage.template reserve<Key>(keys, workspace.buffer_room);
      if (has_values) storage.template reserve<Value>(values, workspace.buffer_room);
      if (!call.wants_keys) storage.template reserve<Key>(scratch, workspace.buffer_room);
    }
    if (d_temp_storage == nullptr) return answer_size_query(storage, storage_bytes);
    if (!storage.map(d_temp_storage, storage_bytes)) return cudaErrorInvalidValue;
    if (items == 0 || call.num_segments == 0) return cudaSuccess;
    workspace.progress = storage.template get<merge_sort_progress>(progress);
    workspace.queue = storage.template get<long long>(queue);
    workspace.split = storage.template get<split_segment>(split);
    workspace.tiles = storage.template get<unsigned>(tiles);
    workspace.keys_are_scratch = !call.wants_keys;
    Arrays merged = call.output;
    if (!call.wants_keys) merged.keys = storage.template get<Key>(scratch);
    DispatchSegmentedMergeSort dispatch{
        call,
        merged,
        {storage.template get<Key>(keys), storage.template get<Value>(values)},
        workspace,
        storage.template get<unsigned long long>(progress) + progress_words,
        segment_tile_class::large,
        {}};
    const cudaError_t status = detail::current_device_properties(dispatch.device, call.stream);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  template <class Policy>
  cudaError_t Invoke() {
    static_assert(items_of_tile<Policy, segment_tile_class::large> == least_tile_items,
                  "all policies of a segmented merge sort must have the same tile of `large`");
    static_assert(
        items_of_tile<Policy, segment_tile_class::huge> >= least_tile_items,
        "segmented merge sort tuning: the tile of `huge` must not be smaller than that of "
        "`large`");
    static_assert(items_of_tile<Policy, segment_tile_class::few> >= least_tile_items,
                  "segmented merge sort tuning: the tile of `few` must not be smaller than that of "
                  "`large`");
    const unsigned long long usual =
        call.num_items / static_cast<unsigned long long>(call.num_segments);
    const long long blocks_at_once = device.multiprocessors;
    constexpr long long few_items = items_of_tile<Policy, segment_tile_class::few>;
    // Segments that are mostly no longer than the smaller tile waste less of it.
    long_class = call.num_items <= static_cast<unsigned long long>(few_items * blocks_at_once)
                     ? segment_tile_class::few
                 : usual > static_cast<unsigned long long>(least_tile_items)
                     ? segment_tile_class::huge
                     : segment_tile_class::large;
    if (call.num_segments <= blocks_at_once) {
      if (call.longest <= items_of_tile<Policy, segment_tile_class::tiny>) {
        return sort<Policy, segment_tile_class::tiny>(usual);
      }
      if (call.longest <= few_items) return sort<Policy, segment_tile_class::few>(usual);
    }
    // Which row is the fastest for segments of a length; what is longer goes to the next kernels.
    const auto up_to = [usual](unsigned long long items) { return usual <= items; };
    if (up_to(Policy::tiny.items_per_thread * 5 / 4)) {
      return sort<Policy, segment_tile_class::tiny>(usual);
    }
    if (up_to(Policy::little.items_per_thread * 9 / 2)) {
      return sort<Policy, segment_tile_class::little>(usual);
    }
    constexpr int middle = Policy::middle.block_threads * Policy::middle.items_per_thread;
    if (up_to(middle / 5) || call.longest <= Policy::middle.most_items) {
      return sort<Policy, segment_tile_class::middle>(usual);
    }
    if (long_class == segment_tile_class::few && up_to(least_tile_items)) {
      const auto owners = ceiling_divide(static_cast<int>(usual), Policy::few.items_per_thread);
      const int at_once = owners < Policy::few.block_threads ? Policy::few.block_threads / owners : 1;
      // More blocks than multiprocessors would take turns; smaller ones sort beside each other.
      if (call.num_segments > at_once * blocks_at_once) {
        return sort<Policy, segment_tile_class::large>(usual);
      }
    }
    if (usual <= static_cast<unsigned long long>(tile_of_long<Policy>())) {
      return long_class == segment_tile_class::few    ? sort<Policy, segment_tile_class::few>(usual)
             : long_class == segment_tile_class::huge ? sort<Policy, segment_tile_class::huge>(usual)
                                                      : sort<Policy, segment_tile_class::large>(usual);
    }
    cudaError_t status = clear();
    if (status != cudaSuccess) return status;
    constexpr int threads = 256;
    const segment_classes classes = classes_up_to<Policy>(0);
    const long long blocks = ceiling_divide<long long>(call.num_segments, threads);
    if (blocks > most_grid) return cudaErrorInvalidValue;
    launch_configuration configuration{"strata::DeviceSegmentedMergeSort, queue",
                                       dim3(static_cast<unsigned>(blocks)), dim3(threads)};
    configure(configuration, 0);
    status = strata::launch(configuration, segmented_merge_sort_queue_kernel<MaxPolicy, Segments>,
                            call.segments, call.num_segments, classes, workspace);
    return status != cudaSuccess ? status : sort_long<Policy>(classes);
  }

 private:
  static constexpr long long most_grid = 0x7fffffff;

  template <class Policy>
  segment_classes classes_up_to(int most_direct) const {
    return {call.is_in_place ? 2 : 1, most_direct, tile_of_long<Policy>(),
            detail::tuning_of<Policy>(long_class).items_per_thread};
  }
  template <class Policy>
  int tile_of_long() const {
    const segment_tile_tuning tuning = detail::tuning_of<Policy>(long_class);
    return tuning.block_threads * tuning.items_per_thread;
  }

  void configure(launch_configuration& configuration, std::size_t shared_bytes) const {
    configuration.dynamic_shared_bytes = shared_bytes;
    configuration.stream = call.stream;
    configuration.programmatic = device.ptx_version >= 900;
  }

  cudaError_t clear() const {
    const std::size_t words = progress_words + (call.longest > least_tile_items ? most_blocks : 0);
    return cudaMemsetAsync(workspace.progress, 0, words * sizeof(*barrier_flags), call.stream);
  }

  /// Sorts segments of a tuning's class, and then what is longer.
  template <class Policy, segment_tile_class Class>
  cudaError_t sort(unsigned long long usual) {
    constexpr segment_tile_tuning tuning = detail::tuning_of<Policy>(Class);
    using Tile = typename segment_tile_of<Policy, Class>::template agent<Key, Value, KeysIn,
                                                                         ValuesIn, Compare>;
    static_assert(tuning.most_items >= least_queued && tuning.most_items <= Tile::tile_items,
                  "segment_tile_tuning::most_items must fit the tile, and be least in `tiny`");
    // A call that has no longer ones needs one kernel.
    const int most_direct = call.longest <= Tile::tile_items ? Tile::tile_items : tuning.most_items;
    const bool hands_on = call.longest > most_direct;
    const segment_classes classes = classes_up_to<Policy>(most_direct);
    // One tile if the segments are alike.
    const auto owners =
        static_cast<long long>(ceiling_divide<unsigned long long>(usual, tuning.items_per_thread));
    long long per_block = tuning.block_threads / (owners < 1 ? 1 : owners);
    if (per_block < 1) per_block = 1;
    const long long least = ceiling_divide<long long>(call.num_segments, most_grid);
    if (per_block < least) per_block = least;
    if constexpr (Class == segment_tile_class::tiny) {
      if (owners <= 2) {
        // Full tiles, also of segments among many empty ones, if there are enough blocks.
        constexpr long long most = Tile::most_segments / tuning.block_threads;
        const long long waves = call.num_segments / (static_cast<long long>(tuning.block_threads) *
                                                     tuning.blocks_per_multiprocessor *
                                                     device.multiprocessors);
        per_block = tuning.block_threads * (waves < 4 ? 1 : waves < 2 * most ? waves / 2 : most);
      }
      if (per_block < least || per_block > Tile::most_segments) return cudaErrorInvalidValue;
    }
    if (per_block > most_grid) return cudaErrorInvalidValue;
    const long long blocks = ceiling_divide(call.num_segments, per_block);

    cudaError_t status = hands_on ? clear() : cudaSuccess;
    if (status != cudaSuccess) return status;
    const auto kernel = segmented_merge_sort_kernel<MaxPolicy, Class, Key, Value, KeysIn, ValuesIn,
                                                    Segments, Compare>;
    constexpr std::size_t shared_bytes = sizeof(typename Tile::TempStorage);
    static kernel_property_cache cache;
    int resident = 0;  // Allows as much shared memory.
    status = detail::resident_blocks_per_multiprocessor(cache, kernel, tuning.block_threads,
                                                        shared_bytes, resident);
    if (status != cudaSuccess) return status;
    launch_configuration configuration{"strata::DeviceSegmentedMergeSort",
                                       dim3(static_cast<unsigned>(blocks)),
                                       dim3(tuning.block_threads)};
    configure(configuration, shared_bytes);
    merge_sort_workspace shared = workspace;
    if (!hands_on) shared.progress = nullptr;
    status = strata::launch(configuration, kernel, call.keys, call.values, call.output,
                            call.segments, call.num_segments, static_cast<int>(per_block), classes,
                            shared, call.compare);
    return status != cudaSuccess || !hands_on ? status : sort_long<Policy>(classes);
  }

  /// What was handed on.
  template <class Policy>
  cudaError_t sort_long(const segment_classes& classes) {
    if constexpr (items_of_tile < Policy, segment_tile_class::huge >> least_tile_items) {
      if (long_class == segment_tile_class::huge) {
        return sort_long<Policy, segment_tile_class::huge>(classes);
      }
    }
    if (long_class == segment_tile_class::few) {
      return sort_long<Policy, segment_tile_class::few>(classes);
    }
    return sort_long<Policy, segment_tile_class::large>(classes);
  }

  template <class Policy, segment_tile_class Class>
  cudaError_t sort_long(const segment_classes& classes) {
    constexpr segment_tile_tuning tuning = detail::tuning_of<Policy>(Class);
    using Tile = typename segment_tile_of<Policy, Class>::template agent<Key, Value, KeysIn,
                                                                         ValuesIn, Compare>;
    const auto kernel = segmented_merge_sort_long_kernel<MaxPolicy, Class, Key, Value, KeysIn,
                                                         ValuesIn, Segments, Compare>;
    constexpr std::size_t shared_bytes = sizeof(typename Tile::TempStorage);
    static kernel_property_cache cache;
    int per_multiprocessor = 0;
    cudaError_t status = detail::resident_blocks_per_multiprocessor(
        cache, kernel, tuning.block_threads, shared_bytes, per_multiprocessor);
    if (status != cudaSuccess) return status;
    const unsigned long long resident = static_cast<unsigned long long>(per_multiprocessor) *
                                        static_cast<unsigned long long>(device.multiprocessors);
    // No more than there is to do: blocks beside each other take turns on a multiprocessor.
    const auto segments = static_cast<unsigned long long>(call.num_segments);
    const auto least_of = [](unsigned long long a, unsigned long long b) { return a < b ? a : b; };
    unsigned long long blocks = least_of(workspace.queue_room, segments);
    if (call.longest > Tile::tile_items) {
      blocks += call.num_items / Tile::tile_items + least_of(workspace.split_room, segments);
    }
    blocks = least_of(blocks < 1 ? 1 : blocks, resident);
    launch_configuration configuration{"strata::DeviceSegmentedMergeSort, long segments",
                                       dim3(static_cast<unsigned>(blocks)),
                                       dim3(tuning.block_threads)};
    configure(configuration, shared_bytes);
    status = strata::launch(configuration, kernel, call.keys, call.values, call.output, merged,
                            buffer, call.segments, classes, workspace, call.compare);
    return status != cudaSuccess || call.longest <= classes.tile_items
               ? status
               : merge_runs<Policy, Class>();
  }

  template <class Policy, segment_tile_class Class>
  cudaError_t merge_runs() {
    constexpr segment_merge_tuning tuning = segment_merge_of<Policy, Class>::tuning;
    constexpr auto tile_items = static_cast<std::size_t>(items_of_tile<Policy, Class>);
    using Agent = AgentSegmentMerge<tuning.block_threads, tuning.items_per_thread, tuning.tile_items,
                                    static_cast<int>(tile_items), Key, Value, Compare>;
    static kernel_property_cache cache;
    launch_configuration configuration{"strata::DeviceSegmentedMergeSort, merges", dim3(1),
                                       dim3(tuning.block_threads)};
    configuration.dynamic_shared_bytes = sizeof(typename Agent::TempStorage);
    configuration.stream = call.stream;
    const std::size_t tiles =
        workspace.tile_room * (tile_items / static_cast<std::size_t>(tuning.tile_items));
    // The flags are 0 before each run of the kernel.
    constexpr unsigned long long tag = 1ull << 32;
    return detail::launch_resident(
        configuration, cache, device, tiles, most_blocks,
        segmented_merge_sort_merge_kernel<MaxPolicy, Class, Key, Value, Compare>, merged, buffer,
        workspace, grid_barrier_arguments{barrier_flags, nullptr, tag, false}, call.compare);
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
