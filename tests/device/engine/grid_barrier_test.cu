// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// The grid barrier: no block goes on before all have arrived, and then sees what all have written before. This holds
// whatever the memory held, and when a graph is replayed.
#include <strata/device/engine/barrier.cuh>
#include <strata/device/engine/last_block.cuh>
#include <strata/device/engine/tagged_word.cuh>

#include <vector>

#include "device/engine/grid_support.cuh"

namespace {

using namespace device_test;
using strata::detail::grid_barrier;
using strata::detail::grid_barrier_arguments;
using strata::detail::next_epoch;

constexpr unsigned max_blocks = 8;

/// In each round, every thread writes a number, and after the barrier reads the numbers of all blocks. `counts[0]`:
/// wrong numbers. `counts[1]`: blocks that have reached the end.
STRATA_KERNEL void exchange(grid_barrier_arguments arguments, unsigned rounds, std::uint64_t* written,
                            const std::uint64_t* salts, unsigned* counts) {
  STRATA_SHARED(is_last, bool);
  const std::uint64_t salt = *salts;
  const unsigned threads = gridDim.x * blockDim.x;
  // The barrier requires that `departures` is 0 when a block passes it for the first time.
  if (blockIdx.x == 0 && threadIdx.x == 0) *arguments.departures = 0;
  grid_barrier<grid_block_threads> barrier(arguments);
  for (unsigned round = 0; round < rounds; ++round) {
    // A block may be one barrier ahead of another that still reads: hence two arrays.
    std::uint64_t* const numbers = written + round % 2 * threads;
    delay(salt, 2 * round);
    numbers[blockIdx.x * blockDim.x + threadIdx.x] = mix(salt, round, blockIdx.x * blockDim.x + threadIdx.x);
    barrier.arrive();
    delay(salt, 2 * round + 1);
    barrier.wait();
    for (unsigned i = threadIdx.x; i < threads; i += blockDim.x) {
      if (numbers[i] != mix(salt, round, i)) atomicAdd(counts, 1u);
    }
  }
  barrier.leave(is_last);
  if (threadIdx.x == 0) atomicAdd(counts + 1, 1u);
}

/// In each round, a block exchanges numbers with the blocks of its group of 2, 4, 8 ... blocks, as in the levels of a
/// merge sort.
STRATA_KERNEL void exchange_in_groups(grid_barrier_arguments arguments, std::uint64_t* written,
                                      const std::uint64_t* salts, unsigned* counts) {
  STRATA_SHARED(is_last, bool);
  const std::uint64_t salt = *salts;
  const unsigned threads = gridDim.x * blockDim.x;
  if (blockIdx.x == 0 && threadIdx.x == 0) *arguments.departures = 0;
  grid_barrier<grid_block_threads> barrier(arguments);
  unsigned round = 0;
  for (bool has_all = false; !has_all; ++round) {
    const unsigned group = 2u << round, first = blockIdx.x / group * group;
    const unsigned end = first + group < gridDim.x ? first + group : gridDim.x;
    has_all = group >= gridDim.x;
    std::uint64_t* const numbers = written + round % 2 * threads;
    delay(salt, 2 * round);
    numbers[blockIdx.x * blockDim.x + threadIdx.x] = mix(salt, round, blockIdx.x * blockDim.x + threadIdx.x);
    barrier.arrive();
    delay(salt, 2 * round + 1);
    barrier.wait_for(first, end);
    for (unsigned i = first * blockDim.x + threadIdx.x; i < end * blockDim.x; i += blockDim.x) {
      if (numbers[i] != mix(salt, round, i)) atomicAdd(counts, 1u);
    }
  }
  barrier.leave(is_last);
  if (threadIdx.x == 0) atomicAdd(counts + 1, 1u);
}

/// Every thread writes a number before it arrives at the barrier, and after the wait reads the numbers of all blocks.
STRATA_KERNEL void exchange_in_two_parts(strata::platform::tagged_word* arrivals, unsigned long long epoch,
                                         unsigned* departures, std::uint64_t* numbers, const std::uint64_t* salts,
                                         unsigned* counts) {
  const std::uint64_t salt = *salts;
  const unsigned threads = gridDim.x * blockDim.x;
  const strata::detail::grid_split_barrier<grid_block_threads> barrier(arrivals, epoch);
  delay(salt, 0);
  numbers[blockIdx.x * blockDim.x + threadIdx.x] = mix(salt, 0, blockIdx.x * blockDim.x + threadIdx.x);
  if (blockIdx.x == 0 && threadIdx.x == 0) *departures = 0;
  barrier.arrive();
  delay(salt, 1);
  barrier.wait();
  for (unsigned i = threadIdx.x; i < threads; i += blockDim.x) {
    if (numbers[i] != mix(salt, 0, i)) atomicAdd(counts, 1u);
  }
  if (threadIdx.x == 0) atomicAdd(counts + 1, 1u);
  if (strata::detail::is_last_block(departures)) barrier.erase();
}

class exchanging {
 public:
  cudaError_t launch(unsigned blocks, unsigned rounds, bool may_be_replayed, cudaStream_t on) {
    strata::launch_configuration configuration{"exchange", dim3(blocks), dim3(grid_block_threads), 0, on};
    configuration.cooperative = true;
    return strata::launch(configuration, exchange,
                          grid_barrier_arguments{static_cast<unsigned long long*>(flags.data()), departures.data(),
                                                 next_epoch(), may_be_replayed},
                          rounds, static_cast<std::uint64_t*>(written.data()),
                          static_cast<const std::uint64_t*>(salt.data()), counts.data());
  }
  cudaError_t launch_in_groups(unsigned blocks, bool may_be_replayed) {
    strata::launch_configuration configuration{"exchange_in_groups", dim3(blocks), dim3(grid_block_threads)};
    configuration.cooperative = true;
    return strata::launch(configuration, exchange_in_groups,
                          grid_barrier_arguments{static_cast<unsigned long long*>(flags.data()), departures.data(),
                                                 next_epoch(), may_be_replayed},
                          static_cast<std::uint64_t*>(written.data()), static_cast<const std::uint64_t*>(salt.data()),
                          counts.data());
  }
  cudaError_t launch_in_two_parts(unsigned blocks, cudaStream_t on) {
    strata::launch_configuration configuration{"exchange_in_two_parts", dim3(blocks), dim3(grid_block_threads), 0, on};
    configuration.cooperative = true;
    return strata::launch(configuration, exchange_in_two_parts,
                          static_cast<strata::platform::tagged_word*>(arrivals.data()), next_epoch(), departures.data(),
                          static_cast<std::uint64_t*>(written.data()), static_cast<const std::uint64_t*>(salt.data()),
                          counts.data());
  }
  /// Prepares a launch: new data, and garbage in the barrier's memory.
  void renew(std::size_t i) {
    fill_with_garbage(flags, i);
    fill_with_garbage(arrivals, i);
    fill_with_garbage(written, i);
    departures.poison();
    salt.assign({mix(i)});
    start_load(i);
  }
  void expect_ends(std::size_t ends) const {
    const std::vector<unsigned> found = counts.to_host();
    ASSERT_EQ(0u, found[0]) << "wrong numbers";
    ASSERT_EQ(ends, found[1]) << "blocks that have reached the end";
  }

