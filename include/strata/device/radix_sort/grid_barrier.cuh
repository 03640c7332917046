// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What the blocks that meet at a barrier share.
struct grid_barrier_arguments {
  unsigned long long* flags;  // of each block
  unsigned* departures;       // 0 when the first barrier is passed
  unsigned long long tag;
  bool may_be_replayed;
};

/// A barrier of all blocks of a grid, which are resident together, over memory whose contents are
/// arbitrary.
///
/// Each block has a flag, which says how many barriers it has reached, on top of a tag that only
/// this call uses; a waiting block looks at the flags of all, a thread at each. A flag may run
/// ahead of who looks at it, never back, until the last block to leave takes all of them away: a
/// replay of the same launch (a CUDA graph) carries the same tag.
template <int BlockThreads>
class grid_barrier {
 public:
  using arguments = grid_barrier_arguments;

  STRATA_D explicit grid_barrier(const arguments& barrier) : barrier_(barrier) {
    platform::may_be_unwritten(barrier_.flags, gridDim.x * sizeof(*barrier_.flags));
  }

  /// By all threads of the block. What they have written is seen by all who have waited.
  STRATA_D void arrive() {
    ++phase_;
    __syncthreads();
    if (threadIdx.x == 0) {
      // Pairs with the acquiring load in wait().
      platform::store_release(barrier_.flags + blockIdx.x, barrier_.tag + phase_);
    }
  }

  /// By all threads of the block, after arrive().
  STRATA_D void wait() const {
    for (unsigned block = threadIdx.x; block < gridDim.x; block += unsigned{BlockThreads}) {
      const unsigned long long* const flag = barrier_.flags + block;
      while (platform::load_acquire(flag) - barrier_.tag - phase_ >= most_phases) STRATA_SPIN();
    }
    __syncthreads();
  }

  /// By all threads of the block, when it needs no other.
  STRATA_D void leave(bool& is_last) const {
    if (!barrier_.may_be_replayed) return;
    __syncthreads();
    if (threadIdx.x == 0) {
      // What this block has published must not land after it was taken away.
      platform::fence_acq_rel();
      is_last = atomicAdd(barrier_.departures, 1u) == gridDim.x - 1;
      platform::fence_acq_rel();
    }
    __syncthreads();
    if (!is_last) return;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += unsigned{BlockThreads}) {
      platform::store_relaxed(barrier_.flags + block, 0ull);
    }
  }

 private:
  static constexpr unsigned long long most_phases = 1024;

  arguments barrier_;
  unsigned long long phase_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END
