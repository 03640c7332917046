// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// Tile aggregates, and the prefixes that are made of them: each tile gets the aggregate of all tiles before it, in
// their order, whatever the memory held, and when a graph is replayed. If each block has one tile, blocks may run in
// any order, even one after the other. Tests of scans in place show that inputs may be overwritten.
#include <strata/device/engine/tagged_word.cuh>
#include <strata/device/engine/tile_prefix.cuh>

#include <type_traits>
#include <vector>

#include "device/engine/grid_support.cuh"

// Not an unnamed namespace: nvcc warns of unused members there.
namespace device_test {

/// Computes the aggregate of a tile, as a block does if another block has not published it.
template <class T>
struct aggregate_again {
  std::uint64_t salt;
  STRATA_D T operator()(unsigned tile) const { return aggregates<T>::of(salt, tile); }
};

/// Writes the prefix of each tile to `out`. The prefixes begin with an initial value, the aggregate of tile -1.
template <class T, class Op, bool IsOneRound>
STRATA_KERNEL void write_prefixes(strata::detail::tile_aggregates_arguments exchange, std::size_t tiles, T* out,
                                  const std::uint64_t* salts) {
  using again = std::conditional_t<IsOneRound, aggregate_again<T>, strata::NullType>;
  const std::uint64_t salt = *salts;
  again reduce_tile{};
  if constexpr (IsOneRound) reduce_tile.salt = salt;
  strata::detail::running_prefix<T, Op, again> prefix(exchange, blockIdx.x, gridDim.x, Op{}, reduce_tile);
  prefix.begin_with(aggregates<T>::of(salt, ~0ull));
  prefix.for_each_tile(tiles, [&](std::size_t tile) {
    delay(salt + tile, 0);
    if (threadIdx.x < 32) {
      const T before = prefix(aggregates<T>::of(salt, tile));
      if (threadIdx.x == 0) out[tile] = before;
    }
    delay(salt + tile, 1);
    prefix.leave();
  });
}

}  // namespace device_test

namespace {

using namespace device_test;
using strata::platform::tagged_word;

constexpr unsigned max_rounds = 20;

template <class T, class Op, bool IsOneRound>
class prefixes {
 public:
  using words = strata::detail::tile_aggregates<T>;

  cudaError_t launch(unsigned blocks, std::size_t tiles, bool may_be_replayed, cudaStream_t on = nullptr) {
    tiles_ = tiles;
    strata::launch_configuration configuration{"write_prefixes", dim3(blocks), dim3(grid_block_threads), 0, on};
    // In several rounds, blocks wait for each other, so all must be resident.
    configuration.cooperative = !IsOneRound && blocks > 1;
    return strata::launch(configuration, write_prefixes<T, Op, IsOneRound>,
                          strata::detail::tile_aggregates_arguments{static_cast<tagged_word*>(memory.data()),
                                                                    strata::detail::next_epoch(), may_be_replayed},
                          tiles, out.data(), static_cast<const std::uint64_t*>(salts.data()));
  }
  void choose(std::uint64_t salt) {
    salt_ = salt;
    salts.assign({salt});
    out.poison();
  }
  void expect_prefixes() {
    const std::vector<T> found = out.to_host();
    T before = aggregates<T>::of(salt_, ~0ull);
    for (std::size_t tile = 0; tile < tiles_; ++tile) {
      ASSERT_TRUE(before == found[tile]) << "tile " << tile << " of " << tiles_;
      before = Op{}(before, aggregates<T>::of(salt_, tile));
    }
  }

  scratch memory{words::number_of_words(max_grid_blocks) * sizeof(tagged_word)};
  device_vector<T> out{max_grid_blocks * max_rounds};
  device_vector<std::uint64_t> salts{1};

 private:
  std::uint64_t salt_ = 0;
  std::size_t tiles_ = 0;
};

template <class T, class Op, bool IsOneRound>
void test_prefixes() {
  // All blocks must be resident. One multiprocessor has room for only 32.
  const strata_test::device_of_multiprocessors four(4);
  prefixes<T, Op, IsOneRound> call;
  under_grid_schedules([&](std::size_t i) {
    // With 40 blocks, some lanes of a warp have the aggregates of two tiles.
    const unsigned blocks = i % 256 == 5 ? 40 : 1 + static_cast<unsigned>(i % 8);
    // Slots are used again after 8 rounds; most calls have fewer rounds.
    const std::size_t rounds = IsOneRound ? 1 : i % 32 == 7 ? 1 + i / 32 % max_rounds : 1 + i / 3 % 3;
    const std::size_t tiles = IsOneRound ? blocks : blocks * rounds - i % blocks;
    fill_with_garbage(call.memory, i);
    call.choose(mix(i));
    start_load(i);
    ASSERT_CUDA_SUCCESS(call.launch(blocks, tiles, i % 2 == 0));
    call.expect_prefixes();
  });
}

// A replay has the epochs of the first run, so it must not mistake aggregates of an earlier run for its own.
template <class T, class Op, bool IsOneRound>
void test_replays() {
  for (const unsigned rounds : {1u, 2u, 9u, 17u}) {
    if (IsOneRound && rounds > 1) break;
    prefixes<T, Op, IsOneRound> call;
    constexpr unsigned blocks = 5;
    graph recorded([&](cudaStream_t on) { return call.launch(blocks, blocks * rounds, true, on); });
    ASSERT_CUDA_SUCCESS(recorded.status());
    const stream on;
    under_grid_schedules([&](std::size_t i) {
      if (i % 16 != 0 && rounds > 2) return;
      call.choose(mix(i));
      start_load(i);
      ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
      on.synchronize();
      call.expect_prefixes();
    });
    if (testing::Test::HasFailure()) return;
  }
}

TEST(grid_tile_prefix, several_rounds_in_order) { test_prefixes<affine<1>, one_after_the_other, false>(); }
TEST(grid_tile_prefix, several_rounds_of_aggregates_of_24_bytes) {
  test_prefixes<affine<3>, one_after_the_other, false>();
}
TEST(grid_tile_prefix, several_rounds_in_any_order) { test_prefixes<std::uint32_t, strata::Sum, false>(); }
TEST(grid_tile_prefix, one_round_whose_blocks_start_in_any_order) {
  test_prefixes<affine<1>, one_after_the_other, true>();
}
TEST(grid_tile_prefix, one_round_of_aggregates_of_24_bytes) { test_prefixes<affine<3>, one_after_the_other, true>(); }
TEST(grid_tile_prefix, graphs_of_several_rounds_may_be_replayed) {
  test_replays<affine<1>, one_after_the_other, false>();
}
TEST(grid_tile_prefix, graphs_of_one_round_may_be_replayed) { test_replays<affine<3>, one_after_the_other, true>(); }

}  // namespace
