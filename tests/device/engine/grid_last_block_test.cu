// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// There is exactly one last block, it sees what all blocks have written, and no block needs another one to be resident.
// `last_block_gather` promises this whatever the memory held, and when a graph is replayed.
#include <strata/device/engine/last_block.cuh>
#include <strata/device/engine/tagged_word.cuh>

#include <cstring>
#include <vector>

#include "device/engine/grid_support.cuh"

namespace {

using namespace device_test;
using strata::detail::is_last_block;
using strata::detail::last_block_gather;
using strata::detail::next_epoch;
using strata::platform::tagged_word;

// ---------------------------------------------------------------------------- counted arrivals

/// Every thread writes a number, and the last block compares all numbers. `counts[0]`: wrong numbers. `counts[1]`: last
/// blocks.
STRATA_KERNEL void write_and_compare(std::uint64_t* written, unsigned* arrivals, std::uint64_t salt, unsigned* counts) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  delay(salt, 0);
  written[i] = mix(salt, i);
  delay(salt, 1 + threadIdx.x % 2);
  if (!is_last_block(arrivals)) return;
  for (unsigned j = threadIdx.x; j < gridDim.x * blockDim.x; j += blockDim.x) {
    if (written[j] != mix(salt, j)) atomicAdd(counts, 1u);
  }
  if (threadIdx.x == 0) atomicAdd(counts + 1, 1u);
}

TEST(grid_last_block, the_last_to_arrive_sees_what_all_have_written) {
  const scratch written(max_grid_blocks * grid_block_threads * sizeof(std::uint64_t));
  device_vector<unsigned> arrivals(1), counts(std::vector<unsigned>(2));
  under_grid_schedules([&](std::size_t i) {
    fill_with_garbage(written, i);
    arrivals.assign({0});
    start_load(i);
    ASSERT_CUDA_SUCCESS(strata::launch({"write_and_compare", dim3(grid_blocks(i)), dim3(grid_block_threads)},
                                       write_and_compare, static_cast<std::uint64_t*>(written.data()), arrivals.data(),
                                       mix(i), counts.data()));
    const std::vector<unsigned> found = counts.to_host();
    ASSERT_EQ(0u, found[0]) << "words that the last block has not seen";
    ASSERT_EQ(i + 1, found[1]) << "last blocks so far";
  });
}

// ---------------------------------------------------------------------------- gathered values

/// A complete block has collected the values of all blocks. `counts[0]`: wrong values in complete blocks. `counts[1]`:
/// complete blocks. `counts[2]`: winners.
template <class T>
STRATA_KERNEL void gather(typename last_block_gather<T>::arguments arguments, const std::uint64_t* salts,
                          unsigned* counts) {
  STRATA_SHARED(storage, typename last_block_gather<T>::TempStorage);
  const std::uint64_t salt = *salts;
  last_block_gather<T> blocks(storage, arguments, blockIdx.x, gridDim.x);
  delay(salt, 0);
  // Only the value of thread 0 is published.
  T value = value_of<T>(salt, threadIdx.x == 0 ? blockIdx.x : ~0u);
  if (!blocks.publish_and_collect(value)) return;
  if (threadIdx.x < gridDim.x && !is_value_of(value, salt, threadIdx.x)) atomicAdd(counts, 1u);
  if (threadIdx.x == 0) atomicAdd(counts + 1, 1u);
  delay(salt, 1);
  if (blocks.is_elected() && threadIdx.x == 0) atomicAdd(counts + 2, 1u);
}

template <class T>
class gathering {
 public:
  static constexpr std::size_t words = static_cast<std::size_t>(last_block_gather<T>::words_per_value);

  cudaError_t launch(unsigned blocks, unsigned long long epoch, cudaStream_t on) {
    epoch_ = epoch;
    blocks_ = blocks;
    return strata::launch({"gather", dim3(blocks), dim3(grid_block_threads), 0, on}, gather<T>,
                          typename last_block_gather<T>::arguments{words_at(), epoch},
                          static_cast<const std::uint64_t*>(salt.data()), counts.data());
  }

