// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

/// \file
/// Counts of finished work items: a block waits until all items of a stage are finished, or finds that it has
/// finished the last one.
///
///     stage 0, 3 items   done 0 -> 2 -> 3                       the block that reaches 3 knows that it is the last
///     stage 1, 3 items                  done 3 -> 4 -> 6        its blocks wait until 3 are done
///
/// Forward progress: adding never waits. A block may wait if the items it waits for have lower tickets than its own
/// (`work_queue.cuh`) and their blocks wait for lower tickets only.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// By one thread of a block that has finished `count` items, after a barrier of the block. Returns how many are
/// finished with these. What the blocks that finished them have written is then visible to this thread, and after
/// another barrier to its block. `done` was 0 before the first call.
STRATA_D unsigned long long add_done(unsigned long long* done, unsigned long long count) {
  platform::fence_acq_rel();
  const unsigned long long before = atomicAdd(done, count);
  // Pairs with the fences of the blocks that have added before.
  platform::fence_acq_rel();
  return before + count;
}

/// By one thread: waits until `count` items are finished. What their blocks have written is then visible to this
/// thread, and after a barrier to its block.
STRATA_D void wait_until_done(const unsigned long long* done, unsigned long long count) {
  while (platform::load_acquire(done) < count) STRATA_SPIN();
  // Pairs with the fence in add_done().
  platform::fence_acq_rel();
}

}  // namespace detail
STRATA_NAMESPACE_END
