// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/segmented_merge_sort/agent_tile.cuh>
#include <strata/device/segmented_merge_sort/workspace.cuh>
#include <strata/device/segmented_reduce/segments.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What a sort does with a segment, by its length alone.
struct segment_classes {
  /// Below: nothing is done. 2 if one item is in place already.
  int least_sorted;
  /// Up to: it is sorted by whoever finds it.
  int most_direct;
  /// Up to: it is sorted by one block; longer ones in tiles.
  int tile_items;
  int items_per_thread;  // of such a block

  STRATA_D bool is_direct(long long length) const {
    return length >= least_sorted && length <= most_direct;
  }
  STRATA_D bool is_queued(long long length) const {
    return length >= least_sorted && length > most_direct && length <= tile_items;
  }
  STRATA_D bool is_split(long long length) const { return length > tile_items; }
  /// Threads that own the items of a queued segment.
  STRATA_D unsigned slots(long long length) const {
    return static_cast<unsigned>((static_cast<int>(length) + items_per_thread - 1) /
                                 items_per_thread);
  }
};

/// Leaves a segment to later kernels if it is for them. By all lanes of a warp.
STRATA_D void hand_on(const merge_sort_workspace& workspace, const segment_classes& classes,
                      long long segment, const segment_bounds& bounds, bool is_own) {
  const bool is_queued = is_own && classes.is_queued(bounds.length);
  workspace.push(is_queued, segment, is_queued ? classes.slots(bounds.length) : 0);
  workspace.push_split(is_own && classes.is_split(bounds.length), bounds, classes.tile_items);
}

/// All items of some segments that lie side by side.
template <class Segments>
STRATA_D segment_bounds stretch_of(const Segments& segments, long long first, int count) {
  const segment_bounds last = segments(first + count - 1);
  const long long begin = segments(first).begin;
  return {begin, last.begin + last.length - begin};
}

/// Sorts a block's segments, of which the first threads bring one each, without a plan if all lie side by
/// side, and none has more items than its share of the threads takes; false if not.
template <class Tile, class Segments, class Arrays>
STRATA_D bool sort_own_segments(Tile& tile, const Segments& segments, long long first, int count,
                                const segment_bounds& bounds, const Arrays& output) {
  const int owners = Tile::block_threads / count;
  if (owners > warp_threads || (owners & (owners - 1)) != 0) return false;
  const int mine = static_cast<int>(threadIdx.x);
  // What others have is loaded again, at the same time.
  const long long next = segments(first + (mine + 1 < count ? mine + 1 : count - 1)).begin;
  const bool is_own =
      mine >= count || (bounds.length <= owners * Tile::most_own &&
                        (mine == count - 1 || bounds.begin + bounds.length == next));
  if (__syncthreads_and(is_own) == 0) return false;
  const segment_bounds all = detail::stretch_of(segments, first, count);
  segment_bounds own{all.begin, 0};
  if (mine / owners < count) own = segments(first + mine / owners);
  tile.sort_own(own, all, owners);
  // Loaded again: the sort needs all registers.
  tile.store_own(detail::stretch_of(segments, first, count), output);
  return true;
}

/// One block of the first kernel, which has `count` segments from number `first` on: sorts the short
/// ones, as many at a time as fit a tile, and hands on the others.
template <bool SortsOwn, class Tile, class Segments, class Arrays>
STRATA_D void sort_segments_directly(Tile& tile, const Segments& segments, long long first, int count,
                                     const segment_classes& classes,
                                     const merge_sort_workspace& workspace, const Arrays& output) {
  STRATA_UNROLL_N(1)
  for (int next = 0;;) {
    const int mine = next + static_cast<int>(threadIdx.x);
    segment_bounds bounds{0, 0};
    if (mine < count) bounds = segments(first + mine);
    if constexpr (SortsOwn) {
      if (next == 0 && detail::sort_own_segments(tile, segments, first, count, bounds, output))
        return;
    }
    const int length = classes.is_direct(bounds.length) ? static_cast<int>(bounds.length) : 0;
    next += tile.plan(length, bounds.begin, count - next);
    if (workspace.progress != nullptr) {
      hand_on(workspace, classes, first + mine, bounds, mine < next && mine < count);
    }
    if (!tile.is_empty()) {
      tile.sort();
      tile.store(output, 0, 0);
    }
    if (next >= count) return;
    __syncthreads();  // Before the tile is planned again.
  }
}

