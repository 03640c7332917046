// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/launcher.cuh>
#include <strata/thread/thread_sort.cuh>

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/test_support.cuh"

namespace {

using namespace strata_test;

constexpr unsigned threads = 32;

// Compared by its key alone.
struct record {
  std::int16_t key;
  std::int16_t number;
  double weight;
};
STRATA_HD bool operator==(const record& a, const record& b) {
  return a.key == b.key && a.number == b.number && a.weight == b.weight;
}

struct by_key {
  STRATA_HD static int key(int x) { return x / 4; }
  STRATA_HD static int key(const record& x) { return x.key; }
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return key(a) < key(b);
  }
};
struct by_descending_key {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return by_key{}(b, a);
  }
};
/// Counts all calls, and those with an item that is not valid, whose key is negative.
struct watching {
  int* calls;
  int* wrong_calls;
  template <class T>
  STRATA_D bool operator()(const T& a, const T& b) const {
    atomicAdd(calls, 1);
    if (by_key::key(a) < 0 || by_key::key(b) < 0) atomicAdd(wrong_calls, 1);
    return by_key{}(a, b);
  }
};
/// A comparator that is no ordering.
struct nonsense {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return (static_cast<unsigned>(by_key::key(a)) * 7 + static_cast<unsigned>(by_key::key(b)) * 5) % 3 != 0;
  }
};

void make(int number, int key, int& item) { item = 4 * key + number % 4; }
void make(int number, int key, record& item) {
  item = {static_cast<std::int16_t>(key), static_cast<std::int16_t>(number), 0.5 * number};
}
void make_missing(int& item) { item = -4; }
void make_missing(record& item) { item = {-1, -1, -1}; }

/// Sorts the first `valid` items of each row, or all of them if `valid` is negative.
template <class T, std::size_t Count, class Compare>
STRATA_KERNEL void sort_rows(const T* in, int valid, T* keys_out, T* pair_keys_out, int* values_out, Compare compare) {
  T keys[Count], pair_keys[Count];
  int values[Count];
  const std::size_t first = threadIdx.x * Count;
  for (std::size_t i = 0; i < Count; ++i) {
    keys[i] = pair_keys[i] = in[first + i];
    values[i] = static_cast<int>(i);
  }
  if (valid == INT_MAX) {
    strata::StableOddEvenSort(keys, compare);
    strata::StableOddEvenSort(pair_keys, values, compare);
  } else {
    strata::StableOddEvenSortPartial(keys, valid, compare);
    strata::StableOddEvenSortPartial(pair_keys, values, valid, compare);
  }
  for (std::size_t i = 0; i < Count; ++i) {
    keys_out[first + i] = keys[i];
    pair_keys_out[first + i] = pair_keys[i];
    values_out[first + i] = values[i];
  }
}

template <class T, std::size_t Count>
std::vector<T> rows(int different_keys, int valid) {
  std::vector<T> items(threads * Count);
  const std::vector<int> keys = random_integers(items.size(), 0, different_keys - 1, Count);
  for (std::size_t i = 0; i < items.size(); ++i) {
    make(static_cast<int>(i), keys[i], items[i]);
    if (static_cast<int>(i % Count) >= valid) make_missing(items[i]);
  }
  return items;
}

template <class T, std::size_t Count, class Compare>
void test_rows(int different_keys, int valid, Compare compare, int* calls = nullptr) {
  SCOPED_TRACE(testing::Message() << Count << " items, " << valid << " valid");
  const std::vector<T> items = rows<T, Count>(different_keys, valid);
  const device_vector<T> in(items);
  device_vector<T> keys_out(items.size()), pair_keys_out(items.size());
  device_vector<int> values_out(items.size()), counts(std::vector<int>{0, 0});
  const auto launch = [&](auto device_compare) {
    return strata::launch({"sort_rows", 1, threads}, sort_rows<T, Count, decltype(device_compare)>, in.data(), valid,
                          keys_out.data(), pair_keys_out.data(), values_out.data(), device_compare);
  };
  if (calls != nullptr) {
    ASSERT_CUDA_SUCCESS(launch(watching{counts.data(), counts.data() + 1}));
  } else {
    ASSERT_CUDA_SUCCESS(launch(compare));
  }
  const std::vector<T> keys = keys_out.to_host(), pair_keys = pair_keys_out.to_host();
  const std::vector<int> values = values_out.to_host();
  const int sorted = std::min(std::max(valid, 0), static_cast<int>(Count));
  for (std::size_t t = 0; t < threads; ++t) {
    std::vector<int> order(Count);
    for (std::size_t i = 0; i < Count; ++i) order[i] = static_cast<int>(i);
    const auto item = [&](int i) { return items[t * Count + static_cast<std::size_t>(i)]; };
    std::stable_sort(order.begin(), order.begin() + sorted, [&](int a, int b) { return compare(item(a), item(b)); });
    for (std::size_t i = 0; i < Count; ++i) {
      const std::size_t place = t * Count + i;
      ASSERT_EQ(values[place], order[i]) << "thread " << t << ", place " << i;
      ASSERT_TRUE(keys[place] == item(order[i])) << "thread " << t << ", place " << i;
      ASSERT_TRUE(pair_keys[place] == item(order[i])) << "thread " << t << ", place " << i;
    }
  }
  if (calls != nullptr) {
    const std::vector<int> counted = counts.to_host();
    *calls = counted[0];
    EXPECT_EQ(counted[1], 0) << "calls with items that are not valid";
  }
}

