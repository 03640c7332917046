// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/segmented_reduce/segments.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Keys and values at two places of device memory.
template <class Key, class Value>
struct merge_sort_arrays {
  Key* keys;  // of a result, null: nobody wants them
  Value* values;
};

/// Counters of a call; 0 when its first kernel starts.
struct merge_sort_progress {
  unsigned long long queued;        // segments for the kernel of long segments
  unsigned long long queued_slots;  // threads that own their items
  unsigned long long split;         // segments that are longer than a tile
  unsigned long long tiles;         // of these
  unsigned long long buffer_items;
  unsigned long long taken;         // by the kernel of long segments
  unsigned levels;                  // of merges, of the longest segment
  static constexpr int most_levels = 16;
  unsigned taken_by_merges[most_levels];  // stretches of tiles in each
};

/// A segment that is sorted in tiles and merged; its items go back and forth between the output and a
/// stretch of the buffer.
struct split_segment {
  long long begin;
  long long length;
  long long buffer_begin;
  unsigned long long first_tile;
  int levels;
};

/// What the kernels of one call share in device memory.
struct merge_sort_workspace {
  merge_sort_progress* progress;
  long long* queue;  // numbers of segments
  unsigned long long queue_room;
  split_segment* split;
  unsigned long long split_room;
  unsigned* tiles;  // whose they are: numbers of split segments, or no_segment
  unsigned long long tile_room;
  unsigned long long buffer_room;
  // Keys that nobody wants: where they would be merged to, they lie as in the buffer.
  bool keys_are_scratch;

  static constexpr unsigned no_segment = ~0u;
  /// Stretches of the buffer begin at multiples of so many items, of whole lines.
  static constexpr long long buffer_step = 128;

  /// By all lanes of a warp: those with a segment to queue.
  STRATA_D void push(bool is_queued, long long segment, unsigned slots) const {
    const unsigned lanes = __ballot_sync(full_warp_mask, is_queued);
    if (lanes == 0) return;
    const int leader = __ffs(static_cast<int>(lanes)) - 1;
    unsigned sum = is_queued ? slots : 0;
    STRATA_UNROLL
    for (int distance = 1; distance < warp_threads; distance *= 2) {
      sum += __shfl_xor_sync(full_warp_mask, sum, distance);
    }
    unsigned long long first = 0;
    if (static_cast<int>(platform::lane_id()) == leader) {
      first = atomicAdd(&progress->queued, static_cast<unsigned long long>(__popc(lanes)));
      atomicAdd(&progress->queued_slots, static_cast<unsigned long long>(sum));
    }
    first = __shfl_sync(full_warp_mask, first, leader);
    const unsigned long long place =
        first + static_cast<unsigned long long>(__popc(lanes & platform::lane_mask_lt()));
    STRATA_ASSERT(!is_queued || place < queue_room,
                  "a sort of segments has more items than num_items; segment %lld is left out",
                  segment);
    if (is_queued && place < queue_room) queue[place] = segment;
  }

  /// By all lanes of a warp: those with a segment that is longer than a tile.
  STRATA_D void push_split(bool is_split, const segment_bounds& bounds, int tile_items) const {
    unsigned lanes = __ballot_sync(full_warp_mask, is_split);
    if (lanes == 0) return;
    unsigned long long first_tile = 0, count = 0;
    unsigned number = no_segment;
    if (is_split) {
      count = static_cast<unsigned long long>(ceiling_divide<long long>(bounds.length, tile_items));
      const auto length = static_cast<unsigned long long>(
          round_up<long long>(bounds.length, buffer_step));
      const unsigned long long index = atomicAdd(&progress->split, 1ull);
      first_tile = atomicAdd(&progress->tiles, count);
      const unsigned long long begin = atomicAdd(&progress->buffer_items, length);
      const bool has_room = index < split_room && first_tile + count <= tile_room &&
                            begin + length <= buffer_room;
      STRATA_ASSERT(has_room,
                    "a sort of segments has more items than num_items; one of %lld is left out",
                    bounds.length);
      if (has_room) {
        int levels = 0;
        while ((count - 1) >> (2 * levels) != 0) ++levels;
        number = static_cast<unsigned>(index);
        split[index] = {bounds.begin, bounds.length, static_cast<long long>(begin), first_tile,
                        levels};
        atomicMax(&progress->levels, static_cast<unsigned>(levels));
      }
    }
    for (; lanes != 0; lanes &= lanes - 1) {
      const int lane = __ffs(static_cast<int>(lanes)) - 1;
      const unsigned long long begin = __shfl_sync(full_warp_mask, first_tile, lane);
      const unsigned long long end = begin + __shfl_sync(full_warp_mask, count, lane);
      const unsigned owner = __shfl_sync(full_warp_mask, number, lane);
      for (unsigned long long t = begin + platform::lane_id(); t < end && t < tile_room;
           t += warp_threads) {
        tiles[t] = owner;
      }
    }
  }

  STRATA_D unsigned long long queued() const { return least(progress->queued, queue_room); }
  STRATA_D unsigned long long num_tiles() const { return least(progress->tiles, tile_room); }

 private:
  STRATA_D static unsigned long long least(unsigned long long a, unsigned long long b) {
    return a < b ? a : b;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
