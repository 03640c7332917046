// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/radix_code.hpp>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shuffle.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/logical_warp.cuh>

/// \file
/// The threshold of a selection, found by a warp or a block that holds all items as codes in registers.
///
///     codes     3  9  5  3  7  3      k = 4: codes before 5, which are three, and the first item that has 5
///
/// The search keeps a range of codes that contains the k-th code. A step halves the range, or guesses where in it that
/// code is. The search ends when exactly k items (or up to `slack` more) have codes up to the end of the range, or when
/// the range is one code. In the second case, only some of the items with this code are results.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Which items are results: those whose codes come before `code`, and the first `equal` items that have it.
template <class Code>
struct top_k_threshold {
  Code code;
  unsigned equal;
  bool takes_all_equal;
};

/// The collectives of a logical warp that the search uses. All lanes call each function together, and all get its
/// result. With `IsTogether`, all logical warps of a warp call together. Then the mask is a constant, which keeps them
/// together: with other masks they would take turns.
template <int Lanes, bool IsTogether = false>
class top_k_warp {
  static constexpr bool uses_redux = Lanes == warp_threads && platform::has_redux;

 public:
  static constexpr int threads = Lanes;

  STRATA_D const logical_warp<Lanes>& lanes() const { return warp_; }
  STRATA_D unsigned mask() const { return IsTogether ? full_warp_mask : warp_.mask(); }

  /// True if a condition holds in any logical warp that calls. All lanes of a logical warp pass the same condition.
  STRATA_D bool any(bool condition) const {
    if constexpr (IsTogether && Lanes < warp_threads) {
      return __any_sync(full_warp_mask, condition ? 1 : 0) != 0;
    } else {
      return condition;
    }
  }

  STRATA_D unsigned sum(unsigned value) const {
    if constexpr (uses_redux) {
      return platform::redux_add(mask(), value);
    } else {
      STRATA_UNROLL
      for (int distance = Lanes / 2; distance > 0; distance /= 2) {
        value += platform::shuffle_xor(mask(), value, distance);
      }
      return value;
    }
  }

  /// `least` becomes the least of all lanes' `least`, and `greatest` the greatest of all lanes' `greatest`.
  template <class Code>
  STRATA_D void extremes(Code& least, Code& greatest) const {
    if constexpr (uses_redux && sizeof(Code) <= sizeof(unsigned)) {
      least = static_cast<Code>(platform::redux_min(mask(), static_cast<unsigned>(least)));
      greatest = static_cast<Code>(platform::redux_max(mask(), static_cast<unsigned>(greatest)));
    } else {
      STRATA_UNROLL
      for (int distance = Lanes / 2; distance > 0; distance /= 2) {
        const Code low = platform::shuffle_xor(mask(), least, distance);
        const Code high = platform::shuffle_xor(mask(), greatest, distance);
        least = detail::least(least, low);
        greatest = detail::most(greatest, high);
      }
    }
  }

 private:
  logical_warp<Lanes> warp_;
};

/// The collectives of the search, for a block of whole warps. Each call except `any` has one barrier.
template <int Threads, class Code>
class top_k_block {
 public:
  static constexpr int threads = Threads;
  static constexpr int warps = Threads / warp_threads;

  struct storage {
    unsigned counts[2][warps];
    Code least[warps];
    Code greatest[warps];
    unsigned before[warps];
    unsigned equal[warps];
  };

  STRATA_D top_k_block(storage& shared, int thread)
      : shared_(shared), warp_(thread / warp_threads), lane_(thread % warp_threads) {}

  STRATA_D bool any(bool condition) const { return condition; }

  STRATA_D unsigned sum(unsigned value) {
    unsigned* const counts = shared_.counts[phase_];
    phase_ ^= 1;
    const unsigned local = in_warp_.sum(value);
    if (lane_ == 0) counts[warp_] = local;
    __syncthreads();
    return in_warp_.sum(lane_ < warps ? counts[lane_] : 0);
  }

