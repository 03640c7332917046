// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/output/offsets.cuh>

#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The row number as the result has it: `no_row<Index>` for no row.
template <class Index, class Row>
STRATA_D Index join_row_index(Row row) {
  if constexpr (sizeof(Index) > sizeof(Row)) {
    if (row == static_cast<Row>(-1)) return no_row<Index>;
  }
  return static_cast<Index>(row);
}

/// The results of the probe rows of a `join_merge_tile`, numbered from 0 on. Some rows have several results. All
/// threads of the block call each member function.
///
/// A warp writes pieces of 32 results, one by each lane. A row that begins in a piece sets the bit of its
/// first result, so that a lane finds its row by counting bits, without a search.
template <class Tile, class Row, int BlockThreads, int ItemsPerThread, int ResultItems>
class join_merge_results {
  using Count = unsigned long long;
  using OutputOffsets = join_output_offsets<BlockThreads>;
  static constexpr unsigned warps = BlockThreads / warp_threads;
  static constexpr unsigned none = Tile::none;
  /// A thread handles this many rows together, because each step waits for the one before.
  static constexpr int batch = ResultItems;
  /// Stands behind the last begin in `begins`. It exceeds the number of each result by more than 32, so that no lane
  /// takes it for the begin of a row in its piece.
  static constexpr unsigned max_results = 0x7fffffff;

 public:
  /// The probe rows with results, in their order, except for rows with partners in the run that leaves the tile. These
  /// come last in the tile, and all have the same number of partners, which has no bound. They need no list.
  struct TempStorage {
    /// The number of a row's first result; then `max_results` for each lane of a warp.
    unsigned begins[Tile::tile_items + warp_threads];
    /// The row in the lower half. In the upper half, its first partner, counted from the tile's first build row, or
    /// `none`.
    unsigned rows[Tile::tile_items];
  };
  struct Sums {
    unsigned results[warps];
    unsigned rows[warps];
  };

  STRATA_D join_merge_results(TempStorage& storage, Sums& sums) : storage_(storage), sums_(sums) {}

  /// Counts what `look_up` of the tile has found. For rows before the run, the number of results of each
  /// row is stored in the upper half of `lows`, above its first partner. Both have at most 16 bits.
  STRATA_D Count count(const Tile& tile, unsigned has_result, unsigned (&lows)[ItemsPerThread]) {
    tile.mark_run_ends();
    first_of_run_ = tile.probes;
    first_partner_ = 0;
    each_of_run_ = 0;
    if (tile.is_open) {
      first_of_run_ = tile.first_item_of_run();
      first_partner_ = tile.first_partner_of_run();
      each_of_run_ = tile.partners_in_run();
    }
    unsigned results = 0;
    unsigned rows = 0;
    STRATA_UNROLL
    for (int first = 0; first < ItemsPerThread; first += batch) {
      if (!Tile::has_items(first, tile.probes)) continue;
      bool has_long_runs = false;
      STRATA_UNROLL
      for (int i = first; i < first + batch && i < ItemsPerThread; ++i) {
        const bool is_mine = is_counted(tile, has_result, i);
        const unsigned mine = lows[i] == none ? 1 : tile.short_run(is_mine ? lows[i] : 0);
        has_long_runs |= is_mine && mine == 0;
        if (!is_mine) continue;
        lows[i] |= mine << 16;
        results += mine;
        ++rows;
      }
      if (!has_long_runs) continue;
      STRATA_UNROLL
      for (int i = first; i < first + batch && i < ItemsPerThread; ++i) {
        if (!is_counted(tile, has_result, i) || lows[i] >> 16 != 0) continue;
        const unsigned mine = tile.long_run(lows[i]);
        lows[i] |= mine << 16;
        results += mine;
      }
    }
    // WarpReduce is not used here, nor WarpScan below: with their instructions, registers spill. sum_of_warp is not
    // used, because the steps of two sums alternate here.
    STRATA_UNROLL
    for (int distance = warp_threads / 2; distance > 0; distance /= 2) {
      results += __shfl_xor_sync(full_warp_mask, results, distance);
      rows += __shfl_xor_sync(full_warp_mask, rows, distance);
    }
    const unsigned warp = threadIdx.x / warp_threads;
    if (platform::lane_id() == 0) {
      sums_.results[warp] = results;
      sums_.rows[warp] = rows;
    }
    __syncthreads();
    num_rows_ = 0;
    run_begin_ = 0;
    STRATA_UNROLL
    for (unsigned w = 0; w < warps; ++w) {
      num_rows_ += sums_.rows[w];
      run_begin_ += sums_.results[w];
    }
    return run_begin_ + Count{each_of_run_} * (tile.probes - first_of_run_);
  }

