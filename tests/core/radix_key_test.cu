// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The order of radix keys, and their digits.
#include <strata/core/launcher.cuh>
#include <strata/core/radix_key.hpp>

#include <gtest/gtest.h>

#if STRATA_HOST_SIMT
#include <strata/simt/half.hpp>
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "support/fp8.cuh"
#include "support/test_support.cuh"

namespace radix_key_test {

using strata::RadixFields;
using strata::RadixTraits;
using strata::detail::radix_digits;

template <class T, class Bits>
T from_bits(Bits bits) {
  static_assert(sizeof(T) == sizeof(Bits), "a bit pattern of the type");
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(bits));
  return value;
}

template <class T>
auto word(T key) {
  return RadixTraits<T>::ordered(key);
}

/// Expects that words increase strictly from key to key.
template <class T>
void expect_increasing(const std::vector<T>& keys) {
  for (std::size_t i = 1; i < keys.size(); ++i) {
    EXPECT_LT(word(keys[i - 1]), word(keys[i])) << "keys " << i - 1 << " and " << i;
  }
}

TEST(radix_key, integers_keep_their_order) {
  expect_increasing<std::int8_t>({-128, -127, -1, 0, 1, 126, 127});
  expect_increasing<std::uint8_t>({0, 1, 127, 128, 255});
  expect_increasing<std::int16_t>({-32768, -1, 0, 1, 32767});
  expect_increasing<char>({std::numeric_limits<char>::min(), 'a', std::numeric_limits<char>::max()});
  expect_increasing<std::int32_t>(
      {std::numeric_limits<std::int32_t>::min(), -2, -1, 0, 1, std::numeric_limits<std::int32_t>::max()});
  expect_increasing<std::uint32_t>({0, 1, 0x7fffffff, 0x80000000, 0xffffffff});
  expect_increasing<std::int64_t>(
      {std::numeric_limits<std::int64_t>::min(), -1, 0, 1, std::numeric_limits<std::int64_t>::max()});
  expect_increasing<std::uint64_t>({0, 1, std::uint64_t{1} << 63, ~std::uint64_t{0}});
  EXPECT_LT(word(false), word(true));
}

/// The code for a key, whose bits are given.
template <class T, class Bits>
auto code(Bits bits) {
  static_assert(std::is_same_v<Bits, typename strata::Traits<T>::UnsignedBits>, "bits of the key");
  return strata::Traits<T>::TwiddleIn(bits);
}

TEST(radix_bits, codes_of_integers_are_words) {
  EXPECT_EQ(code<int>(~0u), word(-1));
  EXPECT_EQ(code<unsigned>(5u), 5u);
  EXPECT_EQ(code<signed char>(std::uint8_t{0x80}), 0);
  EXPECT_EQ(code<bool>(std::uint8_t{1}), 1);
  EXPECT_EQ(code<long long>(0ull), 1ull << 63);
  EXPECT_EQ(code<const int>(0u), 1u << 31);
  EXPECT_EQ(code<long>(0ul), 1ul << (8 * sizeof(long) - 1));
}

TEST(radix_bits, codes_of_floats_order_zeros_and_nans_by_their_bits) {
  const std::vector<std::uint32_t> ascending = {
      0xffffffff, 0xffc00000,                          // NaN with the sign bit, by payload
      0xff800000, 0xbf800000, 0x80000001, 0x80000000,  // -infinity, -1, below zero, -0.0
      0x00000000, 0x00000001, 0x3f800000, 0x7f800000,  // +0.0 to +infinity
      0x7fc00000, 0x7fffffff};                         // NaN
  for (std::size_t i = 1; i < ascending.size(); ++i) {
    EXPECT_LT(code<float>(ascending[i - 1]), code<float>(ascending[i])) << i;
  }
  EXPECT_EQ(code<float>(0xffffffffu), 0u);
  EXPECT_EQ(code<float>(0x7fffffffu), 0xffffffffu);
  EXPECT_EQ(code<double>(0ull), 1ull << 63);
  EXPECT_EQ(code<double>(1ull << 63), (1ull << 63) - 1);
}

template <class T>
void expect_all_bits_come_back() {
  using Bits = typename strata::Traits<T>::UnsignedBits;
  for (unsigned bits = 0; bits <= static_cast<Bits>(~Bits{0}); ++bits) {
    const Bits there = strata::Traits<T>::TwiddleIn(static_cast<Bits>(bits));
    ASSERT_EQ(strata::Traits<T>::TwiddleOut(there), bits);
  }
}

