// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceReduce::Min and Max.
#include <strata/device/device_reduce.cuh>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"

namespace {

using namespace device_test;
using strata::DeviceReduce;

template <class T>
class DeviceReduceMinMax : public ::testing::Test {};
#if STRATA_TEST_FEW_TYPES
using number_types = ::testing::Types<std::int8_t, std::uint16_t, std::uint32_t, std::int64_t, float>;
#else
using number_types = ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                                      std::uint32_t, std::int64_t, std::uint64_t, float, double>;
#endif
TYPED_TEST_SUITE(DeviceReduceMinMax, number_types);

template <class T>
T device_min(const T* in, std::size_t count) {
  return result_of<T>([&](T* out, auto&&... storage) { return DeviceReduce::Min(storage..., in, out, count); });
}

template <class T>
T device_max(const T* in, std::size_t count) {
  return result_of<T>([&](T* out, auto&&... storage) { return DeviceReduce::Max(storage..., in, out, count); });
}

// Items of the whole range except its ends, which the tests add. If the type is signed, items have both signs.
template <class T>
std::vector<T> middling(std::size_t count) {
  if constexpr (std::is_floating_point_v<T>) {
    return random_reals<T>(count, -1e30, 1e30);
  } else {
    constexpr long long top = std::numeric_limits<long long>::max();
    constexpr long long low = static_cast<long long>(std::numeric_limits<T>::lowest());
    constexpr auto high = std::numeric_limits<T>::max();
    return random_integers<T>(count, low + 1,
                              static_cast<unsigned long long>(high) > top ? top : static_cast<long long>(high) - 1);
  }
}

TYPED_TEST(DeviceReduceMinMax, equal_the_sequential_ones_at_every_boundary) {
  using T = TypeParam;
  const std::vector<std::size_t> lengths = usual_sizes();
  const std::vector<T> items = middling<T>(lengths.back() + 4096);
  const device_vector<T> in(items);
  std::size_t done = 0;
  T low{};
  T high{};
  for (const std::size_t size : lengths) {
    if (size == 0) continue;
    if (done == 0) low = high = items[0];
    for (; done < size; ++done) {
      low = std::min(low, items[done]);
      high = std::max(high, items[done]);
    }
    EXPECT_EQ(low, device_min(in.data(), size)) << "of " << size;
    EXPECT_EQ(high, device_max(in.data(), size)) << "of " << size;
  }
}

TYPED_TEST(DeviceReduceMinMax, find_an_extremum_wherever_it_lies) {
  using T = TypeParam;
  constexpr std::size_t size = 40001;
  const std::vector<T> items = middling<T>(size);
  device_vector<T> in(items);
  std::vector<std::size_t> places = {0, 1, 31, 32, 255, 256, 4095, 4096, 16383, size / 2, size - 2};
  for (std::size_t near_end = 1; near_end <= 20; ++near_end) places.push_back(size - near_end);
  for (const std::size_t place : places) {
    for (const T extreme : {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()}) {
      ASSERT_CUDA_SUCCESS(cudaMemcpy(in.data() + place, &extreme, sizeof(T), cudaMemcpyHostToDevice));
      if (extreme == std::numeric_limits<T>::max()) {
        EXPECT_EQ(extreme, device_max(in.data(), size)) << "at " << place;
      } else {
        EXPECT_EQ(extreme, device_min(in.data(), size)) << "at " << place;
      }
    }
    ASSERT_CUDA_SUCCESS(cudaMemcpy(in.data() + place, &items[place], sizeof(T), cudaMemcpyHostToDevice));
  }
}

// All items are equal. A reduction that begins with 0, or with the wrong end of the range, would return a value that is
// not in the input.
TYPED_TEST(DeviceReduceMinMax, of_equal_items_is_that_item) {
  using T = TypeParam;
  for (const T item : {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max(), T{5}}) {
    for (const std::size_t size : sizes{1, 33, 3000}) {
      const device_vector<T> in(std::vector<T>(size, item));
      EXPECT_EQ(item, device_min(in.data(), size));
      EXPECT_EQ(item, device_max(in.data(), size));
    }
  }
}

TYPED_TEST(DeviceReduceMinMax, of_no_items_are_the_ends_of_the_range) {
  using T = TypeParam;
  EXPECT_EQ(std::numeric_limits<T>::max(), device_min(static_cast<const T*>(nullptr), 0));
  EXPECT_EQ(std::numeric_limits<T>::lowest(), device_max(static_cast<const T*>(nullptr), 0));
}

TEST(device_reduce_min_max, overloads_without_storage_do_the_same) {
  const std::vector<int> items = middling<int>(30000);
  const device_vector<int> in(items);
  const stream on;
  EXPECT_EQ(*std::min_element(items.begin(), items.end()),
            result_without_storage<int>([&](int* out) { return DeviceReduce::Min(in.data(), out, items.size()); }));
  EXPECT_EQ(*std::max_element(items.begin(), items.end()), result_without_storage<int>([&](int* out) {
    return DeviceReduce::Max(in.data(), out, items.size(), static_cast<cudaStream_t>(on));
  }));
}

// ------------------------------------------------------------------ floating-point specials

template <class T>
class DeviceReduceMinMaxReal : public ::testing::Test {};
using real_types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DeviceReduceMinMaxReal, real_types);

TYPED_TEST(DeviceReduceMinMaxReal, infinities_are_items_like_others) {
  using T = TypeParam;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  for (const std::size_t size : sizes{1, 40, 5000}) {
    const device_vector<T> high(std::vector<T>(size, infinity));
    const device_vector<T> low(std::vector<T>(size, -infinity));
    EXPECT_EQ(infinity, device_min(high.data(), size));
    EXPECT_EQ(-infinity, device_max(low.data(), size));
  }
}

}  // namespace
