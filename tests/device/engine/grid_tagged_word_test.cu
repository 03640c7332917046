// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// Tagged words: a reader that finds the epoch of its call has the whole value that was written in this call, whatever
// the memory held before, and however readers and writers overlap in time.
#include <strata/device/engine/tagged_word.cuh>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "device/engine/grid_support.cuh"

namespace {

using namespace device_test;
using strata::detail::next_epoch;
using strata::detail::tagged_value;
using strata::platform::tagged_word;

TEST(grid_tagged_word, epochs_of_all_threads_differ_and_are_never_0) {
  constexpr std::size_t per_thread = 1 << 16;
  std::vector<unsigned long long> epochs(host_threads() * per_thread);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < host_threads(); ++t) {
    threads.emplace_back([&epochs, t] {
      for (std::size_t i = 0; i < per_thread; ++i) epochs[t * per_thread + i] = next_epoch();
    });
  }
  for (std::thread& each : threads) each.join();
  std::sort(epochs.begin(), epochs.end());
  EXPECT_NE(0u, epochs.front());
  // Callers add small numbers to an epoch, so no two epochs may be near.
  for (std::size_t i = 1; i < epochs.size(); ++i) ASSERT_GT(epochs[i] - epochs[i - 1], 4096u);
}

/// Every block stores its value, while it also reads the values of all blocks. `counts[0]`: wrong values. `counts[1]`:
/// blocks that did not find their own value. `counts[2]`: complete values of other blocks.
template <class T>
STRATA_KERNEL void store_and_load(tagged_word* words, unsigned long long epoch, std::uint64_t salt, unsigned* counts) {
  const unsigned block = blockIdx.x, blocks = gridDim.x;
  delay(salt, 0);
  if (threadIdx.x == 0) {
    tagged_value<T>::store(words, blocks, block, value_of<T>(salt, block), epoch);
    T own;
    if (!tagged_value<T>::load(words, blocks, block).get(own, epoch)) atomicAdd(counts + 1, 1u);
  }
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned other = threadIdx.x; other < blocks; other += blockDim.x) {
      T value;
      const tagged_value<T> loaded = tagged_value<T>::load(words, blocks, other);
      if (loaded.get(value, epoch)) {
        if (!is_value_of(value, salt, other)) atomicAdd(counts, 1u);
        if (other != block) atomicAdd(counts + 2, 1u);
      }
      if (loaded.get(value, epoch + 1)) atomicAdd(counts, 1u);
    }
    delay(salt, 1 + round);
  }
}

template <class T>
void test_values() {
  constexpr unsigned parts = tagged_value<T>::size;
  static_assert(parts == (sizeof(T) + 7) / 8, "");
  const scratch memory(max_grid_blocks * parts * sizeof(tagged_word));
  const device_vector<unsigned> counts(std::vector<unsigned>(3));
  under_grid_schedules([&](std::size_t i) {
    const unsigned blocks = grid_blocks(i);
    const unsigned long long epoch = next_epoch();
    const std::uint64_t salt = mix(i);
    fill_with_garbage(memory, i);
    start_load(i);
    ASSERT_CUDA_SUCCESS(strata::launch({"store_and_load", dim3(blocks), dim3(grid_block_threads)}, store_and_load<T>,
                                       static_cast<tagged_word*>(memory.data()), epoch, salt,
                                       const_cast<unsigned*>(counts.data())));
    // Word i of a block's value lies at block + i * blocks.
    const std::vector<unsigned char> bytes = memory.read();
    for (unsigned block = 0; block < blocks; ++block) {
      unsigned char value[parts * 8];
      for (unsigned part = 0; part < parts; ++part) {
        tagged_word word;
        std::memcpy(&word, &bytes[(block + part * blocks) * sizeof word], sizeof word);
        ASSERT_EQ(epoch, word.epoch) << "block " << block << ", word " << part;
        std::memcpy(value + part * 8, &word.value, 8);
      }
      const T expected = value_of<T>(salt, block);
      ASSERT_EQ(0, std::memcmp(&expected, value, sizeof(T))) << "block " << block;
    }
    const std::vector<unsigned> found = counts.to_host();
    ASSERT_EQ(0u, found[0]) << "wrong values";
    ASSERT_EQ(0u, found[1]) << "blocks that did not find what they had stored";
  });
  // If no block saw the value of another, the test would show nothing.
  EXPECT_GT(counts.to_host()[2], 0u) << "no block has seen the value of another";
}

TEST(grid_tagged_word, values_of_1_byte) { test_values<bytes_value<1>>(); }
TEST(grid_tagged_word, values_of_8_bytes) { test_values<bytes_value<8>>(); }
TEST(grid_tagged_word, values_of_12_bytes) { test_values<bytes_value<12>>(); }
TEST(grid_tagged_word, values_of_40_bytes) { test_values<bytes_value<40>>(); }

}  // namespace
