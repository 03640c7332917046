// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/core/detail/packed_array.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/join/common/keys.hpp>
#include <strata/device/join/common/rows.cuh>
#include <strata/device/join/output/partners.cuh>
#include <strata/device/join/radix_partition/partitioned_columns.cuh>
#include <strata/device/join/radix_partition/partitions.cuh>
#include <strata/device/join/radix_partition/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Writes rows to partitions, tile by tile: by the highest bits of their hashes or, in a second pass, by the next bits.
/// A tile is sorted by partition in shared memory, so that rows of a partition are written side by side.
///
/// With `KeySets`, a side may have hashes instead of records.
template <class Keys, class Hash, class Equal, int BlockThreads, int ItemsPerThread, join_pass Pass, bool KeySets>
class AgentJoinPartition {
  using Scan = BlockScan<unsigned, BlockThreads, BLOCK_SCAN_WARP_SCANS>;

 public:
  using Side = join_side_records<Keys>;
  static constexpr bool is_second = Pass == join_pass::second;
  /// True if the pass gives rows their numbers.
  static constexpr bool numbers_rows = are_numbered_keys<Keys> && !is_second;
  static constexpr unsigned threads = BlockThreads;
  static constexpr bool is_wide = is_join_double_word<iterator_value_t<Keys>, Hash, Equal>;
  static constexpr unsigned tile_items = BlockThreads * ItemsPerThread;
  static_assert((threads & (threads - 1)) == 0, "join_partition_tuning: partition_threads must be a power of two");
  static_assert(tile_items < (1u << 16) && ItemsPerThread <= 32,
                "join_partition_tuning: partition_threads * items must be less than 65536, and items at most 32");

  struct TempStorage {
    typename Scan::TempStorage scan;
    unsigned first_null;  // index in the tile of the first row without a key
  };

  /// Bytes of dynamic shared memory.
  static constexpr std::size_t tile_bytes(const join_partition_plan& plan) {
    return tile_items * (sizeof(join_record) + (is_wide ? sizeof(unsigned) : 0)) +
           2 * join_count_bytes(plan.bits_of_pass(is_second)) +
           (is_second ? sizeof(unsigned) * (std::size_t{2} << plan.first_bits) : 0);
  }

  STRATA_D AgentJoinPartition(TempStorage& storage, unsigned char* shared, const join_partition_plan& plan,
                              const unsigned* pass_tiles, unsigned tile_rows, const Hash& hash,
                              const unsigned* is_overflowing)
      : storage_(storage),
        records_(reinterpret_cast<join_record*>(shared)),
        lower_(reinterpret_cast<unsigned*>(records_ + tile_items)),
        counts_(lower_ + (is_wide ? tile_items : 0)),
        plan_(plan),
        tile_rows_(tile_rows),
        bits_(plan.bits_of_pass(is_second)),
        bins_(1u << bits_),
        deltas_(counts_ + bins_ + 2),
        pass_tiles_(deltas_ + bins_ + 2),
        is_overflowing_(is_overflowing),
        hash_(hash) {
    if constexpr (is_second) {
      for (unsigned p = threadIdx.x; p < 2u << plan.first_bits; p += threads) pass_tiles_[p] = pass_tiles[p];
      __syncthreads();
    }
  }

