// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/launcher.cuh>
#include <strata/core/operators.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace {

using namespace strata_test;
using strata::hardware_reduction;
using strata::KeyValuePair;
using strata::operator_traits;

// ---------------------------------------------------------------------------- values
template <class T, class Operator, class Result>
STRATA_KERNEL void apply_to_all_pairs(const T* items, unsigned count, Result* out, Operator op) {
  for (unsigned i = 0; i < count; ++i) {
    out[threadIdx.x * count + i] = op(items[threadIdx.x], items[i]);
  }
}

/// Checks op(a, b) for all pairs of items, on the host and on the device.
template <class T, class Operator, class Reference>
void test_pairs(const std::vector<T>& items, Operator op, Reference expected) {
  // A vector of bool has no data().
  using value = decltype(op(items[0], items[0]));
  using result = std::conditional_t<std::is_same_v<value, bool>, char, value>;
  const auto count = static_cast<unsigned>(items.size());
  const device_vector<T> in(items);
  device_vector<result> out(count * count);
  ASSERT_CUDA_SUCCESS(strata::launch({"apply_to_all_pairs", 1, count},
                                     apply_to_all_pairs<T, Operator, result>, in.data(), count,
                                     out.data(), op));
  const std::vector<result> results = out.to_host();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const T& a = items[i / count];
    const T& b = items[i % count];
    const auto right = static_cast<result>(expected(a, b));
    EXPECT_TRUE(same_bits(static_cast<result>(op(a, b)), right))
        << "on the host, items " << i / count << ", " << i % count;
    EXPECT_TRUE(same_bits(results[i], right))
        << "on the device, items " << i / count << ", " << i % count;
  }
}

const float nan = std::numeric_limits<float>::quiet_NaN();
const float infinity = std::numeric_limits<float>::infinity();
const std::vector<float> floats = {0.0f, -0.0f, 1.5f, -3.0f, 1e-40f, infinity, -infinity};
const std::vector<int> integers = {0, 1, -1, 77, 1 << 20, -(1 << 20)};
const std::vector<std::uint8_t> bytes = {0, 1, 200, 255};

TEST(operators, sum_has_the_type_of_plus) {
  test_pairs(integers, strata::Sum{}, [](int a, int b) { return a + b; });
  test_pairs(bytes, strata::Sum{}, [](int a, int b) { return a + b; });  // up to 510: an int
  static_assert(std::is_same_v<decltype(strata::Sum{}(short{1}, short{2})), int>);
  static_assert(std::is_same_v<decltype(strata::Sum{}(1, 0.5)), double>);
  const std::vector<struct16> structs = random_items<struct16>(3);
  test_pairs(structs, strata::Sum{}, [](const auto& a, const auto& b) { return a + b; });
  const std::vector<__half> halves = random_items<__half>(4);
  test_pairs(halves, strata::Sum{}, [](float a, float b) { return __half(a + b); });
}

TEST(operators, extremes_take_the_first_of_equals) {
  test_pairs(integers, strata::Min{}, [](int a, int b) { return a < b ? a : b; });
  test_pairs(integers, strata::Max{}, [](int a, int b) { return a > b ? a : b; });
  test_pairs(floats, strata::Min{}, [](float a, float b) { return b < a ? b : a; });
  test_pairs(floats, strata::Max{}, [](float a, float b) { return a < b ? b : a; });
  EXPECT_TRUE(std::signbit(strata::Min{}(-0.0f, 0.0f)));
  EXPECT_FALSE(std::signbit(strata::Min{}(0.0f, -0.0f)));
  static_assert(std::is_same_v<decltype(strata::Min{}(1, 2ll)), long long>);
}

TEST(operators, extremes_take_the_first_of_unordered_floats) {
  EXPECT_TRUE(std::isnan(strata::Min{}(nan, 1.0f)));
  EXPECT_EQ(strata::Min{}(1.0f, nan), 1.0f);
  EXPECT_TRUE(std::isnan(strata::Max{}(nan, 1.0f)));
  EXPECT_EQ(strata::Max{}(1.0f, nan), 1.0f);
  const std::vector<float> numbers = {nan, 1.0f, -2.0f};
  test_pairs(numbers, strata::Max{}, [](float a, float b) { return a < b ? b : a; });
}

TEST(operators, bits_stay_in_the_type) {
  test_pairs(bytes, strata::BitAnd{}, [](int a, int b) { return a & b; });
  test_pairs(bytes, strata::BitOr{}, [](int a, int b) { return a | b; });
  test_pairs(bytes, strata::BitXor{}, [](int a, int b) { return a ^ b; });
  static_assert(std::is_same_v<decltype(strata::BitOr{}(bytes[0], bytes[0])), std::uint8_t>);
}

using pair = KeyValuePair<std::int64_t, double>;  // no padding: compared bit for bit

bool is_better(const pair& a, const pair& b, bool smaller) {
  if (a.value == b.value) return a.key < b.key;
  return smaller ? a.value < b.value : a.value > b.value;
}

