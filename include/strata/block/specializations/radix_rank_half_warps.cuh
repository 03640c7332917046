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

/// The exclusive sum of one number for each digit, by the first `Bins` threads of a block.
template <int Bins>
struct radix_digit_scan {
  struct TempStorage {
    unsigned warp_sums[Bins / warp_threads];
  };

  /// All threads of the block call, with the `lane` of their warp. Threads with `has_digit` hold one digit each, in
  /// order. They call `count_items()`, which sets `count`, and after a barrier `use(sum)` with the sum of the counts of
  /// smaller digits. `shared` may be used again after another barrier.
  template <class CountItems, class Use>
  STRATA_D static void exclusive_sum(TempStorage& shared, unsigned digit, unsigned lane, bool has_digit,
                                     unsigned& count, const CountItems& count_items, const Use& use) {
    unsigned inclusive = 0;
    if (has_digit) {
      count_items();
      typename WarpScan<unsigned>::TempStorage unused;
      WarpScan<unsigned>(unused).InclusiveSum(count, inclusive);
      if (lane == warp_threads - 1) shared.warp_sums[digit / warp_threads] = inclusive;
    }
    __syncthreads();
    if (has_digit) {
      unsigned sum = inclusive - count;
      STRATA_UNROLL
      for (unsigned w = 0; w < unsigned{Bins / warp_threads}; ++w) {
        if (w < digit / warp_threads) sum += shared.warp_sums[w];
      }
      use(sum);
    }
  }
};

