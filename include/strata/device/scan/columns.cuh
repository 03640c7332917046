// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/bank_conflicts.hpp>
#include <strata/core/detail/item_vector.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/bulk_copy.cuh>
#include <strata/core/platform/shuffle.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>
#include <strata/device/scan/agent_pipeline.cuh>
#include <strata/device/scan/stages.cuh>
#include <strata/device/scan/tuning.hpp>

#include <cstddef>
#include <type_traits>

/// \file
/// Stages with a column of keys and one of values, and what scanning warps do with them: find where runs of
/// equal keys begin, and move flagged items to the front.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// How many items a thread has if a stage holds columns of items of these sizes. `group` of them have 16 bytes
/// in the widest column. A thread accesses a group at once in each column, and has an odd number of groups. So, even
/// without padding, groups of 4 bytes or more have no bank conflicts. Smaller groups may take two wavefronts, for
/// example 9 groups of 2 bytes.
template <int ThreadBytes, std::size_t... Sizes>
struct columns_shape {
  static constexpr std::size_t widest() {
    std::size_t result = 1;
    for (const std::size_t size : {Sizes...}) result = detail::most(size, result);
    return result;
  }
  static constexpr int group = static_cast<int>(16 / widest());

  static constexpr int max_groups() {
    constexpr int group_bytes = group * static_cast<int>((Sizes + ...));
    const int by_bytes = ThreadBytes / group_bytes;
    const int by_flags = 64 / group;
    const int max = detail::least(by_bytes, by_flags);
    const int odd = max % 2 == 1 ? max : max - 1;
    return odd < 1 ? 1 : detail::least(odd, 9);
  }
  static constexpr int groups = max_groups();
  static constexpr int thread_items = group * groups;

  // not for users: the model of bank_conflicts.hpp must find no conflicts either; groups of less than 4 bytes are not
  // checked, because they may take two wavefronts
  template <std::size_t Size>
  static constexpr bool has_no_conflicts() {
    constexpr int bytes = group * static_cast<int>(Size);
    if constexpr (bytes >= 4) {
      return strata::conflict_degree(PlainLayout{}, blocked_access<bytes, groups>{}) == 1;
    } else {
      return true;
    }
  }
  // not for users: see above
  static_assert((has_no_conflicts<Sizes>() && ...), "a thread's groups have bank conflicts");

  /// A flag for each item of a thread.
  struct flags {
    std::conditional_t<(thread_items > 32), unsigned long long, unsigned> bits = 0;

    STRATA_D bool at(int i) const { return (bits >> i & 1) != 0; }
    STRATA_D void set(int i, bool flag) { bits |= static_cast<decltype(bits)>(flag ? 1 : 0) << i; }
    STRATA_D int count() const {
      if constexpr (sizeof(bits) == 8) {
        return __popcll(bits);
      } else {
        return __popc(bits);
      }
    }
    /// The first one that is set. There must be one.
    STRATA_D int first() const {
      if constexpr (sizeof(bits) == 8) {
        return __ffsll(static_cast<long long>(bits)) - 1;
      } else {
        return __ffs(static_cast<int>(bits)) - 1;
      }
    }
    STRATA_D void clear_first() { bits &= bits - 1; }
    /// The last one that is set, or `none`.
    STRATA_D int last_or(int none) const {
      if constexpr (sizeof(bits) == 8) {
        return bits == 0 ? none : 63 - __clzll(static_cast<long long>(bits));
      } else {
        return bits == 0 ? none : 31 - __clz(static_cast<int>(bits));
      }
    }
  };
};

/// A stage of keys and, behind them, `ValueBytes` for each item: values, which `ValueColumn` loads, or, if
/// `ValueColumn` is NullType, what the scanning warps write there.
template <class Policy, class Key, class KeyColumn, class ValueColumn, int ValueBytes>
struct columns_stage {
  static constexpr columns_pipeline_tuning tuning = Policy::columns;
  static constexpr bool has_values = !std::is_same_v<ValueColumn, NullType>;
  using Shape = columns_shape<tuning.thread_bytes, sizeof(Key), std::size_t{ValueBytes}>;
  using Loader = std::conditional_t<has_values, stage_loader<tuning.item_loading_warps, KeyColumn, ValueColumn>,
                                    stage_loader<tuning.item_loading_warps, KeyColumn>>;
  static constexpr int thread_items = Shape::thread_items;
  static constexpr int warp_items = warp_threads * thread_items;
  static constexpr int tile_items = tuning.scanning_threads * thread_items;
  static constexpr int loading_warps = Loader::warps;
  static constexpr int first_key = KeyColumn::bytes_before;
  static constexpr int first_value = first_key + round_up(tile_items * static_cast<int>(sizeof(Key)), 16);
  static constexpr int bytes = first_value + round_up(tile_items * ValueBytes, 16);

