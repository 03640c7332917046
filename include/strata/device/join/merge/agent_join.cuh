// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/engine/look_back.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/merge/results.cuh>
#include <strata/device/join/merge/tile.cuh>
#include <strata/device/join/output/chunks.cuh>
#include <strata/device/join/output/offsets.cuh>
#include <strata/warp/specializations/warp_sum_butterfly.cuh>

#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Joins tiles of two sides in ascending order and writes the results, except those of tiles that have
/// many. All member functions are called by the whole block.
template <class Tuning, class Key, class Row, int BlockThreads, int ItemsPerThread>
class AgentMergeJoin {
  using Count = unsigned long long;
  using Tile = join_merge_tile<Key, Row, BlockThreads, ItemsPerThread, Tuning::merge.searches>;
  using Sides = join_merge_sides<Key, Row>;
  using OutputOffsets = join_output_offsets<BlockThreads>;
  using TileOffsets = join_tile_offsets<BlockThreads>;
  using Results = join_merge_results<Tile, Row, BlockThreads, ItemsPerThread, Tuning::merge.result_items>;
  static constexpr unsigned none = Tile::none;
  static constexpr Count max_block_results = Tuning::merge.max_block_results;

 public:
  static constexpr unsigned tile_items = Tile::tile_items;

  struct TempStorage {
    /// Keys are overwritten when the results are known.
    union {
      Key keys[Tile::num_keys];
      typename Results::TempStorage results;
    };
    typename Tile::run_storage runs;
    typename TileOffsets::TempStorage offsets;
    typename Results::Sums result_sums;
  };

  STRATA_D AgentMergeJoin(TempStorage& storage, const Sides& sides, const warp_look_back& order)
      : storage_(storage),
        sides_(sides),
        offsets_(storage.offsets, order, sides.total),
        tile_(storage.keys, storage.runs, sides) {}

  /// Returns the number of results of a tile, to all threads.
  STRATA_D Count count(Count tile) {
    tile_.load(tile);
    unsigned lows[ItemsPerThread];
    bool has_several = false;
    const unsigned has_result = tile_.look_up(lows, has_several);
    Count sum = static_cast<unsigned>(__popc(has_result));
    if (has_several) sum = count_several(has_result, lows);
    if (sides_.kind == JoinKind::full) sum += static_cast<unsigned>(__popc(tile_.find_unmatched()));
    Count before = 0;
    return offsets_.sum_of_block(detail::sum_of_warp(sum), before);
  }

  /// Returns the number of the next tile in the order. The caller checks whether there is one.
  STRATA_D Count take_ticket() { return offsets_.take_ticket(); }

  /// Joins a tile, reserves its range of the result, and writes its results, or adds it to the list if it
  /// has many. In an ordered join, the range is the one after those of all tiles before.
  template <class Index, class Sink>
  STRATA_D void join(Count tile, const join_tile_list& list, const Sink& sink) {
    tile_.load(tile);
    if (sides_.kind == JoinKind::full && !offsets_.is_ordered()) write_unmatched<Index>(tile, sink);
    unsigned lows[ItemsPerThread];
    bool has_several = false;
    const unsigned has_result = tile_.look_up(lows, has_several);
    if (__syncthreads_or(has_several ? 1 : 0) == 0) {
      write_one_each<Index>(tile, has_result, lows, tile_.probes, false, sink);
    } else {
      write_several<Index>(tile, has_result, lows, list, sink);
    }
  }

  /// Writes the unmatched build rows of tile number `tile - sides_.tiles` of an ordered full join. `tile` is the place
  /// of these results in the order. The order has a place for each tile, and then a second place for each tile, because
  /// unmatched build rows come after the other results of all tiles.
  template <class Index, class Sink>
  STRATA_D void join_unmatched(Count tile, const Sink& sink) {
    tile_.load(tile - sides_.tiles);
    write_unmatched<Index>(tile, sink);
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

  template <class Index, class Sink>
  STRATA_D void write_unmatched(Count tile, const Sink& sink) {
    unsigned lows[ItemsPerThread];
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) lows[i] = Tile::item(i, tile_.builds);
    write_one_each<Index>(tile, tile_.find_unmatched(), lows, tile_.builds, true, sink);
  }

