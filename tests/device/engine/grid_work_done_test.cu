// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// Counts of finished work: a stage sees all that the stage before has written, and exactly one block is told that it
// has finished the last item, no matter which blocks are resident and in which order they start.
#include <strata/device/engine/work_queue.cuh>

#include <numeric>
#include <vector>

#include "device/engine/grid_support.cuh"

namespace {

using namespace device_test;

constexpr unsigned long long items = 10;
constexpr unsigned long long stages = 3;

/// The work on an item adds up all items of the stage before. `lasts` counts the blocks that are told that they
/// finished the last item of the last stage.
STRATA_KERNEL void work_in_stages(unsigned long long* tickets, unsigned long long* done, unsigned long long* values,
                                  unsigned* lasts, std::uint64_t schedule) {
  STRATA_SHARED(shared, unsigned long long);
  for (unsigned round = 0;; ++round) {
    delay(schedule, 2 * round);
    const unsigned long long ticket = strata::detail::take_block_ticket(tickets, shared);
    if (ticket >= stages * items) return;
    const unsigned long long stage = ticket / items;
    if (threadIdx.x == 0 && stage > 0) strata::detail::wait_until_done(done, stage * items);
    __syncthreads();
    // Another thread than the one that waited reads and writes.
    if (threadIdx.x == blockDim.x - 1) {
      unsigned long long sum = 1;
      for (unsigned long long i = 0; stage > 0 && i < items; ++i) sum += values[(stage - 1) * items + i];
      delay(schedule, 2 * round + 1);
      values[ticket] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0 && strata::detail::add_done(done, 1) == stages * items) {
      atomicAdd(lasts, 1u);
      for (unsigned long long i = 0; i < stages * items; ++i) values[stages * items] += values[i];
    }
  }
}

TEST(grid_work_done, stages_follow_each_other) {
  device_vector<unsigned long long> tickets(1), done(1), values(stages * items + 1);
  device_vector<unsigned> lasts(1);
  std::vector<unsigned long long> expected;
  unsigned long long sum = 1;
  for (unsigned long long stage = 0; stage < stages; ++stage) {
    expected.insert(expected.end(), items, sum);
    sum = sum * items + 1;
  }
  expected.push_back(std::accumulate(expected.begin(), expected.end(), 0ull));
  under_grid_schedules([&](std::size_t i) {
    tickets.assign({0});
    done.assign({0});
    lasts.assign({0});
    values.assign(std::vector<unsigned long long>(stages * items + 1));
    start_load(i);
    ASSERT_CUDA_SUCCESS(strata::launch({"work_in_stages", dim3(grid_blocks(i)), dim3(grid_block_threads)},
                                       work_in_stages, tickets.data(), done.data(), values.data(), lasts.data(),
                                       mix(i)));
    ASSERT_EQ(expected, values.to_host());
    ASSERT_EQ(1u, lasts.to_host()[0]);
    ASSERT_EQ(stages * items, done.to_host()[0]);
  });
}

}  // namespace