  STRATA_D static Key* keys(unsigned char* stage) { return reinterpret_cast<Key*>(stage + first_key); }
  template <class Value>
  STRATA_D static Value* values(unsigned char* stage) {
    return reinterpret_cast<Value*>(stage + first_value);
  }
  /// The parts of a column that belong to the warp and to the thread of a slice.
  template <class T>
  STRATA_D static T* of_warp(T* column, const thread_slice& slice) {
    return column + slice.warp * warp_items;
  }
  template <class T>
  STRATA_D static T* of_thread(T* column, const thread_slice& slice) {
    return column + (slice.warp * warp_items + slice.lane * thread_items);
  }

  template <class KeyIterator, class ValueIterator>
  STRATA_D static void load(unsigned char* stage, platform::mbarrier& full, std::size_t first, int valid,
                            const KeyIterator& all_keys, const ValueIterator& all_values) {
    load_columns(stage, full, first, valid, valid, all_keys, all_values);
  }
  /// Loads `valid_values` values only.
  template <class KeyIterator, class ValueIterator>
  STRATA_D static void load_columns(unsigned char* stage, platform::mbarrier& full, std::size_t first, int valid,
                                    int valid_values, const KeyIterator& all_keys, const ValueIterator& all_values) {
    const int thread = static_cast<int>(threadIdx.x) - tuning.scanning_threads;
    const KeyColumn key_column{keys(stage), detail::advanced(all_keys, first), first == 0, valid};
    if constexpr (has_values) {
      using Value = std::remove_pointer_t<decltype(ValueColumn::stage)>;
      Loader::load(full, thread, key_column,
                   ValueColumn{values<Value>(stage), detail::advanced(all_values, first), first == 0, valid_values});
    } else {
      Loader::load(full, thread, key_column);
    }
  }
};

/// Loads the `count` items of the calling thread into registers.
template <bool IsFull, class Shape, class T>
STRATA_D void load_slice(const T* from, int count, T (&items)[Shape::thread_items]) {
  STRATA_UNROLL
  for (int i = 0; i < Shape::thread_items; i += Shape::group) {
    if (!IsFull && i >= count) break;
    item_vector<T, Shape::group> vector;
    vector.load(from + i);
    T group[Shape::group];
    vector.get(group);
    STRATA_UNROLL
    for (int j = 0; j < Shape::group; ++j) items[i + j] = group[j];
  }
}

/// Loads the thread's keys from `from` into `keys`. Returns a flag for each key: whether a run of equal keys begins
/// with it. Reads `from[-1]`, except for the first item of all: no warp may overwrite its last key meanwhile. All lanes
/// of a warp call this.
template <bool IsFull, class Shape, class Key, class EqualityOp>
STRATA_D typename Shape::flags find_begins(const Key* from, const thread_slice& slice, EqualityOp& equality_op,
                                           Key (&keys)[Shape::thread_items]) {
  constexpr int thread_items = Shape::thread_items;
  detail::load_slice<IsFull, Shape>(from, slice.thread_items, keys);
  // If a lane has items, the lane below is full.
  Key before = platform::shuffle_up(full_warp_mask, keys[thread_items - 1], 1u);
  const bool is_first = slice.first_item == 0 && slice.warp == 0 && slice.lane == 0;
  if (slice.lane == 0 && !is_first && (IsFull || slice.thread_items > 0)) before = from[-1];
  typename Shape::flags begins{};
  STRATA_UNROLL
  for (int i = 0; i < thread_items; ++i) {
    if (!IsFull && i >= slice.thread_items) break;
    const Key& left = i > 0 ? keys[i - 1] : before;
    const bool is_begin = (i == 0 && is_first) || !equality_op(left, keys[i]);
    begins.set(i, is_begin);
  }
  return begins;
}

/// Returns the number of flags in the warp. `below` of them are in the lanes below, `in_lane` in this lane. All lanes
/// of a warp call this.
STRATA_D int flags_in_warp(const thread_slice& slice, int lane_items, int below, int in_lane) {
  const int last_lane = ceiling_divide(slice.warp_items, lane_items) - 1;
  return __shfl_sync(full_warp_mask, (slice.lane > 0 ? below : 0) + in_lane, detail::most(last_lane, 0));
}

/// Moves the flagged items of the warp to the front of `of_warp`, its part of a column. `rank` items are flagged in the
/// lanes below, `in_warp` in the warp. If all are flagged, nothing moves. So the slot of the last item, which the next
/// warp may be reading, is never written. All lanes of a warp call this.
template <class Shape, class T>
STRATA_D void compact(const T (&items)[Shape::thread_items], typename Shape::flags flags, const thread_slice& slice,
                      int rank, int in_warp, T* of_warp) {
  __syncwarp();  // All items are in registers.
  if (in_warp >= slice.warp_items) return;
  // One predicate for each item, kept for all columns, is more than ptxas can allocate.
  platform::optimization_barrier(flags.bits);
  T* to = of_warp + rank;
  STRATA_UNROLL
  for (int i = 0; i < Shape::thread_items; ++i) {
    if (flags.at(i)) *to++ = items[i];
  }
}

}  // namespace detail
STRATA_NAMESPACE_END