  // Writes the results of `items` with at most one result each: probe rows, or unmatched build rows.
  template <class Index, class Sink>
  STRATA_D void write_one_each(Count tile, unsigned has_result, const unsigned (&lows)[ItemsPerThread], unsigned items,
                               bool are_unmatched, const Sink& sink) {
    // The mask comes from a shuffle. Otherwise the compiler reads the special register wherever the value is used,
    // which takes longer than all else here.
    const auto lane = static_cast<int>(platform::lane_id());
    const unsigned lower_lanes = __shfl_sync(full_warp_mask, platform::lane_mask_lt(), lane);
    unsigned sum = 0;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (!Tile::has_items(i, items)) continue;
      OutputOffsets::scan_flag((has_result >> i & 1) != 0, sum, lower_lanes);
    }
    Count before = 0;
    const Count all = offsets_.sum_of_block(sum, before);
    const Count offset = offsets_.reserve_and_broadcast(tile, all);
    const auto capacity = static_cast<Count>(sides_.capacity);
    const bool all_fit = offset + all <= capacity;
    sum = 0;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (!Tile::has_items(i, items)) continue;
      const bool is_mine = (has_result >> i & 1) != 0;
      const Count to = offset + before + OutputOffsets::scan_flag(is_mine, sum, lower_lanes);
      if (!is_mine || (!all_fit && to >= capacity)) continue;
      write_one<Index>(to, lows[i] == none ? none_of_rows : tile_.first_build + lows[i],
                       are_unmatched ? none_of_rows : tile_.first_probe + Tile::item(i, items), sink);
    }
  }

  // Writes the results of probe rows, some of which have several.
  template <class Index, class Sink>
  STRATA_D void write_several(Count tile, unsigned has_result, unsigned (&lows)[ItemsPerThread],
                              const join_tile_list& list, const Sink& sink) {
    Results results(storage_.results, storage_.result_sums);
    const Count all = results.count(tile_, has_result, lows);
    const bool is_mine = all <= max_block_results;
    Count offset = offsets_.reserve(tile, all);
    if (is_mine) results.write_row_list(tile_, lows);
    offset = offsets_.broadcast(offset);
    if (is_mine) {
      results.template write<Index>(tile_, offset, 0, all, sides_.capacity, sink);
    } else if (threadIdx.x == 0) {
      list.add<Tuning::output.chunk_rows>(tile, offset, all, sides_.capacity);
    }
  }

  template <class Index, class Sink>
  STRATA_D static void write_one(Count position, Row build_row, Row probe_row, const Sink& sink) {
    sink(static_cast<std::int64_t>(position), detail::join_row_index<Index>(build_row),
         detail::join_row_index<Index>(probe_row));
  }

  TempStorage& storage_;
  const Sides& sides_;
  TileOffsets offsets_;
  Tile tile_;
};

/// Writes output chunks of tiles with many results. All member functions are called by the whole block.
template <class Tuning, class Key, class Row, int BlockThreads, int ItemsPerThread>
class AgentMergeWrite {
  using Count = unsigned long long;
  using Tile = join_merge_tile<Key, Row, BlockThreads, ItemsPerThread, Tuning::merge.searches>;
  using Sides = join_merge_sides<Key, Row>;
  using Results = join_merge_results<Tile, Row, BlockThreads, ItemsPerThread, Tuning::merge.result_items>;

 public:
  struct TempStorage {
    /// Keys are overwritten when the results are known.
    union {
      Key keys[Tile::num_keys];
      typename Results::TempStorage results;
    };
    typename Tile::run_storage runs;
    typename Results::Sums sums;
  };

  STRATA_D AgentMergeWrite(TempStorage& storage, const Sides& sides)
      : capacity_(sides.capacity), tile_(storage.keys, storage.runs, sides), results_(storage.results, storage.sums) {}

  /// Looks a tile up, and returns the number of its results.
  STRATA_D Count prepare(Count tile) {
    tile_.load(tile);
    unsigned lows[ItemsPerThread];
    bool has_several = false;
    const unsigned has_result = tile_.look_up(lows, has_several);
    const Count all = results_.count(tile_, has_result, lows);
    results_.write_row_list(tile_, lows);
    __syncthreads();
    return all;
  }

  /// Writes results [first, last) of the tile that `prepare` was called with. Result 0 of the tile has
  /// position `begin` in the whole result.
  template <class Index, class Sink>
  STRATA_D void write(Count, Count begin, Count first, Count last, const Sink& sink) const {
    results_.template write<Index>(tile_, begin, first, last, capacity_, sink);
  }

 private:
  std::int64_t capacity_;
  Tile tile_;
  Results results_;
};

}  // namespace detail
STRATA_NAMESPACE_END
