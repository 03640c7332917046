// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// Announced indices: whatever the memory held before, a block sees no index or one that was announced, and one of them
// stays.
#include <strata/device/engine/announced_index.cuh>
#include <strata/device/engine/tagged_word.cuh>

#include <vector>

#include "device/engine/grid_support.cuh"

namespace {

using namespace device_test;
using strata::detail::announced_index;
using strata::detail::next_epoch;
using strata::platform::tagged_word;

STRATA_HD unsigned long long number_of(std::uint64_t salt, unsigned block) { return mix(salt, block) >> 8; }

/// True if some block of even number announces this index.
STRATA_D bool is_one_of_them(std::uint64_t salt, unsigned long long number) {
  for (unsigned block = 0; block < gridDim.x; block += 2) {
    if (number_of(salt, block) == number) return true;
  }
  return false;
}

/// Half of the blocks announce an index. `counts[0]`: blocks that see no index after they have announced one.
/// `counts[1]`: how often a block sees an index that nobody announces.
STRATA_KERNEL void announce_and_ask(announced_index::arguments arguments, std::uint64_t salt, unsigned* counts) {
  if (threadIdx.x != 0) return;
  const announced_index announced(arguments);
  delay(salt, 0);
  for (int time = 0; time < 2; ++time) {
    const tagged_word answer = announced.ask();
    if (announced.is_announced(answer) && !is_one_of_them(salt, answer.value)) atomicAdd(counts + 1, 1u);
    if (time == 0 && blockIdx.x % 2 == 0) {
      announced.announce(number_of(salt, blockIdx.x));
      if (!announced.is_announced(announced.ask())) atomicAdd(counts, 1u);
    }
    delay(salt, 1);
  }
}

STRATA_KERNEL void erase(announced_index::arguments arguments) { announced_index(arguments).erase(); }

TEST(grid_announced_index, one_of_the_announced_ones_stays) {
  const scratch memory(sizeof(tagged_word));
  device_vector<unsigned> counts(std::vector<unsigned>(2));
  under_grid_schedules([&](std::size_t i) {
    fill_with_garbage(memory, i);
    start_load(i);
    const unsigned blocks = grid_blocks(i);
    const announced_index::arguments arguments{static_cast<tagged_word*>(memory.data()), next_epoch()};
    ASSERT_CUDA_SUCCESS(strata::launch({"announce_and_ask", dim3(blocks), dim3(grid_block_threads)}, announce_and_ask,
                                       arguments, mix(i), counts.data()));
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    ASSERT_EQ(std::vector<unsigned>(2), counts.to_host());
    tagged_word word{};
    std::memcpy(&word, memory.read().data(), sizeof(word));
    ASSERT_EQ(arguments.epoch, word.epoch);
    bool is_announced = false;
    for (unsigned block = 0; block < blocks; block += 2) {
      is_announced = is_announced || number_of(mix(i), block) == word.value;
    }
    ASSERT_TRUE(is_announced);
    ASSERT_CUDA_SUCCESS(strata::launch({"erase", dim3(1), dim3(1)}, erase, arguments));
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    std::memcpy(&word, memory.read().data(), sizeof(word));
    ASSERT_EQ(0u, word.epoch);
  });
}

}  // namespace
