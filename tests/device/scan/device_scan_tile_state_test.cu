// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// ScanTileState and TilePrefixCallbackOp: each tile gets the aggregate of all tiles before it, in their order, whatever
// the memory held before. With tickets, blocks may start in any order, any number at a time, and nothing needs to be
// cleared between launches or replays of graphs.
#include <strata/block/block_scan.cuh>
#include <strata/device/scan_tile_state.cuh>

#include <vector>

#include "device/engine/grid_support.cuh"

// This namespace has a name, because nvcc warns of unused members in an unnamed one.
namespace device_test {

enum class numbering { tickets, indices };

template <class T>
STRATA_HD T before_all(std::uint64_t salt) {
  return aggregates<T>::of(salt, ~0ull);
}

/// Writes the exclusive prefix of each tile to `out[tile]`, and the inclusive prefix of the last tile to `out[tiles]`.
/// `numbers[tile]` counts the blocks that have had the tile.
template <class T, class Op, numbering Numbering>
STRATA_KERNEL void write_tile_prefixes(strata::ScanTileState<T> state, int tiles, T* out, unsigned* numbers,
                                       const std::uint64_t* salts) {
  using Prefix = strata::TilePrefixCallbackOp<T, Op>;
  STRATA_SHARED(number_storage, typename strata::ScanTileState<T>::TempStorage);
  STRATA_SHARED(prefix_storage, typename Prefix::TempStorage);
  const std::uint64_t salt = *salts;
  for (int i = static_cast<int>(blockIdx.x); i < tiles; i += static_cast<int>(gridDim.x)) {
    int tile = i;
    if constexpr (Numbering == numbering::tickets) tile = state.TakeTile(number_storage);
    const auto number = static_cast<std::uint64_t>(tile);
    delay(salt + number, 0);
    Prefix prefix(state, prefix_storage, Op{}, tile, before_all<T>(salt));
    if (threadIdx.x < 32) static_cast<void>(prefix(aggregates<T>::of(salt, number)));
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) {
      atomicAdd(numbers + prefix.GetTileIdx(), 1u);
      out[tile] = prefix.GetExclusivePrefix();
      if (tile == tiles - 1) out[tiles] = prefix.GetInclusivePrefix();
    }
    __syncthreads();
  }
}

template <class T>
STRATA_KERNEL void clear_state(strata::ScanTileState<T> state, int tiles) {
  state.InitializeStatus(tiles);
}

/// A scan as users of CUB write it: block b has tile b, and tile 0 is treated separately.
template <class T, class Op, int Threads>
STRATA_KERNEL void scan_as_with_cub(strata::ScanTileState<T> state, const T* in, T* out, T* total) {
  using Scan = strata::BlockScan<T, Threads>;
  using Prefix = strata::TilePrefixCallbackOp<T, Op, strata::ScanTileState<T>>;
  STRATA_SHARED(scan_storage, typename Scan::TempStorage);
  STRATA_SHARED(prefix_storage, typename Prefix::TempStorage);
  const unsigned i = blockIdx.x * Threads + threadIdx.x;
  T item = in[i];
  if (blockIdx.x == 0) {
    T aggregate;
    Scan(scan_storage).InclusiveScan(item, item, Op{}, aggregate);
    if (threadIdx.x == 0) {
      state.SetInclusive(0, aggregate);
      if (gridDim.x == 1) *total = aggregate;
    }
  } else {
    Prefix prefix(state, prefix_storage, Op{});
    Scan(scan_storage).InclusiveScan(item, item, Op{}, prefix);
    const T expected = Op{}(prefix.GetExclusivePrefix(), prefix.GetBlockAggregate());
    if (threadIdx.x == Threads - 1 && blockIdx.x == gridDim.x - 1) {
      *total = expected == prefix.GetInclusivePrefix() ? expected : T{};
    }
  }
  out[i] = item;
}

/// Sums that start anew after each `period` tiles. Writes the sum of the tiles before each tile to `out[tile]`.
STRATA_KERNEL void write_periods(strata::ScanTileState<unsigned> state, unsigned period, unsigned* out) {
  using Prefix = strata::TilePrefixCallbackOp<unsigned, strata::Sum>;
  STRATA_SHARED(number_storage, strata::ScanTileState<unsigned>::TempStorage);
  STRATA_SHARED(prefix_storage, Prefix::TempStorage);
  const int tile = state.TakeTile(number_storage);
  delay(period, 0);
  const auto number = static_cast<unsigned>(tile);
  unsigned before = 0;
  if (number % period == 0) {
    if (threadIdx.x == 0) state.SetInclusive(tile, number + 1);
  } else if (threadIdx.x < 32) {
    before = Prefix(state, prefix_storage, strata::Sum{}, tile)(number + 1);
  }
  if (threadIdx.x == 0) out[number] = before;
}

