// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A set of the keys of a partition in shared memory, by hashes of 4 bytes that are the keys: buckets of
/// one word each, and an open-addressing table of the keys that do not fit their buckets.
struct join_set_plan {
  int partition_bits;
  /// There are 2^bucket_bits buckets.
  int bucket_bits;
  /// The bits of a hash that neither the partition nor the bucket determines. With a one above them they
  /// are an entry.
  int rest_bits;
  unsigned bucket_entries;
  /// The lowest bit of each entry of a bucket. The highest bit of a word is above all entries: it is set
  /// if keys of the bucket are in the table.
  unsigned lowest_bits;
  /// The table has 2^spill_bits slots. `list_rows` is the capacity of the list of rows that are inserted
  /// there.
  int spill_bits;
  unsigned list_rows;

  static constexpr unsigned is_full = 1u << 31;

  STRATA_HD constexpr unsigned buckets() const { return 1u << bucket_bits; }
  STRATA_HD constexpr unsigned spill_slots() const { return 1u << spill_bits; }
  /// With more keys in the table, searches would be long.
  STRATA_HD constexpr unsigned max_spilled() const { return spill_slots() / 4 * 3; }

  /// Layout in words: the buckets, a byte for each that counts its rows (padded to a multiple of 4
  /// words), the list, the table.
  STRATA_HD constexpr unsigned words_before_list() const { return buckets() + buckets() / 4; }
  STRATA_HD constexpr unsigned words_before_table() const { return words_before_list() + list_rows; }
  constexpr std::size_t bytes() const { return std::size_t{words_before_table() + spill_slots()} * sizeof(unsigned); }
};

/// For partitions with `rows_each` build rows on average.
constexpr join_set_plan plan_join_set(int partition_bits, std::uint64_t rows_each) {
  constexpr int max_bucket_bits = 15;
  join_set_plan plan{partition_bits, 5, 0, 0, 0, 0, 0};
  for (;; ++plan.bucket_bits) {
    plan.rest_bits = 32 - partition_bits - plan.bucket_bits;
    plan.bucket_entries = static_cast<unsigned>(31 / (plan.rest_bits + 1));
    if (plan.bucket_bits == max_bucket_bits) break;
    // With as many buckets as rows and three entries in each, 2 % of the rows do not fit; with twice as
    // many buckets and two entries, 3 %.
    if (plan.bucket_entries >= 3 && rows_each <= plan.buckets()) break;
    if (plan.bucket_entries == 2 && 2 * rows_each <= plan.buckets()) break;
  }
  for (unsigned entry = 0; entry < plan.bucket_entries; ++entry) {
    plan.lowest_bits |= 1u << entry * static_cast<unsigned>(plan.rest_bits + 1);
  }
  plan.spill_bits = plan.bucket_bits < 9 ? 5 : plan.bucket_bits - 4;
  plan.list_rows = plan.spill_slots() / 2;
  return plan;
}

}  // namespace detail
STRATA_NAMESPACE_END
