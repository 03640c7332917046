// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/barrier.cuh>
#include <strata/device/engine/launch.cuh>
#include <strata/device/merge_sort/agent_merge_runs.cuh>
#include <strata/device/merge_sort/agent_segments_grid.cuh>
#include <strata/device/merge_sort/grid_dispatch.cuh>
#include <strata/device/merge_sort/tuning.hpp>
#include <strata/device/merge_sort/workspace.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// \file
/// Kernels for segments that are longer than a tile, and their launches: merges of tiles that are sorted, or a grid
/// that sorts and merges them.

/// Returns how many merge tiles make up a sorted tile of the class.
template <class Policy>
constexpr int tiles_of_run(segment_class which) {
  return detail::tuning_of<Policy>(which).tile_items() / detail::merge_tuning_of<Policy>(which).tile_items;
}
/// The agent that merges runs: with `HasAnyRuns`, runs of any number of tiles.
template <class Policy, segment_class Class, class Key, class Value, class Compare, bool HasAnyRuns = false>
using merge_agent = AgentSegmentMerge<detail::merge_tuning_of<Policy>(Class).block_threads,
                                      detail::merge_tuning_of<Policy>(Class).items_per_thread,
                                      detail::merge_tuning_of<Policy>(Class).tile_items,
                                      HasAnyRuns ? 0 : detail::tiles_of_run<Policy>(Class), Key, Value, Compare>;

/// Merges the tiles of long segments, in all levels. Its blocks are resident together.
template <class MaxPolicy, segment_class Class, bool HasAnyRuns, class Key, class Value, class Compare>
__launch_bounds__(detail::merge_tuning_of<typename MaxPolicy::ActivePolicy>(Class).block_threads,
                  detail::merge_tuning_of<typename MaxPolicy::ActivePolicy>(Class).blocks_per_multiprocessor)
    STRATA_KERNEL void segmented_merge_sort_merge_kernel(
        const STRATA_GRID_CONSTANT merge_sort_arrays<Key, Value> merged,
        const STRATA_GRID_CONSTANT merge_sort_arrays<Key, Value> buffer,
        const STRATA_GRID_CONSTANT merge_sort_workspace workspace,
        const STRATA_GRID_CONSTANT grid_barrier_arguments barrier, const STRATA_GRID_CONSTANT Compare compare,
        int tiles_of_run) {
  using Agent = merge_agent<typename MaxPolicy::ActivePolicy, Class, Key, Value, Compare, HasAnyRuns>;
  STRATA_DYNAMIC_SHARED(shared);
  platform::wait_for_previous_kernel();
  Agent(*reinterpret_cast<typename Agent::TempStorage*>(shared), workspace, merged, buffer, compare, tiles_of_run)
      .merge(barrier);
}

/// The launch of all merges of tiles of a class.
template <class MaxPolicy, class Policy, segment_class Class, bool IsOfNumbers, class Key, class Value, class Compare>
struct segment_merges {
  static constexpr segment_merge_tuning tuning = detail::merge_tuning_of<Policy>(Class);
  static_assert(detail::tuning_of<Policy>(Class).tile_items() % tuning.tile_items == 0,
                "segmented_merge_sort tuning: the size of a sorted tile must be a multiple of tile_items of its "
                "merges");
  // Sorts of numbers also compile kernels that sort by digits. To compile fewer kernels, their classes one_tile and
  // many_tiles share one merge kernel.
  static constexpr bool is_shared =
      IsOfNumbers && (Class == segment_class::one_tile || Class == segment_class::many_tiles);
  static constexpr segment_class kernel_class = is_shared ? segment_class::one_tile : Class;
  using Agent = merge_agent<Policy, kernel_class, Key, Value, Compare, is_shared>;
  static constexpr std::size_t shared_bytes = sizeof(typename Agent::TempStorage);