  /// Partitions both sides. Each block takes every gridDim.x-th tile. The order in a partition depends on timing. Also
  /// writes to `output`. A join_tile_runs gets the places of the rows of each probe tile, unless its arrays are null. A
  /// partitioned_output gets the columns, unless its sample finds few results. A NullType gets nothing.
  template <class PassOutput>
  STRATA_D void run(const Side& build, const Side& probe, const PassOutput& output) {
    constexpr bool may_move_columns = partitions_columns<PassOutput>;
    bool moves_columns = may_move_columns;
    if constexpr (may_move_columns) moves_columns = !output.sample.finds_few_results();
    build_rows_ = detail::rows_of(build);
    probe_rows_ = detail::rows_of(probe);
    const unsigned tiles = number_of_tiles(build, probe);
    unsigned tile = blockIdx.x;
    prefetched_rows fetched;
    join_tile next{};
    if (tile < tiles) load_tile(tile, build, probe, next, fetched);
    for (unsigned p = threadIdx.x; p <= bins_; p += threads) counts_[p] = 0;
    while (tile < tiles) {
      const join_tile now = next;
      const Side& side = now.is_probe ? probe : build;
      rows_of_tile rows;
      unsigned offsets[max_each];
      unsigned null_offset = 0;
      prepare(fetched, rows);
      __syncthreads();
      rank(rows, now.rows);
      __syncthreads();
      const auto record_run = [&](unsigned bin, unsigned begin, unsigned count) {
        if constexpr (std::is_same_v<PassOutput, join_tile_runs>) {
          if (!now.is_probe || output.begins == nullptr) return;
          const std::size_t at = std::size_t{now.first / tile_rows_} * output.partitions + bin;
          output.begins[at] = begin;
          output.counts[at] = count;
        }
      };
      reserve(cursors_of(side, now), side.drops_nulls, offsets, null_offset, record_run);
      __syncthreads();
      if (has_row_ids(side)) {
        scatter<true>(rows, now);
      } else {
        scatter<false>(rows, now);
      }
      store_deltas(offsets, null_offset);
      tile += gridDim.x;
      AgentJoinColumns<BlockThreads, ItemsPerThread> columns;
      if (may_move_columns && moves_columns) {
        columns.keep_indices(rows.ranks, now.rows, [&](int i) { return counts_[bin_of(rows, i)]; });
      }
      // The loads of the next tile are in flight while the records of this tile are written, unless columns need the
      // registers.
      if (!moves_columns && tile < tiles) load_tile(tile, build, probe, next, fetched);
      __syncthreads();
      for (unsigned p = threadIdx.x; p <= bins_; p += threads) counts_[p] = 0;
      if (has_row_ids(side)) {
        write<true, may_move_columns>(side, now.rows, moves_columns);
      } else {
        write<false, false>(side, now.rows, false);
      }
      if constexpr (may_move_columns) {
        if (moves_columns) {
          const auto position_of = [&](unsigned i) { return deltas_[bin_of(records_[i].hash)] + i; };
          columns.move(records_, now.is_probe, now.first, storage_.first_null, position_of, output);
          if (tile < tiles) load_tile(tile, build, probe, next, fetched);
        }
      }
    }
  }

 private:
  // The most counters of a thread.
  static constexpr unsigned max_each = (1u << max_join_pass_bits) > threads ? (1u << max_join_pass_bits) / threads : 1;
  // Short keys are held in registers and hashed after the previous tile is written; long ones are hashed at once.
  static constexpr bool holds_keys = sizeof(iterator_value_t<Keys>) <= 8;
  static constexpr int items = ItemsPerThread;
  template <bool Is, class Word>
  using array_if = Word[Is ? ItemsPerThread : 1];

  /// The rows of a tile that a thread has loaded.
  struct prefetched_rows {
    array_if<!is_second && holds_keys, iterator_value_t<Keys>> keys;
    array_if<is_second || !holds_keys, unsigned> hashes;
    array_if<is_second || numbers_rows, unsigned> rows;
    array_if<is_second && is_wide, unsigned> lower;
    unsigned nulls;  // a bit for each row without a key
  };
  struct rows_of_tile {
    unsigned hashes[ItemsPerThread];
    array_if<is_wide, unsigned> lower;
    array_if<is_second || numbers_rows, unsigned> rows;
    packed_array<ItemsPerThread> ranks;
    unsigned nulls;
  };

  STRATA_D static bool has_row_ids(const Side& side) { return !KeySets || side.has_row_ids; }
  STRATA_D static unsigned in_tile(int item) { return static_cast<unsigned>(item * BlockThreads) + threadIdx.x; }
  // `n` is what the block has read from a FutureCount. Other numbers are kernel arguments, which take no register.
  STRATA_D static unsigned rows_of(const Side& side, unsigned n) { return are_counted_keys<Keys> ? n : side.rows; }
  STRATA_D unsigned tiles_of(unsigned rows) const { return rows / tile_rows_ + (rows % tile_rows_ != 0 ? 1 : 0); }
  STRATA_D join_tile cut(bool is_probe, unsigned partition, unsigned first, unsigned end) const {
    const unsigned left = end - first;
    return {is_probe, partition, first, detail::least(left, tile_rows_)};
  }

  STRATA_D unsigned number_of_tiles(const Side& build, const Side& probe) const {
    if constexpr (is_second) return pass_tiles_[(2u << plan_.first_bits) - 1];
    return tiles_of(rows_of(build, build_rows_)) + tiles_of(rows_of(probe, probe_rows_));
  }

  STRATA_D join_tile tile_at(unsigned tile, const Side& build, const Side& probe) const {
    if constexpr (is_second) {
      // The partition that has the tile. The build side's partitions have the first numbers, then the probe side's
      // partitions follow.
      unsigned at = 0;
      for (unsigned step = 1u << plan_.first_bits; step > 0; step /= 2) {
        if (pass_tiles_[at + step - 1] <= tile) at += step;
      }
      const unsigned rank = tile - (at > 0 ? pass_tiles_[at - 1] : 0);
      const bool is_probe = at >> plan_.first_bits != 0;
      const unsigned partition = at & ((1u << plan_.first_bits) - 1);
      const unsigned* const begins = (is_probe ? probe : build).begins;
      return cut(is_probe, partition, begins[partition << bits_] + rank * tile_rows_, begins[(partition + 1) << bits_]);
    } else {
      const unsigned build_tiles = tiles_of(rows_of(build, build_rows_));
      if (tile < build_tiles) return cut(false, 0, tile * tile_rows_, rows_of(build, build_rows_));
      return cut(true, 0, (tile - build_tiles) * tile_rows_, rows_of(probe, probe_rows_));
    }
  }

