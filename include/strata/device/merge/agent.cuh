// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/segment_tile.cuh>
#include <strata/block/specializations/vector_transfer.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform_async_copy.cuh>
#include <strata/core/types.hpp>
#include <strata/device/merge/tuning.hpp>
#include <strata/thread/specializations/vector_access.cuh>
#include <strata/warp/specializations/warp_partition_point.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The arrays of a merge: two sorted ranges and the result. Values may be NullType.
template <class Keys1, class Values1, class Keys2, class Values2, class KeysOut, class ValuesOut>
struct merge_arrays {
  using Key = iterator_value_t<Keys1>;
  using Value = iterator_value_t<Values1>;
  using KeyOut = output_value_t<KeysOut, Key>;
  using ValueOut = output_value_t<ValuesOut, Value>;
  static constexpr bool has_values = !std::is_same_v<Value, NullType>;

  Keys1 keys1;
  Values1 values1;
  unsigned long long count1;
  Keys2 keys2;
  Values2 values2;
  unsigned long long count2;
  KeysOut keys_out;
  ValuesOut values_out;

  STRATA_HD unsigned long long count() const { return count1 + count2; }
};

/// A block merges neighbouring tiles of the result. Diagonals of the merge path (see thread_merge.cuh) cut the ranges
/// into the parts that belong to a tile; a search by a warp finds where. The next tile's end is searched for while keys
/// of a tile are on their way. It lies at most a tile behind the last end: so many keys of each range, of which the
/// search reads some and later tiles read all, are prefetched to L2.
///
/// Keys go through shared memory, and with them no values: threads note where in the tile each key came from. In the
/// result, neighbouring values of one range are neighbours of this range, so that a warp reads them side by side.
template <class ActivePolicy, class Arrays, class Compare>
class AgentMerge {
  static constexpr merge_tuning tuning = ActivePolicy::tuning;
  static constexpr int block_threads = tuning.block_threads;
  static constexpr int items_per_thread = tuning.items_per_thread;
  using Count = unsigned long long;
  using Key = typename Arrays::Key;
  using Value = typename Arrays::Value;
  static constexpr bool has_values = Arrays::has_values;
  using vectors = vector_transfer<Key, block_threads>;
  template <class Keys>
  static constexpr bool has_vectors = is_pointer_to<Keys, Key>&& transfers_vectors<Key>;
  static constexpr int vector_items = transfers_vectors<Key> ? vectors::vector_items : 1;

 public:
  static constexpr int tile_items = block_threads * items_per_thread;

 private:
  // Each range begins at its alignment to vectors. The last thread of the result reads on behind both.
  using Keys = segment_tile<Key, items_per_thread, tile_items + 3 * vector_items + items_per_thread>;
  using Sources = segment_tile<int, items_per_thread, has_values ? tile_items : 1>;

 public:
  struct TempStorage {
    Keys keys;
    Sources sources;
    Count splits[3];
  };
  static_assert(sizeof(TempStorage) <= (48 << 10),
                "DeviceMerge: a tile must fit 48 KiB of shared memory: choose fewer threads or items in its tuning, and "
                "for keys of more than 1 KiB merge pointers to them");

  STRATA_D AgentMerge(TempStorage& storage, const Arrays& arrays, Compare& compare)
      : storage_(storage), arrays_(arrays), compare_(compare) {}

