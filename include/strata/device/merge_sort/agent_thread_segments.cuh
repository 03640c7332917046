// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/segments.cuh>
#include <strata/device/merge_sort/agent_segments.cuh>
#include <strata/device/merge_sort/workspace.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A block of the first kernel where the mean segment fits a thread. It reads the bounds of one segment for each thread
/// at a time. If these segments lie side by side and none has more items than a thread takes, each thread sorts one,
/// without a plan: the offset gives its position in the tile. `Tile` tries this first, then `WideTile`, if its threads
/// take more items. Otherwise the block queues the longer segments for later kernels, lists the others that need
/// sorting, and in the end packs these into tiles.
template <class Tile, class WideTile>
class AgentThreadSegments {
 public:
  static constexpr int block_threads = Tile::block_threads;
  static constexpr int tile_items = Tile::tile_items;
  static constexpr int max_segments = 4 * block_threads;  // of a block

  struct TempStorage {
    union {
      typename Tile::TempStorage tile;
      typename WideTile::TempStorage wide_tile;
    };
    unsigned short list[static_cast<std::size_t>(max_segments)];
    int listed_of_warp[static_cast<std::size_t>(block_threads / warp_threads)];
    // Numbers of segments. They are in shared memory, because sorts need all registers.
    int seen;
    int listed;
    int packed;
  };

  template <class KeysIn, class ValuesIn, class Compare>
  STRATA_D AgentThreadSegments(TempStorage& storage, const KeysIn& keys, const ValuesIn& values, const Compare& compare)
      : storage_(storage),
        tile_(storage.tile, keys, values, compare),
        wide_tile_(storage.wide_tile, keys, values, compare) {}

  /// Sorts `count` segments from number `first` on.
  template <class Segments, class Workspace, class Arrays>
  STRATA_D void sort(const Segments& segments, long long first, int count, const segment_limits& limits,
                     const Workspace& workspace, const Arrays& output) {
    if (threadIdx.x == 0) storage_.seen = storage_.listed = storage_.packed = 0;
    __syncthreads();
    STRATA_UNROLL_N(1)
    while (storage_.seen < count) {
      const int seen = storage_.seen;
      const int left = detail::least(count - seen, block_threads);
      sort_or_list(segments, first, seen, left, limits, workspace, output);
      if (threadIdx.x == 0) storage_.seen = seen + block_threads;
      __syncthreads();
    }
    if constexpr (WideTile::max_thread_segment > Tile::max_thread_segment) {
      // If few segments are listed, the others are usually empty. Then the listed ones are several times longer than
      // the mean.
      if (4 * storage_.listed <= count) {
        pack(wide_tile_, segments, first, output);
        return;
      }
    }
    pack(tile_, segments, first, output);
  }

 private:
  /// Sorts, lists or queues `left` segments from number `first + seen` on.
  template <class Segments, class Workspace, class Arrays>
  STRATA_D void sort_or_list(const Segments& segments, long long first, int seen, int left,
                             const segment_limits& limits, const Workspace& workspace, const Arrays& output) {
    const int index = static_cast<int>(threadIdx.x);
    const long long begin = segments(first + seen).begin;
    segment_bounds local{begin, 0};
    long long next = begin;
    if (index < left) {
      local = segments(first + seen + index);
      // The begin of the next thread's segment is loaded again, because then both loads are in flight at the same time.
      next = index + 1 < left ? segments(first + seen + index + 1).begin : local.begin + local.length;
    }
    const segment_bounds last = segments(first + seen + left - 1);
    const long long end = last.begin + last.length;
    const bool is_next = local.begin + local.length == next;
    if (__syncthreads_and(is_next && local.length <= Tile::max_thread_segment) != 0) {
      tile_.sort_thread_segments(local, begin, static_cast<int>(end - begin), output);
      return;
    }
    if constexpr (WideTile::max_thread_segment > Tile::max_thread_segment) {
      if (__syncthreads_and(is_next && local.length <= WideTile::max_thread_segment) != 0) {
        wide_tile_.sort_thread_segments(local, begin, static_cast<int>(end - begin), output);
        return;
      }
    }
    if (workspace.progress != nullptr) {
      detail::enqueue(workspace, limits, first + seen + index, local, index < left);
    }
    list(limits.is_direct(local.length), seen + index);
  }

  /// Sorts the listed segments.
  template <class AnyTile, class Segments, class Arrays>
  STRATA_D void pack(AnyTile& tile, const Segments& segments, long long first, const Arrays& output) {
    STRATA_UNROLL_N(1)
    while (storage_.packed < storage_.listed) {
      const int packed = storage_.packed, left = storage_.listed - packed;
      const int index = static_cast<int>(threadIdx.x);
      segment_bounds bounds{0, 0};
      if (index < left) bounds = segments(first + storage_.list[packed + index]);
      const int taken = tile.plan(static_cast<int>(bounds.length), bounds.begin, left);
      if (threadIdx.x == 0) storage_.packed = packed + taken;
      tile.sort();
      tile.store(output, 0, 0);
      __syncthreads();  // Before the tile is planned again.
    }
  }

  /// Appends `number` to the list for each thread with `is_listed`, in thread order.
  STRATA_D void list(bool is_listed, int number) {
    constexpr int warps = block_threads / warp_threads;
    const int warp = detail::reloaded_thread_index() / warp_threads;
    const unsigned lanes = __ballot_sync(full_warp_mask, is_listed);
    if (platform::lane_id() == 0) storage_.listed_of_warp[warp] = __popc(lanes);
    __syncthreads();
    int position = storage_.listed + __popc(lanes & platform::lane_mask_lt()), sum = 0;
    STRATA_UNROLL
    for (int w = 0; w < warps; ++w) {
      const int count = storage_.listed_of_warp[w];
      if (w < warp) position += count;
      sum += count;
    }
    if (is_listed) storage_.list[position] = static_cast<unsigned short>(number);
    __syncthreads();
    if (threadIdx.x == 0) storage_.listed += sum;
  }

  TempStorage& storage_;
  Tile tile_;
  WideTile wide_tile_;
};

}  // namespace detail
STRATA_NAMESPACE_END
