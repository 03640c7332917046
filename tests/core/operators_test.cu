// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/launcher.cuh>
#include <strata/core/operators.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
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
  ASSERT_CUDA_SUCCESS(strata::launch({"apply_to_all_pairs", 1, count}, apply_to_all_pairs<T, Operator, result>,
                                     in.data(), count, out.data(), op));
  const std::vector<result> results = out.to_host();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const T& a = items[i / count];
    const T& b = items[i % count];
    const auto right = static_cast<result>(expected(a, b));
    EXPECT_TRUE(same_bits(static_cast<result>(op(a, b)), right))
        << "on the host, items " << i / count << ", " << i % count;
    EXPECT_TRUE(same_bits(results[i], right)) << "on the device, items " << i / count << ", " << i % count;
  }
}

const float nan = std::numeric_limits<float>::quiet_NaN();
const float infinity = std::numeric_limits<float>::infinity();
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

TEST(operators, extremes_are_those_of_the_type) {
  test_pairs(integers, strata::Min{}, [](int a, int b) { return a < b ? a : b; });
  test_pairs(integers, strata::Max{}, [](int a, int b) { return a > b ? a : b; });
  static_assert(std::is_same_v<decltype(strata::Min{}(1, 2ll)), long long>);
  static_assert(std::is_same_v<decltype(strata::Max{}(1, 2.5f)), float>);
  static_assert(strata::Min{}(1.5f, 2.5f) == 1.5f && strata::Max{}(1.5, 2.5) == 2.5);
  static_assert(strata::Min{}(3, -4) == -4 && strata::Max{}(3u, 4u) == 4u);
}

// Compared only by its operator, so the rules for the sign of zero and for NaN must not apply.
struct ordered_by_value {
  float value;
  int label;
  STRATA_HD friend bool operator<(const ordered_by_value& a, const ordered_by_value& b) { return a.value < b.value; }
};

TEST(operators, extremes_of_other_types_take_the_first_of_equals) {
  const std::vector<ordered_by_value> items = {{1.0f, 0}, {1.0f, 1}, {0.0f, 2}, {-0.0f, 3}, {nan, 4}, {2.0f, 5}};
  const auto min = [](const auto& a, const auto& b) { return b.value < a.value ? b : a; };
  const auto max = [](const auto& a, const auto& b) { return a.value < b.value ? b : a; };
  test_pairs(items, strata::Min{}, min);
  test_pairs(items, strata::Max{}, max);
}

// ---------------------------------------------------------------------------- floating point
template <class T>
class operators_of_reals : public testing::Test {};
using real_types = testing::Types<float, double, __half, __nv_bfloat16>;
TYPED_TEST_SUITE(operators_of_reals, real_types);

template <class T>
std::vector<T> special_reals() {
  std::vector<T> items;
  for (const float value : {0.0f, -0.0f, 1.5f, -3.0f, 0x1p-14f, infinity, -infinity, nan, -nan}) {
    items.push_back(T(value));
  }
  return items;
}

template <class T>
struct is_better_real {
  bool is_max;
  bool operator()(T first, T second) const {
    const auto a = static_cast<double>(first);
    const auto b = static_cast<double>(second);
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a);
    if (a == b) return std::signbit(a) != is_max;
    return is_max ? a > b : a < b;
  }
};

// Any NaN equals any other: which bits a NaN has is not specified.
template <class T>
bool same_real(T a, T b) {
  return same_bits(a, b) || (std::isnan(static_cast<float>(a)) && std::isnan(static_cast<float>(b)));
}

template <class T, class Operator>
void test_extremes(Operator op, bool is_max) {
  const std::vector<T> items = special_reals<T>();
  const auto count = static_cast<unsigned>(items.size());
  const device_vector<T> in(items);
  device_vector<T> out(count * count);
  ASSERT_CUDA_SUCCESS(strata::launch({"apply_to_all_pairs", 1, count}, apply_to_all_pairs<T, Operator, T>, in.data(),
                                     count, out.data(), op));
  const std::vector<T> results = out.to_host();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const T a = items[i / count];
    const T b = items[i % count];
    const T expected = is_better_real<T>{is_max}(a, b) ? a : b;
    EXPECT_TRUE(same_real(results[i], expected)) << "on the device, " << i / count << ", " << i % count;
    EXPECT_TRUE(same_real(static_cast<T>(op(a, b)), expected)) << "on the host, " << i / count << ", " << i % count;
  }
}

