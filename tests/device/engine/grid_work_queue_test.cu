// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// Tickets: each is taken once, all threads of a block have the same, and a block may wait for the holder of
// a lower ticket, whatever blocks are resident and in which order they start.
#include <strata/device/engine/work_queue.cuh>

#include <vector>

#include "device/engine/grid_support.cuh"

namespace {

using namespace device_test;

/// Blocks take tickets until all `count` are taken. The work on a ticket ends after that on the ticket
/// before. `taken[ticket]` counts the threads that have it; `numbers[ticket]` is what the work on the
/// ticket before has left, and one more.
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

TEST(grid_work_queue, tickets_of_32_bits) { test_tickets<unsigned>(); }
TEST(grid_work_queue, tickets_of_64_bits) { test_tickets<unsigned long long>(); }

}  // namespace
