// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/launcher.cuh>
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/thread/thread_search.cuh>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace thread_search_test {

using strata_test::device_vector;

// ---------------------------------------------------------------------------- bounds
template <class T, class OffsetT>
STRATA_KERNEL void find_bounds(const T* sorted, OffsetT count, const T* values, OffsetT* bounds) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  bounds[2 * i] = strata::LowerBound(sorted, count, values[i]);
  bounds[2 * i + 1] = strata::UpperBound(sorted, count, values[i]);
}

template <class T, class OffsetT>
void expect_bounds(std::size_t count, int different) {
  SCOPED_TRACE(testing::Message() << count << " items of " << different << " values");
  // The items are odd, so even values lie before, between and after them.
  std::vector<T> sorted, values;
  for (const int value : strata_test::random_integers(count, 0, different - 1, count)) {
    sorted.push_back(strata_test::from_integer<T>::make(2 * value + 1));
  }
  const auto less = [](const T& a, const T& b) { return a < b; };
  std::sort(sorted.begin(), sorted.end(), less);
  for (int value = 0; value <= 2 * different; ++value) values.push_back(strata_test::from_integer<T>::make(value));

  const device_vector<T> in(sorted), wanted(values);
  device_vector<OffsetT> bounds(2 * values.size());
  ASSERT_CUDA_SUCCESS(strata::launch({"find_bounds", 1, static_cast<unsigned>(values.size())}, find_bounds<T, OffsetT>,
                                     in.data(), static_cast<OffsetT>(count), wanted.data(), bounds.data()));
  const std::vector<OffsetT> got = bounds.to_host();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto range = std::equal_range(sorted.begin(), sorted.end(), values[i], less);
    ASSERT_EQ(got[2 * i], static_cast<OffsetT>(range.first - sorted.begin())) << "value " << i;
    ASSERT_EQ(got[2 * i + 1], static_cast<OffsetT>(range.second - sorted.begin())) << "value " << i;
  }
}

TEST(thread_search, bounds_enclose_the_equal_items) {
  for (const std::size_t count : {0, 1, 2, 3, 4, 7, 8, 9, 31, 32, 33, 100}) {
    for (const int different : {1, 3, 40}) {
      expect_bounds<int, int>(count, different);
      expect_bounds<std::int8_t, unsigned>(count, different);
      expect_bounds<double, std::int64_t>(count, different);
      expect_bounds<__half, int>(count, different);
      expect_bounds<strata_test::int128, std::uint8_t>(count, different);
    }
  }
}

struct reading {
  int time;
  float value;
};
STRATA_HD bool operator<(const reading& a, int time) { return a.time < time; }
STRATA_HD bool operator<(int time, const reading& a) { return time < a.time; }

STRATA_KERNEL void search_otherwise(const reading* readings, int* out, long long* far) {
  out[0] = strata::LowerBound(readings, 4, 20);
  out[1] = strata::UpperBound(readings, 4, 20);
  // A sequence too long for any memory.
  const strata::CountingInputIterator<long long> count(-5);
  far[0] = strata::LowerBound(count, 0x7fffffffffffffffll, 0x7ffffffffffffff0ll);
  far[1] = strata::UpperBound(count, 0x7fffffffffffffffll, 1ll << 40);
}

TEST(thread_search, bounds_take_any_iterator_other_types_of_values_and_64_bit_counts) {
  const device_vector<reading> readings(std::vector<reading>{{10, 0.5f}, {20, 1.5f}, {20, 2.5f}, {30, 3.5f}});
  device_vector<int> out(2);
  device_vector<long long> far(2);
  ASSERT_CUDA_SUCCESS(strata::launch({"search", 1, 1}, search_otherwise, readings.data(), out.data(), far.data()));
  EXPECT_EQ(out.to_host(), (std::vector<int>{1, 3}));
  EXPECT_EQ(far.to_host(), (std::vector<long long>{0x7ffffffffffffff5, (1ll << 40) + 6}));
}

