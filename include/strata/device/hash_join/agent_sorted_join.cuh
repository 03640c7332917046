// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/hash_join/join_output.cuh>
#include <strata/device/hash_join/join_types.hpp>
#include <strata/device/hash_join/result_places.cuh>
#include <strata/device/hash_join/sorted_order.cuh>
#include <strata/device/hash_join/sorted_results.cuh>
#include <strata/device/hash_join/sorted_sides.cuh>
#include <strata/device/hash_join/sorted_tile.cuh>

#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Joins tiles of two sides in ascending order and writes the results, but for those of tiles that
/// have many. All member functions are called by the whole block.
template <class Key, class Row, int BlockThreads, int ItemsPerThread>
class AgentSortedJoin {
  using Count = unsigned long long;
  using Tile = join_sorted_tile<Key, Row, BlockThreads, ItemsPerThread>;
  using Sides = join_sorted_sides<Key, Row>;
  using Places = join_result_places<BlockThreads>;
  using Results = join_sorted_results<Tile, Row, BlockThreads, ItemsPerThread>;
  static constexpr unsigned warps = BlockThreads / warp_threads;
  static constexpr unsigned none = Tile::none;

 public:
  static constexpr unsigned tile_items = Tile::tile_items;

  struct TempStorage {
    /// Keys until it is known which results there are.
    union {
      Key keys[Tile::num_keys];
      typename Results::TempStorage results;
    };
    typename Tile::run_storage runs;
    Count sums[warps];
    typename Results::Sums result_sums;
    Count place;
    Count ticket;
  };

  STRATA_D AgentSortedJoin(TempStorage& storage, const Sides& sides, const join_sorted_order& order)
      : storage_(storage), sides_(sides), order_(order), tile_(storage.keys, storage.runs, sides) {}

  /// Rows of the result that a tile has. Valid in all threads.
  STRATA_D Count count(Count tile) {
    tile_.load(tile);
    unsigned lows[ItemsPerThread];
    bool has_several = false;
    const unsigned has_result = tile_.look_up(lows, has_several);
    Count sum = static_cast<unsigned>(__popc(has_result));
    if (has_several) sum = count_several(has_result, lows);
    if (sides_.kind == JoinKind::full) sum += static_cast<unsigned>(__popc(tile_.find_lonely()));
    Count before = 0;
    return sum_of_block(sum_of_warp(sum), before);
  }

  /// The number of the tile that comes next in the order; there may be none.
  STRATA_D Count take_ticket() {
    if (threadIdx.x == 0) storage_.ticket = atomicAdd(order_.ticket, Count{1});
    __syncthreads();
    return storage_.ticket;
  }

  /// Joins a tile, takes its place behind all others that have come before, or that are before it in
  /// the order, and writes its results; or puts it on the list if it has many.
  template <class Index, class Sink>
  STRATA_D void join(Count tile, const join_tile_list& list, const Sink& sink) {
    tile_.load(tile);
    if (sides_.kind == JoinKind::full && order_.states == nullptr) write_lonely<Index>(tile, sink);
    unsigned lows[ItemsPerThread];
    bool has_several = false;
    const unsigned has_result = tile_.look_up(lows, has_several);
    if (__syncthreads_or(has_several ? 1 : 0) == 0) {
      write_one_each<Index>(tile, has_result, lows, tile_.probes, false, sink);
    } else {
      write_several<Index>(tile, has_result, lows, list, sink);
    }
  }

  /// Writes the build rows of a tile that have no partner. Its number in the order is `tile`.
  template <class Index, class Sink>
  STRATA_D void join_lonely(Count tile, const Sink& sink) {
    tile_.load(tile - sides_.tiles);
    write_lonely<Index>(tile, sink);
  }

 private:
  static constexpr Row none_of_rows = static_cast<Row>(-1);

