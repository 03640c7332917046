// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_segmented_merge_sort.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/segmented_merge_sort/transfer.cuh>
#include <strata/device/segmented_merge_sort/workspace.cuh>

#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Loads segments into a tile, sorts them and stores them, so many items away from where they were.
/// `KeysIn` and `ValuesIn` are iterators.
template <int BlockThreads, int ItemsPerThread, class Key, class Value, class KeysIn, class ValuesIn,
          class Compare>
class AgentSegmentTile {
 public:
  using Sort = BlockSegmentedMergeSort<Key, BlockThreads, ItemsPerThread, Value>;
  using TempStorage = typename Sort::TempStorage;
  static constexpr int block_threads = BlockThreads;
  static constexpr int tile_items = Sort::tile_items;

  STRATA_D AgentSegmentTile(TempStorage& storage, const KeysIn& keys, const ValuesIn& values,
                            const Compare& compare)
      : storage_(storage), keys_(keys), values_(values), compare_(compare) {}

  /// By all threads, of which the first `count` or more have a segment each: how many of these were taken, at
  /// least. Behind a barrier if the tile has been used before.
  STRATA_D int plan(int length, long long begin, int count) {
    return tile().Plan(length, begin, count);
  }

  /// None of those that were taken has items.
  STRATA_D bool is_empty() const { return tile().Segments() == 0; }

  /// Loads and sorts those that were taken.
  STRATA_D void sort() {
    origin_ = load(tile());
    tile(origin_).Sort(compare_);
  }

  /// Stores them. What is needed before and after the sort is computed twice, so that all registers are
  /// the sort's.
  STRATA_D void store(const merge_sort_arrays<Key, Value>& output, long long move_keys,
                      long long move_values) {
    store(tile(origin_), output, move_keys, move_values);
  }

  /// Segments no longer than this need no plan if they lie side by side, one for each thread.
  static constexpr int most_own = ItemsPerThread;

  /// Sorts the items from `begin` on, of which each thread has a segment or nothing.
  STRATA_D void sort_own(const segment_bounds& own, long long begin, int items,
                         const merge_sort_arrays<Key, Value>& output) {
    load_stretch(begin, items);
    __syncthreads();
    tile().SortOwn(static_cast<int>(own.begin - begin), static_cast<int>(own.length), compare_);
    store_stretch(begin, items, output, 0, 0);
  }

  /// The same in two steps, of segments that have some threads each, a power of two up to a warp.
  STRATA_D void sort_own(const segment_bounds& own, const segment_bounds& all, int owners) {
    load_stretch(all.begin, static_cast<int>(all.length));
    __syncthreads();
    tile().SortOwn(static_cast<int>(own.begin - all.begin), static_cast<int>(own.length), owners, compare_);
  }
  STRATA_D void store_own(const segment_bounds& all, const merge_sort_arrays<Key, Value>& output) {
    store_stretch(all.begin, static_cast<int>(all.length), output, 0, 0);
  }

 private:
  using item_type = typename Sort::Item;
  /// Blocks go through several tiles: what depends on the thread is computed again for each step.
  STRATA_D static int thread() {
    int thread = static_cast<int>(threadIdx.x);
    platform::forget(thread);
    return thread;
  }
  STRATA_D Sort tile(int origin = Sort::least_origin) const {
    Sort sort(storage_, thread());
    sort.Origin(origin);
    return sort;
  }

  static constexpr bool has_values = !std::is_same_v<Value, NullType>;
  static constexpr bool has_vectors =
      !has_values && is_pointer_to<KeysIn, Key> && Sort::is_compact && transfers_vectors<Key>;
  using vectors = vector_transfer<Key, BlockThreads>;
  static constexpr bool has_gaps = !Sort::is_compact;
  // Lanes that move one segment, of those that are scattered.
  static constexpr int segment_lanes = ItemsPerThread > 16 ? warp_threads : 8;

  /// Whether segments lie side by side in device memory.
  STRATA_D static bool is_stretch(const Sort& tile) {
    const int count = tile.Segments();
    const long long begin = tile.Place(0);
    bool is_one = true;
    STRATA_UNROLL_N(1)
    for (int s = static_cast<int>(platform::lane_id()); s < count; s += warp_threads) {
      is_one = is_one && tile.Place(s) - tile.Begin(s) == begin;
    }
    return __all_sync(full_warp_mask, is_one) != 0;
  }

  /// Returns the tile's origin.
  STRATA_D int load(Sort tile) {
    const bool is_one = is_stretch(tile);
    int origin = Sort::least_origin;
    if constexpr (has_vectors) {
      if (is_one) {
        origin += vectors::surplus(keys_ + tile.Place(0));
        tile.Origin(origin);
        vectors::load(thread(), keys_ + tile.Place(0), tile.Items(), tile.Position(0));
      }
    }
    if (!has_vectors || !is_one) {
      for_each(tile, is_one,
               [this](item_type* item, long long place) { load_item(item, place); });
    }
    platform::wait_for_async_copies();
    __syncthreads();
    return origin;
  }

