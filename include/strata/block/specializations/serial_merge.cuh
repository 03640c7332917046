// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/segment_tile.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform_advance.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The next places to read of two runs in a segment_tile, in bytes where the tile's items lie side by
/// side: every instruction counts, there are as many as items and levels of a sort. The second run is read
/// from its end on if `Step2` is -1.
template <class Tile, class Item, int Step2>
class run_places {
  static constexpr int scale = Tile::is_compact ? static_cast<int>(sizeof(Item)) : 1;

 public:
  STRATA_D run_places(int index1, int index2) : place1_(index1 * scale), place2_(index2 * scale) {}

  /// Whether the first run's next item has this index or a later one; of the second run the same.
  STRATA_D bool is_first_at(int index) const { return place1_ >= index * scale; }
  STRATA_D bool is_second_at(int index) const { return place2_ >= index * scale; }

  /// The next item of the second run, or of the first.
  STRATA_D Item take(Tile& tile, bool from2) {
    const int place = from2 ? place2_ : place1_;
    platform::advance_either<scale, Step2 * scale>(from2, place1_, place2_);
    if constexpr (Tile::is_compact) {
      return tile.get_at(place);
    } else {
      return tile.get(place);
    }
  }

 private:
  int place1_, place2_;
};

/// MergePath of two runs in a segment_tile: how many of the first `diagonal` items of their stable merge
/// are the first run's. The second begins at `begin2` and goes on from there, or, if `Step2` is -1, down.
template <int Step2, class Tile, class Compare>
STRATA_D int split_runs_of_tile(Tile& tile, int begin1, int count1, int begin2, int count2,
                                int diagonal, const Compare& compare) {
  int first = diagonal - count2, last = diagonal < count1 ? diagonal : count1;
  first = first > 0 ? first : 0;
  while (first < last) {
    // Two instructions less than halves of what may be negative.
    const int middle = static_cast<int>(static_cast<unsigned>(first + last) / 2);
    if (compare(detail::key_of(tile.get(begin2 + Step2 * (diagonal - 1 - middle))),
                detail::key_of(tile.get(begin1 + middle)))) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return first;
}

/// A thread's items of the stable merge of two runs, of which they begin at `index1` and `index2`.
///
/// The item behind a run is read with the others, which costs less than not to, and behind both runs the
/// first goes on to be read; nobody looks at what is found there.
template <int ItemsPerThread, class Tile, class Item, class Compare>
STRATA_D void merge_serially(Tile& tile, int index1, int end1, int index2, int end2, Item* merged,
                             const Compare& compare) {
  Item item1 = tile.get(index1), item2 = tile.get(index2);
  run_places<Tile, Item, 1> next(index1 + 1, index2 + 1);
  STRATA_UNROLL
  for (int i = 0; i < ItemsPerThread; ++i) {
    const bool from2 =
        !next.is_second_at(end2 + 1) &&
        (next.is_first_at(end1 + 1) || compare(detail::key_of(item2), detail::key_of(item1)));
    merged[i] = from2 ? item2 : item1;
    if (i + 1 < ItemsPerThread) {
      const Item item = next.take(tile, from2);
      item2 = from2 ? item : item2;
      item1 = from2 ? item1 : item;
    }
  }
}

/// The same of a rising run and a falling one behind it, from whose end `index2` goes down. When the
/// second is used up, the last item of the first one follows, behind which nothing of the first comes:
/// one bound less to look at.
template <int ItemsPerThread, class Tile, class Item, class Compare>
STRATA_D void merge_opposed_serially(Tile& tile, int index1, int end1, int index2, Item* merged,
                                     const Compare& compare) {
  Item item1 = tile.get(index1), item2 = tile.get(index2);
  run_places<Tile, Item, -1> next(index1 + 1, index2 - 1);
  STRATA_UNROLL
  for (int i = 0; i < ItemsPerThread; ++i) {
    const bool from2 =
        next.is_first_at(end1 + 1) || compare(detail::key_of(item2), detail::key_of(item1));
    merged[i] = from2 ? item2 : item1;
    if (i + 1 < ItemsPerThread) {
      const Item item = next.take(tile, from2);
      item2 = from2 ? item : item2;
      item1 = from2 ? item1 : item;
    }
  }
}

}  // namespace detail
STRATA_NAMESPACE_END
