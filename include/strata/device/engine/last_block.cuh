// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/tagged_word.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// \file
/// The last block to arrive goes on alone with what all blocks have written.
///
///     block 0   write -> fence -> arrive: 1st
///     block 1   write ------> fence -> arrive: 3rd, the last -> fence -> read what all blocks have written
///     block 2   write -> fence ---> arrive: 2nd
///
/// Forward progress: no block waits for another, so any number of blocks may be resident, in any order.
///
/// There are two ways to find the last block. `arrive_is_last` and `is_last_block` use a counter that was 0 before (as
/// the "threadFenceReduction" sample of CUDA does). `last_block_gather` uses tagged words in memory that is not
/// initialised.

/// True in the last thread to call it. What the blocks have written before is then visible to this thread, and after
/// another barrier to its block. `arrivals` was 0 before the first call. One thread of each of `blocks` blocks calls
/// this, after a barrier of its block.
STRATA_D bool arrive_is_last(unsigned* arrivals, unsigned blocks) {
  platform::fence_acq_rel();
  const bool is_last = atomicAdd(arrivals, 1u) == blocks - 1;
  // Synchronises with the fences of the blocks that have arrived.
  platform::fence_acq_rel();
  return is_last;
}

/// True in the last block to call it, where everything that other blocks have written before is visible. All threads of
/// each block of the grid call this.
STRATA_D bool is_last_block(unsigned* arrivals) {
  __syncthreads();
  const bool is_last = threadIdx.x == 0 && arrive_is_last(arrivals, gridDim.x);
  return __syncthreads_or(is_last ? 1 : 0) != 0;
}

/// Gathers one value of each block in the last block to publish.
///
///     block 0   publish words -> fence -> read words: block 1's has an old epoch -> ends
///     block 1   publish words ----------> fence -> read words: all complete -> elected -> erase epochs
///
/// 1. The order of the fences is total. The last block in this order finds all words complete, unless the elected block
///    has erased epochs by then.
/// 2. Other blocks may find all words complete too. A compare-and-swap of one epoch elects one of them.
/// 3. The elected block erases the epochs, because a replayed graph has the same epoch.
template <class T>
class last_block_gather {
 public:
  static constexpr int words_per_value = tagged_value<T>::size;

  struct arguments {
    platform::tagged_word* words;  // words_per_value for each block
    unsigned long long epoch;
  };

  struct TempStorage {
    bool is_elected;
  };

  /// For block `rank` of `blocks` blocks. `blocks` is not larger than the number of threads of a block.
  STRATA_D last_block_gather(TempStorage& storage, const arguments& gather, unsigned rank, unsigned blocks)
      : storage_(storage), arguments_(gather), rank_(rank), blocks_(blocks) {}

  /// Publishes thread 0's `value`. Returns true in at least one block, mostly in the last one to publish. In each block
  /// where it returns true, thread `i` receives the value of block `i`. All threads of the block call this.
  STRATA_D bool publish_and_collect(T& value) {
    if (!publish_and_complete(value)) return false;
    // The last thread does it, so that warp 0 combines the values meanwhile.
    if (threadIdx.x == blockDim.x - 1) storage_.is_elected = elect();
    return true;
  }

  /// publish_and_collect for results that several blocks may write, because all of them write the same. No block is
  /// elected, which saves an access to memory. Each of these blocks erases the epochs. A block that finds erased epochs
  /// knows that another block writes.
  STRATA_D bool publish_and_collect_all(T& value) {
    if (!publish_and_complete(value)) return false;
    if (threadIdx.x < blocks_) erase(threadIdx.x);
    return true;
  }

  /// True in exactly one block. All threads of a block that has collected call this.
  STRATA_D bool is_elected() {
    __syncthreads();
    if (!storage_.is_elected) return false;
    if (threadIdx.x < blocks_) erase(threadIdx.x);
    return true;
  }

  /// True in exactly one block, one that has found the values of all blocks complete: thread `i` receives the value of
  /// block `i`, and what other blocks have written to memory before is visible in all threads. All threads of the block
  /// call this.
  STRATA_D bool is_last_to_collect(T& value) {
    __syncthreads();
    if (threadIdx.x == 0) platform::fence_acq_rel();
    if (!publish_and_collect(value)) return false;
    // Each thread has read the word of one block. This synchronises with the fences above.
    platform::fence_acq_rel();
    return is_elected();
  }

  /// For callers that do not need the values: publishes `value`, and returns true in the last block.
  STRATA_D bool is_last(T value) { return is_last_to_collect(value); }

  // The single steps, each for one thread. A fence_sc() must stand between a block's publish() and its collect(), and a
  // barrier if other threads collect.

  STRATA_D void publish(const T& value) {
    tagged_value<T>::store(arguments_.words, blocks_, rank_, value, arguments_.epoch);
  }

  /// Receives the value of block `rank`. Returns true if it is complete.
  STRATA_D bool collect(unsigned rank, T& value) const {
    return tagged_value<T>::load(arguments_.words, blocks_, rank).get(value, arguments_.epoch);
  }

  /// True in one of the threads that have collected all values.
  STRATA_D bool elect() { return atomicCAS(&word(0, 0)->epoch, arguments_.epoch, 0ull) == arguments_.epoch; }

  /// Erases the epoch of a rank. The elected block calls this for every rank.
  STRATA_D void erase(unsigned rank) {
    STRATA_UNROLL
    for (int i = 0; i < words_per_value; ++i) platform::store_relaxed(&word(i, rank)->epoch, 0ull);
  }

 private:
  STRATA_D bool publish_and_complete(T& value) {
    if (threadIdx.x == 0) {
      publish(value);
      platform::fence_sc();
    }
    __syncthreads();
    const bool is_complete = threadIdx.x >= blocks_ || collect(threadIdx.x, value);
    return __syncthreads_and(is_complete) != 0;
  }

  STRATA_D platform::tagged_word* word(int part, unsigned block) const {
    return arguments_.words + static_cast<unsigned>(part) * blocks_ + block;
  }

  TempStorage& storage_;
  arguments arguments_;
  unsigned rank_;
  unsigned blocks_;
};

}  // namespace detail
STRATA_NAMESPACE_END
