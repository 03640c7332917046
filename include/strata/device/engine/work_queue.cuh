// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

/// \file
/// Tickets: how blocks take numbered work items in turn.
///
///     counter in device memory:  0 -> 1 -> 2 -> 3 -> ...
///     tickets:                  block 7, block 0, block 3, ...   in the order in which blocks ask
///
/// Forward progress: a block that holds ticket t runs. Every ticket below t was taken earlier, by a block
/// that runs or has ended. A block that waits only for lower tickets therefore waits only for blocks that
/// make progress, whatever the number of resident blocks and their order. Taking a ticket never waits.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// By one thread: the next ticket of `counter`, which was 0 before the first.
template <class Ticket>
STRATA_D Ticket take_ticket(Ticket* counter) {
  return atomicAdd(counter, Ticket{1});
}

/// By one thread: the first of the next `count` tickets.
template <class Ticket>
STRATA_D Ticket take_tickets(Ticket* counter, Ticket count) {
  return atomicAdd(counter, count);
}

/// By all threads of a block: one ticket for the block. `shared` lies in shared memory. A caller that
/// takes another ticket into the same `shared` calls `__syncthreads()` first.
template <class Ticket>
STRATA_D Ticket take_block_ticket(Ticket* counter, Ticket& shared) {
  if (threadIdx.x == 0) shared = take_ticket(counter);
  __syncthreads();
  return shared;
}

}  // namespace detail
STRATA_NAMESPACE_END
