// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/block/block_load.cuh>
#include <strata/block/block_store.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <vector>

#include "block/block_tile.cuh"
#include "support/bank_conflicts.cuh"
#include "support/test_support.cuh"

namespace block_store_test {

using namespace block_tile;
using strata::BLOCK_STORE_DIRECT;
using strata::BLOCK_STORE_STRIPED;
using strata::BLOCK_STORE_TRANSPOSE;
using strata::BLOCK_STORE_VECTORIZE;
using strata::BLOCK_STORE_WARP_TRANSPOSE;
using strata::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED;
using strata::BlockStore;
using strata::BlockStoreAlgorithm;

constexpr int untouched = -3;

// A gap around and between tiles, where a store outside of its tile is found.
constexpr int margin = 16;

template <BlockStoreAlgorithm Algorithm, class Case>
STRATA_HD int tile_position(int thread, int i) {
  return Algorithm == BLOCK_STORE_STRIPED ? thread + i * Case::threads : thread * Case::items + i;
}

// ---------------------------------------------------------------------------- BlockStore
// Block b stores its first num_valid[b] items to out + start[b], and all of its items to all_out + start[b].
template <class Case, BlockStoreAlgorithm Algorithm>
STRATA_KERNEL void store_every_way(const int* start, const int* num_valid, typename Case::type* out,
                                   typename Case::type* all_out) {
  using T = typename Case::type;
  using storer = BlockStore<T, Case::x, Case::items, Algorithm, Case::y, Case::z>;
  STRATA_SHARED(temp_storage, typename storer::TempStorage);
  T items[Case::size];
  for (int i = 0; i < Case::items; ++i) {
    items[i] = number<T>(tile_position<Algorithm, Case>(Case::rank(), i) + 1);
  }
  storer(temp_storage).Store(out + start[blockIdx.x], items, num_valid[blockIdx.x]);
  storer().Store(all_out + start[blockIdx.x], items);
}

template <class Case, BlockStoreAlgorithm Algorithm>
void test_store(const std::vector<int>& num_valid = interesting_counts(Case::tile, Case::items)) {
  SCOPED_TRACE(testing::Message() << "algorithm " << Algorithm);
  using T = typename Case::type;
  std::vector<int> start;
  int end = margin;
  for (std::size_t b = 0; b < num_valid.size(); ++b) {
    // The gaps grow by one, so tiles begin at every alignment.
    start.push_back(end);
    end += Case::tile + margin + static_cast<int>(b % 16);
  }
  const unsigned blocks = static_cast<unsigned>(num_valid.size());
  const std::vector<T> before(static_cast<std::size_t>(end), number<T>(untouched));
  const device_vector<int> starts(start), counts(num_valid);
  device_vector<T> out(before), all_out(before);
  ASSERT_CUDA_SUCCESS(strata::launch({"store_every_way", blocks, Case::dimensions()}, store_every_way<Case, Algorithm>,
                                     starts.data(), counts.data(), out.data(), all_out.data()));
  std::vector<T> expected = before;
  std::vector<T> all_expected = before;
  for (std::size_t b = 0; b < num_valid.size(); ++b) {
    for (int i = 0; i < Case::tile; ++i) {
      const std::size_t place = static_cast<std::size_t>(start[b] + i);
      all_expected[place] = number<T>(i + 1);
      if (i < num_valid[b]) expected[place] = all_expected[place];
    }
  }
  const std::vector<T> stored = out.to_host();
  const std::vector<T> all_stored = all_out.to_host();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(same_bits(stored[i], expected[i])) << "item " << i << ", partial tile";
    ASSERT_TRUE(same_bits(all_stored[i], all_expected[i])) << "item " << i << ", whole tile";
  }
}

template <class Case>
class block_store : public testing::Test {};
TYPED_TEST_SUITE(block_store, tile_cases);