/// Where a block is, in shared memory: the sort needs all registers.
struct long_segments_place {
  unsigned long long ticket;
  int next;  // of the group's segments
  bool is_at_end;
};

/// Plans the next segments of a group of the queue; false if there are none.
template <int BlockThreads, class Tile, class Segments>
STRATA_D bool plan_group(Tile& tile, long_segments_place& place, unsigned long long group,
                         const Segments& segments, const segment_classes& classes,
                         const merge_sort_workspace& workspace) {
  const unsigned long long queued = workspace.queued();
  // As many at a time as fill a tile if they are alike.
  const unsigned long long slots = workspace.progress->queued_slots;
  const unsigned long long alike = slots > 0 ? queued * unsigned{BlockThreads} / slots : 1;
  const unsigned long long at_once = alike < 1 ? 1 : alike < BlockThreads ? alike : BlockThreads;
  const unsigned long long first = group * at_once;
  if (first >= queued) return false;
  const auto count = static_cast<int>(queued - first < at_once ? queued - first : at_once);
  const int next = place.next;
  const int mine = next + static_cast<int>(threadIdx.x);
  segment_bounds bounds{0, 0};
  if (mine < count) bounds = segments(workspace.queue[first + static_cast<unsigned>(mine)]);
  const int length = classes.is_queued(bounds.length) ? static_cast<int>(bounds.length) : 0;
  const int taken = tile.plan(length, bounds.begin, count - next);
  if (threadIdx.x == 0) {
    place.next = next + taken;
    place.is_at_end = next + taken >= count;
  }
  return true;
}

/// Plans a tile of a long segment.
template <class Tile>
STRATA_D void plan_tile(Tile& tile, long_segments_place& place, unsigned long long number,
                        const merge_sort_workspace& workspace) {
  const unsigned owner = workspace.tiles[number];
  int length = 0;
  long long begin = 0;
  if (threadIdx.x == 0 && owner != merge_sort_workspace::no_segment) {
    const split_segment& whole = workspace.split[owner];
    const long long offset = static_cast<long long>(number - whole.first_tile) * Tile::tile_items;
    const long long left = whole.length - offset;
    length = left < Tile::tile_items ? static_cast<int>(left) : Tile::tile_items;
    begin = whole.begin + offset;
  }
  tile.plan(length, begin, 1);
  if (threadIdx.x == 0) place.is_at_end = true;
}

/// One block of the second kernel: takes tiles of long segments, then some of the queued segments at a
/// time, until there are no more. `merged` is the output, or where keys are that nobody wants.
template <int BlockThreads, class Tile, class Segments, class Arrays>
STRATA_D void sort_long_segments(Tile& tile, long_segments_place& place, const Segments& segments,
                                 const segment_classes& classes,
                                 const merge_sort_workspace& workspace, const Arrays& output,
                                 const Arrays& merged, const Arrays& buffer) {
  if (threadIdx.x == 0) place.is_at_end = true;
  __syncthreads();  // The compiler may let all threads read it.
  STRATA_UNROLL_N(1)
  for (;;) {
    if (threadIdx.x == 0 && place.is_at_end) {
      place.ticket = atomicAdd(&workspace.progress->taken, 1ull);
      place.next = 0;
    }
    __syncthreads();
    const unsigned long long number = place.ticket, tiles = workspace.num_tiles();
    if (number < tiles) {
      detail::plan_tile(tile, place, number, workspace);
    } else if (!detail::plan_group<BlockThreads>(tile, place, number - tiles, segments, classes,
                                                 workspace)) {
      return;
    }
    if (!tile.is_empty()) {
      tile.sort();
      if (place.ticket >= workspace.num_tiles()) {
        tile.store(output, 0, 0);
      } else {
        const split_segment& whole = workspace.split[workspace.tiles[place.ticket]];
        const long long move = whole.buffer_begin - whole.begin;
        // The last merge leaves it in the output.
        if (whole.levels % 2 == 0) {
          tile.store(merged, workspace.keys_are_scratch ? move : 0, 0);
        } else {
          tile.store(buffer, move, move);
        }
      }
    }
    __syncthreads();
  }
}

}  // namespace detail
STRATA_NAMESPACE_END
