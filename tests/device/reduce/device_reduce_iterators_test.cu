// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceReduce over iterators that are not pointers.
#include <strata/device/device_reduce.cuh>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "device/device_call.cuh"
#include "device/test_iterators.cuh"

namespace {

using namespace device_test;
using strata::DeviceReduce;

template <class T, class Iterator>
T device_sum(Iterator in, std::size_t count) {
  return result_of<T>([&](T* out, auto&&... storage) { return DeviceReduce::Sum(storage..., in, out, count); });
}

TEST(device_reduce_iterators, counting) {
  for (const std::size_t size : usual_sizes()) {
    const auto n = static_cast<std::int64_t>(size);
    EXPECT_EQ(n * (n - 1) / 2 + 7 * n, device_sum<std::int64_t>(counting<std::int64_t>(7), size)) << size;
  }
}

TEST(device_reduce_iterators, may_point_into_the_middle) {
  const counting<std::int64_t> start = counting<std::int64_t>(0) + 1000;
  EXPECT_EQ(1000 * 5000 + 5000 * 4999 / 2, device_sum<std::int64_t>(start, 5000));
}

TEST(device_reduce_iterators, constant) { EXPECT_EQ(3 * 54321, device_sum<int>(constant<int>(3), 54321)); }

struct square {
  STRATA_HD std::int64_t operator()(int x) const { return static_cast<std::int64_t>(x) * x; }
};

TEST(device_reduce_iterators, transformed_pointer) {
  const std::vector<int> items = random_integers<int>(30001, -1000, 1000);
  const device_vector<int> in(items);
  std::int64_t expected = 0;
  for (const int item : items) expected += square{}(item);
  EXPECT_EQ(expected, device_sum<std::int64_t>(transforming<const int*, square>(in.data(), square{}), items.size()));
}

TEST(device_reduce_iterators, strided_forwards_and_backwards) {
  const std::vector<int> items = random_integers<int>(3 * 10000, -1000, 1000);
  const device_vector<int> in(items);
  int third = 0;
  for (std::size_t i = 1; i < items.size(); i += 3) third += items[i];
  EXPECT_EQ(third, device_sum<int>(strided<const int>(in.data() + 1, 3), 10000));
  EXPECT_EQ(std::accumulate(items.begin(), items.end(), 0),
            device_sum<int>(strided<const int>(in.data() + items.size() - 1, -1), items.size()));
}

TEST(device_reduce_iterators, proxy_references) {
  const std::vector<unsigned> words = random_integers<unsigned>(1000, 0, 0xffffffffll);
  const device_vector<unsigned> in(words);
  int expected = 0;
  for (std::size_t i = 0; i < 31999; ++i) expected += (words[i / 32] >> i % 32 & 1u) != 0;
  EXPECT_EQ(expected, device_sum<int>(bits(in.data()), 31999));
}

struct last {
  STRATA_HD std::int64_t operator()(std::int64_t, std::int64_t b) const { return b; }
};

TEST(device_reduce_iterators, differences_can_tell_all_items) {
  const device_vector<int> items(std::vector<int>(200, 1));
  const auto sum_of = [&](int count) {
    device_vector<int> out(1);
    const cudaError_t status = in_two_phases([&](void* storage, std::size_t& bytes) {
      return DeviceReduce::Sum(storage, bytes, with_difference<int, signed char>(items.data()), out.data(), count);
    });
    if (status == cudaSuccess) {
      EXPECT_EQ(count, out.to_host()[0]);
    }
    return status;
  };
  EXPECT_CUDA_SUCCESS(sum_of(128));
  EXPECT_EQ(cudaErrorInvalidValue, sum_of(129));
}

TEST(device_reduce_iterators, order_is_kept) {
  for (const std::size_t size : boundary_sizes(if_small<std::size_t>(5000, 40000))) {
    EXPECT_EQ(static_cast<std::int64_t>(size) - 1, result_of<std::int64_t>([&](std::int64_t* out, auto&&... storage) {
                return DeviceReduce::Reduce(storage..., counting<std::int64_t>(0), out, size, last{}, std::int64_t{-1});
              }))
        << size;
  }
}

// Multiples of 7919 modulo the prime 104729. Each value occurs once, and extrema lie anywhere.
struct scatter {
  STRATA_HD std::int64_t operator()(std::int64_t x) const { return x * 7919 % 104729; }
};

TEST(device_reduce_iterators, arg_extrema) {
  const transforming<counting<std::int64_t>, scatter> in(counting<std::int64_t>(5), scatter{});
  constexpr std::int64_t size = 50000;
  std::vector<std::int64_t> items(size);
  for (std::int64_t i = 0; i < size; ++i) items[static_cast<std::size_t>(i)] = in[i];
  device_vector<std::int64_t> value(1);
  device_vector<std::int64_t> index(1);
  ASSERT_CUDA_SUCCESS(in_two_phases(
      [&](auto&&... storage) { return DeviceReduce::ArgMax(storage..., in, value.data(), index.data(), size); }));
  const auto high = std::max_element(items.begin(), items.end());
  EXPECT_EQ(*high, value.to_host()[0]);
  EXPECT_EQ(high - items.begin(), index.to_host()[0]);
}

// ------------------------------------------------------------------ outputs

TEST(device_reduce_iterators, output_without_a_value_type_takes_the_type_of_the_items) {
  for (const std::size_t size : sizes{0, 5, 10000}) {
    const int n = static_cast<int>(size);
    EXPECT_EQ(n * (n - 1), result_of<int>([&](int* out, auto&&... storage) {
                return DeviceReduce::Sum(storage..., counting<int>(0), doubling_output<int>(out), size);
              }));
    EXPECT_EQ(2 * std::max(n - 1, -9), result_of<int>([&](int* out, auto&&... storage) {
                return DeviceReduce::Reduce(storage..., counting<int>(0), doubling_output<int>(out), size,
                                            strata::Max{}, n > 0 ? -9 : -1);
              }));
  }
}

TEST(device_reduce_iterators, arg_extrema_write_through_iterators) {
  device_vector<std::int64_t> out(2);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceReduce::ArgMax(storage..., counting<std::int64_t>(100), doubling_output<std::int64_t>(out.data()),
                                strided<std::int64_t>(out.data() + 1, 5), std::int64_t{3000});
  }));
  EXPECT_EQ((std::vector<std::int64_t>{2 * 3099, 2999}), out.to_host());
}

}  // namespace
