// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/hash_join/join_types.hpp>
#include <strata/device/hash_join/result_places.cuh>
#include <strata/device/hash_join/sorted_sides.cuh>
#include <strata/device/hash_join/sorted_tile.cuh>

#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Writes results of tiles that have many, any part of them. All member functions are called by the
/// whole block.
template <class Key, class Row, int BlockThreads, int ItemsPerThread>
class AgentSortedWrite {
  using Count = unsigned long long;
  using Tile = join_sorted_tile<Key, Row, BlockThreads, ItemsPerThread>;
  using Sides = join_sorted_sides<Key, Row>;
  using Places = join_result_places<BlockThreads>;
  static constexpr unsigned warps = BlockThreads / warp_threads;
  static constexpr unsigned none = Tile::none;

 public:
  struct TempStorage {
    union {
      Key keys[Tile::num_keys];
      struct {
        /// Where the results of probe rows begin in those of the tile.
        unsigned begins[Tile::tile_items + 1];
        /// The first partner of a probe row, from the tile's first build row on, or `none`.
        unsigned short partners[Tile::tile_items];
      } results;
    };
    typename Tile::open_run run;
    unsigned sums[warps];
  };

  STRATA_D AgentSortedWrite(TempStorage& storage, const Sides& sides)
      : storage_(storage), sides_(sides), tile_(storage.keys, storage.run, sides) {}

  /// Looks a tile up, and returns how many results it has.
  STRATA_D Count prepare(Count tile) {
    tile_.load(tile);
    unsigned lows[ItemsPerThread];
    bool has_several = false;
    const unsigned has_result = tile_.look_up(lows, has_several);
    first_of_run_ = tile_.is_open ? storage_.run.first_item : tile_.probes;
    unsigned begins[ItemsPerThread];
    unsigned sum = 0;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (!Tile::has_items(i, tile_.probes)) continue;
      const bool is_counted =
          (has_result >> i & 1) != 0 && Tile::item(i, tile_.probes) < first_of_run_;
      const Row count = is_counted ? tile_.results_of(lows[i], i) : 0;
      begins[i] = Places::begin_of_several(static_cast<unsigned>(count), sum);
    }
    if (platform::lane_id() == 0) storage_.sums[threadIdx.x / warp_threads] = sum;
    // All have read the keys after this.
    __syncthreads();
    unsigned before = 0;
    unsigned all = 0;
    STRATA_UNROLL
    for (unsigned w = 0; w < warps; ++w) {
      if (w == threadIdx.x / warp_threads) before = all;
      all += storage_.sums[w];
    }
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const unsigned at = Tile::item(i, tile_.probes);
      if (!Tile::has_items(i, tile_.probes) || at >= tile_.probes) continue;
      storage_.results.begins[at] = before + begins[i];
      storage_.results.partners[at] = static_cast<unsigned short>(lows[i]);
    }
    if (threadIdx.x == 0) storage_.results.begins[tile_.probes] = all;
    __syncthreads();
    if (!tile_.is_open) return all;
    return all + rows_of_run() * (tile_.probes - first_of_run_);
  }

  /// Writes rows [first, last) of those of the tile that `prepare` was called with, of which the
  /// first one has the position `begin` in the whole result.
  template <class Index, class Sink>
  STRATA_D void write(Count, Count begin, Count first, Count last, const Sink& sink) const {
    const auto capacity = static_cast<Count>(sides_.capacity);
    const Count room = begin < capacity ? capacity - begin : 0;
    if (room < last) last = room;
    if (first >= last) return;
    // A warp writes neighbours, most of which belong to the same probe row if these have many.
    const Count each = (last - first + warps - 1) / warps;
    const Count warp_first = first + threadIdx.x / warp_threads * each;
    const Count warp_last = warp_first + each < last ? warp_first + each : last;
    Count item_begin = 0;
    Count item_end = 0;
    unsigned item = 0;
    for (Count at = warp_first + platform::lane_id(); at < warp_last; at += warp_threads) {
      if (at >= item_end) find_item(at, item, item_begin, item_end);
      const unsigned partner = storage_.results.partners[item];
      Index build_row = no_row<Index>;
      if (partner != none) {
        build_row = static_cast<Index>(tile_.first_build + partner + (at - item_begin));
      }
      sink(static_cast<std::int64_t>(begin + at), build_row,
           static_cast<Index>(tile_.first_probe + item));
    }
  }

 private:
  // Partners of each probe row that has those of the run that leaves the tile.
  STRATA_D Count rows_of_run() const {
    return storage_.run.end - tile_.first_build - storage_.results.partners[first_of_run_];
  }

  STRATA_D void find_item(Count at, unsigned& item, Count& begin, Count& end) const {
    const unsigned* const begins = storage_.results.begins;
    const Count head = begins[tile_.probes];
    if (at >= head) {
      const Count each = rows_of_run();
      const Count number = (at - head) / each;
      item = first_of_run_ + static_cast<unsigned>(number);
      begin = head + number * each;
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

  TempStorage& storage_;
  const Sides& sides_;
  Tile tile_;
  /// Of the prepared tile.
  unsigned first_of_run_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END
