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
  /// Registers must allow that number.
  int join_blocks_per_multiprocessor;
  /// Threads of a block whose table is so large that a multiprocessor holds only one.
  int large_join_threads;
  /// Maximum mean number of build rows in a partition, if entries of a table have 4 bytes and if they have 8.
  int partition_rows;
  int wide_partition_rows;
  /// The base-2 logarithm of the number of partitions: its minimum, and its maximum in one pass.
  int min_bits;
  int one_pass_bits;
  /// With this number of bits or fewer, a single pass uses the tile size of the first of two passes.
  int short_tile_bits;
  /// If keys have several build rows, a work item with at least this many probe rows is deferred to
  /// AgentJoinDuplicates. With fewer probe rows, building the table again there does not pay.
  unsigned min_deferred_rows = 8192;
  /// Minimum capacity of a table in build rows, so that a few frequent keys fit one table.
  unsigned min_table_rows = 2048;
  /// Rows of a thread that counts, all in flight together: of keys of up to 4 bytes and of wider ones.
  int narrow_count_items = 8;
  int wide_count_items = 4;
  /// Blocks that count. Each adds all its counters to the global ones, so they must be few.
  unsigned count_blocks_per_multiprocessor = 2;
  /// Partitions of a thread at a time, where the last block computes the begins of all.
  int offset_items = 4;
  /// Approximate maximum number of pieces of the probe rows of one partition. Once all blocks are busy, more pieces are
  /// of no use.
  unsigned max_pieces = 1024;

  constexpr int rows_of_table(bool is_wide) const { return is_wide ? wide_partition_rows : partition_rows; }
  STRATA_HD constexpr int threads_of_join(bool is_large) const { return is_large ? large_join_threads : join_threads; }
  STRATA_HD constexpr int blocks_of_join(bool is_large) const { return is_large ? 1 : join_blocks_per_multiprocessor; }
  STRATA_HD constexpr int count_items(std::size_t key_bytes) const {
    return key_bytes <= 4 ? narrow_count_items : wide_count_items;
  }
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
  /// Registers and shared memory must allow that number.
  int probe_blocks_per_multiprocessor;
  /// Threads of the kernel that joins what a join by partitions leaves, which is nearly always nothing. Small blocks
  /// start sooner while other blocks end. Registers must allow that number of blocks.
  int fallback_threads = 512;
  int fallback_blocks_per_multiprocessor = 2;
  /// Number of rows of both sides for each block of that kernel. It must be few, because a few rows may have many
  /// results.
  int fallback_rows = 64;
  /// Slots of a thread that reserves ranges for lists of rows.
  int list_items = 4;
  /// Threads of the block that scans the numbers of results of all tiles.
  int scan_threads = 512;
  /// Blocks of AgentJoinSortLists: one for every `sort_rows` build rows and one more, but at most `max_sort_blocks`.
  /// Each of them reads the counts of all of them.
  int sort_rows = 1024;
  int max_sort_blocks = 256;
  /// Maximum number of neighbouring results of a tile that a warp writes at a time. It is large, so that searches are
  /// few.
  unsigned warp_results = 4096;
};

/// Blocks and tiles of a join of two sides in ascending order.
struct join_merge_tuning {
  int threads;
  /// Rows of both sides for each thread of a tile, for keys of up to 4 bytes and for wider ones.
  int narrow_items;
  int wide_items;
  /// Registers and shared memory must allow that number.
  int blocks_per_multiprocessor;
  /// If there are few tiles, 2^log2_split_lanes lanes search together for the begin of a tile.
  int log2_split_lanes;
  /// Several lanes search together only if all tiles then have fewer than 2^log2_all_split_lanes lanes: if searches are
  /// few, their latency counts; if they are many, their throughput.
  int log2_all_split_lanes = 16;
  /// Threads in a block of the kernel in which these lanes search.
  int split_threads = 128;
  /// Probe rows that a thread looks up at the same time.
  int searches = 4;
  /// Rows with several results that a thread handles together.
  int result_items = 4;
  /// Maximum number of results that are written by the block that looks the tile up. More are written in output chunks:
  /// other blocks look the tile up again, which takes less time than waiting for one block.
  unsigned max_block_results = 131072;

  STRATA_HD constexpr int items(std::size_t key_bytes) const { return key_bytes <= 4 ? narrow_items : wide_items; }
};

/// Blocks of a join by an array of build rows, indexed by key.
struct join_direct_address_tuning {
  int build_threads;
  int probe_threads;
  /// Probe rows that a thread looks up at the same time.
  int probe_items;
};

/// How sets of keys in shared memory are built. Their blocks are those of join_partition_tuning.
struct join_key_set_tuning {
  /// Build rows of a thread at a time, all in flight together.
  int build_items;
};

/// How results are written, and how a join in any order is brought into the order of the probe rows.
struct join_output_tuning {
  /// Threads that reserve output positions together, by one addition. All threads of the block do so together if their
  /// number is no multiple of this, or more than 15 times as large.
  int group_threads;
  /// Number of neighbouring rows of the result in an output chunk. A tile with more results is written in output
  /// chunks, by several blocks, because one probe row may have any number of partners.
  unsigned chunk_rows;
  /// Partners that a thread loads from lists at the same time.
  int partner_items;
  /// Threads of the selection of probe rows that have a result. Registers must allow that number of blocks.
  int select_threads;
  int select_blocks_per_multiprocessor;
  /// Rows of a tile of the selection if no partition pass has recorded its tiles. A pass does not record its tiles if
  /// they have fewer rows than this.
  unsigned select_rows;
  /// Threads of the kernel that writes tiles with lists of partners. Registers must allow that number of blocks.
  int write_threads;
  int write_blocks_per_multiprocessor;
};

/// Blocks of a Bloom filter of the build keys.
struct join_filter_tuning {
  int threads;
  /// Probe rows of a thread, all in flight together: of keys of up to 4 bytes, of up to 8, and of wider ones.
  int narrow_items;
  int items;
  int wide_items;

  STRATA_HD constexpr int items_of(std::size_t key_bytes) const {
    return key_bytes <= 4 ? narrow_items : key_bytes <= 8 ? items : wide_items;
  }
};

/// Blocks of kernels that only clear arrays.
struct join_clear_tuning {
  int threads;
  /// Words that a thread clears, unless `blocks_per_multiprocessor` limits the number of blocks.
  int words;
  int blocks_per_multiprocessor;
};

namespace detail {

/// Minimum number of probe rows in a tile.
inline constexpr unsigned long long min_join_tile = 256;

}  // namespace detail
STRATA_NAMESPACE_END
