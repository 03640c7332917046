// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/segments.cuh>
#include <strata/device/engine/work_queue.cuh>
#include <strata/device/merge_sort/workspace.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What a call does with a segment, which depends only on the length of the segment.
struct segment_limits {
  int min_sorted;  // shorter segments are not sorted: 2 in sorts in place, otherwise 1
  int max_direct;  // up to this length, the block that reads the offsets sorts a segment
  int max_queued;  // up to this length, one block of a later kernel does; longer ones are sorted in tiles, then merged
  int items_per_thread;  // in a block of the later kernel

  STRATA_D bool is_direct(long long length) const { return length >= min_sorted && length <= max_direct; }
  STRATA_D bool is_queued(long long length) const {
    return length >= min_sorted && length > max_direct && length <= max_queued;
  }
  STRATA_D bool is_split(long long length) const { return length > max_queued; }
  /// Threads that own the items of a queued segment.
  STRATA_D unsigned owners(long long length) const {
    return static_cast<unsigned>((static_cast<int>(length) + items_per_thread - 1) / items_per_thread);
  }
};

/// Leaves a segment to later kernels if it is for them. All lanes of a warp call this. `Workspace` is
/// merge_sort_workspace, or the workspace type of calls that do not merge the longest segments.
template <class Workspace>
STRATA_D void enqueue(const Workspace& workspace, const segment_limits& limits, long long segment,
                      const segment_bounds& bounds, bool has_segment) {
  const bool is_queued = has_segment && limits.is_queued(bounds.length);
  workspace.push(is_queued, segment, is_queued ? limits.owners(bounds.length) : 0);
  workspace.push_split(has_segment && limits.is_split(bounds.length), bounds, limits.max_queued);
}

/// A block of the first kernel: sorts the short ones of its segments, as many at a time as fit a tile, and
/// queues the others. If `TriesUniform`, it first looks for the case that needs no plan: all segments lie
/// side by side, and each fits the same number of threads.
template <class Tile, bool TriesUniform>
class AgentSegments {
 public:
  using TempStorage = typename Tile::TempStorage;
  static constexpr int block_threads = Tile::block_threads;
  static constexpr int tile_items = Tile::tile_items;

  template <class KeysIn, class ValuesIn, class Compare>
  STRATA_D AgentSegments(TempStorage& storage, const KeysIn& keys, const ValuesIn& values, const Compare& compare)
      : tile_(storage, keys, values, compare) {}

  /// Sorts or queues `count` segments from number `first` on.
  template <class Segments, class Workspace, class Arrays>
  STRATA_D void sort(const Segments& segments, long long first, int count, const segment_limits& limits,
                     const Workspace& workspace, const Arrays& output) {
    STRATA_UNROLL_N(1)
    for (int next = 0;;) {
      const int index = next + static_cast<int>(threadIdx.x);
      segment_bounds bounds{0, 0};
      if (index < count) bounds = segments(first + index);
      if constexpr (TriesUniform) {
        if (next == 0 && sort_uniform(segments, first, count, bounds, output)) return;
      }
      const int length = limits.is_direct(bounds.length) ? static_cast<int>(bounds.length) : 0;
      next += tile_.plan(length, bounds.begin, count - next);
      if (workspace.progress != nullptr) {
        detail::enqueue(workspace, limits, first + index, bounds, index < next && index < count);
      }
      if (!tile_.is_empty()) {
        tile_.sort();
        tile_.store(output, 0, 0);
      }
      if (next >= count) return;
      __syncthreads();  // Before the tile is planned again.
    }
  }

 private:
  /// The range of some segments that lie side by side.
  template <class Segments>
  STRATA_D static segment_bounds range_of(const Segments& segments, long long first, int count) {
    const segment_bounds last = segments(first + count - 1);
    const long long begin = segments(first).begin;
    return {begin, last.begin + last.length - begin};
  }

  /// The first `count` threads pass a segment each. Sorts them with the same number of threads for each, a power of two
  /// up to a warp. Returns false, and sorts nothing, if there is no such number of threads, if the segments do not lie
  /// side by side, or if one has more items than its threads take.
  template <class Segments, class Arrays>
  STRATA_D bool sort_uniform(const Segments& segments, long long first, int count, const segment_bounds& bounds,
                             const Arrays& output) {
    const int owners = block_threads / count;
    if (owners > warp_threads || (owners & (owners - 1)) != 0) return false;
    const int index = static_cast<int>(threadIdx.x);
    // The begin of the next thread's segment is loaded again, because then both loads are in flight at the same time.
    const long long next = segments(first + (index + 1 < count ? index + 1 : count - 1)).begin;
    const bool fits = index >= count || (bounds.length <= owners * Tile::max_thread_segment &&
                                         (index == count - 1 || bounds.begin + bounds.length == next));
    if (__syncthreads_and(fits) == 0) return false;
    const segment_bounds all = range_of(segments, first, count);
    segment_bounds local{all.begin, 0};
    if (index / owners < count) local = segments(first + index / owners);
    tile_.sort_uniform_segments(local, all, owners);
    // Loaded again: the sort needs all registers.
    tile_.store_uniform_segments(range_of(segments, first, count), output);
    return true;
  }

  Tile tile_;
};

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

  /// Sorts tiles and queued segments. `merged` is the output, or a scratch array for keys that have no output.
  template <class Segments, class Arrays>
  STRATA_D void sort(const Segments& segments, const Arrays& output, const Arrays& merged, const Arrays& buffer) {
    if (threadIdx.x == 0) state_.is_at_end = true;
    __syncthreads();  // The compiler may let all threads read `is_at_end`, not only the first.
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
    const unsigned long long owners = workspace_.progress->queued_owners;
    const unsigned long long mean = owners > 0 ? queued * unsigned{threads} / owners : 1;
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

  /// Stores queued segments in the output. A tile of a long segment goes to the output or to the buffer: levels of
  /// merges alternate between them, and the last one must end in the output.
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