  /// Checks call number `calls`: it has one winner, no wrong value, and leaves no word that a replay could mistake for
  /// its own.
  void expect_one_winner(std::size_t calls) {
    const std::vector<unsigned> found = counts.to_host();
    ASSERT_EQ(0u, found[0]) << "values that differ from those published";
    ASSERT_GE(found[1], found[2]) << "a winner has not collected all values";
    ASSERT_EQ(calls, found[2]) << "winners so far";
    const std::vector<unsigned char> bytes = memory.read();
    for (std::size_t i = 0; i < blocks_ * words; ++i) {
      tagged_word word;
      std::memcpy(&word, &bytes[i * sizeof word], sizeof word);
      ASSERT_NE(epoch_, word.epoch) << "word " << i << " is not erased";
    }
  }

  scratch memory{max_grid_blocks * words * sizeof(tagged_word)};
  device_vector<std::uint64_t> salt{1};
  device_vector<unsigned> counts{std::vector<unsigned>(3)};

 private:
  tagged_word* words_at() const { return static_cast<tagged_word*>(memory.data()); }

  unsigned long long epoch_ = 0;
  unsigned blocks_ = 0;
};

template <class T>
void test_gather() {
  gathering<T> call;
  under_grid_schedules([&](std::size_t i) {
    fill_with_garbage(call.memory, i);
    call.salt.assign({mix(i)});
    start_load(i);
    ASSERT_CUDA_SUCCESS(call.launch(grid_blocks(i), next_epoch(), nullptr));
    call.expect_one_winner(i + 1);
  });
}

TEST(grid_last_block, gathers_values_of_4_bytes) { test_gather<bytes_value<4>>(); }
TEST(grid_last_block, gathers_values_of_12_bytes) { test_gather<bytes_value<12>>(); }
TEST(grid_last_block, gathers_values_of_40_bytes) { test_gather<bytes_value<40>>(); }

// A replay has the epoch of the first run. So each run must erase its words, or the next one would mistake them for its
// own.
TEST(grid_last_block, a_graph_that_gathers_may_be_replayed) {
  for (const unsigned blocks : {1u, 3u, 7u}) {
    gathering<bytes_value<12>> call;
    graph recorded([&](cudaStream_t on) { return call.launch(blocks, next_epoch(), on); });
    ASSERT_CUDA_SUCCESS(recorded.status());
    const stream on;
    under_grid_schedules([&](std::size_t i) {
      call.salt.assign({mix(i)});
      start_load(i);
      ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
      on.synchronize();
      call.expect_one_winner(i + 1);
    });
    if (testing::Test::HasFailure()) return;
  }
}

#if STRATA_HOST_SIMT
// Blocks read words that nobody may have written yet. Check mode reports such a read unless the code declares it as
// intended.
TEST(grid_last_block, gathers_over_memory_that_nobody_has_written) {
  constexpr unsigned blocks = 3;
  device_vector<std::uint64_t> salt(std::vector<std::uint64_t>{1});
  device_vector<unsigned> counts(std::vector<unsigned>(3));
  tagged_word* words = nullptr;
  ASSERT_CUDA_SUCCESS(cudaMalloc(&words, blocks * sizeof(tagged_word)));
  EXPECT_CUDA_SUCCESS(strata::launch({"gather", dim3(blocks), dim3(grid_block_threads)}, gather<bytes_value<8>>,
                                     last_block_gather<bytes_value<8>>::arguments{words, next_epoch()},
                                     static_cast<const std::uint64_t*>(salt.data()), counts.data()));
  EXPECT_EQ(1u, counts.to_host()[2]);
  EXPECT_CUDA_SUCCESS(cudaFree(words));
}
#endif

}  // namespace