template <class T, std::size_t Count>
void test_count() {
  for (const int different_keys : {1, 2, 5, 5000}) {
    test_rows<T, Count>(different_keys, INT_MAX, by_key{});
    test_rows<T, Count>(different_keys, INT_MAX, by_descending_key{});
    for (const int valid : {INT_MIN, 0, 1, static_cast<int>(Count) / 2, static_cast<int>(Count) - 1,
                            static_cast<int>(Count), static_cast<int>(Count) + 1}) {
      test_rows<T, Count>(different_keys, valid, by_key{});
    }
  }
}

TEST(thread_sort, sorts_stably) {
  test_count<int, 1>();
  test_count<int, 2>();
  test_count<int, 7>();
  test_count<int, 16>();
}

TEST(thread_sort, sorts_structs_stably) {
  test_count<record, 3>();
  test_count<record, 12>();
}

TEST(thread_sort, calls_the_comparator_once_for_each_pair_and_only_for_valid_items) {
  int calls = 0;
  test_rows<int, 7>(5, INT_MAX, by_key{}, &calls);
  EXPECT_EQ(calls, 2 * int{threads} * 7 * 6 / 2);
  test_rows<record, 12>(5, INT_MAX, by_key{}, &calls);
  EXPECT_EQ(calls, 2 * int{threads} * 12 * 11 / 2);
  for (int valid = -1; valid <= 7; ++valid) {
    test_rows<int, 7>(5, valid, by_key{}, &calls);
    // Each pair of neighbours is compared in every other of 7 rounds, so at most 4 times.
    EXPECT_LE(calls, 2 * int{threads} * std::max(valid - 1, 0) * 4);
  }
}

TEST(thread_sort, permutes_whatever_the_comparator_says) {
  const std::vector<int> items = rows<int, 16>(1000, INT_MAX);
  const device_vector<int> in(items);
  device_vector<int> keys_out(items.size()), pair_keys_out(items.size()), values_out(items.size());
  ASSERT_CUDA_SUCCESS(strata::launch({"sort_rows", 1, threads}, sort_rows<int, 16, nonsense>, in.data(), 13,
                                     keys_out.data(), pair_keys_out.data(), values_out.data(), nonsense{}));
  const std::vector<int> keys = keys_out.to_host();
  for (std::size_t t = 0; t < threads; ++t) {
    const auto row = static_cast<std::ptrdiff_t>(16 * t);
    EXPECT_TRUE(std::is_permutation(keys.begin() + row, keys.begin() + row + 13, items.begin() + row));
    EXPECT_TRUE(std::equal(keys.begin() + row + 13, keys.begin() + row + 16, items.begin() + row + 13));
  }
}

// ---------------------------------------------------------------------------- as a user calls it
struct is_greater {
  STRATA_HD bool operator()(float a, float b) const { return a > b; }
};
STRATA_KERNEL void sort_rows_of_4(float* keys, int* values) {
  float row[4];
  int row_values[4];
  for (unsigned i = 0; i < 4; ++i) {
    row[i] = keys[4 * threadIdx.x + i];
    row_values[i] = values[4 * threadIdx.x + i];
  }
  strata::StableOddEvenSort(row, row_values, is_greater{});
  for (unsigned i = 0; i < 4; ++i) {
    keys[4 * threadIdx.x + i] = row[i];
    values[4 * threadIdx.x + i] = row_values[i];
  }
}

TEST(thread_sort, sorts_a_row_and_its_values_in_descending_order) {
  device_vector<float> keys(std::vector<float>{1, 3, 2, 3, 0, -1, 5, 0});
  device_vector<int> values(std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
  ASSERT_CUDA_SUCCESS(strata::launch({"sort_rows_of_4", 1, 2}, sort_rows_of_4, keys.data(), values.data()));
  EXPECT_EQ(keys.to_host(), (std::vector<float>{3, 3, 2, 1, 5, 0, 0, -1}));
  EXPECT_EQ(values.to_host(), (std::vector<int>{1, 3, 2, 0, 6, 4, 7, 5}));
}

}  // namespace
