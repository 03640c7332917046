// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/block_shape.cuh>
#include <strata/block/specializations/radix_rank_thread_counters.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/match.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A counter of each digit for each warp, and the steps that all rankings by warps share. The digit is the index of a
/// counter in ascending and in descending sorts. In a descending sort, `scan` subtracts the ascending sums from the
/// number of items.
///
/// Bank conflicts: none when threads add up the counters of their digits, because the layout is that of blocked items.
/// Counting and ranking access counters by digit: no layout avoids conflicts there.
template <int Threads, int RadixBits, bool IsDescending, class Scan>
class radix_warp_counters {
 public:
  static constexpr int bins = 1 << RadixBits;
  static constexpr int bins_per_thread = ceiling_divide(bins, Threads);

 private:
  static constexpr int warps = ceiling_divide(Threads, warp_threads);
  static constexpr int lanes_of_last_warp = Threads - (warps - 1) * warp_threads;
  using layout = ExchangeLayout<unsigned, bins_per_thread>;
  // not for users: the layout keeps this promise
  static_assert(strata::conflict_degree(layout{}, blocked_access<4, bins_per_thread>{}) == 1,
                "adding up counters has bank conflicts");
  // Where threads have several digits each, there are counters for digits that do not exist, too: a condition for
  // each digit would need more predicates than there are.
  static constexpr int counted_bins = bins_per_thread > 1 ? Threads* bins_per_thread : bins;
  using row = unsigned[layout::storage_elements(counted_bins)];

 public:
  struct storage {
    row counters[warps];
    typename Scan::TempStorage scan;
  };

  STRATA_D radix_warp_counters(storage& temp_storage, int thread)
      : storage_(temp_storage),
        thread_(thread),
        lane_(static_cast<unsigned>(thread) % unsigned{warp_threads}),
        lanes_(full_warp_mask) {
    if constexpr (lanes_of_last_warp < warp_threads) {
      if (warp() == warps - 1) lanes_ = full_warp_mask >> (warp_threads - lanes_of_last_warp);
    }
  }

  /// The caller's warp, whose lanes are the bits of `lanes()`.
  STRATA_D int warp() const { return thread_ / warp_threads; }
  STRATA_D unsigned lane() const { return lane_; }
  STRATA_D unsigned lanes() const { return lanes_; }
  STRATA_D void sync_warp() const { __syncwarp(lanes_); }

  STRATA_D unsigned& operator[](unsigned digit) { return storage_.counters[warp()][layout{}(static_cast<int>(digit))]; }

  /// Clears the counters of the caller's warp. The warp may count when this returns.
  STRATA_D void clear() {
    for_each_index<layout::storage_elements(counted_bins)>([&](unsigned i) { storage_.counters[warp()][i] = 0; });
    sync_warp();
  }
  /// Calls `visit(i)` for each i below Count, in one lane of the caller's warp each.
  template <int Count, class Visit>
  STRATA_D void for_each_index(const Visit& visit) const {
    if constexpr (lanes_of_last_warp == warp_threads) {
      block_shape<warp_threads, 1, 1>::for_each_index<Count>(static_cast<int>(lane_),
                                                             [&](int i) { visit(static_cast<unsigned>(i)); });
    } else {
      const unsigned step = static_cast<unsigned>(__popc(lanes_));
      for (unsigned i = lane_; i < unsigned{Count}; i += step) visit(i);
    }
  }

  /// All threads of the block call this, after a barrier that follows the counting. Counters become the ranks of the
  /// warps' first items, for use after another barrier. Thread t has the digits from bins_per_thread * t on.
  template <class Starts, class OnCounts>
  STRATA_D void scan(int items, Starts& starts, OnCounts& on_counts) {
    // If counters are few, counts stay in registers; otherwise they are read twice.
    constexpr bool are_kept = warps * bins_per_thread <= 8;
    unsigned kept[are_kept ? bins_per_thread : 1][are_kept ? warps : 1];
    int counts[bins_per_thread];
    STRATA_UNROLL
    for (int track = 0; track < bins_per_thread; ++track) {
      counts[track] = 0;
      for_each_warp(track, [&](int w, const unsigned& counter) {
        const unsigned count = counter;
        if constexpr (are_kept) kept[track][w] = count;
        counts[track] += static_cast<int>(count);
      });
    }
    if constexpr (is_wanted<OnCounts>) on_counts(counts);
    int before[bins_per_thread];
    Scan(storage_.scan).ExclusiveSum(counts, before);
    STRATA_UNROLL
    for (int track = 0; track < bins_per_thread; ++track) {
      const int start = IsDescending ? items - before[track] - counts[track] : before[track];
      if constexpr (is_wanted<Starts>) starts[track] = start;
      unsigned next = static_cast<unsigned>(start);
      for_each_warp(track, [&](int w, unsigned& counter) {
        unsigned count;
        if constexpr (are_kept) {
          count = kept[track][w];
        } else {
          count = counter;
        }
        counter = next;
        next += count;
      });
    }
  }

