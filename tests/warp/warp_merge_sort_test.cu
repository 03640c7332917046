// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/launcher.cuh>
#include <strata/core/operators.hpp>
#include <strata/thread/thread_load_direct.cuh>
#include <strata/thread/thread_store_direct.cuh>
#include <strata/warp/warp_merge_sort.cuh>

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "block/merge_sort_cases.cuh"
#include "support/test_support.cuh"

// The library recognises these as orders, by their names.
namespace thrust::of_this_test {
struct greater {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a > b;
  }
};
template <class T>
struct less {
  STRATA_HD bool operator()(const T& a, const T& b) const { return a < b; }
};
}  // namespace thrust::of_this_test

namespace warp_merge_sort_test {

using namespace merge_sort_cases;
using strata::WarpMergeSort;

/// Logical warps in a block of 96 threads. If their width is a power of two, they divide each warp. Otherwise each warp
/// has one.
template <class Key, class Value, int Items_, int Width>
struct sort_case {
  using type = Key;
  using value = Value;
  static constexpr int items = Items_, threads = Width, tile = threads * items;
  static constexpr int pitch = (Width & (Width - 1)) == 0 ? Width : 32, teams = 96 / pitch;
  using Sort = WarpMergeSort<Key, items, Width, Value>;
  static dim3 dimensions() { return {96u, 1u, 1u}; }
  STRATA_D static int team() { return static_cast<int>(threadIdx.x) / pitch; }
  STRATA_D static int thread() { return static_cast<int>(threadIdx.x) % pitch; }
  STRATA_D static bool is_member() { return thread() < Width; }
};

// ---------------------------------------------------------------------------- known orders
// Integers are sorted as words if the library recognises the comparator by its name.
template <class Key, int Lanes, int Items, class Compare>
STRATA_KERNEL void sort_by_known_order(const Key* in, Key* out, int valid) {
  using Sort = WarpMergeSort<Key, Items, Lanes>;
  STRATA_SHARED(temp_storage, typename Sort::TempStorage[64 / Lanes]);
  const int thread = static_cast<int>(threadIdx.x), first = thread * Items;
  Sort sort(temp_storage[thread / Lanes]);
  Key keys[Items];
  for (int i = 0; i < Items; ++i) keys[i] = in[first + i];
  // Logical warps of a warp may diverge.
  if (thread / Lanes % 2 == 0) {
    sort.Sort(keys, Compare{});
  } else {
    sort.SortPartialTile(keys, valid, Compare{});
  }
  for (int i = 0; i < Items; ++i) out[first + i] = keys[i];
  for (int i = 0; i < Items; ++i) keys[i] = in[first + i];
  __syncwarp();
  sort.Sort(keys, Compare{}, valid, Key{7});
  for (int i = 0; i < Items; ++i) out[64 * Items + first + i] = keys[i];
}

template <class Key, int Lanes, int Items, class Compare>
void test_known_order(int valid) {
  SCOPED_TRACE(testing::Message() << Lanes << " lanes, " << Items << " items, " << valid << " valid");
  constexpr int tile = Lanes * Items, count = 64 * Items;
  std::mt19937_64 bits = strata_test::random_bits(static_cast<std::uint64_t>(tile + valid));
  std::vector<Key> keys(count);
  for (Key& key : keys) key = static_cast<Key>(bits());
  keys[0] = std::numeric_limits<Key>::max();
  const device_vector<Key> in(keys);
  device_vector<Key> out(2 * count);
  ASSERT_CUDA_SUCCESS(strata::launch({"sort_by_known_order", 1, 64}, sort_by_known_order<Key, Lanes, Items, Compare>,
                                     in.data(), out.data(), valid));
  std::vector<Key> expected = keys, with_default = keys;
  for (int first = 0; first < count; first += tile) {
    const int some = std::max(0, std::min(valid, tile));
    std::sort(expected.begin() + first, expected.begin() + first + (first / tile % 2 == 0 ? tile : some), Compare{});
    std::sort(with_default.begin() + first, with_default.begin() + first + some, Compare{});
    std::fill(with_default.begin() + first + some, with_default.begin() + first + tile, Key{7});
  }
  expected.insert(expected.end(), with_default.begin(), with_default.end());
  EXPECT_EQ(expected, out.to_host());
}

template <int Lanes, int Items>
void test_known_orders() {
  for (const int valid : {-1, 0, 1, Lanes * Items / 2 + 1, Lanes * Items - 1, Lanes * Items + 3}) {
    test_known_order<int, Lanes, Items, strata::Less>(valid);
    test_known_order<std::uint32_t, Lanes, Items, thrust::of_this_test::greater>(valid);
    test_known_order<std::int64_t, Lanes, Items, thrust::of_this_test::less<std::int64_t>>(valid);
  }
}
TEST(warp_merge_sort_known_orders, sort_integers) {
  test_known_orders<32, 4>();
  test_known_orders<16, 1>();
  test_known_orders<4, 8>();
  test_known_orders<1, 2>();
  test_known_orders<8, 3>();  // merges of keys
}

template <class Case>
class warp_merge_sort : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using cases = testing::Types<sort_case<int, std::int8_t, 3, 32>, sort_case<words<10>, std::int64_t, 2, 20>,
                             sort_case<std::int8_t, int, 4, 8>>;
#else
using cases = testing::Types<sort_case<int, std::int8_t, 3, 32>, sort_case<words<10>, std::int64_t, 2, 20>,
                             sort_case<std::int8_t, int, 4, 8>, sort_case<std::int64_t, words<4>, 5, 16>,
                             sort_case<words<3>, float, 11, 4>, sort_case<std::int16_t, int, 4, 31>,
                             sort_case<words<4>, std::int16_t, 1, 2>, sort_case<int, double, 6, 1>>;
#endif
TYPED_TEST_SUITE(warp_merge_sort, cases);

TYPED_TEST(warp_merge_sort, sorts_stably) {
  for (const int different : {1, 2, 5, 64}) {
    tile_sorter<TypeParam, with_values>(different).test(ascending{}, ascending{});
    tile_sorter<TypeParam, with_values>(different).test(descending{}, descending{});
    tile_sorter<TypeParam, keys_only>(different).test(ascending{}, ascending{});
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(warp_merge_sort, leaves_items_that_are_not_valid) {
  constexpr int tile = TypeParam::tile;
  const int step = strata_test::is_small() ? 5 : 1;
  for (const int valid : {INT_MIN, -1, tile, tile + 1}) {
    tile_sorter<TypeParam, keys_only>(64, valid).test(ascending{}, ascending{});
    if (this->HasFatalFailure()) return;
  }
  for (int valid = 0; valid <= tile; valid += step) {
    tile_sorter<TypeParam, with_values>(5, valid).test(ascending{}, ascending{});
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(warp_merge_sort, compares_no_more_than_it_says) { test_calls<TypeParam>(); }

TYPED_TEST(warp_merge_sort, permutes_whatever_the_comparator_says) { test_nonsense<TypeParam>(); }

// ---------------------------------------------------------------------------- alone in a warp
/// Logical warps of one warp sort different numbers of times, and by different functions.
STRATA_KERNEL void sort_in_branches(int* keys, unsigned* masks) {
  using Sort = WarpMergeSort<int, 2, 8>;
  STRATA_SHARED(temp_storage, Sort::TempStorage[4]);
  const unsigned warp = threadIdx.x / 8;
  int row[2] = {keys[2 * threadIdx.x], keys[2 * threadIdx.x + 1]};
  Sort sort(temp_storage[warp]);
  masks[threadIdx.x] = sort.get_member_mask();
  for (unsigned i = 0; i < warp; ++i) {
    if (i % 2 == 0) {
      sort.Sort(row, ascending{});
    } else {
      sort.StableSort(row, descending{});
    }
    __syncwarp(sort.get_member_mask());
  }
  keys[2 * threadIdx.x] = row[0];
  keys[2 * threadIdx.x + 1] = row[1];
}

TEST(warp_merge_sort_of_8, needs_no_other_lanes) {
  std::vector<int> keys = strata_test::random_integers(64, 0, 999);
  device_vector<int> in_out(keys);
  device_vector<unsigned> masks(32);
  ASSERT_CUDA_SUCCESS(strata::launch({"sort_in_branches", 1, 32}, sort_in_branches, in_out.data(), masks.data()));
  for (std::ptrdiff_t warp = 0; warp < 4; ++warp) {
    const auto begin = keys.begin() + 16 * warp;
    for (std::ptrdiff_t i = 0; i < warp; ++i) {
      if (i % 2 == 0) {
        std::stable_sort(begin, begin + 16, ascending{});
      } else {
        std::stable_sort(begin, begin + 16, descending{});
      }
    }
  }
  EXPECT_EQ(in_out.to_host(), keys);
  const std::vector<unsigned> found = masks.to_host();
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(found[i], 0xffu << i / 8 * 8);
}

/// The halves of a warp sort at the same time in different branches, by the same function or by different ones.
STRATA_KERNEL void sort_halves(int* keys, bool is_one_function) {
  using Sort = WarpMergeSort<int, 3, 8>;
  using WideSort = WarpMergeSort<int, 3, 16>;
  STRATA_SHARED(temp_storage, Sort::TempStorage[4]);
  STRATA_SHARED(wide_storage, WideSort::TempStorage);
  int row[3];
  for (unsigned i = 0; i < 3; ++i) row[i] = keys[3 * threadIdx.x + i];
  Sort sort(temp_storage[threadIdx.x / 8]);
  if (threadIdx.x < 16) {
    sort.Sort(row, ascending{});
  } else if (is_one_function) {
    sort.Sort(row, ascending{});
  } else {
    WideSort(wide_storage).Sort(row, descending{});
  }
  __syncthreads();  // neither half leaves before the other has sorted
  for (unsigned i = 0; i < 3; ++i) keys[3 * threadIdx.x + i] = row[i];
}

TEST(warp_merge_sort_of_8, halves_of_a_warp_sort_in_branches) {
  for (const bool is_one_function : {true, false}) {
    std::vector<int> keys = strata_test::random_integers(96, 0, 999);
    device_vector<int> in_out(keys);
    ASSERT_CUDA_SUCCESS(strata::launch({"sort_halves", 1, 32}, sort_halves, in_out.data(), is_one_function));
    const auto begin = keys.begin(), middle = begin + 48;
    for (std::ptrdiff_t i = 0; i < 48; i += 24) {
      std::stable_sort(begin + i, begin + i + 24, ascending{});
      if (is_one_function) std::stable_sort(middle + i, middle + i + 24, ascending{});
    }
    if (!is_one_function) std::stable_sort(middle, middle + 48, descending{});
    EXPECT_EQ(in_out.to_host(), keys);
  }
}

/// No ordering for keys below 0, each of which is less than all of them.
struct ascending_from_0 {
  STRATA_HD bool operator()(int a, int b) const { return a < b || (a < 0 && b < 0); }
};
STRATA_KERNEL void sort_beside_disorder(int* keys) {
  using Sort = WarpMergeSort<int, 3, 8>;
  STRATA_SHARED(temp_storage, Sort::TempStorage[4]);
  int row[3];
  for (unsigned i = 0; i < 3; ++i) row[i] = keys[3 * threadIdx.x + i];
  Sort(temp_storage[threadIdx.x / 8]).Sort(row, ascending_from_0{});
  for (unsigned i = 0; i < 3; ++i) keys[3 * threadIdx.x + i] = row[i];
}

TEST(warp_merge_sort_of_8, sorts_beside_a_logical_warp_without_an_order) {
  std::vector<int> keys = strata_test::random_integers(96, 0, 999);
  for (std::size_t i = 24; i < 48; ++i) keys[i] = -1 - static_cast<int>(i);
  device_vector<int> in_out(keys);
  ASSERT_CUDA_SUCCESS(strata::launch({"sort_beside_disorder", 1, 32}, sort_beside_disorder, in_out.data()));
  std::vector<int> found = in_out.to_host();
  std::sort(found.begin() + 24, found.begin() + 48);
  for (std::ptrdiff_t row = 0; row < 4; ++row) std::sort(keys.begin() + 24 * row, keys.begin() + 24 * row + 24);
  EXPECT_EQ(found, keys);
}

// ---------------------------------------------------------------------------- without values
STRATA_KERNEL void sort_with_no_values(int* in_out) {
  using Sort = WarpMergeSort<int, 2>;
  STRATA_SHARED(temp_storage, Sort::TempStorage);
  const unsigned thread = threadIdx.x;
  int keys[2] = {in_out[2 * thread], in_out[2 * thread + 1]};
  strata::NullType values[2];
  Sort(temp_storage).Sort(keys, values, ascending{});
  in_out[2 * thread] = keys[0];
  in_out[2 * thread + 1] = keys[1];
}

TEST(warp_merge_sort_of_keys, values_may_be_none) {
  std::vector<int> keys = strata_test::random_integers(64, 0, 999);
  device_vector<int> in_out(keys);
  ASSERT_CUDA_SUCCESS(strata::launch({"sort_with_no_values", 1, 32}, sort_with_no_values, in_out.data()));
  std::stable_sort(keys.begin(), keys.end(), ascending{});
  EXPECT_EQ(keys, in_out.to_host());
}

// ---------------------------------------------------------------------------- as a user calls it
struct is_less {
  STRATA_HD bool operator()(float a, float b) const { return a < b; }
};

// Sorts rows of up to 80 items, four rows by each warp.
STRATA_KERNEL void sort_rows(float* keys, const int* row_begins, int rows) {
  using Sort = strata::WarpMergeSort<float, 10, 8>;
  STRATA_SHARED(temp_storage, Sort::TempStorage[128 / 8]);
  const int lane = static_cast<int>(threadIdx.x) % 8;
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) / 8;
  if (row >= rows) return;
  const int begin = row_begins[row], count = row_begins[row + 1] - begin;
  float row_keys[10];
  strata::LoadDirectBlocked(lane, keys + begin, row_keys, count);
  Sort(temp_storage[threadIdx.x / 8]).SortPartialTile(row_keys, count, is_less{});
  strata::StoreDirectBlocked(lane, keys + begin, row_keys, count);
}

TEST(warp_merge_sort_example, sorts_rows) {
  std::vector<int> begins(31);
  for (std::size_t i = 1; i < begins.size(); ++i) {
    begins[i] = begins[i - 1] + static_cast<int>(i * 37 % 81);
  }
  std::vector<float> keys;
  for (const int x : strata_test::random_integers(static_cast<std::size_t>(begins[30]), -99, 99)) {
    keys.push_back(static_cast<float>(x));
  }
  device_vector<float> in_out(keys);
  const device_vector<int> row_begins(begins);
  ASSERT_CUDA_SUCCESS(strata::launch({"sort_rows", 2, 128}, sort_rows, in_out.data(), row_begins.data(), 30));
  for (std::size_t row = 0; row < 30; ++row) {
    std::sort(keys.begin() + begins[row], keys.begin() + begins[row + 1]);
  }
  EXPECT_EQ(in_out.to_host(), keys);
}

}  // namespace warp_merge_sort_test
