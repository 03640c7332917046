// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/detail/architecture_limits.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// The histogram of all digits.
struct radix_histogram_tuning {
  int block_threads;
  /// Bytes of shared memory that the counters of a block may take.
  int shared_bytes;
};

/// A pass, which moves items by one digit.
struct radix_pass_tuning {
  int block_threads;
  int items_per_thread;
  /// Blocks that registers and shared memory must allow.
  int blocks_per_multiprocessor;
};

/// A sort in one block, of up to block_threads * items_per_thread items.
struct radix_block_tuning {
  int block_threads;
  int items_per_thread;
};

/// A sort in one cluster, of up to blocks * block_threads * items_per_thread items. `items_per_thread` is a
/// power of two.
struct radix_cluster_tuning {
  int block_threads;
  int items_per_thread;
  /// 0: never.
  int blocks;
};

/// A sort in one launch by at most as many blocks as a device holds at a time. Tiles have items_per_thread items a
/// thread, or fewer if some multiprocessors would have no tile.
struct radix_grid_tuning {
  int block_threads;
  int items_per_thread;
  int least_items_per_thread;
  /// Blocks that registers and shared memory must allow.
  int blocks_per_multiprocessor;
  /// The largest number of items, if the resident blocks have capacity for them; 0: never.
  int most_items;
};

/// A counting sort of keys of 16 bits, called words.
struct radix_words_tuning {
  int block_threads;
  /// The smallest number of items, 2^16 + 8 or more; 0: never. A block has 128 KiB of counters in shared memory. Blocks
  /// copy their counters to the scratch or output array, which must have room for the counters of at least one block.
  std::size_t least_items;
};

namespace detail {

/// All sorts have digits of 8 bits. Fewer bits would take more passes, more bits too much shared memory.
inline constexpr int radix_bits = 8;
inline constexpr int radix_bins = 1 << radix_bits;
/// A tile of 256 values, and what ranks them, fit the 227 KB of shared memory of 9.0 to 11.x. A sort in one launch
/// keeps the tile's keys beside the values: keys of up to 31 bytes fit beside values of 800.
inline constexpr std::size_t most_radix_value_bytes = 800;

}  // namespace detail

/// The rows of DeviceRadixSort. `Value` is NullType for sorts of keys.
template <class Key, class Value>
struct radix_sort_policy_hub {
  static constexpr int key_bytes = static_cast<int>(sizeof(Key));
  static constexpr int value_bytes = std::is_same_v<Value, NullType> ? 0 : static_cast<int>(sizeof(Value));
  static constexpr int widest = detail::most(key_bytes, value_bytes);

  // Items of a thread if `bytes` hold its keys and later, in the same place, its values.
  static constexpr int items_within(int bytes, int max) {
    const int items = bytes / widest;
    return items < 1 ? 1 : detail::least(items, max);
  }

  // Items of a thread whose keys and values together take `bytes`.
  static constexpr int pairs_within(int bytes, int max) {
    const int items = bytes / (key_bytes + value_bytes);
    return items < 1 ? 1 : detail::least(items, max);
  }

  // Shared memory that a pass, or a sort in one launch, takes beside the tile. Ranking takes 64 bytes of it for each
  // thread.
  static constexpr int pass_bytes_without_tile(int threads) { return 64 * threads + (3 << 10); }
  static constexpr int grid_bytes_without_tile(int threads) { return 64 * threads + (6 << 10); }

  static constexpr int shared_bytes_of_900 = detail::limits_of(900).shared_bytes_of_block;

  // Number of threads, up to `wanted`, with which a tile of one item each fits a block; at least one for each digit.
  static constexpr int threads_within(int wanted, int bytes_of_item, int shared_bytes) {
    while (wanted > detail::radix_bins && grid_bytes_without_tile(wanted) + wanted * bytes_of_item > shared_bytes) {
      wanted -= 128;
    }
    return wanted;
  }

