// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/bank_conflicts.hpp>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The argument of callers that need no counts, or no ranks of first items.
struct not_wanted {};
template <class T>
inline constexpr bool is_wanted = !std::is_same_v<T, not_wanted>;

template <class Callback, int Bins>
using if_counts_callback = std::enable_if_t<std::is_invocable_v<Callback&, int (&)[Bins]>, int>;

/// Ranks by counters that each belong to one thread. A word has two counters of 16 bits, for a digit of the lower half
/// of all digits and one of the upper half:
///
///     word (row, thread) = count of digit `row` | count of digit `rows + row` << 16
///
/// 1. Count: for each of its items, a thread adds 1 to a counter and keeps the counter's value before.
/// 2. Scan: an exclusive sum of all counters: of the lower halves row after row, then of the upper halves.
/// 3. Rank: the sum for the thread and the digit, plus the value kept in step 1.
///
/// Bank conflicts: none from 32 threads on, except in reads for `starts` and `on_counts`, which all are in one bank. A
/// row fills whole rows of banks, so each thread counts in a bank of its own, whatever the digits. The segments that
/// threads scan have an odd length.
template <int Threads, int RadixBits, bool IsDescending, bool Memoize, class Scan>
class radix_rank_thread_counters {
 public:
  static constexpr int bins = 1 << RadixBits;
  static constexpr int bins_per_thread = ceiling_divide(bins, Threads);

 private:
  // Threads count in halves of words, and scan whole words.
  using counter STRATA_DETAIL_MAY_ALIAS = std::uint16_t;
  static constexpr int rows = bins / 2;
  static constexpr int pitch = Threads < warp_threads ? Threads : round_up(Threads, warp_threads);
  static constexpr int segment = ceiling_divide(rows * pitch, Threads) | 1;
  // not for users: the length is odd
  static_assert(strata::conflict_degree(PlainLayout{}, blocked_access<4, segment>{}) == 1,
                "segments have bank conflicts");

 public:
  struct storage {
    // The array has whole vectors, so `scan` begins at a 16-byte boundary. Otherwise a vector load of the block scan's
    // memory could also read the last counters, which other threads write.
    unsigned words[detail::round_up(Threads * segment, 4)];
    typename Scan::TempStorage scan;
  };

  STRATA_D radix_rank_thread_counters(storage& temp_storage, int thread) : storage_(temp_storage), thread_(thread) {}

  /// `digit(i)` is the digit of the thread's item i, in blocked arrangement. `starts` are the ranks of
  /// the first items of digits `bins_per_thread * thread` and on.
  template <class Digit, std::size_t ItemsPerThread, class Starts, class OnCounts>
  STRATA_D void rank(const Digit& digit, int (&ranks)[ItemsPerThread], Starts& starts, OnCounts& on_counts, int items) {
    static_assert(Threads * ItemsPerThread < 1 << 16,
                  "BlockRadixRank and BlockRadixSort count in 16 bits: a tile has at most 65,535 "
                  "items; choose fewer threads or fewer items per thread");
    clear();
    counter* const counters = reinterpret_cast<counter*>(storage_.words + thread_);
    unsigned slot[ItemsPerThread];
    STRATA_UNROLL
    for (std::size_t i = 0; i < ItemsPerThread; ++i) {
      slot[i] = slot_of(ordered(digit(static_cast<int>(i))));
      const counter counted = counters[slot[i]];
      counters[slot[i]] = static_cast<counter>(counted + 1);
      ranks[i] = counted;
    }
    __syncthreads();
    scan();
    __syncthreads();
    STRATA_UNROLL
    for (std::size_t i = 0; i < ItemsPerThread; ++i) ranks[i] += counters[slot[i]];
    if constexpr (is_wanted<Starts>) {
      STRATA_UNROLL
      for (int track = 0; track < bins_per_thread; ++track) {
        const unsigned bin = static_cast<unsigned>(thread_ * bins_per_thread + track);
        if (bin < unsigned{bins}) starts[track] = count_of_first_thread(ordered(bin));
      }
    }
    if constexpr (is_wanted<OnCounts>) call_back(on_counts, items);
  }

 private:
  STRATA_D static unsigned ordered(unsigned digit) { return IsDescending ? unsigned{bins - 1} - digit : digit; }
  // Returns the offset of a digit's counter from the one of digit 0.
  STRATA_D static unsigned slot_of(unsigned digit) {
    return (digit & unsigned{rows - 1}) * unsigned{2 * pitch} | digit >> (RadixBits - 1);
  }
  STRATA_D int count_of_first_thread(unsigned digit) const {
    return reinterpret_cast<const counter*>(storage_.words)[slot_of(digit)];
  }

  STRATA_D void clear() {
    STRATA_UNROLL
    for (int i = 0; i < segment; ++i) storage_.words[i * Threads + thread_] = 0;
    // If the pitch equals `Threads`, each thread clears exactly the words in which it counts, so no barrier is needed.
    if constexpr (pitch != Threads) __syncthreads();
  }

  STRATA_D void scan() {
    unsigned* const segment_words = storage_.words + thread_ * segment;
    unsigned kept[Memoize ? segment : 1];
    unsigned sum = 0;
    STRATA_UNROLL
    for (int i = 0; i < segment; ++i) {
      const unsigned word = segment_words[i];
      if constexpr (Memoize) kept[i] = word;
      sum += word;
    }
    // All counts of the lower halves come before all counts of the upper halves, so their total is added to the upper
    // half. A prefix callback of the scan could add it, but would take one more barrier.
    unsigned prefix, total;
    Scan(storage_.scan).ExclusiveSum(sum, prefix, total);
    prefix += total << 16;
    STRATA_UNROLL
    for (int i = 0; i < segment; ++i) {
      const unsigned word = Memoize ? kept[Memoize ? i : 0] : segment_words[i];
      segment_words[i] = prefix;
      prefix += word;
    }
  }

  template <class OnCounts>
  STRATA_D void call_back(OnCounts& on_counts, int items) {
    int counts[bins_per_thread];
    STRATA_UNROLL
    for (int track = 0; track < bins_per_thread; ++track) {
      const unsigned bin = static_cast<unsigned>(thread_ * bins_per_thread + track);
      counts[track] = 0;
      if (bin >= unsigned{bins}) continue;
      const unsigned position = ordered(bin);
      const int end = position + 1 < unsigned{bins} ? count_of_first_thread(position + 1) : items;
      counts[track] = end - count_of_first_thread(position);
    }
    on_counts(counts);
  }

  storage& storage_;
  int thread_;
};

}  // namespace detail
STRATA_NAMESPACE_END
