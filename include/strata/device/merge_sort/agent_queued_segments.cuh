// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/segments.cuh>
#include <strata/device/engine/work_queue.cuh>
#include <strata/device/merge_sort/agent_segments.cuh>
#include <strata/device/merge_sort/workspace.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// State of AgentQueuedSegments, in shared memory: sorts need all registers.
struct queued_segments_state {
  unsigned long long ticket;
  int next;  // of the group's segments
  bool is_at_end;
};

/// A block of the second kernel. It takes tickets for tiles of long segments, then for groups of queued
/// segments, until there are no more.
template <class Tile>
class AgentQueuedSegments {
 public:
  STRATA_D AgentQueuedSegments(Tile& tile, queued_segments_state& state, const segment_limits& limits,
                               const merge_sort_workspace& workspace)
      : tile_(tile), state_(state), limits_(limits), workspace_(workspace) {}

  /// `merged` is the output, or a scratch array for keys that have no output.
  template <class Segments, class Arrays>
  STRATA_D void sort(const Segments& segments, const Arrays& output, const Arrays& merged, const Arrays& buffer) {
    if (threadIdx.x == 0) state_.is_at_end = true;
    __syncthreads();  // The compiler may let all threads read it.
    STRATA_UNROLL_N(1)
    for (;;) {
      if (threadIdx.x == 0 && state_.is_at_end) {
        state_.ticket = detail::take_ticket(&workspace_.progress->tickets);
        state_.next = 0;
      }
      __syncthreads();
      const unsigned long long ticket = state_.ticket, tiles = workspace_.num_tiles();
      if (ticket < tiles) {
        plan_tile(ticket);
      } else if (!plan_group(ticket - tiles, segments)) {
        return;
      }
      if (!tile_.is_empty()) {
        tile_.sort();
        store(output, merged, buffer);
      }
      __syncthreads();
    }
  }

 private:
  /// Plans the next segments of a group of the queue; false if there are none.
  template <class Segments>
  STRATA_D bool plan_group(unsigned long long group, const Segments& segments) {
    constexpr int threads = Tile::block_threads;
    const unsigned long long queued = workspace_.queued();
    // A group has as many segments as fill a tile if all have the mean length.
    const unsigned long long slots = workspace_.progress->queued_slots;
    const unsigned long long mean = slots > 0 ? queued * unsigned{threads} / slots : 1;
    const unsigned long long per_group = mean < 1 ? 1 : detail::least(mean, threads);
    const unsigned long long first = group * per_group;
    if (first >= queued) return false;
    const auto count = static_cast<int>(detail::least(queued - first, per_group));
    const int next = state_.next;
    const int index = next + static_cast<int>(threadIdx.x);
    segment_bounds bounds{0, 0};
    if (index < count) bounds = segments(workspace_.queue[first + static_cast<unsigned>(index)]);
    const int length = limits_.is_queued(bounds.length) ? static_cast<int>(bounds.length) : 0;
    const int taken = tile_.plan(length, bounds.begin, count - next);
    if (threadIdx.x == 0) {
      state_.next = next + taken;
      state_.is_at_end = next + taken >= count;
    }
    return true;
  }

  /// Plans a tile of a long segment.
  STRATA_D void plan_tile(unsigned long long number) {
    const unsigned owner = workspace_.tiles[number];
    int length = 0;
    long long begin = 0;
    if (threadIdx.x == 0 && owner != merge_sort_workspace::no_segment) {
      const split_segment& whole = workspace_.split[owner];
      const long long offset = static_cast<long long>(number - whole.first_tile) * Tile::tile_items;
      const long long left = whole.length - offset;
      length = left < Tile::tile_items ? static_cast<int>(left) : Tile::tile_items;
      begin = whole.begin + offset;
    }
    tile_.plan(length, begin, 1);
    if (threadIdx.x == 0) state_.is_at_end = true;
  }

  /// Stores queued segments in the output, and a tile of a long segment where the last level of merges will
  /// leave its result in the output.
  template <class Arrays>
  STRATA_D void store(const Arrays& output, const Arrays& merged, const Arrays& buffer) {
    Arrays target = output;
    long long keys_offset = 0, values_offset = 0;
    if (state_.ticket < workspace_.num_tiles()) {
      const split_segment& whole = workspace_.split[workspace_.tiles[state_.ticket]];
      const long long offset = whole.buffer_begin - whole.begin;
      const bool to_buffer = whole.levels % 2 != 0;
      target = to_buffer ? buffer : merged;
      if (to_buffer || workspace_.keys_are_scratch) keys_offset = offset;
      if (to_buffer) values_offset = offset;
    }
    tile_.store(target, keys_offset, values_offset);
  }

  Tile& tile_;
  queued_segments_state& state_;
  const segment_limits& limits_;
  const merge_sort_workspace& workspace_;
};

}  // namespace detail
STRATA_NAMESPACE_END
