// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/warp_reduce.cuh>
#include <strata/warp/warp_scan.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Ranks a block's items by a digit, stably: how many items have a smaller digit, or the same and come
/// earlier.
///
/// Each half warp has a counter for each digit, and contiguous items: row `i` of it are its items
/// 16 * i to 16 * i + 15, one for each lane. A counter is a word whose upper half counts; the lower
/// half tells lanes of one row apart. One addition of (1, own lane's bit) by each lane of a row leaves
/// there how many items were before and in the row, and who is in it: that is a rank, without a vote
/// for each bit of the digit, and whatever the order in which the additions happen.
///
/// Where many items have one digit, additions to its counter would queue up. A digit that a sample
/// finds in more than an eighth of a warp's items is told by one vote a row instead.
///
/// Digits that neighbouring rows of sorted items have differ by a power of two, often: counters are
/// permuted, so that these lie in different banks.
///
/// With `HasFewerRows`, threads may have fewer items than ItemsPerThread, all as many: loops then end
/// where the rows do, which costs a quarter of the speed with many items.
template <int BlockThreads, int ItemsPerThread, int RadixBits, bool HasFewerRows = false>
class radix_rank_half_warps {
 public:
  static constexpr int bins = 1 << RadixBits;
  static constexpr int half_warp = 16;
  static constexpr int half_warps = BlockThreads / half_warp;
  // not for users: policies are checked where they are read
  static_assert(BlockThreads % warp_threads == 0 && BlockThreads >= bins,
                "a block has whole warps, and a thread for each digit");
  // not for users: as above
  static_assert(bins >= warp_threads, "digits have at least 5 bits");
  // not for users: as above
  static_assert(BlockThreads * ItemsPerThread < 1 << 16, "ranks have 16 bits");

  struct TempStorage {
    alignas(16) unsigned counters[half_warps][bins];
    unsigned sum_of_warp[bins / warp_threads];
  };

  /// `rows` is the number of items of a thread, if it has fewer.
  STRATA_D explicit radix_rank_half_warps(TempStorage& storage, int rows = ItemsPerThread)
      : storage_(storage),
        rows_(rows),
        lane_(platform::lane_id()),
        half_warp_(threadIdx.x / half_warp),
        mine_(storage.counters[half_warp_]) {}

  /// The number in the block of the calling thread's item `i`.
  STRATA_D static constexpr int stride() { return half_warp; }
  STRATA_D unsigned first_item() const {
    return half_warp_ * static_cast<unsigned>(half_warp * rows()) + lane_ % half_warp;
  }

  /// By all threads of the block. `digit(i)` is that of the thread's item `i`, asked for twice, with
  /// `digit.forget()` in between, so that not all digits are kept in registers;
  /// `on_count(d, count)` is called by thread `d`, for each digit `d`, before anybody waits for it;
  /// `on_start(d, start, count)` when the rank of its first item is known; `place(i, rank)` by all
  /// threads after that. Ranks are those of all BlockThreads * rows items. The storage may be
  /// used again after a barrier.
  template <class Digit, class OnCount, class OnStart, class Place>
  STRATA_D void rank(Digit& digit, const OnCount& on_count, const OnStart& on_start,
                     const Place& place) {
    count_digits(digit);
    const unsigned hot = frequent_digit(digit);
    __syncthreads();
    scan_digits(on_count, on_start);
    digit.forget();
    __syncthreads();
    if (hot == none) {
      rank_items(digit, place);
    } else {
      rank_items_beside(hot, digit, place);
    }
  }

 private:
  static constexpr unsigned none = ~0u;
  static constexpr unsigned one = 1u << 16;
  // In registers, where items leave them free.
  static constexpr bool keeps_counts = half_warps + 2 * ItemsPerThread <= 32;

  STRATA_D int rows() const { return HasFewerRows ? rows_ : ItemsPerThread; }
  STRATA_D static unsigned place_of(unsigned digit) { return digit ^ digit >> 5; }
  STRATA_D unsigned lane_bit() const { return 1u << lane_ % half_warp; }