TYPED_TEST(block_store, direct_is_blocked_and_leaves_the_rest_alone) { test_store<TypeParam, BLOCK_STORE_DIRECT>(); }
TYPED_TEST(block_store, striped_is_striped_and_leaves_the_rest_alone) { test_store<TypeParam, BLOCK_STORE_STRIPED>(); }
TYPED_TEST(block_store, vectorized_is_blocked_at_any_alignment_and_leaves_the_rest_alone) {
  test_store<TypeParam, BLOCK_STORE_VECTORIZE>();
}
TYPED_TEST(block_store, transposed_is_blocked_and_leaves_the_rest_alone) {
  test_store<TypeParam, BLOCK_STORE_TRANSPOSE>();
}
TYPED_TEST(block_store, warp_transposed_is_blocked_and_leaves_the_rest_alone) {
  if constexpr (TypeParam::threads % 32 == 0) {
    test_store<TypeParam, BLOCK_STORE_WARP_TRANSPOSE>();
    test_store<TypeParam, BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>();
  }
}

// Larger tiles, whose valid items end in whole and in partial warps.
template <class Case>
class block_store_transposing : public testing::Test {};
using large_cases = testing::Types<tile_case<int, 128, 24>, tile_case<double, 32, 12, 2, 2>,
                                   tile_case<std::uint8_t, 96, 17>, tile_case<words<10>, 64, 5>>;
TYPED_TEST_SUITE(block_store_transposing, large_cases);
TYPED_TEST(block_store_transposing, is_blocked_in_larger_tiles) {
  constexpr int warp_tile = 32 * TypeParam::items, tile = TypeParam::tile;
  const std::vector<int> counts{0, 1, 33, warp_tile - 1, warp_tile, warp_tile + 1, tile - 1, tile};
  test_store<TypeParam, BLOCK_STORE_TRANSPOSE>(counts);
  test_store<TypeParam, BLOCK_STORE_WARP_TRANSPOSE>(counts);
  test_store<TypeParam, BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>(counts);
}

// Only algorithms that exchange items need storage. With time slicing, storage for one warp is enough.
template <BlockStoreAlgorithm Algorithm>
constexpr std::size_t storage_bytes = sizeof(typename BlockStore<int, 128, 5, Algorithm>::TempStorage);
static_assert(storage_bytes<BLOCK_STORE_DIRECT> == 1 && storage_bytes<BLOCK_STORE_STRIPED> == 1 &&
              storage_bytes<BLOCK_STORE_VECTORIZE> == 1);
static_assert(storage_bytes<BLOCK_STORE_TRANSPOSE> == 128 * 5 * 4 &&
              storage_bytes<BLOCK_STORE_WARP_TRANSPOSE> == 128 * 5 * 4 &&
              storage_bytes<BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED> == 32 * 5 * 4);

// ---------------------------------------------------------------------------- iterators
// Stores the doubled item. Counts stores past the end.
struct doubling {
  int* out;
  int end;
  unsigned* too_far;

  struct reference {
    const doubling& to;
    int i;
    STRATA_D void operator=(int value) const {
      if (i < 0 || i >= to.end) {
        atomicAdd(to.too_far, 1u);
      } else {
        to.out[i] = 2 * value;
      }
    }
  };
  STRATA_D reference operator[](int i) const { return {*this, i}; }
};

template <BlockStoreAlgorithm Algorithm>
STRATA_KERNEL void store_doubled(int n, unsigned* too_far, int* out) {
  const int thread = static_cast<int>(threadIdx.x);
  int items[3];
  for (int i = 0; i < 3; ++i) {
    items[i] = Algorithm == BLOCK_STORE_STRIPED ? thread + 32 * i : 3 * thread + i;
  }
  BlockStore<int, 32, 3, Algorithm>().Store(doubling{out, n, too_far}, items, n);
}

