// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/block/block_load.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <vector>

#include "block/block_tile.cuh"
#include "support/bank_conflicts.cuh"
#include "support/test_support.cuh"

namespace block_load_test {

using namespace block_tile;
using strata::BLOCK_LOAD_DIRECT;
using strata::BLOCK_LOAD_STRIPED;
using strata::BLOCK_LOAD_TRANSPOSE;
using strata::BLOCK_LOAD_VECTORIZE;
using strata::BLOCK_LOAD_WARP_TRANSPOSE;
using strata::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED;
using strata::BlockLoad;
using strata::BlockLoadAlgorithm;

constexpr int kept = -5;
constexpr int default_item = -9;

// ---------------------------------------------------------------------------- BlockLoad
// Block b loads the tile at in + offset[b] three times: whole, with num_valid[b] items, and with num_valid[b] items and
// a default. `out` receives the three results of each thread, thread after thread.
template <class Case, BlockLoadAlgorithm Algorithm>
STRATA_KERNEL void load_every_way(const typename Case::type* in, const int* offset, const int* num_valid,
                                  typename Case::type* out) {
  using T = typename Case::type;
  constexpr int item_count = Case::items;
  using loader = BlockLoad<T, Case::x, item_count, Algorithm, Case::y, Case::z>;
  STRATA_SHARED(temp_storage, typename loader::TempStorage);
  const T* const tile = in + offset[blockIdx.x];
  const int valid = num_valid[blockIdx.x];
  T full[Case::size], partial[Case::size], defaulted[Case::size];
  for (T& item : partial) item = number<T>(kept);

  loader(temp_storage).Load(tile, full);
  __syncthreads();
  loader(temp_storage).Load(tile, partial, valid);
  loader().Load(tile, defaulted, valid, number<T>(default_item));

  T* const results = out + 3 * (static_cast<int>(blockIdx.x) * Case::tile + Case::rank() * item_count);
  for (int i = 0; i < item_count; ++i) {
    results[i] = full[i];
    results[item_count + i] = partial[i];
    results[2 * item_count + i] = defaulted[i];
  }
}

template <class Case, BlockLoadAlgorithm Algorithm>
void test_load(std::vector<int> num_valid = interesting_counts(Case::tile, Case::items)) {
  SCOPED_TRACE(testing::Message() << "algorithm " << Algorithm);
  using T = typename Case::type;
  constexpr int most_offset = 7;
  std::vector<T> numbers;
  for (int i = 0; i < Case::tile + most_offset; ++i) numbers.push_back(number<T>(i));
  // Every count with offset 0, then other offsets, most of which are misaligned.
  std::vector<int> offset(num_valid.size(), 0);
  for (int o = 1; o <= most_offset; ++o) {
    for (const int n : {Case::tile, Case::tile - 1}) {
      num_valid.push_back(n);
      offset.push_back(o);
    }
  }
  const std::size_t blocks = num_valid.size();
  const device_vector<T> in(numbers);
  const device_vector<int> offsets(offset), counts(num_valid);
  device_vector<T> out(3 * Case::tile * blocks);
  ASSERT_CUDA_SUCCESS(strata::launch({"load_every_way", static_cast<unsigned>(blocks), Case::dimensions()},
                                     load_every_way<Case, Algorithm>, in.data(), offsets.data(), counts.data(),
                                     out.data()));
  const std::vector<T> results = out.to_host();
  for (std::size_t b = 0; b < blocks; ++b) {
    for (int thread = 0; thread < Case::threads; ++thread) {
      const T* const got = &results[3 * (b * Case::tile + static_cast<std::size_t>(thread * Case::items))];
      for (int i = 0; i < Case::items; ++i) {
        const int position = Algorithm == BLOCK_LOAD_STRIPED ? thread + i * Case::threads : thread * Case::items + i;
        const bool valid = position < num_valid[b];
        const int value = position + offset[b];
        const auto place = [&] {
          return testing::Message() << "item " << i << " of thread " << thread << ", num_valid " << num_valid[b]
                                    << ", start " << offset[b];
        };
        ASSERT_TRUE(same_bits(got[i], number<T>(value))) << place();
        ASSERT_TRUE(same_bits(got[Case::items + i], number<T>(valid ? value : kept))) << place();
        ASSERT_TRUE(same_bits(got[2 * Case::items + i], number<T>(valid ? value : default_item))) << place();
      }
    }
  }
}

template <class Case>
class block_load : public testing::Test {};
TYPED_TEST_SUITE(block_load, tile_cases);

TYPED_TEST(block_load, direct_is_blocked) { test_load<TypeParam, BLOCK_LOAD_DIRECT>(); }
TYPED_TEST(block_load, striped_is_striped) { test_load<TypeParam, BLOCK_LOAD_STRIPED>(); }
TYPED_TEST(block_load, vectorized_is_blocked_at_any_alignment) { test_load<TypeParam, BLOCK_LOAD_VECTORIZE>(); }
TYPED_TEST(block_load, transposed_is_blocked) { test_load<TypeParam, BLOCK_LOAD_TRANSPOSE>(); }
TYPED_TEST(block_load, warp_transposed_is_blocked) {
  if constexpr (TypeParam::threads % 32 == 0) {
    test_load<TypeParam, BLOCK_LOAD_WARP_TRANSPOSE>();
    test_load<TypeParam, BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED>();
  }
}

// Larger tiles, whose valid items end in whole and in partial warps.
template <class Case>
class block_load_transposing : public testing::Test {};
using large_cases = testing::Types<tile_case<int, 128, 24>, tile_case<double, 32, 12, 2, 2>,
                                   tile_case<std::uint8_t, 96, 17>, tile_case<words<10>, 64, 5>>;
TYPED_TEST_SUITE(block_load_transposing, large_cases);
TYPED_TEST(block_load_transposing, is_blocked_in_larger_tiles) {
  constexpr int warp_tile = 32 * TypeParam::items, tile = TypeParam::tile;
  const std::vector<int> counts{0, 1, 33, warp_tile - 1, warp_tile, warp_tile + 1, tile - 1, tile};
  test_load<TypeParam, BLOCK_LOAD_TRANSPOSE>(counts);
  test_load<TypeParam, BLOCK_LOAD_WARP_TRANSPOSE>(counts);
  test_load<TypeParam, BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED>(counts);
}

// Only algorithms that exchange items need storage. With time slicing, storage for one warp is enough.
template <BlockLoadAlgorithm Algorithm>
constexpr std::size_t storage_bytes = sizeof(typename BlockLoad<int, 128, 5, Algorithm>::TempStorage);
static_assert(storage_bytes<BLOCK_LOAD_DIRECT> == 1 && storage_bytes<BLOCK_LOAD_STRIPED> == 1 &&
              storage_bytes<BLOCK_LOAD_VECTORIZE> == 1);
static_assert(storage_bytes<BLOCK_LOAD_TRANSPOSE> == 128 * 5 * 4 &&
              storage_bytes<BLOCK_LOAD_WARP_TRANSPOSE> == 128 * 5 * 4 &&
              storage_bytes<BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED> == 32 * 5 * 4);

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

template <BlockLoadAlgorithm Algorithm>
STRATA_KERNEL void load_squares(int n, unsigned* too_far, int* out) {
  using loader = BlockLoad<int, 32, 3, Algorithm>;
  int items[3];
  loader().Load(squares{n, too_far}, items, n, -1);
  for (int i = 0; i < 3; ++i) out[threadIdx.x * 3 + static_cast<unsigned>(i)] = items[i];
}

template <BlockLoadAlgorithm Algorithm>
void test_iterator() {
  for (const int n : {INT_MIN, -1, 0, 1, 50, 95, 96}) {
    device_vector<int> out(96);
    device_vector<unsigned> too_far(std::vector<unsigned>{0});
    ASSERT_CUDA_SUCCESS(
        strata::launch({"load_squares", 1, 32}, load_squares<Algorithm>, n, too_far.data(), out.data()));
    EXPECT_EQ(too_far.to_host()[0], 0u) << n;
    const std::vector<int> items = out.to_host();
    for (int thread = 0; thread < 32; ++thread) {
      for (int i = 0; i < 3; ++i) {
        const int position = Algorithm == BLOCK_LOAD_STRIPED ? thread + 32 * i : 3 * thread + i;
        EXPECT_EQ(items[static_cast<std::size_t>(3 * thread + i)], position < n ? position * position : -1) << n;
      }
    }
  }
}

TEST(block_load, any_iterator_is_read_only_below_num_valid_and_converted) {
  test_iterator<BLOCK_LOAD_DIRECT>();
  test_iterator<BLOCK_LOAD_STRIPED>();
  test_iterator<BLOCK_LOAD_VECTORIZE>();
  test_iterator<BLOCK_LOAD_TRANSPOSE>();
  test_iterator<BLOCK_LOAD_WARP_TRANSPOSE>();
  test_iterator<BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED>();
}

template <BlockLoadAlgorithm Algorithm>
STRATA_KERNEL void load_shorts(const short* in, int n, int* out) {
  int items[4];
  BlockLoad<int, 32, 4, Algorithm>().Load(in, items, n, 7);
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + static_cast<unsigned>(i)] = items[i];
}

