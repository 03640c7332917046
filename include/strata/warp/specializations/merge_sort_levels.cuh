// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/thread/thread_merge.cuh>
#include <strata/thread/thread_sort.cuh>
#include <strata/warp/specializations/exchange_tile.cuh>
#include <strata/warp/specializations/warp_exchange_layout.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The keys of a tile and what moves with them, if anything does.
template <class KeyTile, class CompanionTile>
struct merge_sort_level {
  KeyTile keys;
  CompanionTile companions;
};
template <class KeyTile>
struct merge_sort_level<KeyTile, NullType> {
  KeyTile keys;
};

/// Sorts the tile of a team of threads, which is a logical warp or a block. Each thread sorts its items in
/// registers. Then pairs of neighbouring runs are merged in shared memory until one run is left. In a
/// merge, a thread makes one slice of the result: the items with the indices that it had before.
///
/// A `Team` has
///
///     int thread() const;              // index in the team
///     void synchronise(int threads);   // a barrier of each aligned group of at least so many threads
///     // The same barrier. Returns whether the slices of a level fit together: where a thread `goes_on`,
///     // its `end` is the `start` of the next thread. The result is the same in all threads of a group.
///     bool slices_fit(int threads, bool goes_on, int start, int end);
///
/// Slices that fit together are a permutation of the items before, whatever the comparator returns. If it
/// is no ordering, slices may not fit. The team then skips the level.
template <class KeyT, int ItemsPerThread, int Threads, class ValueT>
class merge_sort_levels {
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);
  static constexpr bool has_values = !std::is_same_v<ValueT, NullType>;
  // Values of up to 4 bytes move with the keys. Larger values move once, at the end, by indices of 4 bytes
  // that have moved with the keys.
  static constexpr bool moves_values = has_values && sizeof(ValueT) <= 4;
  static constexpr int layout_threads = detail::least(Threads, warp_threads);

  template <class T>
  using tile = exchange_tile<T, ItemsPerThread, Threads, warp_exchange_layout<T, ItemsPerThread, layout_threads>>;
  using companion = std::conditional_t<moves_values, ValueT, unsigned>;
  using key_tile = tile<KeyT>;
  using companion_tile = std::conditional_t<has_values, tile<companion>, NullType>;
  using value_tile = std::conditional_t<has_values, tile<ValueT>, NullType>;
  using level = merge_sort_level<key_tile, companion_tile>;

 public:
  union storage {
    level merged;
    value_tile values;
  };
  static constexpr int tile_items = Threads * ItemsPerThread;

  template <class T>
  using items = T[items_per_thread];

  /// The first `valid_items` of the tile, all if `Full`. `values` are an array, or NullType.
  template <bool Full, class Team, class Values, class Compare>
  STRATA_D static void sort(storage& memory, Team team, items<KeyT>& keys, Values& values, int valid_items,
                            Compare compare) {
    if constexpr (!std::is_array_v<Values>) {
      merge_all<Full>(memory, team, keys, values, valid_items, compare);
    } else if constexpr (!has_values) {
      NullType no_values;
      merge_all<Full>(memory, team, keys, no_values, valid_items, compare);
    } else if constexpr (moves_values) {
      merge_all<Full>(memory, team, keys, values, valid_items, compare);
    } else {
      const int first = team.thread() * ItemsPerThread;
      items<companion> indices;
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) indices[i] = static_cast<unsigned>(first + i);
      merge_all<Full>(memory, team, keys, indices, valid_items, compare);
      team.synchronise(Threads);
      memory.values.put_blocked(static_cast<unsigned>(team.thread()), values);
      team.synchronise(Threads);
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) {
        values[i] = memory.values.get(value_tile::position(indices[i]));
      }
    }
  }

 private:
  /// The keys of the tile from index `origin` on.
  struct keys_from {
    key_tile& keys;
    int origin;
    STRATA_D KeyT operator[](int index) const {
      return keys.get(key_tile::position(static_cast<unsigned>(origin + index)));
    }
  };

  template <bool Full, class Team, class Companions, class Compare>
  STRATA_D static void merge_all(storage& memory, Team& team, items<KeyT>& keys, Companions& companions,
                                 int valid_items, Compare& compare) {
    const int thread = team.thread();
    const int valid = Full || valid_items > tile_items ? tile_items : detail::most(0, valid_items);
    detail::odd_even_sort<Full>(keys, companions, compare, valid - thread * ItemsPerThread);
    if (Threads == 1 || valid <= ItemsPerThread) return;
    put(memory.merged, thread, keys, companions);
    STRATA_UNROLL_N(1)
    for (int run = 1; run < Threads && run * ItemsPerThread < valid; run *= 2) {
      team.synchronise(2 * run);
      merge_runs<Full>(memory.merged, team, run, keys, companions, valid, compare);
    }
  }

  /// Merges the runs of each group of 2 * `run` threads, and leaves the result in shared memory if
  /// there is another level.
  template <bool Full, class Team, class Companions, class Compare>
  STRATA_D static void merge_runs(level& memory, Team& team, int run, items<KeyT>& keys, Companions& companions,
                                  int valid, Compare& compare) {
    const int thread = team.thread();
    const int begin1 = (thread & -(2 * run)) * ItemsPerThread;
    const int begin2 = begin1 + run * ItemsPerThread;
    const int end2 = detail::least(begin2 + run * ItemsPerThread, valid);
    const int index = thread * ItemsPerThread;
    // A run without a second one is not moved.
    const bool merges = begin2 < end2 && index < end2;
    int start = 0, end = 0;
    if (merges) {
      const int diagonal = index - begin1;
      start = detail::merge_path(keys_from{memory.keys, begin1}, keys_from{memory.keys, begin2}, run * ItemsPerThread,
                                 end2 - begin2, diagonal, compare);
      end = detail::serial_merge<Full>(
                keys_from{memory.keys, 0}, begin1 + start, begin2, begin2 + diagonal - start, end2, keys, compare,
                [&](int i, int from) {
                  if constexpr (std::is_array_v<Companions>) {
                    companions[i] = memory.companions.get(companion_tile::position(static_cast<unsigned>(from)));
                  }
                }) -
            begin1;
    }
    const bool goes_on = merges && index + ItemsPerThread < end2 && ((thread + 1) & (2 * run - 1)) != 0;
    const bool fit = team.slices_fit(2 * run, goes_on, start, end);
    if (!fit) {
      get(memory, thread, keys, companions);
    } else if (merges && 2 * run < Threads && 2 * run * ItemsPerThread < valid) {
      put(memory, thread, keys, companions);
    }
  }

  template <class Companions>
  STRATA_D static void put(level& memory, int thread, const items<KeyT>& keys,
                           [[maybe_unused]] const Companions& companions) {
    memory.keys.put_blocked(static_cast<unsigned>(thread), keys);
    if constexpr (std::is_array_v<Companions>) {
      memory.companions.put_blocked(static_cast<unsigned>(thread), companions);
    }
  }
  template <class Companions>
  STRATA_D static void get(level& memory, int thread, items<KeyT>& keys, [[maybe_unused]] Companions& companions) {
    memory.keys.get_blocked(static_cast<unsigned>(thread), keys);
    if constexpr (std::is_array_v<Companions>) {
      memory.companions.get_blocked(static_cast<unsigned>(thread), companions);
    }
  }
};

