// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/segment_tile.cuh>
#include <strata/block/specializations/vector_transfer.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/async_copy.cuh>
#include <strata/core/types.hpp>
#include <strata/device/merge_sort/merge_tuning.hpp>
#include <strata/thread/specializations/vector_access.cuh>
#include <strata/warp/specializations/warp_partition_point.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The arrays of a merge: two sorted ranges and the result. Values may be NullType. Counts are unsigned.
template <class Keys1, class Values1, class Keys2, class Values2, class KeysOut, class ValuesOut,
          class CountT = unsigned long long>
struct merge_arrays {
  using Count = CountT;
  using Key = iterator_value_t<Keys1>;
  using Value = iterator_value_t<Values1>;
  using KeyOut = output_value_t<KeysOut, Key>;
  using ValueOut = output_value_t<ValuesOut, Value>;
  static constexpr bool has_values = !std::is_same_v<Value, NullType>;

  Keys1 keys1;
  Values1 values1;
  Count count1;
  Keys2 keys2;
  Values2 values2;
  Count count2;
  KeysOut keys_out;
  ValuesOut values_out;

  STRATA_HD Count count() const { return count1 + count2; }
};

template <class T, class Iterator>
STRATA_D T merged_item(const Iterator& items, unsigned long long index) {
  return static_cast<T>(items[static_cast<difference_of<Iterator>>(index)]);
}

/// A diagonal of the merge path (see thread_merge.cuh), for a binary search in [first(), last()): how many of the first
/// `diagonal` items of the result are of the first range.
template <class Arrays, class Compare>
struct merge_diagonal {
  using Key = typename Arrays::Key;
  using Count = typename Arrays::Count;

  const Arrays& arrays;
  Compare& compare;
  Count diagonal;

  STRATA_D Count first() const { return diagonal < arrays.count2 ? 0 : diagonal - arrays.count2; }
  STRATA_D Count last() const { return detail::least(diagonal, arrays.count1); }
  STRATA_D bool operator()(Count i) const {
    const Key key1 = detail::merged_item<Key>(arrays.keys1, i);
    const Key key2 = detail::merged_item<Key>(arrays.keys2, diagonal - 1 - i);
    return static_cast<bool>(compare(key2, key1));
  }
};

/// A block merges a tile of the result. Two diagonals of the merge path cut the ranges into the parts that belong to
/// it. Another kernel has found these cuts, or up to two warps of the block search for them.
///
/// Values take one of two ways:
/// - Staged: they are loaded into shared memory beside their keys, move with them, and are stored as vectors. Tuning
///   must ask for it, and all values must lie in arrays and have a size that divides 16 bytes.
/// - Gathered: threads note where in the tile each key came from, and read values from device memory. Neighbours in the
///   result that come from one range are neighbours there, so that a warp reads values side by side.
template <class ActivePolicy, class Arrays, class Compare>
class AgentMerge {
  static constexpr merge_tuning tuning = ActivePolicy::tuning;
  static constexpr int block_threads = tuning.block_threads;
  static constexpr int items_per_thread = tuning.items_per_thread;
  using Count = typename Arrays::Count;
  using Key = typename Arrays::Key;
  using Value = typename Arrays::Value;
  static constexpr bool has_values = Arrays::has_values;
  using vectors = vector_transfer<Key, block_threads>;
  template <class Keys>
  static constexpr bool has_vectors = is_pointer_to<Keys, Key>&& transfers_vectors<Key>;
  static constexpr int vector_items = transfers_vectors<Key> ? vectors::vector_items : 1;
  using value_vectors = vector_transfer<Value, block_threads>;
  template <class Values>
  static constexpr bool has_value_vectors = is_pointer_to<Values, Value>&& transfers_vectors<Value>;

 public:
  static constexpr bool stages_values =
      has_values && tuning.stages_values && has_value_vectors<decltype(Arrays::values1)> &&
      has_value_vectors<decltype(Arrays::values2)> && has_value_vectors<decltype(Arrays::values_out)>;
  static constexpr int tile_items = block_threads * items_per_thread;

 protected:
  // In shared memory, each range has the same alignment to vectors as in device memory. This needs room for fewer than
  // three vectors more. A segment_tile already has room for two, and `vector_items` adds the third. `items_per_thread`
  // is added because the thread of the last results may read that many items behind the ranges.
  using Keys = segment_tile<Key, items_per_thread, tile_items + vector_items + items_per_thread>;
  using Sources = segment_tile<int, items_per_thread, has_values && !stages_values ? tile_items : 1>;
  static constexpr int value_vector_items = stages_values ? value_vectors::vector_items : 1;
  using Values =
      segment_tile<Value, items_per_thread, stages_values ? tile_items + value_vector_items + items_per_thread : 1>;

 public:
  struct TempStorage {
    Keys keys;
    Sources sources;
    Values values;
    Count splits[2];
  };
  static_assert(sizeof(TempStorage) <= (48 << 10),
                "DeviceMerge: a tile must fit in 48 KiB of shared memory: choose fewer threads or items in its "
                "tuning. Instead of keys of more than 1 KiB, merge pointers to them");

