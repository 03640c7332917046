// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// BlockExchange and WarpExchange must give the same arrangements as CUB's.
#include <strata/block/block_exchange.cuh>
#include <strata/core/launcher.cuh>
#include <strata/warp/warp_exchange.cuh>

#include <gtest/gtest.h>

#include <cub/block/block_exchange.cuh>
#include <cub/warp/warp_exchange.cuh>

#include <cstdint>
#include <vector>

#include "block/block_tile.cuh"
#include "support/test_support.cuh"

namespace {

using namespace block_tile;

struct by_strata {
  template <class Case, bool Sliced>
  using block = strata::BlockExchange<typename Case::type, Case::x, Case::items, Sliced, Case::y, Case::z>;
  template <class Case, int Width>
  using warp = strata::WarpExchange<typename Case::type, Case::items, Width>;
  template <class Case>
  using shuffle = strata::WarpExchange<typename Case::type, Case::items, Case::items, strata::WARP_EXCHANGE_SHUFFLE>;
};
struct by_cub {
  template <class Case, bool Sliced>
  using block = cub::BlockExchange<typename Case::type, Case::x, Case::items, Sliced, Case::y, Case::z>;
  template <class Case, int Width>
  using warp = cub::WarpExchange<typename Case::type, Case::items, Width>;
  template <class Case>
  using shuffle = cub::WarpExchange<typename Case::type, Case::items, Case::items, cub::WARP_EXCHANGE_SHUFFLE>;
};

template <class Case>
STRATA_D void write(const typename Case::type (&items)[Case::size], typename Case::type*& out) {
  for (int i = 0; i < Case::items; ++i) out[Case::rank() * Case::items + i] = items[i];
  out += Case::tile;
  __syncthreads();
}

constexpr int block_ways = 8, warp_ways = 5;

template <class Library, class Case, bool Sliced>
STRATA_KERNEL void exchange_in_block(typename Case::type* out) {
  using T = typename Case::type;
  using exchange = typename Library::template block<Case, Sliced>;
  STRATA_SHARED(temp_storage, typename exchange::TempStorage);
  exchange x(temp_storage);
  T items[Case::size], results[Case::size];
  int ranks[Case::size], guarded[Case::size];
  bool flags[Case::size];
  for (int i = 0; i < Case::items; ++i) {
    const int item = Case::rank() * Case::items + i;
    items[i] = number<T>(item);
    ranks[i] = (item * 7919 + 5) % Case::tile;
    flags[i] = true;
    guarded[i] = ranks[i];
  }
  x.StripedToBlocked(items, results);
  write<Case>(results, out);
  x.BlockedToStriped(items, results);
  write<Case>(results, out);
  x.WarpStripedToBlocked(items, results);
  write<Case>(results, out);
  x.BlockedToWarpStriped(items, results);
  write<Case>(results, out);
  x.ScatterToBlocked(items, results, ranks);
  write<Case>(results, out);
  x.ScatterToStriped(items, results, ranks);
  write<Case>(results, out);
  // With time slicing, CUB's guarded forms write past the end of its storage.
  if constexpr (!Sliced) {
    x.ScatterToStripedGuarded(items, results, guarded);
    write<Case>(results, out);
    x.ScatterToStripedFlagged(items, results, ranks, flags);
    write<Case>(results, out);
  }
}

template <class Library, class Case, int Width>
STRATA_KERNEL void exchange_in_warp(typename Case::type* out) {
  using T = typename Case::type;
  using exchange = typename Library::template warp<Case, Width>;
  using shuffle = typename Library::template shuffle<Case>;
  STRATA_SHARED(temp_storage, typename exchange::TempStorage[Case::threads / Width]);
  STRATA_SHARED(none, typename shuffle::TempStorage);
  exchange x(temp_storage[threadIdx.x / Width]);
  T items[Case::size], results[Case::size];
  int ranks[Case::size];
  for (int i = 0; i < Case::items; ++i) {
    items[i] = number<T>(Case::rank() * Case::items + i);
    ranks[i] = ((Case::rank() % Width * Case::items + i) * 7919 + 5) % (Width * Case::items);
  }
  x.StripedToBlocked(items, results);
  write<Case>(results, out);
  x.BlockedToStriped(items, results);
  write<Case>(results, out);
  x.ScatterToStriped(items, results, ranks);
  write<Case>(results, out);
  shuffle(none).StripedToBlocked(items, results);
  write<Case>(results, out);
  shuffle(none).BlockedToStriped(items, results);
  write<Case>(results, out);
}

template <class Case>
void expect_the_same(int ways, void (*ours)(typename Case::type*), void (*theirs)(typename Case::type*)) {
  using T = typename Case::type;
  const std::vector<T> zeros(static_cast<std::size_t>(ways * Case::tile));
  device_vector<T> our_items(zeros), their_items(zeros);
  ASSERT_CUDA_SUCCESS(strata::launch({"ours", 1, Case::dimensions()}, ours, our_items.data()));
  ASSERT_CUDA_SUCCESS(strata::launch({"theirs", 1, Case::dimensions()}, theirs, their_items.data()));
  const std::vector<T> our_results = our_items.to_host(), their_results = their_items.to_host();
  for (std::size_t i = 0; i < our_results.size(); ++i) {
    ASSERT_TRUE(same_bits(our_results[i], their_results[i]))
        << "way " << static_cast<int>(i) / Case::tile << ", item " << static_cast<int>(i) % Case::tile;
  }
}

template <class Case>
class block_exchange_cub : public testing::Test {};
using block_cases = testing::Types<tile_case<float, 256, 24>, tile_case<double, 128, 12>, tile_case<signed char, 64, 8>,
                                   tile_case<short, 16, 7, 4, 2>, tile_case<words<3>, 96, 5>, tile_case<int, 24, 4>>;
TYPED_TEST_SUITE(block_exchange_cub, block_cases);

TYPED_TEST(block_exchange_cub, every_way) {
  expect_the_same<TypeParam>(block_ways, exchange_in_block<by_strata, TypeParam, false>,
                             exchange_in_block<by_cub, TypeParam, false>);
}
TYPED_TEST(block_exchange_cub, every_way_with_time_slicing) {
  expect_the_same<TypeParam>(block_ways, exchange_in_block<by_strata, TypeParam, true>,
                             exchange_in_block<by_cub, TypeParam, true>);
}

template <class Case>
class warp_exchange_cub : public testing::Test {};
using warp_cases = testing::Types<tile_case<float, 64, 32>, tile_case<double, 128, 8>, tile_case<int, 64, 16>,
                                  tile_case<short, 64, 4>>;
TYPED_TEST_SUITE(warp_exchange_cub, warp_cases);

TYPED_TEST(warp_exchange_cub, every_way) {
  expect_the_same<TypeParam>(warp_ways, exchange_in_warp<by_strata, TypeParam, 32>,
                             exchange_in_warp<by_cub, TypeParam, 32>);
  expect_the_same<TypeParam>(warp_ways, exchange_in_warp<by_strata, TypeParam, 8>,
                             exchange_in_warp<by_cub, TypeParam, 8>);
}

}  // namespace
