// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// The least index: over any memory, it becomes the least of all announced numbers, and nothing below is ever seen.
#include <strata/device/engine/least_index.cuh>
#include <strata/device/engine/tagged_word.cuh>

#include <algorithm>
#include <vector>

#include "device/engine/grid_support.cuh"

namespace {

using namespace device_test;
using strata::detail::least_index;
using strata::detail::next_epoch;
using strata::platform::tagged_word;

STRATA_HD unsigned long long number_of(std::uint64_t salt, unsigned block) { return mix(salt, block) >> 8; }

/// Half of the blocks announce a number. `counts[0]`: blocks that do not find their own number or a lower one;
/// `counts[1]`: blocks that find one below `least`.
STRATA_KERNEL void announce_and_look(least_index::arguments arguments, std::uint64_t salt, unsigned long long least,
                                     unsigned* counts) {
  if (threadIdx.x != 0) return;
  const least_index announced(arguments);
  delay(salt, 0);
  if (announced.is_below(least)) atomicAdd(counts + 1, 1u);
  if (blockIdx.x % 2 == 0) {
    const unsigned long long mine = number_of(salt, blockIdx.x);
    announced.announce(mine);
    if (!announced.is_below(mine + 1)) atomicAdd(counts, 1u);
  }
  delay(salt, 1);
  if (announced.is_below(least)) atomicAdd(counts + 1, 1u);
}

STRATA_KERNEL void erase(least_index::arguments arguments) { least_index(arguments).erase(); }

TEST(grid_least_index, the_least_number_of_all_blocks_stays) {
  const scratch memory(sizeof(tagged_word));
  device_vector<unsigned> counts(std::vector<unsigned>(2));
  under_grid_schedules([&](std::size_t i) {
    fill_with_garbage(memory, i);
    start_load(i);
    const unsigned blocks = grid_blocks(i);
    unsigned long long least = ~0ull;
    for (unsigned block = 0; block < blocks; block += 2) least = std::min(least, number_of(mix(i), block));
    const least_index::arguments arguments{static_cast<tagged_word*>(memory.data()), next_epoch()};
    ASSERT_CUDA_SUCCESS(strata::launch({"announce_and_look", dim3(blocks), dim3(grid_block_threads)}, announce_and_look,
                                       arguments, mix(i), least, counts.data()));
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    ASSERT_EQ(std::vector<unsigned>(2), counts.to_host());
    tagged_word word{};
    std::memcpy(&word, memory.read().data(), sizeof(word));
    ASSERT_EQ(arguments.epoch, word.epoch);
    ASSERT_EQ(least, word.value);
    ASSERT_CUDA_SUCCESS(strata::launch({"erase", dim3(1), dim3(1)}, erase, arguments));
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    std::memcpy(&word, memory.read().data(), sizeof(word));
    ASSERT_EQ(0u, word.epoch);
  });
}

}  // namespace
