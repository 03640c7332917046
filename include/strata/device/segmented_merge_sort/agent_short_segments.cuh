// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/segmented_merge_sort/agent_segments.cuh>
#include <strata/device/segmented_merge_sort/workspace.cuh>
#include <strata/device/segmented_reduce/segments.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// One block of the first kernel where the mean segment fits a thread. Segments are looked at one for each
/// thread at a time. If they lie side by side, and none has more items than a thread takes, each thread
/// sorts one: no plan is needed, as offsets tell where in the tile it lies. `Tile` tries this, then
/// `WideTile`, whose threads take more items. If neither does, those that are not empty are listed, and in
/// the end one of the two packs them.
template <class Tile, class WideTile>
class AgentShortSegments {
 public:
  static constexpr int block_threads = Tile::block_threads;
  static constexpr int tile_items = Tile::tile_items;
  /// What a block may have.
  static constexpr int most_segments = 4 * block_threads;

  struct TempStorage {
    union {
      typename Tile::TempStorage tile;
      typename WideTile::TempStorage wide_tile;
    };
    unsigned short list[static_cast<std::size_t>(most_segments)];
    int listed_of_warp[static_cast<std::size_t>(block_threads / warp_threads)];
    // Where the block is: sorts need all registers.
    int seen;
    int listed;
    int packed;
  };

  template <class KeysIn, class ValuesIn, class Compare>
  STRATA_D AgentShortSegments(TempStorage& storage, const KeysIn& keys, const ValuesIn& values,
                              const Compare& compare)
      : storage_(storage),
        tile_(storage.tile, keys, values, compare),
        wide_tile_(storage.wide_tile, keys, values, compare) {}

  /// `count` segments from number `first` on.
  template <class Segments, class Arrays>
  STRATA_D void sort(const Segments& segments, long long first, int count,
                     const segment_classes& classes, const merge_sort_workspace& workspace,
                     const Arrays& output) {
    if (threadIdx.x == 0) storage_.seen = storage_.listed = storage_.packed = 0;
    __syncthreads();
    STRATA_UNROLL_N(1)
    while (storage_.seen < count) {
      const int seen = storage_.seen;
      const int left = count - seen < block_threads ? count - seen : block_threads;
      sort_or_list(segments, first, seen, left, classes, workspace, output);
      if (threadIdx.x == 0) storage_.seen = seen + block_threads;
      __syncthreads();
    }
    if constexpr (WideTile::most_own > Tile::most_own) {
      // Where most are empty, the others are long if the mean fits a thread.
      if (4 * storage_.listed <= count) {
        pack(wide_tile_, segments, first, output);
        return;
      }
    }
    pack(tile_, segments, first, output);
  }

 private:
  /// Sorts, lists or hands on `left` segments from number `first + seen` on.
  template <class Segments, class Arrays>
  STRATA_D void sort_or_list(const Segments& segments, long long first, int seen, int left,
                             const segment_classes& classes, const merge_sort_workspace& workspace,
                             const Arrays& output) {
    const int mine = static_cast<int>(threadIdx.x);
    const long long begin = segments(first + seen).begin;
    segment_bounds own{begin, 0};
    long long next = begin;
    if (mine < left) {
      own = segments(first + seen + mine);
      // What the neighbour has is loaded again, at the same time.
      next = mine + 1 < left ? segments(first + seen + mine + 1).begin : own.begin + own.length;
    }
    const segment_bounds last = segments(first + seen + left - 1);
    const long long end = last.begin + last.length;
    const bool is_next = own.begin + own.length == next;
    if (__syncthreads_and(is_next && own.length <= Tile::most_own) != 0) {
      tile_.sort_own(own, begin, static_cast<int>(end - begin), output);
      return;
    }
    if constexpr (WideTile::most_own > Tile::most_own) {
      if (__syncthreads_and(is_next && own.length <= WideTile::most_own) != 0) {
        wide_tile_.sort_own(own, begin, static_cast<int>(end - begin), output);
        return;
      }
    }
    if (workspace.progress != nullptr) {
      hand_on(workspace, classes, first + seen + mine, own, mine < left);
    }
    list(classes.is_direct(own.length), seen + mine);
  }

  /// Sorts those that are listed.
  template <class AnyTile, class Segments, class Arrays>
  STRATA_D void pack(AnyTile& tile, const Segments& segments, long long first,
                     const Arrays& output) {
    STRATA_UNROLL_N(1)
    while (storage_.packed < storage_.listed) {
      const int packed = storage_.packed, left = storage_.listed - packed;
      const int mine = static_cast<int>(threadIdx.x);
      segment_bounds bounds{0, 0};
      if (mine < left) bounds = segments(first + storage_.list[packed + mine]);
      const int taken = tile.plan(static_cast<int>(bounds.length), bounds.begin, left);
      if (threadIdx.x == 0) storage_.packed = packed + taken;
      tile.sort();
      tile.store(output, 0, 0);
      __syncthreads();  // Before the tile is planned again.
    }
  }

  /// Appends a number for each thread that has one.
  STRATA_D void list(bool is_listed, int number) {
    constexpr int warps = block_threads / warp_threads;
    const int warp = static_cast<int>(threadIdx.x) / warp_threads;
    const unsigned lanes = __ballot_sync(full_warp_mask, is_listed);
    if (platform::lane_id() == 0) storage_.listed_of_warp[warp] = __popc(lanes);
    __syncthreads();
    int place = storage_.listed + __popc(lanes & platform::lane_mask_lt()), sum = 0;
    STRATA_UNROLL
    for (int w = 0; w < warps; ++w) {
      const int count = storage_.listed_of_warp[w];
      if (w < warp) place += count;
      sum += count;
    }
    if (is_listed) storage_.list[place] = static_cast<unsigned short>(number);
    __syncthreads();
    if (threadIdx.x == 0) storage_.listed += sum;
  }

  TempStorage& storage_;
  Tile tile_;
  WideTile wide_tile_;
};

}  // namespace detail
STRATA_NAMESPACE_END