  STRATA_D unsigned* cursors_of(const Side& side, const join_tile& tile) const {
    if constexpr (is_second) return side.cursors + (tile.partition << bits_);
    return Pass == join_pass::first ? side.pass_cursors : side.cursors;
  }

  STRATA_D unsigned bin_of(unsigned hash) const {
    if constexpr (is_second) return (hash << plan_.first_bits) >> (32 - bits_);
    return hash >> (32 - bits_);
  }
  STRATA_D unsigned bin_of(const rows_of_tile& rows, int item) const {
    if (!is_second && (rows.nulls >> item & 1) != 0) return bins_;
    return bin_of(rows.hashes[item]);
  }

  STRATA_D void load_tile(unsigned number, const Side& build, const Side& probe, join_tile& tile,
                          prefetched_rows& fetched) const {
    tile = tile_at(number, build, probe);
    load(tile.is_probe ? probe : build, tile, fetched);
  }

  STRATA_D void load(const Side& side, const join_tile& tile, prefetched_rows& fetched) const {
    fetched.nulls = 0;
    if constexpr (is_second) {
      STRATA_UNROLL
      for (int i = 0; i < items; ++i) {
        if (in_tile(i) >= tile.rows) continue;
        join_record record{0, 0};
        if (has_row_ids(side)) {
          record = side.first_pass.records[tile.first + in_tile(i)];
        } else {
          record.hash = side.first_pass.hashes()[tile.first + in_tile(i)];
        }
        fetched.hashes[i] = record.hash;
        fetched.rows[i] = record.row;
        if constexpr (is_wide) fetched.lower[i] = side.first_pass.lower[tile.first + in_tile(i)];
      }
    } else {
      STRATA_UNROLL
      for (int i = 0; i < items; ++i) {
        if (in_tile(i) >= tile.rows) continue;
        const iterator_value_t<Keys>& key = side.keys[tile.first + in_tile(i)];
        if constexpr (holds_keys) {
          fetched.keys[i] = key;
        } else {
          fetched.hashes[i] = detail::upper_half(detail::join_hash<iterator_value_t<Keys>, Equal>(hash_, key));
        }
        if constexpr (numbers_rows) fetched.rows[i] = side.keys.number(tile.first + in_tile(i));
      }
      if (side.valid == nullptr) return;
      STRATA_UNROLL
      for (int i = 0; i < items; ++i) {
        if (in_tile(i) < tile.rows && !detail::join_row_is_valid(side.valid, tile.first + in_tile(i))) {
          fetched.nulls |= 1u << i;
        }
      }
    }
  }

  STRATA_D void prepare(const prefetched_rows& fetched, rows_of_tile& rows) const {
    rows.nulls = fetched.nulls;
    STRATA_UNROLL
    for (int i = 0; i < items; ++i) {
      if constexpr (is_second) {
        rows.hashes[i] = fetched.hashes[i];
        rows.rows[i] = fetched.rows[i];
        if constexpr (is_wide) rows.lower[i] = fetched.lower[i];
      } else if constexpr (holds_keys) {
        const unsigned long long hash = detail::join_hash<iterator_value_t<Keys>, Equal>(hash_, fetched.keys[i]);
        rows.hashes[i] = upper_half(hash);
        if constexpr (is_wide) rows.lower[i] = static_cast<unsigned>(hash);
      } else {
        rows.hashes[i] = fetched.hashes[i];
      }
      if constexpr (numbers_rows) rows.rows[i] = fetched.rows[i];
    }
  }

  STRATA_D void rank(rows_of_tile& rows, unsigned count) {
    STRATA_UNROLL
    for (int i = 0; i < items; ++i) {
      unsigned rank = 0;
      if (in_tile(i) < count) rank = atomicAdd(counts_ + bin_of(rows, i), 1u);
      rows.ranks.set(i, rank);
    }
  }

  STRATA_D unsigned bins_each() const { return bins_ > threads ? bins_ / threads : 1; }

