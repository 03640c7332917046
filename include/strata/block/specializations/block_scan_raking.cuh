// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/block_scan_warp_scans.cuh>
#include <strata/block/specializations/raking_layout.hpp>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shuffle.cuh>
#include <strata/core/platform/values.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/warp_scan.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// BLOCK_SCAN_RAKING and, if `Memoize`, BLOCK_SCAN_RAKING_MEMOIZE, for more than one warp. Every thread writes
/// its item to shared memory. Each thread of the first warp reduces a segment of consecutive items; the warp
/// scans the segments' sums; each of its threads scans its segment in place, after the sum of the segments
/// before it. Every thread reads its result. Two barriers, with any prefix.
///
/// On sm_80 and newer, and on the host, sums of integers of up to 4 bytes are scanned as by BLOCK_SCAN_WARP_SCANS, if
/// the block has more than 512 threads and whole warps.
///
/// Unless `Full`, only the first `valid` (1 .. Threads) threads have an item, and only they get a
/// result.
template <class T, int Threads, bool Memoize>
struct block_scan_raking {
  // Accesses are as wide as the size allows, whatever the alignment: a struct of four floats is one access.
  static constexpr std::size_t alignment = alignof(T) < 16 && sizeof(T) % 16 == 0 ? 16
                                           : alignof(T) < 8 && sizeof(T) % 8 == 0 ? 8
                                                                                  : alignof(T);
  struct alignas(alignment) item_storage {
    unsigned char bytes[sizeof(T)];
  };
  using segments = raking_segments<item_storage, Threads>;
  using layout = typename segments::layout;
  static constexpr int segment = segments::segment;
  static constexpr int rakers = segments::rakers;

  // In a large block, all warps scan sums of words, and one instruction adds up the sums of the warps. By raking, all
  // other warps would wait for one. In smaller blocks raking is used: other blocks work while the warps wait. The table
  // has two numbers for each way: the time in which each block of a full device makes 2048 scans (sums of int), and the
  // cycles that one scan takes in a block alone. (H200, CUDA 13.0, 2026-11-28.)
  //
  // | threads x items | raking | all warps |
  // |---|---|---|
  // | 256 x 4 | 676 us, 434 | 739 us, 337 |
  // | 512 x 1 | 644 us, 545 | 630 us, 326 |
  // | 512 x 4 | 811 us, 586 | 879 us, 402 |
  // | 1024 x 1 | 897 us, 816 | 669 us, 427 |
  using warp_scans = block_scan_warp_scans<T, Threads>;
  static constexpr bool may_scan_by_warps = Threads > 512 && std::is_integral_v<T> && sizeof(T) <= 4;
  template <class Operator>
  static constexpr bool scans_by_warps = may_scan_by_warps&& warp_scans::template adds_in_hardware<Operator>;

  struct raking_storage {
    typename layout::storage items;
    T aggregate;
  };
  union either_storage {
    raking_storage raking;
    std::conditional_t<may_scan_by_warps, typename warp_scans::storage, NullType> warps;
  };
  using storage = std::conditional_t<may_scan_by_warps, either_storage, raking_storage>;

  template <bool Inclusive, bool Full, class Operator, class Prefix, class Aggregate>
  STRATA_D static T scan(storage& shared, int thread, const T& item, Operator& op, Prefix prefix, Aggregate&& aggregate,
                         int valid) {
    if constexpr (scans_by_warps<Operator>) {
      return warp_scans::template scan<Inclusive, Full>(shared.warps, thread, item, op, prefix, aggregate, valid);
    } else if constexpr (may_scan_by_warps) {
      return scan_by_raking<Inclusive, Full>(shared.raking, thread, item, op, prefix, aggregate, valid);
    } else {
      return scan_by_raking<Inclusive, Full>(shared, thread, item, op, prefix, aggregate, valid);
    }
  }

