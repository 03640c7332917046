// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/launcher.cuh>
#include <strata/warp/warp_load.cuh>

#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <vector>

#include "support/bank_conflicts.cuh"
#include "support/test_support.cuh"
#include "warp/warp_tile.cuh"

namespace warp_load_test {

using namespace warp_tile;
using strata::WARP_LOAD_DIRECT;
using strata::WARP_LOAD_STRIPED;
using strata::WARP_LOAD_TRANSPOSE;
using strata::WARP_LOAD_VECTORIZE;
using strata::WarpLoad;
using strata::WarpLoadAlgorithm;

constexpr int kept = -5;
constexpr int default_item = -9;

// ---------------------------------------------------------------------------- WarpLoad
// Logical warp w of the grid loads the tile at in + offset[w] three times: whole, with num_valid[w] items, and with
// num_valid[w] items and a default. Logical warps beyond the last tile do not call. `out` receives the three results of
// each lane, lane after lane.
template <class Case, WarpLoadAlgorithm Algorithm>
STRATA_KERNEL void load_every_way(const typename Case::type* in, int tiles, const int* offset, const int* num_valid,
                                  typename Case::type* out) {
  using T = typename Case::type;
  constexpr int item_count = Case::items;
  using loader = WarpLoad<T, item_count, Algorithm, Case::width>;
  STRATA_SHARED(temp_storage, typename loader::TempStorage[Case::logical_warps]);
  const int number_of_tile = static_cast<int>(blockIdx.x) * Case::logical_warps + Case::logical_warp();
  if (!Case::is_member() || number_of_tile >= tiles) return;
  const unsigned lanes = strata::detail::logical_warp<Case::width>().mask();
  loader with_storage(temp_storage[Case::logical_warp()]);

  const T* const tile = in + offset[number_of_tile];
  const int valid = num_valid[number_of_tile];
  T full[Case::size], partial[Case::size], defaulted[Case::size];
  for (T& item : partial) item = number<T>(kept);

  with_storage.Load(tile, full);
  __syncwarp(lanes);
  with_storage.Load(tile, partial, valid);
  if constexpr (Algorithm == WARP_LOAD_TRANSPOSE) {
    __syncwarp(lanes);
    with_storage.Load(tile, defaulted, valid, number<T>(default_item));
  } else {
    loader().Load(tile, defaulted, valid, number<T>(default_item));
  }

  T* const results = out + 3 * (number_of_tile * Case::tile + Case::lane() * item_count);
  for (int i = 0; i < item_count; ++i) {
    results[i] = full[i];
    results[item_count + i] = partial[i];
    results[2 * item_count + i] = defaulted[i];
  }
}

template <class Case, WarpLoadAlgorithm Algorithm>
void test_load() {
  SCOPED_TRACE(testing::Message() << "algorithm " << Algorithm);
  using T = typename Case::type;
  constexpr int most_offset = 7;
  std::vector<T> numbers;
  for (int i = 0; i < Case::tile + most_offset; ++i) numbers.push_back(number<T>(i));
  // Every count with the first offset, then other offsets, most of which are misaligned.
  std::vector<int> num_valid = interesting_counts(Case::tile, Case::items);
  std::vector<int> offset(num_valid.size(), 0);
  for (int o = 1; o <= most_offset; ++o) {
    for (const int n : {Case::tile, Case::tile - 1}) {
      num_valid.push_back(n);
      offset.push_back(o);
    }
  }
  const std::size_t tiles = num_valid.size();
  const device_vector<T> in(numbers);
  const device_vector<int> offsets(offset), counts(num_valid);
  device_vector<T> out(3 * Case::tile * tiles);
  ASSERT_CUDA_SUCCESS(strata::launch({"load_every_way", Case::blocks(tiles), Case::block_threads},
                                     load_every_way<Case, Algorithm>, in.data(), static_cast<int>(tiles),
                                     offsets.data(), counts.data(), out.data()));
  const std::vector<T> results = out.to_host();
  for (std::size_t w = 0; w < tiles; ++w) {
    for (int lane = 0; lane < Case::width; ++lane) {
      const T* const got = &results[3 * (w * Case::tile + static_cast<std::size_t>(lane * Case::items))];
      for (int i = 0; i < Case::items; ++i) {
        const int position = Algorithm == WARP_LOAD_STRIPED ? lane + i * Case::width : lane * Case::items + i;
        const bool valid = position < num_valid[w];
        const int value = position + offset[w];
        const auto place = [&] {
          return testing::Message() << "item " << i << " of lane " << lane << ", num_valid " << num_valid[w]
                                    << ", start " << offset[w];
        };
        ASSERT_TRUE(same_bits(got[i], number<T>(value))) << place();
        ASSERT_TRUE(same_bits(got[Case::items + i], number<T>(valid ? value : kept))) << place();
        ASSERT_TRUE(same_bits(got[2 * Case::items + i], number<T>(valid ? value : default_item))) << place();
      }
    }
  }
}

template <class Case>
class warp_load : public testing::Test {};
TYPED_TEST_SUITE(warp_load, tile_cases);

TYPED_TEST(warp_load, direct_is_blocked) { test_load<TypeParam, WARP_LOAD_DIRECT>(); }
TYPED_TEST(warp_load, striped_is_striped) { test_load<TypeParam, WARP_LOAD_STRIPED>(); }
TYPED_TEST(warp_load, vectorized_is_blocked_at_any_alignment) { test_load<TypeParam, WARP_LOAD_VECTORIZE>(); }
TYPED_TEST(warp_load, transposed_is_blocked) { test_load<TypeParam, WARP_LOAD_TRANSPOSE>(); }

// Only the algorithm that moves items between lanes needs storage.
template <WarpLoadAlgorithm Algorithm>
constexpr std::size_t storage_bytes = sizeof(typename WarpLoad<int, 5, Algorithm>::TempStorage);
static_assert(storage_bytes<WARP_LOAD_DIRECT> == 1 && storage_bytes<WARP_LOAD_STRIPED> == 1 &&
              storage_bytes<WARP_LOAD_VECTORIZE> == 1 && storage_bytes<WARP_LOAD_TRANSPOSE> == 32 * 5 * 4);

// ---------------------------------------------------------------------------- iterators
// The squares of indices. Counts accesses past the end.
struct squares {
  int end;
  unsigned* too_far;
  STRATA_D short operator[](int i) const {
    if (i < 0 || i >= end) atomicAdd(too_far, 1u);
    return static_cast<short>(i * i);
  }
};

template <WarpLoadAlgorithm Algorithm>
STRATA_KERNEL void load_squares(int n, unsigned* too_far, int* out) {
  using loader = WarpLoad<int, 3, Algorithm>;
  STRATA_SHARED(temp_storage, typename loader::TempStorage);
  int items[3];
  loader(temp_storage).Load(squares{n, too_far}, items, n, -1);
  for (int i = 0; i < 3; ++i) out[threadIdx.x * 3 + static_cast<unsigned>(i)] = items[i];
}

template <WarpLoadAlgorithm Algorithm>
void test_iterator() {
  for (const int n : {INT_MIN, -1, 0, 1, 50, 95, 96}) {
    device_vector<int> out(96);
    device_vector<unsigned> too_far(std::vector<unsigned>{0});
    ASSERT_CUDA_SUCCESS(
        strata::launch({"load_squares", 1, 32}, load_squares<Algorithm>, n, too_far.data(), out.data()));
    EXPECT_EQ(too_far.to_host()[0], 0u) << n;
    const std::vector<int> items = out.to_host();
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < 3; ++i) {
        const int position = Algorithm == WARP_LOAD_STRIPED ? lane + 32 * i : 3 * lane + i;
        EXPECT_EQ(items[static_cast<std::size_t>(3 * lane + i)], position < n ? position * position : -1) << n;
      }
    }
  }
}

