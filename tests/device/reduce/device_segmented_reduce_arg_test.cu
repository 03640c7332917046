// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSegmentedReduce::ArgMin and ArgMax.
#include <strata/device/device_segmented_reduce.cuh>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "device/device_call.cuh"
#include "device/segment_shapes.cuh"

namespace {

using namespace device_test;
using strata::DeviceSegmentedReduce;

template <class T>
class DeviceSegmentedReduceArg : public ::testing::Test {};
#if STRATA_TEST_FEW_TYPES
using number_types = ::testing::Types<float>;
#else
using number_types = ::testing::Types<std::int8_t, std::int64_t, float>;
#endif
TYPED_TEST_SUITE(DeviceSegmentedReduceArg, number_types);

// There are few different values, so nearly every extremum occurs several times. The index must be that of the first.
TYPED_TEST(DeviceSegmentedReduceArg, give_the_first_extremum_and_its_index_in_the_segment) {
  using T = TypeParam;
  using pair = strata::KeyValuePair<int, T>;
  for (const segment_shape& shape : segment_shapes()) {
    const std::vector<T> items = random_integers<T>(shape.items() + 50, -20, 100);
    const device_vector<T> in(items);
    const device_vector<std::int64_t> begins(shape.begins);
    const device_vector<std::int64_t> ends(shape.ends);
    device_vector<pair> low(shape.begins.size());
    device_vector<pair> high(shape.begins.size());
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceSegmentedReduce::ArgMin(storage..., in.data(), low.data(), shape.segments(), begins.data(),
                                           ends.data());
    }));
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceSegmentedReduce::ArgMax(storage..., in.data(), high.data(), shape.segments(), begins.data(),
                                           ends.data());
    }));
    const std::vector<pair> lows = low.to_host();
    const std::vector<pair> highs = high.to_host();
    for (std::size_t s = 0; s < lows.size(); ++s) {
      pair expected_low{1, std::numeric_limits<T>::max()};
      pair expected_high{1, std::numeric_limits<T>::lowest()};
      if (shape.ends[s] > shape.begins[s]) {
        const auto first = items.begin() + shape.begins[s];
        const auto last = items.begin() + shape.ends[s];
        const auto min = std::min_element(first, last);
        const auto max = std::max_element(first, last);
        expected_low = {static_cast<int>(min - first), *min};
        expected_high = {static_cast<int>(max - first), *max};
      }
      ASSERT_EQ(expected_low.key, lows[s].key) << shape << " " << s;
      ASSERT_EQ(expected_low.value, lows[s].value) << shape << " " << s;
      ASSERT_EQ(expected_high.key, highs[s].key) << shape << " " << s;
      ASSERT_EQ(expected_high.value, highs[s].value) << shape << " " << s;
    }
  }
}

/// A type of results whose members have the names of std::pair's.
struct standard_pair {
  std::int64_t first;
  double second;
};

TEST(device_segmented_reduce_arg, of_segments_of_one_size) {
  using pair = strata::KeyValuePair<std::int64_t, double>;
  const std::vector<double> items = random_reals<double>(30000, -1.0, 1.0);
  const device_vector<double> in(items);
  for (const std::int64_t size : {1, 10, 100, 300}) {
    const std::int64_t segments = 30000 / size;
    device_vector<pair> low(static_cast<std::size_t>(segments));
    device_vector<standard_pair> high(static_cast<std::size_t>(segments));
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceSegmentedReduce::ArgMin(storage..., in.data(), low.data(), segments, size);
    }));
    ASSERT_CUDA_SUCCESS(
        in_one_phase([&] { return DeviceSegmentedReduce::ArgMax(in.data(), high.data(), segments, size); }));
    const std::vector<pair> lows = low.to_host();
    const std::vector<standard_pair> highs = high.to_host();
    for (std::int64_t s = 0; s < segments; ++s) {
      const auto first = items.begin() + s * size;
      const auto min = std::min_element(first, first + size);
      const auto max = std::max_element(first, first + size);
      ASSERT_EQ((pair{min - first, *min}), lows[static_cast<std::size_t>(s)]);
      ASSERT_EQ(max - first, highs[static_cast<std::size_t>(s)].first);
      ASSERT_EQ(*max, highs[static_cast<std::size_t>(s)].second);
    }
  }
}

}  // namespace
