// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceReduce on items that are not built-in numbers of 1 to 8 bytes.
#include <strata/device/device_reduce.cuh>
#if STRATA_HOST_SIMT
#include <strata/simt/half.hpp>
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "device/device_call.cuh"

namespace {

using namespace device_test;
using strata::DeviceReduce;

// ------------------------------------------------------------------ half, bfloat16

struct half_type {
  using type = __half;
  static type from(float x) { return __float2half(x); }
  static float to(type x) { return __half2float(x); }
  static constexpr int exact_integers = 2048;
  static constexpr float max = 65504.0f;
};
struct bfloat16_type {
  using type = __nv_bfloat16;
  static type from(float x) { return __float2bfloat16(x); }
  static float to(type x) { return __bfloat162float(x); }
  static constexpr int exact_integers = 256;
  static constexpr float max = 3.38953139e38f;
};

template <class Kind>
class DeviceReduceHalf : public ::testing::Test {};
using half_types = ::testing::Types<half_type, bfloat16_type>;
TYPED_TEST_SUITE(DeviceReduceHalf, half_types);

template <class Kind>
std::vector<typename Kind::type> narrowed(const std::vector<float>& values) {
  std::vector<typename Kind::type> items;
  for (const float value : values) items.push_back(Kind::from(value));
  return items;
}

TYPED_TEST(DeviceReduceHalf, sum_of_small_integers_is_exact) {
  using T = typename TypeParam::type;
  for (const std::size_t size : sizes{0, 1, 7, 8, 9, 33, 200, 20000}) {
    // As many ones as the type can count exactly, spread over zeros.
    std::vector<float> values(size, 0.0f);
    const std::size_t ones = std::min<std::size_t>(size, TypeParam::exact_integers);
    for (std::size_t i = 0; i < ones; ++i) values[i * (size / ones)] = 1.0f;
    const device_vector<T> in(narrowed<TypeParam>(values));
    const T sum =
        result_of<T>([&](T* out, auto&&... storage) { return DeviceReduce::Sum(storage..., in.data(), out, size); });
    EXPECT_EQ(static_cast<float>(ones), TypeParam::to(sum)) << size;
  }
}

// std::numeric_limits does not know these types, so a reduction that uses it would begin with 0.
TYPED_TEST(DeviceReduceHalf, extrema_have_the_right_sign) {
  using T = typename TypeParam::type;
  std::vector<float> values = random_integers<float>(5001, 1, 200);
  const auto extremum = [](const device_vector<T>& in, std::size_t size, bool is_max) {
    return TypeParam::to(result_of<T>([&](T* out, auto&&... storage) {
      return is_max ? DeviceReduce::Max(storage..., in.data(), out, size)
                    : DeviceReduce::Min(storage..., in.data(), out, size);
    }));
  };
  const device_vector<T> positive(narrowed<TypeParam>(values));
  for (const std::size_t size : sizes{1, 31, 64, 5001}) {
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(size);
    EXPECT_EQ(*std::min_element(values.begin(), end), extremum(positive, size, false)) << size;
    EXPECT_EQ(*std::max_element(values.begin(), end), extremum(positive, size, true)) << size;
  }
  for (float& value : values) value = -value;
  const device_vector<T> negative(narrowed<TypeParam>(values));
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), extremum(negative, 5001, true));
  EXPECT_EQ(TypeParam::max, extremum(negative, 0, false));
  EXPECT_EQ(-TypeParam::max, extremum(negative, 0, true));
}

struct add_floats {
  STRATA_HD float operator()(float a, float b) const { return a + b; }
};

TYPED_TEST(DeviceReduceHalf, may_be_added_up_in_float) {
  using T = typename TypeParam::type;
  const std::vector<float> values = random_integers<float>(30000, -100, 100);
  const device_vector<T> in(narrowed<TypeParam>(values));
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0.5f), result_of<float>([&](float* out, auto&&... storage) {
              return DeviceReduce::Reduce(storage..., in.data(), out, values.size(), add_floats{}, 0.5f);
            }));
}

TYPED_TEST(DeviceReduceHalf, arg_max_finds_the_first) {
  using T = typename TypeParam::type;
  const std::vector<float> values = random_integers<float>(5001, -100, 100);
  const device_vector<T> in(narrowed<TypeParam>(values));
  device_vector<T> value(1);
  device_vector<std::int64_t> index(1);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceReduce::ArgMax(storage..., in.data(), value.data(), index.data(),
                                static_cast<std::int64_t>(values.size()));
  }));
  const auto high = std::max_element(values.begin(), values.end());
  EXPECT_EQ(*high, TypeParam::to(value.to_host()[0]));
  EXPECT_EQ(high - values.begin(), index.to_host()[0]);
}

// ------------------------------------------------------------------ 128-bit integers

