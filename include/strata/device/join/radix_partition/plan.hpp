// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/join/common/tuning.hpp>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN

namespace detail {

/// At most 2^max_join_partition_bits partitions: the counting kernel has a counter of each in shared memory.
inline constexpr int max_join_partition_bits = 14;
/// One pass makes at most 2^max_join_pass_bits partitions.
inline constexpr int max_join_pass_bits = 11;
/// The capacity of a table in shared memory, at most: its offsets have 16 bits.
inline constexpr unsigned max_join_table_rows = 40000;
/// A larger bucket is oversized. A thread scans other buckets entry by entry. Oversized ones come from keys with many
/// build rows and are sorted by hash. If equal hashes do not mean equal keys, sorting does not help, and the table in
/// global memory joins the partition.
inline constexpr unsigned max_join_bucket_rows = 64;
/// Keys are taken for duplicates if a row shares its bucket with so many rows on average, itself
/// included. If all keys are different, and buckets have one row on average, this average is two.
inline constexpr unsigned duplicate_join_rows = 4;
/// If the build rows of a partition do not fit one table, an inner join may take up to this many tables, one after
/// another (see AgentJoinOffsets::is_overflowing). If these do not suffice, or only one table is allowed, the partition
/// overflows: the table in global memory joins it, and all blocks share that work.
inline constexpr unsigned max_join_tables = 16;

/// Bytes for counters of all partitions and of the rows without a key: a multiple of 8.
STRATA_HD constexpr std::size_t join_count_bytes(int bits) { return ((std::size_t{1} << bits) + 2) * sizeof(unsigned); }

/// Rows of a tile, at most `largest`, so that `blocks` blocks have the same number of tiles. For that, tiles may have
/// far fewer rows than `largest`. The last tile of each of two sides may be short.
STRATA_HD constexpr unsigned even_join_tile(unsigned long long rows, unsigned blocks, unsigned largest) {
  const unsigned long long turns = ceiling_divide<unsigned long long>(rows / largest + 2, blocks);
  const unsigned long long even = round_up<unsigned long long>(rows / (turns * blocks - 1) + 1, 32);  // whole warps
  return even < largest ? static_cast<unsigned>(even) : largest;
}

/// Partitions, tables and work items of a join by partitions. They depend on the numbers of rows and the tuning only.
struct join_partition_plan {
  /// There are 2^bits partitions.
  int bits = 0;
  /// Bits of the first of two passes, or 0.
  int first_bits = 0;
  /// A table has 2^bucket_bits buckets and capacity for `table_rows` rows.
  int bucket_bits = 5;
  unsigned table_rows = 0;
  /// A partition with at most `work_item_rows` probe rows is one work item. Others are cut into pieces of at most
  /// `piece_rows` probe rows, each of which is a work item. In a full join, no partition is cut.
  unsigned work_item_rows = 0;
  unsigned piece_rows = 0;
  int entry_bytes = 4;
  bool is_possible = false;

  STRATA_HD constexpr bool has_two_passes() const { return first_bits != 0; }
  STRATA_HD constexpr int bits_of_pass(bool is_second) const {
    if (is_second) return bits - first_bits;
    return has_two_passes() ? first_bits : bits;
  }
  STRATA_HD constexpr unsigned partitions() const { return 1u << bits; }
  /// Rows of a partition on average, rounded up.
  constexpr std::uint64_t rows_each(std::uint64_t rows) const { return (rows + (partitions() - 1)) >> bits; }
  /// An upper bound of the number of work items, whatever the distribution of the rows.
  STRATA_HD constexpr unsigned max_work_items() const { return 2 * partitions() + 1; }
  /// The array of work items has pieces of partitions from its begin on and whole partitions from its end backwards.
  STRATA_HD constexpr unsigned index_of_whole(unsigned rank) const { return max_work_items() - 1 - rank; }