/// Two scans in one launch. The second one scans what the first one has found.
STRATA_KERNEL void scan_twice(strata::ScanTileState<unsigned> state, strata::ScanTileState<std::uint64_t> second,
                              unsigned salt, std::uint64_t* out) {
  using Prefix = strata::TilePrefixCallbackOp<unsigned, strata::Sum>;
  using SecondPrefix = strata::TilePrefixCallbackOp<std::uint64_t, strata::Sum>;
  STRATA_SHARED(number_storage, strata::ScanTileState<unsigned>::TempStorage);
  STRATA_SHARED(prefix_storage, Prefix::TempStorage);
  STRATA_SHARED(second_storage, SecondPrefix::TempStorage);
  const int tile = state.TakeTile(number_storage);
  second.UseTilesOf(state);
  if (threadIdx.x < 32) {
    const unsigned before = Prefix(state, prefix_storage, strata::Sum{}, tile)(salt);
    delay(salt, 0);
    // Lane 0 has the result.
    const std::uint64_t before_that = SecondPrefix(second, second_storage, strata::Sum{}, tile)(before);
    if (threadIdx.x == 0) out[tile] = before_that;
  }
}

}  // namespace device_test

namespace {

using namespace device_test;

template <class T>
class state_with_storage {
 public:
  explicit state_with_storage(int max_tiles) : storage(bytes_for(max_tiles), 8) { init(max_tiles); }
  void init(int tiles) {
    EXPECT_CUDA_SUCCESS(state.Init(tiles, storage.data(), bytes_for(tiles)));
    tiles_ = tiles;
  }
  int tiles() const { return tiles_; }
  static std::size_t bytes_for(int tiles) {
    std::size_t bytes = 0;
    EXPECT_CUDA_SUCCESS(strata::ScanTileState<T>::AllocationSize(tiles, bytes));
    return bytes;
  }

  strata::ScanTileState<T> state;
  scratch storage;

 private:
  int tiles_ = 0;
};

/// Numbers of tiles around those at which levels begin and end. Large numbers are rare, because a launch of 2100 blocks
/// takes some milliseconds on the host.
constexpr int max_tiles = 2100;
int tiles_of(std::size_t i) {
  constexpr int large[] = {1025, 2049, 1057, max_tiles, 1023, 1024, 1056, 2048};
  constexpr int small[] = {1, 2, 31, 32, 33, 3, 65, 5};
  return i % 128 == 9 ? large[i / 128 % 8] : small[i % 8];
}

template <class T, class Op>
class tile_prefixes : public state_with_storage<T> {
 public:
  tile_prefixes() : state_with_storage<T>(max_tiles) {}

  template <numbering Numbering = numbering::tickets>
  cudaError_t launch(int blocks, cudaStream_t on = nullptr) {
    return strata::launch({"write_tile_prefixes", dim3(static_cast<unsigned>(blocks)), dim3(grid_block_threads), 0, on},
                          write_tile_prefixes<T, Op, Numbering>, this->state, this->tiles(), out.data(), numbers.data(),
                          static_cast<const std::uint64_t*>(salts.data()));
  }
  void choose(std::uint64_t salt) {
    salt_ = salt;
    salts.assign({salt});
    out.poison();
    numbers.assign(std::vector<unsigned>(max_tiles));
  }
  void expect_prefixes() {
    const std::vector<T> found = out.to_host();
    const std::vector<unsigned> blocks = numbers.to_host();
    T before = before_all<T>(salt_);
    for (std::size_t tile = 0; tile < static_cast<std::size_t>(this->tiles()); ++tile) {
      ASSERT_EQ(1u, blocks[tile]) << "blocks that have tile " << tile;
      ASSERT_TRUE(before == found[tile]) << "tile " << tile << " of " << this->tiles();
      before = Op{}(before, aggregates<T>::of(salt_, tile));
    }
    ASSERT_TRUE(before == found[static_cast<std::size_t>(this->tiles())]) << "all tiles";
  }

  device_vector<T> out{max_tiles + 1};
  device_vector<unsigned> numbers{max_tiles};
  device_vector<std::uint64_t> salts{1};