template <BlockLoadAlgorithm Algorithm>
void test_shorts() {
  std::vector<short> numbers;
  for (short i = 0; i < 128; ++i) numbers.push_back(static_cast<short>(-i));
  const device_vector<short> in(numbers);
  device_vector<int> out(128);
  ASSERT_CUDA_SUCCESS(strata::launch({"load_shorts", 1, 32}, load_shorts<Algorithm>, in.data(), 128, out.data()));
  EXPECT_EQ(out.to_host(), std::vector<int>(numbers.begin(), numbers.end()));
}

TEST(block_load, pointers_to_another_type_are_converted_item_by_item) {
  test_shorts<BLOCK_LOAD_VECTORIZE>();
  test_shorts<BLOCK_LOAD_TRANSPOSE>();
  test_shorts<BLOCK_LOAD_WARP_TRANSPOSE>();
}

// The allocation ends with the last valid item, so that checkers see any read past it.
template <BlockLoadAlgorithm Algorithm>
STRATA_KERNEL void load_exactly(const int* in, int n, int* out) {
  int items[4];
  BlockLoad<int, 32, 4, Algorithm>().Load(in, items, n, 0);
  int sum = 0;
  for (const int item : items) sum += item;
  atomicAdd(out, sum);
}

TEST(block_load, nothing_is_read_behind_the_last_valid_item) {
  for (const int n : {1, 2, 3, 4, 5, 63, 64, 127}) {
    const std::vector<int> ones(static_cast<std::size_t>(n), 1);
    int* in = nullptr;
    ASSERT_CUDA_SUCCESS(cudaMalloc(&in, ones.size() * sizeof(int)));
    ASSERT_CUDA_SUCCESS(cudaMemcpy(in, ones.data(), ones.size() * sizeof(int), cudaMemcpyHostToDevice));
    device_vector<int> sum(std::vector<int>{0});
    EXPECT_CUDA_SUCCESS(strata::launch({"direct", 1, 32}, load_exactly<BLOCK_LOAD_DIRECT>, in, n, sum.data()));
    EXPECT_CUDA_SUCCESS(strata::launch({"striped", 1, 32}, load_exactly<BLOCK_LOAD_STRIPED>, in, n, sum.data()));
    EXPECT_CUDA_SUCCESS(strata::launch({"vectorize", 1, 32}, load_exactly<BLOCK_LOAD_VECTORIZE>, in, n, sum.data()));
    EXPECT_CUDA_SUCCESS(strata::launch({"transpose", 1, 32}, load_exactly<BLOCK_LOAD_TRANSPOSE>, in, n, sum.data()));
    EXPECT_CUDA_SUCCESS(
        strata::launch({"warp_transpose", 1, 32}, load_exactly<BLOCK_LOAD_WARP_TRANSPOSE>, in, n, sum.data()));
    EXPECT_EQ(sum.to_host()[0], 5 * n);
    EXPECT_CUDA_SUCCESS(cudaFree(in));
  }
}