  STRATA_D void store(Sort tile, const merge_sort_arrays<Key, Value>& output, long long move_keys,
                      [[maybe_unused]] long long move_values) {
    const bool is_one = is_stretch(tile);
    if constexpr (has_vectors) {
      Key* const target = output.keys + tile.Place(0) + move_keys;
      if (is_one && output.keys != nullptr &&
          vectors::surplus(target) == vectors::surplus(keys_ + tile.Place(0))) {
        vectors::store(thread(), tile.Position(0), tile.Items(), target);
        return;
      }
    }
    if (has_gaps && is_one) {
      store_stretch(tile.Place(0), tile.Items(), output, move_keys, move_values);
      return;
    }
    for_each(tile, is_one, [&](const item_type* item, long long place) {
      store_item(*item, output, place + move_keys, place + move_values);
    });
  }

  STRATA_D void load_item(item_type* item, long long place) const {
    if constexpr (has_values) {
      detail::load_part(&item->key, keys_, place);
      detail::load_part(&item->value, values_, place);
    } else {
      detail::load_part(item, keys_, place);
    }
  }
  STRATA_D item_type item_at(long long place) const {
    const auto key = static_cast<Key>(keys_[static_cast<difference_of<KeysIn>>(place)]);
    if constexpr (has_values) {
      return {key, static_cast<Value>(values_[static_cast<difference_of<ValuesIn>>(place)])};
    } else {
      return key;
    }
  }
  STRATA_D static void store_item(const item_type& item,
                                  const merge_sort_arrays<Key, Value>& output, long long key_place,
                                  [[maybe_unused]] long long value_place) {
    if (output.keys != nullptr) output.keys[key_place] = detail::key_of(item);
    if constexpr (has_values) output.values[value_place] = item.value;
  }

  /// Loads or stores all items, which lie side by side in device memory. Through registers where these are
  /// free: asynchronous copies need more instructions.
  STRATA_D void load_stretch(long long begin, int items) {
    constexpr int at_once = ItemsPerThread < 8 ? ItemsPerThread : 8;
    item_type loaded[static_cast<std::size_t>(at_once)];
    STRATA_UNROLL_N(1)
    for (int done = 0; done < ItemsPerThread; done += at_once) {
      // Registers that were unset on some path would be taken for occupied before, in a caller's loop.
      STRATA_UNROLL
      for (int i = 0; i < at_once; ++i) loaded[i] = item_type{};
      for_stretch<at_once>(done, begin, items, [this, &loaded](int i, item_type*, long long place) {
        loaded[i] = item_at(place);
      });
      for_stretch<at_once>(done, begin, items, [&loaded](int i, item_type* item, long long) {
        *item = loaded[i];
      });
    }
  }
  STRATA_D void store_stretch(long long begin, int items, const merge_sort_arrays<Key, Value>& output,
                              long long move_keys, long long move_values) {
    for_stretch<ItemsPerThread>(0, begin, items, [&](int, const item_type* item, long long place) {
      store_item(*item, output, place + move_keys, place + move_values);
    });
  }
  template <int Count, class Move>
  STRATA_D void for_stretch(int done, long long begin, int items, const Move& move) {
    const int first = thread() + done * BlockThreads;
    item_type* const item = tile().Position(first);
    STRATA_UNROLL
    for (int i = 0; i < Count; ++i) {
      if (first + i * BlockThreads < items) {
        move(i, item + i * Sort::block_distance, begin + first + i * BlockThreads);
      }
    }
  }

  template <class Move>
  STRATA_D static void for_each(Sort& tile, bool is_one, const Move& move) {
    if (is_one) {
      const int items = tile.Items(), first = thread();
      const long long begin = tile.Place(0);
      item_type* item = tile.Position(first);
      STRATA_UNROLL_N(4)
      for (int i = first; i < items; i += BlockThreads, item += Sort::block_distance) {
        move(item, begin + i);
      }
    } else {
      const int count = tile.Segments(), mine = thread();
      // Few segments are long ones.
      const bool is_few = count <= BlockThreads / segment_lanes / 2;
      const int lanes = is_few ? BlockThreads : segment_lanes;
      STRATA_UNROLL_N(1)
      for (int s = is_few ? 0 : mine / segment_lanes; s < count;
           s += is_few ? 1 : BlockThreads / segment_lanes) {
        const int first = tile.Begin(s), length = tile.Length(s);
        const long long place = tile.Place(s);
        STRATA_UNROLL_N(2)
        for (int i = is_few ? mine : mine % segment_lanes; i < length; i += lanes) {
          move(tile.Position(first + i), place + i);
        }
      }
    }
  }

  TempStorage& storage_;
  const KeysIn& keys_;
  const ValuesIn& values_;
  const Compare& compare_;
  int origin_ = Sort::least_origin;
};

}  // namespace detail
STRATA_NAMESPACE_END
