// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_segmented_merge_sort.cuh>
#include <strata/block/specializations/vector_transfer.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/async_copy.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/segments.cuh>
#include <strata/device/merge_sort/workspace.cuh>
#include <strata/thread/specializations/vector_access.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Loads segments into a tile in shared memory, sorts them, and stores them at offsets of the output.
/// `KeysIn` and `ValuesIn` are iterators.
template <int BlockThreads, int ItemsPerThread, class Key, class Value, class KeysIn, class ValuesIn, class Compare>
class AgentSegmentTile {
 public:
  using Sort = BlockSegmentedMergeSort<Key, BlockThreads, ItemsPerThread, Value>;
  using TempStorage = typename Sort::TempStorage;
  using Arrays = merge_sort_arrays<Key, Value>;
  static constexpr int block_threads = BlockThreads;
  static constexpr int tile_items = Sort::tile_items;

  STRATA_D AgentSegmentTile(TempStorage& storage, const KeysIn& keys, const ValuesIn& values, const Compare& compare)
      : storage_(storage), keys_(keys), values_(values), compare_(compare) {}

  /// All threads call this. The first `count` threads pass a segment each, the others an empty one. Returns how many of
  /// these segments the tile takes. A barrier must stand between the last use of the tile and this call.
  STRATA_D int plan(int length, long long begin, int count) { return tile().Plan(length, begin, count); }

  /// True if no segment of the tile has items.
  STRATA_D bool is_empty() const { return tile().Segments() == 0; }

  /// Loads and sorts the segments of the tile.
  STRATA_D void sort() {
    origin_ = load(tile());
    tile(origin_).Sort(compare_);
  }

  /// Stores the items at their indices in the input, plus `keys_offset` for keys and `values_offset` for values.
  /// Computes again what the load has computed, so that the sort has all registers.
  STRATA_D void store(const Arrays& output, long long keys_offset, long long values_offset) {
    store(tile(origin_), output, keys_offset, values_offset);
  }

  /// Segments that lie side by side need no plan if each has a thread and no more items than this.
  static constexpr int max_thread_segment = ItemsPerThread;

  /// Sorts and stores the `items` items from `begin` on. Each thread has one segment of them, or none.
  STRATA_D void sort_thread_segments(const segment_bounds& local, long long begin, int items, const Arrays& output) {
    load_range(begin, items);
    __syncthreads();
    tile().SortOwn(static_cast<int>(local.begin - begin), static_cast<int>(local.length), compare_);
    store_range(begin, items, output, 0, 0);
  }

  /// Sorts segments that lie side by side, in the range `all`. Each has `owners` threads, a power of two up
  /// to a warp; `local` is the segment of the calling thread.
  STRATA_D void sort_uniform_segments(const segment_bounds& local, const segment_bounds& all, int owners) {
    load_range(all.begin, static_cast<int>(all.length));
    __syncthreads();
    tile().SortOwn(static_cast<int>(local.begin - all.begin), static_cast<int>(local.length), owners, compare_);
  }
  STRATA_D void store_uniform_segments(const segment_bounds& all, const Arrays& output) {
    store_range(all.begin, static_cast<int>(all.length), output, 0, 0);
  }

  /// Sorts the `items` items from `begin` on, which are one segment.
  STRATA_D void sort_segment(long long begin, int items) {
    bool is_loaded = false;
    if constexpr (has_vectors) {
      is_loaded = vectors::surplus(keys_ + begin) == 0;
      if (is_loaded) {
        vectors::load(detail::reloaded_thread_index(), keys_ + begin, items, tile().Position(0));
        platform::wait_for_async_copies();
      }
    }
    if (!is_loaded) load_range(begin, items);
    __syncthreads();
    tile().SortAll(items, compare_);
  }
  STRATA_D void store_segment(long long begin, int items, const Arrays& output) {
    if constexpr (has_vectors) {
      if (vectors::surplus(output.keys + begin) == 0) {
        vectors::store(detail::reloaded_thread_index(), tile().Position(0), items, output.keys + begin);
        return;
      }
    }
    store_range(begin, items, output, 0, 0);
  }

 private:
  using item_type = typename Sort::Item;
  STRATA_D Sort tile(int origin = Sort::least_origin) const {
    Sort sort(storage_, detail::reloaded_thread_index());
    sort.Origin(origin);
    return sort;
  }

  static constexpr bool has_values = !std::is_same_v<Value, NullType>;
  static constexpr bool has_vectors =
      !has_values && is_pointer_to<KeysIn, Key> && Sort::is_compact && transfers_vectors<Key>;
  using vectors = vector_transfer<Key, BlockThreads>;
  static constexpr bool has_gaps = !Sort::is_compact;
  // Lanes that move one segment, if the segments of the tile are scattered.
  static constexpr int segment_lanes = ItemsPerThread > 16 ? warp_threads : 8;