/// The public calls of BlockMergeSort, WarpMergeSort and BlockMergeSortStrategy. `Derived` has `memory()` and `team()`.
template <class Derived, class KeyT, int ItemsPerThread, int Threads, class ValueT>
class merge_sort_calls {
  using levels = merge_sort_levels<KeyT, ItemsPerThread, Threads, ValueT>;
  template <class T>
  using items = typename levels::template items<T>;

 public:
  template <class CompareOp>
  STRATA_D void StableSort(items<KeyT>& keys, CompareOp compare) {
    NullType no_values;
    sort<true>(keys, no_values, levels::tile_items, compare);
  }
  template <class CompareOp>
  STRATA_D void StableSort(items<KeyT>& keys, items<ValueT>& values, CompareOp compare) {
    sort<true>(keys, values, levels::tile_items, compare);
  }
  template <class CompareOp>
  STRATA_D void StableSortPartialTile(items<KeyT>& keys, int valid_items, CompareOp compare) {
    NullType no_values;
    sort<false>(keys, no_values, valid_items, compare);
  }
  template <class CompareOp>
  STRATA_D void StableSortPartialTile(items<KeyT>& keys, items<ValueT>& values, int valid_items, CompareOp compare) {
    sort<false>(keys, values, valid_items, compare);
  }
  template <class CompareOp>
  STRATA_D void StableSort(items<KeyT>& keys, CompareOp compare, int valid_items, KeyT oob_default) {
    StableSortPartialTile(keys, valid_items, compare);
    fill(keys, valid_items, oob_default);
  }
  template <class CompareOp, bool IsLastTile = true>
  STRATA_D void StableSort(items<KeyT>& keys, items<ValueT>& values, CompareOp compare, int valid_items,
                           KeyT oob_default) {
    sort<!IsLastTile>(keys, values, valid_items, compare);
    if (IsLastTile) fill(keys, valid_items, oob_default);
  }

  template <class CompareOp>
  STRATA_D void Sort(items<KeyT>& keys, CompareOp compare) {
    StableSort(keys, compare);
  }
  template <class CompareOp>
  STRATA_D void Sort(items<KeyT>& keys, items<ValueT>& values, CompareOp compare) {
    StableSort(keys, values, compare);
  }
  template <class CompareOp>
  STRATA_D void SortPartialTile(items<KeyT>& keys, int valid_items, CompareOp compare) {
    StableSortPartialTile(keys, valid_items, compare);
  }
  template <class CompareOp>
  STRATA_D void SortPartialTile(items<KeyT>& keys, items<ValueT>& values, int valid_items, CompareOp compare) {
    StableSortPartialTile(keys, values, valid_items, compare);
  }
  template <class CompareOp>
  STRATA_D void Sort(items<KeyT>& keys, CompareOp compare, int valid_items, KeyT oob_default) {
    StableSort(keys, compare, valid_items, oob_default);
  }
  template <class CompareOp, bool IsLastTile = true>
  STRATA_D void Sort(items<KeyT>& keys, items<ValueT>& values, CompareOp compare, int valid_items, KeyT oob_default) {
    StableSort<CompareOp, IsLastTile>(keys, values, compare, valid_items, oob_default);
  }

 private:
  STRATA_D Derived& self() { return static_cast<Derived&>(*this); }

  template <bool Full, class Values, class CompareOp>
  STRATA_D void sort(items<KeyT>& keys, Values& values, int valid_items, const CompareOp& compare) {
    if constexpr (compare_requirements<CompareOp, KeyT>::are_met) {
      levels::template sort<Full>(self().memory(), self().team(), keys, values, valid_items, compare);
    }
  }

  STRATA_D void fill(items<KeyT>& keys, int valid_items, const KeyT& key) {
    const int first = self().team().thread() * ItemsPerThread;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (first + i >= valid_items) keys[i] = key;
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
