// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/detail/architecture_limits.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>

#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// A sort of one segment in one launch: each block has a tile of up to `block_threads * items_per_thread` items. If
/// `block_threads` is 0 in all policies of a chain, there are no such sorts.
struct merge_sort_grid_tuning {
  int block_threads;
  int items_per_thread;
  /// Tiles of a multiprocessor, which registers must allow.
  int blocks_per_multiprocessor;
  /// Maximum number of blocks, which are one cluster. (Before sm_90, a cluster is one block.) 0: the blocks are a grid
  /// of resident blocks, without clusters.
  int cluster_blocks = 0;

  constexpr int tile_items() const { return block_threads * items_per_thread; }
};

namespace detail {

/// The rows of such sorts, by the bytes of an item, a key with its value.
template <int ItemBytes>
struct merge_sort_grid_rows {
  /// `four`, `eight` or `sixteen` for items of up to 4, 8 or 16 bytes. A thread has up to 128 bytes of larger items,
  /// and at least one item. Their number is odd, so that there are no gaps between the items of threads.
  static constexpr int by_bytes(int four, int eight, int sixteen) {
    const int wide = ItemBytes > 64 ? 1 : 128 / ItemBytes - 1 + 128 / ItemBytes % 2;
    return ItemBytes <= 4 ? four : ItemBytes <= 8 ? eight : ItemBytes <= 16 ? sixteen : wide;
  }
  // The items of a tile take up to 40 KiB. A merge holds 4 bytes for each pair in place of its value.
  static constexpr int threads_within(int items_per_thread, int threads) {
    return threads > 32 && threads * items_per_thread * ItemBytes > (40 << 10)
               ? threads_within(items_per_thread, threads / 2)
               : threads;
  }
  static constexpr int items_of_cluster = by_bytes(9, 5, 3);
  static constexpr int items_of_grid = by_bytes(17, 9, 5);
  static constexpr int cluster_threads = ItemBytes > 512 ? 0 : threads_within(items_of_cluster, 512);
  static constexpr int grid_threads = ItemBytes > 512 ? 0 : threads_within(items_of_grid, ItemBytes <= 4 ? 256 : 512);

  // Not measured. Adapted from rows_900, with half as many blocks.
  struct rows_750 {
    static constexpr merge_sort_grid_tuning one_cluster{cluster_threads, items_of_cluster, 1, 8};
    static constexpr merge_sort_grid_tuning resident_grid{grid_threads, items_of_grid, ItemBytes <= 4 ? 2 : 1};
  };
  // H200, 2026-11-26, CUDA 13.0, microseconds of a call, i32 in one cluster: 7.4 for 2^10, 17.8 for 2^14 (512 x 9);
  // 7.2, 17.0 (256 x 9); as a resident grid: 28.2 for 2^16, 58.2 for 2^20 (256 x 17 x 4); 28.0, 63.4 (512 x 9 x 2);
  // 30.8, 58.0 (512 x 17 x 2). Pairs i32 : i32: 7.5 for 2^10, 19.6 for 2^14 (cluster, 512 x 5), 81 for 2^20 (grid, 512
  // x 9 x 2). Larger items were not measured.
  struct rows_900 : rows_750 {
    static constexpr merge_sort_grid_tuning resident_grid{grid_threads, items_of_grid, ItemBytes <= 4 ? 4 : 2};
  };
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_NAMESPACE_BEGIN

/// A block that sorts whole segments, packed into tiles of `block_threads * items_per_thread` items.
struct segment_tile_tuning {
  int block_threads;
  int items_per_thread;
  /// Blocks that registers must allow.
  int blocks_per_multiprocessor;
  /// Longer segments are queued for a later kernel.
  int max_items = block_threads * items_per_thread;

