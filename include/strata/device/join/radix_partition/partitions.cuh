// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/engine/work_queue.cuh>
#include <strata/device/join/common/join_options.hpp>
#include <strata/device/join/common/rows.cuh>
#include <strata/device/join/radix_partition/plan.hpp>

#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The records of a side's rows.
struct join_records {
  join_record* records;
  /// For keys of two words: the lower halves of the hashes.
  unsigned* lower;

  /// The hashes of a side without row ids, which has no records.
  STRATA_D unsigned* hashes() const { return reinterpret_cast<unsigned*>(records); }
};

/// One side of a join by partitions. The last partition has the rows without a key, if the result may have them.
template <class Keys>
struct join_side_records {
  Keys keys = {};
  const std::uint32_t* valid = nullptr;
  unsigned rows = 0;
  join_records partitioned = {};
  /// The output of the first of two passes.
  join_records first_pass = {};
  /// First the number of rows of each partition, later the offset of the next row that is written to it.
  unsigned* cursors = nullptr;
  /// The begin of each partition, and the end of the last one.
  unsigned* begins = nullptr;
  /// `cursors` of the partitions of the first of two passes.
  unsigned* pass_cursors = nullptr;
  /// True if records have row ids. If not, only hashes are written, and no rows without a key.
  bool has_row_ids = true;
  /// True if the result has no rows of this side without a key: then they are neither counted nor written.
  bool drops_nulls = false;
};

/// Rows of one side that a block partitions together.
struct join_tile {
  bool is_probe;
  /// A partition of the first of two passes.
  unsigned partition;
  unsigned first;
  unsigned rows;
};

/// A work item of one block: all build rows of a partition, and `rows` of its probe rows, from number `first` on.
struct join_work_item {
  unsigned partition;
  unsigned first;
  unsigned rows;
};

/// The arguments that all kernels of a join by partitions share.
template <class Keys, class Hash, class Equal>
struct join_partitions {
  /// True if equal hashes imply equal keys.
  static constexpr bool hash_is_key =
      is_join_double_word<iterator_value_t<Keys>, Hash, Equal> || is_join_word<iterator_value_t<Keys>, Hash, Equal>;

  join_partitions(const Hash& hash_of_keys, const Equal& equal_keys) : hash(hash_of_keys), equal(equal_keys) {}

  join_partition_plan plan = {};
  JoinKind kind = JoinKind::inner;
  join_side_records<Keys> build = {};
  join_side_records<Keys> probe = {};
  /// For each partition of the first pass, the number of tiles of the second pass up to its end: first the build side's
  /// partitions, then the probe side's partitions.
  unsigned* pass_tiles = nullptr;
  /// See `join_partition_plan::index_of_whole`.
  join_work_item* work_items = nullptr;
  unsigned* num_work_items = nullptr;
  unsigned* num_pieces = nullptr;
  /// Indices of the work items that are deferred to AgentJoinDuplicates, their number, and the ticket
  /// counter of the blocks that join them. All are null in joins by direct addressing, which have no work items.
  unsigned* deferred = nullptr;
  unsigned* num_deferred = nullptr;
  unsigned* next_deferred = nullptr;
  /// Partitions that the table in global memory joins, and whether there are any. The partition of the
  /// rows without a key is one of them if it has rows.
  unsigned* is_overflowing = nullptr;
  unsigned* any_is_overflowing = nullptr;
  /// Counts arrivals at the barriers of the kernel that joins overflowing partitions.
  unsigned* arrivals = nullptr;
  /// The number of blocks that have counted their rows.
  unsigned* counted = nullptr;
  unsigned long long* total = nullptr;
  std::int64_t capacity = 0;
  bool promised_unique = false;
  Hash hash;
  Equal equal;

  /// Finds the index of the block's work item. Returns false if there is none.
  STRATA_D bool find_work_item(unsigned& index) const {
    const unsigned pieces = *num_pieces;
    if (blockIdx.x >= *num_work_items) return false;
    index = blockIdx.x < pieces ? blockIdx.x : plan.index_of_whole(blockIdx.x - pieces);
    return true;
  }
  /// Defers a work item to AgentJoinDuplicates. One thread calls this.
  STRATA_D void defer(unsigned index) const { deferred[detail::take_ticket(num_deferred)] = index; }
};

}  // namespace detail
STRATA_NAMESPACE_END
