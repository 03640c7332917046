// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A row and the upper half of its key's hash, whose highest bits choose the partition. Integer keys of
/// up to 4 bytes can be computed from that half.
struct alignas(8) join_record {
  unsigned hash;
  unsigned row;
};

STRATA_HD constexpr unsigned join_partition_of(unsigned hash, int bits) { return hash >> (32 - bits); }

/// The rows of a side that the table in global memory joins: all of them, or those of overflowing
/// partitions and those without a key.
struct join_row_list {
  /// Null: no indirection. Then every row has a key, or all rows are joined.
  const join_record* records;
  /// Null: all rows are joined.
  const unsigned* is_overflowing;
  /// The offset of the first row without a key.
  const unsigned* begin_of_nulls;
  int bits;

  /// The row that has index `i` in the list; false if another table joins it.
  template <class Row>
  STRATA_D bool get(unsigned long long i, Row& row) const {
    row = static_cast<Row>(i);
    if (records == nullptr) return true;
    const join_record record = records[i];
    row = record.row;
    return i >= *begin_of_nulls || is_overflowing[join_partition_of(record.hash, bits)] != 0;
  }

  /// Whether this table joins a row that `get` has returned, by the upper half of its hash. Without
  /// records `get` cannot decide that: the caller does when it has read the key.
  STRATA_D bool has_hash(unsigned hash) const {
    return records != nullptr || is_overflowing == nullptr || is_overflowing[join_partition_of(hash, bits)] != 0;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
