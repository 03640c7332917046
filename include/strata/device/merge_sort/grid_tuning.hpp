// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN

/// A sort of one segment in one launch: each block has a tile of up to `block_threads * items_per_thread` items. No
/// such sorts if `block_threads` is 0, in all policies of a chain.
struct merge_sort_grid_tuning {
  int block_threads;
  int items_per_thread;
  /// Tiles of a multiprocessor, which registers must allow.
  int blocks_per_multiprocessor;
  /// The blocks are one cluster of up to so many. Before sm_90 that is one block. 0: a grid of resident blocks.
  int cluster_blocks = 0;

  constexpr int tile_items() const { return block_threads * items_per_thread; }
};

namespace detail {

/// The rows of such sorts, by the bytes of an item, a key with its value.
template <int ItemBytes>
struct merge_sort_grid_rows {
  /// `four`, `eight` or `sixteen` for items of up to so many bytes. Of larger ones, a thread has up to 128 bytes; the
  /// number is odd, so that there are no gaps between the items of threads.
  static constexpr int by_bytes(int four, int eight, int sixteen) {
    const int wide = ItemBytes > 64 ? 1 : 128 / ItemBytes - 1 + 128 / ItemBytes % 2;
    return ItemBytes <= 4 ? four : ItemBytes <= 8 ? eight : ItemBytes <= 16 ? sixteen : wide;
  }
  // A tile has its items, and of pairs 4 bytes more for each, in 48 KiB.
  static constexpr int threads_within(int items_per_thread, int threads) {
    return threads > 32 && threads * items_per_thread * ItemBytes > (40 << 10)
               ? threads_within(items_per_thread, threads / 2)
               : threads;
  }
  static constexpr int items_of_cluster = by_bytes(9, 5, 3);
  static constexpr int items_of_grid = by_bytes(17, 9, 5);
  static constexpr int cluster_threads = ItemBytes > 512 ? 0 : threads_within(items_of_cluster, 512);
  static constexpr int grid_threads = ItemBytes > 512 ? 0 : threads_within(items_of_grid, ItemBytes <= 4 ? 256 : 512);

  // Not measured: from rows_900, with half as many blocks.
  struct rows_750 {
    static constexpr merge_sort_grid_tuning one_cluster{cluster_threads, items_of_cluster, 1, 8};
    static constexpr merge_sort_grid_tuning resident_grid{grid_threads, items_of_grid, ItemBytes <= 4 ? 2 : 1};
  };
  // H200, 2026-11-26, CUDA 13.0, microseconds of a call, i32 in one cluster: 7.4 for 2^10, 17.8 for 2^14 (512 x 9);
  // 7.2, 17.0 (256 x 9); as a resident grid: 28.2 for 2^16, 58.2 for 2^20 (256 x 17 x 4); 28.0, 63.4 (512 x 9 x 2);
  // 30.8, 58.0 (512 x 17 x 2). Pairs i32 : i32: 7.5 for 2^10, 19.6 for 2^14 (cluster, 512 x 5), 81 for 2^20 (grid, 512
  // x 9 x 2). Larger items: not measured.
  struct rows_900 : rows_750 {
    static constexpr merge_sort_grid_tuning resident_grid{grid_threads, items_of_grid, ItemBytes <= 4 ? 4 : 2};
  };
};

}  // namespace detail
STRATA_NAMESPACE_END
