// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/segments.cuh>
#include <strata/device/merge_sort/agent_segments.cuh>
#include <strata/device/merge_sort/agent_thread_segments.cuh>
#include <strata/device/merge_sort/agent_tile.cuh>
#include <strata/device/merge_sort/tuning.hpp>
#include <strata/device/merge_sort/workspace.cuh>

#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// A call of up to this many segments has few segments. One block reads all their lengths; in the kernel that queues
/// them, a thread reads at most two.
inline constexpr long long most_few_segments = 1024;
inline constexpr unsigned few_segments_threads = 512;

/// The agents of the kernels. `Types` are Key, Value, KeysIn, ValuesIn, Compare.
template <class Policy, segment_class Class, class... Types>
using tile_agent = AgentSegmentTile<detail::tuning_of<Policy>(Class).block_threads,
                                    detail::tuning_of<Policy>(Class).items_per_thread, Types...>;

/// A thread that sorts a segment alone may have more items if each of them takes one register.
template <class Policy, class Key, class Value>
inline constexpr int wide_items_per_thread = sizeof(segment_item<Key, Value>) == 4
                                                 ? Policy::few_threads.items_per_thread
                                                 : Policy::one_thread.items_per_thread;

template <class Policy, segment_class Class, class Segments, class Key, class Value, class... Types>
using segments_agent = std::conditional_t<
    Class == segment_class::one_thread && !std::is_same_v<Segments, single_segment>,
    AgentThreadSegments<tile_agent<Policy, Class, Key, Value, Types...>,
                        AgentSegmentTile<Policy::one_thread.block_threads, wide_items_per_thread<Policy, Key, Value>,
                                         Key, Value, Types...>>,
    AgentSegments<tile_agent<Policy, Class, Key, Value, Types...>, Class == segment_class::few_threads>>;

/// Returns the number of segments of a block: as many as fill one tile if all have the mean length. Returns 0 if the
/// call has too many segments for the largest grid.
template <class Agent, segment_class Class, bool HasOneSegment>
long long segments_per_block(const segment_tile_tuning& tuning, unsigned long long mean, long long num_segments,
                             int multiprocessors, long long max_grid) {
  const auto owners =
      static_cast<long long>(ceiling_divide(mean, static_cast<unsigned long long>(tuning.items_per_thread)));
  long long per_block = tuning.block_threads / detail::most(owners, 1);
  const long long min_per_block = ceiling_divide<long long>(num_segments, max_grid);
  if (per_block < min_per_block) per_block = min_per_block;
  if constexpr (Class == segment_class::one_thread && !HasOneSegment) {
    if (owners <= 2) {
      // If there are enough blocks, a block gets more segments. Then tiles are full although many segments are empty.
      constexpr long long max_factor = Agent::max_segments / Agent::block_threads;
      const long long rounds = num_segments / (static_cast<long long>(tuning.block_threads) *
                                               tuning.blocks_per_multiprocessor * multiprocessors);
      per_block = tuning.block_threads * (rounds < 4 ? 1 : rounds < 2 * max_factor ? rounds / 2 : max_factor);
    }
    if (per_block < min_per_block || per_block > Agent::max_segments) return 0;
  }
  return per_block > max_grid ? 0 : per_block;
}

/// A block has `segments_per_block` segments. It sorts the short ones and queues the others.
template <class MaxPolicy, segment_class Class, class Key, class Value, class KeysIn, class ValuesIn, class Segments,
          class Workspace, class Compare>
