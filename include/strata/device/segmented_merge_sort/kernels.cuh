// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/grid_barrier.cuh>
#include <strata/device/segmented_merge_sort/agent_merge.cuh>
#include <strata/device/segmented_merge_sort/agent_segments.cuh>
#include <strata/device/segmented_merge_sort/agent_short_segments.cuh>
#include <strata/device/segmented_merge_sort/agent_tile.cuh>
#include <strata/device/segmented_merge_sort/tuning.hpp>
#include <strata/device/segmented_merge_sort/workspace.cuh>

#include <cstddef>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Which row of the tuning a kernel takes.
enum class segment_tile_class { tiny, little, middle, large, huge, few };

template <class Policy>
constexpr segment_tile_tuning tuning_of(segment_tile_class which) {
  return which == segment_tile_class::tiny     ? Policy::tiny
         : which == segment_tile_class::little ? Policy::little
         : which == segment_tile_class::middle ? Policy::middle
         : which == segment_tile_class::large  ? Policy::large
         : which == segment_tile_class::huge   ? Policy::huge
                                               : Policy::few;
}

/// How what was sorted in tiles of a class is merged.
template <class Policy, segment_tile_class Class>
struct segment_merge_of {
  static constexpr segment_merge_tuning tuning =
      Class == segment_tile_class::few ? Policy::merge_few : Policy::merge;
};

template <class Policy, segment_tile_class Class>
struct segment_tile_of {
  static constexpr segment_tile_tuning tuning = detail::tuning_of<Policy>(Class);
  template <class Key, class Value, class KeysIn, class ValuesIn, class Compare>
  using agent = AgentSegmentTile<tuning.block_threads, tuning.items_per_thread, Key, Value, KeysIn,
                                 ValuesIn, Compare>;
};

/// Threads that sort segments alone may take as many items of one register as in `little`.
template <class Policy>
struct segment_tile_of<Policy, segment_tile_class::tiny> {
  static constexpr segment_tile_tuning tuning = Policy::tiny;
  template <class Key, class Value>
  static constexpr int most_items = sizeof(segment_item<Key, Value>) == 4
                                        ? Policy::little.items_per_thread
                                        : tuning.items_per_thread;
  template <class Key, class Value, class KeysIn, class ValuesIn, class Compare>
  using agent = AgentShortSegments<
      AgentSegmentTile<tuning.block_threads, tuning.items_per_thread, Key, Value, KeysIn, ValuesIn,
                       Compare>,
      AgentSegmentTile<tuning.block_threads, most_items<Key, Value>, Key, Value, KeysIn, ValuesIn,
                       Compare>>;
};

/// `segments_per_block` segments for each block, which sorts the short ones and hands on the others.
template <class MaxPolicy, segment_tile_class Class, class Key, class Value, class KeysIn,
          class ValuesIn, class Segments, class Compare>
__launch_bounds__(tuning_of<typename MaxPolicy::ActivePolicy>(Class).block_threads,
                  tuning_of<typename MaxPolicy::ActivePolicy>(Class).blocks_per_multiprocessor)
    STRATA_KERNEL void segmented_merge_sort_kernel(
        const STRATA_GRID_CONSTANT KeysIn keys, const STRATA_GRID_CONSTANT ValuesIn values,
        const STRATA_GRID_CONSTANT merge_sort_arrays<Key, Value> output, Segments segments,
        long long num_segments, int segments_per_block, segment_classes classes,
        const STRATA_GRID_CONSTANT merge_sort_workspace workspace,
        const STRATA_GRID_CONSTANT Compare compare) {
  using Tile =
      typename segment_tile_of<typename MaxPolicy::ActivePolicy,
                               Class>::template agent<Key, Value, KeysIn, ValuesIn, Compare>;
  STRATA_DYNAMIC_SHARED(shared);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Tile tile(*reinterpret_cast<typename Tile::TempStorage*>(shared), keys, values, compare);
  const long long first = static_cast<long long>(blockIdx.x) * segments_per_block;
  const long long left = num_segments - first;
  const int count = left < segments_per_block ? static_cast<int>(left) : segments_per_block;
  if constexpr (Class == segment_tile_class::tiny) {
    tile.sort(segments, first, count, classes, workspace, output);
  } else {
    constexpr bool sorts_own = Class == segment_tile_class::little;
    detail::sort_segments_directly<sorts_own>(tile, segments, first, count, classes, workspace,
                                              output);
  }
}

