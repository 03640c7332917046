// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/hash_join/row_list.cuh>

#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The records of a side's rows.
struct join_records {
  join_record* records;
  /// For keys of two words: the lower halves of the hashes.
  unsigned* lower;

  /// Of a side without row ids: hashes instead of records.
  STRATA_D unsigned* hashes() const { return reinterpret_cast<unsigned*>(records); }
};

/// One side of a join by partitions. The last partition has the rows without a key.
template <class Key>
struct join_side_records {
  const Key* keys;
  const std::uint32_t* valid;
  unsigned rows;
  join_records partitioned = {};
  /// The output of the first of two passes.
  join_records first_pass = {};
  /// First the number of rows of each partition, later the offset of the next row that is written to it.
  unsigned* cursors = nullptr;
  /// The begin of each partition, and the end of the last one.
  unsigned* begins = nullptr;
  /// The same as `cursors`, for the partitions of the first of two passes.
  unsigned* pass_cursors = nullptr;
  /// Whether records have row ids. If not, only hashes are written, and all rows have a key.
  bool has_row_ids = true;
};

}  // namespace detail
STRATA_NAMESPACE_END
