// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// Counts of bins: in every round, each block gets the counts of all blocks and of the blocks before it. The memory is
// full of garbage.
#include <strata/device/engine/barrier.cuh>
#include <strata/device/engine/bin_counts.cuh>
#include <strata/device/engine/tagged_word.cuh>

#include <vector>

#include "device/engine/grid_support.cuh"

namespace {

using namespace device_test;
using strata::detail::grid_barrier;
using strata::detail::grid_barrier_arguments;
using strata::detail::next_epoch;

constexpr unsigned bins = grid_block_threads;
constexpr unsigned rounds = 3;
constexpr unsigned parts = 2;
// Three groups of up to 16 blocks; the last group has only 5.
constexpr unsigned most_blocks = 37;
using bin_counts = strata::detail::grid_bin_counts<bins>;

/// A number from 0 to 2^16, the most items that a block may have.
STRATA_HD unsigned count_of(std::uint64_t salt, unsigned round, unsigned block, unsigned bin) {
  return static_cast<unsigned>(mix(salt, round * most_blocks + block, bin) % 65537);
}

/// `wrong` counts wrong sums; `ends` counts blocks that have reached the end.
STRATA_KERNEL void count_and_collect(grid_barrier_arguments arguments, unsigned* words, const std::uint64_t* salts,
                                     unsigned* wrong, unsigned* ends) {
  STRATA_SHARED(is_last, bool);
  const std::uint64_t salt = *salts;
  if (blockIdx.x == 0 && threadIdx.x == 0) *arguments.departures = 0;
  const bin_counts counts(words);
  counts.clear(rounds);
  grid_barrier<grid_block_threads> barrier(arguments);
  barrier.arrive();
  barrier.wait();
  const unsigned bin = threadIdx.x;
  for (unsigned round = 0; round < rounds; ++round) {
    delay(salt, 2 * round);
    counts.publish(static_cast<int>(round), bin, count_of(salt, round, blockIdx.x, bin));
    delay(salt, 2 * round + 1);
    unsigned before = 0, all = 0;
    for (unsigned part = 0; part < parts; ++part) {
      unsigned before_of_part = 0, all_of_part = 0;
      counts.collect(static_cast<int>(round), bin, part, parts, before_of_part, all_of_part);
      before += before_of_part;
      all += all_of_part;
    }
    unsigned expected_before = 0, expected_all = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) {
      const unsigned count = count_of(salt, round, block, bin);
      if (block < blockIdx.x) expected_before += count;
      expected_all += count;
    }
    if (before != expected_before || all != expected_all) atomicAdd(wrong, 1u);
  }
  barrier.leave(is_last);
  if (threadIdx.x == 0) atomicAdd(ends, 1u);
}

TEST(grid_bin_counts, blocks_get_the_counts_of_all_and_of_those_before) {
  // All blocks must be resident. One multiprocessor has room for only 32.
  const strata_test::device_of_multiprocessors four(4);
  scratch flags(most_blocks * sizeof(unsigned long long));
  scratch words(bin_counts::number_of_words(most_blocks, rounds) * sizeof(unsigned));
  device_vector<unsigned> departures(1), wrong(1), ends(1);
  device_vector<std::uint64_t> salt(1);
  constexpr unsigned numbers_of_blocks[] = {1, 2, 16, 17, most_blocks};
  under_grid_schedules([&](std::size_t i) {
    const unsigned blocks = numbers_of_blocks[i % 5];
    fill_with_garbage(flags, i);
    fill_with_garbage(words, i);
    departures.poison();
    wrong.assign({0});
    ends.assign({0});
    salt.assign({mix(i)});
    start_load(i);
    strata::launch_configuration configuration{"count_and_collect", dim3(blocks), dim3(grid_block_threads)};
    configuration.cooperative = true;
    ASSERT_CUDA_SUCCESS(strata::launch(
        configuration, count_and_collect,
        grid_barrier_arguments{static_cast<unsigned long long*>(flags.data()), departures.data(), next_epoch(), false},
        static_cast<unsigned*>(words.data()), static_cast<const std::uint64_t*>(salt.data()), wrong.data(),
        ends.data()));
    ASSERT_EQ(0u, wrong.to_host()[0]) << "wrong sums";
    ASSERT_EQ(blocks, ends.to_host()[0]) << "blocks that have reached the end";
  });
}

}  // namespace
