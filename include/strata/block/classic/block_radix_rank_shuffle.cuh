// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_radix_rank.cuh>
#include <strata/block/specializations/block_radix_rank_base.cuh>
#include <strata/block/specializations/block_shape.cuh>
#include <strata/block/specializations/radix_warp_counters.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Ranks by warps, with shuffles alone. A row is one item of each lane. Lane d counts the items of its warp that have
/// digit d. Each lane reads the digits of all lanes, by 32 shuffles a row.
template <class Counters>
class radix_rank_shuffle {
 public:
  static constexpr int bins = Counters::bins;
  static constexpr int bins_per_thread = Counters::bins_per_thread;
  using storage = typename Counters::storage;

  STRATA_D radix_rank_shuffle(storage& temp_storage, int thread) : counters_(temp_storage, thread) {}

  /// Ranks the items. `digit(i)` returns the digit of the thread's item i, in warp-striped arrangement.
  template <class Digit, std::size_t ItemsPerThread, class Starts, class OnCounts>
  STRATA_D void rank(const Digit& digit, int (&ranks)[ItemsPerThread], Starts& starts, OnCounts& on_counts, int items) {
    count<ItemsPerThread>(digit);
    __syncthreads();
    prefix(items, starts, on_counts);
    __syncthreads();
    rank_items(digit, ranks);
  }

 private:
  /// Counts in one row of the warp.
  struct row_counts {
    unsigned of_lane;   // items whose digit is the number of this lane
    unsigned of_digit;  // items with this lane's digit, in lanes before it
  };

  STRATA_D row_counts count_row(unsigned digit) const {
    row_counts found{0, 0};
    STRATA_UNROLL
    for (int source = 0; source < warp_threads; ++source) {
      const unsigned other = __shfl_sync(full_warp_mask, digit, source);
      if (other == counters_.lane()) ++found.of_lane;
      if (other == digit && static_cast<unsigned>(source) < counters_.lane()) ++found.of_digit;
    }
    return found;
  }

  // Step 1, count: how many items of the warp have each digit.
  template <std::size_t ItemsPerThread, class Digit>
  STRATA_D void count(const Digit& digit) {
    unsigned counted = 0;
    STRATA_UNROLL
    for (std::size_t i = 0; i < ItemsPerThread; ++i) {
      counted += count_row(digit(static_cast<int>(i))).of_lane;
    }
    if (counters_.lane() < unsigned{bins}) counters_[counters_.lane()] = counted;
  }

  // Step 2, prefix: the rank of the warp's first item with each digit. Before it are all items with smaller digits, and
  // the items with the same digit in earlier warps.
  template <class Starts, class OnCounts>
  STRATA_D void prefix(int items, Starts& starts, OnCounts& on_counts) {
    counters_.scan(items, starts, on_counts);
  }

  // Step 3, rank: adds the number of items with the same digit in earlier rows and, in the same row, in lower lanes.
  template <class Digit, std::size_t ItemsPerThread>
  STRATA_D void rank_items(const Digit& digit, int (&ranks)[ItemsPerThread]) {
    unsigned next = counters_.lane() < unsigned{bins} ? counters_[counters_.lane()] : 0;
    STRATA_UNROLL
    for (std::size_t i = 0; i < ItemsPerThread; ++i) {
      const unsigned item_digit = digit(static_cast<int>(i));
      const row_counts found = count_row(item_digit);
      const unsigned rank = __shfl_sync(full_warp_mask, next, static_cast<int>(item_digit)) + found.of_digit;
      ranks[i] = static_cast<int>(rank);
      next += found.of_lane;
    }
  }

  Counters counters_;
};

}  // namespace detail

/// Ranks items in warp-striped arrangement by the three steps of the textbook, with warp shuffles only. It is there to
/// be read, and to be compared with other ways. It has the members of BlockRadixRank, and their contract.
///
/// 1. Count: each lane reads the digits of all lanes of its warp, and lane d counts those that equal d.
/// 2. Prefix: the block scans the counts of all warps, digit after digit.
/// 3. Rank: the rank of an item is the number of items with smaller digits, plus the number of those with its digit in
///    earlier warps, in earlier rows of its warp, and in lower lanes of its row.
///
/// - Blocks must have whole warps. Each item takes 64 shuffles and one more; BlockRadixRankMatch takes RadixBits votes.
/// - Shared memory: a word for each digit and warp.
///
/// @code
/// #include <strata/core/launcher.cuh>
///
/// struct lowest_digit {
///   STRATA_D unsigned Digit(unsigned key) const { return key & 15; }
/// };
/// __managed__ unsigned keys[64], sorted[64];
///
/// // Sorts 64 keys by their lowest 4 bits, stably. Thread t has keys t and t + 32.
/// STRATA_KERNEL void sort_by_lowest_digit(const unsigned* in, unsigned* out) {
///   using Rank = strata::BlockRadixRankShuffle<32>;
///   STRATA_SHARED(temp_storage, Rank::TempStorage);
///   unsigned items[2] = {in[threadIdx.x], in[32 + threadIdx.x]};
///   int ranks[2];
///   Rank(temp_storage).RankKeys(items, ranks, lowest_digit{});
///   for (int i = 0; i < 2; ++i) out[ranks[i]] = items[i];
/// }
///
/// int main() {
///   for (unsigned i = 0; i < 64; ++i) keys[i] = i << 4 | (63 - i) / 4;
///   if (strata::launch({"sort_by_lowest_digit", 1, 32}, sort_by_lowest_digit, keys, sorted) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int i = 0; i < 5; ++i) std::printf("%x ", sorted[i]);
/// }
/// // prints: 3c0 3d0 3e0 3f0 381
/// @endcode
template <int BlockDimX, int RadixBits = 4, bool IsDescending = false,
          BlockScanAlgorithm InnerScan = BLOCK_SCAN_WARP_SCANS, int BlockDimY = 1, int BlockDimZ = 1>
class BlockRadixRankShuffle
    : public detail::block_radix_rank_base<detail::radix_rank_shuffle<detail::radix_rank_counters<
                                               BlockDimX, BlockDimY, BlockDimZ, RadixBits, IsDescending, InnerScan>>,
                                           detail::block_shape<BlockDimX, BlockDimY, BlockDimZ>> {
  static_assert(RadixBits <= 5,
                "BlockRadixRankShuffle keeps the counter of each digit in a lane of its own: digits "
                "have at most 5 bits; take BlockRadixRankMatch for more");
  static_assert(BlockDimX * BlockDimY * BlockDimZ % warp_threads == 0,
                "BlockRadixRankShuffle needs whole warps: choose a block of a multiple of 32 threads, "
                "or BlockRadixRankMatch");

 public:
  using BlockRadixRankShuffle::block_radix_rank_base::block_radix_rank_base;
};

STRATA_NAMESPACE_END
