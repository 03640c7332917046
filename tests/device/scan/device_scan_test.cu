// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: shapes

// DeviceScan::ExclusiveSum and InclusiveSum of numbers.
#include <strata/device/device_scan.cuh>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_scan_support.cuh"

namespace {

using namespace device_test;
using strata::DeviceScan;
using strata_test::plain_sum;

template <class T>
class DeviceScanSum : public ::testing::Test {};
#if defined(STRATA_TEST_FEW_TYPES)
using number_types = ::testing::Types<std::int8_t, std::int32_t, double>;
#elif STRATA_HOST_SIMT
using number_types = ::testing::Types<std::int8_t, std::uint16_t, std::int32_t, std::uint64_t, float, double>;
#else
using number_types = ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                                      std::uint32_t, std::int64_t, std::uint64_t, float, double>;
#endif
TYPED_TEST_SUITE(DeviceScanSum, number_types);

// Numbers whose sums are not rounded. Sums of unsigned and of narrow integers wrap around.
template <class T>
std::vector<T> summable(std::size_t count, std::uint64_t stream = 0) {
  if constexpr (std::is_floating_point_v<T>) return random_integers<T>(count, -8, 8, stream);
  if constexpr (std::is_signed_v<T>) return random_integers<T>(count, -100, 100, stream);
  return random_integers<T>(count, 0, std::numeric_limits<std::int32_t>::max(), stream);
}

template <class T>
std::vector<T> exclusive_sums(const T* in, std::size_t count, std::size_t shift = 0) {
  return scan_results<T>(
      count, shift, [&](T* out, auto&&... storage) { return DeviceScan::ExclusiveSum(storage..., in, out, count); });
}
template <class T>
std::vector<T> inclusive_sums(const T* in, std::size_t count, std::size_t shift = 0) {
  return scan_results<T>(
      count, shift, [&](T* out, auto&&... storage) { return DeviceScan::InclusiveSum(storage..., in, out, count); });
}

template <class T>
void expect_sums(const std::vector<T>& items, const T* in, std::size_t start, std::size_t count,
                 std::size_t shift = 0) {
  SCOPED_TRACE(testing::Message() << count << " items from " << start << ", into " << shift);
  const T* const first = items.data() + start;
  EXPECT_SAME_ITEMS(exclusive_scan(first, count, plain_sum{}, T{}), exclusive_sums(in + start, count, shift));
  EXPECT_SAME_ITEMS(inclusive_scan<T>(first, count, plain_sum{}), inclusive_sums(in + start, count, shift));
}

TYPED_TEST(DeviceScanSum, equals_the_sequential_scan_at_every_boundary) {
  const std::vector<std::size_t> lengths = usual_sizes();
  const std::vector<TypeParam> items = summable<TypeParam>(lengths.back() + 4096);
  const device_vector<TypeParam> in(items);
  for (const std::size_t size : lengths) expect_sums(items, in.data(), 0, size);
}

TYPED_TEST(DeviceScanSum, of_every_size_up_to_three_warps) {
  const std::vector<TypeParam> items = summable<TypeParam>(200);
  const device_vector<TypeParam> in(items);
  for (std::size_t size = 0; size <= 100; ++size) expect_sums(items, in.data(), 0, size);
}

TYPED_TEST(DeviceScanSum, does_not_care_where_input_and_output_start) {
  constexpr std::size_t boundary = 16 / sizeof(TypeParam);
  const std::vector<TypeParam> items = summable<TypeParam>(70000);
  const device_vector<TypeParam> in(items);
  for (const std::size_t size : sizes{1, 2, 17, 5000, if_small<std::size_t>(9001, 65536)}) {
    for (std::size_t start = 0; start <= boundary + 1; ++start) {
      expect_sums(items, in.data(), start, size, start);
      expect_sums(items, in.data(), start, size, (3 * start + 1) % (boundary + 2));
    }
  }
}

// With the library's tuning, arrays of this size take the pipeline.
TYPED_TEST(DeviceScanSum, of_many_items) {
  if (is_small()) GTEST_SKIP() << "17 MiB take too long when every access is watched";
  const std::size_t size = large_count<TypeParam>();
  const std::vector<TypeParam> items = summable<TypeParam>(size + 3);
  const device_vector<TypeParam> in(items);
  expect_sums(items, in.data(), 0, size);
  expect_sums(items, in.data(), 1, size, 1);
  expect_sums(items, in.data(), 3, size, 2);
}

TYPED_TEST(DeviceScanSum, in_place) {
  for (const std::size_t size : sizes{0, 1, 33, 5000, if_small<std::size_t>(20000, 1000003)}) {
    SCOPED_TRACE(size);
    for (const std::size_t shift : sizes{0, 1}) {
      const std::vector<TypeParam> items = summable<TypeParam>(size);
      const strata_test::guarded_memory data(size * sizeof(TypeParam), shift * sizeof(TypeParam));
      const auto first = static_cast<TypeParam*>(data.data());
      std::vector<TypeParam> results(size);

      data.write(items.data());
      EXPECT_CUDA_SUCCESS(
          in_two_phases([&](auto&&... storage) { return DeviceScan::ExclusiveSum(storage..., first, size); }));
      data.read(results.data());
      EXPECT_SAME_ITEMS(exclusive_scan(items.data(), size, plain_sum{}, TypeParam{}), results);

      data.write(items.data());
      EXPECT_CUDA_SUCCESS(
          in_two_phases([&](auto&&... storage) { return DeviceScan::InclusiveSum(storage..., first, size); }));
      data.read(results.data());
      EXPECT_SAME_ITEMS(inclusive_scan<TypeParam>(items.data(), size, plain_sum{}), results);
    }
  }
}

TYPED_TEST(DeviceScanSum, of_ones_are_the_numbers) {
  // Every type represents these sums. They show any block or item that is left out, or taken twice.
  const std::size_t size = 100;
  const device_vector<TypeParam> in(std::vector<TypeParam>(size, TypeParam{1}));
  const std::vector<TypeParam> before = exclusive_sums(in.data(), size);
  const std::vector<TypeParam> up_to = inclusive_sums(in.data(), size);
  for (std::size_t i = 0; i < size; ++i) {
    ASSERT_EQ(static_cast<TypeParam>(i), before[i]);
    ASSERT_EQ(static_cast<TypeParam>(i + 1), up_to[i]);
  }
}

// ------------------------------------------------------------------ contracts

TEST(device_scan, reads_through_a_pointer_to_const_and_leaves_the_input_alone) {
  const std::vector<int> items = random_integers<int>(5000, -100, 100);
  const device_vector<int> in(items);
  const int* const first = in.data();
  EXPECT_SAME_ITEMS(inclusive_scan<int>(items.data(), items.size(), plain_sum{}), inclusive_sums(first, items.size()));
  EXPECT_SAME_ITEMS(items, in.to_host());
}

TEST(device_scan, no_items_write_nothing) {
  const device_vector<int> in(std::vector<int>(10, 1));
  device_vector<int> out(10);
  ASSERT_CUDA_SUCCESS(
      in_two_phases([&](auto&&... storage) { return DeviceScan::ExclusiveSum(storage..., in.data(), out.data(), 0); }));
  ASSERT_CUDA_SUCCESS(
      in_two_phases([&](auto&&... storage) { return DeviceScan::InclusiveSum(storage..., in.data(), out.data(), 0); }));
  for (const int item : out.to_host()) EXPECT_TRUE(strata_test::is_poison(item));
}

TEST(device_scan, one_item) {
  const device_vector<int> in(std::vector<int>{42, 7});
  EXPECT_EQ(std::vector<int>{0}, exclusive_sums(in.data(), 1));
  EXPECT_EQ(std::vector<int>{42}, inclusive_sums(in.data(), 1));
}

TEST(device_scan, infinities_and_nans_reach_what_follows_and_nothing_else) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> items(5000, 1.0);
  items[1234] = infinity;
  items[4321] = -infinity;
  const std::vector<double> sums = inclusive_sums(device_vector<double>(items).data(), 5000);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (i < 1234) {
      ASSERT_EQ(static_cast<double>(i + 1), sums[i]);
    } else if (i < 4321) {
      ASSERT_EQ(infinity, sums[i]) << i;
    } else {
      ASSERT_TRUE(std::isnan(sums[i])) << i;
    }
  }
}

