// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN

/// How a join by partitions is cut.
struct join_partition_tuning {
  /// One block a multiprocessor: few long runs of rows for each partition.
  int partition_threads;
  int partition_items;
  int join_threads;
  int join_items;
  /// Build rows of a partition on average, at most, and partitions as a power of two, at least.
  int partition_rows;
  int least_bits;
};

namespace detail {

/// Partitions, as a power of two, at most: their counters are in shared memory.
inline constexpr int most_join_partition_bits = 13;
/// Build rows that a table in shared memory has room for, at most: its offsets have 16 bits.
inline constexpr unsigned most_join_table_rows = 21000;
/// A key that more build rows have, or keys that share a bucket, make the walk of a thread long:
/// their partition is joined by the table in global memory.
inline constexpr unsigned most_join_bucket_rows = 64;

/// What a join by partitions does with sides of so many rows. Depends on nothing else.
struct join_partition_plan {
  int bits;
  /// Buckets of a table, as a power of two, and rows that it has room for.
  int bucket_bits;
  unsigned table_rows;
  /// Probe rows of a unit of work, about; a partition has one or more units.
  unsigned unit_rows;
  bool is_possible;

  STRATA_HD constexpr unsigned partitions() const { return 1u << bits; }
  /// Bytes of shared memory of a table.
  constexpr std::size_t table_bytes() const {
    return (std::size_t{2} << bucket_bits) + std::size_t{table_rows} * 8 +
           (std::size_t{table_rows} / 32 + 1) * 4;
  }
};

constexpr join_partition_plan plan_join_partitions(std::uint64_t build_rows,
                                                   std::uint64_t probe_rows,
                                                   const join_partition_tuning& tuning) {
  int bits = tuning.least_bits;
  const auto fitting = static_cast<std::uint64_t>(tuning.partition_rows);
  while (bits < most_join_partition_bits && build_rows >> bits > fitting) ++bits;
  const std::uint64_t rows_each = (build_rows >> bits) + 1;
  join_partition_plan plan{bits, 5, 0, 0, false};
  while (plan.bucket_bits < 14 && std::uint64_t{1} << plan.bucket_bits < rows_each) {
    ++plan.bucket_bits;
  }
  // Room for chance: sizes spread by the square root of the average, times that of the repeats.
  const std::uint64_t wanted = rows_each + rows_each / 8 + 256;
  plan.is_possible = rows_each + rows_each / 16 <= most_join_table_rows;
  plan.table_rows =
      wanted < most_join_table_rows ? static_cast<unsigned>(wanted) : most_join_table_rows;
  const std::uint64_t unit = 4 * (probe_rows >> bits) + 4096;
  plan.unit_rows = unit < 0x40000000u ? static_cast<unsigned>(unit) : 0x40000000u;
  return plan;
}

}  // namespace detail
STRATA_NAMESPACE_END
