// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/tile_aggregates.cuh>

#include <cstddef>
#include <type_traits>

/// \file
/// Computes the prefix of each tile of a block. It serves as the prefix callback of BlockScan.
///
/// Forward progress: if there are several rounds of tiles, all blocks are resident together. With one round, a block
/// waits for blocks with lower numbers. Devices start these first, but that is not guaranteed. A block may also wait
/// for the block that owns its input. The owner runs already, and waits for no block before it publishes. If a block
/// has waited for some milliseconds, it reduces the missing tile in place of the tile's own block, and publishes the
/// aggregate. It applies the operator in the same order as that block, so both compute the same bits.
///
/// The output may overwrite the input. Then a block acquires the input of a tile before it reads it: the input of its
/// own tile when it starts, and the input of another tile before it reduces that tile. The first block to acquire an
/// input owns it. The tile's own block reads its input even if another block owns it. But before it writes results, it
/// waits for the aggregate, which the owner publishes after its last read.
///
/// Tickets, which number blocks as they start, would make all of this unnecessary. They were measured and rejected: a
/// ticket in uninitialised memory takes three dependent accesses before a block can load its tile. One call with 2^16
/// ints took 9.2 us instead of 8.2. In a batch of calls with 2^20 ints, each call took 5.0 us instead of 4.4 (H200,
/// 2026-11-23).

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Tile aggregates of one round, in which block i has tile i.
template <class T>
class one_round_aggregates : public tile_aggregates<T> {
  using base = tile_aggregates<T>;
  using base::batch;
  using base::block_;
  using base::epoch_;

 public:
  using base::base;

  /// Acquires the input of the block's tile. Returns true if another block owns it already. One thread calls this,
  /// before the block reads its input.
  STRATA_D bool acquire_input() {
    unsigned long long* const owner = owner_of(block_);
    platform::may_be_unwritten(owner, sizeof(*owner));
    return atomicExch(owner, epoch_ + its_block) == epoch_ + other_block;
  }

  /// Waits until the owner has read the input. One thread of a block whose input another block owns calls this.
  STRATA_D void wait_for_owner() {
    T ignored;
    while (!base::receive(0, block_, ignored)) STRATA_SPIN();
    // Synchronises with the fence in publish_missing().
    platform::fence_acq_rel();
  }

  /// Returns, in lane 0, the aggregate of the tiles before the block's tile. There must be at least one such tile. All
  /// lanes call `reduce_tile(tile)`, which returns the aggregate of any whole tile. All lanes of a warp call this.
  template <class Operator, class ReduceTile>
  STRATA_D T aggregate_before(Operator op, ReduceTile reduce_tile, bool acquires_input) {
    const unsigned count = base::tiles_before(0);
    return base::combine(count, op, [&](unsigned i, unsigned step, unsigned end, T(&values)[batch]) {
      while (!poll(i, step, end, count, values)) publish_missing(i, step, end, reduce_tile, acquires_input);
    });
  }

  /// Returns the aggregate of the tiles from `first` to the one before the block's tile, in lane 0. The warp waits
  /// `patience` times as long as in aggregate_before() before it calls `reduce_tile`, because blocks may take long for
  /// their tiles.
  template <class Operator, class ReduceTile>
  STRATA_D T aggregate_from(unsigned first, unsigned patience, Operator op, ReduceTile reduce_tile,
                            bool acquires_input) {
    const unsigned count = base::tiles_before(0);
    return base::combine(count - first, op, [&](unsigned i, unsigned step, unsigned end, T(&values)[batch]) {
      for (unsigned failures = 1; !poll(first + i, step, first + end, count, values); ++failures) {
        if (failures < patience) continue;
        publish_missing(first + i, step, first + end, reduce_tile, acquires_input);
      }
    });
  }

 private:
  // How often a warp polls before it reduces a tile itself. So many polls take some milliseconds.
#if STRATA_HOST_SIMT
  static constexpr unsigned max_polls = 100;
#else
  static constexpr unsigned max_polls = 10000;
#endif

  // What is added to the epoch to name the owner of a tile's input.
  static constexpr unsigned long long its_block = 1;
  static constexpr unsigned long long other_block = 2;

