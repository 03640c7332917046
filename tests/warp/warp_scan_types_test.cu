// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/launcher.cuh>
#include <strata/core/operators.hpp>
#include <strata/warp/warp_scan.cuh>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace {

using namespace strata_test;
using strata::WarpScan;

// Trivially copyable, without a default constructor.
struct alignas(8) strict {
  long long value[5];
  explicit STRATA_HD strict(long long v) : value{v, -v, 2 * v, v, 7} {}
  friend STRATA_HD strict operator+(const strict& a, const strict& b) { return strict(a.value[0] + b.value[3]); }
};
// Memory for a T that only the kernel constructs.
template <class T>
struct alignas(T) raw {
  unsigned char bytes[sizeof(T)];
};

// ---------------------------------------------------------------------------- every type
// Stores inclusive and exclusive results, the same for valid lanes only, and the aggregate.
template <class T, int Width, class Operator>
STRATA_KERNEL void scan_items(const T* in, T* out, int valid_items, Operator op) {
  using scanner = WarpScan<T, Width>;
  STRATA_SHARED(temp_storage, typename scanner::TempStorage);
  scanner scan(temp_storage);
  const T item = in[threadIdx.x], initial = in[Width];
  T inclusive = item, exclusive = item, some = item, some_exclusive = item, aggregate = item;
  scan.Scan(item, inclusive, exclusive, initial, op);
  scan.InclusiveScanPartial(item, some, op, valid_items, aggregate);
  scan.ExclusiveScanPartial(item, some_exclusive, initial, op, valid_items);
  T* const results = out + 5 * threadIdx.x;
  results[0] = inclusive;
  results[1] = exclusive;
  results[2] = some;
  results[3] = some_exclusive;
  results[4] = aggregate;
}

// `items` has one for each lane, and then the initial value.
template <int Width, class T, class Operator>
void test_items(const std::vector<T>& items, std::size_t valid, Operator op) {
  SCOPED_TRACE(testing::Message() << Width << " lanes, valid_items " << valid);
  device_vector<raw<T>> in(Width + 1), out(5 * Width);
  ASSERT_CUDA_SUCCESS(cudaMemcpy(in.data(), items.data(), (Width + 1) * sizeof(T), cudaMemcpyHostToDevice));
  ASSERT_CUDA_SUCCESS(strata::launch({"scan_items", 1, Width}, scan_items<T, Width, Operator>,
                                     reinterpret_cast<const T*>(in.data()), reinterpret_cast<T*>(out.data()),
                                     static_cast<int>(valid), op));
  const std::vector<raw<T>> results = out.to_host();
  const auto is = [&](std::size_t result, const T& expected) {
    return std::memcmp(&results[result], &expected, sizeof(T)) == 0;
  };
  T sum = items[0], sum_with_initial = items[Width];
  const T aggregate = reference_reduce(items, 0, valid, op);
  for (std::size_t lane = 0; lane < Width; ++lane) {
    SCOPED_TRACE(testing::Message() << "lane " << lane);
    const bool is_valid = lane < valid;
    if (lane > 0) sum = static_cast<T>(op(sum, items[lane]));
    ASSERT_TRUE(is(5 * lane + 1, sum_with_initial));
    ASSERT_TRUE(is(5 * lane + 3, is_valid ? sum_with_initial : items[lane]));
    sum_with_initial = static_cast<T>(op(sum_with_initial, items[lane]));
    ASSERT_TRUE(is(5 * lane, sum_with_initial));
    ASSERT_TRUE(is(5 * lane + 2, is_valid ? sum : items[lane]));
    ASSERT_TRUE(is(5 * lane + 4, aggregate));
  }
}

template <class T>
std::vector<T> some_items(std::size_t count, std::uint64_t stream) {
  std::vector<T> items;
  if constexpr (std::is_same_v<T, strict>) {
    for (std::size_t i = 0; i < count; ++i) items.push_back(strict(3LL * static_cast<int>(i) + 1));
  } else {
    // Small numbers, whose sums are exact in each type, so any association gives the same bits.
    items = random_items<T>(count, stream, 7);
  }
  return items;
}

