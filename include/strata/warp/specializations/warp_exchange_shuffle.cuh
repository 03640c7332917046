// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/item_words.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>
#include <strata/warp/logical_warp.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Exchange within a logical warp of W threads, N items each, by N shuffles: no shared memory, and any N
/// and W. Source: B. Catanzaro, A. Keller, M. Garland, "A Decomposition for In-place Matrix
/// Transposition", PPoPP 2014: a transposition is a permutation of the registers of each thread, one of
/// each register over the threads, and another one of the registers. Registers have no run-time index,
/// so theirs are rotations by a run-time distance, a bit of it at a time: selections.
///
/// With c = gcd(N, W), n = N / c and w = W / c, thread s gives its item j = (r + s / w) mod N to round r.
/// In the tile that is item x = s * N + j. Of one round, the remainders of x modulo W are different:
/// those of s * N are the multiples of c, each c times, and s / w tells these apart. So a round has one
/// item for each thread t = x mod W, which wants it in its place x / W. With t = c * tau + u,
/// r = c * rho + sigma, and `before` being 1 if u < sigma and 0 otherwise, dividing out c gives
///
///     q = (u - sigma) mod c                            (the s / w of the giver)
///     i = (rho - tau + before) / w  modulo n           (the place is q * n + i)
///     m = ((t - j) / c) / n         modulo w           (the giver s is q * w + m)
template <class T, int ItemsPerThread, int LogicalWarpThreads>
class warp_exchange_shuffle {
  static constexpr std::size_t items_per_thread = static_cast<std::size_t>(ItemsPerThread);
  static constexpr unsigned N = unsigned{ItemsPerThread};
  static constexpr unsigned W = unsigned{LogicalWarpThreads};
  static constexpr unsigned c =
      static_cast<unsigned>(greatest_common_divisor(ItemsPerThread, LogicalWarpThreads));
  static constexpr unsigned n = N / c;
  static constexpr unsigned w = W / c;
  static constexpr unsigned inverse(unsigned number, unsigned modulus) {
    unsigned result = 0;
    while (number * result % modulus != 1 % modulus) ++result;
    return result;
  }
  static constexpr unsigned n_inverse = inverse(n, w);
  static constexpr unsigned w_inverse = inverse(w, n);

  using item = item_words<T, unsigned>;

 public:
  STRATA_D warp_exchange_shuffle() : given_(lane() / w), tau_(lane() / c), u_(lane() % c) {}

  template <class Output>
  STRATA_D void blocked_to_striped(const T (&input)[items_per_thread],
                                   Output (&output)[items_per_thread]) {
    item items[N];
    STRATA_UNROLL
    for (unsigned j = 0; j < N; ++j) items[j] = item(input[j]);
    rotate<N, 1, c, false>(items, 0, given_);
    item places[N];
    STRATA_UNROLL
    for (unsigned r = 0; r < N; ++r) places[place_of_round(r)] = from(giver(r), items[r]);
    rotate_places<false>(places);
    STRATA_UNROLL
    for (unsigned i = 0; i < N; ++i) output[i] = static_cast<Output>(places[i].value());
  }

  template <class Output>
  STRATA_D void striped_to_blocked(const T (&input)[items_per_thread],
                                   Output (&output)[items_per_thread]) {
    item places[N];
    STRATA_UNROLL
    for (unsigned i = 0; i < N; ++i) places[i] = item(input[i]);
    rotate_places<true>(places);
    item items[N];
    STRATA_UNROLL
    for (unsigned r = 0; r < N; ++r) items[r] = from(taker(r), places[place_of_round(r)]);
    rotate<N, 1, c, true>(items, 0, given_);
    STRATA_UNROLL
    for (unsigned j = 0; j < N; ++j) output[j] = static_cast<Output>(items[j].value());
  }

 private:
  STRATA_D unsigned lane() const { return static_cast<unsigned>(warp_.lane()); }

  STRATA_D item from(unsigned lane, item value) const {
    STRATA_UNROLL
    for (unsigned& word : value.word) word = warp_.from_lane(word, static_cast<int>(lane));
    return value;
  }

  // Whom this thread, as t, gets its item of a round from.
  STRATA_D unsigned giver(unsigned round) const {
    const unsigned sigma = round % c;
    const unsigned before = u_ < sigma ? 1 : 0;
    const unsigned q = u_ + before * c - sigma;
    const unsigned wraps = round + q >= N ? 1 : 0;  // j = round + q - wraps * N
    constexpr unsigned multiple = w * (n + 1);      // no less than what is taken off
    return q * w + (wraps + (tau_ + multiple - round / c - before) * n_inverse) % w;
  }
  // Who gets the item of a round that this thread, as s, gives.
  STRATA_D unsigned taker(unsigned round) const {
    const unsigned j = round + given_ - (round + given_ >= N ? N : 0);
    return (lane() * N + j) % W;
  }

  // The place in thread 0, but for the rotations: that of q by u, and then that of i.
  static constexpr STRATA_HD unsigned place_of_round(unsigned round) {
    return (c - round % c) % c * n + round / c * w_inverse % n;
  }
  template <bool Back>
  STRATA_D void rotate_places(item (&places)[N]) const {
    if constexpr (Back) rotate_q<Back>(places);
    if constexpr (n > 1) {
      const unsigned distance = tau_ * w_inverse % n;
      const unsigned distance_before = (tau_ + n - 1) * w_inverse % n;
      STRATA_UNROLL
      for (unsigned sigma = 0; sigma < c; ++sigma) {
        rotate<n, 1, n, Back>(places, (c - sigma) % c * n, u_ < sigma ? distance_before : distance);
      }
    }
    if constexpr (!Back) rotate_q<Back>(places);
  }
  template <bool Back>
  STRATA_D void rotate_q(item (&places)[N]) const {
    STRATA_UNROLL
    for (unsigned i = 0; i < n; ++i) rotate<c, n, c, !Back>(places, i, u_);
  }

  // Of `Length` items, `Stride` from each other, item k becomes what item k + distance was (or, `Up`,
  // what k - distance was); distance < Bound.
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
          rotated[k].word[word] = (distance & bit) != 0 ? items[first + source * Stride].word[word]
                                                        : items[first + k * Stride].word[word];
        }
      }
      STRATA_UNROLL
      for (unsigned k = 0; k < Length; ++k) items[first + k * Stride] = rotated[k];
    }
  }

  logical_warp<LogicalWarpThreads> warp_;
  unsigned given_;  // q of this thread as s: s / w
  unsigned tau_;
  unsigned u_;
};

}  // namespace detail
STRATA_NAMESPACE_END
