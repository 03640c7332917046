// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/packed_array.cuh>
#include <strata/block/specializations/radix_rank_half_warps.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/warp_scan.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Ranks a block's items as radix_rank_half_warps does, for digits of at most `RadixBits` bits, 5 at most. There is no
/// shared counter for which lanes with the same digit queue.
///
/// Each warp has contiguous items: row `i` of a warp is its items 32 * i to 32 * i + 31, one for each lane. Lane `d`
/// keeps in a register how many items of digit `d` the rows before have. One vote for each bit tells each lane which
/// lanes have the digit of its item, and which have the digit that it counts. The items' ranks in the warp stay in
/// registers until the ranks of the warps' first items are known.
template <int BlockThreads, int ItemsPerThread, int RadixBits>
class radix_rank_few_digits {
  static constexpr int warps = BlockThreads / warp_threads;

 public:
  static constexpr int bins = 1 << RadixBits;
  // not for users: the kernels keep these promises
  static_assert(BlockThreads % warp_threads == 0 && bins <= warp_threads,
                "a block has whole warps, a warp a lane for each digit");
  // not for users: as above
  static_assert(BlockThreads * ItemsPerThread < 1 << 16, "ranks have 16 bits");

  struct TempStorage {
    unsigned counters[warps][bins];
  };

  template <bool IsFull, class DigitOf, class Item>
  using tile_digits = radix_tile_digits<ItemsPerThread, warp_threads, bins, IsFull, DigitOf, Item>;

  STRATA_D explicit radix_rank_few_digits(TempStorage& storage)
      : storage_(storage), lane_(platform::lane_id()), warp_(threadIdx.x / warp_threads) {}

  /// Item `i` of the calling thread is item `first_item() + i * stride()` of the block.
  STRATA_D static constexpr int stride() { return warp_threads; }
  STRATA_D unsigned first_item() const { return warp_ * unsigned{warp_threads * ItemsPerThread} + lane_; }

  /// As radix_rank_half_warps::rank().
  template <class Digit, class OnCount, class OnStart, class OnRank>
  STRATA_D void rank(Digit& digit, const OnCount& on_count, const OnStart& on_start, const OnRank& on_rank) {
    packed_array<ItemsPerThread> ranks;
    unsigned count = 0;  // of the digit with the lane's number
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      const unsigned item_digit = digit(i);
      unsigned item_lanes = full_warp_mask;
      unsigned counted_lanes = full_warp_mask;
      STRATA_UNROLL
      for (int bit = 0; bit < RadixBits; ++bit) {
        const bool is_set = (item_digit >> bit & 1) != 0;
        const unsigned votes = __ballot_sync(full_warp_mask, is_set ? 1 : 0);
        item_lanes &= is_set ? votes : ~votes;
        counted_lanes &= (lane_ >> bit & 1) != 0 ? votes : ~votes;
      }
      const unsigned before = __shfl_sync(full_warp_mask, count, static_cast<int>(item_digit));
      ranks.set(i, before + static_cast<unsigned>(__popc(item_lanes & platform::lane_mask_lt())));
      count += static_cast<unsigned>(__popc(counted_lanes));
    }
    if (lane_ < bins) storage_.counters[warp_][lane_] = count;
    __syncthreads();
    if (warp_ == 0) scan_digits(on_count, on_start);
    digit.optimization_barrier();
    __syncthreads();
    const unsigned start = lane_ < bins ? storage_.counters[warp_][lane_] : 0;
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      on_rank(i, __shfl_sync(full_warp_mask, start, static_cast<int>(digit(i))) + ranks.get(i));
    }
  }

 private:
  // By the first warp. The counters become the ranks of the warps' first items.
  template <class OnCount, class OnStart>
  STRATA_D void scan_digits(const OnCount& on_count, const OnStart& on_start) {
    unsigned count = 0;
    if (lane_ < bins) {
      STRATA_UNROLL
      for (int w = 0; w < warps; ++w) count += storage_.counters[w][lane_];
      on_count(lane_, count);
    }
    unsigned start = 0;
    typename WarpScan<unsigned>::TempStorage unused;
    WarpScan<unsigned>(unused).ExclusiveSum(count, start);
    if (lane_ < bins) {
      on_start(lane_, start, count);
      STRATA_UNROLL
      for (int w = 0; w < warps; ++w) {
        const unsigned in_warp = storage_.counters[w][lane_];
        storage_.counters[w][lane_] = start;
        start += in_warp;
      }
    }
  }

  TempStorage& storage_;
  unsigned lane_;
  unsigned warp_;
};

}  // namespace detail
STRATA_NAMESPACE_END