  // Returns false if some aggregates are still missing after some milliseconds. All lanes of a warp call this.
  STRATA_D bool poll(unsigned i, unsigned step, unsigned end, unsigned count, T (&values)[batch]) const {
    for (unsigned polls = 0; polls < max_polls; ++polls) {
      // All loads are issued before the first result is used. Lanes with fewer tiles load the last one
      // again: branches between the loads would make them wait for each other.
      tagged_value<T> received[batch];
      STRATA_UNROLL
      for (unsigned j = 0; j < batch; ++j) {
        const unsigned tile = i + j * step;
        received[j] = base::load(0, tile < count ? tile : count - 1);
      }
      bool is_complete = true;
      STRATA_UNROLL
      for (unsigned j = 0; j < batch; ++j) {
        is_complete = (received[j].get(values[j], epoch_) | (i + j * step >= end)) & is_complete;
      }
      if (__all_sync(full_warp_mask, is_complete) != 0) return true;
      STRATA_SPIN();
    }
    return false;
  }

  // Reduces the tiles whose aggregates are missing, one after the other, and publishes the results. The tile's own
  // block may publish the same bits at the same time. A tile whose input has an owner is left out: the owner has
  // started, and waits for no block before it publishes. All lanes of a warp call this.
  template <class ReduceTile>
  STRATA_D void publish_missing(unsigned i, unsigned step, unsigned end, ReduceTile& reduce_tile, bool acquires_input) {
    STRATA_UNROLL_N(1)
    for (unsigned j = 0; j < batch; ++j, i += step) {
      T ignored;
      const bool is_missing = i < end && !base::receive(0, i, ignored);
      unsigned missing = __ballot_sync(full_warp_mask, is_missing ? 1 : 0);
      STRATA_UNROLL_N(1)
      for (; missing != 0; missing &= missing - 1) {
        const unsigned tile = __shfl_sync(full_warp_mask, i, __ffs(static_cast<int>(missing)) - 1);
        if (acquires_input && !acquire_input_of(tile)) continue;
        const T aggregate = reduce_tile(tile);
        __syncwarp();
        if (platform::lane_id() == 0) {
          // Synchronises with the fence in wait_for_owner().
          platform::fence_acq_rel();
          base::store(0, tile, aggregate);
        }
      }
    }
  }

  // Returns false if the input has an owner already. All lanes of a warp call this.
  STRATA_D bool acquire_input_of(unsigned block) {
    bool is_acquired = false;
    if (platform::lane_id() == 0) {
      unsigned long long* const owner = owner_of(block);
      platform::may_be_unwritten(owner, sizeof(*owner));
      unsigned long long seen = platform::load_relaxed(owner);
      while (!is_acquired && seen != epoch_ + its_block && seen != epoch_ + other_block) {
        const unsigned long long found = atomicCAS(owner, seen, epoch_ + other_block);
        is_acquired = found == seen;
        seen = found;
      }
    }
    return __any_sync(full_warp_mask, is_acquired) != 0;
  }

  // The owner is stored in the epoch of a tagged word of round 1. No aggregate uses the words of that round.
  STRATA_D unsigned long long* owner_of(unsigned block) const { return &base::words_of(1)[block].epoch; }
};

/// One object serves all tiles of a block. `ReduceTile` is NullType if there may be several rounds. Otherwise it is the
/// function that one_round_aggregates takes.
///
///     running_prefix<T, ScanOp> prefix(exchange, blockIdx.x, gridDim.x, scan_op);
///     prefix.for_each_tile(tiles, [&](std::size_t tile) {
///       ... load
///       BlockScan(temp_storage).InclusiveScan(items, items, scan_op, prefix);
///       prefix.leave();
///       ... store
///     });
template <class T, class ScanOp, class ReduceTile = NullType>
class running_prefix {
  static constexpr bool is_one_round = !std::is_same_v<ReduceTile, NullType>;
  using Aggregates = std::conditional_t<is_one_round, one_round_aggregates<T>, tile_aggregates<T>>;

