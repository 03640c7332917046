// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/radix_warp_counters.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Ranks by warps, with shuffles alone. Lane d counts the items of its warp that have digit d. Each lane reads the
/// digits of all lanes, by 32 shuffles a row.
template <class Counters>
class radix_rank_shuffle {
 public:
  static constexpr int bins = Counters::bins;
  static constexpr int bins_per_thread = Counters::bins_per_thread;
  using storage = typename Counters::storage;

  STRATA_D radix_rank_shuffle(storage& temp_storage, int thread) : counters_(temp_storage, thread) {}

  /// `digit(i)` is that of the thread's item i, in warp-striped arrangement.
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

  // Step 1, count: the warp's items with each digit.
  template <std::size_t ItemsPerThread, class Digit>
  STRATA_D void count(const Digit& digit) {
    unsigned counted = 0;
    STRATA_UNROLL
    for (std::size_t i = 0; i < ItemsPerThread; ++i) {
      counted += count_row(digit(static_cast<int>(i))).of_lane;
    }
    if (counters_.lane() < unsigned{bins}) counters_[counters_.lane()] = counted;
  }

  // Step 2, prefix: the rank of the warp's first item with each digit. All items with smaller digits are before it,
  // and those with the same digit in warps before.
  template <class Starts, class OnCounts>
  STRATA_D void prefix(int items, Starts& starts, OnCounts& on_counts) {
    counters_.scan(items, starts, on_counts);
  }

  // Step 3, rank: adds the items with the same digit in rows before, and in lanes before.
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
STRATA_NAMESPACE_END