TEST(device_reduce_types, integers_of_128_bits) {
  using wide = __int128;
  const auto words = random_integers<std::int64_t>(20002, -1000000000000ll, 1000000000000ll);
  std::vector<wide> items(words.size() / 2);
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i] = static_cast<wide>(words[2 * i]) * 0x123456789abcdef0ll + words[2 * i + 1];
  }
  const device_vector<wide> in(items);
  for (const std::size_t size : sizes{1, 31, 33, 513, 10001}) {
    const auto end = items.begin() + static_cast<std::ptrdiff_t>(size);
    EXPECT_TRUE(std::accumulate(items.begin(), end, wide{0}) == result_of<wide>([&](wide* out, auto&&... storage) {
                  return DeviceReduce::Sum(storage..., in.data(), out, size);
                }))
        << size;
    EXPECT_TRUE(*std::min_element(items.begin(), end) == result_of<wide>([&](wide* out, auto&&... storage) {
      return DeviceReduce::Min(storage..., in.data(), out, size);
    })) << size;
    EXPECT_TRUE(*std::max_element(items.begin(), end) == result_of<wide>([&](wide* out, auto&&... storage) {
      return DeviceReduce::Max(storage..., in.data(), out, size);
    })) << size;
  }
  const wide lowest = static_cast<wide>(static_cast<unsigned __int128>(1) << 127);
  EXPECT_TRUE(lowest == result_of<wide>([&](wide* out, auto&&... storage) {
                return DeviceReduce::Max(storage..., in.data(), out, 0);
              }));
}

TEST(device_reduce_types, booleans_are_counted) {
  const std::vector<std::uint8_t> values = random_integers<std::uint8_t>(5003, 0, 1);
  const device_vector<std::uint8_t> bytes(values);
  const auto* const in = reinterpret_cast<const bool*>(bytes.data());
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0), result_of<int>([&](int* out, auto&&... storage) {
              return DeviceReduce::Sum(storage..., in, out, values.size());
            }));
}

// ------------------------------------------------------------------ structs

struct point {
  std::int64_t x;
  std::int32_t y;
  std::int32_t z;
  friend STRATA_HD bool operator==(const point& a, const point& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
};
struct add_points {
  STRATA_HD point operator()(const point& a, const point& b) const { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
};

// 40 bytes. Default construction does not give zeros.
struct moments {
  double sum = -1;
  std::int64_t count = -1;
  std::int64_t low = -1;
  std::int64_t high = -1;
  float weight = -1;

  friend STRATA_HD bool operator==(const moments& a, const moments& b) {
    return a.sum == b.sum && a.count == b.count && a.low == b.low && a.high == b.high && a.weight == b.weight;
  }
};
struct merge_moments {
  STRATA_HD moments operator()(const moments& a, const moments& b) const {
    moments merged;
    merged.sum = a.sum + b.sum;
    merged.count = a.count + b.count;
    merged.low = a.low < b.low ? a.low : b.low;
    merged.high = a.high < b.high ? b.high : a.high;
    merged.weight = a.weight + b.weight;
    return merged;
  }
};

// 3 bytes, alignment 1.
struct colour {
  std::uint8_t r, g, b;
  friend STRATA_HD bool operator==(const colour& p, const colour& q) { return p.r == q.r && p.g == q.g && p.b == q.b; }
};
struct mix {
  STRATA_HD colour operator()(const colour& p, const colour& q) const {
    return {static_cast<std::uint8_t>(p.r + q.r), static_cast<std::uint8_t>(p.g ^ q.g),
            static_cast<std::uint8_t>(p.b < q.b ? q.b : p.b)};
  }
};

template <class T, class Operator, class Make>
void expect_same_as_accumulate(Operator op, T init, const Make& make) {
  const std::vector<std::size_t> lengths = boundary_sizes(if_small<std::size_t>(4100, 33000));
  std::vector<T> items;
  for (std::size_t i = 0; i < lengths.back() + 5; ++i) items.push_back(make(i));
  const device_vector<T> in(items);
  for (const std::size_t size : lengths) {
    const std::size_t start = size % 4;
    const auto first = items.begin() + static_cast<std::ptrdiff_t>(start);
    const T expected = std::accumulate(first, first + static_cast<std::ptrdiff_t>(size), init, op);
    const T reduced = result_of<T>([&](T* out, auto&&... storage) {
      return DeviceReduce::Reduce(storage..., in.data() + start, out, size, op, init);
    });
    EXPECT_TRUE(expected == reduced) << size;
  }
}

TEST(device_reduce_types, structs_of_16_bytes) {
  const auto values = random_integers<int>(40000, -1000, 1000);
  expect_same_as_accumulate(add_points{}, point{1, 2, 3}, [&](std::size_t i) {
    return point{values[i] * 1000000000ll, values[i], -values[i] / 2};
  });
}

TEST(device_reduce_types, structs_of_40_bytes) {
  const auto values = random_integers<int>(40000, -100, 100);
  expect_same_as_accumulate(merge_moments{}, moments{}, [&](std::size_t i) {
    moments m;
    m.sum = values[i];
    m.count = 1;
    m.low = m.high = values[i];
    m.weight = static_cast<float>(values[i] % 3);
    return m;
  });
}

TEST(device_reduce_types, structs_of_3_bytes) {
  const auto values = random_integers<std::uint32_t>(40000, 0, 0xffffff);
  expect_same_as_accumulate(mix{}, colour{1, 2, 3}, [&](std::size_t i) {
    return colour{static_cast<std::uint8_t>(values[i]), static_cast<std::uint8_t>(values[i] >> 8),
                  static_cast<std::uint8_t>(values[i] >> 16)};
  });
}

}  // namespace