template <BlockStoreAlgorithm Algorithm>
void test_iterator() {
  for (const int n : {INT_MIN, -1, 0, 1, 50, 95, 96}) {
    device_vector<int> out(std::vector<int>(96, -1));
    device_vector<unsigned> too_far(std::vector<unsigned>{0});
    ASSERT_CUDA_SUCCESS(
        strata::launch({"store_doubled", 1, 32}, store_doubled<Algorithm>, n, too_far.data(), out.data()));
    EXPECT_EQ(too_far.to_host()[0], 0u) << n;
    const std::vector<int> items = out.to_host();
    for (int i = 0; i < 96; ++i) {
      EXPECT_EQ(items[static_cast<std::size_t>(i)], i < n ? 2 * i : -1) << n;
    }
  }
}

TEST(block_store, any_iterator_is_written_only_below_num_valid) {
  test_iterator<BLOCK_STORE_DIRECT>();
  test_iterator<BLOCK_STORE_STRIPED>();
  test_iterator<BLOCK_STORE_VECTORIZE>();
  test_iterator<BLOCK_STORE_TRANSPOSE>();
  test_iterator<BLOCK_STORE_WARP_TRANSPOSE>();
  test_iterator<BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>();
}

template <BlockStoreAlgorithm Algorithm>
STRATA_KERNEL void store_as_double(double* out) {
  const int items[2] = {static_cast<int>(threadIdx.x) * 2, static_cast<int>(threadIdx.x) * 2 + 1};
  BlockStore<int, 32, 2, Algorithm>().Store(out, items);
}

template <BlockStoreAlgorithm Algorithm>
void test_doubles() {
  device_vector<double> out(64);
  ASSERT_CUDA_SUCCESS(strata::launch({"store_as_double", 1, 32}, store_as_double<Algorithm>, out.data()));
  const std::vector<double> items = out.to_host();
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(items[i], static_cast<double>(i));
}

TEST(block_store, pointers_to_another_type_are_converted_item_by_item) {
  test_doubles<BLOCK_STORE_VECTORIZE>();
  test_doubles<BLOCK_STORE_TRANSPOSE>();
  test_doubles<BLOCK_STORE_WARP_TRANSPOSE>();
}

// ---------------------------------------------------------------------------- bank conflicts
#if STRATA_HOST_SIMT
template <class Case, BlockStoreAlgorithm Algorithm>
void count_conflicts() {
  SCOPED_TRACE(testing::Message() << "algorithm " << Algorithm << ", " << Case::items << " items of "
                                  << sizeof(typename Case::type) << " bytes");
  const device_vector<int> start(std::vector<int>{0, Case::tile}), valid(std::vector<int>{50, Case::tile});
  device_vector<typename Case::type> out(2 * Case::tile), all_out(2 * Case::tile);
  strata::simt::reset_statistics();
  ASSERT_CUDA_SUCCESS(strata::launch({"store_every_way", 2, Case::dimensions()}, store_every_way<Case, Algorithm>,
                                     start.data(), valid.data(), out.data(), all_out.data()));
  // Each of two calls in two blocks writes and reads every item.
  strata_test::expect_no_bank_conflicts(2 * 2 * 2 * Case::tile / 32);
}

template <class T, int Items>
void count_conflicts_of_all() {
  count_conflicts<tile_case<T, 64, Items>, BLOCK_STORE_TRANSPOSE>();
  count_conflicts<tile_case<T, 64, Items>, BLOCK_STORE_WARP_TRANSPOSE>();
  count_conflicts<tile_case<T, 64, Items>, BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>();
}