  STRATA_D Count count_several(unsigned has_result, const unsigned (&lows)[ItemsPerThread]) const {
    Count sum = 0;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if ((has_result >> i & 1) != 0) sum += tile_.results_of(lows[i], i);
    }
    return sum;
  }

  STRATA_D static Count sum_of_warp(Count sum) {
    STRATA_UNROLL
    for (unsigned distance = warp_threads / 2; distance > 0; distance /= 2) {
      sum += __shfl_xor_sync(full_warp_mask, sum, distance);
    }
    return sum;
  }

  // Results of all warps, and of those before the calling one.
  STRATA_D Count sum_of_block(Count sum, Count& before) {
    if (platform::lane_id() == 0) storage_.sums[threadIdx.x / warp_threads] = sum;
    __syncthreads();
    Count all = 0;
    STRATA_UNROLL
    for (unsigned w = 0; w < warps; ++w) {
      if (w == threadIdx.x / warp_threads) before = all;
      all += storage_.sums[w];
    }
    return all;
  }

  // By the whole block: where the results of a tile begin. Those that come later see its own.
  STRATA_D Count take_place(Count tile, Count results) {
    return tell_place(ask_place(tile, results));
  }
  // The same in two steps, between which other warps do not wait: first, the first thread knows it.
  STRATA_D Count ask_place(Count tile, Count results) {
    Count place = 0;
    if (order_.states == nullptr) {
      if (threadIdx.x == 0 && results != 0) place = atomicAdd(sides_.total, results);
    } else if (threadIdx.x < warp_threads) {
      place = order_.begin_of(tile, results);
      if (threadIdx.x == 0 && tile + 1 == order_.tiles) *sides_.total = place + results;
    }
    return place;
  }
  STRATA_D Count tell_place(Count place) {
    if (threadIdx.x == 0) storage_.place = place;
    __syncthreads();
    return storage_.place;
  }

  template <class Index, class Sink>
  STRATA_D void write_lonely(Count tile, const Sink& sink) {
    unsigned lows[ItemsPerThread];
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) lows[i] = Tile::item(i, tile_.builds);
    write_one_each<Index>(tile, tile_.find_lonely(), lows, tile_.builds, true, sink);
  }

  // Of `items` that have one result each, or none; lonely build rows or probe rows.
  template <class Index, class Sink>
  STRATA_D void write_one_each(Count tile, unsigned has_result,
                               const unsigned (&lows)[ItemsPerThread], unsigned items,
                               bool are_lonely, const Sink& sink) {
    // From a shuffle: else the compiler asks the hardware for it wherever it is used, which takes
    // longer than all else here.
    const unsigned lower_lanes =
        __shfl_sync(full_warp_mask, platform::lane_mask_lt(), platform::lane_id());
    unsigned sum = 0;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (!Tile::has_items(i, items)) continue;
      Places::begin_of_one((has_result >> i & 1) != 0, sum, lower_lanes);
    }
    Count before = 0;
    const Count all = sum_of_block(sum, before);
    const Count place = take_place(tile, all);
    const auto capacity = static_cast<Count>(sides_.capacity);
    const bool all_fit = place + all <= capacity;
    sum = 0;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (!Tile::has_items(i, items)) continue;
      const bool is_mine = (has_result >> i & 1) != 0;
      const Count to = place + before + Places::begin_of_one(is_mine, sum, lower_lanes);
      if (!is_mine || (!all_fit && to >= capacity)) continue;
      put<Index>(to, lows[i] == none ? none_of_rows : tile_.first_build + lows[i],
                 are_lonely ? none_of_rows : tile_.first_probe + Tile::item(i, items), sink);
    }
  }

  // Of probe rows some of which have several results, unless these are many.
  template <class Index, class Sink>
  STRATA_D void write_several(Count tile, unsigned has_result, unsigned (&lows)[ItemsPerThread],
                              const join_tile_list& list, const Sink& sink) {
    Results results(storage_.results, storage_.result_sums);
    const Count all = results.count(tile_, has_result, lows);
    const bool is_mine = all <= most_sorted_block_results;
    Count place = ask_place(tile, all);
    if (is_mine) results.put(tile_, lows);
    place = tell_place(place);
    if (is_mine) {
      results.template write<Index>(tile_, place, 0, all, sides_.capacity, sink);
    } else if (threadIdx.x == 0) {
      list.put(tile, place, all, sides_.capacity);
    }
  }

  template <class Index, class Sink>
  STRATA_D static void put(Count position, Row build_row, Row probe_row, const Sink& sink) {
    sink(static_cast<std::int64_t>(position), detail::told_join_row<Index>(build_row),
         detail::told_join_row<Index>(probe_row));
  }

  TempStorage& storage_;
  const Sides& sides_;
  const join_sorted_order& order_;
  Tile tile_;
};

}  // namespace detail
STRATA_NAMESPACE_END