TYPED_TEST(operators_of_reals, extremes_prefer_numbers_to_nan_and_order_zeros) {
  test_extremes<TypeParam>(strata::Min{}, false);
  test_extremes<TypeParam>(strata::Max{}, true);
}

template <class T, class Operator>
STRATA_KERNEL void apply_to_all_triples(const T* items, unsigned count, T* out, Operator op) {
  const T a = items[threadIdx.x];
  for (unsigned i = 0; i < count * count; ++i) {
    const T b = items[i / count];
    const T c = items[i % count];
    T* const results = out + 3 * (threadIdx.x * count * count + i);
    results[0] = op(op(a, b), c);
    results[1] = op(a, op(b, c));
    results[2] = op(op(c, b), a);
  }
}

template <class T, class Operator, class Same>
void expect_order_does_not_matter(const std::vector<T>& items, Operator op, Same same) {
  const auto count = static_cast<unsigned>(items.size());
  const device_vector<T> in(items);
  device_vector<T> out(3 * count * count * count);
  ASSERT_CUDA_SUCCESS(strata::launch({"apply_to_all_triples", 1, count}, apply_to_all_triples<T, Operator>, in.data(),
                                     count, out.data(), op));
  const std::vector<T> results = out.to_host();
  for (std::size_t i = 0; i < results.size(); i += 3) {
    EXPECT_TRUE(same(results[i], results[i + 1])) << "not associative: triple " << i / 3;
    EXPECT_TRUE(same(results[i], results[i + 2])) << "not commutative: triple " << i / 3;
  }
}

TYPED_TEST(operators_of_reals, extremes_depend_on_no_order) {
  using T = TypeParam;
  expect_order_does_not_matter(special_reals<T>(), strata::Min{}, same_real<T>);
  expect_order_does_not_matter(special_reals<T>(), strata::Max{}, same_real<T>);
  using pair = KeyValuePair<int, T>;
  std::vector<pair> pairs;
  for (const T value : special_reals<T>()) pairs.push_back({(7 * int(pairs.size())) % 9, value});
  const auto same = [](const pair& a, const pair& b) { return a.key == b.key && same_real(a.value, b.value); };
  expect_order_does_not_matter(pairs, strata::ArgMin{}, same);
  expect_order_does_not_matter(pairs, strata::ArgMax{}, same);
}

TEST(operators, bits_stay_in_the_type) {
  test_pairs(bytes, strata::BitAnd{}, [](int a, int b) { return a & b; });
  test_pairs(bytes, strata::BitOr{}, [](int a, int b) { return a | b; });
  test_pairs(bytes, strata::BitXor{}, [](int a, int b) { return a ^ b; });
  static_assert(std::is_same_v<decltype(strata::BitOr{}(bytes[0], bytes[0])), std::uint8_t>);
}

using pair = KeyValuePair<std::int64_t, double>;  // no padding: compared bit for bit

bool is_better(const pair& a, const pair& b, bool smaller) {
  if (std::isnan(a.value) != std::isnan(b.value)) return std::isnan(b.value);
  if (a.value == b.value || std::isnan(a.value)) return a.key < b.key;
  return smaller ? a.value < b.value : a.value > b.value;
}

TEST(operators, arg_extremes_take_the_smaller_index_of_equal_values) {
  const std::vector<pair> pairs = {{0, 1.0},  {1, 1.0},      {5, -2.0},      {4, -2.0}, {1ll << 40, 0.0},
                                   {7, -0.0}, {9, infinity}, {3, -infinity}, {2, nan},  {8, nan}};
  test_pairs(pairs, strata::ArgMin{}, [](const pair& a, const pair& b) { return is_better(b, a, true) ? b : a; });
  test_pairs(pairs, strata::ArgMax{}, [](const pair& a, const pair& b) { return is_better(b, a, false) ? b : a; });
}

