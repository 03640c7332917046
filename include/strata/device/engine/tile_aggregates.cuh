// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/tagged_word.cuh>
#include <strata/warp/warp_reduce.cuh>

#include <cstddef>

/// \file
/// Tile aggregates: how the blocks of a scan learn what comes before their tiles.
///
/// The blocks take tiles in rounds. If there are G blocks, block b has tile k * G + b in round k. A block publishes the
/// aggregate of each of its tiles, and nothing else. Here G is 4, and (t) is the aggregate of tile t:
///
///                block 0   block 1   block 2   block 3
///     round 0       0         1         2         3
///     round 1       4         5         6         7      prefix of 5 = prefix of 1 + (1) + (2) + (3) + (4)
///     round 2       8         9        10        11      prefix of 9 = prefix of 5 + (5) + (6) + (7) + (8)
///
/// A block keeps the prefix of its last tile. To get the prefix of its next tile it reads G aggregates, all at once.
/// Unlike in decoupled look-back, no block waits for another block's prefix, so there is no chain through the tiles.
/// Aggregates are combined in the same order, whatever the speed of the blocks, so results repeat bit for bit.
///
/// Forward progress: a block waits for aggregates of tiles before its own. With several rounds, all blocks are resident
/// together (launch_resident), so each of them publishes. tile_prefix.cuh explains a single round.
///
/// An aggregate lies in tagged words, in one of 8 slots of its block: round k uses slot k % 8. Words of other rounds
/// and calls have other epochs, so nothing is initialised. A slot may be overwritten, because a block publishes at most
/// `lag` rounds ahead of the round for which it reads. If a block publishes round k:
///
///   1. It has read what its round k - 1 - lag needs: aggregates of round k - 2 - lag among them.
///   2. It has read an aggregate of each block, of round k - 2 - lag or of the round after it. So all blocks have
///      published round k - 2 - lag.
///   3. So, by 1, all blocks have read what their rounds up to k - 3 - 2 lag need.
///   4. Round k - 3 - 2 lag is the last that needs round k - 4 - 2 lag. The lag is at most 2, so no block
///      needs round k - 8, whose slot round k overwrites.
///
/// A replay of the same launch (a CUDA graph) has the same epochs, so a word of the run before could pass for a new
/// one. The slots hold words of the last 8 rounds of that run. In a call of more than 16 rounds, earlier rounds of the
/// replay have overwritten all slots before the last 8 rounds read them. In a shorter call that may be replayed, the
/// last block to leave erases all epochs.

STRATA_NAMESPACE_BEGIN
namespace detail {

struct tile_aggregates_arguments {
  platform::tagged_word* words;  // tile_aggregates::number_of_words() of them
  unsigned long long epoch;
  bool may_be_replayed;
  /// True if a block that has read the aggregate of a tile may overwrite the items of that tile.
  bool frees_input = false;
};

template <class T>
class tile_aggregates {
 public:
  static constexpr int words_per_value = tagged_value<T>::size;
  static constexpr unsigned kept_rounds = 8;
  /// How many rounds a block may publish ahead of the round for which it reads.
  static constexpr unsigned max_lag = 2;
  // not for users: constants of the library
  static_assert(kept_rounds >= 4 + 2 * max_lag, "words would be overwritten before they are read");

  STRATA_HD static constexpr std::size_t number_of_words(std::size_t blocks) {
    return 1 + blocks * kept_rounds * static_cast<std::size_t>(words_per_value);
  }

  STRATA_D tile_aggregates(const tile_aggregates_arguments& exchange, unsigned block, unsigned blocks)
      : words_(exchange.words + 1),
        departures_(exchange.words),
        epoch_(exchange.epoch),
        may_be_replayed_(exchange.may_be_replayed),
        frees_input_(exchange.frees_input),
        block_(block),
        blocks_(blocks) {}

  /// Publishes the aggregate of the block's tile of this round. One thread calls this.
  STRATA_D void publish(unsigned round, const T& aggregate) {
    if (frees_input_) platform::fence_acq_rel();
    store(round, block_, aggregate);
  }

  /// The number of aggregates from the prefix of the block's last tile to the prefix of its tile of this round.
  STRATA_D unsigned tiles_before(unsigned round) const { return round == 0 ? block_ : blocks_; }

  /// Returns the sum of these aggregates in lane 0. There must be at least one aggregate. All lanes of a warp call
  /// this.
  template <class Operator>
  STRATA_D T aggregate_before(unsigned round, Operator op) {
    return combine(tiles_before(round), op, [&](unsigned i, unsigned step, unsigned end, T(&values)[batch]) {
      for (;;) {
        bool is_complete = true;
        STRATA_UNROLL
        for (unsigned j = 0; j < batch; ++j) {
          if (i + j * step < end) {
            is_complete = receive_before(round, i + j * step, values[j]) & is_complete;
          }
        }
        if (__all_sync(full_warp_mask, is_complete) != 0) break;
        STRATA_SPIN();
      }
    });
  }

  // ---- the end of a call with few rounds