  /// Layout of a table in shared memory: 16 bytes of zeros, the ends of buckets, entries, and in a full
  /// join a bit for each row.
  STRATA_HD constexpr std::size_t bytes_before_entries() const { return 16 + (std::size_t{2} << bucket_bits); }
  STRATA_HD constexpr std::size_t bytes_before_found() const {
    return bytes_before_entries() + (std::size_t{table_rows} * static_cast<unsigned>(entry_bytes) + 3) / 4 * 4;
  }
  /// Bytes of all parts, a multiple of 16.
  STRATA_HD constexpr std::size_t table_bytes(bool is_full) const {
    const std::size_t bytes = bytes_before_found() + (is_full ? (std::size_t{table_rows} / 32 + 1) * 4 : 0);
    return (bytes + 15) / 16 * 16;
  }
};

/// The most bits of buckets with which a multiprocessor has room for a second table.
inline constexpr int max_numbered_bucket_bits = 14;

/// `is_wide`: entries of a table have 8 bytes. `two_passes`: partition in two passes in any case. `has_numbers`: rows
/// have numbers up to twice the number of rows, for which entries shall have room.
constexpr join_partition_plan plan_join_partitions(std::uint64_t build_rows, std::uint64_t probe_rows,
                                                   const join_partition_tuning& tuning, bool is_wide, bool two_passes,
                                                   bool has_numbers = false) {
  join_partition_plan plan;
  plan.bits = tuning.min_bits;
  plan.entry_bytes = is_wide ? 8 : 4;
  const auto fitting = static_cast<std::uint64_t>(tuning.rows_of_table(is_wide));
  while (plan.bits < max_join_partition_bits && build_rows > fitting << plan.bits) ++plan.bits;
  // Tables of twice as many rows, one to a multiprocessor, cost less than a second pass.
  if (!two_passes && plan.bits == tuning.one_pass_bits + 1) plan.bits = tuning.one_pass_bits;
  if (has_numbers && plan.bits > tuning.one_pass_bits && plan.bits < max_join_partition_bits) ++plan.bits;
  if ((two_passes && plan.bits > 1) || plan.bits > tuning.one_pass_bits) {
    plan.first_bits = plan.bits / 2;
  }
  const std::uint64_t rows_each = plan.rows_each(build_rows);
  // As many buckets as rows. An entry then holds a row number and all bits of the hash that neither the
  // partition nor the bucket determines.
  while (plan.bucket_bits < 15 && std::uint64_t{1} << plan.bucket_bits < rows_each) {
    ++plan.bucket_bits;
  }
  // With one more bit, there are twice as many buckets: an entry has one bit less of the hash, and one more for a
  // number.
  if (has_numbers && plan.bucket_bits < max_numbered_bucket_bits) ++plan.bucket_bits;
  // Slack for random variation: if a key has m rows, the standard deviation of a partition's size is the square root of
  // (average size * m).
  const std::uint64_t eighth = rows_each / 8;
  const std::uint64_t max_slack = rows_each / 16 + 256;
  const std::uint64_t slack = detail::least(eighth, max_slack);
  std::uint64_t wanted = rows_each + slack + 256;
  if (wanted < tuning.min_table_rows) wanted = tuning.min_table_rows;
  plan.is_possible = rows_each + rows_each / 16 <= max_join_table_rows &&
                     build_rows <= std::uint64_t{1} << (plan.bits + plan.bucket_bits);
  plan.table_rows = wanted < max_join_table_rows ? static_cast<unsigned>(wanted) : max_join_table_rows;
  const std::uint64_t probe_each = probe_rows >> plan.bits;
  const std::uint64_t rows = probe_each + probe_each / 4 + 1024;
  plan.work_item_rows = rows < 0x40000000u ? static_cast<unsigned>(rows) : 0x40000000u;
  // Each piece of a partition builds the table again. That must not be most of its work.
  std::uint64_t piece = detail::most(rows, 4 * rows_each);
  if (piece < probe_rows / tuning.max_pieces) piece = probe_rows / tuning.max_pieces;
  plan.piece_rows = piece < 0x40000000u ? static_cast<unsigned>(piece) : 0x40000000u;
  return plan;
}

/// The plan for a build side that fits one table, which each block builds.
constexpr join_partition_plan plan_one_join_table(std::uint64_t build_rows, bool is_wide) {
  join_partition_plan plan;
  plan.entry_bytes = is_wide ? 8 : 4;
  while (plan.bucket_bits < 15 && std::uint64_t{1} << plan.bucket_bits < build_rows) {
    ++plan.bucket_bits;
  }
  plan.is_possible = build_rows <= std::uint64_t{1} << plan.bucket_bits;
  plan.table_rows = static_cast<unsigned>(build_rows);
  return plan;
}

}  // namespace detail
STRATA_NAMESPACE_END
