// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceReduce::TransformReduce.
#include <strata/device/device_reduce.cuh>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"

namespace {

using namespace device_test;
using strata::DeviceReduce;

struct is_newline {
  STRATA_HD long long operator()(char c) const { return c == '\n' ? 1 : 0; }
};

TEST(device_transform_reduce, counts_what_a_predicate_selects) {
  const std::vector<std::size_t> lengths = usual_sizes();
  std::vector<char> text = random_integers<char>(lengths.back() + 20, ' ', 'z');
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] % 11 == 0) text[i] = '\n';
  }
  const device_vector<char> in(text);
  for (const std::size_t size : lengths) {
    const std::size_t start = size % 19;
    const auto first = text.begin() + static_cast<std::ptrdiff_t>(start);
    EXPECT_EQ(std::count(first, first + static_cast<std::ptrdiff_t>(size), '\n'),
              result_of<long long>([&](long long* out, auto&&... storage) {
                return DeviceReduce::TransformReduce(storage..., in.data() + start, out, size, strata::Sum{},
                                                     is_newline{}, 0ll);
              }))
        << size;
  }
}

struct square {
  STRATA_HD double operator()(float x) const { return static_cast<double>(x) * x; }
};

// If init were transformed, too, it would count as 49.
TEST(device_transform_reduce, does_not_transform_init) {
  const std::vector<float> items = random_integers<float>(20000, -50, 50);
  const device_vector<float> in(items);
  for (const std::size_t size : sizes{0, 1, 100, 20000}) {
    double expected = 7;
    for (std::size_t i = 0; i < size; ++i) expected += square{}(items[i]);
    EXPECT_EQ(expected, result_of<double>([&](double* out, auto&&... storage) {
                return DeviceReduce::TransformReduce(storage..., in.data(), out, size, strata::Sum{}, square{}, 7.0);
              }))
        << size;
  }
}

// 64-bit sums of values that are computed from bytes: nvcc 13.0 could not compile some of them.
template <class Byte>
struct square_plus_one {
  STRATA_HD std::int64_t operator()(Byte x) const { return std::int64_t{x} * x + 1; }
};
template <class Byte>
struct polynomial {
  STRATA_HD std::uint64_t operator()(Byte x) const {
    return static_cast<std::uint64_t>(x) * x * x + static_cast<std::uint64_t>(x) + 5;
  }
};
struct two_sums {
  std::int64_t first, second;
};
struct add_both {
  STRATA_HD two_sums operator()(const two_sums& a, const two_sums& b) const {
    return {a.first + b.first, a.second + b.second};
  }
};
template <class Byte>
struct in_two_ways {
  STRATA_HD two_sums operator()(Byte x) const { return {std::int64_t{x} * x + 1, std::int64_t{x} + 3}; }
};
struct plus_in_order {
  STRATA_HD std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a + b; }
};

template <class Byte>
class DeviceTransformReduceBytes : public ::testing::Test {};
using byte_types = ::testing::Types<std::uint8_t, std::int8_t, char, bool>;
TYPED_TEST_SUITE(DeviceTransformReduceBytes, byte_types);

TYPED_TEST(DeviceTransformReduceBytes, sums_of_64_bits) {
  using Byte = TypeParam;
  const std::size_t most = if_small<std::size_t>(20000, 1000003);
  std::vector<unsigned char> bytes = random_integers<unsigned char>(most, 0, 255);
  for (unsigned char& byte : bytes) byte = std::is_same_v<Byte, bool> ? byte % 2 : byte;
  device_vector<Byte> in(most);
  ASSERT_CUDA_SUCCESS(cudaMemcpy(in.data(), bytes.data(), most, cudaMemcpyHostToDevice));
  for (const std::size_t size : sizes{1, 17, 5000, most - 3, most}) {
    std::int64_t squares = 7;
    std::int64_t others = 0;
    std::uint64_t polynomials = 7;
    for (std::size_t i = 0; i < size; ++i) {
      const auto x = static_cast<Byte>(bytes[i]);
      squares += square_plus_one<Byte>{}(x);
      others += in_two_ways<Byte>{}(x).second;
      polynomials += polynomial<Byte>{}(x);
    }
    const auto reduced = [&](auto op, auto transform, auto init) {
      using T = decltype(init);
      return result_of<T>([&](T* out, auto&&... storage) {
        return DeviceReduce::TransformReduce(storage..., in.data(), out, size, op, transform, init);
      });
    };
    const std::int64_t seven = 7;
    EXPECT_EQ(squares, reduced(strata::Sum{}, square_plus_one<Byte>{}, seven));
    EXPECT_EQ(squares, reduced(plus_in_order{}, square_plus_one<Byte>{}, seven));
    EXPECT_EQ(polynomials, reduced(strata::Sum{}, polynomial<Byte>{}, std::uint64_t{7}));
    const two_sums both = reduced(add_both{}, in_two_ways<Byte>{}, two_sums{7, 0});
    EXPECT_EQ(squares, both.first);
    EXPECT_EQ(others, both.second);
  }
}