  constexpr int tile_items() const { return block_threads * items_per_thread; }
};

/// How merges through device memory are cut. A block makes `tile_items` of the result at a time, from at most
/// `(block_threads - 1) * items_per_thread` items of the runs. The larger the difference of these two numbers, the
/// sooner the search for the ends of a tile may stop.
struct segment_merge_tuning {
  int block_threads;
  int items_per_thread;
  int blocks_per_multiprocessor;
  int tile_items;
};

namespace detail {

/// The classes of segments, by the mean length in a call. A policy has a row for each. `segment_class_bounds` has the
/// bounds; those in parentheses are for keys of 4 bytes.
enum class segment_class {
  one_thread,               // mean up to 5/4 of a thread's items (10)
  few_threads,              // mean up to the items of 4.5 threads (72)
  part_of_tile,             // mean up to 1/5 of the tile (640), or all up to `max_items` (1600)
  one_tile,                 // mean up to one tile (6400)
  many_tiles,               // longer mean: tiles are larger (12,800)
  tile_per_multiprocessor,  // all items of the call fit one tile (10,560) on each multiprocessor
  whole_array,              // one segment that resident blocks do not hold (tiles of 17,920)
};

template <class Policy>
constexpr segment_tile_tuning tuning_of(segment_class which) {
  return which == segment_class::one_thread     ? Policy::one_thread
         : which == segment_class::few_threads  ? Policy::few_threads
         : which == segment_class::part_of_tile ? Policy::part_of_tile
         : which == segment_class::one_tile     ? Policy::one_tile
         : which == segment_class::many_tiles   ? Policy::many_tiles
         : which == segment_class::whole_array  ? Policy::whole_array
                                                : Policy::tile_per_multiprocessor;
}

/// Upper bound of the shared memory of a merge: items, a key of each thread, and the searches of the next tiles.
constexpr int merge_bytes(int item_bytes, const segment_merge_tuning& row) {
  return (row.block_threads * (row.items_per_thread + 1) + 8 + 2 * row.items_per_thread) * item_bytes + 4400;
}

/// Returns a merge of items of so many bytes that fits in the shared memory of a block: it has a part of the threads of
/// `row`, and the same part of its tile. The smallest merge also has fewer spare items for a search.
constexpr segment_merge_tuning merge_within(int item_bytes, int shared_bytes, const segment_merge_tuning& row) {
  const int warps = row.block_threads / 32;
  segment_merge_tuning part = row;
  for (int parts = 1; parts <= warps; ++parts) {
    if (warps % parts != 0) continue;
    part = {row.block_threads / parts, row.items_per_thread, row.blocks_per_multiprocessor, row.tile_items / parts};
    if (detail::merge_bytes(item_bytes, part) <= shared_bytes) return part;
  }
  part.items_per_thread = part.tile_items / part.block_threads + 1;
  return part;
}

/// How tiles of a class are merged.
template <class Policy>
constexpr segment_merge_tuning merge_tuning_of(segment_class which) {
  return which == segment_class::tile_per_multiprocessor ? Policy::merge_per_multiprocessor
         : which == segment_class::whole_array           ? Policy::merge_whole_array
                                                         : Policy::merge;
}

/// The longest mean length of each class.
template <class Policy>
struct segment_class_bounds {
  static constexpr unsigned long long one_thread = Policy::one_thread.items_per_thread * 5 / 4;
  static constexpr unsigned long long few_threads = Policy::few_threads.items_per_thread * 9 / 2;
  static constexpr unsigned long long part_of_tile = Policy::part_of_tile.tile_items() / 5;
  static constexpr unsigned long long one_tile = Policy::one_tile.tile_items();
};

/// The rows that a policy must have.
template <class Policy>
using segmented_merge_sort_rows =
    std::void_t<if_rows<segment_tile_tuning, decltype(Policy::one_thread), decltype(Policy::few_threads),
                        decltype(Policy::part_of_tile), decltype(Policy::one_tile), decltype(Policy::many_tiles),
                        decltype(Policy::tile_per_multiprocessor), decltype(Policy::whole_array)>,
                if_rows<segment_merge_tuning, decltype(Policy::merge), decltype(Policy::merge_per_multiprocessor),
                        decltype(Policy::merge_whole_array)>,
                if_rows<merge_sort_grid_tuning, decltype(Policy::one_cluster), decltype(Policy::resident_grid)>>;

}  // namespace detail

/// The rows of DeviceSegmentedMergeSort and DeviceMergeSort, by the bytes of an item, a key with its value. H200,
/// 2026-11-20, CUDA 13.0, 2^27 items, tile sorts alone, 10^9 items per second for segments of so many items (threads x
/// items of a thread):
///
/// | items           | 8             | 32             | 100 | 500            | 2000          | 6400           |
/// |---|---|---|---|---|---|---|
/// | i32             | 407 (128 x 8) | 312 (128 x 16) | 287 | 165 (128 x 25) | 130           | 118 (512 x 25) |
/// | pairs i32 : i32 | 234           | 215            | 148 | 95 (128 x 25)  | 72 (256 x 25) |                |
/// | 16-byte records | 117 (128 x 8) | 52             | 38 (7 to 9 items) | | | |
///
/// A merge of four runs of i32 takes 500 us (256 x 27). Of these, loads, stores and barriers take 300, and searches 60.
/// Rows for items of more than 16 bytes were not measured. They are adapted from the rows for 16 bytes.
template <int ItemBytes>
struct segmented_merge_sort_policy_hub {
  static constexpr int odd_up_to(int n) { return n <= 1 ? 1 : n % 2 != 0 ? n : n - 1; }
  /// `four`, `eight` or `sixteen` for items of up to 4, 8 or 16 bytes, otherwise `wider`.
  static constexpr int by_bytes(int four, int eight, int sixteen, int wider) {
    return ItemBytes <= 4 ? four : ItemBytes <= 8 ? eight : ItemBytes <= 16 ? sixteen : wider;
  }