TEST(radix_bits, all_bits_come_back) {
  expect_all_bits_come_back<__half>();
  expect_all_bits_come_back<__nv_bfloat16>();
  expect_all_bits_come_back<__nv_fp8_e4m3>();
  expect_all_bits_come_back<__nv_fp8_e5m2>();
  expect_all_bits_come_back<short>();
  expect_all_bits_come_back<unsigned char>();
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const unsigned long long bits = random();
    EXPECT_EQ(strata::Traits<double>::TwiddleOut(code<double>(bits)), bits);
    EXPECT_EQ(strata::Traits<long long>::TwiddleOut(code<long long>(bits)), bits);
    const auto half = static_cast<std::uint32_t>(bits);
    EXPECT_EQ(strata::Traits<float>::TwiddleOut(code<float>(half)), half);
  }
}

/// The code of any float but -0.0 and NaN is the word that the sorts compare.
TEST(radix_bits, codes_of_ordinary_floats_are_words) {
  for (const float x : {-1e30f, -1.0f, 0.0f, 1e-40f, 3.5f, std::numeric_limits<float>::infinity()}) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof(bits));
    EXPECT_EQ(code<float>(bits), word(x)) << x;
  }
}

STRATA_KERNEL void twiddle(const std::uint32_t* bits, std::uint32_t* codes, std::uint32_t* back) {
  const std::uint32_t code = strata::Traits<float>::TwiddleIn(bits[threadIdx.x]);
  codes[threadIdx.x] = code;
  back[threadIdx.x] = strata::Traits<float>::TwiddleOut(code);
}

TEST(radix_bits, device_code_makes_the_same_codes) {
  const std::vector<std::uint32_t> bits = {0xffffffff, 0xbf800000, 0x80000000, 0, 0x3f800000, 0x7fc00000};
  const strata_test::device_vector<std::uint32_t> in(bits);
  strata_test::device_vector<std::uint32_t> codes(bits.size()), back(bits.size());
  ASSERT_EQ(
      strata::launch({"twiddle", 1, static_cast<unsigned>(bits.size())}, twiddle, in.data(), codes.data(), back.data()),
      cudaSuccess);
  EXPECT_EQ(back.to_host(), bits);
  std::vector<std::uint32_t> expected;
  for (const std::uint32_t each : bits) expected.push_back(code<float>(each));
  EXPECT_EQ(codes.to_host(), expected);
}

enum class color : short { red = -3, green = 0, blue = 7 };

TEST(radix_key, enumerations_are_their_numbers) { expect_increasing<color>({color::red, color::green, color::blue}); }

#if defined(__SIZEOF_INT128__)
TEST(radix_key, integers_of_128_bits) {
  using strata::detail::int128;
  using strata::detail::uint128;
  const int128 big = static_cast<int128>(1) << 100;
  EXPECT_TRUE(word<int128>(-big) < word<int128>(-1));
  EXPECT_TRUE(word<int128>(-1) < word<int128>(0));
  EXPECT_TRUE(word<int128>(0) < word<int128>(big));
  EXPECT_TRUE(word<uint128>(1) < word<uint128>(~static_cast<uint128>(0)));
}
#endif

template <class T>
void expect_order_of_floats() {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T infinity = std::numeric_limits<T>::infinity();
  const T tiny = std::numeric_limits<T>::denorm_min();
  expect_increasing<T>({-infinity, std::numeric_limits<T>::lowest(), T{-1}, -tiny, T{0}, tiny, T{1},
                        std::numeric_limits<T>::max(), infinity, nan});
  EXPECT_EQ(word(T{0}), word(-T{0}));
  EXPECT_EQ(word(nan), word(-nan)) << "a NaN's sign is no matter";
}

TEST(radix_key, floats_with_two_zeros_and_nan_last) {
  expect_order_of_floats<float>();
  expect_order_of_floats<double>();
  EXPECT_EQ(word(from_bits<float>(0x7f800001u)), word(from_bits<float>(0xffffffffu)));
  EXPECT_LT(word(from_bits<float>(0x7f800000u)), word(from_bits<float>(0x7f800001u)));
}

