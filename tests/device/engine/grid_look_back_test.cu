// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// Decoupled look-back: each tile gets the sum of all tiles before it, no matter which blocks are resident, in which
// order they start, and how many tiles have published only their aggregates.
#include <strata/device/engine/look_back.cuh>
#include <strata/device/engine/work_queue.cuh>

#include <vector>

#include "device/engine/grid_support.cuh"

namespace {

using namespace device_test;
using strata::detail::take_block_ticket;
using strata::detail::thread_look_back;
using strata::detail::warp_look_back;

constexpr unsigned max_tiles = 40;

/// An aggregate so small that the sum of 40 tiles is at most the largest prefix that a state can hold.
template <class Word>
STRATA_HD Word aggregate_of(std::uint64_t salt, std::uint64_t tile, std::uint64_t column) {
  constexpr Word most = thread_look_back<Word, grid_block_threads>::max_value / max_tiles;
  return static_cast<Word>(mix(salt, tile, column)) % (most + 1);
}

/// Blocks take tiles until none is left. Each thread looks back for its own column.
template <class Word, int Batch>
STRATA_KERNEL void look_back_by_threads(unsigned* counter, unsigned tiles, Word* states, Word* out,
                                        std::uint64_t salt) {
  STRATA_SHARED(shared, unsigned);
  const unsigned column = threadIdx.x;
  for (unsigned round = 0;; ++round) {
    const unsigned tile = take_block_ticket(counter, shared);
    if (tile >= tiles) return;
    const thread_look_back<Word, grid_block_threads> states_of_column(states, column);
    delay(salt, 3 * round);
    const Word aggregate = aggregate_of<Word>(salt, tile, column);
    Word before = 0;
    if (tile > 0) {
      states_of_column.publish_aggregate(tile, aggregate);
      delay(salt, 3 * round + 1);
      before = states_of_column.template exclusive_prefix<Batch>(tile);
    }
    delay(salt, 3 * round + 2);
    states_of_column.publish_inclusive(tile, before + aggregate);
    out[tile * grid_block_threads + column] = before;
    __syncthreads();
  }
}

template <class Word, int Batch>
void test_threads() {
  constexpr std::size_t words = max_tiles * grid_block_threads;
  device_vector<unsigned> counter(1);
  device_vector<Word> states(words), out(words);
  under_grid_schedules([&](std::size_t i) {
    const unsigned tiles = i % 16 == 0 ? max_tiles : 1 + static_cast<unsigned>(i % 9);
    const std::uint64_t salt = mix(i);
    counter.assign({0});
    states.assign(std::vector<Word>(words));
    start_load(i);
    ASSERT_CUDA_SUCCESS(strata::launch({"look_back_by_threads", dim3(grid_blocks(i)), dim3(grid_block_threads)},
                                       look_back_by_threads<Word, Batch>, counter.data(), tiles, states.data(),
                                       out.data(), salt));
    const std::vector<Word> found = out.to_host();
    for (unsigned column = 0; column < unsigned{grid_block_threads}; ++column) {
      Word before = 0;
      for (unsigned tile = 0; tile < tiles; ++tile) {
        ASSERT_EQ(before, found[tile * grid_block_threads + column]) << "tile " << tile << ", column " << column;
        before += aggregate_of<Word>(salt, tile, column);
      }
    }
  });
}

TEST(grid_look_back, threads_with_words_of_32_bits) { test_threads<unsigned, 8>(); }
TEST(grid_look_back, threads_with_words_of_64_bits) { test_threads<unsigned long long, 2>(); }

/// Publishes an inclusive prefix of tile 0 and an aggregate of tile 1, and writes the prefixes that the thread then
/// reads for tiles 1 and 2.
template <class Word>
STRATA_KERNEL void read_states(Word* states, Word prefix, Word aggregate, Word* out) {
  const thread_look_back<Word, 1> look_back(states, 0);
  look_back.publish_inclusive(0, prefix);
  look_back.publish_aggregate(1, aggregate);
  out[0] = look_back.template exclusive_prefix<2>(1);
  out[1] = look_back.template exclusive_prefix<2>(2);
}

template <class Word>
void test_extreme_values() {
  constexpr Word most = thread_look_back<Word, 1>::max_value;
  device_vector<Word> states(2), out(2);
  const auto test = [&](Word prefix, Word aggregate) {
    states.assign({0, 0});
    ASSERT_CUDA_SUCCESS(strata::launch({"read_states", dim3(1), dim3(1)}, read_states<Word>, states.data(), prefix,
                                       aggregate, out.data()));
    EXPECT_EQ((std::vector<Word>{prefix, static_cast<Word>(prefix + aggregate)}), out.to_host());
  };
  for (const Word aggregate : {Word{0}, Word{1}, static_cast<Word>(most - 1)}) {
    test(0, aggregate);
    test(static_cast<Word>(most - aggregate), aggregate);
  }
}

TEST(grid_look_back, threads_take_the_least_and_the_largest_values) {
  test_extreme_values<unsigned>();
  test_extreme_values<unsigned long long>();
}

/// Each block has two warps; the second one only takes tickets.
STRATA_KERNEL void look_back_by_warps(warp_look_back order, unsigned long long* out, std::uint64_t salt) {
  STRATA_SHARED(shared, unsigned long long);
  for (unsigned round = 0;; ++round) {
    const unsigned long long tile = take_block_ticket(order.ticket, shared);
    if (tile >= order.tiles) return;
    delay(salt, round);
    if (threadIdx.x < 32) {
      const unsigned long long before = order.begin_of(tile, aggregate_of<unsigned long long>(salt, tile, 0));
      // All lanes must have the same sum.
      if (before == __shfl_sync(0xffffffffu, before, 0) && threadIdx.x == 31) out[tile] = before;
    }
    __syncthreads();
  }
}

TEST(grid_look_back, warps_over_sums_that_nobody_has_initialised) {
  device_vector<unsigned> states(max_tiles);
  device_vector<unsigned long long> ticket(1), out(max_tiles);
  const scratch sums(max_tiles * sizeof(unsigned long long)), ends(max_tiles * sizeof(unsigned long long));
  under_grid_schedules([&](std::size_t i) {
    // Some schedules have more tiles than a warp looks at in one step.
    const unsigned tiles = i % 16 == 0 ? max_tiles : 1 + static_cast<unsigned>(i % 9);
    const std::uint64_t salt = mix(i);
    ticket.assign({0});
    states.assign(std::vector<unsigned>(max_tiles));
    out.poison();
    fill_with_garbage(sums, i);
    fill_with_garbage(ends, i + 1);
    const warp_look_back order{states.data(), static_cast<unsigned long long*>(sums.data()),
                               static_cast<unsigned long long*>(ends.data()), ticket.data(), tiles};
    start_load(i);
    ASSERT_CUDA_SUCCESS(strata::launch({"look_back_by_warps", dim3(grid_blocks(i)), dim3(grid_block_threads)},
                                       look_back_by_warps, order, out.data(), salt));
    const std::vector<unsigned long long> found = out.to_host();
    unsigned long long before = 0;
    for (unsigned tile = 0; tile < tiles; ++tile) {
      ASSERT_EQ(before, found[tile]) << "tile " << tile;
      before += aggregate_of<unsigned long long>(salt, tile, 0);
    }
  });
}

}  // namespace