  /// The flags of the barrier must be 0.
  static cudaError_t launch(launch_configuration cooperative, const device_properties& device, std::size_t max_blocks,
                            const merge_sort_arrays<Key, Value>& merged, const merge_sort_arrays<Key, Value>& buffer,
                            const merge_sort_workspace& workspace, const grid_barrier_arguments& barrier,
                            const Compare& compare) {
    static kernel_property_cache cache;
    constexpr int tiles_of_run = detail::tiles_of_run<Policy>(Class);
    const std::size_t tiles = workspace.tile_capacity * static_cast<std::size_t>(tiles_of_run);
    return detail::launch_resident(
        cooperative, cache, device, tiles, max_blocks,
        segmented_merge_sort_merge_kernel<MaxPolicy, kernel_class, is_shared, Key, Value, Compare>, merged, buffer,
        workspace, barrier, compare, tiles_of_run);
  }
};

/// Sorts all segments, or those that an earlier kernel has left. The blocks of this kernel are resident together.
template <class MaxPolicy, class Key, class Value, class KeysIn, class ValuesIn, class Segments, class Compare>
__launch_bounds__(MaxPolicy::ActivePolicy::resident_grid.block_threads,
                  MaxPolicy::ActivePolicy::resident_grid.blocks_per_multiprocessor)
    STRATA_KERNEL void segmented_merge_sort_grid_kernel(
        const STRATA_GRID_CONSTANT KeysIn keys, const STRATA_GRID_CONSTANT ValuesIn values,
        const STRATA_GRID_CONSTANT merge_sort_arrays<Key, Value> output,
        const STRATA_GRID_CONSTANT merge_sort_arrays<Key, Value> merged,
        const STRATA_GRID_CONSTANT merge_sort_arrays<Key, Value> buffer, segments_plan plan, Segments segments,
        long long num_segments, segment_limits limits, const STRATA_GRID_CONSTANT merge_sort_workspace workspace,
        const STRATA_GRID_CONSTANT grid_barrier_arguments barrier, const STRATA_GRID_CONSTANT Compare compare) {
  using Agent =
      AgentSegmentsGrid<resident_grid_row<typename MaxPolicy::ActivePolicy>, Key, Value, KeysIn, ValuesIn, Compare>;
  STRATA_DYNAMIC_SHARED(shared);
  Agent(shared, workspace, compare)
      .sort(plan, keys, values, segments, num_segments, limits, output, merged, buffer, barrier);
}

/// Upper bounds on the number of full tiles of long segments, and on the number of long segments, each of which has one
/// more tile. In calls of few items, tiles may have the size of the grid's tiles. Neither bound falls as `items` grows.
template <class MaxPolicy, bool HasGrid>
struct long_segment_capacities {
  static constexpr auto class_tile = static_cast<unsigned long long>(MaxPolicy::one_tile.tile_items());
  static constexpr auto grid_tile =
      HasGrid ? static_cast<unsigned long long>(MaxPolicy::resident_grid.tile_items()) : class_tile;
  unsigned long long full_tiles, segments;

  long_segment_capacities(unsigned long long items, std::size_t max_blocks) {
    // A long segment has at least two tiles, so a grid has no more than half as many segments as blocks.
    const unsigned long long most_few = max_blocks / 2 * (grid_tile + 1), few = detail::least(items, most_few);
    full_tiles = detail::most(items / class_tile, few / grid_tile);
    segments = detail::most(items / (class_tile + 1), few / (grid_tile + 1));
  }

 private:
};

/// The class of tiles for segments longer than a tile in calls of few items, if no grid takes them. Sorts of numbers
/// also compile kernels that sort by digits. If they have a grid, it takes most calls of few items. Then the other
/// calls of few items use the kernels of many_tiles, if their tile is large enough, so that fewer kernels are compiled.
template <class Policy, class LongSort, bool HasGrid>
constexpr segment_class few_items_class() {
  constexpr bool fits = Policy::many_tiles.tile_items() >= Policy::tile_per_multiprocessor.tile_items() &&
                        Policy::many_tiles.tile_items() > Policy::one_tile.tile_items();
  return HasGrid && fits && !std::is_same_v<LongSort, merge_long_segments> ? segment_class::many_tiles
                                                                           : segment_class::tile_per_multiprocessor;
}