  /// True if the segments of the tile lie side by side in device memory.
  STRATA_D static bool is_range(const Sort& tile) {
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
    const bool is_one = is_range(tile);
    int origin = Sort::least_origin;
    if constexpr (has_vectors) {
      if (is_one) {
        origin += vectors::surplus(keys_ + tile.Place(0));
        tile.Origin(origin);
        vectors::load(detail::reloaded_thread_index(), keys_ + tile.Place(0), tile.Items(), tile.Position(0));
      }
    }
    if (!has_vectors || !is_one) {
      for_each(tile, is_one, [this](item_type* item, long long index) { load_item(item, index); });
    }
    platform::wait_for_async_copies();
    __syncthreads();
    return origin;
  }

  STRATA_D void store(Sort tile, const Arrays& output, long long keys_offset,
                      [[maybe_unused]] long long values_offset) {
    const bool is_one = is_range(tile);
    if constexpr (has_vectors) {
      Key* const target = output.keys + tile.Place(0) + keys_offset;
      if (is_one && output.keys != nullptr && vectors::surplus(target) == vectors::surplus(keys_ + tile.Place(0))) {
        vectors::store(detail::reloaded_thread_index(), tile.Position(0), tile.Items(), target);
        return;
      }
    }
    if (has_gaps && is_one) {
      store_range(tile.Place(0), tile.Items(), output, keys_offset, values_offset);
      return;
    }
    for_each(tile, is_one, [&](const item_type* item, long long index) {
      store_item(*item, output, index + keys_offset, index + values_offset);
    });
  }

  STRATA_D void load_item(item_type* item, long long index) const {
    if constexpr (has_values) {
      detail::load_part(&item->key, keys_, index);
      detail::load_part(&item->value, values_, index);
    } else {
      detail::load_part(item, keys_, index);
    }
  }
  STRATA_D item_type item_at(long long index) const {
    const auto key = static_cast<Key>(keys_[static_cast<difference_of<KeysIn>>(index)]);
    if constexpr (has_values) {
      return {key, static_cast<Value>(values_[static_cast<difference_of<ValuesIn>>(index)])};
    } else {
      return key;
    }
  }
  STRATA_D static void store_item(const item_type& item, const Arrays& output, long long key_index,
                                  [[maybe_unused]] long long value_index) {
    if (output.keys != nullptr) output.keys[key_index] = detail::key_of(item);
    if constexpr (has_values) output.values[value_index] = item.value;
  }

  /// Loads or stores a range of device memory that is the whole tile. Loads go through registers, which are
  /// free at this point: asynchronous copies take more instructions.
  STRATA_D void load_range(long long begin, int items) {
    constexpr int items_per_batch = detail::least(ItemsPerThread, 8);
    item_type loaded[static_cast<std::size_t>(items_per_batch)];
    STRATA_UNROLL_N(1)
    for (int done = 0; done < ItemsPerThread; done += items_per_batch) {
      // If a register were unset on some path, the compiler would keep it occupied throughout a caller's loop.
      STRATA_UNROLL
      for (int i = 0; i < items_per_batch; ++i) loaded[i] = item_type{};
      for_range<items_per_batch>(done, begin, items,
                                 [this, &loaded](int i, item_type*, long long index) { loaded[i] = item_at(index); });
      for_range<items_per_batch>(done, begin, items,
                                 [&loaded](int i, item_type* item, long long) { *item = loaded[i]; });
    }
  }
  STRATA_D void store_range(long long begin, int items, const Arrays& output, long long keys_offset,
                            long long values_offset) {
    for_range<ItemsPerThread>(0, begin, items, [&](int, const item_type* item, long long index) {
      store_item(*item, output, index + keys_offset, index + values_offset);
    });
  }
  template <int Count, class Move>
  STRATA_D void for_range(int done, long long begin, int items, const Move& move) {
    const int first = detail::reloaded_thread_index() + done * BlockThreads;
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
      const int items = tile.Items(), first = detail::reloaded_thread_index();
      const long long begin = tile.Place(0);
      item_type* item = tile.Position(first);
      STRATA_UNROLL_N(4)
      for (int i = first; i < items; i += BlockThreads, item += Sort::block_distance) {
        move(item, begin + i);
      }
    } else {
      const int count = tile.Segments(), thread = detail::reloaded_thread_index();
      // Segments of a tile are long if there are few of them: then the block moves one after the other.
      const bool is_by_block = count <= BlockThreads / segment_lanes / 2;
      const int lanes = is_by_block ? BlockThreads : segment_lanes;
      STRATA_UNROLL_N(1)
      for (int s = is_by_block ? 0 : thread / segment_lanes; s < count;
           s += is_by_block ? 1 : BlockThreads / segment_lanes) {
        const int first = tile.Begin(s), length = tile.Length(s);
        const long long begin = tile.Place(s);
        STRATA_UNROLL_N(2)
        for (int i = is_by_block ? thread : thread % segment_lanes; i < length; i += lanes) {
          move(tile.Position(first + i), begin + i);
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