  // Not measured. Adapted from rows_900, with smaller tiles, without clusters, and without counting sorts of words.
  struct small_tiles {
    static constexpr radix_histogram_tuning histogram{/*block_threads*/ 512, /*shared_bytes*/ 48 << 10};
    static constexpr radix_pass_tuning pass{/*block_threads*/ 256, /*items_per_thread*/ items_within(56, 24),
                                            /*blocks_per_multiprocessor*/ 1};
    static constexpr radix_block_tuning small_block{/*block_threads*/ 256,
                                                    /*items_per_thread*/ items_within(16, 4)};
    static constexpr radix_cluster_tuning cluster{/*block_threads*/ 256, /*items_per_thread*/ 1, /*blocks*/ 0};
    static constexpr radix_block_tuning large_block{/*block_threads*/ 256,
                                                    /*items_per_thread*/ items_within(64, 16)};
    static constexpr radix_grid_tuning grid{/*block_threads*/ 256, /*items_per_thread*/ pairs_within(64, 16),
                                            /*least_items_per_thread*/ pairs_within(64, 8),
                                            /*blocks_per_multiprocessor*/ 1, /*most_items*/ 1 << 20};
    static constexpr radix_words_tuning words{/*block_threads*/ 1024, /*least_items*/ 0};
  };

  // NVIDIA H200, CUDA 13.0, 2026-11-22: medians in microseconds, CUB's in brackets; u32 keys unless said otherwise.
  struct rows_900 {
    // u8 of 2^28, counted and written: 143 (1,435).
    static constexpr radix_histogram_tuning histogram{/*block_threads*/ 1024, /*shared_bytes*/ 192 << 10};
    // A thread has as many items as registers allow almost without spills. Pairs write to twice as many arrays, so they
    // gain more from long runs in large tiles than from a third block.
    // Keys of 2^24 / 2^28: 325 / 4,018 (459 / 6,318), with 44 items 329 / 4,155; f32, 2026-11-27: 325 / 4,053
    // (423 / 5,654), 333 / 4,130 with 44 items, 328 / 4,172 with 42. Pairs of 2^28: u32 / u32 6,216, in blocks of 384
    // with 34 items 6,505; u64 / u64: 21,768 with 23 items, 22,099 with 21; u64 / u32 with 22 items 17,892. Found by
    // tune.py, 2026-11-26, except those of f32.
    static constexpr int max_key_items = items_within(184, 45);
    static constexpr int max_pair_items =
        key_bytes == 8 && value_bytes == 8 ? 23 : items_within(key_bytes == value_bytes ? 168 : 176, 34);
    static constexpr radix_pass_tuning pass =
        value_bytes == 0 ? radix_pass_tuning{/*block_threads*/ 256, /*items_per_thread*/ max_key_items,
                                             /*blocks_per_multiprocessor*/ 3}
        : key_bytes == 4 && value_bytes == 4
            ? radix_pass_tuning{/*block_threads*/ 256, /*items_per_thread*/ 64, /*blocks_per_multiprocessor*/ 2}
            : radix_pass_tuning{/*block_threads*/ threads_within(384, widest, shared_bytes_of_900),
                                /*items_per_thread*/ max_pair_items, /*blocks_per_multiprocessor*/ 2};
    // 2^10: 5.2 (9.9).
    static constexpr radix_block_tuning small_block{/*block_threads*/ 256,
                                                    /*items_per_thread*/ items_within(16, 4)};
    // 2^13 / 2^14: 12.8 / 15.7 (44.4 / 46.5).
    static constexpr radix_cluster_tuning cluster{
        /*block_threads*/ 256,
        /*items_per_thread*/ 1 << (detail::log2_ceiling(pairs_within(64, 8) + 1) - 1),
        /*blocks*/ key_bytes + value_bytes <= 256 ? 8 : 0};
    // This row is used if there are no clusters. H100, 2026-11-26, 2^11 / 2^12 / 2^13: 15.6 / 16.1 / 18.1; 256 threads
    // with 32 items 19.2 / 19.1 / 17.1, and twice the code.
    static constexpr radix_block_tuning large_block{/*block_threads*/ threads_within(512, widest, shared_bytes_of_900),
                                                    /*items_per_thread*/ pairs_within(64, 16)};
    // 2^16 / 2^18 / 2^20: 20.9 / 24.6 / 36.9 (51.2 / 58.5 / 77.3). Keys of 8 bytes with values of 4, 2026-11-28, by
    // tiles of 16 or of 10 items a thread: 2^16 in 45.6 or 46.2, 2^19 in 76.8 or 76.5, 2^20 in 110 or 166. Tiles of 10
    // do not hold 2^20 items, which are sorted in passes. With values of 8 bytes, by tiles of 16 or of 8: 2^20 in 133
    // or 185, the latter in passes.
    static constexpr int grid_pair_bytes = key_bytes != 8 ? 128 : value_bytes == 4 ? 192 : value_bytes == 8 ? 256 : 128;
    static constexpr radix_grid_tuning grid{
        /*block_threads*/ threads_within(512, key_bytes + value_bytes, shared_bytes_of_900),
        /*items_per_thread*/ pairs_within(grid_pair_bytes, 32),
        /*least_items_per_thread*/ pairs_within(16, 2),
        /*blocks_per_multiprocessor*/ 1, /*most_items*/ 1 << 22};
    // u16 of 2^24 / 2^28: 72.7 / 573; in passes 161 / 2,056.
    static constexpr radix_words_tuning words{/*block_threads*/ 1024, /*least_items*/ std::size_t{1} << 23};
  };

