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
  /// Odd: without gaps between the items of threads.
  int items_per_thread;
  /// What registers must allow.
  int blocks_per_multiprocessor;
  /// Of more tiles, a kernel of its own searches where ranges are cut. That is faster if the ranges are not in L2.
  unsigned long long max_tiles_without_splits;
};

/// The rows of DeviceMerge for keys of `KeyBytes`.
template <int KeyBytes>
struct merge_policy_hub {
  static constexpr int items = KeyBytes <= 4 ? 19 : KeyBytes <= 8 ? 11 : KeyBytes <= 16 ? 5 : KeyBytes <= 32 ? 3 : 1;
  /// So many threads that a tile has up to 32 KiB.
  static constexpr int threads_within(int threads) {
    return threads > 32 && threads * items * KeyBytes > (32 << 10) ? threads_within(threads / 2) : threads;
  }

  // Not measured: from Policy900, with 4 blocks, because 7.5 holds 1,024 threads.
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    static constexpr merge_tuning tuning{threads_within(256), items, /*blocks_per_multiprocessor=*/4,
                                         /*max_tiles_without_splits=*/4096};
  };
  struct rows_900 {
    // H200, 2026-11-24, CUDA 13.0, two halves of 2^28 random keys: i32 599 us, where CUB takes 627; of 2^27, i64
    // 594 us, CUB 641. 512 threads with 15 items 594 us, 256 with 15 and 8 blocks 612. Where blocks search, 2^26 keys
    // take 200 us, with splits 166; 2^24 both 56; 2^20 10 and 14. Pairs were not measured.
    static constexpr merge_tuning tuning{threads_within(256), items,
                                         /*blocks_per_multiprocessor=*/KeyBytes <= 8 ? 6 : 4,
                                         /*max_tiles_without_splits=*/4096};
  };
  // Derived, not measured: from rows_900, with as many blocks as fit. A tile of pairs has 4 bytes more for each item.
  template <int Architecture>
  struct rows : rows_900 {
    static constexpr int tile_bytes = rows_900::tuning.block_threads * items * (KeyBytes + 4) + 256;
    static constexpr merge_tuning tuning{
        rows_900::tuning.block_threads, items,
        detail::limits_of(Architecture)
            .blocks_within(rows_900::tuning.blocks_per_multiprocessor, rows_900::tuning.block_threads, tile_bytes),
        rows_900::tuning.max_tiles_without_splits};
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