  STRATA_D void merge(Count first_tile, Count last_tile) {
    Count diagonal = first_tile * tile_items;
    find_first_splits(diagonal);
    __syncthreads();
    Count begin1 = storage_.splits[0], end1 = storage_.splits[1];
    STRATA_UNROLL_N(1)
    for (Count tile = first_tile;; diagonal += tile_items) {
      const int items = items_from(diagonal);
      // Only if the comparator is no ordering, the end is not where it must be.
      if (end1 < begin1) end1 = begin1;
      if (end1 - begin1 > static_cast<Count>(items)) end1 = begin1 + static_cast<unsigned>(items);
      const part_of_ranges part(arrays_, diagonal, begin1, static_cast<int>(end1 - begin1), items);
      const bool is_first = tile == first_tile, goes_on = ++tile < last_tile;
      load(part);
      if (goes_on) {
        // What the last tile has not yet prefetched.
        prefetch(arrays_.keys1, arrays_.count1, is_first ? end1 : begin1 + tile_items, end1 + tile_items);
        const Count end2 = part.begin2 + static_cast<unsigned>(part.count2);
        prefetch(arrays_.keys2, arrays_.count2, is_first ? end2 : part.begin2 + tile_items, end2 + tile_items);
        if (threadIdx.x < warp_threads) {
          put_split(2, diagonal + tile_items + static_cast<unsigned>(items_from(diagonal + tile_items)), end1,
                    end1 + tile_items);
        }
      }
      if constexpr (has_values) {
        prefetch(arrays_.values1, end1, begin1, end1);
        prefetch(arrays_.values2, arrays_.count2, part.begin2, part.begin2 + static_cast<unsigned>(part.count2));
      }
      platform::wait_for_async_copies();
      __syncthreads();
      begin1 = end1;
      if (goes_on) end1 = storage_.splits[2];
      merge_tile(part);
      store_keys(diagonal, items);
      if constexpr (has_values) store_values(part, diagonal, items);
      if (!goes_on) return;
      __syncthreads();
    }
  }

 private:
  /// The parts of the ranges that belong to a tile, and where their keys lie in shared memory.
  struct part_of_ranges {
    Count begin1, begin2;
    int count1, count2;
    int index1, index2;

    STRATA_D part_of_ranges(const Arrays& arrays, Count diagonal, Count first, int count, int items)
        : begin1(first), begin2(diagonal - first), count1(count), count2(items - count) {
      index1 = surplus(arrays.keys1, begin1);
      index2 = round_up(index1 + count1, vector_items) + surplus(arrays.keys2, begin2);
    }
  };

  template <class T, class Iterator>
  STRATA_D static T item(const Iterator& items, Count index) {
    return static_cast<T>(items[static_cast<difference_of<Iterator>>(index)]);
  }

  template <class Iterator>
  STRATA_D static int surplus([[maybe_unused]] const Iterator& keys, [[maybe_unused]] Count begin) {
    if constexpr (has_vectors<Iterator>) {
      return vectors::surplus(keys + begin);
    } else {
      return 0;
    }
  }

  STRATA_D static int thread() { return static_cast<int>(threadIdx.x); }

  STRATA_D int items_from(Count diagonal) const {
    const Count left = arrays_.count() - diagonal;
    return left < tile_items ? static_cast<int>(left) : tile_items;
  }

  /// The ends of the first tile.
  STRATA_D void find_first_splits(Count diagonal) {
    STRATA_UNROLL_N(1)
    for (unsigned end = threadIdx.x / warp_threads; end < 2; end += block_threads / warp_threads) {
      put_split(end, end == 0 ? diagonal : diagonal + static_cast<unsigned>(items_from(diagonal)), 0, arrays_.count1);
    }
  }

  /// By a warp: how many of the first `diagonal` items of the result are of the first range, if that is in
  /// [least, most].
  STRATA_D void put_split(unsigned slot, Count diagonal, Count least, Count most) {
    const Count count1 = diagonal < arrays_.count1 ? diagonal : arrays_.count1;
    const Count rest = diagonal < arrays_.count2 ? 0 : diagonal - arrays_.count2;
    const Count split =
        detail::warp_partition_point(least < rest ? rest : least, most < count1 ? most : count1, 5, [&](Count i) {
          const Key key1 = item<Key>(arrays_.keys1, i), key2 = item<Key>(arrays_.keys2, diagonal - 1 - i);
          return static_cast<bool>(compare_(key2, key1));
        });
    if (platform::lane_id() == 0) storage_.splits[slot] = split;
  }

  STRATA_D void load(const part_of_ranges& part) {
    load(arrays_.keys1, part.begin1, part.count1, part.index1);
    load(arrays_.keys2, part.begin2, part.count2, part.index2);
  }
  template <class Iterator>
  STRATA_D void load(const Iterator& keys, Count begin, int count, int index) {
    if constexpr (has_vectors<Iterator>) {
      vectors::load(thread(), keys + begin, count, storage_.keys.at(index));
    } else {
      STRATA_UNROLL_N(4)
      for (int i = thread(); i < count; i += block_threads) {
        detail::load_part(storage_.keys.at(index + i), keys, static_cast<long long>(begin) + i);
      }
    }
  }