  STRATA_D void extremes(Code& least, Code& greatest) {
    in_warp_.extremes(least, greatest);
    if (lane_ == 0) {
      shared_.least[warp_] = least;
      shared_.greatest[warp_] = greatest;
    }
    __syncthreads();
    const int other = lane_ < warps ? lane_ : 0;
    least = shared_.least[other];
    greatest = shared_.greatest[other];
    in_warp_.extremes(least, greatest);
  }

  /// Replaces the thread's counts by those of all warps before this one: `before` counts items before the threshold,
  /// `equal` items at it.
  STRATA_D void counts_before(unsigned& before, unsigned& equal) {
    const unsigned warp_before = in_warp_.sum(before), warp_equal = in_warp_.sum(equal);
    if (lane_ == 0) {
      shared_.before[warp_] = warp_before;
      shared_.equal[warp_] = warp_equal;
    }
    __syncthreads();
    before = in_warp_.sum(lane_ < warp_ ? shared_.before[lane_] : 0);
    equal = in_warp_.sum(lane_ < warp_ ? shared_.equal[lane_] : 0);
  }

  /// Replaces a thread's count by the sum of the counts of all warps before this one. `all` becomes the sum of all
  /// counts.
  STRATA_D void sum_before(unsigned& count, unsigned& all) {
    unsigned* const counts = shared_.counts[phase_];
    phase_ ^= 1;
    const unsigned local = in_warp_.sum(count);
    if (lane_ == 0) counts[warp_] = local;
    __syncthreads();
    const unsigned other = lane_ < warps ? counts[lane_] : 0;
    all = in_warp_.sum(other);
    count = in_warp_.sum(lane_ < warp_ ? other : 0);
  }

 private:
  storage& shared_;
  const int warp_, lane_;
  top_k_warp<warp_threads, true> in_warp_;
  int phase_ = 0;
};

/// A quotient that need not be exact.
STRATA_D float top_k_quotient(float a, float b) {
#if STRATA_DEVICE_PASS
  return __fdividef(a, b);
#else
  return a / b;
#endif
}

/// How far into a range of codes the search looks next: less than `range`, if that is not 0.
template <class Code>
STRATA_D Code top_k_step(Code range, unsigned wanted, unsigned items, bool may_guess) {
  const auto half = static_cast<Code>(range / 2);
  if constexpr (sizeof(Code) <= 8) {
    // The conversion of the product to `Code` does not overflow: the factor is at most 0.9999, and the rounding errors
    // are smaller than its distance from 1.
    const float fraction = detail::top_k_quotient(static_cast<float>(wanted), static_cast<float>(items));
    const auto guess = static_cast<Code>(static_cast<float>(range) * detail::least(fraction, 0.9999f));
    const auto last = static_cast<Code>(range - 1);
    return may_guess ? detail::least(guess, last) : half;
  } else {
    static_cast<void>(wanted);
    static_cast<void>(items);
    static_cast<void>(may_guess);
    return half;
  }
}

/// Finds the threshold of the `k` first items by a search between the codes `low` and `high`: no item is before `low`,
/// and at least `k` items are up to `high`. The search may end with up to `slack` items more than k. Then it takes them
/// all.
template <class Code, int Items, class Team>
STRATA_D top_k_threshold<Code> search_top_k_threshold(Team& team, const Code (&codes)[Items], unsigned k, Code low,
                                                      Code high, unsigned slack = 0) {
  const auto up_to_code = [&](Code code) {
    unsigned count = 0;
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) count += codes[i] <= code ? 1u : 0u;
    return team.sum(count);
  };
  unsigned before = 0;                // items before `low`
  unsigned up_to = up_to_code(high);  // items up to `high`
  // A guess that leaves more than half of the range is a miss. After `most_misses` misses, each step halves the range,
  // so that the number of steps has a bound.
  int misses = 0;
  constexpr int most_misses = 3;
  bool is_found = up_to - k <= slack || low == high;
  while (team.any(!is_found)) {
    const auto range = static_cast<Code>(high - low);
    const Code step = detail::top_k_step<Code>(range, k - before, up_to - before, misses < most_misses);
    const auto middle = static_cast<Code>(low + (is_found ? range : step));
    const unsigned count = up_to_code(middle);
    if (!is_found) {
      if (count >= k) {
        high = middle;
        up_to = count;
      } else {
        low = static_cast<Code>(middle + 1);
        before = count;
      }
      if (static_cast<Code>(high - low) > static_cast<Code>(range / 2)) ++misses;
      is_found = up_to - k <= slack || low == high;
    }
  }
  return up_to - k <= slack ? top_k_threshold<Code>{high, up_to, true} : top_k_threshold<Code>{high, k - before, false};
}

