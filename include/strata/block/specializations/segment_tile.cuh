// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/bank_conflicts.hpp>
#include <strata/core/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>

#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

template <class Key, class Value>
struct merge_pair {
  Key key;
  Value value;
};

/// What a merge sort moves: a key alone, or with its value.
template <class Key, class Value>
using segment_item =
    std::conditional_t<std::is_same_v<Value, NullType>, Key, merge_pair<Key, Value>>;

template <class Key>
STRATA_D const Key& key_of(const Key& item) {
  return item;
}
template <class Key, class Value>
STRATA_D const Key& key_of(const merge_pair<Key, Value>& item) {
  return item.key;
}

/// Items of a block in shared memory, `ItemsPerThread` of which a thread reads or writes at a stretch.
/// A whole 16 bytes before the first index are for tiles that begin as far behind a multiple of 16 bytes
/// as they do in device memory.
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
                    strata::conflict_degree(
                        layout{}, blocked_access<is_access ? item_bytes : 4, ItemsPerThread>{}) ==
                        1,
                "a thread's items must lie in other banks than its neighbours'");
  static constexpr bool is_compact = std::is_same_v<layout, PlainLayout>;
  static constexpr int vector_bytes = 16;
  static constexpr int vector_items = item_bytes < vector_bytes ? vector_bytes / item_bytes : 1;
  static constexpr int least_origin = vector_items;
  static constexpr int most_origin = 2 * vector_items;
  /// How many items lie between two whose indices differ by so many, wherever they begin.
  template <int Indices>
  static constexpr int distance = static_cast<int>(layout{}(Indices));

  alignas(vector_bytes) alignas(Item) unsigned char
      bytes[sizeof(Item) * static_cast<std::size_t>(layout::storage_elements(most_origin + Items))];

  STRATA_D Item* at(int index) { return reinterpret_cast<Item*>(bytes) + layout{}(index); }

  STRATA_D Item get(int index) { return load(at(index)); }
  /// By an index in bytes.
  STRATA_D Item get_at(int place) {
    // not for users: run_places sees to it
    static_assert(is_compact, "a place is an index only where items lie side by side");
    return load(reinterpret_cast<Item*>(bytes + place));
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
      // The compiler would take classes to their members, which have bank conflicts.
      item_vector<Item, 1> vector;
      Item item[1];
      vector.load(from);
      vector.get(item);
      return item[0];
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
