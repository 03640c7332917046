// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/hash_join/row_list.cuh>

#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Rows on their way: where their records are and, of keys of two words, the lower halves of their
/// hashes.
struct join_records {
  join_record* records;
  unsigned* lower;

  /// Of a side whose row numbers nobody asks for: instead of the records.
  STRATA_D unsigned* hashes() const { return reinterpret_cast<unsigned*>(records); }
};

/// One side of a join by partitions. Behind the partitions comes one of the rows without a key.
template <class Key>
struct join_side_records {
  const Key* keys;
  const std::uint32_t* valid;
  unsigned rows;
  join_records done = {};
  /// Between the first pass and the second one.
  join_records passing = {};
  /// How many rows a partition has; later, where its next ones go.
  unsigned* cursors = nullptr;
  /// Where partitions begin, and where the last one ends.
  unsigned* begins = nullptr;
  /// The same as `cursors`, of the partitions of the first of two passes.
  unsigned* pass_cursors = nullptr;
  /// Whether somebody asks for row numbers. If not, hashes travel alone, and all rows have a key.
  bool tells_rows = true;
};

}  // namespace detail
STRATA_NAMESPACE_END