 private:
  std::uint64_t salt_ = 0;
};

unsigned multiprocessors_of(std::size_t i) {
  constexpr unsigned some[] = {1, 4, 64};
  return some[i % 3];
}

/// With tickets, blocks have a tile each or several, in any order. Storage holds garbage before Init, and several
/// launches follow one Init.
template <class T, class Op>
void test_tickets() {
  tile_prefixes<T, Op> call;
  under_grid_schedules([&](std::size_t i) {
    const strata_test::device_of_multiprocessors device(multiprocessors_of(i));
    if (i % 5 == 0) {
      fill_with_garbage(call.storage, i);
      call.init(tiles_of(i / 5));
    }
    const int tiles = call.tiles();
    const int blocks = i % 4 == 0 ? 1 + static_cast<int>(i / 4 % 7) : tiles;
    call.choose(mix(i));
    start_load(i);
    ASSERT_CUDA_SUCCESS(call.launch(blocks < tiles ? blocks : tiles));
    call.expect_prefixes();
  });
}

TEST(device_scan_tile_state, tickets_in_order) { test_tickets<affine<1>, one_after_the_other>(); }
TEST(device_scan_tile_state, tickets_and_aggregates_of_24_bytes) { test_tickets<affine<3>, one_after_the_other>(); }
TEST(device_scan_tile_state, tickets_in_any_order) { test_tickets<std::uint32_t, strata::Sum>(); }
TEST(device_scan_tile_state, tickets_and_aggregates_of_2_bytes) { test_tickets<std::uint16_t, strata::Max>(); }

TEST(device_scan_tile_state, a_graph_may_be_replayed) {
  for (const int tiles : {1, 5, 40, 1100}) {
    tile_prefixes<affine<3>, one_after_the_other> call;
    call.init(tiles);
    graph recorded([&](cudaStream_t on) { return call.launch(tiles, on); });
    ASSERT_CUDA_SUCCESS(recorded.status());
    const stream on;
    under_grid_schedules([&](std::size_t i) {
      if (i % (tiles > 40 ? 64 : 4) != 1 && tiles > 5) return;
      call.choose(mix(i));
      start_load(i);
      ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
      on.synchronize();
      call.expect_prefixes();
    });
    if (testing::Test::HasFailure()) return;
  }
}

/// Blocks start in the order of their indices, as on today's GPUs.
void in_order_of_indices() {
#if STRATA_HOST_SIMT
  strata::simt::config().order = strata::simt::block_order::ascending;
#endif
}

TEST(device_scan_tile_state, block_indices_and_an_init_for_each_launch) {
  tile_prefixes<affine<1>, one_after_the_other> call;
  under_grid_schedules([&](std::size_t i) {
    in_order_of_indices();
    call.init(tiles_of(i));
    call.choose(mix(i));
    start_load(i);
    ASSERT_CUDA_SUCCESS(call.launch<numbering::indices>(call.tiles()));
    call.expect_prefixes();
  });
}

template <class T, class Op>
void test_as_with_cub(unsigned blocks) {
  constexpr unsigned threads = 64;
  state_with_storage<T> with(static_cast<int>(blocks));
  device_vector<T> in(blocks * threads), out(blocks * threads), total(1);
  const auto issue = [&](cudaStream_t on) {
    const cudaError_t status = strata::launch({"clear_state", dim3((blocks + 31) / 32), dim3(32), 0, on},
                                              clear_state<T>, with.state, static_cast<int>(blocks));
    if (status != cudaSuccess) return status;
    return strata::launch({"scan_as_with_cub", dim3(blocks), dim3(threads), 0, on}, scan_as_with_cub<T, Op, threads>,
                          with.state, static_cast<const T*>(in.data()), out.data(), total.data());
  };
  graph recorded(issue);
  const stream on;
  under_grid_schedules([&](std::size_t i) {
    if (i % 16 != 0) return;
    in_order_of_indices();
    std::vector<T> items(blocks * threads);
    for (std::size_t item = 0; item < items.size(); ++item) items[item] = aggregates<T>::of(i, item);
    in.assign(items);
    total.poison();
    start_load(i);
    if (i % 32 == 0) {
      ASSERT_CUDA_SUCCESS(issue(nullptr));
    } else {
      ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
      on.synchronize();
    }
    const std::vector<T> found = out.to_host();
    T sum = items[0];
    for (std::size_t item = 0; item < items.size(); ++item) {
      if (item > 0) sum = Op{}(sum, items[item]);
      ASSERT_TRUE(sum == found[item]) << "item " << item;
    }
    ASSERT_TRUE(sum == total.to_host()[0]);
  });
}

TEST(device_scan_tile_state, a_kernel_that_initialises_as_with_cub) {
  test_as_with_cub<affine<1>, one_after_the_other>(70);
  test_as_with_cub<affine<3>, one_after_the_other>(33);
  test_as_with_cub<std::uint32_t, strata::Sum>(1);
}

TEST(device_scan_tile_state, an_initialisation_between_launches_with_tickets) {
  tile_prefixes<affine<1>, one_after_the_other> call;
  call.init(34);
  under_grid_schedules([&](std::size_t i) {
    call.choose(mix(i));
    if (i % 3 == 1) {
      ASSERT_CUDA_SUCCESS(strata::launch({"clear_state", dim3(2), dim3(32)}, clear_state<affine<1>>, call.state, 34));
    }
    ASSERT_CUDA_SUCCESS(call.launch(34));
    call.expect_prefixes();
  });
}

TEST(device_scan_tile_state, an_inclusive_prefix_hides_all_tiles_before) {
  state_with_storage<unsigned> with(max_tiles);
  device_vector<unsigned> out(max_tiles);
  under_grid_schedules([&](std::size_t i) {
    const int tiles = tiles_of(i);
    const unsigned period = 1 + static_cast<unsigned>(mix(i) % (i % 3 == 0 ? 1500 : 40));
    with.init(tiles);
    out.poison();
    ASSERT_CUDA_SUCCESS(strata::launch({"write_periods", dim3(static_cast<unsigned>(tiles)), dim3(32)}, write_periods,
                                       with.state, period, out.data()));
    const std::vector<unsigned> found = out.to_host();
    unsigned before = 0;
    for (unsigned tile = 0; tile < static_cast<unsigned>(tiles); ++tile) {
      if (tile % period == 0) before = 0;
      ASSERT_EQ(before, found[tile]) << "tile " << tile << " of " << tiles << ", period " << period;
      before += tile + 1;
    }
  });
}

TEST(device_scan_tile_state, two_states_share_the_tiles_of_a_launch) {
  constexpr unsigned tiles = 40;
  state_with_storage<unsigned> with(tiles);
  state_with_storage<std::uint64_t> second(tiles);
  device_vector<std::uint64_t> out(tiles);
  under_grid_schedules([&](std::size_t i) {
    const auto salt = static_cast<unsigned>(1 + i);
    out.poison();
    ASSERT_CUDA_SUCCESS(
        strata::launch({"scan_twice", dim3(tiles), dim3(32)}, scan_twice, with.state, second.state, salt, out.data()));
    const std::vector<std::uint64_t> found = out.to_host();
    for (std::uint64_t tile = 0; tile < tiles; ++tile) {
      // Sum of 0 to tile - 1, times `salt`. Tile 0 has nothing before it.
      ASSERT_EQ(tile == 0 ? 0 : tile * (tile - 1) / 2 * salt, found[tile]) << "tile " << tile;
    }
  });
}

TEST(device_scan_tile_state, floating_point_prefixes_repeat_bit_for_bit) {
  tile_prefixes<float, strata::Sum> call;
  std::vector<float> first;
  under_grid_schedules([&](std::size_t i) {
    if (i % 50 != 0) return;
    const strata_test::device_of_multiprocessors device(multiprocessors_of(i));
    call.choose(7);
    start_load(i);
    ASSERT_CUDA_SUCCESS(call.launch(i % 100 == 0 ? 9 : max_tiles));
    const std::vector<float> found = call.out.to_host();
    if (first.empty()) first = found;
    ASSERT_EQ(0, std::memcmp(first.data(), found.data(), found.size() * sizeof(float)));
  });
}

TEST(device_scan_tile_state, arguments) {
  using State = strata::ScanTileState<double>;
  State state;
  std::size_t bytes = 5;
  EXPECT_EQ(cudaErrorInvalidValue, State::AllocationSize(-1, bytes));
  EXPECT_EQ(cudaErrorInvalidValue, State::AllocationSize(std::size_t{1} << 31, bytes));
  EXPECT_EQ(cudaErrorInvalidValue, State::AllocationSize(~std::uint64_t{0}, bytes));
  EXPECT_EQ(cudaErrorInvalidValue, strata::ScanTileState<affine<100>>::AllocationSize((1u << 31) - 1, bytes));
  EXPECT_EQ(5u, bytes);
  EXPECT_CUDA_SUCCESS(State::AllocationSize(0, bytes));
  EXPECT_LT(0u, bytes);
  EXPECT_CUDA_SUCCESS(State::AllocationSize((std::size_t{1} << 31) - 1, bytes));
  EXPECT_LT(std::size_t{16} << 31, bytes);
  EXPECT_CUDA_SUCCESS(State::AllocationSize(100, bytes));
  const scratch storage(bytes);
  EXPECT_EQ(cudaErrorInvalidValue, state.Init(-1, storage.data(), bytes));
  EXPECT_EQ(cudaErrorInvalidValue, state.Init(100, nullptr, bytes));
  EXPECT_EQ(cudaErrorInvalidValue, state.Init(100, storage.data(), bytes - 1));
  EXPECT_CUDA_SUCCESS(state.Init(100ull, storage.data(), bytes));
  EXPECT_CUDA_SUCCESS(state.Init(short{0}, storage.data(), bytes));
}

}  // namespace
