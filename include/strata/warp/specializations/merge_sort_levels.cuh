// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/thread/thread_merge.cuh>
#include <strata/thread/thread_sort.cuh>
#include <strata/warp/specializations/exchange_tile.cuh>
#include <strata/warp/specializations/warp_exchange_layout.hpp>

#include <cstddef>
#include <type_traits>

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

/// Sorts the tile of a team of threads, a logical warp or a block: each thread its own items, then
/// pairs of neighbouring runs are merged until one is left. In a merge, a thread has the share of
/// the result that is to lie in its place.
///
/// A `Team` has
///
///     int thread() const;              // in the team
///     void synchronise(int threads);   // each aligned group of so many threads at least
///     // Synchronises likewise, and says whether the shares of a level fit together: no thread
///     // `goes_on` at another place than its `end`, the `start` of the next thread. All threads of
///     // a group, at least, get one answer.
///     bool shares_fit(int threads, bool goes_on, int start, int end);
///
/// Shares that fit together are a permutation of what was there, whatever the comparator answers.
/// If it is no ordering, they may not fit: then the level is left out.
template <class KeyT, int ItemsPerThread, int Threads, class ValueT>
class merge_sort_levels {
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);
  static constexpr bool has_values = !std::is_same_v<ValueT, NullType>;
  // Values of up to 4 bytes move with the keys, of others the place does: they move at the end.
  static constexpr bool moves_values = has_values && sizeof(ValueT) <= 4;
  static constexpr int layout_threads = Threads < warp_threads ? Threads : warp_threads;

  template <class T>
  using tile = exchange_tile<T, ItemsPerThread, Threads,
                             warp_exchange_layout<T, ItemsPerThread, layout_threads>>;
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
  STRATA_D static void sort(storage& memory, Team team, items<KeyT>& keys, Values& values,
                            int valid_items, Compare compare) {
    if constexpr (!std::is_array_v<Values>) {
      merge_all<Full>(memory, team, keys, values, valid_items, compare);
    } else if constexpr (moves_values) {
      merge_all<Full>(memory, team, keys, values, valid_items, compare);
    } else {
      const int first = team.thread() * ItemsPerThread;
      items<companion> places;
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) places[i] = static_cast<unsigned>(first + i);
      merge_all<Full>(memory, team, keys, places, valid_items, compare);
      team.synchronise(Threads);
      memory.values.put_blocked(static_cast<unsigned>(team.thread()), values);
      team.synchronise(Threads);
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) {
        values[i] = memory.values.get(value_tile::position(places[i]));
      }
    }
  }

 private:
  /// The keys of the tile from the one with the number `origin` on.
  struct keys_from {
    key_tile& keys;
    int origin;
    STRATA_D KeyT operator[](int index) const {
      return keys.get(key_tile::position(static_cast<unsigned>(origin + index)));
    }
  };

  template <bool Full, class Team, class Companions, class Compare>
  STRATA_D static void merge_all(storage& memory, Team& team, items<KeyT>& keys,
                                 Companions& companions, int valid_items, Compare& compare) {
    const int thread = team.thread();
    const int valid = Full || valid_items > tile_items ? tile_items
                      : valid_items < 0                ? 0
                                                       : valid_items;
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
  STRATA_D static void merge_runs(level& memory, Team& team, int run, items<KeyT>& keys,
                                  Companions& companions, int valid, Compare& compare) {
    const int thread = team.thread();
    const int begin1 = (thread & -(2 * run)) * ItemsPerThread;
    const int begin2 = begin1 + run * ItemsPerThread;
    const int end2 = begin2 + run * ItemsPerThread < valid ? begin2 + run * ItemsPerThread : valid;
    const int place = thread * ItemsPerThread;
    // A run without a second one stays where it is.
    const bool merges = begin2 < end2 && place < end2;
    int start = 0, end = 0;
    if (merges) {
      const int diagonal = place - begin1;
      start = strata::MergePath(keys_from{memory.keys, begin1}, keys_from{memory.keys, begin2},
                                run * ItemsPerThread, end2 - begin2, diagonal, compare);
      end = detail::serial_merge<Full>(
                keys_from{memory.keys, 0}, begin1 + start, begin2, begin2 + diagonal - start, end2,
                keys, compare,
                [&](int i, int index) {
                  if constexpr (std::is_array_v<Companions>) {
                    companions[i] = memory.companions.get(
                        companion_tile::position(static_cast<unsigned>(index)));
                  }
                }) -
            begin1;
    }
    const bool goes_on =
        merges && place + ItemsPerThread < end2 && ((thread + 1) & (2 * run - 1)) != 0;
    const bool fit = team.shares_fit(2 * run, goes_on, start, end);
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
  STRATA_D static void get(level& memory, int thread, items<KeyT>& keys,
                           [[maybe_unused]] Companions& companions) {
    memory.keys.get_blocked(static_cast<unsigned>(thread), keys);
    if constexpr (std::is_array_v<Companions>) {
      memory.companions.get_blocked(static_cast<unsigned>(thread), companions);
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
