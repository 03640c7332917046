// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/block/specializations/radix_rank_half_warps.cuh>
#include <strata/block/specializations/radix_rank_match.cuh>
#include <strata/block/specializations/radix_warp_counters.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Ranks a block's items as radix_rank_half_warps does, for digits of at most `RadixBits` bits, by radix_rank_match
/// with votes. Where digits are few, the lanes of radix_rank_half_warps add to the same counter one after the other.
template <int BlockThreads, int ItemsPerThread, int RadixBits>
class radix_rank_few_digits {
  using Scan = BlockScan<int, BlockThreads, BLOCK_SCAN_WARP_SCANS>;
  using Match = radix_rank_match<radix_warp_counters<BlockThreads, RadixBits, false, Scan>,
                                 radix_match_votes<BlockThreads, RadixBits>, false>;

 public:
  static constexpr int bins = Match::bins;
  // not for users: the kernels see to it
  static_assert(BlockThreads % warp_threads == 0 && BlockThreads >= bins,
                "a block has whole warps, and a thread for each digit");

  using TempStorage = typename Match::storage;

  template <bool IsFull, class DigitOf, class Item>
  using tile_digits = radix_tile_digits<ItemsPerThread, warp_threads, bins, IsFull, DigitOf, Item>;

  STRATA_D explicit radix_rank_few_digits(TempStorage& storage) : storage_(storage) {}

  /// Item `i` of the calling thread is item `first_item() + i * stride()` of the block.
  STRATA_D static constexpr int stride() { return warp_threads; }
  STRATA_D unsigned first_item() const {
    return threadIdx.x / warp_threads * unsigned{warp_threads * ItemsPerThread} + platform::lane_id();
  }

  /// As radix_rank_half_warps::rank().
  template <class Digit, class OnCount, class OnStart, class OnRank>
  STRATA_D void rank(Digit& digit, const OnCount& on_count, const OnStart& on_start, const OnRank& on_rank) {
    const unsigned thread = threadIdx.x;
    int ranks[ItemsPerThread];
    int starts[1];
    unsigned count = 0;
    const auto on_counts = [&](const int(&counts)[1]) {
      if (thread >= bins) return;
      count = static_cast<unsigned>(counts[0]);
      on_count(thread, count);
    };
    Match(storage_, static_cast<int>(thread)).rank(digit, ranks, starts, on_counts, BlockThreads * ItemsPerThread);
    if (thread < bins) on_start(thread, static_cast<unsigned>(starts[0]), count);
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) on_rank(i, static_cast<unsigned>(ranks[i]));
  }

 private:
  TempStorage& storage_;
};

}  // namespace detail
STRATA_NAMESPACE_END
