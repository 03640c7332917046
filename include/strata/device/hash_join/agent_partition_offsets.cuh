// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/hash_join/join_partitions.cuh>
#include <strata/device/hash_join/join_types.hpp>
#include <strata/device/hash_join/partition_plan.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// By one block: turns the numbers of rows of partitions into where they begin, and into units of
/// work. `Partitions` is a join_partitions.
template <class Partitions, int BlockThreads>
struct AgentJoinOffsets {
  /// Two numbers side by side in one word, so that one scan serves for both.
  using Pair = unsigned long long;
  using Scan = BlockScan<Pair, BlockThreads, BLOCK_SCAN_WARP_SCANS>;
  static constexpr unsigned threads = BlockThreads;

  struct TempStorage {
    typename Scan::TempStorage rows;
    typename Scan::TempStorage units;
  };

  TempStorage& storage;
  const Partitions& join;

  STRATA_D void run() const {
    // Behind the partitions come the rows without a key, then where those end.
    const unsigned all = join.plan.partitions() + 1;
    Pair begins = 0;
    Pair units = 0;
    for (unsigned base = 0; base < all; base += threads * most_each) {
      __syncthreads();
      put_some(base, all, begins, units);
    }
    if (threadIdx.x != 0) return;
    join.build.begins[all] = lower_half(begins);
    join.probe.begins[all] = upper_half(begins);
    *join.num_pieces = lower_half(units);
    *join.num_units = lower_half(units) + upper_half(units);
  }

  /// Of tiles of `tile` rows, which have rows of one partition of the first pass only.
  STRATA_D void cut_second_pass(unsigned tile) const {
    __syncthreads();
    const unsigned one_side = 1u << join.plan.first_bits;
    const int bits = join.plan.bits_of_pass(true);
    const unsigned each = (2 * one_side + threads - 1) / threads;
    const unsigned first = threadIdx.x * each;
    Pair sum = 0;
    for (unsigned i = first; i < first + each && i < 2 * one_side; ++i) {
      sum += tiles_of(i, one_side, bits, tile);
    }
    Pair end = 0;
    Scan(storage.rows).ExclusiveSum(sum, end);
    for (unsigned i = first; i < first + each && i < 2 * one_side; ++i) {
      end += tiles_of(i, one_side, bits, tile);
      join.pass_tiles[i] = static_cast<unsigned>(end);
    }
  }

 private:
  // Partitions of a thread at a time.
  static constexpr unsigned most_each = 4;

  STRATA_D static Pair both(unsigned lower, unsigned upper) { return Pair{upper} << 32 | lower; }
  STRATA_D static unsigned lower_half(Pair pair) { return static_cast<unsigned>(pair); }

  // Of partitions from `base` on. `begins` and `units` are those of all before, then of these too.
  STRATA_D void put_some(unsigned base, unsigned all, Pair& begins, Pair& units) const {
    const unsigned left = all - base;
    const unsigned even = (left + threads - 1) / threads;
    const unsigned each = even < most_each ? even : most_each;
    const unsigned first = threadIdx.x * each < left ? threadIdx.x * each : left;
    const unsigned here = each < left - first ? each : left - first;
    // On their way together.
    unsigned build_rows[most_each];
    unsigned probe_rows[most_each];
    STRATA_UNROLL
    for (unsigned k = 0; k < most_each; ++k) {
      const unsigned p = base + first + k;
      build_rows[k] = k < here ? platform::load_relaxed(join.build.cursors + p) : 0;
      probe_rows[k] = k < here ? platform::load_relaxed(join.probe.cursors + p) : 0;
    }
    Pair rows_here = 0;
    Pair units_here = 0;
    STRATA_UNROLL
    for (unsigned k = 0; k < most_each; ++k) {
      rows_here += both(build_rows[k], probe_rows[k]);
      if (k < here) units_here += counted(units_of(base + first + k, build_rows[k], probe_rows[k]));
    }
    Pair begin = 0;
    Pair all_rows = 0;
    Pair unit = 0;
    Pair all_units = 0;
    Scan(storage.rows).ExclusiveSum(rows_here, begin, all_rows);
    Scan(storage.units).ExclusiveSum(units_here, unit, all_units);
    begin += begins;
    unit += units;
    STRATA_UNROLL
    for (unsigned k = 0; k < most_each; ++k) {
      if (k >= here) continue;
      const unsigned p = base + first + k;
      if (is_heavy(p, build_rows[k], probe_rows[k])) {
        join.is_heavy[p] = 1;
        platform::store_relaxed(join.any_is_heavy, 1u);
      }
      unit += put_units(unit, p, build_rows[k], probe_rows[k]);
      put_begins(p, lower_half(begin), upper_half(begin));
      begin += both(build_rows[k], probe_rows[k]);
    }
    begins += all_rows;
    units += all_units;
  }

