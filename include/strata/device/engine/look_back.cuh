// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/specializations/warp_sum_butterfly.cuh>

#include <cstddef>

/// \file
/// Decoupled look-back: the sum of all tiles before a tile, within one kernel.
///
///     tile          0          1          2          3          4
///     state     inclusive  inclusive  aggregate  aggregate      -
///     value        14         25          9         12
///                              ^----------+----------+---------- 25 + 9 + 12 = 46: the prefix of tile 4
///
/// 1. A block publishes the aggregate of its tile: the sum of the tile's own values.
/// 2. It looks back: it adds the aggregates of the tiles before its own, from the nearest to the farthest,
///    up to the first tile that has an inclusive prefix. It adds that prefix and stops.
/// 3. It publishes the inclusive prefix of its tile, so that later tiles stop here.
///
/// Forward progress: tiles are numbered by tickets (`work_queue.cuh`). A block waits only for tiles with
/// lower tickets, and their blocks have started. A block that has started runs until it ends, and it
/// publishes its aggregate before it waits. Tile 0 waits for no tile. So every wait ends, whatever the
/// number of resident blocks and their order.
///
/// There are two classes, for two shapes of the problem. `thread_look_back` is for tiles with many sums, and a thread
/// looks back for each sum. Flag and sum share a word, so that accesses need no order. `warp_look_back` is for tiles
/// with one sum, which may need all 64 bits. The flag has a word of its own, and the lanes of a warp read 32 tiles at a
/// time.
///
/// Source: Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016). One
/// thread for each digit: Adinets and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for
/// GPUs" (2022).

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The look-back of one thread. A tile has `Columns` independent sums, and a thread looks back for one.
///
///     states[tile * Columns + column] = | is inclusive: 1 bit | value + 1 |
///
/// Flag and value are one word, so a word that is read is consistent, and accesses are relaxed. A state is 0 until its
/// tile publishes, and is never 0 afterwards. `max_value` + 1 has the same bits as the flag. So only an inclusive
/// prefix may be `max_value`.
template <class Word, int Columns>
class thread_look_back {
  static constexpr Word is_inclusive = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));

 public:
  /// The largest inclusive prefix. An aggregate must be smaller. Otherwise its state would be the flag alone, and would
  /// pass for an inclusive prefix.
  static constexpr Word max_value = is_inclusive - 1;

  STRATA_D thread_look_back(Word* states, unsigned column) : states_(states), column_(column) {}

  STRATA_D void publish_aggregate(std::size_t tile, Word aggregate) const {
    platform::store_relaxed(state(tile), static_cast<Word>(aggregate + 1));
  }
  STRATA_D void publish_inclusive(std::size_t tile, Word prefix) const {
    platform::store_relaxed(state(tile), is_inclusive | static_cast<Word>(prefix + 1));
  }

  /// Returns the sum of all tiles before `tile`, which is not the first. The thread reads two states, because mostly
  /// one of the two nearest tiles has its inclusive prefix. Where many tiles have begun together, as at the start of a
  /// kernel, the nearest prefix is far away: the thread then reads `Batch` states at a time.
  template <int Batch>
  STRATA_D Word exclusive_prefix(std::size_t tile) const {
    Word sum = 0;
    std::size_t next = tile;
    if (!add_states<2>(next, sum)) {
      while (!add_states<Batch>(next, sum)) STRATA_SPIN();
    }
    return sum;
  }

 private:
  STRATA_D Word* state(std::size_t tile) const { return states_ + tile * Columns + column_; }

  // Adds the values of up to `Batch` tiles before `next`, nearest first, and stops at the first tile that has no state
  // yet. `next` becomes the last tile that was added. Returns true if that tile had an inclusive prefix.
  template <int Batch>
  STRATA_D bool add_states(std::size_t& next, Word& sum) const {
    Word found[Batch];
    STRATA_UNROLL
    for (int i = 0; i < Batch; ++i) {
      const auto distance = static_cast<std::size_t>(i) + 1;
      found[i] = distance <= next ? platform::load_relaxed(state(next - distance)) : Word{0};
    }
    STRATA_UNROLL
    for (int i = 0; i < Batch; ++i) {
      if (found[i] == 0) return false;
      sum += static_cast<Word>(found[i] - 1) & max_value;
      --next;
      if ((found[i] & is_inclusive) != 0) return true;
    }
    return false;
  }

  Word* states_;
  unsigned column_;
};

/// The look-back of one warp, for one sum of 64 bits for each tile, 32 tiles at a time. State and sum are different
/// words, so the state is written with release and read with acquire.
struct warp_look_back {
  unsigned* states;            // of each tile; 0 before the first block publishes. Null if begin_of() is not called
  unsigned long long* sums;    // of each tile: the aggregate
  unsigned long long* ends;    // of each tile: the inclusive prefix
  unsigned long long* ticket;  // 0 before the first block takes one
  unsigned long long tiles;

  static constexpr unsigned has_sum = 1;
  static constexpr unsigned has_end = 2;

  /// Publishes the tile's sum and returns the sum of all tiles before. All lanes of one warp call this.
  STRATA_D unsigned long long begin_of(unsigned long long tile, unsigned long long sum) const {
    using Count = unsigned long long;
    const unsigned lane = platform::lane_id();
    if (lane == 0) {
      sums[tile] = sum;
      // The acquiring load of the state below, in another warp, makes the sum visible.
      platform::store_release(states + tile, has_sum);
    }
    Count before = 0;
    for (Count end = tile; end > 0;) {
      unsigned state = has_end;
      Count value = 0;
      if (lane < end) {
        const Count other = end - 1 - lane;
        while ((state = platform::load_acquire(states + other)) == 0) STRATA_SPIN();
        value = state == has_end ? ends[other] : sums[other];
      }
      const unsigned with_end = __ballot_sync(full_warp_mask, state == has_end ? 1 : 0);
      // The nearest inclusive prefix contains all farther tiles.
      if (with_end != 0 && static_cast<int>(lane) >= __ffs(static_cast<int>(with_end))) value = 0;
      before += detail::sum_of_warp(value);
      if (with_end != 0) break;
      end -= warp_threads;
    }
    if (lane == 0) {
      ends[tile] = before + sum;
      // The acquiring load of the state above, in another warp, makes the prefix visible.
      platform::store_release(states + tile, has_end);
    }
    return before;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
