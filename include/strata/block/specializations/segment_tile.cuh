// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/bank_conflicts.hpp>
#include <strata/core/detail/aligned_range.hpp>
#include <strata/core/detail/item_vector.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/values.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>
#include <strata/thread/thread_merge.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

template <class Key, class Value>
struct merge_pair {
  Key key;
  Value value;
};

/// What a merge sort moves: a key alone, or with its value.
template <class Key, class Value>
using segment_item = std::conditional_t<std::is_same_v<Value, NullType>, Key, merge_pair<Key, Value>>;

template <class Key>
STRATA_D const Key& key_of(const Key& item) {
  return item;
}
template <class Key, class Value>
STRATA_D const Key& key_of(const merge_pair<Key, Value>& item) {
  return item.key;
}

/// Items of a block in shared memory. A thread reads or writes `ItemsPerThread` neighbouring items at a
/// time. The first item has an index from `least_origin` to `most_origin`, so that a tile can have the same alignment
/// to 16 bytes in shared memory as in device memory.
template <class Item, int ItemsPerThread, int Items>
struct segment_tile {
  static constexpr int item_bytes = static_cast<int>(sizeof(Item));
  static constexpr bool is_access = item_bytes == 4 || item_bytes == 8 || item_bytes == 16;
  static_assert(ItemsPerThread % 2 != 0 || (is_power_of_two(ItemsPerThread) && ItemsPerThread <= 32),
                "BlockSegmentedMergeSort: ItemsPerThread must be odd, or a power of two up to 32, so "
                "that neighbours begin in different banks of shared memory");
  using layout = std::conditional_t<ItemsPerThread % 2 == 0 && is_access,
                                    PaddedLayout<128 / (is_access ? item_bytes : 4), 1>, PlainLayout>;
  static_assert(!is_access ||
                    strata::conflict_degree(layout{}, blocked_access<is_access ? item_bytes : 4, ItemsPerThread>{}) ==
                        1,
                "BlockSegmentedMergeSort: items of this size have bank conflicts: choose another ItemsPerThread");
  static constexpr bool is_compact = std::is_same_v<layout, PlainLayout>;
  static constexpr int vector_items = item_bytes < vector_bytes ? vector_bytes / item_bytes : 1;
  static constexpr int least_origin = vector_items;
  static constexpr int most_origin = 2 * vector_items;
  /// The distance, in items of storage, of two items whose indices differ by `Indices`, a multiple of 32.
  template <int Indices>
  static constexpr int distance = static_cast<int>(layout{}(Indices));

  alignas(vector_bytes) alignas(
      Item) unsigned char bytes[sizeof(Item) * static_cast<std::size_t>(layout::storage_elements(most_origin + Items))];

  STRATA_D Item* at(int index) { return reinterpret_cast<Item*>(bytes) + layout{}(index); }

  STRATA_D Item get(int index) { return load(at(index)); }
  STRATA_D Item get_at_byte(int offset) {
    // not for users: run_reader ensures it
    static_assert(is_compact, "byte offsets are for tiles without gaps between items");
    return load(reinterpret_cast<Item*>(bytes + offset));
  }
  STRATA_D void put(int index, const Item& item) {
    if constexpr (std::is_scalar_v<Item> || (item_bytes != 8 && item_bytes != 16)) {
      *at(index) = item;
    } else {
      item_vector<Item, 1> vector;
      const Item items[1] = {item};
      vector.set(items);
      vector.store(at(index));
    }
  }

 private:
  STRATA_D static Item load(const Item* from) {
    if constexpr (std::is_scalar_v<Item> || (item_bytes != 8 && item_bytes != 16)) {
      return *from;
    } else {
      // The compiler would load a class member by member, with bank conflicts.
      item_vector<Item, 1> vector;
      Item item[1];
      vector.load(from);
      vector.get(item);
      return item[0];
    }
  }
};

/// A run in a segment_tile as merge_path reads it: the key of item i lies at index `begin + Step * i`.
template <int Step, class Tile>
struct tile_run {
  Tile& tile;
  int begin;
  STRATA_D auto operator[](int i) const { return detail::key_of(tile.get(begin + Step * i)); }
};

