// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/warp_reduce.cuh>

#include <cstddef>
#include <cstring>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Where the blocks of a scan exchange sums.
struct wave_sums_arguments {
  platform::packet* packets;  // wave_sums::number_of_packets() of them
  unsigned long long tag;
  bool may_be_replayed;
  /// Who has seen a block's sum may write where the block read its items.
  bool frees_input = false;
};

/// What the blocks of a scan tell each other: the sum of each tile, and nothing else.
///
/// The blocks take the tiles in waves: in round k, block b of G has tile k * G + b. What a block
/// needs to go on from its last tile are the sums of the G tiles in between, which it reads at once
/// when they are there. No block waits for another one's prefix, as in decoupled look-back, so
/// there is no chain through the tiles; and sums are combined in the same order at any speed of the
/// blocks, so results repeat bit for bit.
///
/// With several rounds, all blocks must be resident together. With one, a block waits for blocks
/// before it only; that devices start these first is usual, but not promised, so a block that has
/// waited long reduces the tile that it misses itself, in the order of operations in which that
/// tile's block does, and publishes the sum: it is the same, bit for bit. Where a block may overwrite
/// its input (`claims_input`), whoever reads it claims it first: the block itself when it starts, or a
/// block that reduces the tile in its place, whose sum gives the input back. (Blocks
/// that number themselves by a ticket as they start need none of this. A ticket in memory that is
/// not initialised takes three accesses one after the other before a block can load its tile: 8.2 us
/// become 9.2 for one call with 2^16 ints on an H200, and 4.4 become 5.0 for 2^20 in a batch.)
///
/// Sums travel in packets of 8 bytes of value and an 8-byte tag of this call and round: a packet is
/// not yet written or complete, whatever lay there before, so nothing has to be initialised. The
/// packets of round k take the places of round k - `kept_rounds`, which nobody needs any more. For
/// blocks publish up to `lag` rounds ahead of their reading: one that publishes round k has read
/// what round k - 1 - lag needs, so all have published round k - 2 - lag, so all have read what
/// round k - 3 - 2 * lag needs, and that was the last to need round k - 4 - 2 * lag.
///
/// A replay of the same launch (a CUDA graph) carries the same tags. What is left of rounds that a
/// replay overwrites before it reads them does no harm; that is so where there are more than
/// 2 * `kept_rounds` rounds. For fewer, the last block to leave takes all tags away, if the launch
/// may be replayed at all.
template <class T>
class wave_sums {
 public:
  static constexpr int packets_per_value = static_cast<int>((sizeof(T) + 7) / 8);
  static constexpr unsigned kept_rounds = 8;
  /// How many rounds ahead of its reading a block may publish.
  static constexpr unsigned max_lag = 2;
  // not for users: constants of the library
  static_assert(kept_rounds >= 4 + 2 * max_lag, "packets would be overwritten before they are read");

  using arguments = wave_sums_arguments;

  STRATA_HD static constexpr std::size_t number_of_packets(std::size_t blocks) {
    return 1 + blocks * kept_rounds * static_cast<std::size_t>(packets_per_value);
  }

  STRATA_D wave_sums(const arguments& exchange, unsigned block, unsigned blocks)
      : packets_(exchange.packets + 1),
        departures_(exchange.packets),
        tag_(exchange.tag),
        may_be_replayed_(exchange.may_be_replayed),
        frees_input_(exchange.frees_input),
        block_(block),
        blocks_(blocks) {}

  /// By one thread: the sum of the block's tile of this round.
  STRATA_D void publish(unsigned round, const T& sum) {
    if (frees_input_) platform::fence_acq_rel();
    store_sum(round, block_, sum);
  }

  /// Tiles between the block's last tile and that of this round.
  STRATA_D unsigned tiles_before(unsigned round) const { return round == 0 ? block_ : blocks_; }

  /// By one thread of a block that overwrites the input of its tile, before the block reads it: true
  /// if another block has claimed it. Then that block publishes the sum, and the input may be
  /// overwritten after `wait_for_sum()`.
  STRATA_D bool claim_own_input() {
    unsigned long long* const claim = claim_of(block_);
    platform::may_be_unwritten(claim, sizeof(*claim));
    return atomicExch(claim, tag_ + by_own_block) == tag_ + by_other_block;
  }

  /// By one thread: waits for the sum of the block's own tile of the first round.
  STRATA_D void wait_for_sum() {
    T ignored;
    while (!receive(0, block_, ignored)) STRATA_SPIN();
    // Pairs with the fence of the block that has read the input, in publish_missing().
    platform::fence_acq_rel();
  }