 private:
  template <bool Inclusive, bool Full, class Operator, class Prefix, class Aggregate>
  STRATA_D static T scan_by_raking(raking_storage& shared, int thread, const T& item, Operator& op, Prefix& prefix,
                                   Aggregate&& aggregate, int valid) {
    if (Full || thread < valid) at_unit(shared, layout::unit(thread)) = item;
    __syncthreads();
    // The whole first warp, because the prefix functor may need it, even if there are fewer rakers.
    if (thread < warp_threads) {
      rake<Inclusive, Full, is_given<Aggregate>>(shared, thread, item, op, prefix, valid);
    }
    __syncthreads();
    if constexpr (is_given<Aggregate>) aggregate = shared.aggregate;
    return Full || thread < valid ? at_unit(shared, layout::unit(thread)) : item;
  }

  // A few items take no more registers than the kernel has anyway: with up to 16 words, or 4 items of 8 bytes, as many
  // blocks fit on a multiprocessor as without them.
  static constexpr bool memoizes = Memoize || segment * sizeof(T) <= (sizeof(T) <= 4 ? 64 : 32);

  STRATA_D static T& at_unit(raking_storage& shared, int unit) {
    return reinterpret_cast<T&>(shared.items.at_unit(unit));
  }

  // If the operator adds words, `before` is 0 in lane 0, so lane 0 needs no case of its own.
  template <class Operator>
  STRATA_D static T behind(const T& prefix, int lane, const T& before, Operator& op) {
    if constexpr (adds_as_words<Operator, T>) {
      static_cast<void>(lane);
      return static_cast<T>(op(prefix, before));
    } else {
      return lane == 0 ? prefix : static_cast<T>(op(prefix, before));
    }
  }

  // A T need not have a default constructor.
  union slot {
    T item;
    STRATA_D slot() {}
  };

  template <bool Inclusive, bool Full, bool PublishAll, class Operator, class Prefix>
  STRATA_D static void rake(raking_storage& shared, int lane, const T& item, Operator& op, Prefix& prefix, int valid) {
    const int first = lane * segment;
    const int first_unit = layout::unit(first);
    const auto at = [&](int i) -> T& { return at_unit(shared, first_unit + i * layout::pitch); };
    // If `whole`, every segment has `segment` items. Otherwise it has `count` items, but at most `segment`, and none if
    // `count` is not positive.
    constexpr bool whole = Full && Threads % segment == 0;
    const int count = valid - first;
    const bool has_items = whole && rakers == warp_threads ? true : lane < rakers && count > 0;

    slot memo[memoizes ? segment : 1];
    T sum = item;
    if (has_items) {
      sum = at(0);
      if constexpr (memoizes) memo[0].item = sum;
      STRATA_UNROLL
      for (int i = 1; i < segment; ++i) {
        if (!whole && i >= count) break;
        const T next = at(i);
        if constexpr (memoizes) memo[i].item = next;
        sum = static_cast<T>(op(sum, next));
      }
    }

    constexpr bool all_rake = Full && rakers == warp_threads;
    const T inclusive = detail::scan_lanes<warp_threads, all_rake>(full_warp_mask, sum, op, has_items);
    T before = detail::sum_of_lanes_below<warp_threads, Operator>(full_warp_mask, sum, inclusive);
    bool has_before = adds_as_words<Operator, T> || lane > 0;  // words have 0 in lane 0
    const int last_raker = (Full ? rakers : ceiling_divide(valid, segment)) - 1;
    if constexpr (PublishAll) {
      if (lane == last_raker) shared.aggregate = inclusive;
    }
    if constexpr (Prefix::is_callback) {
      const T all = platform::shuffle(full_warp_mask, inclusive, last_raker);
      const T start = platform::shuffle(full_warp_mask, static_cast<T>(prefix.callback(all)), 0);
      if (has_items) before = behind(start, lane, before, op);
      has_before = true;
    }
    if constexpr (Prefix::is_value) {
      if (has_items) before = behind(prefix.value, lane, before, op);
      has_before = true;
    }
    if (!has_items) return;

    STRATA_UNROLL
    for (int i = 0; i < segment; ++i) {
      if (!whole && i >= count) break;
      const T next = memoizes ? memo[memoizes ? i : 0].item : at(i);
      if constexpr (!Inclusive) at(i) = before;
      if (Inclusive || (i + 1 < segment && (whole || i + 1 < count))) {
        before = i > 0 || has_before ? static_cast<T>(op(before, next)) : next;
        if (i == 0) before = platform::opaque_first_sum(before);
      }
      if constexpr (Inclusive) at(i) = before;
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