/// Sorts no segment, but hands on all.
template <class MaxPolicy, class Segments>
STRATA_KERNEL void segmented_merge_sort_queue_kernel(
    Segments segments, long long num_segments, segment_classes classes,
    const STRATA_GRID_CONSTANT merge_sort_workspace workspace) {
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  const long long segment = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  segment_bounds bounds{0, 0};
  if (segment < num_segments) bounds = segments(segment);
  hand_on(workspace, classes, segment, bounds, segment < num_segments);
}

/// Segments that were queued, and tiles of longer ones.
template <class MaxPolicy, segment_tile_class Class, class Key, class Value, class KeysIn,
          class ValuesIn, class Segments, class Compare>
__launch_bounds__(tuning_of<typename MaxPolicy::ActivePolicy>(Class).block_threads,
                  tuning_of<typename MaxPolicy::ActivePolicy>(Class).blocks_per_multiprocessor)
    STRATA_KERNEL void segmented_merge_sort_long_kernel(
        const STRATA_GRID_CONSTANT KeysIn keys, const STRATA_GRID_CONSTANT ValuesIn values,
        const STRATA_GRID_CONSTANT merge_sort_arrays<Key, Value> output,
        const STRATA_GRID_CONSTANT merge_sort_arrays<Key, Value> merged,
        const STRATA_GRID_CONSTANT merge_sort_arrays<Key, Value> buffer, Segments segments,
        segment_classes classes, const STRATA_GRID_CONSTANT merge_sort_workspace workspace,
        const STRATA_GRID_CONSTANT Compare compare) {
  using Policy = typename MaxPolicy::ActivePolicy;
  using Tile = typename segment_tile_of<Policy, Class>::template agent<Key, Value, KeysIn, ValuesIn,
                                                                       Compare>;
  STRATA_DYNAMIC_SHARED(shared);
  STRATA_SHARED(place, long_segments_place);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Tile tile(*reinterpret_cast<typename Tile::TempStorage*>(shared), keys, values, compare);
  detail::sort_long_segments<segment_tile_of<Policy, Class>::tuning.block_threads>(
      tile, place, segments, classes, workspace, output, merged, buffer);
}

/// All merges of what was sorted in tiles. Its blocks are resident together.
template <class MaxPolicy, segment_tile_class Class, class Key, class Value, class Compare>
__launch_bounds__(segment_merge_of<typename MaxPolicy::ActivePolicy, Class>::tuning.block_threads,
                  segment_merge_of<typename MaxPolicy::ActivePolicy, Class>::tuning.blocks_per_multiprocessor)
    STRATA_KERNEL void segmented_merge_sort_merge_kernel(
        const STRATA_GRID_CONSTANT merge_sort_arrays<Key, Value> merged,
        const STRATA_GRID_CONSTANT merge_sort_arrays<Key, Value> buffer,
        const STRATA_GRID_CONSTANT merge_sort_workspace workspace,
        const STRATA_GRID_CONSTANT grid_barrier_arguments meeting,
        const STRATA_GRID_CONSTANT Compare compare) {
  using Policy = typename MaxPolicy::ActivePolicy;
  constexpr segment_merge_tuning tuning = segment_merge_of<Policy, Class>::tuning;
  constexpr segment_tile_tuning runs = segment_tile_of<Policy, Class>::tuning;
  using Agent =
      AgentSegmentMerge<tuning.block_threads, tuning.items_per_thread, tuning.tile_items,
                        runs.block_threads * runs.items_per_thread, Key, Value, Compare>;
  STRATA_DYNAMIC_SHARED(shared);
  Agent(*reinterpret_cast<typename Agent::TempStorage*>(shared), workspace, merged, buffer, compare)
      .merge(meeting);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