// ---------------------------------------------------------------------------- bank conflicts
#if STRATA_HOST_SIMT
template <class Case, BlockLoadAlgorithm Algorithm>
void count_conflicts() {
  SCOPED_TRACE(testing::Message() << "algorithm " << Algorithm << ", " << Case::items << " items of "
                                  << sizeof(typename Case::type) << " bytes");
  const device_vector<typename Case::type> in{std::vector<typename Case::type>(Case::tile)};
  const device_vector<int> offset(std::vector<int>{0, 0, 0}), valid(std::vector<int>{0, 50, Case::tile});
  device_vector<typename Case::type> out(9 * Case::tile);
  strata::simt::reset_statistics();
  ASSERT_CUDA_SUCCESS(strata::launch({"load_every_way", 3, Case::dimensions()}, load_every_way<Case, Algorithm>,
                                     in.data(), offset.data(), valid.data(), out.data()));
  // Each of three calls in three blocks writes and reads every item.
  strata_test::expect_no_bank_conflicts(3 * 3 * 2 * Case::tile / 32);
}

template <class T, int Items>
void count_conflicts_of_all() {
  count_conflicts<tile_case<T, 64, Items>, BLOCK_LOAD_TRANSPOSE>();
  count_conflicts<tile_case<T, 64, Items>, BLOCK_LOAD_WARP_TRANSPOSE>();
  count_conflicts<tile_case<T, 64, Items>, BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED>();
}