  STRATA_D bool is_heavy(unsigned p, unsigned build_rows, unsigned probe_rows) const {
    if (build_rows == 0 && probe_rows == 0) return false;
    constexpr unsigned tables = Partitions::hash_is_key ? most_join_tables : 1;
    // Each of several tables would give a row the one partner that a broken promise leaves it, or
    // find it alone.
    const bool may_have_several = join.kind == JoinKind::inner && !join.promised_unique;
    const unsigned most_rows = join.plan.table_rows * (may_have_several ? tables : 1);
    return p == join.plan.partitions() || build_rows > most_rows ||
           (join.kind == JoinKind::full && probe_rows / 16 > join.plan.unit_rows);
  }

  STRATA_D unsigned units_of(unsigned p, unsigned build_rows, unsigned probe_rows) const {
    if ((build_rows == 0 && probe_rows == 0) || is_heavy(p, build_rows, probe_rows)) return 0;
    // One block sees who is found.
    if (join.kind == JoinKind::full) return 1;
    if (build_rows == 0 && join.kind != JoinKind::left && join.kind != JoinKind::anti) return 0;
    if (probe_rows <= join.plan.unit_rows) return probe_rows != 0 ? 1 : 0;
    const unsigned piece = join.plan.piece_rows;
    return probe_rows / piece + (probe_rows % piece != 0 ? 1 : 0);
  }

  // Pieces of partitions, which are many, and whole partitions apart: the former begin first.
  STRATA_D static Pair counted(unsigned units) {
    return units > 1 ? both(units, 0) : both(0, units);
  }

  // Behind those of `before`; returns how many.
  STRATA_D Pair put_units(Pair before, unsigned p, unsigned build_rows, unsigned probe_rows) const {
    const unsigned units = units_of(p, build_rows, probe_rows);
    if (units == 1) join.units[join.plan.place_of_whole(upper_half(before))] = {p, 0, probe_rows};
    if (units > 1) {
      const unsigned piece = probe_rows / units + (probe_rows % units != 0 ? 1 : 0);
      for (unsigned k = 0; k < units; ++k) {
        // Rounded up, so that the last ones may have fewer rows, or none.
        const unsigned begin = k * piece < probe_rows ? k * piece : probe_rows;
        const unsigned left = probe_rows - begin;
        join.units[lower_half(before) + k] = {p, begin, left < piece ? left : piece};
      }
    }
    return counted(units);
  }

  STRATA_D void put_begins(unsigned p, unsigned build_begin, unsigned probe_begin) const {
    join.build.begins[p] = build_begin;
    join.probe.begins[p] = probe_begin;
    join.build.cursors[p] = build_begin;
    join.probe.cursors[p] = probe_begin;
    if (!join.plan.has_two_passes()) return;
    const int bits = join.plan.bits_of_pass(true);
    if ((p & ((1u << bits) - 1)) != 0) return;
    join.build.pass_cursors[p >> bits] = build_begin;
    join.probe.pass_cursors[p >> bits] = probe_begin;
  }

  STRATA_D unsigned tiles_of(unsigned i, unsigned one_side, int bits, unsigned tile) const {
    const unsigned* const begins = i < one_side ? join.build.begins : join.probe.begins;
    const unsigned p = i & (one_side - 1);
    const unsigned rows = begins[(p + 1) << bits] - begins[p << bits];
    return rows / tile + (rows % tile != 0 ? 1 : 0);
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
