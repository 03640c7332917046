// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/hash_join/join_output.cuh>
#include <strata/device/hash_join/join_types.hpp>
#include <strata/device/hash_join/pairs.hpp>
#include <strata/device/hash_join/result_places.cuh>
#include <strata/device/hash_join/sorted_sides.cuh>
#include <strata/device/hash_join/sorted_tile.cuh>

#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Joins tiles of two sides in ascending order. A tile's number from `sides.tiles` on means its build
/// rows without a partner. All member functions are called by the whole block.
template <class Key, class Row, int BlockThreads, int ItemsPerThread>
class AgentSortedJoin {
  using Count = unsigned long long;
  using Tile = join_sorted_tile<Key, Row, BlockThreads, ItemsPerThread>;
  using Sides = join_sorted_sides<Key, Row>;
  using Places = join_result_places<BlockThreads>;
  static constexpr unsigned warps = BlockThreads / warp_threads;
  static constexpr unsigned none = Tile::none;

 public:
  static constexpr unsigned tile_items = Tile::tile_items;

  struct TempStorage {
    union {
      Key keys[Tile::num_keys];
      struct {
        /// Where the results of items begin in those of the tile.
        unsigned begins[tile_items + 1];
        /// The first partner of an item, from the tile's first build row on, or `none`.
        unsigned short partners[tile_items];
      } results;
    };
    typename Tile::open_run run;
    unsigned sums[warps];
    Count counts[warps];
    Count place;
  };

  STRATA_D AgentSortedJoin(TempStorage& storage, const Sides& sides)
      : storage_(storage), sides_(sides), tile_(storage.keys, storage.run, sides) {}