__launch_bounds__(detail::tuning_of<typename MaxPolicy::ActivePolicy>(Class).block_threads,
                  detail::tuning_of<typename MaxPolicy::ActivePolicy>(Class).blocks_per_multiprocessor)
    STRATA_KERNEL void segmented_merge_sort_kernel(const STRATA_GRID_CONSTANT KeysIn keys,
                                                   const STRATA_GRID_CONSTANT ValuesIn values,
                                                   const STRATA_GRID_CONSTANT merge_sort_arrays<Key, Value> output,
                                                   Segments segments, long long num_segments, int segments_per_block,
                                                   segment_limits limits,
                                                   const STRATA_GRID_CONSTANT Workspace workspace,
                                                   const STRATA_GRID_CONSTANT Compare compare) {
  using Agent =
      segments_agent<typename MaxPolicy::ActivePolicy, Class, Segments, Key, Value, KeysIn, ValuesIn, Compare>;
  STRATA_DYNAMIC_SHARED(shared);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent agent(*reinterpret_cast<typename Agent::TempStorage*>(shared), keys, values, compare);
  const long long first = static_cast<long long>(blockIdx.x) * segments_per_block;
  const long long left = num_segments - first;
  const int count = left < segments_per_block ? static_cast<int>(left) : segments_per_block;
  agent.sort(segments, first, count, limits, workspace, output);
}

/// Queues all segments. It replaces the kernel above if the mean segment is longer than a tile.
template <class Segments, class Workspace>
STRATA_KERNEL void segmented_merge_sort_queue_kernel(Segments segments, long long num_segments, segment_limits limits,
                                                     const STRATA_GRID_CONSTANT Workspace workspace) {
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  const long long segment = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  segment_bounds bounds{0, 0};
  if (segment < num_segments) bounds = segments(segment);
  detail::enqueue(workspace, limits, segment, bounds, segment < num_segments);
}

/// One block clears the counters, and queues the segments of a call of few segments. If an earlier kernel of the call
/// has sorted short segments, it has touched neither counters nor queue.
template <class Segments, class Workspace>
__launch_bounds__(few_segments_threads)
    STRATA_KERNEL void segmented_merge_sort_few_queue_kernel(Segments segments, long long num_segments,
                                                             segment_limits limits,
                                                             const STRATA_GRID_CONSTANT Workspace workspace,
                                                             unsigned long long* words, unsigned num_words,
                                                             bool is_first) {
  // If this kernel is not the first of the call, the kernel before it has waited for all earlier ones. So this kernel
  // need not wait before it writes.
  if (is_first) platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  for (unsigned i = threadIdx.x; i < num_words; i += few_segments_threads) words[i] = 0;
  __syncthreads();
  STRATA_UNROLL_N(1)
  for (long long first = 0; first < num_segments; first += few_segments_threads) {
    const long long segment = first + threadIdx.x;
    segment_bounds bounds{0, 0};
    if (segment < num_segments) bounds = segments(segment);
    detail::enqueue(workspace, limits, segment, bounds, segment < num_segments);
  }
  if (!is_first) platform::wait_for_previous_kernel();
}

/// Sorts queued segments, and tiles of longer ones.
template <class MaxPolicy, segment_class Class, class Key, class Value, class KeysIn, class ValuesIn, class Segments,
          class Compare>
__launch_bounds__(detail::tuning_of<typename MaxPolicy::ActivePolicy>(Class).block_threads,
                  detail::tuning_of<typename MaxPolicy::ActivePolicy>(Class).blocks_per_multiprocessor)
    STRATA_KERNEL void segmented_merge_sort_queued_kernel(
        const STRATA_GRID_CONSTANT KeysIn keys, const STRATA_GRID_CONSTANT ValuesIn values,
        const STRATA_GRID_CONSTANT merge_sort_arrays<Key, Value> output,
        const STRATA_GRID_CONSTANT merge_sort_arrays<Key, Value> merged,
        const STRATA_GRID_CONSTANT merge_sort_arrays<Key, Value> buffer, Segments segments, segment_limits limits,
        const STRATA_GRID_CONSTANT merge_sort_workspace workspace, const STRATA_GRID_CONSTANT Compare compare) {
  using Tile = tile_agent<typename MaxPolicy::ActivePolicy, Class, Key, Value, KeysIn, ValuesIn, Compare>;
  STRATA_DYNAMIC_SHARED(shared);
  STRATA_SHARED(state, queued_segments_state);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Tile tile(*reinterpret_cast<typename Tile::TempStorage*>(shared), keys, values, compare);
  AgentQueuedSegments<Tile>(tile, state, limits, workspace).sort(segments, output, merged, buffer);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
