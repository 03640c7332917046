// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN

enum class join_pass { only, first, second };

/// How a join by partitions is cut.
struct join_partition_tuning {
  /// One block a multiprocessor: few long runs of rows for each partition. Rows of a thread in the
  /// only pass, or in the first and the second one; the same where records have 12 bytes, for
  /// integers of 8 bytes.
  int partition_threads;
  int items_of_pass[3];
  int wide_items_of_pass[3];
  int join_threads;
  int join_items;
  /// What registers must allow; and threads of a block that is alone, because its table is large.
  int join_blocks_per_multiprocessor;
  int large_join_threads;
  /// Build rows of a partition on average, at most, where they take 4 bytes each in shared memory
  /// and where they take 8.
  int partition_rows;
  int wide_partition_rows;
  /// Partitions as a power of two, at least, and at most in one pass.
  int least_bits;
  int one_pass_bits;
  /// With so many bits or fewer, records go in an only pass as in the first of two.
  int short_tile_bits;
  /// Probe rows of a unit for which it pays, where keys have several build rows each, to begin again
  /// in the kernel that writes results of many.
  unsigned least_repeated_rows = 8192;
  /// Build rows that a table has room for, at least, so that few frequent keys do not need several.
  unsigned least_table_rows = 2048;

  STRATA_HD constexpr int threads_of_join(bool is_large) const {
    return is_large ? large_join_threads : join_threads;
  }
  STRATA_HD constexpr int blocks_of_join(bool is_large) const {
    return is_large ? 1 : join_blocks_per_multiprocessor;
  }
  STRATA_HD constexpr int items(join_pass pass, bool is_wide) const {
    return (is_wide ? wide_items_of_pass : items_of_pass)[static_cast<int>(pass)];
  }
};

namespace detail {

/// Partitions, as a power of two, at most: while rows are counted, that is in shared memory.
inline constexpr int most_join_partition_bits = 14;
/// The same of one pass.
inline constexpr int most_join_pass_bits = 11;
/// Build rows that a table in shared memory has room for, at most: its offsets have 16 bits.
inline constexpr unsigned most_join_table_rows = 40000;
/// Static shared memory of the kernels of a join by partitions, at most.
inline constexpr std::size_t join_static_shared_bytes = 3072;
/// A thread walks through a bucket of so many rows, at most. Larger ones, of keys that many build rows
/// have, are sorted by hash. Where keys are more than their hashes, no order helps: such a partition
/// is joined by the table in global memory.
inline constexpr unsigned most_join_bucket_rows = 64;
/// Rows that share the bucket of a row, itself included, on average, from which on keys are taken
/// for repeated: two where all are different and buckets have one row on average.
inline constexpr unsigned repeated_join_rows = 4;
/// A partition with more build rows than a table has room for is joined by so many tables, one after
/// another, at most; by the table in global memory beyond that, whose work is shared by all blocks.
inline constexpr unsigned most_join_tables = 16;

/// For counts of all partitions and of the rows without a key: a multiple of 8.
constexpr std::size_t join_count_bytes(int bits) {
  return ((std::size_t{1} << bits) + 2) * sizeof(unsigned);
}

/// What a join by partitions does with sides of so many rows. Depends on nothing else.
struct join_partition_plan {
  int bits;
  /// Of the first of two passes, or 0.
  int first_bits;
  /// Buckets of a table, as a power of two, and rows that it has room for.
  int bucket_bits;
  unsigned table_rows;
  /// A partition with at most so many probe rows is one unit of work; others are cut into pieces of
  /// `piece_rows`, or less.
  unsigned unit_rows;
  unsigned piece_rows;
  int entry_bytes;
  bool is_possible;

  STRATA_HD constexpr bool has_two_passes() const { return first_bits != 0; }
  STRATA_HD constexpr int bits_of_pass(bool is_second) const {
    if (is_second) return bits - first_bits;
    return has_two_passes() ? first_bits : bits;
  }
  STRATA_HD constexpr unsigned partitions() const { return 1u << bits; }
  /// On average, rounded up.
  constexpr std::uint64_t rows_each(std::uint64_t rows) const {
    return (rows + (partitions() - 1)) >> bits;
  }
  /// No more units than so many, however rows are spread.
  STRATA_HD constexpr unsigned most_units() const { return 2 * partitions() + 1; }
  /// Units that are pieces of partitions lie at the beginning, whole partitions from the end on.
  STRATA_HD constexpr unsigned place_of_whole(unsigned rank) const {
    return most_units() - 1 - rank;
  }

