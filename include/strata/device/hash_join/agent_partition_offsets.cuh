// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/hash_join/agent_join_partition.cuh>
#include <strata/device/hash_join/agent_partition.cuh>
#include <strata/device/hash_join/join_types.hpp>
#include <strata/device/hash_join/partition_plan.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// By one block: turns the numbers of rows of partitions into where they begin, and into units of
/// work. `Partitions` is a join_partitions.
template <class Partitions, int BlockThreads>
struct AgentJoinOffsets {
  using Scan = BlockScan<unsigned, BlockThreads, BLOCK_SCAN_WARP_SCANS>;
  static constexpr unsigned threads = BlockThreads;

  struct TempStorage {
    typename Scan::TempStorage build;
    typename Scan::TempStorage probe;
    typename Scan::TempStorage units;
  };

  TempStorage& storage;
  const Partitions& join;

  STRATA_D void run() const {
    // Behind the partitions come the rows without a key, then where those end.
    const unsigned all = join.plan.partitions() + 1;
    const unsigned each = (all + threads - 1) / threads;
    const unsigned first = threadIdx.x * each < all ? threadIdx.x * each : all;
    const unsigned here = first + each < all ? each : all - first;
    // On their way together.
    unsigned build_rows[most_each];
    unsigned probe_rows[most_each];
    STRATA_UNROLL
    for (unsigned k = 0; k < most_each; ++k) {
      build_rows[k] = k < here ? join.build.cursors[first + k] : 0;
      probe_rows[k] = k < here ? join.probe.cursors[first + k] : 0;
    }
    unsigned build_sum = 0;
    unsigned probe_sum = 0;
    unsigned units = 0;
    STRATA_UNROLL
    for (unsigned k = 0; k < most_each; ++k) {
      build_sum += build_rows[k];
      probe_sum += probe_rows[k];
      if (k < here) units += units_of(first + k, build_rows[k], probe_rows[k]);
    }
    unsigned build_begin = 0;
    unsigned probe_begin = 0;
    unsigned unit = 0;
    unsigned all_units = 0;
    Scan(storage.build).ExclusiveSum(build_sum, build_begin);
    Scan(storage.probe).ExclusiveSum(probe_sum, probe_begin);
    Scan(storage.units).ExclusiveSum(units, unit, all_units);
    if (threadIdx.x == 0) *join.num_units = all_units;
    STRATA_UNROLL
    for (unsigned k = 0; k < most_each; ++k) {
      if (k >= here) continue;
      const unsigned p = first + k;
      if (is_heavy(p, build_rows[k], probe_rows[k])) {
        join.is_heavy[p] = 1;
        platform::store_relaxed(join.any_is_heavy, 1u);
      }
      unit = put_units(unit, p, build_rows[k], probe_rows[k]);
      put_begins(p, build_begin, probe_begin);
      build_begin += build_rows[k];
      probe_begin += probe_rows[k];
    }
    if (here > 0 && first + here == all) {
      join.build.begins[all] = build_begin;
      join.probe.begins[all] = probe_begin;
    }
  }

  /// Of tiles of `tile` rows, which have rows of one partition of the first pass only.
  STRATA_D void cut_second_pass(unsigned tile) const {
    __syncthreads();
    const unsigned one_side = 1u << join.plan.first_bits;
    const int bits = join.plan.bits_of_pass(true);
    const unsigned each = (2 * one_side + threads - 1) / threads;
    const unsigned first = threadIdx.x * each;
    unsigned sum = 0;
    for (unsigned i = first; i < first + each && i < 2 * one_side; ++i) {
      sum += tiles_of(i, one_side, bits, tile);
    }
    unsigned end = 0;
    Scan(storage.build).ExclusiveSum(sum, end);
    for (unsigned i = first; i < first + each && i < 2 * one_side; ++i) {
      end += tiles_of(i, one_side, bits, tile);
      join.pass_tiles[i] = end;
    }
  }

 private:
  static constexpr unsigned most_each = (1u << most_join_partition_bits) / threads + 1;

  STRATA_D bool is_heavy(unsigned p, unsigned build_rows, unsigned probe_rows) const {
    if (build_rows == 0 && probe_rows == 0) return false;
    return p == join.plan.partitions() || build_rows > join.plan.table_rows ||
           (join.kind == JoinKind::full && probe_rows / 16 > join.plan.unit_rows);
  }

  STRATA_D unsigned units_of(unsigned p, unsigned build_rows, unsigned probe_rows) const {
    if ((build_rows == 0 && probe_rows == 0) || is_heavy(p, build_rows, probe_rows)) return 0;
    // One block sees who is found.
    if (join.kind == JoinKind::full) return 1;
    if (build_rows == 0 && join.kind != JoinKind::left && join.kind != JoinKind::anti) return 0;
    return probe_rows / join.plan.unit_rows + (probe_rows % join.plan.unit_rows != 0 ? 1 : 0);
  }

  // From number `unit` on; returns the number behind them.
  STRATA_D unsigned put_units(unsigned unit, unsigned p, unsigned build_rows,
                              unsigned probe_rows) const {
    const unsigned units = units_of(p, build_rows, probe_rows);
    const unsigned unit_rows = units > 1 ? (probe_rows + units - 1) / units : probe_rows;
    for (unsigned k = 0; k < units; ++k) {
      // Rounded up, so that the last ones may have fewer rows, or none.
      const unsigned begin = k * unit_rows < probe_rows ? k * unit_rows : probe_rows;
      const unsigned left = probe_rows - begin;
      join.units[unit + k] = {p, begin, left < unit_rows ? left : unit_rows};
    }
    return unit + units;
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
