// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN

enum class join_pass { only, first, second };

/// Blocks, tiles and partitions of a join by partitions.
struct join_partition_tuning {
  /// A multiprocessor has one block of the kernels that partition, so that tiles are large and the rows
  /// of a partition are written in few, long runs.
  int partition_threads;
  /// Rows of a thread, by `join_pass`: of records of 8 bytes, and of 12 for integer keys of 8 bytes.
  int items_of_pass[3];
  int wide_items_of_pass[3];
  int join_threads;
  int join_items;
  /// Registers must allow so many.
  int join_blocks_per_multiprocessor;
  /// Of a block whose table is so large that a multiprocessor holds one.
  int large_join_threads;
  /// A partition has at most so many build rows on average, if entries of a table have 4 bytes and if
  /// they have 8.
  int partition_rows;
  int wide_partition_rows;
  /// The number of partitions as a power of two: the least, and the most of one pass.
  int min_bits;
  int one_pass_bits;
  /// With so many bits or fewer, a single pass has the tiles of the first of two passes.
  int short_tile_bits;
  /// A work item with fewer probe rows is not deferred because keys have several build rows: it does not
  /// pay to build the table again in AgentJoinDuplicates.
  unsigned min_deferred_rows = 8192;
  /// A table has capacity for at least so many build rows, so that few frequent keys fit one table.
  unsigned min_table_rows = 2048;

  constexpr int rows_of_table(bool is_wide) const { return is_wide ? wide_partition_rows : partition_rows; }
  STRATA_HD constexpr int threads_of_join(bool is_large) const { return is_large ? large_join_threads : join_threads; }
  STRATA_HD constexpr int blocks_of_join(bool is_large) const { return is_large ? 1 : join_blocks_per_multiprocessor; }
  STRATA_HD constexpr int items(join_pass pass, bool is_wide) const {
    return (is_wide ? wide_items_of_pass : items_of_pass)[static_cast<int>(pass)];
  }
};

/// Blocks and tiles of a join by one table in global memory.
struct join_table_tuning {
  /// Threads of the kernels that build the table.
  int build_threads;
  int probe_threads;
  /// Probe rows that a thread looks up at the same time.
  int probe_items;
  /// Registers and shared memory must allow so many.
  int probe_blocks_per_multiprocessor;
  /// Of the kernel that does what a join by partitions leaves, which is nearly always nothing. Small
  /// blocks start sooner while other blocks end. Registers must allow so many blocks.
  int fallback_threads = 512;
  int fallback_blocks_per_multiprocessor = 2;
};

/// Blocks and tiles of a join of two sides in ascending order.
struct join_merge_tuning {
  int threads;
  /// Rows of both sides for each thread of a tile, for keys of up to 4 bytes and for wider ones.
  int narrow_items;
  int wide_items;
  /// Registers and shared memory must allow so many.
  int blocks_per_multiprocessor;
  /// Where tiles are few, 2^log2_split_lanes lanes search for the begin of a tile together.
  int log2_split_lanes;

  STRATA_HD constexpr int items(std::size_t key_bytes) const { return key_bytes <= 4 ? narrow_items : wide_items; }
};

namespace detail {

/// A tile has at least so many probe rows.
inline constexpr unsigned long long min_join_tile = 256;

}  // namespace detail
STRATA_NAMESPACE_END
