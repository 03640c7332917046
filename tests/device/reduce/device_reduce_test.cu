// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: shapes

// DeviceReduce::Sum and Reduce on numbers.
#include <strata/device/device_reduce.cuh>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"

namespace {

using namespace device_test;
using strata::DeviceReduce;

template <class T>
class DeviceReduceSum : public ::testing::Test {};
using number_types = ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                                      std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(DeviceReduceSum, number_types);

// Numbers whose sums neither overflow a signed type of 32 bits or more nor are rounded.
template <class T>
std::vector<T> summable(std::size_t count, std::uint64_t stream = 0) {
  if constexpr (std::is_floating_point_v<T>) return random_integers<T>(count, -8, 8, stream);
  if constexpr (std::is_signed_v<T>) return random_integers<T>(count, -100, 100, stream);
  return random_integers<T>(count, 0, std::numeric_limits<std::int32_t>::max(), stream);
}

// Sums of integers wrap around as two's complement does.
template <class T>
T exact_sum(const T* first, const T* last) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(std::accumulate(first, last, 0.0));
  } else {
    return static_cast<T>(std::accumulate(first, last, std::uint64_t{0}, [](std::uint64_t sum, T item) {
      return sum + static_cast<std::uint64_t>(item);
    }));
  }
}

template <class T>
T device_sum(const T* in, std::size_t count) {
  return result_of<T>([&](T* out, auto&&... storage) { return DeviceReduce::Sum(storage..., in, out, count); });
}

// Ordinary items lie behind the counted ones, so a kernel that reads too far gives a wrong sum.
TYPED_TEST(DeviceReduceSum, equals_the_sequential_sum_at_every_boundary) {
  const std::vector<std::size_t> lengths = usual_sizes();
  const std::vector<TypeParam> items = summable<TypeParam>(lengths.back() + 4096);
  const device_vector<TypeParam> in(items);
  for (const std::size_t size : lengths) {
    EXPECT_EQ(exact_sum(items.data(), items.data() + size), device_sum(in.data(), size)) << "of " << size;
  }
}

TYPED_TEST(DeviceReduceSum, does_not_care_where_the_input_starts) {
  const std::vector<TypeParam> items = summable<TypeParam>(70000);
  const device_vector<TypeParam> in(items);
  for (const std::size_t size : sizes{1, 2, 17, 5000, 65536}) {
    for (std::size_t start = 0; start <= 16 / sizeof(TypeParam) + 1; ++start) {
      const TypeParam* const first = items.data() + start;
      EXPECT_EQ(exact_sum(first, first + size), device_sum(in.data() + start, size)) << size << " from " << start;
    }
  }
}

TYPED_TEST(DeviceReduceSum, of_every_size_up_to_three_warps) {
  const std::vector<TypeParam> items = summable<TypeParam>(200);
  const device_vector<TypeParam> in(items);
  for (std::size_t size = 0; size <= 100; ++size) {
    EXPECT_EQ(exact_sum(items.data(), items.data() + size), device_sum(in.data(), size)) << "of " << size;
  }
}

TYPED_TEST(DeviceReduceSum, of_ones_counts_them) {
  // Every type represents this sum. It shows any block or item that is left out, or taken twice.
  const std::size_t size = 100;
  const device_vector<TypeParam> in(std::vector<TypeParam>(size, TypeParam{1}));
  EXPECT_EQ(static_cast<TypeParam>(size), device_sum(in.data(), size));
}

// ------------------------------------------------------------------ rounding

// The longest chain of additions bounds the error: to first order, by length * epsilon * sum of |x| (Higham, "The
// accuracy of floating point summation", 1993). Threads and blocks each add a part of the items, so no chain may be
// longer than a few times the square root of n. The error of a single running sum, whose chain has n additions, grows
// beyond this bound.
template <class T>
double error_bound(const std::vector<T>& items) {
  double magnitude = 0;
  for (const T item : items) magnitude += std::abs(static_cast<double>(item));
  const double chain = 2 * std::sqrt(static_cast<double>(items.size())) + 32;
  return chain * static_cast<double>(std::numeric_limits<T>::epsilon()) * magnitude;
}

template <class T>
class DeviceReduceRoundedSum : public ::testing::Test {};
using real_types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DeviceReduceRoundedSum, real_types);

TYPED_TEST(DeviceReduceRoundedSum, is_as_accurate_as_a_tree_of_additions) {
  const auto largest = if_small<std::size_t>(30000, (1 << 20) + 3);
  for (const std::size_t size : sizes{100, 4099, largest}) {
    for (const double low : {-1.0, 0.5}) {
      const std::vector<TypeParam> items = random_reals<TypeParam>(size, low, 1.0, size);
      const device_vector<TypeParam> in(items);
      long double sum = 0;
      for (const TypeParam item : items) sum += static_cast<long double>(item);
      EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(device_sum(in.data(), size)), error_bound(items))
          << size << " from " << low;
    }
  }
}

