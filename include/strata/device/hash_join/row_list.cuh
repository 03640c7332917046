// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A row on its way: its number and the upper bits of its key's hash, of which the highest ones
/// choose the partition. Of keys of up to 4 bytes they are the key.
struct alignas(8) join_record {
  unsigned hash;
  unsigned row;
};

STRATA_HD constexpr unsigned join_partition_of(unsigned hash, int bits) {
  return hash >> (32 - bits);
}

/// Which rows of a side the table in global memory is for: all of them, or those of the partitions
/// that are too much for a table in shared memory, and those without a key.
struct join_row_list {
  /// Null if rows are told by themselves: all, or those that `has_hash` says, each of which has a
  /// key.
  const join_record* records;
  /// Null: all.
  const unsigned* is_heavy;
  /// Where the rows without a key begin.
  const unsigned* begin_of_nulls;
  int bits;

  /// Row number `i` of the list; false if it is not for this table.
  template <class Row>
  STRATA_D bool get(unsigned long long i, Row& row) const {
    row = static_cast<Row>(i);
    if (records == nullptr) return true;
    const join_record record = records[i];
    row = record.row;
    return i >= *begin_of_nulls || is_heavy[join_partition_of(record.hash, bits)] != 0;
  }

  /// Whether a row that `get` has told is for this table, by the upper bits of its hash: records that
  /// tell no rows leave that to who reads the key.
  STRATA_D bool has_hash(unsigned hash) const {
    return records != nullptr || is_heavy == nullptr ||
           is_heavy[join_partition_of(hash, bits)] != 0;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
