// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceSegmentedReduce::Sum, Min, Max and Reduce on numbers.
#include <strata/device/device_segmented_reduce.cuh>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "device/device_call.cuh"
#include "device/segment_shapes.cuh"

namespace {

using namespace device_test;
using strata::DeviceSegmentedReduce;

template <class T, class Item, class Operator>
std::vector<T> expected_results(const segment_shape& shape, const std::vector<Item>& items, T init, Operator op) {
  std::vector<T> results;
  for (std::size_t s = 0; s < shape.begins.size(); ++s) {
    T result = init;
    for (std::int64_t i = shape.begins[s]; i < shape.ends[s]; ++i) {
      result = static_cast<T>(op(result, items[static_cast<std::size_t>(i)]));
    }
    results.push_back(result);
  }
  return results;
}

template <class T>
class DeviceSegmentedReduceSum : public ::testing::Test {};
using number_types = ::testing::Types<std::uint8_t, std::int32_t, std::int64_t, float>;
TYPED_TEST_SUITE(DeviceSegmentedReduceSum, number_types);

TYPED_TEST(DeviceSegmentedReduceSum, equals_the_sequential_sum_of_every_segment) {
  using T = TypeParam;
  for (const segment_shape& shape : segment_shapes()) {
    const std::vector<T> items = random_integers<T>(shape.items() + 100, 0, 30);
    const device_vector<T> in(items);
    const device_vector<std::int64_t> begins(shape.begins);
    const device_vector<std::int64_t> ends(shape.ends);
    const auto expected = expected_results<T>(shape, items, T{0}, [](T a, T b) { return a + b; });
    EXPECT_EQ(expected, results_of<T>(shape.segments(),
                                      [&](T* out, auto&&... storage) {
                                        return DeviceSegmentedReduce::Sum(storage..., in.data(), out, shape.segments(),
                                                                          begins.data(), ends.data());
                                      }))
        << shape;
  }
}

TYPED_TEST(DeviceSegmentedReduceSum, of_segments_of_one_size) {
  using T = TypeParam;
  const std::int64_t most_items = if_small(20000, 400000);
  const std::vector<T> items = random_integers<T>(static_cast<std::size_t>(most_items), 0, 30);
  const device_vector<T> in(items);
  for (const std::int64_t segments : {0, 1, 5, 128, 1000, 4096, 4097}) {
    for (const std::int64_t size : {0, 1, 2, 15, 16, 17, 31, 32, 33, 255, 256, 257, 1000, 8193, 70000}) {
      if (segments * size > most_items) continue;
      std::vector<T> expected;
      for (std::int64_t s = 0; s < segments; ++s) {
        const auto first = items.begin() + s * size;
        expected.push_back(static_cast<T>(std::accumulate(first, first + size, 0.0)));
        if constexpr (std::is_integral_v<T>) {
          expected.back() = static_cast<T>(std::accumulate(first, first + size, std::uint64_t{0}));
        }
      }
      EXPECT_EQ(expected, results_of<T>(segments,
                                        [&](T* out, auto&&... storage) {
                                          return DeviceSegmentedReduce::Sum(storage..., in.data(), out, segments, size);
                                        }))
          << segments << " of " << size;
    }
  }
}

TEST(device_segmented_reduce, min_and_max_of_every_segment) {
  constexpr int lowest = std::numeric_limits<int>::lowest();
  constexpr int highest = std::numeric_limits<int>::max();
  for (const segment_shape& shape : segment_shapes()) {
    const std::vector<int> items = random_integers<int>(shape.items() + 100, lowest, highest);
    const device_vector<int> in(items);
    const device_vector<std::int64_t> begins(shape.begins);
    const device_vector<std::int64_t> ends(shape.ends);
    const auto min = [](int a, int b) { return std::min(a, b); };
    const auto max = [](int a, int b) { return std::max(a, b); };
    EXPECT_EQ(expected_results(shape, items, highest, min),
              results_of<int>(shape.segments(),
                              [&](int* out, auto&&... storage) {
                                return DeviceSegmentedReduce::Min(storage..., in.data(), out, shape.segments(),
                                                                  begins.data(), ends.data());
                              }))
        << shape;
    EXPECT_EQ(expected_results(shape, items, lowest, max),
              results_of<int>(shape.segments(),
                              [&](int* out, auto&&... storage) {
                                return DeviceSegmentedReduce::Max(storage..., in.data(), out, shape.segments(),
                                                                  begins.data(), ends.data());
                              }))
        << shape;
  }
}

TEST(device_segmented_reduce, min_and_max_of_segments_of_one_size) {
  const std::vector<float> items = random_reals<float>(30000, -1e30, -1e-30);
  const device_vector<float> in(items);
  for (const std::int64_t size : {1, 10, 100, 300}) {
    const std::int64_t segments = 30000 / size;
    std::vector<float> low;
    std::vector<float> high;
    for (std::int64_t s = 0; s < segments; ++s) {
      const auto first = items.begin() + s * size;
      low.push_back(*std::min_element(first, first + size));
      high.push_back(*std::max_element(first, first + size));
    }
    EXPECT_EQ(low, results_of<float>(segments, [&](float* out, auto&&... storage) {
                return DeviceSegmentedReduce::Min(storage..., in.data(), out, segments, size);
              }));
    EXPECT_EQ(high, results_of<float>(segments, [&](float* out, auto&&... storage) {
                return DeviceSegmentedReduce::Max(storage..., in.data(), out, segments, size);
              }));
  }
}

TEST(device_segmented_reduce, reduce_starts_each_segment_from_init) {
  const std::vector<int> items = random_integers<int>(30000, -100, 100);
  const device_vector<int> in(items);
  for (const segment_shape& shape : segment_shapes()) {
    if (shape.items() > items.size()) continue;
    const device_vector<std::int64_t> begins(shape.begins);
    const device_vector<std::int64_t> ends(shape.ends);
    EXPECT_EQ(expected_results(shape, items, 1000, std::plus<>{}),
              results_of<int>(shape.segments(),
                              [&](int* out, auto&&... storage) {
                                return DeviceSegmentedReduce::Reduce(storage..., in.data(), out, shape.segments(),
                                                                     begins.data(), ends.data(), strata::Sum{}, 1000);
                              }))
        << shape;
  }
  EXPECT_EQ((std::vector<int>{7, 7, 7}), results_of<int>(3, [&](int* out, auto&&... storage) {
              return DeviceSegmentedReduce::Reduce(storage..., in.data(), out, 3, 0, strata::Sum{}, 7);
            }));
}

TEST(device_segmented_reduce, sums_are_carried_in_the_type_of_the_output) {
  const device_vector<std::uint8_t> in(std::vector<std::uint8_t>(30000, 255));
  EXPECT_EQ((std::vector<std::int64_t>(3, 2550000)),
            results_of<std::int64_t>(3, [&](std::int64_t* out, auto&&... storage) {
              return DeviceSegmentedReduce::Sum(storage..., in.data(), out, 3, 10000);
            }));
}

// ------------------------------------------------------------------ without storage arguments

TEST(device_segmented_reduce, overloads_without_storage_do_the_same) {
  const std::vector<int> items = random_integers<int>(4000, -100, 100);
  const device_vector<int> in(items);
  const segment_shape shape = consecutive("200 of 20", std::vector<std::int64_t>(200, 20));
  const device_vector<std::int64_t> begins(shape.begins);
  const device_vector<std::int64_t> ends(shape.ends);
  const auto sums = expected_results(shape, items, 0, std::plus<>{});
  const auto lows = expected_results(shape, items, 1000, [](int a, int b) { return std::min(a, b); });
  const auto highs = expected_results(shape, items, -1000, [](int a, int b) { return std::max(a, b); });
  const stream on;
  const auto where = static_cast<cudaStream_t>(on);
  device_vector<int> out(200);
  const auto expect = [&](const std::vector<int>& expected, cudaError_t status) {
    ASSERT_CUDA_SUCCESS(status);
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    EXPECT_EQ(expected, out.to_host());
    out.poison();
  };
  expect(sums, DeviceSegmentedReduce::Sum(in.data(), out.data(), 200, begins.data(), ends.data()));
  expect(sums, DeviceSegmentedReduce::Sum(in.data(), out.data(), 200, 20, where));
  expect(lows, DeviceSegmentedReduce::Min(in.data(), out.data(), 200, begins.data(), ends.data(), where));
  expect(lows, DeviceSegmentedReduce::Min(in.data(), out.data(), 200, 20));
  expect(highs, DeviceSegmentedReduce::Max(in.data(), out.data(), 200, begins.data(), ends.data(), where));
  expect(highs, DeviceSegmentedReduce::Max(in.data(), out.data(), 200, 20));
  expect(sums, DeviceSegmentedReduce::Reduce(in.data(), out.data(), 200, begins.data(), ends.data(), strata::Sum{}, 0,
                                             where));
  expect(sums, DeviceSegmentedReduce::Reduce(in.data(), out.data(), 200, 20, strata::Sum{}, 0));
}

}  // namespace
