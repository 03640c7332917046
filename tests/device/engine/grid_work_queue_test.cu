// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// Tickets: each is taken once, all threads of a block have the same one, and a block may wait for the holder of a lower
// ticket, no matter which blocks are resident and in which order they start. Tickets of launches need no memory that is
// cleared.
#include <strata/device/engine/work_queue.cuh>

#include <vector>

#include "device/engine/grid_support.cuh"

namespace {

using namespace device_test;

/// Blocks take tickets until all `count` are taken. The work on a ticket ends after the work on the ticket before.
/// `taken[ticket]` counts the threads that have the ticket. `numbers[ticket]` becomes `numbers[ticket - 1] + 1`.
template <class Ticket>
STRATA_KERNEL void work_in_turn(Ticket* counter, Ticket count, unsigned* taken, unsigned* done, unsigned* numbers,
                                std::uint64_t schedule) {
  STRATA_SHARED(shared, Ticket);
  for (unsigned round = 0;; ++round) {
    delay(schedule, 2 * round);
    const Ticket ticket = strata::detail::take_block_ticket(counter, shared);
    if (ticket >= count) return;
    atomicAdd(taken + ticket, 1u);
    if (threadIdx.x == 0) {
      if (ticket > 0) {
        while (strata::platform::load_acquire(done + ticket - 1) == 0) STRATA_SPIN();
      }
      delay(schedule, 2 * round + 1);
      numbers[ticket] = ticket > 0 ? numbers[ticket - 1] + 1 : 1;
      strata::platform::store_release(done + ticket, 1u);
    }
    __syncthreads();
  }
}

template <class Ticket>
void test_tickets() {
  constexpr unsigned count = 12;
  device_vector<Ticket> counter(1);
  device_vector<unsigned> taken(count), done(count), numbers(count);
  under_grid_schedules([&](std::size_t i) {
    counter.assign({0});
    taken.assign(std::vector<unsigned>(count));
    done.assign(std::vector<unsigned>(count));
    numbers.poison();
    const unsigned blocks = grid_blocks(i);
    start_load(i);
    ASSERT_CUDA_SUCCESS(strata::launch({"work_in_turn", dim3(blocks), dim3(grid_block_threads)}, work_in_turn<Ticket>,
                                       counter.data(), Ticket{count}, taken.data(), done.data(), numbers.data(),
                                       mix(i)));
    // Every block has taken one ticket too many.
    ASSERT_EQ(Ticket{count} + blocks, counter.to_host()[0]);
    const std::vector<unsigned> threads = taken.to_host(), turns = numbers.to_host();
    for (unsigned ticket = 0; ticket < count; ++ticket) {
      ASSERT_EQ(unsigned{grid_block_threads}, threads[ticket]) << "threads with ticket " << ticket;
      ASSERT_EQ(ticket + 1, turns[ticket]) << "turn of ticket " << ticket;
    }
  });
}

/// Threads take the tickets of a launch. `taken[ticket]` counts how often a ticket is taken; `parities` is the sum of
/// all parities.
STRATA_KERNEL void take_launch_tickets(strata::detail::launch_tickets tickets, unsigned* taken, unsigned* parities) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < tickets.tickets; i += gridDim.x * blockDim.x) {
    const strata::detail::launch_tickets::ticket mine = tickets.take();
    if (mine.number < tickets.tickets) atomicAdd(taken + mine.number, 1u);
    atomicAdd(parities, mine.parity);
  }
}

TEST(grid_work_queue, tickets_of_launches_over_any_memory) {
  constexpr unsigned max_tickets = 100;
  const scratch word(sizeof(unsigned long long));
  device_vector<unsigned> taken(max_tickets), parities(1);
  strata::detail::launch_tickets tickets{};
  unsigned parity = 0;
  under_grid_schedules([&](std::size_t i) {
    if (i % 3 == 0) {
      fill_with_garbage(word, i);
      const unsigned count = i % 2 == 0 ? 1 + static_cast<unsigned>(i % max_tickets) : 16;
      const unsigned long long mask = strata::detail::launch_tickets::mask_of(count);
      tickets = {static_cast<unsigned long long*>(word.data()), mix(i) & ~mask, mask, count};
      parity = 0;
    }
    taken.assign(std::vector<unsigned>(max_tickets));
    parities.assign({0});
    start_load(i);
    ASSERT_CUDA_SUCCESS(strata::launch({"take_launch_tickets", dim3(static_cast<unsigned>(1 + i % 6)), dim3(8)},
                                       take_launch_tickets, tickets, taken.data(), parities.data()));
    const std::vector<unsigned> times = taken.to_host();
    for (unsigned ticket = 0; ticket < max_tickets; ++ticket) {
      ASSERT_EQ(ticket < tickets.tickets ? 1u : 0u, times[ticket]) << "ticket " << ticket;
    }
    ASSERT_EQ(parity * tickets.tickets, parities.to_host()[0]);
    parity = 1 - parity;
  });
}

TEST(grid_work_queue, tickets_of_32_bits) { test_tickets<unsigned>(); }
TEST(grid_work_queue, tickets_of_64_bits) { test_tickets<unsigned long long>(); }

}  // namespace
