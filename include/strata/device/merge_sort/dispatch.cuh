// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/launch.cuh>
#include <strata/device/engine/tagged_word.cuh>
#include <strata/device/merge_sort/grid_dispatch.cuh>
#include <strata/device/merge_sort/kernels.cuh>
#include <strata/device/merge_sort/long_dispatch.cuh>
#include <strata/device/merge_sort/tuning.hpp>
#include <strata/device/merge_sort/workspace.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// How a call sorts its segments. The choice depends on what the host knows: counts and the mean length. Kernels read
/// the lengths.
struct merge_sort_choice {
  /// The class of the first kernel, which sorts short segments and queues the others.
  segment_class first = segment_class::one_tile;
  /// True if the mean segment is longer than a tile: all segments are queued, and the first kernel is not launched.
  bool queues_all = false;
  /// The class of tiles in which queued and longer segments are sorted if no grid takes them.
  segment_class longer = segment_class::one_tile;
  /// The number of items in a tile of the class that is chosen by the mean length and the number of items.
  int tile_items = 0;
};

/// `longer_of_few_items`: see few_items_class.
template <class Policy, bool HasOneSegment>
constexpr merge_sort_choice choose_merge_sort(unsigned long long num_items, long long num_segments, long long longest,
                                              int multiprocessors, segment_class longer_of_few_items) {
  using bounds = segment_class_bounds<Policy>;
  constexpr segment_tile_tuning large = Policy::tile_per_multiprocessor;
  const unsigned long long mean = num_items / static_cast<unsigned long long>(num_segments);
  const bool has_few_items = num_items <= static_cast<unsigned long long>(multiprocessors) * large.tile_items();
  // If most segments fit the smaller tile, less of a tile stays empty than with the larger one.
  const segment_class by_mean =
      HasOneSegment || mean > bounds::one_tile ? segment_class::many_tiles : segment_class::one_tile;
  const segment_class whole = has_few_items ? segment_class::tile_per_multiprocessor : by_mean;
  merge_sort_choice choice;
  choice.longer = has_few_items ? longer_of_few_items : by_mean;
  choice.tile_items = detail::tuning_of<Policy>(whole).tile_items();
  const auto with_first = [&choice](segment_class first) {
    choice.first = first;
    return choice;
  };
  if (num_segments <= multiprocessors) {
    if (longest <= Policy::one_thread.tile_items()) return with_first(segment_class::one_thread);
    // Longer segments are left to other kernels. There are no more segments than multiprocessors, so smaller blocks
    // would not fill the multiprocessors.
    const bool are_large = mean > bounds::few_threads && mean <= static_cast<unsigned long long>(large.tile_items());
    if (longest <= large.tile_items() || (!HasOneSegment && are_large)) {
      return with_first(segment_class::tile_per_multiprocessor);
    }
  }
  if constexpr (!HasOneSegment) {
    if (mean <= bounds::one_thread) return with_first(segment_class::one_thread);
    if (mean <= bounds::few_threads) return with_first(segment_class::few_threads);
    if (mean <= bounds::part_of_tile || longest <= Policy::part_of_tile.max_items) {
      return with_first(segment_class::part_of_tile);
    }
    if (has_few_items && mean <= bounds::one_tile) {
      const int owners = ceiling_divide(static_cast<int>(mean), large.items_per_thread);
      const int per_tile = owners < large.block_threads ? large.block_threads / owners : 1;
      // More blocks than multiprocessors would take turns. Smaller blocks share a multiprocessor.
      if (num_segments > static_cast<long long>(per_tile) * multiprocessors) return with_first(segment_class::one_tile);
    }
    if (mean <= static_cast<unsigned long long>(choice.tile_items)) return with_first(whole);
  }
  choice.queues_all = true;
  return choice;
}