  /// Items [begin, end) of `count`.
  template <class Iterator>
  STRATA_D static void prefetch(const Iterator& items, Count count, Count begin, Count end) {
    if constexpr (std::is_pointer_v<Iterator>) {
      constexpr unsigned line = sizeof(*items) < 128 ? 128 / static_cast<unsigned>(sizeof(*items)) : 1;
      if (end > count) end = count;
      STRATA_UNROLL_N(1)
      for (Count i = begin + threadIdx.x * line; i < end; i += block_threads * line) {
        platform::prefetch_to_l2(items + i);
      }
    }
  }

  /// Threads merge their slices in registers and put them into shared memory, where stores want them.
  STRATA_D void merge_tile(const part_of_ranges& part) {
    Keys& keys = storage_.keys;
    const int items = part.count1 + part.count2;
    const int slice = thread() * items_per_thread;
    platform::may_be_unwritten(keys.at(part.index1 + part.count1), sizeof(Key) * items_per_thread);
    platform::may_be_unwritten(keys.at(part.index2 + part.count2), sizeof(Key) * items_per_thread);
    Key merged[static_cast<std::size_t>(items_per_thread)];
    detail::merge_in_tile<1, items_per_thread>(keys, part.index1, part.count1, part.index2, part.count2,
                                               slice < items ? slice : items, merged, compare_, [&](int i, int index) {
                                                 if constexpr (has_values) storage_.sources.put(slice + i, index);
                                               });
    __syncthreads();
    const int origin = surplus(arrays_.keys_out, part.begin1 + part.begin2);
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) keys.put(origin + slice + i, merged[i]);
    __syncthreads();
  }

  STRATA_D void store_keys(Count diagonal, int items) {
    if constexpr (has_vectors<decltype(Arrays::keys_out)>) {
      vectors::store(thread(), storage_.keys.at(surplus(arrays_.keys_out, diagonal)), items,
                     arrays_.keys_out + diagonal);
    } else {
      STRATA_UNROLL_N(4)
      for (int i = thread(); i < items; i += block_threads) {
        put(arrays_.keys_out, diagonal, i, static_cast<typename Arrays::KeyOut>(storage_.keys.get(i)));
      }
    }
  }

  /// Loads are issued some at a time: a store might write what the next load reads, for all that the compiler knows.
  STRATA_D void store_values(const part_of_ranges& part, Count diagonal, int items) {
    constexpr int most = 64 / static_cast<int>(sizeof(Value));
    constexpr int batch = most < 1 ? 1 : most < items_per_thread ? most : items_per_thread;
    STRATA_UNROLL_N(1)
    for (int first = thread(); first < items; first += batch * block_threads) {
      Value values[static_cast<std::size_t>(batch)];
      STRATA_UNROLL
      for (int i = 0; i < batch; ++i) {
        const int at = first + i * block_threads;
        const int index = storage_.sources.get(at < items ? at : first);
        values[i] = index < part.index2
                        ? item<Value>(arrays_.values1, part.begin1 + static_cast<unsigned>(index - part.index1))
                        : item<Value>(arrays_.values2, part.begin2 + static_cast<unsigned>(index - part.index2));
      }
      STRATA_UNROLL
      for (int i = 0; i < batch; ++i) {
        const int at = first + i * block_threads;
        if (at < items) put(arrays_.values_out, diagonal, at, static_cast<typename Arrays::ValueOut>(values[i]));
      }
    }
  }

  template <class Iterator, class T>
  STRATA_D static void put(const Iterator& out, Count diagonal, int index, const T& value) {
    Iterator to = out;
    to[static_cast<difference_of<Iterator>>(diagonal + static_cast<unsigned>(index))] = value;
  }

  TempStorage& storage_;
  const Arrays& arrays_;
  Compare& compare_;
};

}  // namespace detail
STRATA_NAMESPACE_END