struct same_last_digit {
  STRATA_HD bool operator()(int a, int b) const { return a % 10 == b % 10; }
};

TEST(operators, inequality_negates_and_cast_converts) {
  test_pairs(std::vector<int>{1, 2, 12, 21}, strata::InequalityWrapper<same_last_digit>{},
             [](int a, int b) { return a % 10 != b % 10; });
  test_pairs(std::vector<int>{1, 2, 12, 21}, strata::InequalityWrapper<same_last_digit>(same_last_digit{}),
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
  // +0.0 is not an identity: -0.0 + 0.0 is +0.0.
  static_assert(!operator_traits<strata::Sum, double>::has_identity);
  // An infinity is not one either: it changes no number, but wins against NaNs.
  static_assert(!operator_traits<strata::Min, float>::has_identity);
  static_assert(!operator_traits<strata::Max, double>::has_identity);
}

TEST(operators, an_unknown_operator_is_taken_to_be_associative_only) {
  static_assert(!operator_traits<join, string_hash>::commutative);
  static_assert(!operator_traits<join, string_hash>::has_identity);
  static_assert(operator_traits<join, string_hash>::hardware == hardware_reduction::none);
}

template <class Operator, class... Types>
constexpr bool is_known() {
  return (operator_traits<Operator, Types>::commutative && ...);
}
template <class Operator, class... Types>
constexpr bool is_unknown() {
  const bool are_unknown = (!operator_traits<Operator, Types>::commutative && ...);
  const bool have_none = (!operator_traits<Operator, Types>::has_identity && ...);
  return are_unknown && have_none && ((operator_traits<Operator, Types>::hardware == hardware_reduction::none) && ...);
}

// Other types may overload the operators, even enumerations and float2, so no traits may be assumed.
enum plain_enumeration : int {};
enum class enumeration : int {};
template <class Operator>
constexpr bool is_unknown_of_other_types() {
  return is_unknown<Operator, plain_enumeration, enumeration, float2, struct12, string_hash, int*,
                    KeyValuePair<int, int>>();
}

TEST(operators, are_known_on_numbers_only) {
  using strata_test::int128;
  static_assert(is_known<strata::Sum, bool, char, int, unsigned long long, int128, unsigned __int128, float, double,
                         long double, __half, __nv_bfloat16, __half2, __nv_bfloat162>());
  // Min has no rules for NaNs and zeros of long double. A pair of halves is less only if both halves are.
  static_assert(is_known<strata::Min, bool, char, int, int128, float, double, __half, __nv_bfloat16>());
  static_assert(is_known<strata::Max, bool, char, int, int128, float, double, __half, __nv_bfloat16>());
  static_assert(is_unknown<strata::Min, long double, __half2>() && is_unknown<strata::Max, long double, __half2>());
  static_assert(is_known<strata::BitAnd, bool, int, int128>() && is_unknown<strata::BitAnd, float, __half>());
  static_assert(is_known<strata::BitOr, bool, int, int128>() && is_unknown<strata::BitOr, float, __half>());
  static_assert(is_known<strata::BitXor, bool, int, int128>() && is_unknown<strata::BitXor, float, __half>());
  static_assert(is_unknown_of_other_types<strata::Sum>() && is_unknown_of_other_types<strata::Min>());
  static_assert(is_unknown_of_other_types<strata::Max>() && is_unknown_of_other_types<strata::BitAnd>());
  static_assert(is_unknown_of_other_types<strata::BitOr>() && is_unknown_of_other_types<strata::BitXor>());
  static_assert(is_unknown_of_other_types<std::plus<>>());
}

// With equal indices, or with values that are not numbers, the result may depend on the order of operands. Such pairs
// must not count as commutative.
TEST(operators, arg_min_and_arg_max_are_known_on_indexed_numbers_only) {
  static_assert(is_known<strata::ArgMin, KeyValuePair<int, float>, KeyValuePair<long long, __half>,
                         KeyValuePair<unsigned, strata_test::int128>>());
  static_assert(
      is_unknown<strata::ArgMin, KeyValuePair<int, string_hash>, KeyValuePair<string_hash, int>,
                 KeyValuePair<int, enumeration>, KeyValuePair<float, int>, KeyValuePair<int, long double>, int>());
  static_assert(is_unknown<strata::ArgMax, KeyValuePair<int, string_hash>, KeyValuePair<float, int>>());
}

}  // namespace