// Compares the words of all bit patterns of a format of 8 or 16 bits with the order of the floats that they represent.
template <class T, class ToFloat>
void expect_order_of_all(ToFloat to_float) {
  constexpr unsigned patterns = 1u << (8 * sizeof(T));
  std::vector<std::vector<float>> by_word(patterns);
  for (unsigned bits = 0; bits < patterns; ++bits) {
    const auto pattern = static_cast<typename RadixTraits<T>::word>(bits);
    by_word[word(from_bits<T>(pattern))].push_back(to_float(pattern));
  }
  float last = -std::numeric_limits<float>::infinity();
  bool is_first = true;
  for (const std::vector<float>& values : by_word) {
    if (values.empty()) continue;
    for (const float value : values) {
      // Equal words are equal numbers, or are all NaN.
      EXPECT_TRUE(value == values.front() || (std::isnan(value) && std::isnan(values.front())));
    }
    if (!is_first && !std::isnan(values.front())) {
      EXPECT_LT(last, values.front());
    }
    EXPECT_FALSE(std::isnan(last)) << "nothing comes behind NaN";
    last = values.front();
    is_first = false;
  }
  EXPECT_TRUE(std::isnan(last));
}

float half_to_float(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) {
    return mantissa != 0 ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
}

TEST(radix_key, all_halves_and_bfloats) {
  expect_order_of_all<__half>(half_to_float);
  expect_order_of_all<__nv_bfloat16>([](std::uint16_t bits) { return from_bits<float>(std::uint32_t{bits} << 16); });
}

TEST(radix_key, all_floats_of_8_bits) {
  expect_order_of_all<__nv_fp8_e4m3>(
      [](std::uint8_t bits) { return strata_test::number_of(from_bits<__nv_fp8_e4m3>(bits)); });
  expect_order_of_all<__nv_fp8_e5m2>(
      [](std::uint8_t bits) { return strata_test::number_of(from_bits<__nv_fp8_e5m2>(bits)); });
}

// ------------------------------------------------------------------ digits

TEST(radix_key, digits_of_numbers) {
  const radix_digits<std::uint32_t, false> up{};
  const radix_digits<std::uint32_t, true> down{};
  EXPECT_EQ(32, up.key_bits);
  EXPECT_EQ(0x78u, up(0x12345678u, 0, 8));
  EXPECT_EQ(0x2u, up(0x12345678u, 24, 4));
  EXPECT_EQ(0x12345678u, up(0x12345678u, 0, 32));
  EXPECT_EQ(0x87u, down(0x12345678u, 0, 8));
  EXPECT_EQ(~0x12345678u, down(0x12345678u, 0, 32));
  const radix_digits<std::int8_t, false> small{};
  EXPECT_EQ(0x7fu, small(-1, 0, 8));
  EXPECT_EQ(1u, small(0, 7, 1));
}

struct event {
  std::uint8_t kind;
  std::int16_t year;
  float weight;
  std::uint64_t payload;
};

struct by_year_weight_kind {
  STRATA_HD RadixFields<std::int16_t&, float&, std::uint8_t&> operator()(event& e) const {
    return {e.year, e.weight, e.kind};
  }
};

TEST(radix_key, digits_of_several_fields_side_by_side) {
  using digits = radix_digits<event, false, by_year_weight_kind>;
  const digits of{};
  EXPECT_EQ(16 + 32 + 8, digits::key_bits);
  std::mt19937_64 bits(7);
  for (int i = 0; i < 200; ++i) {
    event e{static_cast<std::uint8_t>(bits()), static_cast<std::int16_t>(bits()),
            from_bits<float>(static_cast<std::uint32_t>(bits())), bits()};
    const std::uint64_t whole = std::uint64_t{word(e.year)} << 40 | std::uint64_t{word(e.weight)} << 8 | word(e.kind);
    for (int begin = 0; begin < digits::key_bits; ++begin) {
      for (const int count : {1, 3, 8, 11, 32}) {
        if (begin + count > digits::key_bits) continue;
        const std::uint64_t mask = (std::uint64_t{1} << count) - 1;
        ASSERT_EQ(whole >> begin & mask, of(e, begin, count)) << "from bit " << begin << ", " << count;
        const radix_digits<event, true, by_year_weight_kind> down{};
        ASSERT_EQ(~whole >> begin & mask, down(e, begin, count));
      }
    }
  }
}

}  // namespace radix_key_test