/// Finds the threshold of the `k` first of all items that the threads of `team` hold, in the order of their codes. `k`
/// is at least 1, and at most the number of items. Missing items have the last code and are behind all others. `slack`
/// is as in search_top_k_threshold(). `least` becomes the first of all codes.
template <class Code, int Items, class Team>
STRATA_D top_k_threshold<Code> find_top_k_threshold(Team& team, const Code (&codes)[Items], unsigned k, Code& least,
                                                    unsigned slack = 0) {
  least = codes[0];
  STRATA_UNROLL
  for (int i = 1; i < Items; ++i) least = detail::least(least, codes[i]);
  // For k up to the number of threads, the greatest of the threads' least codes is a bound: each thread has an item up
  // to it.
  Code high = least;
  if (k > static_cast<unsigned>(Team::threads)) {
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) high = detail::most(high, codes[i]);
  }
  team.extremes(least, high);
  return detail::search_top_k_threshold(team, codes, k, least, high, slack);
}
template <class Code, int Items, class Team>
STRATA_D top_k_threshold<Code> find_top_k_threshold(Team& team, const Code (&codes)[Items], unsigned k) {
  Code least;
  return detail::find_top_k_threshold(team, codes, k, least);
}

/// The 8 least of some codes in ascending order, by networks of minima and maxima.
template <class Code>
struct top_k_least {
  static constexpr int size = 8;
  Code codes[size];

  STRATA_D void order(int i, int j) {
    const Code low = detail::least(codes[i], codes[j]);
    codes[j] = detail::most(codes[i], codes[j]);
    codes[i] = low;
  }
  /// Sorts the codes, by Batcher's odd-even merge sort. They may be in any order before.
  STRATA_D void sort() {
    order(0, 1), order(2, 3), order(4, 5), order(6, 7);
    order(0, 2), order(1, 3), order(4, 6), order(5, 7);
    order(1, 2), order(5, 6);
    order(0, 4), order(1, 5), order(2, 6), order(3, 7);
    order(2, 4), order(3, 5);
    order(1, 2), order(3, 4), order(5, 6);
  }
  /// Keeps the `size` least of the codes in `codes` and `other`. Both arrays must be in ascending order. The kept codes
  /// form a bitonic sequence, which is then sorted.
  STRATA_D void merge(const Code (&other)[size]) {
    STRATA_UNROLL
    for (int i = 0; i < size; ++i) codes[i] = detail::least(codes[i], other[size - 1 - i]);
    STRATA_UNROLL
    for (int distance = size / 2; distance > 0; distance /= 2) {
      STRATA_UNROLL
      for (int i = 0; i < size; ++i) {
        if ((i & distance) == 0) order(i, i + distance);
      }
    }
  }
};