  STRATA_D AgentMerge(TempStorage& storage, const Arrays& arrays, Compare& compare)
      : storage_(storage), arrays_(arrays), compare_(compare) {}

  /// `splits`: for each tile, the number of items of the first range in the tiles before it; or null.
  STRATA_D void merge(Count tile, const Count* splits) {
    const Count diagonal = tile * tile_items, items = items_of(diagonal);
    merge_part(diagonal, items, splits_of(tile, diagonal, items, splits));
  }

  /// Merges up to a tile of the result, from item `diagonal` on.
  STRATA_D void merge_from(Count diagonal, Count items) {
    search(diagonal, items);
    merge_part(diagonal, items, storage_.splits);
  }

 protected:
  struct part_of_ranges;

  /// The items of a tile.
  STRATA_D Count items_of(Count diagonal) const {
    const Count left = arrays_.count() - diagonal;
    return detail::least(left, tile_items);
  }

  /// Returns where the ranges are cut before and behind a tile: cuts are known, or searched for.
  STRATA_D const Count* splits_of(Count tile, Count diagonal, Count items, const Count* splits) {
    if (splits != nullptr) return splits + tile;
    search(diagonal, items);
    return storage_.splits;
  }

  STRATA_D void merge_part(Count diagonal, Count items, const Count* splits) {
    const part_of_ranges part = load_part_of_ranges(diagonal, items, splits);
    merge_tile(part);
    store_keys(part);
    if constexpr (has_values) store_values(part);
  }

  STRATA_D part_of_ranges load_part_of_ranges(Count diagonal, Count items, const Count* splits) {
    const Count begin1 = splits[0], searched = splits[1];
    // The search finds an end outside of these bounds only if the comparator is no ordering.
    const Count end1 = searched < begin1 ? begin1 : searched - begin1 > items ? begin1 + items : searched;
    const Count begin2 = diagonal - begin1, end2 = diagonal + items - end1;
    const part_of_ranges part(arrays_, begin1, end1, begin2, end2);
    load(arrays_.keys1, begin1, part.count1, part.index1);
    load(arrays_.keys2, begin2, part.count2, part.index2);
    if constexpr (stages_values) {
      const value_indices at(arrays_, part);
      value_vectors::load(thread(), arrays_.values1 + begin1, part.count1, storage_.values.at(at.index1));
      value_vectors::load(thread(), arrays_.values2 + begin2, part.count2, storage_.values.at(at.index2));
    } else if constexpr (has_values) {
      prefetch(arrays_.values1, begin1, end1);
      prefetch(arrays_.values2, begin2, end2);
    }
    platform::wait_for_async_copies();
    __syncthreads();
    return part;
  }

  /// The parts of the ranges that belong to a tile, and where their keys lie in shared memory.
  struct part_of_ranges {
    Count begin1, begin2;
    int count1, count2;
    int index1, index2;

    STRATA_D part_of_ranges(const Arrays& arrays, Count first1, Count last1, Count first2, Count last2)
        : begin1(first1),
          begin2(first2),
          count1(static_cast<int>(last1 - first1)),
          count2(static_cast<int>(last2 - first2)),
          index1(surplus(arrays.keys1, begin1)),
          index2(round_up(index1 + count1, vector_items) + surplus(arrays.keys2, begin2)) {}

    STRATA_D Count diagonal() const { return begin1 + begin2; }
    STRATA_D int count() const { return count1 + count2; }
  };

  /// Where the staged values of a tile lie in shared memory.
  struct value_indices {
    int index1, index2;

    STRATA_D value_indices(const Arrays& arrays, const part_of_ranges& part)
        : index1(value_vectors::surplus(arrays.values1 + part.begin1)),
          index2(detail::round_up(index1 + part.count1, value_vector_items) +
                 value_vectors::surplus(arrays.values2 + part.begin2)) {}
  };

  template <class Iterator>
  STRATA_D static int surplus([[maybe_unused]] const Iterator& keys, [[maybe_unused]] Count begin) {
    if constexpr (has_vectors<Iterator>) {
      return vectors::surplus(keys + begin);
    } else {
      return 0;
    }
  }

  STRATA_D static int thread() { return static_cast<int>(threadIdx.x); }