  template <class Digit>
  STRATA_D void count_digits(const Digit& digit) {
    for (unsigned i = lane_ % half_warp; i < bins; i += half_warp) mine_[i] = 0;
    __syncwarp();
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (i >= rows()) break;
      atomicAdd(&mine_[place_of(digit(i))], 1u);
    }
    __syncwarp();
  }

  // The same for the warp.
  template <class Digit>
  STRATA_D unsigned frequent_digit(const Digit& digit) const {
    unsigned sample = 0;
    if (HasFewerRows) sample = digit(0);
    if (rows() > ItemsPerThread / 2) sample = digit(ItemsPerThread / 2);
    const unsigned count = mine_[place_of(sample)];
    typename WarpReduce<unsigned>::TempStorage unused;
    const unsigned most = __shfl_sync(
        full_warp_mask, WarpReduce<unsigned>(unused).Reduce(count << RadixBits | sample, Max{}), 0);
    return (most >> RadixBits) * 8 > static_cast<unsigned>(half_warp * rows())
               ? most & unsigned{bins - 1}
               : none;
  }

  template <class OnCount, class OnStart>
  STRATA_D void scan_digits(const OnCount& on_count, const OnStart& on_start) {
    const unsigned digit = threadIdx.x;
    const unsigned place = place_of(digit);
    unsigned count = 0, up_to_digit = 0;
    unsigned counts[keeps_counts ? half_warps : 1];
    if (digit < bins) {
      STRATA_UNROLL_N(keeps_counts ? half_warps : 8)
      for (int h = 0; h < half_warps; ++h) {
        const unsigned in_half_warp = storage_.counters[h][place];
        if (keeps_counts) counts[h] = in_half_warp;
        count += in_half_warp;
      }
      on_count(digit, count);
      typename WarpScan<unsigned>::TempStorage unused;
      WarpScan<unsigned>(unused).InclusiveSum(count, up_to_digit);
      if (lane_ == warp_threads - 1) storage_.sum_of_warp[digit / warp_threads] = up_to_digit;
    }
    __syncthreads();
    if (digit < bins) {
      unsigned start = up_to_digit - count;
      STRATA_UNROLL
      for (unsigned w = 0; w < unsigned{bins / warp_threads}; ++w) {
        if (w < digit / warp_threads) start += storage_.sum_of_warp[w];
      }
      on_start(digit, start, count);
      // The counters become ranks of the half warps' first items.
      STRATA_UNROLL_N(keeps_counts ? half_warps : 8)
      for (int h = 0; h < half_warps; ++h) {
        const unsigned in_half_warp = keeps_counts ? counts[h] : storage_.counters[h][place];
        storage_.counters[h][place] = start << 16;
        start += in_half_warp;
      }
    }
  }

  // Of the row whose lanes have added themselves to the counter.
  STRATA_D unsigned rank_in(unsigned counted, bool& is_last) const {
    const unsigned from_here = counted & (one - 1) & ~(lane_bit() - 1);
    is_last = from_here == lane_bit();
    return (counted >> 16) - static_cast<unsigned>(__popc(from_here));
  }

  template <class Digit, class Place>
  STRATA_D void rank_items(const Digit& digit, const Place& place) {
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (i >= rows()) break;
      unsigned* const counter = &mine_[place_of(digit(i))];
      atomicAdd(counter, one | lane_bit());
      __syncwarp();
      const unsigned counted = *static_cast<volatile unsigned*>(counter);
      __syncwarp();
      bool is_last;
      const unsigned rank = rank_in(counted, is_last);
      if (is_last) *static_cast<volatile unsigned*>(counter) = counted & ~(one - 1);
      place(i, rank);
      __syncwarp();
    }
  }

  template <class Digit, class Place>
  STRATA_D void rank_items_beside(unsigned hot, const Digit& digit, const Place& place) {
    unsigned next_hot = mine_[place_of(hot)] >> 16;
    __syncwarp();
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (i >= rows()) break;
      const unsigned own = digit(i);
      const bool is_hot = own == hot;
      unsigned* const counter = &mine_[place_of(own)];
      const unsigned hot_lanes =
          __ballot_sync(full_warp_mask, is_hot ? 1 : 0) >> (lane_ & half_warp) & (one - 1);
      if (!is_hot) atomicAdd(counter, one | lane_bit());
      __syncwarp();
      unsigned counted = 0;
      if (!is_hot) counted = *static_cast<volatile unsigned*>(counter);
      __syncwarp();
      unsigned rank;
      if (is_hot) {
        rank = next_hot + static_cast<unsigned>(__popc(hot_lanes & (lane_bit() - 1)));
      } else {
        bool is_last;
        rank = rank_in(counted, is_last);
        if (is_last) *static_cast<volatile unsigned*>(counter) = counted & ~(one - 1);
      }
      next_hot += static_cast<unsigned>(__popc(hot_lanes));
      place(i, rank);
      __syncwarp();
    }
  }

  TempStorage& storage_;
  int rows_;
  unsigned lane_;
  unsigned half_warp_;
  unsigned* mine_;
};

}  // namespace detail
STRATA_NAMESPACE_END