/// Ranks a block's items by a digit, stably: the rank is the number of items that have a smaller digit, or
/// the same digit and come earlier.
///
/// Each half warp has a counter for each digit, and contiguous items: row `i` of a half warp is its items
/// 16 * i to 16 * i + 15, one for each lane. A counter is one word:
///
///     | rank of the next item of the digit: 16 bits | lanes of the row that have the digit: 16 bits |
///
/// First, each half warp counts its digits. A scan of the counts over the block sets each counter to the rank of the
/// half warp's first item of the digit. Then each lane of a row adds (1, its own bit) to the counter of its digit. The
/// lower half now says which lanes of the row have the digit. The upper half, minus the number of these lanes, is the
/// rank of the first of them. That gives the rank, without a vote for each bit of the digit, and whatever the order of
/// the additions.
///
/// Additions to one counter are serial, so a frequent digit is slow. Each warp samples its items and takes the most
/// frequent digit. If more than an eighth of a half warp's items have this digit, the warp ranks it by one vote for
/// each row instead.
///
/// A warp ranks a row of each of its two half warps at the same time. In sorted input, the digits of these two rows
/// often differ by a power of two. Counters are permuted, so that the counters of these digits lie in different banks.
///
/// With `HasFewerItems`, threads may have fewer than ItemsPerThread items. All threads have the same number. Loops then
/// end behind a thread's last item. That costs a quarter of the speed where there are many items.
template <int BlockThreads, int ItemsPerThread, int RadixBits, bool HasFewerItems = false>
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
    typename radix_digit_scan<bins>::TempStorage scan;
  };

  /// The digits of a thread's items, as `rank()` reads them. Items from index `valid` on are missing. They
  /// get the highest digit, so that they rank behind all others of the tile, and no key is needed for them.
  template <bool IsFull, class DigitOf, class Item>
  struct tile_digits {
    const Item (&items)[ItemsPerThread];
    const DigitOf& digit_of;  // digit_of(item, first_bit, bits)
    int first_bit;
    int bits;
    int first_item;
    int valid;

    STRATA_D unsigned operator()(int i) const {
      if (!IsFull && first_item + i * stride() >= valid) return unsigned{bins - 1};
      return digit_of(items[i], first_bit, bits);
    }
    STRATA_D void optimization_barrier() { platform::optimization_barrier(first_bit); }
  };

  /// `thread_items` is the number of items of a thread, where that may be less than ItemsPerThread.
  STRATA_D explicit radix_rank_half_warps(TempStorage& storage, int thread_items = ItemsPerThread)
      : storage_(storage),
        thread_items_(thread_items),
        lane_(platform::lane_id()),
        half_warp_(threadIdx.x / half_warp),
        counters_(storage.counters[half_warp_]) {}

  /// Item `i` of the calling thread is item `first_item() + i * stride()` of the block.
  STRATA_D static constexpr int stride() { return half_warp; }
  STRATA_D unsigned first_item() const {
    return half_warp_ * static_cast<unsigned>(half_warp * thread_items()) + lane_ % half_warp;
  }

  /// Ranks the items of a tile. All threads of the block call this.
  ///
  /// - `digit(i)` is the digit of the thread's item `i`. It is called at least twice for each item, and
  ///   `digit.optimization_barrier()` in between, so that the digits do not stay in registers.
  /// - Thread `d` calls `on_count(d, count)` for each digit `d` as soon as it knows the count, before the barrier of
  ///   the scan over the digits.
  /// - `on_start(d, start, count)` is called by thread `d` when the rank of the digit's first item is known.
  /// - `on_rank(i, rank)` is called by all threads after that.
  ///
  /// All BlockThreads * thread_items items are ranked. The storage may be used again after a barrier.
  template <class Digit, class OnCount, class OnStart, class OnRank>
  STRATA_D void rank(Digit& digit, const OnCount& on_count, const OnStart& on_start, const OnRank& on_rank) {
    count_digits(digit);
    const unsigned hot = frequent_digit(digit);
    __syncthreads();
    scan_digits(on_count, on_start);
    digit.optimization_barrier();
    __syncthreads();
    if (hot == none) {
      rank_items(digit, on_rank);
    } else {
      rank_items_beside(hot, digit, on_rank);
    }
  }

 private:
  static constexpr unsigned none = ~0u;
  static constexpr unsigned one = 1u << 16;
  // True if items leave enough registers free for the counts.
  static constexpr bool keeps_counts = half_warps + 2 * ItemsPerThread <= 32;

  STRATA_D int thread_items() const { return HasFewerItems ? thread_items_ : ItemsPerThread; }
  STRATA_D static unsigned permuted(unsigned digit) { return digit ^ digit >> 5; }
  STRATA_D unsigned lane_bit() const { return 1u << lane_ % half_warp; }

  template <class Digit>
  STRATA_D void count_digits(const Digit& digit) {
    for (unsigned i = lane_ % half_warp; i < bins; i += half_warp) counters_[i] = 0;
    __syncwarp();
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (i >= thread_items()) break;
      atomicAdd(&counters_[permuted(digit(i))], 1u);
    }
    __syncwarp();
  }

  // Returns a frequent digit, or none: the same in all lanes of the warp.
  template <class Digit>
  STRATA_D unsigned frequent_digit(const Digit& digit) const {
    unsigned sample = 0;
    if (HasFewerItems) sample = digit(0);
    if (thread_items() > ItemsPerThread / 2) sample = digit(ItemsPerThread / 2);
    const unsigned count = counters_[permuted(sample)];
    typename WarpReduce<unsigned>::TempStorage unused;
    const unsigned max =
        __shfl_sync(full_warp_mask, WarpReduce<unsigned>(unused).Reduce(count << RadixBits | sample, Max{}), 0);
    return (max >> RadixBits) * 8 > static_cast<unsigned>(half_warp * thread_items()) ? max & unsigned{bins - 1} : none;
  }

  template <class OnCount, class OnStart>
  STRATA_D void scan_digits(const OnCount& on_count, const OnStart& on_start) {
    const unsigned digit = threadIdx.x;
    const unsigned column = permuted(digit);
    unsigned count = 0;
    unsigned counts[keeps_counts ? half_warps : 1];
    const auto add_counters = [&] {
      STRATA_UNROLL_N(keeps_counts ? half_warps : 8)
      for (int h = 0; h < half_warps; ++h) {
        const unsigned in_half_warp = storage_.counters[h][column];
        if (keeps_counts) counts[h] = in_half_warp;
        count += in_half_warp;
      }
      on_count(digit, count);
    };
    // The counters become the ranks of the half warps' first items.
    const auto set_counters = [&](unsigned start) {
      on_start(digit, start, count);
      STRATA_UNROLL_N(keeps_counts ? half_warps : 8)
      for (int h = 0; h < half_warps; ++h) {
        const unsigned in_half_warp = keeps_counts ? counts[h] : storage_.counters[h][column];
        storage_.counters[h][column] = start << 16;
        start += in_half_warp;
      }
    };
    radix_digit_scan<bins>::exclusive_sum(storage_.scan, digit, lane_, digit < bins, count, add_counters, set_counters);
  }

  // The rank of the lane's item. All lanes of its row have added themselves to the counter.
  STRATA_D unsigned rank_in(unsigned counted, bool& is_last) const {
    const unsigned from_here = counted & (one - 1) & ~(lane_bit() - 1);
    is_last = from_here == lane_bit();
    return (counted >> 16) - static_cast<unsigned>(__popc(from_here));
  }

  template <class Digit, class OnRank>
  STRATA_D void rank_items(const Digit& digit, const OnRank& on_rank) {
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (i >= thread_items()) break;
      unsigned* const counter = &counters_[permuted(digit(i))];
      atomicAdd(counter, one | lane_bit());
      __syncwarp();
      const unsigned counted = *static_cast<volatile unsigned*>(counter);
      __syncwarp();
      bool is_last;
      const unsigned rank = rank_in(counted, is_last);
      if (is_last) *static_cast<volatile unsigned*>(counter) = counted & ~(one - 1);
      on_rank(i, rank);
      __syncwarp();
    }
  }

  // Ranks items of digit `hot` by votes, and other items by counters.
  template <class Digit, class OnRank>
  STRATA_D void rank_items_beside(unsigned hot, const Digit& digit, const OnRank& on_rank) {
    unsigned next_hot = counters_[permuted(hot)] >> 16;
    __syncwarp();
    STRATA_UNROLL
    for (int i = 0; i < ItemsPerThread; ++i) {
      if (i >= thread_items()) break;
      const unsigned item_digit = digit(i);
      const bool is_hot = item_digit == hot;
      unsigned* const counter = &counters_[permuted(item_digit)];
      const unsigned hot_lanes = __ballot_sync(full_warp_mask, is_hot ? 1 : 0) >> (lane_ & half_warp) & (one - 1);
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
      on_rank(i, rank);
      __syncwarp();
    }
  }

  TempStorage& storage_;
  int thread_items_;
  unsigned lane_;
  unsigned half_warp_;
  unsigned* counters_;
};

}  // namespace detail
STRATA_NAMESPACE_END