/// The bytes of an item by which the rows of a sort are chosen. A merge in a grid holds the key of a pair, and 4 bytes
/// in place of its value. If a tile would then exceed 48 KiB of shared memory, as with keys of 7 bytes and values of 1
/// byte, the sort takes the rows of larger items.
template <class Key, class Value>
constexpr int merge_sort_item_bytes() {
  constexpr int bytes = static_cast<int>(sizeof(segment_item<Key, Value>));
  using rows = merge_sort_grid_rows<bytes>;
  constexpr std::size_t merged_bytes =
      std::size_t{rows::grid_threads} * std::size_t{rows::items_of_grid} * (sizeof(Key) + 4);
  return !std::is_same_v<Value, NullType> && merged_bytes > std::size_t{48} << 10 ? bytes + 1 : bytes;
}

/// Carries out one call of a merge sort of segments, whose arguments are checked. `Value` is NullType for keys alone.
/// Output keys may be null.
///
///     one segment, if resident blocks hold it
///                            merge_sort_grid_kernel: sorts it
///     mean up to a tile      segmented_merge_sort_kernel: sorts short segments, queues the others; if the tuning of
///                            numbers says so (number_tile), segmented_number_sort_kernel does
///     longer mean            segmented_merge_sort_queue_kernel: queues all segments
///     few segments           segmented_merge_sort_few_queue_kernel: queues what no kernel before has sorted, if no
///                            grid finds it itself
///     if there may be longer segments, and resident blocks hold all their tiles, then
///                            segmented_merge_sort_grid_kernel: sorts these; if there are few segments, it finds the
///                            longer ones itself, so that nothing is cleared or queued before
///     else, if there may be longer segments, then
///                            segmented_merge_sort_queued_kernel: queued segments, tiles of longer ones
///     if some may be longer than a tile, then
///                            segmented_merge_sort_merge_kernel: merges these tiles
///     last                   the kernels of `LongSort`
template <class Key, class Value, class KeysIn, class ValuesIn, class Segments, class Compare,
          class PolicyHub = default_policy_hub, class LongSort = merge_long_segments>
