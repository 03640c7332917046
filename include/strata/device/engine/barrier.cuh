// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/last_block.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// \file
/// Barriers of all blocks of a grid. `grid_barrier` and `grid_split_barrier` work over uninitialised memory:
///
///     flag of      block 0      block 1      block 2
///     holds        epoch + 2    epoch + 1    epoch + 2     barriers that the block has reached
///     polled by    thread 0     thread 1     thread 2      of every block that waits
///
/// `grid_counter_barrier` needs a counter that an earlier kernel of the same call has cleared:
///
///     arrivals 0 -> 1 -> 2 -> 3 (barrier 1 passed) -> 4 -> 5 -> 6 (barrier 2 passed)             of 3 blocks
///
/// A call of one kernel uses a barrier over uninitialised memory, which costs no launch. A call that has an earlier
/// kernel anyway uses the counter. The counter takes one word of storage for any number of blocks, and a replay needs
/// no care, because the earlier kernel clears it again.
///
/// Forward progress: every block waits for every other in the end, so all must be resident (`launch_resident`).

struct grid_barrier_arguments {
  unsigned long long* flags;  // one for each block
  unsigned* departures;       // the call sets it to 0 before the first barrier is passed
  unsigned long long epoch;
  bool may_be_replayed;
};

/// Flags only increase. A block may pass a barrier and arrive at the next one while other blocks still poll. Then its
/// flag is ahead by one barrier, or by up to 1,023 with wait_for(). If a graph may replay the launch, the last block to
/// leave erases all flags, because a replay has the same epoch.
template <int BlockThreads>
class grid_barrier {
 public:
  using arguments = grid_barrier_arguments;

  STRATA_D explicit grid_barrier(const arguments& barrier) : barrier_(barrier) {
    platform::may_be_unwritten(barrier_.flags, gridDim.x * sizeof(*barrier_.flags));
  }

  /// Arrives at the next barrier. Every block that has waited for it sees what this block has written before. All
  /// threads of the block call this.
  STRATA_D void arrive() {
    ++phase_;
    __syncthreads();
    if (threadIdx.x == 0) {
      // The acquiring load in wait() synchronises with this store.
      platform::store_release(barrier_.flags + blockIdx.x, barrier_.epoch + phase_);
    }
  }

  /// Waits until all blocks have arrived. All threads of the block call this, after arrive().
  STRATA_D void wait() const { wait_for(0, gridDim.x); }

  /// Waits only for the blocks from `first` to `end` - 1. They may have reached later barriers, up to 1,023 more. A
  /// block must have waited for all others before it calls leave().
  STRATA_D void wait_for(unsigned first, unsigned end) const {
    for (unsigned block = first + threadIdx.x; block < end; block += unsigned{BlockThreads}) {
      const unsigned long long* const flag = barrier_.flags + block;
      while (platform::load_acquire(flag) - barrier_.epoch - phase_ >= max_phases) STRATA_SPIN();
    }
    __syncthreads();
  }

  /// The last block to leave erases the flags of all blocks, if a graph may replay the launch. `is_last` lies in shared
  /// memory. All threads of the block call this, after its last barrier.
  STRATA_D void leave(bool& is_last) const {
    if (!barrier_.may_be_replayed) return;
    __syncthreads();
    if (threadIdx.x == 0) {
      // The store of this block's flag is complete before the last block erases the flag, because arrive_is_last()
      // fences.
      is_last = arrive_is_last(barrier_.departures, gridDim.x);
    }
    __syncthreads();
    if (!is_last) return;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += unsigned{BlockThreads}) {
      platform::store_relaxed(barrier_.flags + block, 0ull);
    }
  }

 private:
  static constexpr unsigned long long max_phases = 1024;

  arguments barrier_;
  unsigned long long phase_ = 0;
};

/// One barrier in two parts, between which a block may work. It works over uninitialised memory, too:
///
///     word of a block      | 0 | epoch of the call: it has arrived |
///
/// In a grid_barrier every thread polls with acquire. Here one warp polls, and one fence follows.
template <int BlockThreads>
class grid_split_barrier {
 public:
  /// `arrivals` has a word for each block.
  STRATA_D grid_split_barrier(platform::tagged_word* arrivals, unsigned long long epoch)
      : arrivals_(arrivals), epoch_(epoch) {}

  /// Arrives at the barrier. All threads of the block call this.
  STRATA_D void arrive() const {
    __syncthreads();
    if (threadIdx.x == 0) {
      platform::fence_acq_rel();
      platform::store_tagged_word(arrivals_ + blockIdx.x, {0, epoch_});
    }
  }

  /// Waits until all blocks have arrived. What they have written before is then visible. All threads of the block call
  /// this.
  STRATA_D void wait() const {
    if (threadIdx.x < warp_threads) {
      for (unsigned block = threadIdx.x; block < gridDim.x; block += warp_threads) {
        while (platform::load_tagged_word(arrivals_ + block).epoch != epoch_) STRATA_SPIN();
      }
      platform::fence_acq_rel();
    }
    __syncthreads();
  }

  /// Erases the words, because a replay of a graph has the same epoch. All threads of one block call this when all
  /// blocks have waited.
  STRATA_D void erase() const {
    for (unsigned i = threadIdx.x; i < gridDim.x; i += unsigned{BlockThreads}) {
      platform::store_relaxed(&arrivals_[i].epoch, 0ull);
    }
  }

 private:
  platform::tagged_word* arrivals_;
  unsigned long long epoch_;
};

/// All blocks add to one counter. At barrier k, a block waits until the counter is at least k times the number of
/// blocks. `arrivals` is 0 before the first barrier.
class grid_counter_barrier {
 public:
  STRATA_D explicit grid_counter_barrier(unsigned* arrivals) : arrivals_(arrivals) {}

  /// Arrives, and waits until all blocks have arrived. What they have written before is then visible. All threads of
  /// the block call this.
  STRATA_D void synchronize() {
    target_ += gridDim.x;
    __syncthreads();
    if (threadIdx.x == 0) {
      platform::fence_acq_rel();
      atomicAdd(arrivals_, 1u);
      // Synchronises with the fences of the blocks that have arrived.
      while (platform::load_acquire(arrivals_) < target_) STRATA_SPIN();
      platform::fence_acq_rel();
    }
    __syncthreads();
  }

 private:
  unsigned* arrivals_;
  unsigned target_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END