/// Reads the next items of two runs of a segment_tile, upwards in the first, by steps of `Step2` in the second.
/// Where items lie without gaps, positions are byte offsets. This saves address computations in the innermost loop of
/// all merges.
template <class Tile, class Item, int Step2>
class run_reader {
  static constexpr int scale = Tile::is_compact ? static_cast<int>(sizeof(Item)) : 1;

 public:
  STRATA_D run_reader(int index1, int index2) : position1_(index1 * scale), position2_(index2 * scale) {}

  /// True if the next item of the run has this index or a later one.
  STRATA_D bool is_first_at(int index) const { return position1_ >= index * scale; }
  STRATA_D bool is_second_at(int index) const { return position2_ >= index * scale; }

  /// In the second run if `from2`, otherwise in the first: the index of the item just before the one that `next` would
  /// return.
  STRATA_D int previous_index(bool from2) const {
    return (from2 ? position2_ : position1_) / scale - (from2 ? Step2 : 1);
  }

  /// The next item of the second run, or of the first.
  STRATA_D Item next(Tile& tile, bool from2) {
    const int position = from2 ? position2_ : position1_;
    platform::advance_either<scale, Step2 * scale>(from2, position1_, position2_);
    if constexpr (Tile::is_compact) {
      return tile.get_at_byte(position);
    } else {
      return tile.get(position);
    }
  }

 private:
  int position1_, position2_;
};

/// A thread's slice of the stable merge of two runs in a segment_tile: `ItemsPerThread` items of the result
/// from item `diagonal` on. The first run has `count1` items from index `begin1` on upwards. The second has
/// `count2` from `begin2` on, upwards if `Step2` is 1, downwards if -1. In the latter case it lies right
/// behind the first, so that the pair rises and falls (K. E. Batcher's bitonic sequence, 1968).
///
/// May read one item behind the end of each run. If the result ends before the slice does, it reads on in one run. That
/// memory must exist, but what it holds is never part of the result. Checking each read instead, as `serial_merge` of
/// the thread layer does, takes more instructions. A downward run needs no check of its end. Behind its end lies the
/// last item of the first run. No item of the first run is greater, so the merge takes the rest of the first run.
///
/// Calls `visit(i, index)` for each item of the slice with its index in the tile.
template <int Step2, int ItemsPerThread, class Tile, class Item, class Compare, class Visit>
STRATA_D void merge_in_tile(Tile& tile, int begin1, int count1, int begin2, int count2, int diagonal, Item* merged,
                            Compare& compare, const Visit& visit) {
  const int first = detail::merge_path(tile_run<1, Tile>{tile, begin1}, tile_run<Step2, Tile>{tile, begin2}, count1,
                                       count2, diagonal, compare);
  const int index1 = begin1 + first, index2 = begin2 + Step2 * (diagonal - first);
  const int end1 = begin1 + count1, end2 = begin2 + count2;
  Item item1 = tile.get(index1), item2 = tile.get(index2);
  run_reader<Tile, Item, Step2> reader(index1 + 1, index2 + Step2);
  STRATA_UNROLL
  for (int i = 0; i < ItemsPerThread; ++i) {
    const bool from2 = (Step2 < 0 || !reader.is_second_at(end2 + 1)) &&
                       (reader.is_first_at(end1 + 1) || compare(detail::key_of(item2), detail::key_of(item1)));
    merged[i] = from2 ? item2 : item1;
    visit(i, reader.previous_index(from2));
    if (i + 1 < ItemsPerThread) {
      const Item item = reader.next(tile, from2);
      item2 = from2 ? item : item2;
      item1 = from2 ? item1 : item;
    }
  }
}
template <int Step2, int ItemsPerThread, class Tile, class Item, class Compare>
STRATA_D void merge_in_tile(Tile& tile, int begin1, int count1, int begin2, int count2, int diagonal, Item* merged,
                            Compare& compare) {
  detail::merge_in_tile<Step2, ItemsPerThread>(tile, begin1, count1, begin2, count2, diagonal, merged, compare,
                                               [](int, int) {});
}

}  // namespace detail
STRATA_NAMESPACE_END