// The longest chain of additions bounds the error: to first order, by length * epsilon * sum of |x| (Higham, "The
// accuracy of floating point summation", 1993). Threads, blocks and rounds each add a part of the items, so chains grow
// with the square root of the number of items.
TEST(device_scan, sums_are_as_accurate_as_a_tree_of_additions) {
  for (const std::size_t size : sizes{100, 4099, if_small<std::size_t>(30000, (1 << 20) + 3)}) {
    const std::vector<double> items = random_reals<double>(size, -1.0, 1.0, size);
    const std::vector<double> sums = inclusive_sums(device_vector<double>(items).data(), items.size());
    long double sum = 0;
    double magnitude = 0;
    for (std::size_t i = 0; i < size; ++i) {
      sum += static_cast<long double>(items[i]);
      magnitude += std::abs(items[i]);
      const double chain = 2 * std::sqrt(static_cast<double>(i)) + 64;
      ASSERT_NEAR(static_cast<double>(sum), sums[i], chain * std::numeric_limits<double>::epsilon() * magnitude)
          << i << " of " << size;
    }
  }
}

// ------------------------------------------------------------------ the documented example

cudaError_t offsets_of(const int* d_counts, int* d_offsets, int n, cudaStream_t stream) {
  void* d_temp = nullptr;
  std::size_t bytes = 0;
  cudaError_t status = strata::DeviceScan::ExclusiveSum(nullptr, bytes, d_counts, d_offsets, n);
  if (status == cudaSuccess) status = cudaMalloc(&d_temp, bytes);
  if (status == cudaSuccess) {
    status = strata::DeviceScan::ExclusiveSum(d_temp, bytes, d_counts, d_offsets, n, stream);
  }
  if (status == cudaSuccess) status = cudaStreamSynchronize(stream);
  const cudaError_t freed = cudaFree(d_temp);
  return status == cudaSuccess ? freed : status;
}

TEST(device_scan, runs_on_the_stream_of_the_call) {
  const std::vector<int> counts = random_integers<int>(3000, 0, 9);
  const device_vector<int> in(counts);
  device_vector<int> out(counts.size());
  const stream on;
  ASSERT_CUDA_SUCCESS(offsets_of(in.data(), out.data(), static_cast<int>(counts.size()), on));
  EXPECT_SAME_ITEMS(exclusive_scan(counts.data(), counts.size(), plain_sum{}, 0), out.to_host());
}

}  // namespace