  scratch flags{max_blocks * sizeof(unsigned long long)};
  scratch arrivals{max_blocks * sizeof(strata::platform::tagged_word)};
  scratch written{2 * max_blocks * grid_block_threads * sizeof(std::uint64_t)};
  device_vector<unsigned> departures{1};
  device_vector<std::uint64_t> salt{1};
  device_vector<unsigned> counts{std::vector<unsigned>(2)};
};

TEST(grid_barrier, all_blocks_see_what_all_have_written_before) {
  exchanging call;
  std::size_t ends = 0;
  under_grid_schedules([&](std::size_t i) {
    const unsigned blocks = 1 + static_cast<unsigned>(i % max_blocks);
    call.renew(i);
    ASSERT_CUDA_SUCCESS(call.launch(blocks, 1 + static_cast<unsigned>(i % 5), i % 2 == 0, nullptr));
    call.expect_ends(ends += blocks);
  });
}

TEST(grid_barrier, a_block_may_wait_for_some_blocks) {
  exchanging call;
  std::size_t ends = 0;
  under_grid_schedules([&](std::size_t i) {
    const unsigned blocks = 1 + static_cast<unsigned>(i % max_blocks);
    call.renew(i);
    ASSERT_CUDA_SUCCESS(call.launch_in_groups(blocks, i % 2 == 0));
    call.expect_ends(ends += blocks);
  });
}

// A replay has the epoch of the first run. If the barrier left its flags, they would open every barrier of the replay
// at once.
TEST(grid_barrier, a_graph_may_be_replayed) {
  for (const unsigned blocks : {1u, 2u, max_blocks}) {
    exchanging call;
    graph recorded([&](cudaStream_t on) { return call.launch(blocks, 3, true, on); });
    ASSERT_CUDA_SUCCESS(recorded.status());
    const stream on;
    under_grid_schedules([&](std::size_t i) {
      call.salt.assign({mix(i)});
      start_load(i);
      ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
      on.synchronize();
      call.expect_ends((i + 1) * blocks);
      const std::vector<unsigned char> flags = call.flags.read();
      for (std::size_t byte = 0; byte < blocks * sizeof(unsigned long long); ++byte) {
        ASSERT_EQ(0, flags[byte]) << "the flag of block " << byte / sizeof(unsigned long long) << " is not erased";
      }
    });
    if (testing::Test::HasFailure()) return;
  }
}

TEST(grid_split_barrier, all_blocks_see_what_all_have_written_before) {
  exchanging call;
  std::size_t ends = 0;
  under_grid_schedules([&](std::size_t i) {
    const unsigned blocks = 1 + static_cast<unsigned>(i % max_blocks);
    call.renew(i);
    ASSERT_CUDA_SUCCESS(call.launch_in_two_parts(blocks, nullptr));
    call.expect_ends(ends += blocks);
  });
}

TEST(grid_split_barrier, a_graph_may_be_replayed) {
  exchanging call;
  graph recorded([&](cudaStream_t on) { return call.launch_in_two_parts(max_blocks, on); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const stream on;
  under_grid_schedules([&](std::size_t i) {
    call.salt.assign({mix(i)});
    start_load(i);
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    call.expect_ends((i + 1) * max_blocks);
  });
}

}  // namespace