  // Items of a thread. The number is odd, so that there are no gaps between the items of threads.
  static constexpr int wide_items = odd_up_to(detail::most(1, 128 / ItemBytes));
  static constexpr int items_of_one_thread = by_bytes(8, 8, 8, wide_items);
  static constexpr int items_of_few_threads = by_bytes(16, 16, 8, wide_items);
  static constexpr int items_of_part = by_bytes(25, 25, wide_items, wide_items);
  static constexpr int items_of_tile = by_bytes(25, 25, 9, wide_items);

  // Number of threads with which a tile has up to 52 KiB. Each thread takes 18 bytes beside the tile.
  static constexpr int threads_within(int items_per_thread, int threads) {
    return threads > 32 && threads * items_per_thread * ItemBytes > (52 << 10)
               ? threads_within(items_per_thread, threads / 2)
               : threads;
  }
  static constexpr int short_threads = threads_within(items_of_part, 128);
  static constexpr int many_threads = threads_within(items_of_tile, 512);
  static constexpr int tile_threads = detail::most(32, many_threads / by_bytes(2, 1, 1, 1));
  // If there is a multiprocessor for each tile, a thread has fewer items, unless the tile would then be smaller than in
  // other calls.
  static constexpr int threads_of_large_tile(int items_per_thread) {
    // With 18 bytes beside the tile for each thread, the block has at most 64 KiB.
    const int by_tile = (52 << 10) / (items_per_thread * ItemBytes);
    const int by_block = (64 << 10) / (items_per_thread * ItemBytes + 18) - 2;
    return detail::most(32, detail::least(704, detail::least(by_tile, by_block) / 64 * 64));
  }
  static constexpr int fewer_items = by_bytes(15, 17, 7, wide_items);
  static constexpr int items_per_multiprocessor =
      threads_of_large_tile(fewer_items) * fewer_items < tile_threads * items_of_tile ? items_of_tile : fewer_items;
  static constexpr int threads_per_multiprocessor = threads_of_large_tile(items_per_multiprocessor);
  static constexpr int merge_threads = detail::most(32, threads_per_multiprocessor / 2);

  static constexpr int block_bytes_750 = detail::limits_of(750).shared_bytes_of_block;
  static constexpr int block_bytes_900 = detail::limits_of(900).shared_bytes_of_block;
  static constexpr auto within(int shared_bytes, const segment_merge_tuning& row) {
    return detail::merge_within(ItemBytes, shared_bytes, row);
  }

  using grid_rows = detail::merge_sort_grid_rows<ItemBytes>;

  static constexpr int max_of_one_thread = detail::most(16, short_threads* items_of_one_thread / 8);
  static constexpr int max_of_few_threads = detail::most(16, short_threads* items_of_few_threads / 8);
  static constexpr int max_of_part = detail::most(16, short_threads* items_of_part / 2);

