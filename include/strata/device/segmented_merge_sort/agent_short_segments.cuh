// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/segmented_merge_sort/agent_segments.cuh>
#include <strata/device/segmented_merge_sort/workspace.cuh>
#include <strata/device/segmented_reduce/segments.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// One block of the first kernel where the mean segment fits a thread. If its segments lie side by side,
/// and none has more items than a thread takes, each thread sorts one: no plan is needed, as offsets tell
/// where in the tile it lies. `Tile` tries this, then `WideTile`, whose threads take more items; if neither
/// does, `Tile` packs the segments as others do.
template <class Tile, class WideTile>
class AgentShortSegments {
 public:
  static constexpr int block_threads = Tile::block_threads;
  static constexpr int tile_items = Tile::tile_items;

  union TempStorage {
    typename Tile::TempStorage tile;
    typename WideTile::TempStorage wide_tile;
  };

  template <class KeysIn, class ValuesIn, class Compare>
  STRATA_D AgentShortSegments(TempStorage& storage, const KeysIn& keys, const ValuesIn& values,
                              const Compare& compare)
      : tile_(storage.tile, keys, values, compare),
        wide_tile_(storage.wide_tile, keys, values, compare) {}

  /// `count` segments from number `first` on.
  template <class Segments, class Arrays>
  STRATA_D void sort(const Segments& segments, long long first, int count,
                     const segment_classes& classes, const merge_sort_workspace& workspace,
                     const Arrays& output) {
    if (count > block_threads || !sort_own_segments(segments, first, count, output)) {
      sort_segments_directly(tile_, segments, first, count, classes, workspace, output);
    }
  }

 private:
  /// False if there is a segment that a thread does not sort alone.
  template <class Segments, class Arrays>
  STRATA_D bool sort_own_segments(const Segments& segments, long long first, int count,
                                  const Arrays& output) {
    const int mine = static_cast<int>(threadIdx.x);
    const long long begin = segments(first).begin;
    segment_bounds own{begin, 0};
    long long next = begin;
    if (mine < count) {
      own = segments(first + mine);
      // What the neighbour has is loaded again, at the same time.
      next = mine + 1 < count ? segments(first + mine + 1).begin : own.begin + own.length;
    }
    const segment_bounds last = segments(first + count - 1);
    const long long end = last.begin + last.length;
    const bool is_next = own.begin + own.length == next;
    if (__syncthreads_and(is_next && own.length <= Tile::most_own) != 0) {
      tile_.sort_own(own, begin, static_cast<int>(end - begin), output);
      return true;
    }
    if constexpr (WideTile::most_own > Tile::most_own) {
      if (__syncthreads_and(is_next && own.length <= WideTile::most_own) != 0) {
        wide_tile_.sort_own(own, begin, static_cast<int>(end - begin), output);
        return true;
      }
    }
    return false;
  }

  Tile tile_;
  WideTile wide_tile_;
};

}  // namespace detail
STRATA_NAMESPACE_END