// ---------------------------------------------------------------------------- merge path
/// An item compared by its key, and only with `<=`.
struct item {
  int key;
  int number;
};
STRATA_HD bool operator<=(const item& a, const item& b) { return a.key <= b.key; }

struct coordinate {
  int x, y;
};

template <class OffsetT>
STRATA_KERNEL void find_paths(const item* a, const item* b, OffsetT a_len, OffsetT b_len, coordinate* path) {
  const auto diagonal = static_cast<OffsetT>(threadIdx.x);
  strata::MergePathSearch(diagonal, a, b, a_len, b_len, path[threadIdx.x]);
}

template <class OffsetT>
void expect_paths(std::size_t a_len, std::size_t b_len, int different) {
  SCOPED_TRACE(testing::Message() << a_len << " and " << b_len << " items of " << different << " keys");
  const auto run = [&](std::size_t count, int first) {
    std::vector<int> keys = strata_test::random_integers(count, 0, different - 1, count + 7);
    std::sort(keys.begin(), keys.end());
    std::vector<item> items;
    for (const int key : keys) items.push_back({key, first + static_cast<int>(items.size())});
    return items;
  };
  const std::vector<item> a = run(a_len, 0), b = run(b_len, 1000);
  std::vector<item> merged(a_len + b_len);
  std::merge(a.begin(), a.end(), b.begin(), b.end(), merged.begin(),
             [](const item& x, const item& y) { return x.key < y.key; });
  const device_vector<item> in_a(a), in_b(b);
  device_vector<coordinate> path(a_len + b_len + 1);
  ASSERT_CUDA_SUCCESS(strata::launch({"find_paths", 1, static_cast<unsigned>(a_len + b_len + 1)}, find_paths<OffsetT>,
                                     in_a.data(), in_b.data(), static_cast<OffsetT>(a_len), static_cast<OffsetT>(b_len),
                                     path.data()));
  const std::vector<coordinate> got = path.to_host();
  coordinate expected{0, 0};
  for (std::size_t diagonal = 0; diagonal <= merged.size(); ++diagonal) {
    ASSERT_EQ(got[diagonal].x, expected.x) << diagonal;
    ASSERT_EQ(got[diagonal].y, expected.y) << diagonal;
    if (diagonal < merged.size()) ++(merged[diagonal].number < 1000 ? expected.x : expected.y);
  }
}

TEST(thread_search, merge_path_cuts_where_the_stable_merge_is) {
  for (const std::size_t a_len : {0, 1, 2, 31, 64}) {
    for (const std::size_t b_len : {0, 1, 5, 33}) {
      for (const int different : {1, 3, 1000}) {
        expect_paths<int>(a_len, b_len, different);
        expect_paths<unsigned>(a_len, b_len, different);
        expect_paths<std::int64_t>(a_len, b_len, different);
      }
    }
  }
}

// ---------------------------------------------------------------------------- as a user calls it
// Counts how often each value occurs in a sorted array.
STRATA_KERNEL void count_values(const int* sorted, int num_items, const int* values, int* counts) {
  const int value = values[threadIdx.x];
  counts[threadIdx.x] = strata::UpperBound(sorted, num_items, value) - strata::LowerBound(sorted, num_items, value);
}

TEST(thread_search, both_bounds_count_equal_items) {
  const device_vector<int> sorted(std::vector<int>{1, 1, 4, 4, 4, 7}), values(std::vector<int>{0, 1, 4, 5, 7});
  device_vector<int> counts(5);
  ASSERT_CUDA_SUCCESS(
      strata::launch({"count_values", 1, 5}, count_values, sorted.data(), 6, values.data(), counts.data()));
  EXPECT_EQ(counts.to_host(), (std::vector<int>{0, 2, 3, 0, 1}));
}

}  // namespace thread_search_test
