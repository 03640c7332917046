// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/launcher.cuh>
#include <strata/warp/warp_load.cuh>
#include <strata/warp/warp_store.cuh>

#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <vector>

#include "support/bank_conflicts.cuh"
#include "support/test_support.cuh"
#include "warp/warp_tile.cuh"

namespace warp_store_test {

using namespace warp_tile;
using strata::WARP_STORE_DIRECT;
using strata::WARP_STORE_STRIPED;
using strata::WARP_STORE_TRANSPOSE;
using strata::WARP_STORE_VECTORIZE;
using strata::WarpStore;
using strata::WarpStoreAlgorithm;

constexpr int untouched = -3;

// A gap around and between tiles, where a store outside of its tile is found.
constexpr int margin = 16;

// ---------------------------------------------------------------------------- WarpStore
// Logical warp w of the grid stores its first num_valid[w] items to out + start[w], and all of its items to
// all_out + start[w]. Logical warps beyond the last tile do not call.
template <class Case, WarpStoreAlgorithm Algorithm>
STRATA_KERNEL void store_every_way(int tiles, const int* start, const int* num_valid, typename Case::type* out,
                                   typename Case::type* all_out) {
  using T = typename Case::type;
  using storer = WarpStore<T, Case::items, Algorithm, Case::width>;
  STRATA_SHARED(temp_storage, typename storer::TempStorage[Case::logical_warps]);
  const int number_of_tile = static_cast<int>(blockIdx.x) * Case::logical_warps + Case::logical_warp();
  if (!Case::is_member() || number_of_tile >= tiles) return;
  storer with_storage(temp_storage[Case::logical_warp()]);

  T items[Case::size];
  for (int i = 0; i < Case::items; ++i) {
    const int lane = Case::lane();
    const int position = Algorithm == WARP_STORE_STRIPED ? lane + i * Case::width : lane * Case::items + i;
    items[i] = number<T>(position + 1);
  }
  with_storage.Store(out + start[number_of_tile], items, num_valid[number_of_tile]);
  if constexpr (Algorithm == WARP_STORE_TRANSPOSE) {
    __syncwarp(strata::detail::logical_warp<Case::width>().mask());
    with_storage.Store(all_out + start[number_of_tile], items);
  } else {
    storer().Store(all_out + start[number_of_tile], items);
  }
}

template <class Case, WarpStoreAlgorithm Algorithm>
void test_store() {
  SCOPED_TRACE(testing::Message() << "algorithm " << Algorithm);
  using T = typename Case::type;
  const std::vector<int> num_valid = interesting_counts(Case::tile, Case::items);
  std::vector<int> start;
  int end = margin;
  for (std::size_t w = 0; w < num_valid.size(); ++w) {
    // The gaps grow by one, so tiles begin at every alignment.
    start.push_back(end);
    end += Case::tile + margin + static_cast<int>(w % 16);
  }
  const std::vector<T> before(static_cast<std::size_t>(end), number<T>(untouched));
  const device_vector<int> starts(start), counts(num_valid);
  device_vector<T> out(before), all_out(before);
  ASSERT_CUDA_SUCCESS(strata::launch({"store_every_way", Case::blocks(num_valid.size()), Case::block_threads},
                                     store_every_way<Case, Algorithm>, static_cast<int>(num_valid.size()),
                                     starts.data(), counts.data(), out.data(), all_out.data()));
  std::vector<T> expected = before;
  std::vector<T> all_expected = before;
  for (std::size_t w = 0; w < num_valid.size(); ++w) {
    for (int i = 0; i < Case::tile; ++i) {
      const std::size_t place = static_cast<std::size_t>(start[w] + i);
      all_expected[place] = number<T>(i + 1);
      if (i < num_valid[w]) expected[place] = all_expected[place];
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
class warp_store : public testing::Test {};
TYPED_TEST_SUITE(warp_store, tile_cases);

TYPED_TEST(warp_store, direct_is_blocked_and_leaves_the_rest_alone) { test_store<TypeParam, WARP_STORE_DIRECT>(); }
TYPED_TEST(warp_store, striped_is_striped_and_leaves_the_rest_alone) { test_store<TypeParam, WARP_STORE_STRIPED>(); }
TYPED_TEST(warp_store, vectorized_is_blocked_at_any_alignment_and_leaves_the_rest_alone) {
  test_store<TypeParam, WARP_STORE_VECTORIZE>();
}
TYPED_TEST(warp_store, transposed_is_blocked_and_leaves_the_rest_alone) {
  test_store<TypeParam, WARP_STORE_TRANSPOSE>();
}

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

template <WarpStoreAlgorithm Algorithm>
STRATA_KERNEL void store_doubled(int n, unsigned* too_far, int* out) {
  using storer = WarpStore<int, 3, Algorithm>;
  STRATA_SHARED(temp_storage, typename storer::TempStorage);
  const int lane = static_cast<int>(threadIdx.x);
  int items[3];
  for (int i = 0; i < 3; ++i) {
    items[i] = Algorithm == WARP_STORE_STRIPED ? lane + 32 * i : 3 * lane + i;
  }
  storer(temp_storage).Store(doubling{out, n, too_far}, items, n);
}

template <WarpStoreAlgorithm Algorithm>
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

TEST(warp_store, any_iterator_is_written_only_below_num_valid) {
  test_iterator<WARP_STORE_DIRECT>();
  test_iterator<WARP_STORE_STRIPED>();
  test_iterator<WARP_STORE_VECTORIZE>();
  test_iterator<WARP_STORE_TRANSPOSE>();
}

// ---------------------------------------------------------------------------- bank conflicts
#if STRATA_HOST_SIMT
template <class T, int Width, int Items>
void count_conflicts() {
  SCOPED_TRACE(testing::Message() << Width << " lanes, " << Items << " items of " << sizeof(T) << " bytes");
  using tile = tile_case<T, Width, Items>;
  constexpr int tiles = tile::logical_warps;
  std::vector<int> start, num_valid(tiles, tile::tile);
  for (int w = 0; w < tiles; ++w) start.push_back(w * tile::tile);
  num_valid[0] = tile::tile / 3;
  const device_vector<int> starts(start), valid(num_valid);
  device_vector<T> out(tiles * tile::tile), all_out(tiles * tile::tile);
  strata::simt::reset_statistics();
  ASSERT_CUDA_SUCCESS(strata::launch({"store_every_way", 1, tile::block_threads},
                                     store_every_way<tile, WARP_STORE_TRANSPOSE>, tiles, starts.data(), valid.data(),
                                     out.data(), all_out.data()));
  // Each of two calls in two warps writes and reads every item.
  strata_test::expect_no_bank_conflicts(2 * 2 * 2 * Items);
}

TEST(warp_store, transposing_has_no_bank_conflicts) {
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

// ---------------------------------------------------------------------------- as a user calls it
// WarpLoad and WarpStore in one kernel.
STRATA_KERNEL void negate_rows_of_48(const int* in, int* out) {
  using Load = strata::WarpLoad<int, 3, strata::WARP_LOAD_TRANSPOSE, 16>;
  using Store = strata::WarpStore<int, 3, strata::WARP_STORE_TRANSPOSE, 16>;
  union Storage {
    Load::TempStorage load;
    Store::TempStorage store;
  };
  STRATA_SHARED(temp_storage, Storage[128 / 16]);
  const unsigned row = threadIdx.x / 16;
  int items[3];
  Load(temp_storage[row].load).Load(in + row * 48, items);
  for (int& item : items) item = -item;
  __syncwarp();
  Store(temp_storage[row].store).Store(out + row * 48, items);
}

TEST(warp_store, stores_what_a_load_of_the_same_storage_has_loaded) {
  std::vector<int> numbers, negated;
  for (int i = 0; i < 8 * 48; ++i) {
    numbers.push_back(i);
    negated.push_back(-i);
  }
  const device_vector<int> in(numbers);
  device_vector<int> out(negated.size());
  ASSERT_CUDA_SUCCESS(strata::launch({"negate_rows_of_48", 1, 128}, negate_rows_of_48, in.data(), out.data()));
  EXPECT_EQ(out.to_host(), negated);
}

}  // namespace warp_store_test