template <class T, class Operator>
void test_whole_warp(Operator op) {
  for (std::size_t valid : {1u, 2u, 19u, 31u, 32u}) {
    test_items<32>(some_items<T>(33, valid), valid, op);
  }
}
template <class T, class Operator>
void test_odd_width(Operator op) {
  for (std::size_t valid : {1u, 4u, 5u}) test_items<5>(some_items<T>(6, valid), valid, op);
}

template <class T>
class warp_scan_of : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using scanned_types = testing::Types<std::int8_t, std::int32_t, __half, int128, bytes3, struct12, words<10>, strict>;
#else
using scanned_types = testing::Types<std::int8_t, std::uint16_t, std::int32_t, std::uint64_t, float, double, __half,
                                     __nv_bfloat16, int128, bytes3, struct12, struct16, words<10>, strict>;
#endif
TYPED_TEST_SUITE(warp_scan_of, scanned_types);

TYPED_TEST(warp_scan_of, any_type_with_any_operator) { test_whole_warp<TypeParam>(plain_sum{}); }

TEST(warp_scan, non_commutative_operators) {
  test_whole_warp<string_hash>(join{});
  test_odd_width<string_hash>(join{});
  test_whole_warp<matrix>(multiply{});
  test_odd_width<words<10>>(plain_sum{});
}

// Idempotent operators, with op(x, x) = x, scan by steps without a comparison of lanes.
template <class T, class Operator, int... Width>
void test_idempotent(Operator op, std::integer_sequence<int, Width...>) {
  const auto test = [&](auto width) {
    constexpr int lanes = decltype(width)::value;
    std::vector<T> items(lanes + 1);
    std::mt19937_64 bits = random_bits(lanes);
    for (T& item : items) item = static_cast<T>(bits() % 251);
    // First in random order, then ascending, where the results of lanes differ.
    for (const bool ascends : {false, true}) {
      if (ascends) std::sort(items.begin(), items.end());
      for (const int valid : {1, (lanes + 1) / 2, lanes}) {
        test_items<lanes>(items, static_cast<std::size_t>(valid), op);
      }
    }
  };
  (test(std::integral_constant<int, Width + 1>{}), ...);
}
#if STRATA_TEST_FEW_TYPES
using scanned_widths = std::integer_sequence<int, 0, 1, 2, 7, 12, 15, 16, 30, 31>;
#else
using scanned_widths = std::make_integer_sequence<int, 32>;
#endif

TEST(warp_scan, extremes_and_bits_of_every_width) {
  test_idempotent<int>(strata::Max{}, scanned_widths{});
  test_idempotent<std::int64_t>(strata::Min{}, scanned_widths{});
  test_idempotent<std::uint8_t>(strata::BitOr{}, scanned_widths{});
  test_idempotent<unsigned>(strata::BitAnd{}, scanned_widths{});
  test_idempotent<float>(strata::Max{}, scanned_widths{});
}

// ---------------------------------------------------------------------------- sums
template <class T, int Width>
STRATA_KERNEL void sums_by_name(const T* in, T* out, int valid) {
  using scanner = WarpScan<T, Width>;
  STRATA_SHARED(temp_storage, typename scanner::TempStorage);
  scanner scan(temp_storage);
  const T item = in[threadIdx.x];
  T* const results = out + 12 * threadIdx.x;
  for (int i = 0; i < 12; ++i) results[i] = item;
  const strata::Sum sum;
  scan.InclusiveSum(item, results[0]);
  scan.InclusiveSum(item, results[1], results[2]);
  scan.ExclusiveSum(item, results[3]);
  scan.ExclusiveSum(item, results[4], results[5]);
  scan.InclusiveScanPartial(item, results[6], sum, valid);
  scan.InclusiveScanPartial(item, results[7], sum, valid, results[8]);
  scan.ExclusiveScanPartial(item, results[9], T{}, sum, valid);
  scan.ExclusiveScanPartial(item, results[10], T{}, sum, valid, results[11]);
}

