// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/chained_policy.hpp>
#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN

/// A block merges tiles of `block_threads * items_per_thread` items, up to `tiles_per_block` neighbouring ones. Only
/// for the first of these it searches whole ranges.
struct merge_tuning {
  int block_threads;
  /// Odd: without gaps between the items of threads.
  int items_per_thread;
  /// What registers must allow.
  int blocks_per_multiprocessor;
  int tiles_per_block;
};

namespace detail {

template <int KeyBytes>
struct merge_policy_hub {
  static constexpr int items = KeyBytes <= 4 ? 19 : KeyBytes <= 8 ? 11 : KeyBytes <= 16 ? 5 : KeyBytes <= 32 ? 3 : 1;
  /// So many threads that a tile has up to 32 KiB.
  static constexpr int threads_within(int threads) {
    return threads > 32 && threads * items * KeyBytes > (32 << 10) ? threads_within(threads / 2) : threads;
  }

  // Not measured: from Policy800, with 4 blocks, because 7.5 holds 1,024 threads.
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750> {
    static constexpr merge_tuning tuning{threads_within(256), items, /*blocks_per_multiprocessor=*/4,
                                         /*tiles_per_block=*/8};
  };
  struct Policy800 : ChainedPolicy<800, Policy800, Policy750> {
    // H200, 2026-11-24, CUDA 13.0, two halves of 2^28 random keys: i32 837 us, i64 1,589 us, where CUB takes 625 and
    // 1,249. At 2^20 and below it is faster than CUB. Other rows were not tried.
    static constexpr merge_tuning tuning{threads_within(256), items,
                                         /*blocks_per_multiprocessor=*/KeyBytes <= 4 ? 5 : 4,
                                         /*tiles_per_block=*/8};
  };
  using MaxPolicy = Policy800;
};

}  // namespace detail
STRATA_NAMESPACE_END
