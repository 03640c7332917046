// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/item_words.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform/values.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/logical_warp.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Exchange within a logical warp of W threads, N items each, by N shuffles: no shared memory, and any N and W. Source:
/// B. Catanzaro, A. Keller, M. Garland, "A Decomposition for In-place Matrix Transposition", PPoPP 2014. A
/// transposition is a permutation of the registers of each thread, then one of each register over the threads, then
/// another one of the registers. Registers have no run-time index. So a permutation of registers is made of rotations
/// by a run-time distance, and each rotation of selections, for one bit of the distance at a time.
///
/// If N = W is a power of two, the transposition by halves takes fewer selections, 3 N / 2 * log2(N) instead of 2 N *
/// log2(N), but N / 2 * log2(N) shuffles instead of N.
///
/// Let c = gcd(N, W), n = N / c and w = W / c. In round r, thread s sends its item j = (r + s / w) mod N.
/// In the tile that is item x = s * N + j. The items of one round have different remainders modulo W: those of s * N
/// are the multiples of c, and c threads have the same one. These c threads differ in s / w, and so in j modulo c. So
/// each thread t = x mod W receives one item per round, which belongs at its index x / W. With t = c * tau + u, r = c *
/// rho + sigma, and `before` being 1 if u < sigma and 0 otherwise, division by c gives the following. A division by w
/// modulo n, or by n modulo w, is a multiplication by the inverse:
///
///     q = (u - sigma) mod c                            (the s / w of the sender)
///     i = (rho - tau + before) / w  modulo n           (the index is q * n + i)
///     m = ((t - j) / c) / n         modulo w           (the sender s is q * w + m)
template <class T, int ItemsPerThread, int LogicalWarpThreads>
class warp_exchange_shuffle {
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);
  static constexpr unsigned N = unsigned{ItemsPerThread};
  static constexpr unsigned W = unsigned{LogicalWarpThreads};
  static constexpr unsigned c = static_cast<unsigned>(greatest_common_divisor(ItemsPerThread, LogicalWarpThreads));
  static constexpr unsigned n = N / c;
  static constexpr unsigned w = W / c;
  STRATA_HD static constexpr unsigned inverse(unsigned number, unsigned modulus) {
    unsigned result = 0;
    while (number * result % modulus != 1 % modulus) ++result;
    return result;
  }
  static constexpr unsigned n_inverse = inverse(n, w);
  static constexpr unsigned w_inverse = inverse(w, n);

  using item = item_words<T, unsigned>;
  // Both exchanges are then the transposition of a square matrix.
  static constexpr bool is_square = N == W && is_power_of_two(ItemsPerThread);

 public:
  STRATA_D warp_exchange_shuffle() : q_(lane() / w), tau_(lane() / c), u_(lane() % c) {}

  template <class Output>
  STRATA_D void blocked_to_striped(const T (&input)[items_per_thread], Output (&output)[items_per_thread]) {
    if constexpr (is_square) {
      transpose(input, output);
    } else {
      item items[N];
      STRATA_UNROLL
      for (unsigned j = 0; j < N; ++j) items[j] = item(input[j]);
      rotate<N, 1, c, false>(items, 0, q_);
      item received[N];
      STRATA_UNROLL
      for (unsigned r = 0; r < N; ++r) received[index_of_round(r)] = from(sender(r), items[r]);
      rotate_indices<false>(received);
      STRATA_UNROLL
      for (unsigned i = 0; i < N; ++i) output[i] = static_cast<Output>(received[i].value());
    }
  }

  template <class Output>
  STRATA_D void striped_to_blocked(const T (&input)[items_per_thread], Output (&output)[items_per_thread]) {
    if constexpr (is_square) {
      transpose(input, output);
    } else {
      item sent[N];
      STRATA_UNROLL
      for (unsigned i = 0; i < N; ++i) sent[i] = item(input[i]);
      rotate_indices<true>(sent);
      item items[N];
      STRATA_UNROLL
      for (unsigned r = 0; r < N; ++r) items[r] = from(receiver(r), sent[index_of_round(r)]);
      rotate<N, 1, c, true>(items, 0, q_);
      STRATA_UNROLL
      for (unsigned j = 0; j < N; ++j) output[j] = static_cast<Output>(items[j].value());
    }
  }

 private:
  /// Divides each block of the matrix into four, until they are single items, and swaps the two blocks off the
  /// diagonal: in pairs of lanes that differ in one bit, the lower one sends its upper item, and the upper one its
  /// lower item.
  template <class Output>
  STRATA_D void transpose(const T (&input)[items_per_thread], Output (&output)[items_per_thread]) {
    item items[N];
    STRATA_UNROLL
    for (unsigned i = 0; i < N; ++i) items[i] = item(input[i]);
    STRATA_UNROLL
    for (unsigned half = N / 2; half > 0; half /= 2) {
      const unsigned is_upper = selects_by_mask ? 0u - (lane() / half & 1) : lane() & half;
      STRATA_UNROLL
      for (unsigned i = 0; i < N; ++i) {
        if ((i & half) != 0) continue;
        STRATA_UNROLL
        for (std::size_t word = 0; word < item::count; ++word) {
          const unsigned lower = items[i].word[word], upper = items[i + half].word[word];
          const unsigned received = warp_.from_partner(select(is_upper, lower, upper), static_cast<int>(half));
          items[i].word[word] = select(is_upper, received, lower);
          items[i + half].word[word] = select(is_upper, upper, received);
        }
      }
    }
    STRATA_UNROLL
    for (unsigned i = 0; i < N; ++i) output[i] = static_cast<Output>(items[i].value());
  }
  /// Returns `if_set` if bits are set, otherwise `if_clear`. Never branches, because shuffles would be in the branch.
  STRATA_D static unsigned select(unsigned bits, unsigned if_set, unsigned if_clear) {
    if constexpr (selects_by_mask) {
      return if_clear ^ ((if_clear ^ if_set) & bits);
    } else {
      return platform::select_word(bits, if_set, if_clear);
    }
  }
  // With predicates, the exchange is as fast as CUB's: 8 x 8 items take 0.108 ms, and with masks 0.114 ms. But ptxas
  // squeezes 16 x 16 items with predicates into 32 registers: 489 cycles on an idle H200 instead of 366, and 1 % more
  // time on a full one.
  static constexpr bool selects_by_mask = N >= 16;

  STRATA_D unsigned lane() const { return static_cast<unsigned>(warp_.lane()); }

  STRATA_D item from(unsigned lane, item value) const {
    STRATA_UNROLL
    for (unsigned& word : value.word) word = warp_.from_lane(word, static_cast<int>(lane));
    return value;
  }

  // The thread s from which this thread, as t, receives in a round.
  STRATA_D unsigned sender(unsigned round) const {
    const unsigned sigma = round % c;
    const unsigned before = u_ < sigma ? 1 : 0;
    const unsigned q = u_ + before * c - sigma;
    const unsigned wraps = round + q >= N ? 1 : 0;  // j = round + q - wraps * N
    constexpr unsigned multiple = w * (n + 1);      // no less than what is subtracted
    return q * w + (wraps + (tau_ + multiple - round / c - before) * n_inverse) % w;
  }
  // The thread t that receives the item which this thread, as s, sends in a round.
  STRATA_D unsigned receiver(unsigned round) const {
    const unsigned j = round + q_ - (round + q_ >= N ? N : 0);
    return (lane() * N + j) % W;
  }

  // The index q * n + i for u = 0, tau = 0 and `before` = 0. rotate_indices() rotates i and then q to the thread's own
  // index. On the way back it undoes q and then i.
  static constexpr STRATA_HD unsigned index_of_round(unsigned round) {
    return (c - round % c) % c * n + round / c * w_inverse % n;
  }
  template <bool Back>
  STRATA_D void rotate_indices(item (&items)[N]) const {
    if constexpr (Back) rotate_q<Back>(items);
    if constexpr (n > 1) {
      const unsigned distance = tau_ * w_inverse % n;
      const unsigned distance_before = (tau_ + n - 1) * w_inverse % n;
      STRATA_UNROLL
      for (unsigned sigma = 0; sigma < c; ++sigma) {
        rotate<n, 1, n, Back>(items, (c - sigma) % c * n, u_ < sigma ? distance_before : distance);
      }
    }
    if constexpr (!Back) rotate_q<Back>(items);
  }
  template <bool Back>
  STRATA_D void rotate_q(item (&items)[N]) const {
    STRATA_UNROLL
    for (unsigned i = 0; i < n; ++i) rotate<c, n, c, !Back>(items, i, u_);
  }

  // Rotates `Length` items that are `Stride` apart: item k gets the value of item k + distance (if `Up`, of
  // item k - distance); distance < Bound.
  template <unsigned Length, unsigned Stride, unsigned Bound, bool Up>
  STRATA_D static void rotate(item (&items)[N], unsigned first, unsigned distance) {
    STRATA_UNROLL
    for (unsigned bit = 1; bit < Bound; bit *= 2) {
      item rotated[Length];
      STRATA_UNROLL
      for (unsigned k = 0; k < Length; ++k) {
        const unsigned source = (Up ? k + Length - bit % Length : k + bit) % Length;
        STRATA_UNROLL
        for (std::size_t word = 0; word < item::count; ++word) {
          rotated[k].word[word] =
              (distance & bit) != 0 ? items[first + source * Stride].word[word] : items[first + k * Stride].word[word];
        }
      }
      STRATA_UNROLL
      for (unsigned k = 0; k < Length; ++k) items[first + k * Stride] = rotated[k];
    }
  }

  logical_warp<LogicalWarpThreads> warp_;
  unsigned q_;  // of this thread as s: s / w
  unsigned tau_;
  unsigned u_;
};

}  // namespace detail
STRATA_NAMESPACE_END