  /// Parts of a table in shared memory, in bytes: 16 of zeros, ends of buckets, entries, and in a
  /// full join a bit for each row.
  STRATA_HD constexpr std::size_t bytes_before_entries() const {
    return 16 + (std::size_t{2} << bucket_bits);
  }
  STRATA_HD constexpr std::size_t bytes_before_found() const {
    return bytes_before_entries() +
           (std::size_t{table_rows} * static_cast<unsigned>(entry_bytes) + 3) / 4 * 4;
  }
  /// All parts, a multiple of 16.
  STRATA_HD constexpr std::size_t table_bytes(bool is_full) const {
    const std::size_t bytes =
        bytes_before_found() + (is_full ? (std::size_t{table_rows} / 32 + 1) * 4 : 0);
    return (bytes + 15) / 16 * 16;
  }
};

/// `is_wide` says that entries of a table have 8 bytes, `two_passes` that there shall be two.
constexpr join_partition_plan plan_join_partitions(std::uint64_t build_rows,
                                                   std::uint64_t probe_rows,
                                                   const join_partition_tuning& tuning,
                                                   bool is_wide, bool two_passes) {
  join_partition_plan plan{tuning.least_bits, 0, 5, 0, 0, 0, is_wide ? 8 : 4, false};
  const auto fitting =
      static_cast<std::uint64_t>(is_wide ? tuning.wide_partition_rows : tuning.partition_rows);
  while (plan.bits < most_join_partition_bits && build_rows > fitting << plan.bits) ++plan.bits;
  // Tables of twice as many rows, of which a multiprocessor holds one, cost less than a pass.
  if (!two_passes && plan.bits == tuning.one_pass_bits + 1) plan.bits = tuning.one_pass_bits;
  if ((two_passes && plan.bits > 1) || plan.bits > tuning.one_pass_bits) {
    plan.first_bits = plan.bits / 2;
  }
  const std::uint64_t rows_each = plan.rows_each(build_rows);
  // As many buckets as rows: then an entry has room for a row number and what of a hash neither
  // the partition nor the bucket tells.
  while (plan.bucket_bits < 15 && std::uint64_t{1} << plan.bucket_bits < rows_each) {
    ++plan.bucket_bits;
  }
  // Room for chance: sizes spread by the square root of the average, times that of the repeats.
  const std::uint64_t eighth = rows_each / 8;
  const std::uint64_t most_room = rows_each / 16 + 256;
  const std::uint64_t room = eighth < most_room ? eighth : most_room;
  std::uint64_t wanted = rows_each + room + 256;
  if (wanted < tuning.least_table_rows) wanted = tuning.least_table_rows;
  plan.is_possible = rows_each + rows_each / 16 <= most_join_table_rows &&
                     build_rows <= std::uint64_t{1} << (plan.bits + plan.bucket_bits);
  plan.table_rows =
      wanted < most_join_table_rows ? static_cast<unsigned>(wanted) : most_join_table_rows;
  const std::uint64_t probe_each = probe_rows >> plan.bits;
  const std::uint64_t unit = probe_each + probe_each / 4 + 1024;
  plan.unit_rows = unit < 0x40000000u ? static_cast<unsigned>(unit) : 0x40000000u;
  // Pieces of frequent keys make a table each anew: that must not be most of their work, nor need there
  // be more of them than keep all blocks busy.
  constexpr std::uint64_t enough_pieces = 1024;
  std::uint64_t piece = unit > 4 * rows_each ? unit : 4 * rows_each;
  if (piece < probe_rows / enough_pieces) piece = probe_rows / enough_pieces;
  plan.piece_rows = piece < 0x40000000u ? static_cast<unsigned>(piece) : 0x40000000u;
  return plan;
}

/// The same of a build side that fits one table, which each block has.
constexpr join_partition_plan plan_direct_join(std::uint64_t build_rows, bool is_wide) {
  join_partition_plan plan{0, 0, 5, 0, 0, 0, is_wide ? 8 : 4, false};
  while (plan.bucket_bits < 15 && std::uint64_t{1} << plan.bucket_bits < build_rows) {
    ++plan.bucket_bits;
  }
  plan.is_possible = build_rows <= std::uint64_t{1} << plan.bucket_bits;
  plan.table_rows = static_cast<unsigned>(build_rows);
  return plan;
}

}  // namespace detail
STRATA_NAMESPACE_END