TEST(operators, arg_extremes_take_the_smaller_index_of_equal_values) {
  const std::vector<pair> pairs = {{0, 1.0},         {1, 1.0},  {5, -2.0},     {4, -2.0},
                                   {1ll << 40, 0.0}, {7, -0.0}, {9, infinity}, {3, -infinity}};
  test_pairs(pairs, strata::ArgMin{},
             [](const pair& a, const pair& b) { return is_better(b, a, true) ? b : a; });
  test_pairs(pairs, strata::ArgMax{},
             [](const pair& a, const pair& b) { return is_better(b, a, false) ? b : a; });
}

struct same_last_digit {
  STRATA_HD bool operator()(int a, int b) const { return a % 10 == b % 10; }
};

TEST(operators, inequality_negates_and_cast_converts) {
  test_pairs(std::vector<int>{1, 2, 12, 21}, strata::InequalityWrapper<same_last_digit>{},
             [](int a, int b) { return a % 10 != b % 10; });
  test_pairs(std::vector<int>{1, 2, 12, 21},
             strata::InequalityWrapper<same_last_digit>(same_last_digit{}),
             [](int a, int b) { return a % 10 != b % 10; });
  EXPECT_EQ(strata::CastOp<int>{}(2.75), 2);
  static_assert(std::is_same_v<decltype(strata::CastOp<short>{}(7)), short>);
}

// ---------------------------------------------------------------------------- traits
template <class Operator, class T>
STRATA_KERNEL void apply_identity(const T* items, T* out) {
  const T identity = operator_traits<Operator, T>::identity();
  const T item = items[threadIdx.x];
  out[2 * threadIdx.x] = static_cast<T>(Operator{}(identity, item));
  out[2 * threadIdx.x + 1] = static_cast<T>(Operator{}(item, identity));
}

template <class Operator, class T>
void test_identity() {
  static_assert(operator_traits<Operator, T>::has_identity);
  std::vector<T> items = random_items<T>(6);
  items.push_back(std::numeric_limits<T>::max());
  items.push_back(std::numeric_limits<T>::lowest());
  const device_vector<T> in(items);
  device_vector<T> out(2 * items.size());
  ASSERT_CUDA_SUCCESS(strata::launch({"apply_identity", 1, static_cast<unsigned>(items.size())},
                                     apply_identity<Operator, T>, in.data(), out.data()));
  const std::vector<T> results = out.to_host();
  for (std::size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i], items[i / 2]);
}

template <class T>
void test_integer_identities() {
  test_identity<strata::Sum, T>();
  test_identity<strata::Min, T>();
  test_identity<strata::Max, T>();
  test_identity<strata::BitAnd, T>();
  test_identity<strata::BitOr, T>();
  test_identity<strata::BitXor, T>();
}

TEST(operators, identities_change_nothing) {
  test_integer_identities<std::int8_t>();
  test_integer_identities<std::uint32_t>();
  test_integer_identities<std::int64_t>();
  test_identity<strata::Sum, double>();
  // Infinities and NaN leave floating-point extremes without one that changes nothing.
  static_assert(!operator_traits<strata::Min, float>::has_identity);
  static_assert(!operator_traits<strata::Max, double>::has_identity);
}

TEST(operators, an_unknown_operator_is_taken_to_be_associative_only) {
  static_assert(!operator_traits<join, string_hash>::commutative);
  static_assert(!operator_traits<join, string_hash>::has_identity);
  static_assert(operator_traits<join, string_hash>::hardware == hardware_reduction::none);
}

template <class Operator, hardware_reduction Expected>
constexpr bool reduces_words_by() {
  return operator_traits<Operator, std::int32_t>::hardware == Expected &&
         operator_traits<Operator, std::uint32_t>::hardware == Expected &&
         operator_traits<Operator, std::int64_t>::hardware == hardware_reduction::none &&
         operator_traits<Operator, std::int16_t>::hardware == hardware_reduction::none &&
         operator_traits<Operator, std::int32_t>::commutative &&
         operator_traits<Operator, std::int64_t>::commutative;
}

TEST(operators, hardware_reduces_words_of_integers_only) {
  static_assert(reduces_words_by<strata::Sum, hardware_reduction::add>());
  static_assert(reduces_words_by<strata::Min, hardware_reduction::min>());
  static_assert(reduces_words_by<strata::Max, hardware_reduction::max>());
  static_assert(reduces_words_by<strata::BitAnd, hardware_reduction::bit_and>());
  static_assert(reduces_words_by<strata::BitOr, hardware_reduction::bit_or>());
  static_assert(reduces_words_by<strata::BitXor, hardware_reduction::bit_xor>());
  static_assert(operator_traits<strata::Sum, float>::hardware == hardware_reduction::none);
  static_assert(operator_traits<strata::Sum, struct12>::hardware == hardware_reduction::none);
  static_assert(operator_traits<strata::ArgMin, pair>::commutative);
  static_assert(operator_traits<strata::ArgMax, pair>::hardware == hardware_reduction::none);
}

}  // namespace