  /// Writes the list of rows with results over the keys of the tile. `write` may follow after
  /// `__syncthreads`.
  STRATA_D void write_row_list(const Tile& tile, const unsigned (&lows)[ItemsPerThread]) const {
    unsigned rows = 0;
    unsigned results = 0;
    STRATA_UNROLL
    for (unsigned w = 0; w < warps; ++w) {
      if (w == threadIdx.x / warp_threads) break;
      rows += sums_.rows[w];
      results += sums_.results[w];
    }
    STRATA_UNROLL
    for (int first = 0; first < ItemsPerThread; first += batch) {
      if (!Tile::has_items(first, tile.probes)) continue;
      unsigned ends[batch];
      STRATA_UNROLL
      for (int k = 0; k < batch && first + k < ItemsPerThread; ++k) {
        ends[k] = lows[first + k] >> 16;
      }
      // The steps of several items alternate, because each waits for the one before.
      STRATA_UNROLL
      for (unsigned distance = 1; distance < warp_threads; distance *= 2) {
        STRATA_UNROLL
        for (int k = 0; k < batch && first + k < ItemsPerThread; ++k) {
          const unsigned lower = __shfl_up_sync(full_warp_mask, ends[k], distance);
          if (platform::lane_id() >= distance) ends[k] += lower;
        }
      }
      STRATA_UNROLL
      for (int k = 0; k < batch && first + k < ItemsPerThread; ++k) {
        const int i = first + k;
        const unsigned mine = lows[i] >> 16;
        const unsigned begin = results + ends[k] - mine;
        results += __shfl_sync(full_warp_mask, ends[k], warp_threads - 1);
        const unsigned at = OutputOffsets::scan_flag(mine != 0, rows);
        if (mine == 0) continue;
        storage_.begins[at] = begin;
        storage_.rows[at] = lows[i] << 16 | Tile::item(i, tile.probes);
      }
    }
    if (threadIdx.x < warp_threads) storage_.begins[num_rows_ + threadIdx.x] = max_results;
  }

  /// Writes results [first, last) of the tile. Result 0 has position `begin` in the whole result.
  template <class Index, class Sink>
  STRATA_D void write(const Tile& tile, Count begin, Count first, Count last, std::int64_t capacity,
                      const Sink& sink) const {
    const Count limit = begin < static_cast<Count>(capacity) ? static_cast<Count>(capacity) - begin : 0;
    if (limit < last) last = limit;
    if (first >= last) return;
    // A warp writes neighbouring pieces. Pieces are aligned in the whole result.
    const Count skipped = (begin + first) % warp_threads;
    const Count pieces = (last - first + skipped + warp_threads - 1) / warp_threads;
    const Count each = (pieces + warps - 1) / warps * warp_threads;
    const Count from = threadIdx.x / warp_threads * each;
    const Count to = first + from + each - skipped;
    if (from > 0) first += from - skipped;
    if (to < last) last = to;
    if (first >= last) return;
    if (first < run_begin_) {
      write_rows<Index>(tile, begin, static_cast<unsigned>(first),
                        last < run_begin_ ? static_cast<unsigned>(last) : run_begin_, sink);
    }
    if (last > run_begin_) {
      write_run<Index>(tile, begin, detail::most(run_begin_, first), last, sink);
    }
  }

 private:
  STRATA_D bool is_counted(const Tile& tile, unsigned has_result, int i) const {
    return (has_result >> i & 1) != 0 && Tile::item(i, tile.probes) < first_of_run_;
  }

  // Writes results of rows before the run. One warp calls this.
  template <class Index, class Sink>
  STRATA_D void write_rows(const Tile& tile, Count begin, unsigned first, unsigned last, const Sink& sink) const {
    join_result_rows rows(storage_.begins, num_rows_, first);
    const unsigned skipped = static_cast<unsigned>(begin + first) % warp_threads;
    // The first piece may begin before result 0.
    unsigned base = first - skipped;
    if (skipped != 0 || last - first < warp_threads) {
      const unsigned at = base + platform::lane_id();
      write_piece<Index>(tile, begin, base, rows.next(base), at - first < last - first, sink);
      base += warp_threads;
    }
    if (static_cast<int>(last - base) <= 0) return;
    const unsigned rest = (last - base) % warp_threads;
    for (; base != last - rest; base += warp_threads) {
      write_piece<Index>(tile, begin, base, rows.next(base), true, sink);
    }
    if (rest > 0) write_piece<Index>(tile, begin, base, rows.next(base), platform::lane_id() < rest, sink);
  }

  // Each active lane writes result number `base` + lane, which is of row `mine`.
  template <class Index, class Sink>
  STRATA_D void write_piece(const Tile& tile, Count begin, unsigned base, unsigned mine, bool is_active,
                            const Sink& sink) const {
    if (!is_active) return;
    const unsigned packed = storage_.rows[mine];
    const unsigned low = packed >> 16;
    const unsigned at = base + platform::lane_id();
    const Row partner = tile.first_build + low + (at - storage_.begins[mine]);
    sink(static_cast<std::int64_t>(begin + at),
         detail::join_row_index<Index>(low == none ? static_cast<Row>(-1) : partner),
         static_cast<Index>(tile.first_probe + (packed & 0xffff)));
  }

  // Writes results of rows with partners in the run. One warp calls this.
  template <class Index, class Sink>
  STRATA_D void write_run(const Tile& tile, Count begin, Count first, Count last, const Sink& sink) const {
    Count at = first - (begin + first) % warp_threads + platform::lane_id();
    // `at` may lie before `first`, and wrap around below result 0.
    if (at + warp_threads < first + warp_threads) at += warp_threads;
    Row row = static_cast<Row>((at - run_begin_) / each_of_run_);
    Row rank = static_cast<Row>((at - run_begin_) % each_of_run_);
    row += tile.first_probe + first_of_run_;
    for (; at < last; at += warp_threads) {
      sink(static_cast<std::int64_t>(begin + at), static_cast<Index>(tile.first_build + first_partner_ + rank),
           static_cast<Index>(row));
      // A run that leaves the tile has at least 32 rows: those that were read ahead.
      rank += warp_threads;
      if (rank >= each_of_run_) {
        rank -= each_of_run_;
        ++row;
      }
    }
  }

  TempStorage& storage_;
  Sums& sums_;
  // The number of rows before the run that have results.
  unsigned num_rows_ = 0;
  unsigned run_begin_ = 0;
  unsigned first_of_run_ = 0;
  unsigned first_partner_ = 0;
  Row each_of_run_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END
