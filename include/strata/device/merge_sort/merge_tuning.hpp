// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/detail/architecture_limits.hpp>
#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN

/// A block merges a tile of `block_threads * items_per_thread` items.
struct merge_tuning {
  int block_threads;
  /// It is odd, so that there need be no gaps between the items of threads.
  int items_per_thread;
  /// Blocks that registers must allow.
  int blocks_per_multiprocessor;
  /// If there are more tiles, a separate kernel searches where ranges are cut. That is faster if the ranges are not in
  /// L2.
  unsigned long long max_tiles_without_splits;
  /// True if values of arrays move through shared memory, beside their keys. Otherwise they are read by index from
  /// device memory, as values of other iterators always are.
  bool stages_values = false;
};

/// The rows of DeviceMerge for keys of `KeyBytes` with values of `ValueBytes`; 0: keys alone.
template <int KeyBytes, int ValueBytes = 0>
struct merge_policy_hub {
  /// True if such values fill 16 bytes without a rest.
  static constexpr bool stages_values =
      ValueBytes == 1 || ValueBytes == 2 || ValueBytes == 4 || ValueBytes == 8 || ValueBytes == 16;
  static constexpr int item_bytes = KeyBytes + (stages_values ? ValueBytes : 0);
  static constexpr int items_of(int bytes, int up_to_4, int up_to_8, int up_to_16) {
    return bytes <= 4 ? up_to_4 : bytes <= 8 ? up_to_8 : bytes <= 16 ? up_to_16 : bytes <= 24 ? 5 : bytes <= 48 ? 3 : 1;
  }
  /// The tile of pairs whose values are gathered has 4 bytes more for each.
  static constexpr int items = stages_values     ? items_of(item_bytes, 11, 11, 7)
                               : ValueBytes == 0 ? items_of(KeyBytes, 23, 13, 5)
                                                 : items_of(KeyBytes, 19, 11, 5);
  /// Number of threads with which a tile has up to 32 KiB.
  static constexpr int threads_within(int threads) {
    return threads > 32 && threads * items * item_bytes > (32 << 10) ? threads_within(threads / 2) : threads;
  }

  // Not measured. Adapted from Policy900, with 4 blocks, because 7.5 holds 1,024 threads.
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    static constexpr merge_tuning tuning{threads_within(256), items, /*blocks_per_multiprocessor=*/4,
                                         /*max_tiles_without_splits=*/4096, stages_values};
  };
  struct rows_900 {
    // H200, 2026-11-29, CUDA 13.0, two halves of random keys, us for 2^20, 2^24, 2^28: i32: 256 x 23 with 5 blocks:
    // 5.8, 49, 566; 256 x 19 with 6: 6.0, 50, 573; CUB 3.5: 12, 56, 578. i64: 256 x 13 with 5: 7.4, 83, 1,113; 256 x 11
    // with 6: 7.6, 87, 1,124; 384 x 11 with 4: 8.4, 91, 1,093; CUB: 15, 97, 1,247. Where blocks search, 2^26 keys take
    // 200 us, with splits 166 (2026-11-24). i32:i32 pairs, us for 2^20, 2^24, 2^26: staged, 256 x 11 with 7 blocks:
    // 7.8, 87, 299; with 6: 7.9, 91, 303; 256 x 13 with 6: 7.9, 112, 346; gathered, 256 x 19 with 6: 8.9, 101, 356;
    // CUB: 14, 93, 315. i64:i64: staged, 256 x 7 with 6: 12, 163, 568; 256 x 11 with 4: 12, 157, 561; gathered, 256 x
    // 11 with 6: 12, 209, 628; CUB: 23, 173, 644.
    static constexpr int blocks = stages_values   ? (item_bytes <= 8    ? 7
                                                     : item_bytes <= 16 ? 6
                                                                        : 4)
                                  : KeyBytes <= 8 ? 5
                                                  : 4;
    static constexpr merge_tuning tuning{threads_within(256), items,
                                         /*blocks_per_multiprocessor=*/blocks,
                                         /*max_tiles_without_splits=*/4096, stages_values};
  };
  // Not measured. Derived from rows_900, with as many blocks as fit. A tile of pairs whose values are gathered has 4
  // bytes more for each item.
  template <int Architecture>
  struct rows : rows_900 {
    static constexpr int tile_bytes =
        rows_900::tuning.block_threads * items * (item_bytes + (stages_values ? 0 : 4)) + 512;
    static constexpr merge_tuning tuning{
        rows_900::tuning.block_threads, items,
        detail::limits_of(Architecture)
            .blocks_within(rows_900::tuning.blocks_per_multiprocessor, rows_900::tuning.block_threads, tile_bytes),
        rows_900::tuning.max_tiles_without_splits, stages_values};
  };
  struct Policy800 : rows<800>, ChainedPolicy<800, Policy800, Policy750> {};
  struct Policy860 : rows<860>, ChainedPolicy<860, Policy860, Policy800> {};
  struct Policy900 : rows_900, ChainedPolicy<900, Policy900, Policy860> {};
  struct Policy1070 : rows<1070>, ChainedPolicy<1070, Policy1070, Policy900> {};
  struct Policy1100 : rows<1100>, ChainedPolicy<1100, Policy1100, Policy1070> {};
  struct Policy1200 : rows<1200>, ChainedPolicy<1200, Policy1200, Policy1100> {};
  using MaxPolicy = Policy1200;
};

STRATA_NAMESPACE_END
