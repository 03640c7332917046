// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/values.cuh>
#include <strata/core/types.hpp>
#include <strata/thread/thread_sort.cuh>
#include <strata/warp/specializations/merge_sort_tile.cuh>
#include <strata/warp/specializations/word_sort.cuh>

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

/// Says whether the slices of a level fit together: those of all teams that share the barrier, and those of this team.
struct merge_sort_fit {
  bool of_barrier, of_team;
};

/// Sorts the tile of a team of threads, which is a logical warp or a block. Each thread sorts its items in
/// registers. Then pairs of neighbouring runs are merged in shared memory until one run is left. In a merge, each
/// thread makes one slice of the result: thread t of a pair of runs makes the items from t * ItemsPerThread on.
///
/// The second run of a pair lies behind the first in descending order (K. E. Batcher's bitonic sequence, 1968). In a
/// full tile, a thread that reads on behind the end of a run reads the last item of the other run. This memory belongs
/// to the same pair, and the item does not come before what is left of the other run. So the merge only tests whether
/// the first run is at its end. In a partial tile, missing items may lie between the runs, and the merge tests both
/// ends.
///
/// A `Team` has
///
///     int thread() const;         // index in the team
///     void synchronise<Warp>();   // a barrier of the team, or of each warp if `Warp`
///     // Has a barrier like `synchronise`. Slices of a level fit together if the `end` of each thread is the `start`
///     // of the next where the thread `goes_on`, else `last`. `thread` is thread().
///     merge_sort_fit slices_fit<Warp>(int thread, bool goes_on, int start, int end, int last);
///     static constexpr int warp_levels;  // in so many of the first levels, each pair of runs lies in one warp
///     // The type of the team that `together()` returns, which takes the place of this team if all lanes of the warp
///     // call together. Or void.
///     using together_type;
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
  static constexpr int layout_threads = is_power_of_two(Threads) ? detail::least(Threads, warp_threads) : warp_threads;

  template <class T>
  using tile = merge_sort_tile<T, ItemsPerThread, Threads, layout_threads, !has_values>;
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

  /// Sorts all keys of a block of whole warps, not stably: each warp sorts by `word_sort`, and the warps' runs are
  /// merged.
  template <class Team, class Compare>
  STRATA_D static void sort_unstably(storage& memory, Team team, items<KeyT>& keys, Compare compare) {
    const int thread = team.thread();
    using order = order_by<KeyT, Compare>;
    word_sort<KeyT, ItemsPerThread, order>::template sort_in_lanes<warp_threads>(
        full_warp_mask, static_cast<unsigned>(thread) % warp_threads, keys, order{compare});
    if constexpr (Threads > warp_threads) {
      NullType no_values;
      put<true>(memory.merged, thread, warp_threads, keys, no_values, tile_items);
      merge_from<true, warp_threads>(memory.merged, team, keys, no_values, tile_items, compare);
    }
  }

  /// Sorts the first `valid_items` of the tile, all if `Full`. `values` are an array, or NullType.
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
      team.template synchronise<false>();
      memory.values.put_blocked(team.thread(), false, values);
      team.template synchronise<false>();
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) {
        values[i] = memory.values.load(memory.values.position(static_cast<int>(indices[i])));
      }
    }
  }

 private:
  /// The highest power of two that is not above ItemsPerThread.
  static constexpr int top_of_thread = 1 << (detail::log2_ceiling(ItemsPerThread + 1ull) - 1);

  template <bool Full, class Team, class Companions, class Compare>
  STRATA_D static void merge_all(storage& memory, Team& team, items<KeyT>& keys, Companions& companions,
                                 int valid_items, Compare& compare) {
    const int thread = team.thread();
    const int valid = Full || valid_items > tile_items ? tile_items : detail::most(0, valid_items);
    const int thread_valid = valid - thread * ItemsPerThread;
    if (Full || thread_valid >= ItemsPerThread) {
      detail::odd_even_sort<true>(keys, companions, compare);
    } else {
      detail::odd_even_sort<false>(keys, companions, compare, thread_valid);
    }
    if (Threads == 1 || valid <= ItemsPerThread) return;
    put<Full>(memory.merged, thread, 1, keys, companions, valid);
    if constexpr (std::is_void_v<typename Team::together_type>) {
      merge_from<Full, 1>(memory.merged, team, keys, companions, valid, compare);
    } else if (Full && platform::warp_is_together<merge_sort_levels, Companions, Compare>()) {
      auto together = team.together();
      merge_from<Full, 1>(memory.merged, together, keys, companions, valid, compare);
    } else {
      // One copy of the code for all levels: full tiles come here only if lanes have diverged.
      STRATA_UNROLL_N(1)
      for (int run = 1; run < Threads && (Full || run * ItemsPerThread < valid); run *= 2) {
        merge_runs<Full, true>(memory.merged, team, run, keys, companions, valid, compare);
      }
    }
  }

  template <bool Full, int Run, class Team, class Companions, class Compare>
  STRATA_D static void merge_from(level& memory, Team& team, items<KeyT>& keys, Companions& companions, int valid,
                                  Compare& compare) {
    if constexpr (Run < Threads) {
      if (!Full && Run * ItemsPerThread >= valid) return;
      merge_runs<Full, (Run < (1 << Team::warp_levels))>(memory, team, Run, keys, companions, valid, compare);
      merge_from<Full, 2 * Run>(memory, team, keys, companions, valid, compare);
    }
  }

  /// Merges the runs of each group of 2 * `run` threads, and leaves the result in shared memory if
  /// there is another level.
  template <bool Full, bool Warp, class Team, class Companions, class Compare>
  STRATA_D static void merge_runs(level& memory, Team& team, int run, items<KeyT>& keys, Companions& companions,
                                  int valid, Compare& compare) {
    // What depends on the thread is computed again in each level, so that it takes no registers in between.
    int thread = team.thread();
    platform::optimization_barrier(thread);
    constexpr int step = key_tile::step;
    // Full tiles of a power of two of threads have full pairs of runs only.
    constexpr bool all_full = Full && is_power_of_two(Threads);
    const int local = (thread & (2 * run - 1)) * ItemsPerThread;
    const int index = thread * ItemsPerThread, count1 = run * ItemsPerThread;
    const int count2 = all_full ? count1 : detail::least(count1, valid - (index - local) - count1);
    // `length2` also counts the missing items of a thread that has valid items.
    const int length2 = Full ? count2 : detail::round_up(count2, ItemsPerThread);
    // A run without a second one is not merged.
    const bool merges = all_full || (count2 > 0 && local < count1 + count2);
    int start = 0, end = 0, last = 0;
    team.template synchronise<Warp>();
    if (merges) {
      key_tile& tile = memory.keys;
      // The following variables are positions, or distances between positions, which are multiples of `step`. The
      // second run descends, so the two items of each comparison in a search are equally far apart.
      const int diagonal = local * step;
      const int begin1 = tile.position(index) - diagonal;
      const int distance = (count1 + length2) * step - step - diagonal;
      last = begin1 + count1 * step;
      start = search(tile, begin1 + detail::most(diagonal - count2 * step, 0),
                     begin1 + detail::least(diagonal, count1 * step), distance, run * (top_of_thread * step), compare);
      end = merge<Full>(memory, start, last, start + distance, last + (length2 - count2) * step,
                        count1 + count2 - local, keys, companions, compare);
    }
    const bool goes_on =
        all_full ? ((thread + 1) & (2 * run - 1)) != 0
                 : merges && local + ItemsPerThread < count1 + count2 && ((thread + 1) & (2 * run - 1)) != 0;
    const merge_sort_fit fit = team.template slices_fit<Warp>(thread, goes_on, start, end, last);
    if (!fit.of_barrier) {
      if (!fit.of_team) get<Full>(memory, thread, run, keys, companions, valid);
      team.template synchronise<Warp>();
    }
    if (2 * run < Threads && (Full || 2 * run * ItemsPerThread < valid)) {
      put<Full>(memory, thread, 2 * run, keys, companions, valid);
    }
  }

  /// Searches the first run from `position` to `last`, and returns where the slice begins there. This is the search of
  /// MergePath, but all threads that search take the same number of steps. It compares the item before a position of
  /// the first run with the item of the second run that lies `distance` behind this position.
  template <class Compare>
  STRATA_D static int search(key_tile& tile, int position, int last, int distance, int top, Compare& compare) {
    constexpr int step = key_tile::step;
    if (position < last) {
      STRATA_UNROLL
      for (int stride = top; stride >= step; stride /= 2) {
        const int next = detail::least(position + stride, last);
        const bool is_before = !compare(tile.load(next + distance), tile.load(next - step));
        position = is_before ? next : position;
      }
    }
    return position;
  }

  /// Merges from the positions on, `count` items at most. Returns where the first run goes on. `least2` is the lowest
  /// position of the second run, where its last item lies. Unless `Full`, missing items may lie between the runs.
  template <bool Full, class Companions, class Compare>
  STRATA_D static int merge(level& memory, int position1, int end1, int position2, [[maybe_unused]] int least2,
                            [[maybe_unused]] int count, items<KeyT>& keys, Companions& companions, Compare& compare) {
    constexpr int step = key_tile::step;
    key_tile& tile = memory.keys;
    KeyT key1 = tile.load(position1), key2 = tile.load(position2);
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const bool from2 = position1 >= end1 || ((Full || position2 >= least2) && compare(key2, key1));
      if (Full || i < count) {
        keys[i] = from2 ? key2 : key1;
        if constexpr (std::is_array_v<Companions>) {
          companions[i] = memory.companions.load(companion_position(memory, from2 ? position2 : position1));
        }
      }
      platform::advance_either<step, -step>(from2, position1, position2);
      if (i + 1 < ItemsPerThread) {
        const KeyT key = tile.load(from2 ? position2 : position1);
        key2 = from2 ? key : key2;
        key1 = from2 ? key1 : key;
      }
    }
    return position1;
  }

  STRATA_D static int companion_position(level& memory, int position) {
    if constexpr (key_tile::is_linear && companion_tile::is_linear && key_tile::step == companion_tile::step) {
      return position + (memory.companions.position(0) - memory.keys.position(0));
    } else {
      return memory.companions.position(memory.keys.index(position));
    }
  }

  /// Says where the items of a thread lie in shared memory, in the order that the merge of runs of `run` threads needs.
  /// A thread's missing items move with its other items. The missing items of a second run lie between the runs.
  struct slots {
    bool descends;
    int thread;  // the thread whose items would lie there if all items were in order
  };
  template <bool Full>
  STRATA_D static slots slots_of(int thread, int run, int valid) {
    const bool descends = (thread & run) != 0;
    if constexpr (Full && is_power_of_two(Threads)) {
      return {descends, descends ? thread ^ (run - 1) : thread};
    } else {
      const int threads = Full ? Threads : detail::ceiling_divide(valid, ItemsPerThread);
      const int begin2 = thread & -run, end2 = detail::least(begin2 + run, threads);
      const bool has_items = Full || thread < threads;
      return {descends && has_items, descends && has_items ? begin2 + end2 - 1 - thread : thread};
    }
  }

  template <bool Full, class Companions>
  STRATA_D static void put(level& memory, int thread, int run, const items<KeyT>& keys,
                           [[maybe_unused]] const Companions& companions, int valid) {
    const slots to = slots_of<Full>(thread, run, valid);
    memory.keys.put_blocked(to.thread, to.descends, keys);
    if constexpr (std::is_array_v<Companions>) memory.companions.put_blocked(to.thread, to.descends, companions);
  }
  template <bool Full, class Companions>
  STRATA_D static void get(level& memory, int thread, int run, items<KeyT>& keys,
                           [[maybe_unused]] Companions& companions, int valid) {
    const slots from = slots_of<Full>(thread, run, valid);
    memory.keys.get_blocked(from.thread, from.descends, keys);
    if constexpr (std::is_array_v<Companions>) memory.companions.get_blocked(from.thread, from.descends, companions);
  }
};

