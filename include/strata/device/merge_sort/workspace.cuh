// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/segments.cuh>
#include <strata/device/engine/work_queue.cuh>
#include <strata/warp/warp_reduce.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Keys and values in device memory.
template <class Key, class Value>
struct merge_sort_arrays {
  Key* keys;  // null in a result without keys
  Value* values;

  /// The arrays from a key and a value on.
  template <class Offset>
  STRATA_D merge_sort_arrays at(Offset first_key, [[maybe_unused]] Offset first_value) const {
    if constexpr (std::is_same_v<Value, NullType>) {
      return {keys + first_key, nullptr};
    } else {
      return {keys + first_key, values + first_value};
    }
  }
};

/// Counters of a call. They are 0 when its first kernel starts, except in a call of few segments. There, the kernel
/// that queues the segments clears them first: segmented_merge_sort_few_queue_kernel, or a grid (segments_plan::few).
struct merge_sort_progress {
  unsigned long long queued;         // segments in the queue
  unsigned long long queued_owners;  // threads that all queued segments need
  unsigned long long split;          // segments that are longer than a tile
  unsigned long long tiles;          // of these
  unsigned long long buffer_items;
  unsigned long long tickets;  // of the kernel of queued segments and tiles
  unsigned departures;         // blocks that have left the grid_barrier; not used if an earlier kernel clears its flags
  unsigned levels;             // of merges, of the longest segment
  static constexpr int max_levels = 16;
  unsigned merge_tickets[max_levels];  // of the merges of each level
};

/// A segment that is sorted in tiles, which are merged. Each level of merges moves its items from the output
/// to its part of the buffer, or back.
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
  long long* queue;  // indices of segments
  unsigned long long queue_capacity;
  split_segment* split;
  unsigned long long split_capacity;
  unsigned* tiles;  // of each tile the index in `split`, or no_segment
  unsigned long long tile_capacity;
  // 0 if the caller passes the buffer (DoubleBuffer), in which a segment has the same offset as in the output.
  unsigned long long buffer_capacity;
  // The call has no output for keys. They are merged in a scratch array with the layout of the buffer.
  bool keys_are_scratch;

  static constexpr unsigned no_segment = ~0u;
  /// Segments begin in the buffer at multiples of this many items, so at whole cache lines.
  static constexpr long long buffer_step = 128;

  /// Queues the segments of the lanes that have one. All lanes of a warp call this.
  STRATA_D void push(bool is_queued, long long segment, unsigned owners) const {
    const unsigned lanes = __ballot_sync(full_warp_mask, is_queued);
    if (lanes == 0) return;
    const int leader = __ffs(static_cast<int>(lanes)) - 1;
    typename WarpReduce<unsigned>::TempStorage unused;
    const unsigned sum = WarpReduce<unsigned>(unused).AllSum(is_queued ? owners : 0);
    unsigned long long first = 0;
    if (static_cast<int>(platform::lane_id()) == leader) {
      first = detail::take_tickets(&progress->queued, static_cast<unsigned long long>(__popc(lanes)));
      atomicAdd(&progress->queued_owners, static_cast<unsigned long long>(sum));
    }
    first = __shfl_sync(full_warp_mask, first, leader);
    const unsigned long long index = first + static_cast<unsigned long long>(__popc(lanes & platform::lane_mask_lt()));
    STRATA_ASSERT(!is_queued || index < queue_capacity,
                  "a sort of segments has more items than num_items; segment %lld is not sorted", segment);
    if (is_queued && index < queue_capacity) queue[index] = segment;
  }

  /// Lists the segments of the lanes that have one, and their tiles. All lanes of a warp call this.
  STRATA_D void push_split(bool is_split, const segment_bounds& bounds, int tile_items) const {
    unsigned lanes = __ballot_sync(full_warp_mask, is_split);
    if (lanes == 0) return;
    unsigned long long first_tile = 0, count = 0;
    unsigned entry = no_segment;
    if (is_split) {
      count = static_cast<unsigned long long>(ceiling_divide<long long>(bounds.length, tile_items));
      const unsigned long long index = detail::take_ticket(&progress->split);
      first_tile = detail::take_tickets(&progress->tiles, count);
      bool fits = index < split_capacity && first_tile + count <= tile_capacity;
      const long long begin = take_buffer(bounds, fits);
      STRATA_ASSERT(fits, "a sort of segments has more items than num_items; a segment of %lld items is not sorted",
                    bounds.length);
      if (fits) {
        int levels = 0;
        while ((count - 1) >> (2 * levels) != 0) ++levels;
        entry = static_cast<unsigned>(index);
        split[index] = {bounds.begin, bounds.length, begin, first_tile, levels};
        atomicMax(&progress->levels, static_cast<unsigned>(levels));
      }
    }
    // The lanes' segments come one after the other. All lanes write the tiles of each.
    for (; lanes != 0; lanes &= lanes - 1) {
      const int lane = __ffs(static_cast<int>(lanes)) - 1;
      const unsigned long long begin = __shfl_sync(full_warp_mask, first_tile, lane);
      const unsigned long long end = begin + __shfl_sync(full_warp_mask, count, lane);
      const unsigned owner = __shfl_sync(full_warp_mask, entry, lane);
      for (unsigned long long t = begin + platform::lane_id(); t < end && t < tile_capacity; t += warp_threads) {
        tiles[t] = owner;
      }
    }
  }

  /// Takes a part of the buffer for a segment, and returns where it begins. If the caller passes the buffer, a segment
  /// has the same offset there as in the output. Makes `fits` false if there is no room.
  STRATA_D long long take_buffer(const segment_bounds& bounds, bool& fits) const {
    if (buffer_capacity == 0) return bounds.begin;
    const auto length = static_cast<unsigned long long>(round_up<long long>(bounds.length, buffer_step));
    const unsigned long long begin = atomicAdd(&progress->buffer_items, length);
    fits = fits && begin + length <= buffer_capacity;
    return static_cast<long long>(begin);
  }

  STRATA_D unsigned long long queued() const { return detail::least(progress->queued, queue_capacity); }
  STRATA_D unsigned long long num_tiles() const { return detail::least(progress->tiles, tile_capacity); }
};

/// How the longest segments are sorted. Sorts by a comparator merge them like all other segments that are longer than a
/// tile, so this class does nothing.
struct merge_long_segments {
  using Workspace = merge_sort_workspace;
  static constexpr int slots = 0;
  static constexpr bool has_number_tiles = false;

  template <class Layout, class Arguments>
  static merge_long_segments reserve(Layout&, int, const Arguments&) {
    return {};
  }
  static constexpr std::size_t progress_words() { return 0; }
  template <class... Arguments>
  static void map(const Arguments&...) {}
  template <class Arguments>
  static constexpr bool is_used(const Arguments&) {
    return false;
  }
  template <class Policy, class... Arguments>
  static cudaError_t sort(const Arguments&...) {
    return cudaSuccess;
  }
};

/// threadIdx.x, computed again where it is needed: what depends on it takes no registers in between.
STRATA_D int reloaded_thread_index() {
  int thread = static_cast<int>(threadIdx.x);
  platform::optimization_barrier(thread);
  return thread;
}

}  // namespace detail
STRATA_NAMESPACE_END
