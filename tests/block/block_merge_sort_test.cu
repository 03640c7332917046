// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check
#include <strata/block/block_merge_sort.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/operators.hpp>
#include <strata/thread/thread_load_direct.cuh>
#include <strata/thread/thread_store_direct.cuh>

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

namespace block_merge_sort_test {

using namespace merge_sort_cases;
using strata::BlockMergeSort;

template <class Key, class Value, int Items_, int X, int Y = 1, int Z = 1>
struct sort_case {
  using type = Key;
  using value = Value;
  static constexpr int items = Items_, threads = X * Y * Z, tile = threads * items, teams = 1;
  using Sort = BlockMergeSort<Key, X, items, Value, Y, Z>;
  static dim3 dimensions() { return {unsigned{X}, unsigned{Y}, unsigned{Z}}; }
  STRATA_D static int team() { return 0; }
  STRATA_D static bool is_member() { return true; }
  STRATA_D static int thread() {
    return static_cast<int>(threadIdx.x) + X * static_cast<int>(threadIdx.y + Y * threadIdx.z);
  }
};

template <class Case>
class block_merge_sort : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using cases = testing::Types<sort_case<int, std::int8_t, 3, 96>, sort_case<words<10>, std::int64_t, 2, 40>,
                             sort_case<std::int8_t, int, 4, 64>, sort_case<std::int16_t, words<3>, 5, 8, 4, 3>>;
#else
using cases =
    testing::Types<sort_case<int, std::int8_t, 7, 96>, sort_case<words<10>, std::int64_t, 3, 40>,
                   sort_case<std::int8_t, int, 4, 64>, sort_case<std::int16_t, words<3>, 5, 8, 4, 3>,
                   sort_case<std::int64_t, words<10>, 8, 128>, sort_case<words<3>, std::int16_t, 11, 256>,
                   sort_case<words<4>, float, 1, 1024>, sort_case<int, int, 9, 1>, sort_case<int, double, 2, 33>>;
#endif
TYPED_TEST_SUITE(block_merge_sort, cases);

TYPED_TEST(block_merge_sort, sorts_stably) {
  for (const int different : {1, 2, 5, 64}) {
    tile_sorter<TypeParam, with_values>(different).test(ascending{}, ascending{});
    tile_sorter<TypeParam, with_values>(different).test(descending{}, descending{});
    tile_sorter<TypeParam, keys_only>(different).test(ascending{}, ascending{});
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(block_merge_sort, leaves_items_that_are_not_valid) {
  constexpr int tile = TypeParam::tile;
  for (const int valid : {INT_MIN, -1, 0, 1, 2, tile / 3, tile / 2 + 1, tile - 1, tile, tile + 1}) {
    tile_sorter<TypeParam, with_values>(5, valid).test(ascending{}, ascending{});
    tile_sorter<TypeParam, keys_only>(64, valid).test(ascending{}, ascending{});
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(block_merge_sort, compares_no_more_than_it_says) { test_calls<TypeParam>(); }

TYPED_TEST(block_merge_sort, permutes_whatever_the_comparator_says) { test_nonsense<TypeParam>(); }

TEST(block_merge_sort_partial, every_count_of_valid_items) {
  using one_case = sort_case<int, int, 3, 72>;
  for (int valid = 0; valid <= one_case::tile; valid += strata_test::is_small() ? 7 : 1) {
    tile_sorter<one_case, with_values>(64, valid).test(ascending{}, ascending{});
    if (HasFatalFailure()) return;
  }
}

// ---------------------------------------------------------------------------- every form
constexpr int forms = 12;

/// Sorts by one of the forms, and writes keys and values.
STRATA_KERNEL void sort_by_form(const int* in, int form, int* out) {
  using Sort = BlockMergeSort<int, 64, 2, float>;
  constexpr int some = 77, other = -5;
  const int thread = static_cast<int>(threadIdx.x);
  int keys[2] = {in[2 * thread], in[2 * thread + 1]};
  float values[2] = {static_cast<float>(2 * thread), static_cast<float>(2 * thread + 1)};
  const ascending compare;
  switch (form) {
    case 0:
      Sort().Sort(keys, compare);
      break;
    case 1:
      Sort().StableSort(keys, compare);
      break;
    case 2:
      Sort().SortPartialTile(keys, some, compare);
      break;
    case 3:
      Sort().StableSortPartialTile(keys, some, compare);
      break;
    case 4:
      Sort().Sort(keys, compare, some, other);
      break;
    case 5:
      Sort().StableSort(keys, compare, some, other);
      break;
    case 6:
      Sort().Sort(keys, values, compare);
      break;
    case 7:
      Sort().StableSort(keys, values, compare);
      break;
    case 8:
      Sort().SortPartialTile(keys, values, some, compare);
      break;
    case 9:
      Sort().StableSortPartialTile(keys, values, some, compare);
      break;
    case 10:
      Sort().Sort(keys, values, compare, some, other);
      break;
    default:
      Sort().StableSort(keys, values, compare, some, other);
  }
  for (int i = 0; i < 2; ++i) {
    out[2 * thread + i] = keys[i];
    out[128 + 2 * thread + i] = static_cast<int>(values[i]);
  }
}

TEST(block_merge_sort_forms, do_what_their_names_say) {
  const std::vector<int> keys = keys_of<int>(128, 1, 20, INT_MAX);
  const device_vector<int> in(keys);
  for (int form = 0; form < forms; ++form) {
    device_vector<int> out(256);
    ASSERT_CUDA_SUCCESS(strata::launch({"sort_by_form", 1, 64}, sort_by_form, in.data(), form, out.data()));
    const std::vector<int> results = out.to_host();
    const bool is_partial = form % 6 >= 2, fills = form % 6 >= 4, has_values = form >= 6;
    std::vector<int> order(128);
    for (int i = 0; i < 128; ++i) order[static_cast<std::size_t>(i)] = i;
    std::stable_sort(order.begin(), order.begin() + (is_partial ? 77 : 128), [&](int a, int b) {
      return ascending{}(keys[static_cast<std::size_t>(a)], keys[static_cast<std::size_t>(b)]);
    });
    for (std::size_t i = 0; i < 128; ++i) {
      const int key = fills && i >= 77 ? -5 : keys[static_cast<std::size_t>(order[i])];
      ASSERT_EQ(results[i], key) << "key " << i << " of form " << form;
      ASSERT_EQ(results[128 + i], has_values ? order[i] : static_cast<int>(i)) << "value " << i << " of form " << form;
    }
  }
}

STRATA_KERNEL void sort_with_no_values(const int* in, bool is_partial, int* out) {
  using Sort = BlockMergeSort<int, 64, 2>;
  const int thread = static_cast<int>(threadIdx.x);
  int keys[2] = {in[2 * thread], in[2 * thread + 1]};
  strata::NullType values[2];
  if (is_partial) {
    Sort().StableSort(keys, values, ascending{}, 77, -5);
  } else {
    Sort().Sort(keys, values, ascending{});
  }
  for (int i = 0; i < 2; ++i) out[2 * thread + i] = keys[i];
}

TEST(block_merge_sort_forms, values_may_be_none) {
  std::vector<int> keys = keys_of<int>(128, 1, 20, INT_MAX);
  const device_vector<int> in(keys);
  for (const bool is_partial : {false, true}) {
    device_vector<int> out(128);
    ASSERT_CUDA_SUCCESS(
        strata::launch({"sort_with_no_values", 1, 64}, sort_with_no_values, in.data(), is_partial, out.data()));
    std::vector<int> expected = keys;
    std::stable_sort(expected.begin(), expected.begin() + (is_partial ? 77 : 128), ascending{});
    if (is_partial) std::fill(expected.begin() + 77, expected.end(), -5);
    EXPECT_EQ(expected, out.to_host());
  }
}

struct falling {
  STRATA_HD bool operator()(int a, int b) { return b < a; }  // not const
};

STRATA_KERNEL void sort_by_comparator_that_is_not_const(const int* in, int* out) {
  using Sort = strata::BlockMergeSort<int, 64, 2>;
  STRATA_SHARED(temp_storage, Sort::TempStorage);
  int keys[2] = {in[2 * threadIdx.x], in[2 * threadIdx.x + 1]};
  Sort(temp_storage).Sort(keys, falling{});
  __syncthreads();
  Sort(temp_storage).StableSort(keys, falling{}, 100, -5);
  out[2 * threadIdx.x] = keys[0];
  out[2 * threadIdx.x + 1] = keys[1];
}

TEST(block_merge_sort_forms, take_a_comparator_that_is_not_const) {
  std::vector<int> keys = strata_test::random_integers(128, 0, 1000);
  const device_vector<int> in(keys);
  device_vector<int> out(128);
  ASSERT_CUDA_SUCCESS(strata::launch({"sort_by_comparator_that_is_not_const", 1, 64},
                                     sort_by_comparator_that_is_not_const, in.data(), out.data()));
  std::sort(keys.begin(), keys.end(), falling{});
  std::fill(keys.begin() + 100, keys.end(), -5);
  EXPECT_EQ(keys, out.to_host());
}

// ---------------------------------------------------------------------------- known orders
// Integers are sorted as words if the library recognises the comparator by its name.
template <class Key, int Threads, int Items, class Compare>
STRATA_KERNEL void sort_by_known_order(const Key* in, Key* out, int valid) {
  using Sort = strata::BlockMergeSort<Key, Threads, Items>;
  STRATA_SHARED(temp_storage, typename Sort::TempStorage);
  constexpr int count = Threads * Items;
  const int first = static_cast<int>(threadIdx.x) * Items;
  Key keys[Items];
  for (int i = 0; i < Items; ++i) keys[i] = in[first + i];
  Sort(temp_storage).Sort(keys, Compare{});
  for (int i = 0; i < Items; ++i) out[first + i] = keys[i];
  for (int i = 0; i < Items; ++i) keys[i] = in[first + i];
  __syncthreads();
  Sort(temp_storage).SortPartialTile(keys, valid, Compare{});
  for (int i = 0; i < Items; ++i) out[count + first + i] = keys[i];
  for (int i = 0; i < Items; ++i) keys[i] = in[first + i];
  __syncthreads();
  Sort(temp_storage).Sort(keys, Compare{}, valid, Key{7});
  for (int i = 0; i < Items; ++i) out[2 * count + first + i] = keys[i];
}

template <class Key, int Threads, int Items, class Compare>
void test_known_order(int valid) {
  SCOPED_TRACE(testing::Message() << Threads << " threads, " << Items << " items, " << valid << " valid");
  constexpr int count = Threads * Items;
  std::mt19937_64 bits = strata_test::random_bits(static_cast<std::uint64_t>(count + valid));
  std::vector<Key> keys(count);
  for (Key& key : keys) key = static_cast<Key>(bits());
  keys[0] = std::numeric_limits<Key>::max();
  keys[count / 3] = std::numeric_limits<Key>::min();
  const device_vector<Key> in(keys);
  device_vector<Key> out(3 * count);
  ASSERT_CUDA_SUCCESS(strata::launch({"sort_by_known_order", 1, Threads},
                                     sort_by_known_order<Key, Threads, Items, Compare>, in.data(), out.data(), valid));
  std::vector<Key> expected = keys, partial = keys;
  std::sort(expected.begin(), expected.end(), Compare{});
  const int all_valid = std::max(0, std::min(valid, count));
  std::sort(partial.begin(), partial.begin() + all_valid, Compare{});
  expected.insert(expected.end(), partial.begin(), partial.end());
  std::fill(partial.begin() + all_valid, partial.end(), Key{7});
  expected.insert(expected.end(), partial.begin(), partial.end());
  EXPECT_EQ(expected, out.to_host());
}

template <int Threads, int Items>
void test_known_orders() {
  for (const int valid : {-1, 0, 1, Threads * Items / 2 + 1, Threads * Items - 1, Threads * Items + 3}) {
    test_known_order<int, Threads, Items, strata::Less>(valid);
    test_known_order<std::uint32_t, Threads, Items, thrust::of_this_test::greater>(valid);
    test_known_order<std::int64_t, Threads, Items, thrust::of_this_test::less<std::int64_t>>(valid);
  }
}
TEST(block_merge_sort_known_orders, sort_integers) {
  test_known_orders<32, 4>();
  test_known_orders<96, 8>();  // no power of two of warps
  test_known_orders<128, 1>();
  test_known_orders<48, 4>();  // no whole warps: merges of keys
  test_known_orders<64, 3>();
}

// ---------------------------------------------------------------------------- sorts that are not stable
// Sorts up to 4 keys of 4 or 8 bytes per thread of whole warps, by a comparator that the library does not know. Only
// the rank of a key determines its order. Its other bits show where each of several equal keys went.
template <class Key, int Threads, int Items, bool Stable, class Compare>
STRATA_KERNEL void sort_keys_alone(const Key* in, Key* out, Compare compare) {
  using Sort = strata::BlockMergeSort<Key, Threads, Items>;
  STRATA_SHARED(temp_storage, typename Sort::TempStorage);
  const int first = static_cast<int>(threadIdx.x) * Items;
  Key keys[Items];
  for (int i = 0; i < Items; ++i) keys[i] = in[first + i];
  if constexpr (Stable) {
    Sort(temp_storage).StableSort(keys, compare);
  } else {
    Sort(temp_storage).Sort(keys, compare);
  }
  for (int i = 0; i < Items; ++i) out[first + i] = keys[i];
}

template <class Key>
std::vector<Key> sorted_bits(std::vector<Key> keys) {
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) { return std::memcmp(&a, &b, sizeof(Key)) < 0; });
  return keys;
}

template <class Key, int Threads, int Items>
class keys_alone {
  static constexpr int tile = Threads * Items;
  std::vector<Key> keys_;
  device_vector<Key> in_;

  template <bool Stable, class Compare>
  std::vector<Key> sorted(Compare compare) {
    device_vector<Key> out(static_cast<std::size_t>(tile));
    EXPECT_EQ(strata::launch({"sort_keys_alone", 1, Threads}, sort_keys_alone<Key, Threads, Items, Stable, Compare>,
                             in_.data(), out.data(), compare),
              cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return out.to_host();
  }

 public:
  explicit keys_alone(int different) : keys_(keys_of<Key>(tile, 1, different, INT_MAX)), in_(keys_) {}

  template <class Compare>
  void test_order(Compare compare) {
    const std::vector<Key> result = sorted<false>(compare), stable = sorted<true>(compare);
    std::vector<Key> expected = keys_;
    std::stable_sort(expected.begin(), expected.end(), compare);
    EXPECT_EQ(sorted_bits(expected), sorted_bits(result));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(ranked<Key>::rank(expected[i]), ranked<Key>::rank(result[i])) << "key " << i;
      ASSERT_TRUE(same_bits(expected[i], stable[i])) << "key " << i << " of StableSort";
    }
  }

  /// Even if the comparator is inconsistent, the sort must lose no key. This one always gives the same answer to the
  /// same pair of keys.
  void test_nonsense() { EXPECT_EQ(sorted_bits(keys_), sorted_bits(sorted<false>(nonsense{nullptr}))); }

  void test_calls(unsigned calls_of_warp_sort) {
    device_vector<unsigned> counts(std::vector<unsigned>{0, 0});
    sorted<false>(watching{counts.data(), counts.data() + 1});
    unsigned most = calls_of_warp_sort;
    for (int run = 32; run < Threads; run *= 2) {
      most += static_cast<unsigned>(Items + strata::detail::log2_ceiling(static_cast<unsigned>(Items * run) + 1ull));
    }
    EXPECT_LE(counts.to_host()[0], most * unsigned{Threads});
    EXPECT_GT(counts.to_host()[0], 0u);
  }
};

template <class Key, int Threads, int Items>
void test_keys_alone() {
  SCOPED_TRACE(testing::Message() << sizeof(Key) << " bytes, " << Threads << " threads, " << Items << " items");
  for (const int different : {1, 2, 5, 64}) {
    keys_alone<Key, Threads, Items> sorter(different);
    sorter.test_order(ascending{});
    sorter.test_order(descending{});
    sorter.test_nonsense();
  }
}

TEST(block_merge_sort_of_keys_alone, is_a_permutation_in_order) {
  test_keys_alone<int, 32, 4>();
  test_keys_alone<float, 96, 2>();  // no power of two of warps
  test_keys_alone<std::int64_t, 64, 1>();
  test_keys_alone<double, 128, 4>();
  test_keys_alone<int, 50, 4>();  // no whole warps
  if (!strata_test::is_small()) {
    test_keys_alone<std::uint32_t, 1024, 4>();
    test_keys_alone<float, 512, 1>();
  }
}

TEST(block_merge_sort_of_keys_alone, compares_no_more_than_it_says) {
  keys_alone<int, 128, 1>(64).test_calls(15);
  keys_alone<int, 128, 2>(64).test_calls(36);
  keys_alone<float, 96, 4>(64).test_calls(85);
}

// ---------------------------------------------------------------------------- shared memory
TEST(block_merge_sort_storage, is_no_more_than_documented) {
  EXPECT_LE(sizeof(BlockMergeSort<int, 256, 11>::TempStorage), 4u * 256 * 11 + 4 * (2 * 8 + 1));
  EXPECT_LE((sizeof(BlockMergeSort<int, 256, 11, int>::TempStorage)), 8u * 256 * 11 + 4 * (2 * 8 + 1));
  EXPECT_LE((sizeof(BlockMergeSort<int, 256, 11, double>::TempStorage)), 8u * 256 * 11 + 4 * (2 * 8 + 2));
}

#if defined(STRATA_SIMT_CHECK)  // check mode, which counts each access
template <class Case>
void test_writes() {
  namespace simt = strata::simt;
  tile_sorter<Case, with_values> sorter(64);
  simt::reset_statistics();
  sorter.test(ascending{}, ascending{});
  simt::bank_row rows[64];
  const int count = simt::bank_rows(rows, 64);
  int writes = 0;
  for (int i = 0; i < count; ++i) {
    if (!rows[i].write || std::strstr(rows[i].where, "merge_sort_tile") == nullptr) continue;
    ++writes;
    EXPECT_EQ(rows[i].wavefronts, rows[i].ideal) << rows[i].where;
  }
  EXPECT_GT(writes, 0);
}
TEST(block_merge_sort_storage, is_written_without_bank_conflicts) {
  test_writes<sort_case<int, int, 7, 64>>();
  test_writes<sort_case<std::int64_t, std::int16_t, 8, 32>>();
  test_writes<sort_case<words<4>, double, 4, 64>>();
}
#endif

// ---------------------------------------------------------------------------- as a user calls it
struct order {
  int customer;
  float price;
};
struct by_customer_then_descending_price {
  STRATA_HD bool operator()(const order& a, const order& b) const {
    return a.customer != b.customer ? a.customer < b.customer : a.price > b.price;
  }
};

// Sorts rows of up to 640 orders, each by a block.
STRATA_KERNEL void sort_orders(order* orders, const int* row_begins) {
  using Sort = strata::BlockMergeSort<order, 128, 5>;
  STRATA_SHARED(temp_storage, Sort::TempStorage);
  const int thread = static_cast<int>(threadIdx.x);
  const int begin = row_begins[blockIdx.x];
  const int count = row_begins[blockIdx.x + 1] - begin;
  order row[5];
  strata::LoadDirectBlocked(thread, orders + begin, row, count);
  Sort(temp_storage).SortPartialTile(row, count, by_customer_then_descending_price{});
  strata::StoreDirectBlocked(thread, orders + begin, row, count);
}

TEST(block_merge_sort_example, sorts_rows) {
  const std::vector<int> begins = {0, 640, 641, 641, 900};
  const std::vector<int> random = strata_test::random_integers(900, 0, 99);
  std::vector<order> orders;
  for (const int x : random) orders.push_back({x / 10, static_cast<float>(x % 10)});
  device_vector<order> in_out(orders);
  const device_vector<int> row_begins(begins);
  ASSERT_CUDA_SUCCESS(strata::launch({"sort_orders", 4, 128}, sort_orders, in_out.data(), row_begins.data()));
  for (std::size_t row = 0; row < 4; ++row) {
    std::stable_sort(orders.begin() + begins[row], orders.begin() + begins[row + 1],
                     by_customer_then_descending_price{});
  }
  const std::vector<order> results = in_out.to_host();
  for (std::size_t i = 0; i < orders.size(); ++i) {
    ASSERT_TRUE(same_bits(results[i], orders[i])) << "order " << i;
  }
}

}  // namespace block_merge_sort_test