TEST(block_store, transposing_has_no_bank_conflicts) {
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
STRATA_KERNEL void store_directly(int n, int* out) {
  const int thread = static_cast<int>(threadIdx.x);
  int items[2] = {thread + 1, thread + 1001};
  strata::StoreDirectBlocked(thread, out, items);
  strata::StoreDirectBlocked(thread, out + 128, items, n);
  strata::StoreDirectBlockedVectorized(thread, out + 2 * 128, items);
  strata::StoreDirectStriped<64>(thread, out + 3 * 128, items);
  strata::StoreDirectStriped<64>(thread, out + 4 * 128, items, n);
  strata::StoreDirectWarpStriped(thread, out + 5 * 128, items);
  strata::StoreDirectWarpStriped(thread, out + 6 * 128, items, n);
}

TEST(block_store, free_functions_take_the_thread_first) {
  constexpr int n = 77;
  device_vector<int> out(std::vector<int>(7 * 128, -1));
  ASSERT_CUDA_SUCCESS(strata::launch({"store_directly", 1, 64}, store_directly, n, out.data()));
  const std::vector<int> items = out.to_host();
  for (int thread = 0; thread < 64; ++thread) {
    for (int i = 0; i < 2; ++i) {
      const int value = thread + 1 + 1000 * i;
      const int blocked = 2 * thread + i;
      const int striped = thread + 64 * i;
      const int warp_striped = thread / 32 * 64 + thread % 32 + 32 * i;
      const int positions[7] = {blocked, blocked, blocked, striped, striped, warp_striped, warp_striped};
      const bool partial[7] = {false, true, false, false, true, false, true};
      for (int way = 0; way < 7; ++way) {
        EXPECT_EQ(items[static_cast<std::size_t>(way * 128 + positions[way])],
                  partial[way] && positions[way] >= n ? -1 : value)
            << "way " << way << ", thread " << thread << ", item " << i;
      }
    }
  }
}

// ---------------------------------------------------------------------------- as a user calls it
// BlockLoad and BlockStore in one kernel.
STRATA_KERNEL void clamp_tile(const int* in, int* out, int n) {
  using Load = strata::BlockLoad<int, 128, 4, strata::BLOCK_LOAD_VECTORIZE>;
  using Store = strata::BlockStore<int, 128, 4, strata::BLOCK_STORE_VECTORIZE>;
  const int tile_base = static_cast<int>(blockIdx.x) * 512;
  int items[4];
  Load().Load(in + tile_base, items, n - tile_base, 0);
  for (int& item : items) item = item < 0 ? 0 : item;
  Store().Store(out + tile_base, items, n - tile_base);
}

TEST(block_store, vectors_end_with_the_items) {
  constexpr int n = 1300;
  std::vector<int> numbers, clamped;
  for (int i = 0; i < n; ++i) {
    numbers.push_back(i % 3 == 0 ? -i : i);
    clamped.push_back(i % 3 == 0 ? 0 : i);
  }
  const device_vector<int> in(numbers);
  device_vector<int> out(n);
  ASSERT_CUDA_SUCCESS(strata::launch({"clamp_tile", 3, 128}, clamp_tile, in.data(), out.data(), n));
  EXPECT_EQ(out.to_host(), clamped);
}

STRATA_KERNEL void sums_along_threads(const short* in, int* out) {
  using Load = strata::BlockLoad<int, 64, 15, strata::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = strata::BlockStore<int, 64, 15, strata::BLOCK_STORE_WARP_TRANSPOSE>;
  union Storage {
    Load::TempStorage load;
    Store::TempStorage store;
  };
  STRATA_SHARED(temp_storage, Storage);
  int items[15];
  Load(temp_storage.load).Load(in, items);
  for (int i = 1; i < 15; ++i) items[i] += items[i - 1];
  __syncthreads();
  Store(temp_storage.store).Store(out, items);
}

TEST(block_store, transposes_by_warps_through_the_storage_of_a_load) {
  std::vector<short> numbers;
  std::vector<int> sums;
  for (int i = 0; i < 64 * 15; ++i) {
    numbers.push_back(static_cast<short>(i));
    sums.push_back(i % 15 == 0 ? i : sums.back() + i);
  }
  const device_vector<short> in(numbers);
  device_vector<int> out(sums.size());
  ASSERT_CUDA_SUCCESS(strata::launch({"sums_along_threads", 1, 64}, sums_along_threads, in.data(), out.data()));
  EXPECT_EQ(out.to_host(), sums);
}

}  // namespace block_store_test