  /// Counts a row of the warp, an item for each lane.
  template <class Match>
  STRATA_D void count_row(unsigned digit, const Match& match) {
    const unsigned peers = match(digit);
    if (peers >> lane_ == 1) (*this)[digit] += static_cast<unsigned>(__popc(peers));  // the last
    sync_warp();
  }
  /// Calls `use(digit, its count)` for each digit, in one thread. All threads of the block call this, after a barrier
  /// that follows the counting.
  template <class Use>
  STRATA_D void for_each_count(const Use& use) {
    STRATA_UNROLL
    for (int track = 0; track < bins_per_thread; ++track) {
      unsigned count = 0;
      for_each_warp(track, [&](int, const unsigned& counter) { count += counter; });
      const int digit = thread_ * bins_per_thread + track;
      if (digit < bins) use(digit, count);
    }
  }

  /// Ranks a row of the warp, an item for each lane, after all rows before. `match(digit)` returns the lanes that have
  /// the digit. One of them calls `done(digit)` when all lanes have read the counter and the result of `match`.
  template <class Match, class Done>
  STRATA_D int rank_row(unsigned digit, const Match& match, const Done& done) {
    const unsigned peers = match(digit);
    unsigned& counter = (*this)[digit];
    const unsigned rank = counter + static_cast<unsigned>(__popc(peers & ((1u << lane_) - 1)));
    sync_warp();
    if (peers >> lane_ == 1) {  // the last
      counter = rank + 1;
      done(digit);
    }
    sync_warp();
    return static_cast<int>(rank);
  }

 private:
  // Calls `use(warp, counter)` for the counters of digit `track` of the thread.
  template <class Use>
  STRATA_D void for_each_warp(int track, const Use& use) {
    if constexpr (bins_per_thread == 1 && bins < Threads) {
      if (thread_ >= bins) return;
    }
    const int index = layout::of_thread(thread_) + track;
    STRATA_UNROLL_N(8)
    for (int w = 0; w < warps; ++w) use(w, storage_.counters[w][index]);
  }

  storage& storage_;
  int thread_;
  unsigned lane_;
  unsigned lanes_;
};

/// Finds the lanes of a warp that have a digit, by a vote for each of its bits.
template <int Threads, int RadixBits>
struct radix_match_votes {
  struct storage {};
  STRATA_D explicit radix_match_votes(storage&) {}

  template <class Counters>
  STRATA_D void clear(const Counters&) const {}
  template <class Counters>
  STRATA_D unsigned match(const Counters& warp, unsigned digit) const {
    if constexpr (Threads % warp_threads != 0) {
      return platform::match_digit<RadixBits>(digit, warp.lanes());
    } else {
      return platform::match_digit<RadixBits>(digit);
    }
  }
  template <class Counters>
  STRATA_D void done(const Counters&, unsigned) const {}
};

/// Matches lanes by a word for each digit, in which each lane sets its bit. This takes fewer instructions than votes,
/// but atomic operations of lanes with the same digit are serialised.
template <int Threads, int RadixBits>
struct radix_match_words {
  static constexpr unsigned bins = 1u << RadixBits;
  struct storage {
    unsigned lanes_of[detail::ceiling_divide(Threads, warp_threads)][bins];
  };
  STRATA_D explicit radix_match_words(storage& temp_storage) : storage_(temp_storage) {}

  template <class Counters>
  STRATA_D void clear(const Counters& warp) {
    warp.template for_each_index<int{bins}>([&](unsigned bin) { storage_.lanes_of[warp.warp()][bin] = 0; });
  }
  template <class Counters>
  STRATA_D unsigned match(const Counters& warp, unsigned digit) const {
    unsigned& word = storage_.lanes_of[warp.warp()][digit];
    atomicOr(&word, 1u << warp.lane());
    warp.sync_warp();
    return word;
  }
  template <class Counters>
  STRATA_D void done(const Counters& warp, unsigned digit) const {
    storage_.lanes_of[warp.warp()][digit] = 0;
  }

 private:
  storage& storage_;
};

}  // namespace detail
STRATA_NAMESPACE_END
