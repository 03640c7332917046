// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/join/merge/results.cuh>
#include <strata/device/join/merge/tile.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

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
