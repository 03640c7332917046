// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstddef>
#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A set of the keys of a partition in shared memory, by hashes of 4 bytes that are the keys:
/// buckets of one word each, and a table of the keys that their buckets have no room for.
struct join_set_plan {
  int partition_bits;
  /// Buckets, as a power of two.
  int bucket_bits;
  /// What of a hash neither the partition nor the bucket tells: with a one above it, an entry.
  int rest_bits;
  unsigned bucket_entries;
  /// The lowest bit of each entry of a bucket. Above all of them, the highest bit of a word says that
  /// keys of the bucket are elsewhere.
  unsigned lowest_bits;
  /// Slots of the table of those keys, as a power of two, and room for rows that may have to go there.
  int spill_bits;
  unsigned list_rows;

  static constexpr unsigned is_full = 1u << 31;

  STRATA_HD constexpr unsigned buckets() const { return 1u << bucket_bits; }
  STRATA_HD constexpr unsigned spill_slots() const { return 1u << spill_bits; }
  /// So that searches of that table are short.
  STRATA_HD constexpr unsigned most_spilled() const { return spill_slots() / 4 * 3; }

  /// In words: buckets, a byte for each that counts its rows, in all a multiple of 4, the list, and the
  /// table.
  STRATA_HD constexpr unsigned words_before_list() const { return buckets() + buckets() / 4; }
  STRATA_HD constexpr unsigned words_before_table() const {
    return words_before_list() + list_rows;
  }
  constexpr std::size_t bytes() const {
    return std::size_t{words_before_table() + spill_slots()} * sizeof(unsigned);
  }
};

/// Of partitions of so many build rows on average.
constexpr join_set_plan plan_join_set(int partition_bits, std::uint64_t rows_each) {
  constexpr int most_bucket_bits = 15;
  join_set_plan plan{partition_bits, 5, 0, 0, 0, 0, 0};
  for (;; ++plan.bucket_bits) {
    plan.rest_bits = 32 - partition_bits - plan.bucket_bits;
    plan.bucket_entries = static_cast<unsigned>(31 / (plan.rest_bits + 1));
    if (plan.bucket_bits == most_bucket_bits) break;
    // As many buckets as rows: of three entries, 2 % of the rows are too much then; of two, with half
    // as many rows, 3 %.
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