  /// Rows of the result that probe rows of a tile have, and build rows without a partner, which only
  /// full joins have. Valid in all threads.
  STRATA_D void count(Count tile, Count& results, Count& lonely) {
    tile_.load(tile);
    unsigned lows[ItemsPerThread];
    bool has_several = false;
    unsigned has_result = tile_.look_up(lows, has_several);
    Count sum = 0;
    if (has_several) {
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) {
        if ((has_result >> i & 1) != 0) sum += tile_.results_of(lows[i], i);
      }
    } else {
      sum = static_cast<unsigned>(__popc(has_result));
    }
    results = sum_of_block(sum);
    lonely = 0;
    if (sides_.kind == JoinKind::full) {
      lonely = sum_of_block(static_cast<unsigned>(__popc(tile_.find_lonely())));
    }
  }

  /// The same of results that the block then may write.
  STRATA_D Count prepare(Count tile) {
    unsigned lows[ItemsPerThread];
    if (tile < sides_.tiles) {
      tile_.load(tile);
      bool has_several = false;
      const unsigned has_result = tile_.look_up(lows, has_several);
      return prepare(has_result, lows, tile_.probes);
    }
    tile_.load(tile - sides_.tiles);
    const unsigned is_lonely = tile_.find_lonely();
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) lows[i] = Tile::item(i, tile_.builds);
    tile_.is_open = false;
    return prepare(is_lonely, lows, tile_.builds, true);
  }

  /// Writes rows [first, last) of those of the tile that `prepare` was called with, of which the
  /// first one has the position `begin` in the whole result.
  template <class Index, class Sink>
  STRATA_D void write(Count tile, Count begin, Count first, Count last, const Sink& sink) const {
    const auto capacity = static_cast<Count>(sides_.capacity);
    const Count room = begin < capacity ? capacity - begin : 0;
    if (room < last) last = room;
    if (first >= last) return;
    // A warp writes neighbours, most of which belong to the same item if items have many.
    const Count each = (last - first + warps - 1) / warps;
    const Count warp_first = first + threadIdx.x / warp_threads * each;
    const Count warp_last = warp_first + each < last ? warp_first + each : last;
    Count item_begin = 0;
    Count item_end = 0;
    unsigned at_item = 0;
    for (Count at = warp_first + platform::lane_id(); at < warp_last; at += warp_threads) {
      if (at >= item_end) find_item(at, at_item, item_begin, item_end);
      const unsigned partner = storage_.results.partners[at_item];
      const Row rank = static_cast<Row>(at - item_begin);
      put<Index>(begin + at, partner == none ? none_of_rows : tile_.first_build + partner + rank,
                 tile < sides_.tiles ? tile_.first_probe + at_item : none_of_rows, sink);
    }
  }

  /// Joins a tile, takes its place behind all others that have come before, and writes its results;
  /// or puts it on the list if it has many.
  template <class Index, class Sink>
  STRATA_D void join(Count tile, const join_tile_list& list, const Sink& sink) {
    tile_.load(tile);
    unsigned lows[ItemsPerThread];
    if (sides_.kind == JoinKind::full) {
      STRATA_UNROLL
      for (int i = 0; i < ItemsPerThread; ++i) lows[i] = Tile::item(i, tile_.builds);
      write_one_each<Index>(tile_.find_lonely(), lows, tile_.builds, true, sink);
    }
    bool has_several = false;
    const unsigned has_result = tile_.look_up(lows, has_several);
    if (__syncthreads_or(has_several ? 1 : 0) == 0) {
      write_one_each<Index>(has_result, lows, tile_.probes, false, sink);
      return;
    }
    const Count all = prepare(has_result, lows, tile_.probes);
    if (threadIdx.x == 0) {
      const Count place = atomicAdd(sides_.total, all);
      storage_.place = place;
      if (all > join_unit) put_on_list(tile, place, all, list);
    }
    __syncthreads();
    if (all <= join_unit) write<Index>(tile, storage_.place, 0, all, sink);
  }

 private:
  static constexpr Row none_of_rows = static_cast<Row>(-1);

  STRATA_D Count sum_of_block(Count sum) {
    STRATA_UNROLL
    for (unsigned distance = warp_threads / 2; distance > 0; distance /= 2) {
      sum += __shfl_down_sync(full_warp_mask, sum, distance);
    }
    __syncthreads();
    if (platform::lane_id() == 0) storage_.counts[threadIdx.x / warp_threads] = sum;
    __syncthreads();
    Count all = 0;
    STRATA_UNROLL
    for (unsigned w = 0; w < warps; ++w) all += storage_.counts[w];
    return all;
  }

  // Where the results of the calling warp begin in those of the block, and how many these are.
  STRATA_D unsigned begin_of_warp(unsigned sum, unsigned& all) {
    if (platform::lane_id() == 0) storage_.sums[threadIdx.x / warp_threads] = sum;
    __syncthreads();
    unsigned before = 0;
    all = 0;
    STRATA_UNROLL
    for (unsigned w = 0; w < warps; ++w) {
      if (w == threadIdx.x / warp_threads) before = all;
      all += storage_.sums[w];
    }
    return before;
  }

  // Of `items` probe rows or lonely build rows. What was loaded is there no more after this.
  STRATA_D Count prepare(unsigned has_result, const unsigned (&lows)[ItemsPerThread],
                         unsigned items, bool are_lonely = false) {
    // What was found out about the run is there.
    __syncthreads();
    items_ = items;
    first_of_run_ = tile_.is_open ? storage_.run.first_item : items;
    unsigned begins[ItemsPerThread];
    unsigned sum = 0;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (!Tile::has_items(i, items)) continue;
      unsigned count = has_result >> i & 1;
      if (Tile::item(i, items) >= first_of_run_) count = 0;
      if (count != 0 && !are_lonely) count = static_cast<unsigned>(tile_.results_of(lows[i], i));
      begins[i] = Places::begin_of_several(count, sum);
    }
    unsigned all = 0;
    // All have read the keys after this.
    const unsigned before = begin_of_warp(sum, all);
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const unsigned at = Tile::item(i, items);
      if (!Tile::has_items(i, items) || at >= items) continue;
      storage_.results.begins[at] = before + begins[i];
      storage_.results.partners[at] = static_cast<unsigned short>(lows[i]);
    }
    if (threadIdx.x == 0) storage_.results.begins[items] = all;
    __syncthreads();
    if (!tile_.is_open) return all;
    return all + run_of_items() * (items - first_of_run_);
  }

  // Partners of each item of the run that leaves the tile.
  STRATA_D Count run_of_items() const {
    return storage_.run.end - tile_.first_build - storage_.results.partners[first_of_run_];
  }

  STRATA_D void find_item(Count at, unsigned& item, Count& begin, Count& end) const {
    const unsigned* const begins = storage_.results.begins;
    if (tile_.is_open && at >= begins[items_]) {
      const Count each = run_of_items();
      const Count number = (at - begins[items_]) / each;
      item = first_of_run_ + static_cast<unsigned>(number);
      begin = begins[items_] + number * each;
      end = begin + each;
      return;
    }
    // The last item that begins not behind `at`; of those that begin there it is the only one that
    // is not empty.
    unsigned low = 0;
    unsigned high = first_of_run_;
    while (high - low > 1) {
      const unsigned middle = (low + high) / 2;
      if (begins[middle] <= at) {
        low = middle;
      } else {
        high = middle;
      }
    }
    item = low;
    begin = begins[low];
    end = begins[low + 1];
  }

  // Of `items` that have one result each, or none; lonely build rows or probe rows.
  template <class Index, class Sink>
  STRATA_D void write_one_each(unsigned has_result, const unsigned (&lows)[ItemsPerThread],
                               unsigned items, bool are_lonely, const Sink& sink) {
    unsigned sum = 0;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (Tile::has_items(i, items)) Places::begin_of_one((has_result >> i & 1) != 0, sum);
    }
    unsigned all = 0;
    unsigned begin = begin_of_warp(sum, all);
    if (threadIdx.x == 0) storage_.place = all == 0 ? 0 : atomicAdd(sides_.total, Count{all});
    __syncthreads();
    const Count place = storage_.place;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (!Tile::has_items(i, items)) continue;
      const bool is_mine = (has_result >> i & 1) != 0;
      const Count to = place + Places::begin_of_one(is_mine, begin);
      if (!is_mine || to >= static_cast<Count>(sides_.capacity)) continue;
      put<Index>(to, lows[i] == none ? none_of_rows : tile_.first_build + lows[i],
                 are_lonely ? none_of_rows : tile_.first_probe + Tile::item(i, items), sink);
    }
  }

  template <class Index, class Sink>
  STRATA_D static void put(Count position, Row build_row, Row probe_row, const Sink& sink) {
    const auto told = [](Row row) {
      return row == none_of_rows ? no_row<Index> : static_cast<Index>(row);
    };
    sink(static_cast<std::int64_t>(position), told(build_row), told(probe_row));
  }

  STRATA_D void put_on_list(Count tile, Count begin, Count all, const join_tile_list& list) const {
    const Count units = join_units_of(begin, all, sides_.capacity);
    if (units == 0) return;
    constexpr Count one = Count{1} << join_tile_list::unit_bits;
    const Count taken = atomicAdd(list.taken, one + units);
    const Count at = taken >> join_tile_list::unit_bits;
    list.tiles[at] = tile;
    list.begins[at] = begin;
    list.unit_ends[at] = (taken & (one - 1)) + units;
  }

  TempStorage& storage_;
  const Sides& sides_;
  Tile tile_;
  /// Of the items that are prepared.
  unsigned items_ = 0;
  unsigned first_of_run_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END