  // Columns: threads of a block, items of a thread, blocks of a multiprocessor; last, `max_items` or the
  // items of a merge's tile.

  // Not measured. Adapted from rows_900. One block for each multiprocessor is asked for, so threads may have any number
  // of registers.
  struct rows_750 : grid_rows::rows_750 {
    static constexpr segment_tile_tuning one_thread{short_threads, items_of_one_thread, 1, max_of_one_thread};
    static constexpr segment_tile_tuning few_threads{short_threads, items_of_few_threads, 1, max_of_few_threads};
    static constexpr segment_tile_tuning part_of_tile{short_threads, items_of_part, 1, max_of_part};
    static constexpr segment_tile_tuning one_tile{tile_threads, items_of_tile, 1};
    static constexpr segment_tile_tuning many_tiles{many_threads, items_of_tile, 1};
    static constexpr segment_tile_tuning tile_per_multiprocessor{threads_per_multiprocessor, items_per_multiprocessor,
                                                                 1};
    static constexpr segment_tile_tuning whole_array = many_tiles;
    static constexpr segment_merge_tuning merge =
        within(block_bytes_750, {tile_threads, items_of_tile + 2, 1, one_tile.tile_items()});
    static constexpr segment_merge_tuning merge_whole_array = merge;
    static constexpr int items_of_merge = merge_threads * items_per_multiprocessor;
    static constexpr segment_merge_tuning merge_per_multiprocessor =
        within(block_bytes_750, {merge_threads, items_per_multiprocessor + 2, 1, items_of_merge});
  };
  // H200, 2026-11-20: the figures above.
  struct rows_900 : rows_750 {
    // H200, 2026-11-26: 58 us for 2^20 of i32.
    static constexpr merge_sort_grid_tuning resident_grid = grid_rows::rows_900::resident_grid;
    // Tiles may have more than 99 KiB, because a block may have 227 KiB of shared memory.
    static constexpr int threads_of_many = by_bytes(many_threads, 512, 512, many_threads);
    static constexpr segment_tile_tuning one_thread{short_threads, items_of_one_thread, by_bytes(16, 12, 6, 6),
                                                    max_of_one_thread};
    static constexpr segment_tile_tuning few_threads{short_threads, items_of_few_threads, by_bytes(12, 8, 6, 6),
                                                     max_of_few_threads};
    static constexpr segment_tile_tuning part_of_tile{short_threads, items_of_part, by_bytes(10, 8, 4, 4), max_of_part};
    static constexpr segment_tile_tuning one_tile{tile_threads, items_of_tile, by_bytes(6, 3, 3, 2)};
    static constexpr segment_tile_tuning many_tiles{threads_of_many, items_of_tile, by_bytes(3, 2, 2, 2)};
    // H200, 2026-11-26, i32, ms of 2^24, 2^26, 2^28: 0.57, 2.13, 8.55 (512 x 35 x 2, merges 256 x 37 x 4); 0.60, 2.38,
    // 9.64 (512 x 25 x 3, 256 x 27 x 5, as many_tiles). Items of other sizes were not measured: their row is adapted
    // from many_tiles.
    static constexpr segment_tile_tuning whole_array{threads_of_many,
                                                     by_bytes(35, items_of_tile, items_of_tile, items_of_tile), 2};
    // 16-byte records, 10^9 items per second: 7.0 with 2 blocks and tiles of 7 items per thread, 8.8 with 3
    // and 9, 9.2 with 4 and 9.
    static constexpr segment_merge_tuning merge =
        within(block_bytes_900, {tile_threads, items_of_tile + 2, by_bytes(5, 3, 4, 2), one_tile.tile_items()});
    static constexpr segment_merge_tuning merge_per_multiprocessor =
        within(block_bytes_900, {merge_threads, items_per_multiprocessor + 2, 1, rows_750::items_of_merge});
    // H200, 2026-11-26: 8.55 ms for 2^28 of i32, with whole_array.
    static constexpr int items_of_array_merge = tile_threads * whole_array.items_per_thread;
    static constexpr segment_merge_tuning merge_whole_array = within(
        block_bytes_900, {tile_threads, whole_array.items_per_thread + 2, by_bytes(4, 3, 4, 2), items_of_array_merge});
  };
  // Not measured. Derived from rows_900. With 16 blocks, a thread has 32 registers, and 72 bytes would be spilled.
  struct rows_1000 : rows_900 {
    static constexpr segment_tile_tuning one_thread{
        rows_900::one_thread.block_threads, rows_900::one_thread.items_per_thread,
        rows_900::one_thread.blocks_per_multiprocessor * 3 / 4, rows_900::one_thread.max_items};
  };
  // Not measured. Derived from rows_900, with as many blocks as fit. Where two large tiles do not fit a multiprocessor,
  // sorts of many tiles have smaller ones.
  template <int Architecture>
  struct rows : rows_900 {
    static constexpr detail::architecture_limits limits = detail::limits_of(Architecture);
    // `bytes_beside`: for each thread, beside its items.
    template <class Row>
    static constexpr Row fitting(Row row, int bytes_beside, int more_items = 0) {
      const int bytes = row.block_threads * ((row.items_per_thread + more_items) * ItemBytes + bytes_beside);
      row.blocks_per_multiprocessor = limits.blocks_within(row.blocks_per_multiprocessor, row.block_threads, bytes);
      return row;
    }
    static constexpr merge_sort_grid_tuning resident_grid =
        fitting(rows_900::resident_grid,
                20 + 4 * rows_900::resident_grid.items_per_thread);  // for pairs, 4 bytes are added for each item
    // If a thread has an even number of items, the tile may have gaps: up to one item for each thread. Blocks of the
    // row `one_thread` also sort in a wider tile: for items of 4 bytes, it has as many items for each thread as the row
    // `few_threads`.
    static constexpr int items_alone =
        by_bytes(items_of_few_threads, items_of_one_thread, items_of_one_thread, wide_items);
    static constexpr segment_tile_tuning one_thread =
        fitting(rows_900::one_thread, 29 + ItemBytes, items_alone - items_of_one_thread);
    static constexpr segment_tile_tuning few_threads = fitting(rows_900::few_threads, 19 + ItemBytes);
    static constexpr segment_tile_tuning part_of_tile = fitting(rows_900::part_of_tile, 19);
    static constexpr segment_tile_tuning one_tile = fitting(rows_900::one_tile, 19);
    static constexpr segment_tile_tuning large_tile = fitting(rows_900::many_tiles, 19);
    static constexpr segment_tile_tuning many_tiles = large_tile.blocks_per_multiprocessor < 2 ? one_tile : large_tile;
    static constexpr segment_tile_tuning array_tile = fitting(rows_900::whole_array, 19);
    static constexpr int block_bytes = limits.shared_bytes_of_block;
    static constexpr segment_merge_tuning merge = fitting(within(block_bytes, rows_900::merge), 20 + ItemBytes);
    static constexpr segment_merge_tuning merge_per_multiprocessor =
        within(block_bytes, rows_900::merge_per_multiprocessor);
    static constexpr bool has_array_tile = array_tile.blocks_per_multiprocessor >= 2;
    static constexpr segment_tile_tuning whole_array = has_array_tile ? array_tile : many_tiles;
    static constexpr segment_merge_tuning merge_whole_array =
        has_array_tile ? fitting(within(block_bytes, rows_900::merge_whole_array), 20 + ItemBytes) : merge;
  };

  struct Policy750 : ChainedPolicy<750, Policy750, Policy750>, rows_750 {};
  struct Policy800 : ChainedPolicy<800, Policy800, Policy750>, rows<800> {};
  struct Policy860 : ChainedPolicy<860, Policy860, Policy800>, rows<860> {};
  struct Policy900 : ChainedPolicy<900, Policy900, Policy860>, rows_900 {};
  struct Policy1000 : ChainedPolicy<1000, Policy1000, Policy900>, rows_1000 {};
  struct Policy1070 : ChainedPolicy<1070, Policy1070, Policy1000>, rows<1070> {};
  struct Policy1100 : ChainedPolicy<1100, Policy1100, Policy1070>, rows_1000 {};
  struct Policy1200 : ChainedPolicy<1200, Policy1200, Policy1100>, rows<1200> {};
  using MaxPolicy = Policy1200;
};

STRATA_NAMESPACE_END