  STRATA_D void search(Count diagonal, Count items) {
    STRATA_UNROLL_N(1)
    for (unsigned i = threadIdx.x / warp_threads; i < 2; i += block_threads / warp_threads) {
      const merge_diagonal<Arrays, Compare> cut{arrays_, compare_, i == 0 ? diagonal : diagonal + items};
      const Count split = detail::warp_partition_point(cut.first(), cut.last(), 5, cut);
      if (platform::lane_id() == 0) storage_.splits[i] = split;
    }
    __syncthreads();
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

  template <class Iterator>
  STRATA_D static void prefetch([[maybe_unused]] const Iterator& items, [[maybe_unused]] Count begin,
                                [[maybe_unused]] Count end) {
    if constexpr (std::is_pointer_v<Iterator>) {
      constexpr unsigned line = sizeof(*items) < 128 ? 128 / static_cast<unsigned>(sizeof(*items)) : 1;
      STRATA_UNROLL_N(1)
      for (Count i = begin + threadIdx.x * line; i < end; i += block_threads * line) {
        platform::prefetch_to_l2(items + i);
      }
    }
  }

  /// Threads merge their slices in registers and put them into shared memory, where the stores read them.
  STRATA_D void merge_tile(const part_of_ranges& part) {
    if constexpr (stages_values) {
      merge_staged_tile(part);
    } else {
      merge_gathered_tile(part);
    }
  }

  STRATA_D void merge_staged_tile(const part_of_ranges& part) {
    Keys& keys = storage_.keys;
    Values& staged = storage_.values;
    const int slice = thread() * items_per_thread;
    const value_indices at(arrays_, part);
    const int shift1 = at.index1 - part.index1, shift2 = at.index2 - part.index2;
    platform::may_be_unwritten(staged.at(at.index1 + part.count1), sizeof(Value) * items_per_thread);
    platform::may_be_unwritten(staged.at(at.index2 + part.count2), sizeof(Value) * items_per_thread);
    Key merged[static_cast<std::size_t>(items_per_thread)];
    Value values[static_cast<std::size_t>(items_per_thread)];
    merge_slice(part, merged,
                [&](int i, int index) { values[i] = staged.get(index + (index < part.index2 ? shift1 : shift2)); });
    __syncthreads();
    const int key_origin = surplus(arrays_.keys_out, part.diagonal());
    const int value_origin = value_vectors::surplus(arrays_.values_out + part.diagonal());
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      keys.put(key_origin + slice + i, merged[i]);
      staged.put(value_origin + slice + i, values[i]);
    }
    __syncthreads();
  }

  STRATA_D void merge_gathered_tile(const part_of_ranges& part) {
    Keys& keys = storage_.keys;
    const int slice = thread() * items_per_thread;
    Key merged[static_cast<std::size_t>(items_per_thread)];
    merge_slice(part, merged, [&](int i, int index) {
      if constexpr (has_values) storage_.sources.put(slice + i, index);
    });
    __syncthreads();
    const int origin = surplus(arrays_.keys_out, part.diagonal());
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) keys.put(origin + slice + i, merged[i]);
    __syncthreads();
  }

  /// Merges this thread's slice, and calls `visit(i, index)` for each item of it with its index in the tile.
  template <class Visit>
  STRATA_D void merge_slice(const part_of_ranges& part, Key* merged, const Visit& visit) {
    Keys& keys = storage_.keys;
    const int items = part.count(), slice = thread() * items_per_thread;
    platform::may_be_unwritten(keys.at(part.index1 + part.count1), sizeof(Key) * items_per_thread);
    platform::may_be_unwritten(keys.at(part.index2 + part.count2), sizeof(Key) * items_per_thread);
    detail::merge_in_tile<1, items_per_thread>(keys, part.index1, part.count1, part.index2, part.count2,
                                               slice < items ? slice : items, merged, compare_, visit);
  }

  STRATA_D void store_keys(const part_of_ranges& part) {
    const Count diagonal = part.diagonal();
    if constexpr (has_vectors<decltype(Arrays::keys_out)>) {
      vectors::store(thread(), storage_.keys.at(surplus(arrays_.keys_out, diagonal)), part.count(),
                     arrays_.keys_out + diagonal);
    } else {
      STRATA_UNROLL_N(4)
      for (int i = thread(); i < part.count(); i += block_threads) {
        put(arrays_.keys_out, diagonal, i, static_cast<typename Arrays::KeyOut>(storage_.keys.get(i)));
      }
    }
  }

  STRATA_D void store_values(const part_of_ranges& part) {
    if constexpr (stages_values) {
      const auto values_out = arrays_.values_out + part.diagonal();
      value_vectors::store(thread(), storage_.values.at(value_vectors::surplus(values_out)), part.count(), values_out);
    } else {
      gather_values(part);
    }
  }

  /// Loads are issued in batches: the compiler must assume that a store writes what the next load reads.
  STRATA_D void gather_values(const part_of_ranges& part) {
    const int items = part.count();
    constexpr int most = 64 / static_cast<int>(sizeof(Value));
    constexpr int batch = most < 1 ? 1 : detail::least(most, items_per_thread);
    STRATA_UNROLL_N(1)
    for (int first = thread(); first < items; first += batch * block_threads) {
      Value values[static_cast<std::size_t>(batch)];
      STRATA_UNROLL
      for (int i = 0; i < batch; ++i) {
        const int at = first + i * block_threads;
        const int index = storage_.sources.get(at < items ? at : first);
        const bool is_first = index < part.index2;
        const Count offset = static_cast<unsigned>(index - (is_first ? part.index1 : part.index2));
        values[i] = is_first ? detail::merged_item<Value>(arrays_.values1, part.begin1 + offset)
                             : detail::merged_item<Value>(arrays_.values2, part.begin2 + offset);
      }
      STRATA_UNROLL
      for (int i = 0; i < batch; ++i) {
        const int at = first + i * block_threads;
        if (at < items) put(arrays_.values_out, part.diagonal(), at, static_cast<typename Arrays::ValueOut>(values[i]));
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
