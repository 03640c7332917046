// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// How the counting of digits is cut.
struct radix_histogram_tuning {
  int block_threads;
  /// What the counters of a block may take.
  int shared_bytes;
};

/// How a pass that moves items by one digit is cut.
struct radix_pass_tuning {
  int block_threads;
  int items_per_thread;
  /// What registers and shared memory must allow.
  int blocks_per_multiprocessor;
};

/// How a sort in one block is cut: up to block_threads * items_per_thread items.
struct radix_block_tuning {
  int block_threads;
  int items_per_thread;
};

/// How a sort in one cluster of blocks is cut: up to as many items as these have room for. A thread's
/// items are a power of two.
struct radix_cluster_tuning {
  int block_threads;
  int items_per_thread;
  /// 0: never.
  int blocks;
};

/// How a sort in one launch by all blocks that a device holds is cut. The blocks have tiles of
/// items_per_thread items a thread; of fewer where that makes no more of them than there are
/// multiprocessors.
struct radix_grid_tuning {
  int block_threads;
  int items_per_thread;
  int least_items_per_thread;
  /// What registers and shared memory must allow.
  int blocks_per_multiprocessor;
  /// Up to which it is done, where the blocks have room for them; 0: never.
  int most_items;
};

/// How keys of two bytes are counted and written anew.
struct radix_words_tuning {
  int block_threads;
  /// From which on it is done, 2^16 + 8 or more; 0: never. A block has 128 KiB of counters, in
  /// shared memory and in place of as many keys.
  std::size_t least_items;
};

namespace detail {

/// All sorts have digits of 8 bits: fewer make more passes, more do not fit shared memory.
inline constexpr int radix_bits = 8;
inline constexpr int radix_bins = 1 << radix_bits;
/// A tile of 256 values, with what ranks them, fits the 227 KB of shared memory of 9.0 and 10.0.
inline constexpr std::size_t most_radix_value_bytes = 800;

template <class Key, class Value>
struct radix_sort_policy_hub {
  static constexpr int key_bytes = static_cast<int>(sizeof(Key));
  static constexpr int value_bytes =
      std::is_same_v<Value, NullType> ? 0 : static_cast<int>(sizeof(Value));
  static constexpr int widest = key_bytes > value_bytes ? key_bytes : value_bytes;

  // Items of a thread, whose keys and values take turns in `bytes`.
  static constexpr int items_within(int bytes, int most) {
    const int items = bytes / widest;
    return items < 1 ? 1 : items > most ? most : items;
  }

  // Threads of a block, as many as are wanted if a tile of one item each leaves room for the rest in
  // the 227 KB of shared memory of 9.0 and 10.0; there must be one for each digit.
  static constexpr int threads_within(int wanted, int bytes_of_item) {
    while (wanted > radix_bins && wanted * bytes_of_item > 200 << 10) wanted -= 128;
    return wanted;
  }

  // The same, of keys and values that are there together.
  static constexpr int pairs_within(int bytes, int most) {
    const int items = bytes / (key_bytes + value_bytes);
    return items < 1 ? 1 : items > most ? most : items;
  }

  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    static constexpr radix_histogram_tuning histogram{512, 48 << 10};
    static constexpr radix_pass_tuning pass{256, items_within(56, 24), 1};
    static constexpr radix_block_tuning small_block{256, items_within(16, 4)};
    static constexpr radix_cluster_tuning cluster{256, 1, 0};
    static constexpr radix_block_tuning large_block{256, items_within(64, 16)};
    static constexpr radix_grid_tuning grid{256, pairs_within(64, 16), pairs_within(64, 8), 1,
                                            1 << 20};
    static constexpr radix_words_tuning words{1024, 0};
  };

  struct Policy900 : ChainedPolicy<900, Policy900, Policy750> {
    static constexpr radix_histogram_tuning histogram{1024, 192 << 10};
    // As many items as registers allow, almost without spills. Pairs write to twice as many places:
    // they gain more from long runs in large tiles than from a third block.
    static constexpr int most_key_items =
        radix_mantissa_bits<Key> == 0 ? items_within(184, 44) : items_within(176, 42);
    static constexpr int most_pair_items = items_within(key_bytes == value_bytes ? 168 : 176, 34);
    static constexpr radix_pass_tuning pass =
        value_bytes == 0 ? radix_pass_tuning{256, most_key_items, 3}
                         : radix_pass_tuning{threads_within(384, widest), most_pair_items, 2};
    static constexpr radix_block_tuning small_block{256, items_within(16, 4)};
    static constexpr radix_cluster_tuning cluster{256,
                                                  1 << (log2_ceiling(pairs_within(64, 8) + 1) - 1),
                                                  key_bytes + value_bytes <= 256 ? 8 : 0};
    static constexpr radix_block_tuning large_block{256, pairs_within(128, 32)};
    static constexpr radix_grid_tuning grid{threads_within(512, key_bytes + value_bytes),
                                            pairs_within(128, 32), pairs_within(16, 2), 1, 1 << 22};
    static constexpr radix_words_tuning words{1024, std::size_t{1} << 23};
  };

  // Less than half of the shared memory of 9.0 and 10.0.
  struct Policy1200 : ChainedPolicy<1200, Policy1200, Policy900> {
    static constexpr radix_histogram_tuning histogram = Policy750::histogram;
    static constexpr radix_pass_tuning pass = Policy750::pass;
    static constexpr radix_block_tuning small_block = Policy750::small_block;
    static constexpr radix_cluster_tuning cluster = Policy750::cluster;
    static constexpr radix_block_tuning large_block = Policy750::large_block;
    static constexpr radix_grid_tuning grid = Policy750::grid;
    static constexpr radix_words_tuning words = Policy750::words;
  };

  using MaxPolicy = Policy1200;
  /// Of a pass, in any of the policies: temporary storage has room for the states of such tiles.
  static constexpr std::size_t least_tile_items =
      static_cast<std::size_t>(Policy750::pass.block_threads) * Policy750::pass.items_per_thread;
  /// From which on any of the policies counts keys of two bytes; 0: none does.
  static constexpr std::size_t least_counted_words = Policy900::words.least_items;
  /// The same of a sort in one launch, for its counts.
  template <class Policy>
  static constexpr std::size_t grid_tile_items =
      static_cast<std::size_t>(Policy::grid.block_threads) * Policy::grid.least_items_per_thread;
  static constexpr std::size_t least_grid_tile_items =
      grid_tile_items<Policy750> < grid_tile_items<Policy900> ? grid_tile_items<Policy750>
                                                              : grid_tile_items<Policy900>;
};

}  // namespace detail
STRATA_NAMESPACE_END