/// Decides which calls leave their long and queued segments to one grid, and launches it.
template <class MaxPolicy, class Policy, class Key, class Value, class KeysIn, class ValuesIn, class Segments,
          class Compare>
struct segments_grid {
  static_assert(Policy::resident_grid.tile_items() == MaxPolicy::resident_grid.tile_items(),
                "merge_sort_grid_tuning: `resident_grid` must have the same tile in all policies of a chain");
  static_assert(detail::are_whole_warps(Policy::resident_grid.block_threads),
                "merge_sort_grid_tuning: block_threads must be a multiple of 32, at most 1024");
  static_assert(Policy::resident_grid.items_per_thread % 2 != 0,
                "merge_sort_grid_tuning: items_per_thread must be odd, so that a tile has no gaps");

  static constexpr merge_sort_grid_tuning row = Policy::resident_grid;
  using Arrays = merge_sort_arrays<Key, Value>;
  using Agent = AgentSegmentsGrid<resident_grid_row<Policy>, Key, Value, KeysIn, ValuesIn, Compare>;
  static constexpr std::size_t shared_bytes = sizeof(typename Agent::TempStorage);

  /// Finds how many blocks a call needs: one for each tile that long segments may have, and at least one for queued
  /// segments. The number is 0 if the device does not hold as many at a time, or another way is faster. `class_items`
  /// is the number of items of a tile of the call's class.
  template <class Arguments>
  static cudaError_t blocks(const device_properties& device, std::size_t max_blocks, const Arguments& call,
                            int class_items, std::size_t& blocks) {
    constexpr auto tile = static_cast<unsigned long long>(row.tile_items());
    const auto segments = static_cast<unsigned long long>(call.num_segments);
    const unsigned long long mean = call.num_items / segments, longer = call.num_items / (tile + 1);
    // Each long segment has up to one tile that is not full.
    const auto needed = static_cast<std::size_t>(call.num_items / tile + detail::least(longer, segments) + 1);
    blocks = 0;
    // A segment of the mean length may be one tile of its class, but several tiles of the grid. Then it takes fewer
    // levels of merges by the kernels of its class.
    const bool is_slower = mean > tile && mean <= static_cast<unsigned long long>(class_items);
    if (is_slower || needed > max_blocks || call.longest <= MaxPolicy::one_tile.tile_items()) return cudaSuccess;
    static kernel_property_cache cache;
    std::size_t resident = 0;
    const cudaError_t status = detail::resident_blocks(cache, device, kernel, row.block_threads, shared_bytes, resident,
                                                       row.blocks_per_multiprocessor);
    if (needed <= resident) blocks = needed;
    return status;
  }

  /// The segments that an earlier kernel leaves to the grid.
  static segment_limits limits(int min_sorted, int max_direct) {
    return {min_sorted, detail::least(max_direct, row.tile_items()), row.tile_items(), row.items_per_thread};
  }

  /// `grid` has the number of blocks that blocks() has found. If an earlier kernel has queued segments, the flags of
  /// the barrier must be 0.
  template <class Arguments>
  static cudaError_t launch(launch_configuration grid, segments_plan plan, const Arrays& output, const Arrays& merged,
                            const Arrays& buffer, const segment_limits& limits, const merge_sort_workspace& workspace,
                            const grid_barrier_arguments& barrier, const Arguments& call) {
    grid.cooperative = grid.grid.x > 1;
    if (plan == segments_plan::queued) grid.programmatic = false;
    return strata::launch(grid, kernel, call.keys, call.values, output, merged, buffer, plan, call.segments,
                          call.num_segments, limits, workspace, barrier, call.compare);
  }

 private:
  static constexpr auto kernel =
      segmented_merge_sort_grid_kernel<MaxPolicy, Key, Value, KeysIn, ValuesIn, Segments, Compare>;
};

STRATA_ARCH_DETAIL_NAMESPACE_END