  // Not measured. Derived from rows_900, with tiles and counters that fit, and without clusters. Where two large tiles
  // of a pass do not fit a multiprocessor, it has two blocks of 256 threads with smaller ones.
  template <int Architecture>
  struct rows : rows_900 {
    static constexpr detail::architecture_limits limits = detail::limits_of(Architecture);

    // On 12.0, blocks of 1,024 threads would spill up to 312 bytes of registers.
    static constexpr radix_histogram_tuning histogram{
        Architecture < 1200 ? rows_900::histogram.block_threads : 512,
        detail::least(rows_900::histogram.shared_bytes, limits.shared_bytes_of_block - (4 << 10))};
    static constexpr radix_pass_tuning pass_of(int threads, int blocks) {
      const int tile_bytes = limits.shared_bytes_each(blocks) - pass_bytes_without_tile(threads);
      return {threads, items_within(tile_bytes / threads, rows_900::pass.items_per_thread), blocks};
    }
    static constexpr radix_pass_tuning pass =
        limits.shared_bytes_each(2) < 64 << 10
            ? pass_of(256, 2)
            : pass_of(threads_within(rows_900::pass.block_threads, widest, limits.shared_bytes_of_block),
                      rows_900::pass.blocks_per_multiprocessor);
    static constexpr radix_cluster_tuning cluster = small_tiles::cluster;
    static constexpr radix_block_tuning large_block{
        threads_within(rows_900::large_block.block_threads, widest, limits.shared_bytes_of_block),
        rows_900::large_block.items_per_thread};
    static constexpr int grid_threads =
        threads_within(rows_900::grid.block_threads, key_bytes + value_bytes, limits.shared_bytes_of_block);
    static constexpr int grid_bytes_of_thread =
        (limits.shared_bytes_of_block - grid_bytes_without_tile(grid_threads)) / grid_threads;
    static constexpr radix_grid_tuning grid{
        grid_threads, pairs_within(grid_bytes_of_thread, rows_900::grid.items_per_thread),
        rows_900::grid.least_items_per_thread, rows_900::grid.blocks_per_multiprocessor, rows_900::grid.most_items};
    // A block has 128 KiB of counters.
    static constexpr radix_words_tuning words =
        limits.shared_bytes_of_block < 144 << 10 ? small_tiles::words : rows_900::words;
  };

  struct Policy750 : small_tiles, ChainedPolicy<750, Policy750, Policy750> {};
  struct Policy800 : rows<800>, ChainedPolicy<800, Policy800, Policy750> {};
  struct Policy860 : rows<860>, ChainedPolicy<860, Policy860, Policy800> {};
  struct Policy900 : rows_900, ChainedPolicy<900, Policy900, Policy860> {};
  struct Policy1200 : rows<1200>, ChainedPolicy<1200, Policy1200, Policy900> {};

  using MaxPolicy = Policy1200;
};

namespace detail {

/// True if all blocks have a thread for each digit, and whole warps.
template <class... Threads>
constexpr bool are_radix_blocks(Threads... threads) {
  return ((threads >= radix_bins && threads <= 1024 && threads % 32 == 0) && ...);
}

/// Values of a policy by which temporary storage is sized: the smallest tiles of a pass and of a sort in one launch,
/// and the smallest number of items for which words are counted.
template <class Policy>
struct radix_pass_tile {
  static constexpr std::size_t value =
      static_cast<std::size_t>(Policy::pass.block_threads) * Policy::pass.items_per_thread;
};
template <class Policy>
struct radix_grid_tile {
  static constexpr std::size_t value =
      static_cast<std::size_t>(Policy::grid.block_threads) * Policy::grid.least_items_per_thread;
};
inline constexpr std::size_t radix_no_words = ~std::size_t{0};
template <class Policy>
struct radix_least_words {
  static constexpr std::size_t value = Policy::words.least_items > 0 ? Policy::words.least_items : radix_no_words;
};

}  // namespace detail

STRATA_NAMESPACE_END