 public:
  STRATA_D running_prefix(const tile_aggregates_arguments& exchange, unsigned block, unsigned blocks, ScanOp scan_op,
                          ReduceTile reduce_tile = {}, bool acquires_input = false)
      : aggregates_(exchange, block, blocks),
        scan_op_(scan_op),
        reduce_tile_(reduce_tile),
        acquires_input_(is_one_round && acquires_input),
        block_(block),
        blocks_(blocks) {}

  /// Sets the value that comes before the first tile.
  STRATA_D void begin_with(const T& initial) {
    value_ = initial;
    has_value_ = true;
  }

  /// Goes through the block's tiles. In each of them, `scan_tile(tile)` scans with this object as prefix callback and
  /// then calls `leave()`. All threads call this.
  template <class ScanTile>
  STRATA_D void for_each_tile(std::size_t tiles, const ScanTile& scan_tile) {
    const auto rounds = is_one_round ? 1u : static_cast<unsigned>(ceiling_divide<std::size_t>(tiles, blocks_));
    const bool must_be_erased = aggregates_.must_be_erased(rounds);
    if constexpr (is_one_round) {
      is_leaving_ = must_be_erased;
      is_read_ = block_ + 1 < blocks_;
      scan_tile(std::size_t{block_});
    } else {
      for (std::size_t tile = block_; tile < tiles; tile += blocks_) {
        is_leaving_ = must_be_erased && tile + blocks_ >= tiles;
        is_read_ = tile + 1 < tiles;
        scan_tile(tile);
      }
    }
    if (must_be_erased && __syncthreads_or(departures_ == blocks_) != 0) {
      // Owners lie where the aggregates of one more round would lie.
      aggregates_.erase(threadIdx.x, blockDim.x, acquires_input_ ? rounds + 1 : rounds);
    }
  }

  /// Acquires the input of the tile. All threads call this, before they read it.
  STRATA_D void acquire_input() {
    if constexpr (is_one_round) {
      if (acquires_input_ && is_read_ && blocks_ > 1 && threadIdx.x == 0) {
        is_input_owned_by_other_ = aggregates_.acquire_input();
      }
    }
  }

  /// Publishes the aggregate of the tile, then waits for the aggregates of other tiles. Returns the prefix of the tile,
  /// in thread 0. The first warp calls this.
  STRATA_D T operator()(const T& aggregate) {
    if (blocks_ == 1) {
      // If there is only this block, it has all tiles.
      const T result = value_;
      append(aggregate);
      return result;
    }
    if constexpr (is_one_round) {
      if (is_read_ && threadIdx.x == 0) {
        if (is_input_owned_by_other_) {
          aggregates_.wait_for_owner();
        } else {
          aggregates_.publish(0, aggregate);
        }
      }
      if (block_ > 0) append(aggregates_.aggregate_before(scan_op_, reduce_tile_, acquires_input_));
    } else {
      if (threadIdx.x == 0) aggregates_.publish(round_, aggregate);
      if (aggregates_.tiles_before(round_) > 0) append(aggregates_.aggregate_before(round_, scan_op_));
      ++round_;
    }
    return value_;
  }

  STRATA_D void leave() {
    if (is_leaving_ && threadIdx.x == 0) departures_ = aggregates_.leave();
    // In blocks of one warp, ptxas leaves out __syncthreads(), and with it the wait for this thread.
    __syncwarp();
  }

 private:
  STRATA_D void append(const T& aggregate) {
    if (threadIdx.x == 0) value_ = has_value_ ? static_cast<T>(scan_op_(value_, aggregate)) : aggregate;
    has_value_ = true;
  }

  Aggregates aggregates_;
  ScanOp scan_op_;
  ReduceTile reduce_tile_;
  bool acquires_input_;
  unsigned block_;
  unsigned blocks_;
  unsigned round_ = 0;
  T value_{};  // in thread 0
  bool has_value_ = false;
  bool is_leaving_ = false;
  bool is_read_ = true;                   // another block reads the aggregate of the tile
  bool is_input_owned_by_other_ = false;  // in thread 0
  unsigned long long departures_ = 0;     // in thread 0
};

}  // namespace detail
STRATA_NAMESPACE_END
