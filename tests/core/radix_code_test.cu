// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A code has the digits of its key, and the key can be restored from it.
#include <strata/core/detail/radix_code.hpp>
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
#include <random>
#include <type_traits>
#include <vector>

#include "support/fp8.cuh"
#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace radix_code_test {

using strata::RadixFields;
using strata::detail::radix_codes;
using strata::detail::radix_digits;

template <class T>
using word_of = typename strata::RadixTraits<T>::word;

template <class T>
T from_bits(word_of<T> bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(bits));
  return value;
}

/// Random bit patterns, and those around zero, the sign bit and infinity, where encodings could go wrong.
template <class T>
std::vector<T> keys() {
  using word = word_of<T>;
  constexpr int bits = 8 * static_cast<int>(sizeof(T));
  std::vector<T> result;
  const auto add_about = [&](word middle) {
    for (int d = -2; d <= 2; ++d) {
      result.push_back(from_bits<T>(static_cast<word>(middle + static_cast<word>(d))));
    }
  };
  const word sign = static_cast<word>(word{1} << (bits - 1));
  add_about(0);
  add_about(sign);
  if constexpr (strata::detail::radix_mantissa_bits<T> != 0) {
    constexpr word greatest = strata::detail::radix_greatest_magnitude<T>;
    add_about(greatest);
    add_about(static_cast<word>(sign | greatest));
  }
  std::mt19937_64 random(strata_test::seed());
  for (int i = 0; i < 2000; ++i) result.push_back(from_bits<T>(static_cast<word>(random())));
  return result;
}

template <class T, bool IsDescending>
void expect_codes() {
  using digits_t = radix_digits<T, IsDescending>;
  using codes = radix_codes<digits_t>;
  const digits_t digits{};
  unsigned inexact = 0;
  for (const T& key : keys<T>()) {
    const auto code = codes::encode(key);
    ASSERT_TRUE(strata_test::same_bits(key, codes::decode(code)));
    const bool is_exact = codes::is_exact(code);
    if (is_exact) {
      ASSERT_EQ(code, codes::ordered(code));
    }
    inexact += is_exact ? 0 : 1;
    for (int begin = 0; begin < digits_t::key_bits; begin += 3) {
      for (const int count : {1, 5, 8}) {
        if (begin + count > digits_t::key_bits) continue;
        const unsigned expected = digits(key, begin, count);
        ASSERT_EQ(expected, codes::template digit<false>(digits, code, begin, count)) << begin << ", " << count;
        if (is_exact) {
          ASSERT_EQ(expected, codes::template digit<true>(digits, code, begin, count)) << begin << ", " << count;
        }
      }
    }
  }
  EXPECT_EQ(codes::are_all_exact, inexact == 0);
}

template <class T>
class radix_code : public testing::Test {};
using key_types = testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int32_t, std::uint64_t, std::int64_t,
                                 __nv_fp8_e4m3, __nv_fp8_e5m2, __half, __nv_bfloat16, float, double>;
TYPED_TEST_SUITE(radix_code, key_types);

TYPED_TEST(radix_code, digits_are_those_of_keys) {
  expect_codes<TypeParam, false>();
  expect_codes<TypeParam, true>();
}

TEST(radix_code_of_floats, only_minus_zero_and_nan_are_not_exact) {
  using codes = radix_codes<radix_digits<float, false>>;
  for (const float key : keys<float>()) {
    const bool is_minus_zero = key == 0 && std::signbit(key);
    ASSERT_EQ(!is_minus_zero && !std::isnan(key), codes::is_exact(codes::encode(key))) << key;
  }
}

struct dated {
  short year;
  float weight;
};
struct by_year {
  STRATA_HD RadixFields<short&> operator()(dated& d) const { return {d.year}; }
};

TEST(radix_code_of_fields, a_code_is_the_key) {
  using codes = radix_codes<radix_digits<dated, false, by_year>>;
  static_assert(std::is_same_v<codes::Code, dated> && codes::are_all_exact, "keys as they are");
  const radix_digits<dated, false, by_year> digits{};
  EXPECT_EQ(digits({-7, 1}, 0, 8), codes::digit<true>(digits, codes::encode({-7, 1}), 0, 8));
}

}  // namespace radix_code_test