template <>
struct strata::operator_traits<strata::Sum, struct64> : strata::commutative_operator {};

namespace {

TEST(operators, a_user_says_that_an_operator_is_commutative) {
  static_assert(is_known<strata::Sum, struct64>() && is_unknown<strata::Min, struct64>());
  static_assert(!operator_traits<strata::Sum, struct64>::has_identity);
  static_assert(operator_traits<strata::Sum, struct64>::hardware == hardware_reduction::none);
}

/// An operator with a library's name, but not in the library's namespace.
struct less {
  STRATA_HD bool operator()(int a, int b) const { return b < a; }
};

TEST(operators, orders_are_known_by_their_names) {
  using strata::detail::known_order;
  using strata::detail::order_of;
  static_assert(order_of<strata::Less, int>() == known_order::ascending);
  static_assert(order_of<std::less<>, unsigned>() == known_order::ascending);
  static_assert(order_of<std::less<int>, int>() == known_order::ascending);
  static_assert(order_of<std::greater<>, int>() == known_order::descending);
  static_assert(order_of<std::less<short>, int>() == known_order::none);
  static_assert(order_of<std::less_equal<>, int>() == known_order::none);
  static_assert(order_of<less, int>() == known_order::none);
  EXPECT_TRUE(less()(2, 1));
}

template <class Operator, hardware_reduction Expected>
constexpr bool reduces_words_by() {
  return operator_traits<Operator, std::int32_t>::hardware == Expected &&
         operator_traits<Operator, std::uint32_t>::hardware == Expected &&
         operator_traits<Operator, std::int64_t>::hardware == hardware_reduction::none &&
         operator_traits<Operator, std::int16_t>::hardware == Expected &&
         operator_traits<Operator, std::uint8_t>::hardware == Expected &&
         operator_traits<Operator, std::int32_t>::commutative && operator_traits<Operator, std::int64_t>::commutative;
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

TEST(operators, those_of_the_standard_library_are_known_by_name) {
  static_assert(reduces_words_by<std::plus<>, hardware_reduction::add>());
  static_assert(reduces_words_by<std::bit_and<>, hardware_reduction::bit_and>());
  static_assert(reduces_words_by<std::bit_or<>, hardware_reduction::bit_or>());
  static_assert(reduces_words_by<std::bit_xor<>, hardware_reduction::bit_xor>());
  static_assert(operator_traits<std::plus<int>, int>::hardware == hardware_reduction::add);
  static_assert(operator_traits<std::plus<>, double>::commutative);
  static_assert(!operator_traits<std::plus<>, struct12>::commutative);
  // Not commutative: it rounds the items, so the result depends on the order.
  static_assert(!operator_traits<std::plus<float>, int>::commutative);
  static_assert(!operator_traits<std::minus<>, int>::commutative);
  static_assert(!operator_traits<std::multiplies<>, int>::commutative);
}

}  // namespace

namespace user {
template <class T = void>
struct plus {};
struct maximum {};
namespace thrust {
template <class T = void>
struct plus {};
}  // namespace thrust
}  // namespace user
namespace thrust_of_user {
struct plus {};
}  // namespace thrust_of_user

namespace {

TEST(operators, those_of_the_same_name_in_another_namespace_are_not) {
  static_assert(!operator_traits<user::plus<>, int>::commutative);
  static_assert(!operator_traits<user::maximum, int>::commutative);
  static_assert(!operator_traits<user::thrust::plus<>, int>::commutative);
  static_assert(!operator_traits<thrust_of_user::plus, int>::commutative);
}

}  // namespace