TEST(warp_load, any_iterator_is_read_only_below_num_valid_and_converted) {
  test_iterator<WARP_LOAD_DIRECT>();
  test_iterator<WARP_LOAD_STRIPED>();
  test_iterator<WARP_LOAD_VECTORIZE>();
  test_iterator<WARP_LOAD_TRANSPOSE>();
}

// The allocation ends with the last valid item, so that checkers see any read past it.
template <WarpLoadAlgorithm Algorithm>
STRATA_KERNEL void load_exactly(const int* in, int n, int* out) {
  using loader = WarpLoad<int, 4, Algorithm>;
  STRATA_SHARED(temp_storage, typename loader::TempStorage);
  int items[4];
  loader(temp_storage).Load(in, items, n, 0);
  int sum = 0;
  for (const int item : items) sum += item;
  atomicAdd(out, sum);
}

TEST(warp_load, nothing_is_read_behind_the_last_valid_item) {
  for (const int n : {1, 2, 3, 4, 5, 63, 64, 127}) {
    const std::vector<int> ones(static_cast<std::size_t>(n), 1);
    int* in = nullptr;
    ASSERT_CUDA_SUCCESS(cudaMalloc(&in, ones.size() * sizeof(int)));
    ASSERT_CUDA_SUCCESS(cudaMemcpy(in, ones.data(), ones.size() * sizeof(int), cudaMemcpyHostToDevice));
    device_vector<int> sum(std::vector<int>{0});
    EXPECT_CUDA_SUCCESS(strata::launch({"direct", 1, 32}, load_exactly<WARP_LOAD_DIRECT>, in, n, sum.data()));
    EXPECT_CUDA_SUCCESS(strata::launch({"striped", 1, 32}, load_exactly<WARP_LOAD_STRIPED>, in, n, sum.data()));
    EXPECT_CUDA_SUCCESS(strata::launch({"vectorize", 1, 32}, load_exactly<WARP_LOAD_VECTORIZE>, in, n, sum.data()));
    EXPECT_CUDA_SUCCESS(strata::launch({"transpose", 1, 32}, load_exactly<WARP_LOAD_TRANSPOSE>, in, n, sum.data()));
    EXPECT_EQ(sum.to_host()[0], 4 * n);
    EXPECT_CUDA_SUCCESS(cudaFree(in));
  }
}