// Sums of integers run code of their own. Unsigned ones are large enough to wrap around.
template <class T, int Width>
void test_sums() {
  SCOPED_TRACE(testing::Message() << Width << " lanes");
  std::vector<T> items(Width);
  std::mt19937_64 bits = random_bits(Width);
  for (T& item : items) {
    item = static_cast<T>(std::is_integral_v<T> && std::is_unsigned_v<T> ? bits() : bits() % 100);
  }
  constexpr std::size_t valid = Width - 1;
  const device_vector<T> in(items);
  device_vector<T> out(12 * Width);
  ASSERT_CUDA_SUCCESS(strata::launch({"sums_by_name", 1, Width}, sums_by_name<T, Width>, in.data(), out.data(),
                                     static_cast<int>(valid)));
  const std::vector<T> results = out.to_host();
  const plain_sum plus;
  T sum{};
  const T total = reference_reduce(items, plus);
  const T total_of_valid = reference_reduce(items, 0, valid, plus);
  for (std::size_t lane = 0; lane < Width; ++lane) {
    const T before = sum, item = items[lane];
    sum = plus(sum, item);
    const bool is_valid = lane < valid;
    const std::vector<T> expected = {sum,
                                     sum,
                                     total,
                                     before,
                                     before,
                                     total,
                                     is_valid ? sum : item,
                                     is_valid ? sum : item,
                                     total_of_valid,
                                     is_valid ? before : item,
                                     is_valid ? before : item,
                                     total_of_valid};
    ASSERT_EQ(std::vector<T>(results.begin() + static_cast<std::ptrdiff_t>(12 * lane),
                             results.begin() + static_cast<std::ptrdiff_t>(12 * lane + 12)),
              expected)
        << "lane " << lane;
  }
}

template <class T>
class warp_scan_sums : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using summed_types = testing::Types<std::int8_t, std::uint32_t, std::int64_t, float, double>;
#else
using summed_types = testing::Types<std::int8_t, std::uint8_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                                    std::uint64_t, float, double>;
#endif
TYPED_TEST_SUITE(warp_scan_sums, summed_types);
TYPED_TEST(warp_scan_sums, inclusive_and_exclusive) {
  test_sums<TypeParam, 32>();
  test_sums<TypeParam, 6>();
}

// ---------------------------------------------------------------------------- determinism
TEST(warp_scan, sums_of_floats_are_the_same_bits_every_time_for_any_number_of_valid_items) {
  std::mt19937_64 bits = random_bits();
  std::uniform_real_distribution<float> value(-1.0f, 1.0f);
  std::vector<float> items(33);
  for (float& item : items) item = value(bits);
  const device_vector<float> in(items);
  std::vector<float> first;
  for (int valid = 32; valid > 0; --valid) {
    device_vector<float> out(5 * 32);
    ASSERT_CUDA_SUCCESS(strata::launch({"scan_items", 1, 32}, scan_items<float, 32, strata::Sum>, in.data(), out.data(),
                                       valid, strata::Sum{}));
    const std::vector<float> results = out.to_host();
    if (valid == 32) first = results;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (i % 5 == 4 || (i % 5 >= 2 && static_cast<int>(i / 5) >= valid)) continue;
      ASSERT_TRUE(same_bits(results[i], first[i])) << "valid_items " << valid << ", result " << i;
    }
  }
}

// -0.0 is less than 0.0, and any number is less than a NaN.
TEST(warp_scan, minima_of_zeros_and_nans) {
  std::vector<float> items(33, 0.0f);
  items[7] = -0.0f;
  test_items<32>(items, 20, strata::Min{});
  items.assign(33, 1.0f);
  items[0] = std::numeric_limits<float>::quiet_NaN();
  test_items<32>(items, 32, strata::Min{});
}

}  // namespace