  STRATA_D bool must_be_erased(unsigned rounds) const {
    return may_be_replayed_ && blocks_ > 1 && rounds <= 2 * kept_rounds;
  }

  /// Counts the blocks that have left, and returns their number. The last block gets the number of all blocks. One
  /// thread of each block calls this, after its last read. It must not wait, because blocks may start in any order if
  /// there is only one round. The word has the high bits of this call's epoch, and the count in the lowest 16 bits. The
  /// first block that finds other high bits stores the epoch's high bits, with a count of 0.
  STRATA_D unsigned long long leave() {
    constexpr unsigned long long count_mask = 0xffff;
    const unsigned long long no_departures = epoch_ & ~count_mask;
    // What this thread has published must be stored before another block erases it.
    platform::fence_acq_rel();
    unsigned long long* const departures = &departures_->value;
    platform::may_be_unwritten(departures, sizeof(*departures));
    unsigned long long seen = platform::load_relaxed(departures);
    while ((seen & ~count_mask) != no_departures) seen = atomicCAS(departures, seen, no_departures);
    const unsigned long long left = atomicAdd(departures, 1ull) & count_mask;
    platform::fence_acq_rel();
    return left + 1;
  }

  /// Erases the epochs. All `threads` threads of the last block to leave call this.
  STRATA_D void erase(unsigned thread, unsigned threads, unsigned rounds) {
    const unsigned kept = detail::least(rounds, kept_rounds);
    const unsigned count = kept * blocks_ * unsigned{words_per_value};
    for (unsigned i = thread; i < count; i += threads) {
      platform::store_relaxed(&words_[i].epoch, 0ull);
    }
    if (thread == 0) platform::store_relaxed(&departures_->value, ~epoch_);
  }

 protected:
  // The number of aggregates that a lane loads before it looks at the first one.
  static constexpr unsigned batch = sizeof(T) <= 8 ? 5 : sizeof(T) <= 16 ? 3 : 1;

  // Combines `count` aggregates, in lane 0. `receive(i, step, end, values)` waits for aggregates i, i + step, ... below
  // `end`, up to `batch` of them. All lanes of the warp call it equally often.
  template <class Operator, class Receive>
  STRATA_D T combine(unsigned count, Operator op, const Receive& receive) {
    const unsigned lane = platform::lane_id();
    const unsigned per_lane = ceiling_divide<unsigned>(count, warp_threads);
    // Neighbouring lanes read neighbouring words, unless the order of operands matters.
    constexpr bool is_striped = operator_traits<Operator, T>::commutative;
    const unsigned first = is_striped ? lane : lane * per_lane;
    const unsigned step = is_striped ? warp_threads : 1;
    const unsigned end = is_striped ? count : detail::least(first + per_lane, count);
    T aggregate{};
    for (unsigned done = 0; done < per_lane; done += batch) {
      const unsigned i = first + done * step;
      T values[batch];
      receive(i, step, end, values);
      STRATA_UNROLL
      for (unsigned j = 0; j < batch; ++j) {
        if (i + j * step < end) {
          aggregate = i == first && j == 0 ? values[j] : static_cast<T>(op(aggregate, values[j]));
        }
      }
    }
    if (frees_input_) platform::fence_acq_rel();
    const unsigned max_lanes = warp_threads;
    const unsigned striped_lanes = detail::least(count, max_lanes);
    const unsigned lanes = is_striped ? striped_lanes : ceiling_divide(count, per_lane);
    typename WarpReduce<T>::TempStorage unused;
    return WarpReduce<T>(unused).Reduce(aggregate, op, static_cast<int>(lanes));
  }

  STRATA_D void store(unsigned round, unsigned block, const T& aggregate) {
    tagged_value<T>::store(words_of(round), blocks_, block, aggregate, epoch_ + round);
  }
  STRATA_D tagged_value<T> load(unsigned round, unsigned block) const {
    return tagged_value<T>::load(words_of(round), blocks_, block);
  }
  // Returns false if the aggregate has not been published yet.
  STRATA_D bool receive(unsigned round, unsigned block, T& value) const {
    return load(round, block).get(value, epoch_ + round);
  }
  // Receives aggregate `i` of the aggregates before the block's tile of this round.
  STRATA_D bool receive_before(unsigned round, unsigned i, T& value) const {
    unsigned block = i;
    if (round > 0) {
      const unsigned of_last_round = blocks_ - block_;
      block = i < of_last_round ? block_ + i : i - of_last_round;
      round -= i < of_last_round ? 1 : 0;
    }
    return receive(round, block, value);
  }
  // The words of all blocks for one round.
  STRATA_D platform::tagged_word* words_of(unsigned round) const {
    return words_ + round % kept_rounds * unsigned{words_per_value} * blocks_;
  }

  platform::tagged_word* words_;
  platform::tagged_word* departures_;
  unsigned long long epoch_;
  bool may_be_replayed_;
  bool frees_input_;
  unsigned block_;
  unsigned blocks_;
};

}  // namespace detail
STRATA_NAMESPACE_END