TYPED_TEST(DeviceReduceRoundedSum, keeps_infinities_and_nans) {
  constexpr TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  std::vector<TypeParam> items(5000, TypeParam{1});
  items[4321] = infinity;
  EXPECT_EQ(infinity, device_sum(device_vector<TypeParam>(items).data(), items.size()));
  items[17] = -infinity;
  EXPECT_TRUE(std::isnan(device_sum(device_vector<TypeParam>(items).data(), items.size())));
}

// ------------------------------------------------------------------ types of the result

TEST(device_reduce, sum_is_carried_in_the_type_of_the_output) {
  const std::size_t size = 70000;
  const std::vector<std::uint8_t> bytes(size, 255);
  const device_vector<std::uint8_t> in(bytes);
  EXPECT_EQ(255ull * size, result_of<std::uint64_t>([&](std::uint64_t* out, auto&&... storage) {
              return DeviceReduce::Sum(storage..., in.data(), out, size);
            }));
}

TEST(device_reduce, sum_of_floats_into_a_double_has_the_accuracy_of_the_double) {
  const std::vector<float> items = random_reals<float>(100003, -1.0, 1.0);
  const device_vector<float> in(items);
  const double sum = std::accumulate(items.begin(), items.end(), 0.0);
  EXPECT_NEAR(sum, result_of<double>([&](double* out, auto&&... storage) {
                return DeviceReduce::Sum(storage..., in.data(), out, items.size());
              }),
              1e-9);
}

TEST(device_reduce, reduce_is_carried_in_the_type_that_the_operator_returns) {
  const std::size_t size = 3000;
  const device_vector<std::int8_t> in(std::vector<std::int8_t>(size, 100));
  EXPECT_EQ(100 * static_cast<int>(size) + 7, result_of<int>([&](int* out, auto&&... storage) {
              return DeviceReduce::Reduce(storage..., in.data(), out, size, strata::Sum{}, 7);
            }));
}

// ------------------------------------------------------------------ Reduce, overloads, counts

TEST(device_reduce, reduce_starts_from_init) {
  const std::vector<int> items = random_integers<int>(40000, -100, 100);
  const device_vector<int> in(items);
  for (const std::size_t size : sizes{0, 1, 33, 4096, 40000}) {
    const auto last = items.begin() + static_cast<std::ptrdiff_t>(size);
    EXPECT_EQ(std::accumulate(items.begin(), last, 1000), result_of<int>([&](int* out, auto&&... storage) {
                return DeviceReduce::Reduce(storage..., in.data(), out, size, strata::Sum{}, 1000);
              }))
        << size;
  }
}

TEST(device_reduce, overloads_without_storage_do_the_same) {
  const std::vector<int> items = random_integers<int>(40000, -100, 100);
  const device_vector<int> in(items);
  const stream on;
  for (const std::size_t size : sizes{0, 1, 33, 4096, 40000}) {
    const auto last = items.begin() + static_cast<std::ptrdiff_t>(size);
    const int sum = std::accumulate(items.begin(), last, 0);
    EXPECT_EQ(sum, result_without_storage<int>([&](int* out) { return DeviceReduce::Sum(in.data(), out, size); }));
    EXPECT_EQ(sum, result_without_storage<int>([&](int* out) {
                return DeviceReduce::Sum(in.data(), out, size, static_cast<cudaStream_t>(on));
              }));
    EXPECT_EQ(sum + 5, result_without_storage<int>([&](int* out) {
                return DeviceReduce::Reduce(in.data(), out, size, strata::Sum{}, 5, static_cast<cudaStream_t>(on));
              }));
  }
}

template <class Count>
int sum_of_first(const int* in, Count count) {
  return result_of<int>([&](int* out, auto&&... storage) { return DeviceReduce::Sum(storage..., in, out, count); });
}

TEST(device_reduce, counts_may_have_any_integer_type) {
  const device_vector<int> in(std::vector<int>(1000, 3));
  EXPECT_EQ(300, sum_of_first(in.data(), static_cast<signed char>(100)));
  EXPECT_EQ(600, sum_of_first(in.data(), static_cast<unsigned char>(200)));
  EXPECT_EQ(3000, sum_of_first(in.data(), static_cast<short>(1000)));
  EXPECT_EQ(3000, sum_of_first(in.data(), 1000));
  EXPECT_EQ(3000, sum_of_first(in.data(), 1000u));
  EXPECT_EQ(3000, sum_of_first(in.data(), std::int64_t{1000}));
  EXPECT_EQ(3000, sum_of_first(in.data(), std::size_t{1000}));
}

TEST(device_reduce, reads_through_a_pointer_to_const_and_leaves_the_input_alone) {
  const std::vector<int> items = random_integers<int>(5000, -100, 100);
  const device_vector<int> in(items);
  const int* const first = in.data();
  sum_of_first(first, items.size());
  EXPECT_EQ(items, in.to_host());
}

TEST(device_reduce, output_may_be_an_item_of_the_input) {
  const std::vector<int> items = random_integers<int>(5000, -100, 100);
  device_vector<int> in(items);
  EXPECT_CUDA_SUCCESS(in_two_phases(
      [&](auto&&... storage) { return DeviceReduce::Sum(storage..., in.data(), in.data(), items.size()); }));
  EXPECT_EQ(std::accumulate(items.begin(), items.end(), 0), in.to_host()[0]);
}

}  // namespace
