// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

/// \file
/// Tickets: how blocks take numbered work items in turn. Counts of finished items: how blocks wait for them.
///
///     counter in device memory:  0 -> 1 -> 2 -> 3 -> ...
///     tickets:                  block 7, block 0, block 3, ...   in the order in which blocks ask
///
/// Forward progress: a block that holds ticket t runs. Every ticket below t was taken earlier, by a block
/// that runs or has ended. A block that waits only for lower tickets therefore waits only for blocks that
/// make progress, whatever the number of resident blocks and their order. Taking a ticket never waits.
///
/// With a count of finished work items, a block waits until all items of a stage are finished, or finds that it has
/// finished the last one.
///
///     stage 0, 3 items   done 0 -> 2 -> 3                       the block that reaches 3 knows that it is the last
///     stage 1, 3 items                  done 3 -> 4 -> 6        its blocks wait until 3 are done
///
/// Forward progress: adding never waits. A block may wait if the items it waits for have lower tickets than its own
/// and their blocks wait for lower tickets only.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Returns the next ticket of `counter`, which was 0 before the first ticket. One thread calls this.
template <class Ticket>
STRATA_D Ticket take_ticket(Ticket* counter) {
  return atomicAdd(counter, Ticket{1});
}

/// Returns the first of the next `count` tickets. One thread calls this.
template <class Ticket>
STRATA_D Ticket take_tickets(Ticket* counter, Ticket count) {
  return atomicAdd(counter, count);
}

/// Returns one ticket for the block. `shared` lies in shared memory. A caller that takes another ticket into the same
/// `shared` calls `__syncthreads()` first. All threads of a block call this.
template <class Ticket>
STRATA_D Ticket take_block_ticket(Ticket* counter, Ticket& shared) {
  if (threadIdx.x == 0) shared = detail::take_ticket(counter);
  __syncthreads();
  return shared;
}

/// Tickets of launches that take exactly `tickets` each. They come from a word that is never cleared: not before the
/// first launch, not between two launches, and not when a graph replays one.
///
///     word: | tag of the caller | tickets taken by two launches: 0 to 2 * tickets |
///
/// Launches have parity 0, 1, 0, 1, ... A launch of parity 0 ends with `tickets` taken. A launch of parity 1 ends with
/// 2 * tickets, which becomes 0. A block that finds another tag has found garbage. It stores the tag, unless another
/// block has done so.
struct launch_tickets {
  unsigned long long* word;
  unsigned long long tag;   // in the bits that are not in `mask`
  unsigned long long mask;  // the lowest bits: `mask_of(tickets)`
  unsigned tickets;

  STRATA_HD static constexpr unsigned long long mask_of(unsigned tickets) {
    unsigned long long mask = 1;
    while (mask < 2ull * tickets) mask = 2 * mask + 1;
    return mask;
  }

  struct ticket {
    unsigned number;
    unsigned parity;  // of the launch
  };

  /// Takes a ticket, and never waits. One thread calls this.
  STRATA_D ticket take() const {
    platform::may_be_unwritten(word, sizeof(*word));
    unsigned long long seen = atomicAdd(word, 1ull);
    if ((seen & ~mask) != tag) {
      seen = platform::load_relaxed(word);
      while ((seen & ~mask) != tag) seen = atomicCAS(word, seen, tag);
      seen = atomicAdd(word, 1ull);
    }
    const unsigned long long both = 2ull * tickets;
    const unsigned long long taken = seen & mask;
    STRATA_ASSERT(taken < both, "the blocks of a launch take more than %u tickets", tickets);
    // No block takes another ticket in this launch.
    if (taken == both - 1) atomicAdd(word, 0 - both);
    const unsigned parity = taken < tickets ? 0 : 1;
    return {static_cast<unsigned>(taken) - parity * tickets, parity};
  }

  /// Makes the next launch begin at ticket 0, with parity 0. One thread calls this, while no other takes tickets.
  STRATA_D void restart() const { platform::store_relaxed(word, tag); }
};

/// Adds `count` finished items. Returns how many are finished then. What the blocks of these items have written is then
/// visible to this thread, and after another barrier to its block. `done` was 0 before the first call. One thread of a
/// block calls this, after a barrier of the block.
STRATA_D unsigned long long add_done(unsigned long long* done, unsigned long long count) {
  platform::fence_acq_rel();
  const unsigned long long before = atomicAdd(done, count);
  // Synchronises with the fences of the blocks that have added before.
  platform::fence_acq_rel();
  return before + count;
}

/// Waits until `count` items are finished. What their blocks have written is then visible to this thread, and after a
/// barrier to its block. One thread calls this.
STRATA_D void wait_until_done(const unsigned long long* done, unsigned long long count) {
  while (platform::load_acquire(done) < count) STRATA_SPIN();
  // Synchronises with the fence in add_done().
  platform::fence_acq_rel();
}

}  // namespace detail
STRATA_NAMESPACE_END