TEST(block_load, transposing_has_no_bank_conflicts) {
  if (!strata_test::counts_bank_conflicts()) GTEST_SKIP() << "only check mode counts bank conflicts";
  count_conflicts_of_all<std::int8_t, 9>();
  count_conflicts_of_all<short, 8>();
  count_conflicts_of_all<int, 24>();
  count_conflicts_of_all<double, 12>();
  count_conflicts_of_all<strata_test::int128, 8>();
  count_conflicts_of_all<words<5, std::uint64_t>, 4>();
}
#endif

// ---------------------------------------------------------------------------- free functions
STRATA_KERNEL void load_directly(const int* in, int n, int* out) {
  const int thread = static_cast<int>(threadIdx.x);
  int items[8][2] = {};
  strata::LoadDirectBlocked(thread, in, items[0]);
  strata::LoadDirectBlocked(thread, in, items[1], n, -1);
  strata::LoadDirectBlockedVectorized(thread, in, items[2]);
  strata::LoadDirectStriped<64>(thread, in, items[3]);
  strata::LoadDirectStriped<64>(thread, in, items[4], n, -1);
  strata::LoadDirectWarpStriped(thread, in, items[5]);
  strata::LoadDirectWarpStriped(thread, in, items[6], n);
  strata::LoadDirectWarpStriped(thread, in, items[7], n, -1);
  for (int way = 0; way < 8; ++way) {
    for (int i = 0; i < 2; ++i) out[(way * 64 + thread) * 2 + i] = items[way][i];
  }
}

TEST(block_load, free_functions_take_the_thread_first) {
  constexpr int n = 77;
  std::vector<int> numbers;
  for (int i = 0; i < 128; ++i) numbers.push_back(i + 1);
  const device_vector<int> in(numbers);
  device_vector<int> out(8 * 128);
  ASSERT_CUDA_SUCCESS(strata::launch({"load_directly", 1, 64}, load_directly, in.data(), n, out.data()));
  const std::vector<int> items = out.to_host();
  for (int thread = 0; thread < 64; ++thread) {
    for (int i = 0; i < 2; ++i) {
      const int blocked = 2 * thread + i;
      const int striped = thread + 64 * i;
      const int warp_striped = thread / 32 * 64 + thread % 32 + 32 * i;
      const auto or_else = [](int position, int other) { return position < n ? position + 1 : other; };
      const int expected[8] = {blocked + 1,
                               or_else(blocked, -1),
                               blocked + 1,
                               striped + 1,
                               or_else(striped, -1),
                               warp_striped + 1,
                               or_else(warp_striped, 0),
                               or_else(warp_striped, -1)};
      for (int way = 0; way < 8; ++way) {
        EXPECT_EQ(items[static_cast<std::size_t>((way * 64 + thread) * 2 + i)], expected[way])
            << "way " << way << ", thread " << thread << ", item " << i;
      }
    }
  }
}

// ---------------------------------------------------------------------------- words
template <class T, int Items>
using access = strata::detail::vector_access<T, static_cast<std::size_t>(Items)>;
static_assert(access<int, 4>::width == 16 && access<int, 4>::words == 1);
static_assert(access<int, 6>::width == 8 && access<int, 6>::words == 3);
static_assert(access<int, 3>::width == 4 && !access<int, 3>::worthwhile);
static_assert(access<char, 8>::width == 8 && access<char, 8>::worthwhile);
static_assert(access<words<3, std::uint8_t>, 4>::width == 4 && access<words<3, std::uint8_t>, 4>::worthwhile);
static_assert(access<double, 2>::width == 16 && access<double, 2>::worthwhile);
static_assert(access<strata_test::int128, 2>::width == 16 && !access<strata_test::int128, 2>::worthwhile);

TEST(block_load, words_are_used_at_their_own_alignment_only) {
  alignas(16) static int memory[8];
  EXPECT_TRUE((access<int, 4>::aligned(memory)));
  EXPECT_FALSE((access<int, 4>::aligned(memory + 1)));
  EXPECT_FALSE((access<int, 4>::aligned(memory + 2)));
  EXPECT_TRUE((access<int, 2>::aligned(memory + 2)));
  EXPECT_TRUE((access<int, 4>::aligned(memory + 4)));
}

}  // namespace block_load_test