/// Returns the code of the `k`-th item, for k up to 8: each lane finds the 8 least of its codes, in order, then the
/// lanes merge theirs. Takes the same time for all keys. `before` gets the number of items with earlier codes, and
/// `all` the first codes in order.
template <class Code, int Items, int Lanes, bool IsTogether>
STRATA_D Code find_code_of_few(const top_k_warp<Lanes, IsTogether>& team, const Code (&codes)[Items], unsigned k,
                               unsigned& before, top_k_least<Code>& all) {
  using least_codes = top_k_least<Code>;
  constexpr int size = least_codes::size;
  STRATA_UNROLL
  for (int first = 0; first < Items; first += size) {
    least_codes some;
    STRATA_UNROLL
    for (int i = 0; i < size; ++i) {
      some.codes[i] = first + i < Items ? codes[first + i < Items ? first + i : 0] : static_cast<Code>(~Code{0});
    }
    some.sort();
    if (first == 0) {
      all = some;
    } else {
      all.merge(some.codes);
    }
  }
  STRATA_UNROLL
  for (int distance = 1; distance < Lanes; distance *= 2) {
    Code other[size];
    STRATA_UNROLL
    for (int i = 0; i < size; ++i) other[i] = platform::shuffle_xor(team.mask(), all.codes[i], distance);
    all.merge(other);
  }
  Code code = all.codes[0];
  STRATA_UNROLL
  for (int i = 1; i < size; ++i) {
    if (static_cast<unsigned>(i) < k) code = all.codes[i];
  }
  before = 0;
  STRATA_UNROLL
  for (int i = 0; i < size; ++i) before += all.codes[i] < code ? 1u : 0u;
  return code;
}

/// Calls `sink(position, i)` for each result among the items of a logical warp, where item i of lane l is number
/// i * Lanes + l. Of the items in earlier warps, `before` have codes before the threshold, and `equal` have its code.
/// All logical warps of a warp call together.
template <bool TakesAllEqual, int Lanes, class Code, int Items, class Sink>
STRATA_D void for_each_top_k(const top_k_warp<Lanes, true>& team, const Code (&codes)[Items],
                             const top_k_threshold<Code>& threshold, unsigned before, unsigned equal, Sink& sink) {
  const unsigned group = team.lanes().mask(), lower = group & platform::lane_mask_lt();
  unsigned position = before + detail::least(equal, threshold.equal);
  STRATA_UNROLL
  for (int i = 0; i < Items; ++i) {
    bool is_result = codes[i] <= threshold.code;
    if constexpr (!TakesAllEqual) {
      const bool is_equal = codes[i] == threshold.code;
      const unsigned equals = __ballot_sync(full_warp_mask, is_equal ? 1 : 0);
      if (is_equal) is_result = equal + static_cast<unsigned>(__popc(equals & lower)) < threshold.equal;
      equal += static_cast<unsigned>(__popc(equals & group));
    }
    const unsigned results = __ballot_sync(full_warp_mask, is_result ? 1 : 0);
    if (is_result) sink(position + static_cast<unsigned>(__popc(results & lower)), i);
    position += static_cast<unsigned>(__popc(results & group));
  }
}

/// Passes the items of a logical warp that are results to a sink.
template <int Lanes, class Code, int Items, class Sink>
STRATA_D void for_each_top_k(const top_k_warp<Lanes, true>& team, const Code (&codes)[Items],
                             const top_k_threshold<Code>& threshold, Sink sink) {
  if (!team.any(!threshold.takes_all_equal)) {
    detail::for_each_top_k<true>(team, codes, threshold, 0u, 0u, sink);
  } else {
    detail::for_each_top_k<false>(team, codes, threshold, 0u, 0u, sink);
  }
}

/// Calls `sink` for each result among the items of a block. The items of a warp lie side by side.
template <int Threads, class Code, int Items, class Sink>
STRATA_D void for_each_top_k(top_k_block<Threads, Code>& team, const Code (&codes)[Items],
                             const top_k_threshold<Code>& threshold, Sink sink) {
  unsigned before = 0, equal = 0;
  STRATA_UNROLL
  for (int i = 0; i < Items; ++i) {
    if (codes[i] < threshold.code) ++before;
    if (codes[i] == threshold.code) ++equal;
  }
  team.counts_before(before, equal);
  const top_k_warp<warp_threads, true> warp;
  if (threshold.takes_all_equal) {
    detail::for_each_top_k<true>(warp, codes, threshold, before, equal, sink);
  } else {
    detail::for_each_top_k<false>(warp, codes, threshold, before, equal, sink);
  }
}

}  // namespace detail
STRATA_NAMESPACE_END