  /// By all lanes of a warp: the sum of those tiles, of which there must be some, in lane 0. With
  /// `reduce_tile(tile)`, by all lanes too, the warp itself makes a sum that does not come; with
  /// `claims_input`, of a tile whose input it could claim.
  template <class Operator, class ReduceTile = NullType>
  STRATA_D T sum_before(unsigned round, Operator op, ReduceTile reduce_tile = {},
                        bool claims_input = false) {
    const unsigned count = tiles_before(round);
    const unsigned lane = platform::lane_id();
    const unsigned per_lane = ceiling_divide<unsigned>(count, warp_threads);
    // Neighbouring lanes read neighbouring packets, unless the order of operands matters.
    constexpr bool is_striped = operator_traits<Operator, T>::commutative;
    const unsigned first = is_striped ? lane : lane * per_lane;
    const unsigned step = is_striped ? warp_threads : 1;
    const unsigned end =
        is_striped ? count : (first + per_lane < count ? first + per_lane : count);
    T sum{};
    // As often for each lane, so that they can help each other.
    for (unsigned done = 0; done < per_lane; done += at_once) {
      const unsigned i = first + done * step;
      T values[at_once];
      if constexpr (std::is_same_v<ReduceTile, NullType>) {
        for (;;) {
          bool is_complete = true;
          STRATA_UNROLL
          for (unsigned j = 0; j < at_once; ++j) {
            if (i + j * step < end) {
              is_complete = receive_before(round, i + j * step, values[j]) & is_complete;
            }
          }
          if (__all_sync(full_warp_mask, is_complete) != 0) break;
          STRATA_SPIN();
        }
      } else {
        while (!poll_only_round(i, step, end, count, values)) {
          publish_missing(i, step, end, reduce_tile, claims_input);
        }
      }
      STRATA_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        if (i + j * step < end) {
          sum = i == first && j == 0 ? values[j] : static_cast<T>(op(sum, values[j]));
        }
      }
    }
    if (frees_input_) platform::fence_acq_rel();
    const unsigned most = warp_threads;
    const unsigned lanes = !is_striped    ? ceiling_divide(count, per_lane)
                           : count < most ? count
                                          : most;
    typename WarpReduce<T>::TempStorage unused;
    return WarpReduce<T>(unused).Reduce(sum, op, static_cast<int>(lanes));
  }

  // ---- the end of a call with few rounds

  STRATA_D bool must_be_erased(unsigned rounds) const {
    return may_be_replayed_ && blocks_ > 1 && rounds <= 2 * kept_rounds;
  }

  /// By one thread of each block, when it has read all it will. Returns how many blocks have left:
  /// as many as there are in the last one. Waits for nobody, as blocks of one wave may start in any
  /// order: the count lies below bits that only this call writes, and whoever misses these begins
  /// it.
  STRATA_D unsigned long long leave() {
    constexpr unsigned long long count_mask = 0xffff;
    const unsigned long long nobody = tag_ & ~count_mask;
    // What this thread has published must not land after it was taken away.
    platform::fence_acq_rel();
    unsigned long long* const departures = &departures_->value;
    platform::may_be_unwritten(departures, sizeof(*departures));
    unsigned long long seen = platform::load_relaxed(departures);
    while ((seen & ~count_mask) != nobody) seen = atomicCAS(departures, seen, nobody);
    const unsigned long long left = atomicAdd(departures, 1ull) & count_mask;
    platform::fence_acq_rel();
    return left + 1;
  }

  /// By all `threads` threads of the last block to leave.
  STRATA_D void erase(unsigned thread, unsigned threads, unsigned rounds) {
    const unsigned kept = rounds < kept_rounds ? rounds : kept_rounds;
    const unsigned count = kept * blocks_ * unsigned{packets_per_value};
    for (unsigned i = thread; i < count; i += threads) {
      platform::store_relaxed(&packets_[i].tag, 0ull);
    }
    if (thread == 0) platform::store_relaxed(&departures_->value, ~tag_);
  }

 private:
  // Packets that a lane asks for before it looks at the first.
  static constexpr unsigned at_once = sizeof(T) <= 8 ? 5 : sizeof(T) <= 16 ? 3 : 1;

  // Polls of what has not come, before the warp reduces the tile itself: some milliseconds.
#if STRATA_HOST_SIMT
  static constexpr unsigned most_polls = 100;
#else
  static constexpr unsigned most_polls = 10000;