  // For each bin: reserves a range of its partition, and computes the begin of its rows in the tile. The
  // atomic additions return while the scan runs. `record(bin, begin, count)` is called for each range.
  template <class Record>
  STRATA_D void reserve(unsigned* cursors, bool drops_nulls, unsigned (&offsets)[max_each], unsigned& null_offset,
                        const Record& record) {
    const unsigned each = bins_each(), first = threadIdx.x * each;
    unsigned sum = 0;
    STRATA_UNROLL
    for (unsigned k = 0; k < max_each; ++k) {
      offsets[k] = 0;
      if (k >= each || first + k >= bins_) continue;
      const unsigned count = counts_[first + k];
      sum += count;
      if (count != 0) offsets[k] = atomicAdd(cursors + first + k, count);
    }
    unsigned begin = 0, all = 0;
    Scan(storage_.scan).ExclusiveSum(sum, begin, all);
    STRATA_UNROLL
    for (unsigned k = 0; k < max_each; ++k) {
      if (k >= each || first + k >= bins_) continue;
      const unsigned count = counts_[first + k];
      record(first + k, offsets[k], count);
      counts_[first + k] = begin;
      offsets[k] -= begin;
      begin += count;
    }
    if (threadIdx.x != 0) return;
    storage_.first_null = all;
    const unsigned nulls = drops_nulls ? 0 : counts_[bins_];
    counts_[bins_] = all;
    if (nulls != 0) null_offset = atomicAdd(cursors + bins_, nulls) - all;
    record(bins_, null_offset + all, nulls);
  }

  template <bool HasRowIds>
  STRATA_D void scatter(const rows_of_tile& rows, const join_tile& tile) {
    STRATA_UNROLL
    for (int i = 0; i < items; ++i) {
      if (in_tile(i) >= tile.rows) continue;
      const unsigned rank = rows.ranks.get(i);
      const unsigned at = counts_[bin_of(rows, i)] + rank;
      if constexpr (HasRowIds) {
        unsigned row = tile.first + in_tile(i);
        if constexpr (is_second || numbers_rows) {
          if (is_second || ((rows.nulls >> i & 1) == 0 && !is_overflowing(rows.hashes[i]))) row = rows.rows[i];
        }
        records_[at] = {rows.hashes[i], row};
      } else {
        hashes()[at] = rows.hashes[i];
      }
      if constexpr (is_wide) lower_[at] = rows.lower[i];
    }
  }

  // A record of an overflowing partition has the row's index, because the table in global memory needs it. Other
  // records may have the row's number (join_numbered_keys) or its position in partitioned columns instead.
  STRATA_D bool is_overflowing(unsigned hash) const {
    return is_overflowing_ != nullptr && is_overflowing_[join_partition_of(hash, plan_.bits)] != 0;
  }

  STRATA_D void store_deltas(const unsigned (&offsets)[max_each], unsigned null_offset) {
    const unsigned each = bins_each(), first = threadIdx.x * each;
    STRATA_UNROLL
    for (unsigned k = 0; k < max_each; ++k) {
      if (k < each && first + k < bins_) deltas_[first + k] = offsets[k];
    }
    if (threadIdx.x == 0) deltas_[bins_] = null_offset;
  }

  template <bool HasRowIds, bool MayWritePositions>
  STRATA_D void write(const Side& side, unsigned count, bool writes_positions) const {
    const join_records out = Pass == join_pass::first ? side.first_pass : side.partitioned;
    const unsigned with_key = storage_.first_null;
    STRATA_UNROLL_N(4)
    for (unsigned i = threadIdx.x; i < with_key; i += threads) {
      unsigned to = 0;
      if constexpr (HasRowIds) {
        join_record record = records_[i];
        to = deltas_[bin_of(record.hash)] + i;
        if (MayWritePositions && writes_positions && !is_overflowing(record.hash)) record.row = to;
        out.records[to] = record;
      } else {
        const unsigned hash = hashes()[i];
        to = deltas_[bin_of(hash)] + i;
        out.hashes()[to] = hash;
      }
      if constexpr (is_wide) out.lower[to] = lower_[i];
    }
    if constexpr (HasRowIds) {
      // Rows without a key have one partition, which a second pass does not move.
      for (unsigned i = with_key + threadIdx.x; !side.drops_nulls && i < count; i += threads) {
        side.partitioned.records[deltas_[bins_] + i] = records_[i];
      }
    }
  }

  // The hashes of a tile without row ids, which has no records.
  STRATA_D unsigned* hashes() const { return reinterpret_cast<unsigned*>(records_); }

  TempStorage& storage_;
  join_record* records_;
  unsigned* lower_;
  unsigned* counts_;
  const join_partition_plan& plan_;
  unsigned tile_rows_, build_rows_, probe_rows_;
  int bits_;
  unsigned bins_;
  unsigned* deltas_;
  unsigned* pass_tiles_;
  const unsigned* is_overflowing_;  // null: no partition is, or all records have indices anyway
  const Hash& hash_;
};

}  // namespace detail
STRATA_NAMESPACE_END