// ---------------------------------------------------------------------------- bank conflicts
#if STRATA_HOST_SIMT
template <class T, int Width, int Items>
void count_conflicts() {
  SCOPED_TRACE(testing::Message() << Width << " lanes, " << Items << " items of " << sizeof(T) << " bytes");
  using tile = tile_case<T, Width, Items>;
  constexpr int tiles = tile::logical_warps;
  std::vector<int> num_valid(tiles, tile::tile);
  num_valid[0] = tile::tile / 3;
  const device_vector<T> in{std::vector<T>(tile::tile)};
  const device_vector<int> offset(std::vector<int>(tiles, 0)), valid(num_valid);
  device_vector<T> out(3 * tiles * tile::tile);
  strata::simt::reset_statistics();
  ASSERT_CUDA_SUCCESS(strata::launch({"load_every_way", 1, tile::block_threads},
                                     load_every_way<tile, WARP_LOAD_TRANSPOSE>, in.data(), tiles, offset.data(),
                                     valid.data(), out.data()));
  // Each of three calls in two warps writes and reads every item.
  strata_test::expect_no_bank_conflicts(3 * 2 * 2 * Items);
}

TEST(warp_load, transposing_has_no_bank_conflicts) {
  if (!strata_test::counts_bank_conflicts()) GTEST_SKIP() << "only check mode counts bank conflicts";
  count_conflicts<std::int8_t, 32, 9>();
  count_conflicts<short, 32, 8>();
  count_conflicts<int, 32, 24>();
  count_conflicts<int, 16, 6>();
  count_conflicts<int, 8, 5>();
  count_conflicts<int, 20, 4>();
  count_conflicts<double, 32, 12>();
  count_conflicts<double, 4, 4>();
  count_conflicts<strata_test::int128, 32, 8>();
  count_conflicts<words<3>, 32, 6>();
  count_conflicts<words<10>, 32, 2>();
}
#endif

}  // namespace warp_load_test