// Counts its applications to each item. Values that are no items are counted as strays.
struct record_application {
  unsigned* applications;
  unsigned* strays;
  std::uint32_t size;

  STRATA_D std::uint32_t operator()(std::uint32_t item) const {
    if (item < size) {
      atomicAdd(applications + item, 1u);
    } else {
      atomicAdd(strays, 1u);
    }
    return item;
  }
};

TEST(device_transform_reduce, transforms_each_item_once_and_nothing_else) {
  for (const std::size_t size : boundary_sizes(if_small<std::size_t>(3000, 50000))) {
    const std::size_t start = size % 5;
    std::vector<std::uint32_t> items(size + 64, 0xfffffff0u);
    const auto first = items.begin() + static_cast<std::ptrdiff_t>(start);
    std::iota(first, first + static_cast<std::ptrdiff_t>(size), 0u);
    const device_vector<std::uint32_t> in(items);
    device_vector<unsigned> applications(std::vector<unsigned>(size + 1, 0u));
    unsigned* const strays = applications.data() + size;
    const auto last = result_of<std::uint32_t>([&](std::uint32_t* out, auto&&... storage) {
      return DeviceReduce::TransformReduce(
          storage..., in.data() + start, out, size, strata::Max{},
          record_application{applications.data(), strays, static_cast<std::uint32_t>(size)}, 0u);
    });
    ASSERT_EQ(size == 0 ? 0 : size - 1, last) << size;
    std::vector<unsigned> expected(size + 1, 1u);
    expected[size] = 0;
    ASSERT_EQ(expected, applications.to_host()) << size;
  }
}

// Items are transformed in packs of 16. Their order must be kept.
struct digit {
  std::uint32_t factor;
  std::uint32_t value;
};
struct to_digit {
  STRATA_HD digit operator()(std::uint8_t item) const { return {31, item}; }
};
struct append {
  STRATA_HD digit operator()(const digit& a, const digit& b) const {
    return {a.factor * b.factor, a.value * b.factor + b.value};
  }
};

TEST(device_transform_reduce, hashes_bytes_in_order) {
  for (const std::size_t size : sizes{0, 1, 15, 16, 17, 1000, 8193, 40000, 300000}) {
    if (is_small() && size > 100000) continue;
    const std::vector<std::uint8_t> items = random_integers<std::uint8_t>(size + 3, 0, 255, size);
    const device_vector<std::uint8_t> in(items);
    std::uint32_t hash = 0;
    for (std::size_t i = 3; i < items.size(); ++i) hash = hash * 31 + items[i];
    const digit reduced = result_of<digit>([&](digit* out, auto&&... storage) {
      return DeviceReduce::TransformReduce(storage..., in.data() + 3, out, size, append{}, to_digit{}, digit{1, 0});
    });
    EXPECT_EQ(hash, reduced.value) << size;
  }
}

// With items of 8 KiB, several blocks have enough to do, but fewer items than threads.
struct record {
  std::uint32_t key;
  std::uint32_t rest[2047];
};
struct key_of {
  STRATA_HD std::uint32_t operator()(const record& item) const { return item.key; }
};

TEST(device_transform_reduce, takes_items_of_8_kilobytes) {
  for (const std::size_t size : sizes{1, 4, 5, 6, 7, 8, 9, 15, 16, 17, 40}) {
    std::vector<record> items(size);
    std::uint32_t expected = 0;
    for (std::size_t i = 0; i < size; ++i) {
      items[i].key = static_cast<std::uint32_t>(i * i + 1);
      expected += items[i].key;
    }
    const device_vector<record> in(items);
    EXPECT_EQ(expected, result_of<std::uint32_t>([&](std::uint32_t* out, auto&&... storage) {
                return DeviceReduce::TransformReduce(storage..., in.data(), out, size, strata::Sum{}, key_of{}, 0u);
              }))
        << size;
  }
}

TEST(device_transform_reduce, overload_without_storage_does_the_same) {
  const std::vector<float> items = random_integers<float>(20000, -50, 50);
  const device_vector<float> in(items);
  double expected = 0;
  for (const float item : items) expected += square{}(item);
  const stream on;
  EXPECT_EQ(expected, result_without_storage<double>([&](double* out) {
              return DeviceReduce::TransformReduce(in.data(), out, items.size(), strata::Sum{}, square{}, 0.0);
            }));
  EXPECT_EQ(expected, result_without_storage<double>([&](double* out) {
              return DeviceReduce::TransformReduce(in.data(), out, items.size(), strata::Sum{}, square{}, 0.0,
                                                   static_cast<cudaStream_t>(on));
            }));
}

}  // namespace