struct DispatchSegmentedMergeSort {
  static_assert(hub_has_rows<segmented_merge_sort_rows, PolicyHub>,
                "merge sorts: each policy in the chain of PolicyHub::MaxPolicy must name itself in its ChainedPolicy "
                "and have the members one_thread, few_threads, part_of_tile, one_tile, many_tiles, "
                "tile_per_multiprocessor and whole_array (segment_tile_tuning), merge, merge_per_multiprocessor and "
                "merge_whole_array (segment_merge_tuning), one_cluster and resident_grid (merge_sort_grid_tuning)");
  using MaxPolicy = typename hub_or<segmented_merge_sort_rows, PolicyHub,
                                    segmented_merge_sort_policy_hub<merge_sort_item_bytes<Key, Value>()>>::MaxPolicy;
  using Arrays = merge_sort_arrays<Key, Value>;
  static constexpr bool has_values = !std::is_same_v<Value, NullType>;
  static constexpr bool has_one_segment = std::is_same_v<Segments, single_segment>;
  // Only tiles of a grid may be smaller. Other tiles of long segments have this size or a larger one, so storage
  // suffices for all classes.
  static constexpr long long min_tile_items = MaxPolicy::one_tile.tile_items();
  static constexpr bool has_grid = has_one_segment && MaxPolicy::one_cluster.block_threads > 0;
  template <class Policy>
  using SegmentsGrid = segments_grid<MaxPolicy, Policy, Key, Value, KeysIn, ValuesIn, Segments, Compare>;
  static constexpr bool has_segments_grid = !has_one_segment && MaxPolicy::resident_grid.block_threads > 0;
  // More items may need a buffer, and flags of a barrier.
  static constexpr long long max_block_items = has_grid && MaxPolicy::one_cluster.tile_items() < min_tile_items
                                                   ? MaxPolicy::one_cluster.tile_items()
                                                   : min_tile_items;
  // The smallest `max_items` of all classes. Segments of up to this many items are queued only if all segments are.
  static constexpr long long least_direct_items = MaxPolicy::one_thread.max_items;
  static constexpr unsigned long long max_tiles = 1ull << 28;
  // Flags of a barrier for this many blocks follow the counters of the call.
  static constexpr std::size_t max_barrier_blocks = 2048;
  static constexpr std::size_t progress_words = sizeof(merge_sort_progress) / sizeof(long long);

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
    /// For items between two levels of merges. It has the length of the output. Null: it is a part of temporary
    /// storage.
    const Arrays* buffer = nullptr;
  };

  const arguments& call;
  Arrays merged;
  Arrays buffer;
  typename LongSort::Workspace workspace;
  LongSort long_sort;
  unsigned long long* barrier_flags;
  /// The class of tiles in which longer segments are sorted: one_tile, many_tiles, tile_per_multiprocessor or
  /// whole_array.
  segment_class long_class;
  device_properties device;
  /// Number of blocks of the grid that sorts longer segments. If it is 0, other kernels sort queued segments and tiles,
  /// and merge.
  std::size_t grid_blocks = 0;

  /// `storage_bytes`: the bytes that the caller has; without storage, receives the bytes that it needs.
  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& storage_bytes, const arguments& call) {
    enum slot { progress, queue, split, tiles, keys, values, scratch, slots };
    const unsigned long long items = call.num_items;
    temporary_storage::layout<slots + LongSort::slots> storage;
    typename LongSort::Workspace workspace{};
    const LongSort long_sort = LongSort::reserve(storage, slots, call);
    storage.template reserve<unsigned long long>(progress, clear_words(call) + long_sort.progress_words());
    if (call.longest > least_direct_items) {
      // If all segments are queued, shorter ones are, too. But then all segments are so few that they fit.
      workspace.queue_capacity = has_one_segment ? 1 : items / (least_direct_items + 1);
      storage.template reserve<long long>(queue, workspace.queue_capacity);
    }
    if (call.longest > min_tile_items) {
      const long_segment_capacities<MaxPolicy, has_segments_grid> most(items, max_barrier_blocks);
      workspace.split_capacity = has_one_segment ? 1 : most.segments;
      workspace.tile_capacity = most.full_tiles + workspace.split_capacity;
      if (detail::refuses_blocks(workspace.tile_capacity > max_tiles, "num_items")) return cudaErrorInvalidValue;
      storage.template reserve<split_segment>(split, workspace.split_capacity);
      storage.template reserve<unsigned>(tiles, workspace.tile_capacity);
    }
    if (call.longest > max_block_items && call.buffer == nullptr) {
      workspace.buffer_capacity = items + workspace.split_capacity * merge_sort_workspace::buffer_step;
      storage.template reserve<Key>(keys, workspace.buffer_capacity);
      if (has_values) storage.template reserve<Value>(values, workspace.buffer_capacity);
      if (!call.wants_keys) storage.template reserve<Key>(scratch, workspace.buffer_capacity);
    }
    if (d_temp_storage == nullptr) return detail::answer_size_query(storage, storage_bytes);
    if (detail::refuses_storage(storage, d_temp_storage, storage_bytes)) return cudaErrorInvalidValue;
    if (items == 0 || call.num_segments == 0) return cudaSuccess;
    workspace.progress = storage.template get<merge_sort_progress>(progress);
    workspace.queue = storage.template get<long long>(queue);
    workspace.split = storage.template get<split_segment>(split);
    workspace.tiles = storage.template get<unsigned>(tiles);
    workspace.keys_are_scratch = !call.wants_keys;
    Arrays merged = call.output;
    if (!call.wants_keys) merged.keys = storage.template get<Key>(scratch);
    Arrays buffer{storage.template get<Key>(keys), storage.template get<Value>(values)};
    if (call.buffer != nullptr) buffer = *call.buffer;
    auto* const words = storage.template get<unsigned long long>(progress);
    long_sort.map(storage, slots, call, words + clear_words(call), workspace);
    DispatchSegmentedMergeSort dispatch{
        call, merged, buffer, workspace, long_sort, words + progress_words, segment_class::one_tile, {}};
    const cudaError_t status = detail::current_device_properties(dispatch.device, call.stream);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  template <class Policy>
  cudaError_t Invoke() {
    static_assert(
        detail::are_whole_warps(Policy::one_thread.block_threads, Policy::few_threads.block_threads,
                                Policy::part_of_tile.block_threads, Policy::one_tile.block_threads,
                                Policy::many_tiles.block_threads, Policy::tile_per_multiprocessor.block_threads,
                                Policy::merge.block_threads, Policy::merge_per_multiprocessor.block_threads),
        "segment_tile_tuning, segment_merge_tuning: block_threads must be a multiple of 32, at most 1024");
    static_assert(Policy::one_tile.tile_items() == min_tile_items,
                  "segmented merge sort tuning: `one_tile` must have the same tile in all policies of a chain");
    static_assert(Policy::many_tiles.tile_items() >= min_tile_items,
                  "segmented merge sort tuning: the tile of `many_tiles` must not be smaller than "
                  "that of `one_tile`");
    static_assert(Policy::tile_per_multiprocessor.tile_items() >= min_tile_items,
                  "segmented merge sort tuning: the tile of `tile_per_multiprocessor` must not be "
                  "smaller than that of `one_tile`");
    // Merges of very large items fit in no block of some architectures.
    constexpr int merge_bytes = detail::merge_bytes(static_cast<int>(sizeof(segment_item<Key, Value>)), Policy::merge);
    if (detail::is_refused(call.longest > min_tile_items && merge_bytes > device.shared_bytes_of_block, "an item",
                           "is too large for the shared memory of a block: sort indices of items")) {
      return cudaErrorInvalidValue;
    }
    if constexpr (has_grid) {
      return sort_one_segment<Policy>();
    } else {
      const cudaError_t status = sort_segments<Policy>();
      return status != cudaSuccess ? status : long_sort.template sort<Policy>(call, merged, buffer, workspace, device);
    }
  }

 private:
  static constexpr long long max_grid = 0x7fffffff;

  template <class Policy>
  cudaError_t sort_one_segment() {
    bool is_launched = false;
    cudaError_t status = sort_in_grid<Policy, one_cluster_row>(is_launched);
    if (status == cudaSuccess && !is_launched) status = sort_in_grid<Policy, resident_grid_row>(is_launched);
    if (status != cudaSuccess || is_launched) return status;
    long_class = segment_class::whole_array;
    return queue_all<Policy>();
  }

  template <class Policy>
  cudaError_t sort_segments() {
    const merge_sort_choice choice = detail::choose_merge_sort<Policy, has_one_segment>(
        call.num_items, call.num_segments, call.longest, device.multiprocessors,
        detail::few_items_class<Policy, LongSort, has_segments_grid>());
    long_class = choice.longer;
    if constexpr (has_segments_grid) {
      const cudaError_t status =
          SegmentsGrid<Policy>::blocks(device, max_barrier_blocks, call, choice.tile_items, grid_blocks);
      if (status != cudaSuccess) return status;
      if (grid_blocks > 0) workspace.tile_capacity = grid_blocks - 1;
    }
    if constexpr (LongSort::has_number_tiles) {
      if (Policy::number_tile.takes(call.num_items, static_cast<std::size_t>(call.num_segments),
                                    device.multiprocessors)) {
        return sort_number_tiles<Policy>();
      }
    }
    if (choice.queues_all) return queue_all<Policy>();
    switch (choice.first) {
      case segment_class::one_thread:
        return sort<Policy, segment_class::one_thread>();
      case segment_class::tile_per_multiprocessor:
        return sort<Policy, segment_class::tile_per_multiprocessor>();
      default:
        break;
    }
    if constexpr (!has_one_segment) {
      switch (choice.first) {
        case segment_class::few_threads:
          return sort<Policy, segment_class::few_threads>();
        case segment_class::part_of_tile:
          return sort<Policy, segment_class::part_of_tile>();
        case segment_class::one_tile:
          return sort<Policy, segment_class::one_tile>();
        case segment_class::many_tiles:
          return sort<Policy, segment_class::many_tiles>();
        default:
          break;
      }
    }
    return cudaErrorInvalidValue;
  }

  static std::size_t clear_words(const arguments& call) {
    return progress_words + (call.longest > max_block_items ? max_barrier_blocks : 0);
  }
  cudaError_t clear() const {
    const std::size_t words = clear_words(call) + long_sort.progress_words();
    return cudaMemsetAsync(workspace.progress, 0, words * sizeof(*barrier_flags), call.stream);
  }

  /// Sorts one segment in one launch. `is_launched` becomes false if the device cannot hold a block for each tile at a
  /// time.
  template <class Policy, template <class> class Row>
  cudaError_t sort_in_grid(bool& is_launched) {
    using Grid = merge_sort_grid<MaxPolicy, Policy, Row, Key, Value, KeysIn, ValuesIn, Compare>;
    const grid_barrier_arguments barrier{barrier_flags, reinterpret_cast<unsigned*>(workspace.progress), next_epoch(),
                                         detail::is_replayable(call.stream)};
    return Grid::launch(configuration("strata::DeviceMergeSort", 1, Grid::block_threads, Grid::shared_bytes), device,
                        max_barrier_blocks, call.keys, call.values, merged, buffer, call.num_items, barrier,
                        call.compare, is_launched);
  }

  template <class Policy>
  segment_limits limits_up_to(int max_direct) const {
    const int min_sorted = call.is_in_place ? 2 : 1;
    if constexpr (has_segments_grid) {
      if (grid_blocks > 0) return SegmentsGrid<Policy>::limits(min_sorted, max_direct);
    }
    const segment_tile_tuning tuning = detail::tuning_of<Policy>(long_class);
    return {min_sorted, max_direct, tuning.tile_items(), tuning.items_per_thread};
  }

  launch_configuration configuration(const char* name, long long blocks, int block_threads,
                                     std::size_t shared_bytes) const {
    launch_configuration made{name, dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(block_threads))};
    made.dynamic_shared_bytes = shared_bytes;
    made.stream = call.stream;
    made.programmatic = device.ptx_version >= 900;
    return made;
  }

  /// Sorts segments of a class, and then the longer ones.
  template <class Policy, segment_class Class>
  cudaError_t sort() {
    constexpr segment_tile_tuning tuning = detail::tuning_of<Policy>(Class);
    using Agent = segments_agent<Policy, Class, Segments, Key, Value, KeysIn, ValuesIn, Compare>;
    static_assert(tuning.max_items >= least_direct_items && tuning.max_items <= Agent::tile_items,
                  "segment_tile_tuning::max_items must not exceed the tile, nor be below max_items of `one_thread`");
    // A call without longer segments needs one kernel.
    const int max_direct = call.longest <= Agent::tile_items ? Agent::tile_items : tuning.max_items;
    const bool has_longer = call.longest > max_direct;
    if (!has_longer) grid_blocks = 0;
    const bool queues = has_longer && !has_few_segments();
    const segment_limits limits = limits_up_to<Policy>(max_direct);
    const long long per_block = detail::segments_per_block<Agent, Class, has_one_segment>(
        tuning, call.num_items / static_cast<unsigned long long>(call.num_segments), call.num_segments,
        device.multiprocessors, max_grid);
    if (detail::refuses_blocks(per_block == 0, "num_segments")) return cudaErrorInvalidValue;
    cudaError_t status = queues ? clear() : cudaSuccess;
    if (status != cudaSuccess) return status;
    const auto kernel = segmented_merge_sort_kernel<MaxPolicy, Class, Key, Value, KeysIn, ValuesIn, Segments,
                                                    typename LongSort::Workspace, Compare>;
    constexpr std::size_t shared_bytes = sizeof(typename Agent::TempStorage);
    static kernel_property_cache cache;
    int resident = 0;  // Not used. The query allows the kernel its shared memory.
    status = detail::resident_blocks_per_multiprocessor(cache, kernel, tuning.block_threads, shared_bytes, resident);
    if (status != cudaSuccess) return status;
    auto shared = workspace;
    if (!queues) shared.progress = nullptr;
    status = strata::launch(
        configuration("strata::DeviceSegmentedMergeSort", detail::ceiling_divide(call.num_segments, per_block),
                      tuning.block_threads, shared_bytes),
        kernel, call.keys, call.values, call.output, call.segments, call.num_segments, static_cast<int>(per_block),
        limits, shared, call.compare);
    if (status != cudaSuccess || !has_longer) return status;
    return queues ? sort_queued<Policy>(limits) : sort_few<Policy>(limits, false);
  }

  /// True if another kernel finds the segments that are too long for the first one. It reads all lengths. Then nothing
  /// is cleared before the first kernel.
  bool has_few_segments() const { return call.num_segments <= most_few_segments; }

  /// Sorts the segments that the first kernel has left, or all segments if there is no first kernel. A grid finds the
  /// segments itself; other kernels get a queue of segments.
  template <class Policy>
  cudaError_t sort_few(const segment_limits& limits, bool is_first) {
    if (grid_blocks > 0 && !long_sort.is_used(call)) {
      return sort_queued<Policy>(limits, is_first ? segments_plan::few_and_all : segments_plan::few);
    }
    const auto words = static_cast<unsigned>(clear_words(call) + long_sort.progress_words());
    const cudaError_t status = strata::launch(
        configuration("strata::DeviceSegmentedMergeSort, queue", 1, few_segments_threads, 0),
        segmented_merge_sort_few_queue_kernel<Segments, typename LongSort::Workspace>, call.segments, call.num_segments,
        limits, workspace, reinterpret_cast<unsigned long long*>(workspace.progress), words, is_first);
    return status != cudaSuccess ? status : sort_queued<Policy>(limits);
  }

  /// Sorts segments of numbers in registers, one in each block, and then the longer ones.
  template <class Policy>
  cudaError_t sort_number_tiles() {
    constexpr int tile_items = Policy::number_tile.tile_items();
    if (detail::refuses_blocks(call.num_segments > max_grid, "num_segments")) return cudaErrorInvalidValue;
    const bool has_longer = call.longest > tile_items;
    if (!has_longer) grid_blocks = 0;
    const bool queues = has_longer && !has_few_segments();
    const segment_limits limits = limits_up_to<Policy>(tile_items);
    cudaError_t status = queues ? clear() : cudaSuccess;
    if (status != cudaSuccess) return status;
    auto shared = workspace;
    if (!queues) shared.progress = nullptr;
    status = LongSort::template sort_number_tiles<Policy>(
        configuration("strata::DeviceSegmentedSort, tiles", call.num_segments, Policy::number_tile.block_threads, 0),
        call, limits, shared);
    if (status != cudaSuccess || !has_longer) return status;
    return queues ? sort_queued<Policy>(limits) : sort_few<Policy>(limits, false);
  }

  template <class Policy>
  cudaError_t queue_all() {
    [[maybe_unused]] constexpr int threads = 256;
    const segment_limits limits = limits_up_to<Policy>(0);
    if constexpr (has_one_segment) {
      return sort_few<Policy>(limits, true);
    } else {
      if (has_few_segments()) return sort_few<Policy>(limits, true);
      cudaError_t status = clear();
      if (status != cudaSuccess) return status;
      const long long blocks = detail::ceiling_divide<long long>(call.num_segments, threads);
      if (detail::refuses_blocks(blocks > max_grid, "num_segments")) return cudaErrorInvalidValue;
      status = strata::launch(configuration("strata::DeviceSegmentedMergeSort, queue", blocks, threads, 0),
                              segmented_merge_sort_queue_kernel<Segments, typename LongSort::Workspace>, call.segments,
                              call.num_segments, limits, workspace);
      return status != cudaSuccess ? status : sort_queued<Policy>(limits);
    }
  }

  template <class Policy>
  cudaError_t sort_queued(const segment_limits& limits, [[maybe_unused]] segments_plan plan = segments_plan::queued) {
    if constexpr (has_grid) {
      return sort_queued<Policy, segment_class::whole_array>(limits);
    } else {
      if constexpr (has_segments_grid) {
        if (grid_blocks > 0) {
          return SegmentsGrid<Policy>::launch(
              configuration("strata::DeviceSegmentedMergeSort, grid", static_cast<long long>(grid_blocks),
                            Policy::resident_grid.block_threads, SegmentsGrid<Policy>::shared_bytes),
              plan, call.output, merged, buffer, limits, workspace,
              plan == segments_plan::queued ? cleared_barrier() : uncleared_barrier(), call);
        }
      }
      if constexpr (detail::few_items_class<Policy, LongSort, has_segments_grid>() ==
                    segment_class::tile_per_multiprocessor) {
        if (long_class == segment_class::tile_per_multiprocessor) {
          return sort_queued<Policy, segment_class::tile_per_multiprocessor>(limits);
        }
      }
      if constexpr (Policy::many_tiles.tile_items() > min_tile_items) {
        if (long_class == segment_class::many_tiles) {
          return sort_queued<Policy, segment_class::many_tiles>(limits);
        }
      }
      return sort_queued<Policy, segment_class::one_tile>(limits);
    }
  }

  template <class Policy, segment_class Class>
  cudaError_t sort_queued(const segment_limits& limits) {
    constexpr segment_tile_tuning tuning = detail::tuning_of<Policy>(Class);
    using Tile = tile_agent<Policy, Class, Key, Value, KeysIn, ValuesIn, Compare>;
    const auto kernel =
        segmented_merge_sort_queued_kernel<MaxPolicy, Class, Key, Value, KeysIn, ValuesIn, Segments, Compare>;
    constexpr std::size_t shared_bytes = sizeof(typename Tile::TempStorage);
    static kernel_property_cache cache;
    std::size_t resident = 0;
    cudaError_t status = detail::resident_blocks(cache, device, kernel, tuning.block_threads, shared_bytes, resident);
    if (status != cudaSuccess) return status;
    // At most one block for each work item: idle blocks would share the multiprocessors.
    const auto segments = static_cast<unsigned long long>(call.num_segments);
    unsigned long long blocks = detail::least(workspace.queue_capacity, segments);
    if (call.longest > Tile::tile_items) {
      blocks += call.num_items / Tile::tile_items + detail::least(workspace.split_capacity, segments);
    }
    blocks = detail::least(detail::most(blocks, 1), resident);
    status = strata::launch(configuration("strata::DeviceSegmentedMergeSort, queued segments",
                                          static_cast<long long>(blocks), tuning.block_threads, shared_bytes),
                            kernel, call.keys, call.values, call.output, merged, buffer, call.segments, limits,
                            workspace, call.compare);
    return status != cudaSuccess || call.longest <= limits.max_queued ? status : merge<Policy, Class>();
  }

  template <class Policy, segment_class Class>
  cudaError_t merge() {
    constexpr bool is_of_numbers = !std::is_same_v<LongSort, merge_long_segments>;
    using Merges = segment_merges<MaxPolicy, Policy, Class, is_of_numbers, Key, Value, Compare>;
    return Merges::launch(configuration("strata::DeviceSegmentedMergeSort, merges", 1, Merges::tuning.block_threads,
                                        Merges::shared_bytes),
                          device, max_barrier_blocks, merged, buffer, workspace, cleared_barrier(), call.compare);
  }

  grid_barrier_arguments uncleared_barrier() const {
    return {barrier_flags, &workspace.progress->departures, next_epoch(), detail::is_replayable(call.stream)};
  }

  /// Returns a barrier that needs no epoch of the call, because its flags are 0 before each run of the kernel.
  grid_barrier_arguments cleared_barrier() const { return {barrier_flags, nullptr, 1ull << 32, false}; }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