#endif

  // Who has claimed the input of a tile: on top of the tag.
  static constexpr unsigned long long by_own_block = 1;
  static constexpr unsigned long long by_other_block = 2;

  // By all lanes of a warp: receives sums of the only round there is. False if, after some milliseconds,
  // some have not come.
  STRATA_D bool poll_only_round(unsigned i, unsigned step, unsigned end, unsigned count,
                                T (&values)[at_once]) const {
    for (unsigned polls = 0; polls < most_polls; ++polls) {
      // All are on their way before the first one is looked at. Lanes with fewer tiles load the last one
      // again: branches between the loads would make them wait for each other.
      sum_packets received[at_once];
      STRATA_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        const unsigned tile = i + j * step;
        received[j] = load_sum(0, tile < count ? tile : count - 1);
      }
      bool is_complete = true;
      STRATA_UNROLL
      for (unsigned j = 0; j < at_once; ++j) {
        is_complete = (unpack(received[j], 0, values[j]) | (i + j * step >= end)) & is_complete;
      }
      if (__all_sync(full_warp_mask, is_complete) != 0) return true;
      STRATA_SPIN();
    }
    return false;
  }

  // By all lanes of a warp: makes the sums that lanes miss, one after the other, and publishes them, which
  // a tile's own block may do at the same time, with the same bits. There is one round, so that tile `i`
  // is that of block `i`. What has been claimed is on its way: whoever did so has started, and waits for
  // nobody before it publishes the sum.
  template <class ReduceTile>
  STRATA_D void publish_missing(unsigned i, unsigned step, unsigned end, ReduceTile& reduce_tile,
                                bool claims_input) {
    STRATA_UNROLL_N(1)
    for (unsigned j = 0; j < at_once; ++j, i += step) {
      T ignored;
      const bool is_missing = i < end && !receive(0, i, ignored);
      unsigned missing = __ballot_sync(full_warp_mask, is_missing ? 1 : 0);
      STRATA_UNROLL_N(1)
      for (; missing != 0; missing &= missing - 1) {
        const unsigned tile = __shfl_sync(full_warp_mask, i, __ffs(static_cast<int>(missing)) - 1);
        if (claims_input && !claim_input_of(tile)) continue;
        const T sum = reduce_tile(tile);
        __syncwarp();
        if (platform::lane_id() == 0) {
          // Pairs with the fence in wait_for_sum().
          platform::fence_acq_rel();
          store_sum(0, tile, sum);
        }
      }
    }
  }

  // By all lanes of a warp: false if another one has claimed it, or the block itself.
  STRATA_D bool claim_input_of(unsigned block) {
    bool is_claimed = false;
    if (platform::lane_id() == 0) {
      unsigned long long* const claim = claim_of(block);
      platform::may_be_unwritten(claim, sizeof(*claim));
      unsigned long long seen = platform::load_relaxed(claim);
      while (!is_claimed && seen != tag_ + by_own_block && seen != tag_ + by_other_block) {
        const unsigned long long found = atomicCAS(claim, seen, tag_ + by_other_block);
        is_claimed = found == seen;
        seen = found;
      }
    }
    return __any_sync(full_warp_mask, is_claimed) != 0;
  }

  // The tag of a packet of round 1: a scan that claims its input has round 0 only.
  STRATA_D unsigned long long* claim_of(unsigned block) const { return &packet(1, block, 0)->tag; }

  STRATA_D platform::packet* packet(unsigned round, unsigned block, int part) const {
    return packets_ + (round % kept_rounds * unsigned{packets_per_value} +
                       static_cast<unsigned>(part)) *
                          blocks_ +
           block;
  }

  STRATA_D void store_sum(unsigned round, unsigned block, const T& sum) {
    unsigned long long words[packets_per_value];
    words[packets_per_value - 1] = 0;
    std::memcpy(words, &sum, sizeof(T));
    STRATA_UNROLL
    for (int i = 0; i < packets_per_value; ++i) {
      platform::store_packet(packet(round, block, i), {words[i], tag_ + round});
    }
  }

  // Receives the sum of tile `i` of those before the block's tile of this round, if it is there.
  STRATA_D bool receive_before(unsigned round, unsigned i, T& value) const {
    unsigned block = i;
    if (round > 0) {
      const unsigned of_last_round = blocks_ - block_;
      block = i < of_last_round ? block_ + i : i - of_last_round;
      round -= i < of_last_round ? 1 : 0;
    }
    return receive(round, block, value);
  }

  STRATA_D bool receive(unsigned round, unsigned block, T& value) const {
    return unpack(load_sum(round, block), round, value);
  }

  struct sum_packets {
    platform::packet part[packets_per_value];
  };
  STRATA_D sum_packets load_sum(unsigned round, unsigned block) const {
    sum_packets received;
    STRATA_UNROLL
    for (int part = 0; part < packets_per_value; ++part) {
      received.part[part] = platform::load_packet(packet(round, block, part));
    }
    return received;
  }
  // The sum, if it is that of this call and round and has arrived as a whole.
  STRATA_D bool unpack(const sum_packets& received, unsigned round, T& value) const {
    unsigned long long words[packets_per_value];
    bool is_complete = true;
    STRATA_UNROLL
    for (int part = 0; part < packets_per_value; ++part) {
      is_complete = is_complete && received.part[part].tag == tag_ + round;
      words[part] = received.part[part].value;
    }
    std::memcpy(static_cast<void*>(&value), words, sizeof(T));
    return is_complete;
  }

  platform::packet* packets_;
  platform::packet* departures_;
  unsigned long long tag_;
  bool may_be_replayed_;
  bool frees_input_;
  unsigned block_;
  unsigned blocks_;
};

}  // namespace detail
STRATA_NAMESPACE_END
