// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/radix_warp_counters.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Ranks by warps. A warp takes its items row by row; a row is one item of each lane. Each lane finds the lanes that
/// have its digit. Its place among these lanes and the counter of the digit give the item's rank in the warp.
///
/// If `EarlyCounts` is false, a warp ranks its items while it counts. When the rank of the warp's first item of each
/// digit is known, the warp adds it to the ranks of its items. If `EarlyCounts` is true, a warp first counts without
/// matching, so that `on_counts` is called early, and then ranks.
template <class Counters, class Match, bool EarlyCounts>
class radix_rank_match {
 public:
  static constexpr int bins = Counters::bins;
  static constexpr int bins_per_thread = Counters::bins_per_thread;

  struct storage {
    typename Counters::storage counters;
    typename Match::storage match;
  };

  STRATA_D radix_rank_match(storage& temp_storage, int thread)
      : counters_(temp_storage.counters, thread), match_(temp_storage.match) {}

  /// Ranks the items. `digit(i)` returns the digit of the thread's item i, in warp-striped arrangement.
  template <class Digit, std::size_t ItemsPerThread, class Starts, class OnCounts>
  STRATA_D void rank(const Digit& digit, int (&ranks)[ItemsPerThread], Starts& starts, OnCounts& on_counts, int items) {
    match_.clear(counters_);
    counters_.clear();
    if constexpr (EarlyCounts) {
      STRATA_UNROLL
      for (std::size_t i = 0; i < ItemsPerThread; ++i) atomicAdd(&counter_of(digit, i), 1u);
    } else {
      rank_rows(digit, ranks);
    }
    __syncthreads();
    counters_.scan(items, starts, on_counts);
    __syncthreads();
    if constexpr (EarlyCounts) {
      rank_rows(digit, ranks);
    } else {
      STRATA_UNROLL
      for (std::size_t i = 0; i < ItemsPerThread; ++i) {
        ranks[i] += static_cast<int>(counter_of(digit, i));
      }
    }
  }

 private:
  template <class Digit>
  STRATA_D unsigned& counter_of(const Digit& digit, std::size_t i) {
    return counters_[digit(static_cast<int>(i))];
  }

  template <class Digit, std::size_t ItemsPerThread>
  STRATA_D void rank_rows(const Digit& digit, int (&ranks)[ItemsPerThread]) {
    STRATA_UNROLL
    for (std::size_t i = 0; i < ItemsPerThread; ++i) {
      ranks[i] = counters_.rank_row(
          digit(static_cast<int>(i)), [&](unsigned lane_digit) { return match_.match(counters_, lane_digit); },
          [&](unsigned lane_digit) { match_.done(counters_, lane_digit); });
    }
  }

  Counters counters_;
  Match match_;
};

}  // namespace detail
STRATA_NAMESPACE_END