/// The public calls of BlockMergeSort, WarpMergeSort and BlockMergeSortStrategy. `Derived` has `memory()` and `team()`.
/// It also has `sort_words()` if `sorts_words` is true for some comparators.
template <class Derived, class KeyT, int ItemsPerThread, int Threads, class ValueT>
class merge_sort_calls {
  using levels = merge_sort_levels<KeyT, ItemsPerThread, Threads, ValueT>;
  template <class T>
  using items = typename levels::template items<T>;

 protected:
  template <class CompareOp>
  static constexpr bool sorts_words = false;
  static constexpr bool sorts_in_lanes = false;

 public:
  /// Sorts keys by `compare`, stably.
  template <class CompareOp>
  STRATA_D void StableSort(items<KeyT>& keys, CompareOp compare) {
    NullType no_values;
    sort<true>(keys, no_values, levels::tile_items, compare);
  }
  /// Sorts keys with their values by `compare`, stably.
  template <class CompareOp>
  STRATA_D void StableSort(items<KeyT>& keys, items<ValueT>& values, CompareOp compare) {
    sort<true>(keys, values, levels::tile_items, compare);
  }
  /// Sorts the first `valid_items` keys by `compare`, stably.
  template <class CompareOp>
  STRATA_D void StableSortPartialTile(items<KeyT>& keys, int valid_items, CompareOp compare) {
    NullType no_values;
    sort<false>(keys, no_values, valid_items, compare);
  }
  /// Sorts the first `valid_items` keys with their values by `compare`, stably.
  template <class CompareOp>
  STRATA_D void StableSortPartialTile(items<KeyT>& keys, items<ValueT>& values, int valid_items, CompareOp compare) {
    sort<false>(keys, values, valid_items, compare);
  }
  /// Sorts the first `valid_items` keys by `compare`, stably. Other keys become `oob_default`.
  template <class CompareOp>
  STRATA_D void StableSort(items<KeyT>& keys, CompareOp compare, int valid_items, KeyT oob_default) {
    StableSortPartialTile(keys, valid_items, compare);
    fill(keys, valid_items, oob_default);
  }
  /// Sorts the first `valid_items` keys with their values by `compare`, stably. Other keys become `oob_default`. With
  /// `IsLastTile` false, all keys must be valid.
  template <class CompareOp, bool IsLastTile = true>
  STRATA_D void StableSort(items<KeyT>& keys, items<ValueT>& values, CompareOp compare, int valid_items,
                           KeyT oob_default) {
    sort<!IsLastTile>(keys, values, valid_items, compare);
    if (IsLastTile) fill(keys, valid_items, oob_default);
  }

  /// Sorts keys by `compare`. Equal keys may change places.
  template <class CompareOp>
  STRATA_D void Sort(items<KeyT>& keys, CompareOp compare) {
    if constexpr (Derived::sorts_in_lanes && !Derived::template sorts_words<CompareOp> &&
                  compare_requirements<CompareOp, KeyT>::are_met) {
      levels::sort_unstably(self().memory(), self().team(), keys, compare);
    } else {
      StableSort(keys, compare);
    }
  }
  /// Sorts keys with their values by `compare`, stably.
  template <class CompareOp>
  STRATA_D void Sort(items<KeyT>& keys, items<ValueT>& values, CompareOp compare) {
    StableSort(keys, values, compare);
  }
  /// Sorts the first `valid_items` keys by `compare`, stably.
  template <class CompareOp>
  STRATA_D void SortPartialTile(items<KeyT>& keys, int valid_items, CompareOp compare) {
    StableSortPartialTile(keys, valid_items, compare);
  }
  /// Sorts the first `valid_items` keys with their values by `compare`, stably.
  template <class CompareOp>
  STRATA_D void SortPartialTile(items<KeyT>& keys, items<ValueT>& values, int valid_items, CompareOp compare) {
    StableSortPartialTile(keys, values, valid_items, compare);
  }
  /// Sorts the first `valid_items` keys by `compare`, stably. Other keys become `oob_default`.
  template <class CompareOp>
  STRATA_D void Sort(items<KeyT>& keys, CompareOp compare, int valid_items, KeyT oob_default) {
    StableSort(keys, compare, valid_items, oob_default);
  }
  /// Sorts the first `valid_items` keys with their values by `compare`, stably. Other keys become `oob_default`. With
  /// `IsLastTile` false, all keys must be valid.
  template <class CompareOp, bool IsLastTile = true>
  STRATA_D void Sort(items<KeyT>& keys, items<ValueT>& values, CompareOp compare, int valid_items, KeyT oob_default) {
    StableSort<CompareOp, IsLastTile>(keys, values, compare, valid_items, oob_default);
  }

 private:
  STRATA_D Derived& self() { return static_cast<Derived&>(*this); }

  template <bool Full, class Values, class CompareOp>
  STRATA_D void sort(items<KeyT>& keys, Values& values, int valid_items, const CompareOp& compare) {
    if constexpr (!compare_requirements<CompareOp, KeyT>::are_met) {
      return;
    } else if constexpr (Derived::template sorts_words<CompareOp>) {
      self().template sort_words<Full, CompareOp>(keys, valid_items);
    } else {
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
