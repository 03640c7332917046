// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/launcher.cuh>
#include <strata/core/operators.hpp>
#include <strata/warp/warp_reduce.cuh>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

// The library recognises these operators by their names. If one operand is a NaN, or both are zeros, they return the
// first operand.
namespace thrust::of_this_test {
struct maximum {
  template <class T>
  STRATA_HD T operator()(const T& a, const T& b) const {
    return static_cast<float>(a) < static_cast<float>(b) ? b : a;
  }
};
struct minimum {
  template <class T>
  STRATA_HD T operator()(const T& a, const T& b) const {
    return static_cast<float>(b) < static_cast<float>(a) ? b : a;
  }
};
}  // namespace thrust::of_this_test

namespace {

using namespace strata_test;
using strata::WarpReduce;

// ---------------------------------------------------------------------------- every type
template <class T, int Width, class Operator>
STRATA_KERNEL void reduce_items(const T* in, T* out, int valid_items, Operator op) {
  using reducer = WarpReduce<T, Width>;
  STRATA_SHARED(temp_storage, typename reducer::TempStorage);
  const T item = in[threadIdx.x];
  // Lanes beyond the valid ones have items too, which must not be used.
  const T full = reducer(temp_storage).Reduce(item, op);
  const T valid = reducer(temp_storage).Reduce(item, op, valid_items);
  const T all = reducer(temp_storage).AllReduce(item, op, valid_items);
  if (threadIdx.x == 0) {
    out[0] = full;
    out[1] = valid;
  }
  out[2 + threadIdx.x] = all;
}

template <int Width, class T, class Operator>
void test_items(const std::vector<T>& items, std::size_t valid, Operator op) {
  SCOPED_TRACE(testing::Message() << Width << " lanes, valid_items " << valid);
  const device_vector<T> in(items);
  device_vector<T> out(2 + Width);
  ASSERT_CUDA_SUCCESS(strata::launch({"reduce_items", 1, Width}, reduce_items<T, Width, Operator>, in.data(),
                                     out.data(), static_cast<int>(valid), op));
  const std::vector<T> results = out.to_host();
  ASSERT_TRUE(same_bits(results[0], reference_reduce(items, 0, Width, op)));
  for (std::size_t i = 1; i < results.size(); ++i) {
    ASSERT_TRUE(same_bits(results[i], reference_reduce(items, 0, valid, op))) << "result " << i;
  }
}

// Sums of a few small integers are exact in each type, so any association gives the same bits.
template <class T, class Operator>
void test_whole_warp(Operator op) {
  for (std::size_t valid : {1u, 2u, 19u, 31u, 32u}) {
    test_items<32>(random_items<T>(32, valid, 7), valid, op);
  }
}

template <class T, class Operator>
void test_odd_width(Operator op) {
  for (std::size_t valid : {1u, 4u, 5u}) test_items<5>(random_items<T>(5, valid, 50), valid, op);
}

template <class T, class Operator>
void test_type(Operator op) {
  test_whole_warp<T>(op);
  test_odd_width<T>(op);
}

template <class T>
class warp_reduce_of : public testing::Test {};
TYPED_TEST_SUITE(warp_reduce_of, arithmetic_types);
TYPED_TEST(warp_reduce_of, any_arithmetic_type_sums) { test_whole_warp<TypeParam>(plain_sum{}); }

template <class T>
class warp_reduce_of_few : public testing::Test {};
using maximum_types = testing::Types<std::uint8_t, std::int64_t, double, __half, __nv_bfloat16>;
TYPED_TEST_SUITE(warp_reduce_of_few, maximum_types);
TYPED_TEST(warp_reduce_of_few, types_have_a_maximum) { test_type<TypeParam>(strata::Max{}); }

TEST(warp_reduce, structs_of_any_size) {
  test_type<bytes3>(plain_sum{});
  test_type<struct12>(plain_sum{});
  test_type<struct16>(plain_sum{});
  test_type<struct64>(plain_sum{});
}

TEST(warp_reduce, non_commutative_operators) {
  test_type<string_hash>(join{});
  test_type<matrix>(multiply{});
}

TEST(warp_reduce, arg_min_takes_the_smaller_index_of_equal_values) {
  using pair = strata::KeyValuePair<int, float>;
  std::vector<pair> items;
  for (int value : random_integers(32, 1, 4))
    items.push_back({static_cast<int>(items.size()), static_cast<float>(value)});
  test_items<32>(items, 32, strata::ArgMin{});
  test_items<32>(items, 7, strata::ArgMax{});
}

// ---------------------------------------------------------------------------- words, in hardware
// For these operators and types, the reduction of a whole warp is one instruction.
template <class T>
class warp_reduce_of_word : public testing::Test {};
using word_types =
    testing::Types<std::int32_t, std::uint32_t, char32_t, std::int16_t, std::uint8_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(warp_reduce_of_word, word_types);

template <class T, class Operator>
void test_word(Operator op) {
  for (std::size_t valid = 1; valid <= 32; ++valid) {
    // Random in all bits. Some cases are all extremes, which must survive a step with an identity.
    std::vector<T> items(32);
    std::mt19937_64 bits = random_bits(valid);
    for (T& item : items) item = static_cast<T>(bits());
    if (valid % 3 == 0) items.assign(32, std::numeric_limits<T>::max());
    if (valid % 3 == 1) items.assign(32, std::numeric_limits<T>::min());
    test_items<32>(items, valid, op);
  }
}

// Sums wrap around, on the host too.
struct wrapping_sum : plain_sum {};

}  // namespace

template <class T>
struct strata::operator_traits<wrapping_sum, T> : strata::operator_traits<strata::Sum, T> {};

namespace {

TYPED_TEST(warp_reduce_of_word, sums) { test_word<TypeParam>(wrapping_sum{}); }
TYPED_TEST(warp_reduce_of_word, minima) { test_word<TypeParam>(strata::Min{}); }
TYPED_TEST(warp_reduce_of_word, maxima) { test_word<TypeParam>(strata::Max{}); }
TYPED_TEST(warp_reduce_of_word, bits) {
  test_word<TypeParam>(strata::BitAnd{});
  test_word<TypeParam>(strata::BitOr{});
  test_word<TypeParam>(strata::BitXor{});
}

// ---------------------------------------------------------------------------- determinism
TEST(warp_reduce, sums_of_floats_are_the_same_bits_in_all_lanes_and_every_time) {
  std::mt19937_64 bits = random_bits();
  std::uniform_real_distribution<float> value(-1.0f, 1.0f);
  std::vector<float> items(32);
  for (float& item : items) item = value(bits);
  const device_vector<float> in(items);
  device_vector<float> out(34);
  std::vector<float> first;
  for (int i = 0; i < 10; ++i) {
    ASSERT_CUDA_SUCCESS(strata::launch({"reduce_items", 1, 32}, reduce_items<float, 32, strata::Sum>, in.data(),
                                       out.data(), 32, strata::Sum{}));
    const std::vector<float> results = out.to_host();
    if (i == 0) first = results;
    for (std::size_t j = 0; j < results.size(); ++j) {
      ASSERT_TRUE(same_bits(results[j], first[0])) << "run " << i << ", result " << j;
    }
  }
}

// ---------------------------------------------------------------------------- minima and maxima of floats
template <class T>
bool is_nan(const T& number) {
  return std::isnan(static_cast<double>(static_cast<float>(number)));
}
// Any NaN equals any other: which one results is unspecified.
template <class T>
bool is_same(const T& a, const T& b) {
  return same_bits(a, b) || (is_nan(a) && is_nan(b));
}
// The pair that ArgMin or ArgMax returns must be one of the input's, with the bits of its value.
template <class Index, class T>
bool is_same(const strata::KeyValuePair<Index, T>& a, const strata::KeyValuePair<Index, T>& b) {
  return a.key == b.key && is_same(a.value, b.value);
}

template <int Width, class T, class Operator>
void test_extreme(const std::vector<T>& items, int valid, Operator op) {
  const device_vector<T> in(items);
  device_vector<T> out(2 + Width);
  ASSERT_CUDA_SUCCESS(
      strata::launch({"reduce_items", 1, Width}, reduce_items<T, Width, Operator>, in.data(), out.data(), valid, op));
  const std::vector<T> results = out.to_host();
  const T all = reference_reduce(items, 0, Width, op);
  const T of_valid = reference_reduce(items, 0, static_cast<std::size_t>(valid), op);
  ASSERT_TRUE(is_same(results[0], all)) << Width << " lanes";
  for (std::size_t i = 1; i < results.size(); ++i) {
    ASSERT_TRUE(is_same(results[i], of_valid)) << Width << " lanes, " << valid << " valid, result " << i;
  }
}

// The ends of the ranges of numbers, and NaNs of either sign.
template <class T>
const std::vector<T>& special_numbers() {
  static const std::vector<T> numbers = [] {
    using limits = std::numeric_limits<float>;
    std::vector<T> all;
    for (const float number :
         {0.0f, 1.0f, 1.5f, 0x1p-14f, 0x1p-24f, 65504.0f, limits::infinity(), limits::quiet_NaN()}) {
      all.push_back(static_cast<T>(number));
      all.push_back(static_cast<T>(-number));
    }
    return all;
  }();
  return numbers;
}

/// Each warp has a few of the special numbers, so that some warps have only NaNs and some have equal numbers.
template <class T>
std::vector<std::vector<T>> special_warps() {
  std::vector<std::vector<T>> warps;
  const std::vector<T>& numbers = special_numbers<T>();
  std::mt19937_64 bits = random_bits();
  for (std::size_t first = 0; first < numbers.size(); ++first) {
    for (std::size_t second = 0; second < numbers.size(); second += is_small() ? 3 : 1) {
      std::vector<T> items(32, numbers[first]);
      for (T& item : items) {
        if (bits() % 8 == 0) item = numbers[second];
        if (second % 4 == 0 && bits() % 4 == 0) item = numbers[bits() % numbers.size()];
      }
      warps.push_back(items);
    }
  }
  return warps;
}

template <class T>
class warp_reduce_of_float : public testing::Test {};
using float_types = testing::Types<float, double, __half, __nv_bfloat16>;
TYPED_TEST_SUITE(warp_reduce_of_float, float_types);

template <int Width, class T, class Lesser, class Greater>
void test_extremes(const std::vector<T>& items) {
  const std::vector<T> lanes(items.begin(), items.begin() + Width);
  for (const int valid : {1, Width / 2 + 1, Width}) {
    test_extreme<Width>(lanes, valid, Lesser{});
    test_extreme<Width>(lanes, valid, Greater{});
  }
}

TYPED_TEST(warp_reduce_of_float, a_nan_loses_against_numbers_and_zeros_have_an_order) {
  for (const std::vector<TypeParam>& items : special_warps<TypeParam>()) {
    test_extremes<32, TypeParam, strata::Min, strata::Max>(items);
    test_extremes<16, TypeParam, strata::Min, strata::Max>(items);
    test_extremes<5, TypeParam, strata::Min, strata::Max>(items);
  }
}

/// Calls `Operator`, under a name that the library does not recognise.
template <class Operator>
struct without_name {
  Operator op;
  template <class T>
  STRATA_HD T operator()(const T& a, const T& b) const {
    return op(a, b);
  }
};

template <class T, class Operator>
void test_named(const std::vector<T>& items, int valid, Operator op) {
  const device_vector<T> in(items);
  device_vector<T> named(34), unnamed(34);
  ASSERT_CUDA_SUCCESS(
      strata::launch({"reduce_items", 1, 32}, reduce_items<T, 32, Operator>, in.data(), named.data(), valid, op));
  ASSERT_CUDA_SUCCESS(strata::launch({"reduce_items", 1, 32}, reduce_items<T, 32, without_name<Operator>>, in.data(),
                                     unnamed.data(), valid, without_name<Operator>{}));
  const std::vector<T> results = named.to_host(), expected = unnamed.to_host();
  for (std::size_t i = 0; i < results.size(); ++i) ASSERT_TRUE(same_bits(results[i], expected[i])) << "result " << i;
}

TYPED_TEST(warp_reduce_of_float, extremes_by_the_functors_of_others_are_theirs_bit_for_bit) {
  using T = TypeParam;
  std::vector<std::vector<T>> warps = special_warps<T>();
  for (int i = 0; i < 10; ++i) warps.push_back(random_items<T>(32, static_cast<unsigned>(i), 1000));
  for (const std::vector<T>& items : warps) {
    for (const int valid : {1, 17, 32}) {
      test_named(items, valid, thrust::of_this_test::maximum{});
      test_named(items, valid, thrust::of_this_test::minimum{});
    }
  }
}

// Indices are in no order, so the first of several equal values need not have the smallest index. With 32-bit indices
// and numbers of up to 32 bits, a whole warp is reduced by instructions.
template <class Index, class T>
std::vector<strata::KeyValuePair<Index, T>> with_indices(const std::vector<T>& values, Index factor) {
  std::vector<strata::KeyValuePair<Index, T>> pairs;
  for (const T& value : values) pairs.push_back({static_cast<Index>(pairs.size() * 5 % 32) * factor, value});
  return pairs;
}

template <class Index, class T>
void test_pairs(const std::vector<T>& values) {
  using pair = strata::KeyValuePair<Index, T>;
  for (const Index factor : {static_cast<Index>(1), static_cast<Index>(-1)}) {
    const std::vector<pair> pairs = with_indices<Index>(values, factor);
    test_extremes<32, pair, strata::ArgMin, strata::ArgMax>(pairs);
    test_extremes<8, pair, strata::ArgMin, strata::ArgMax>(pairs);
  }
}

TYPED_TEST(warp_reduce_of_float, the_smallest_index_of_equal_extremes_wins) {
  for (const std::vector<TypeParam>& values : special_warps<TypeParam>()) {
    test_pairs<int>(values);
    test_pairs<unsigned>(values);
    if (!is_small()) test_pairs<long long>(values);
  }
}

TYPED_TEST(warp_reduce_of_word, the_smallest_index_of_equal_extremes_wins) {
  using limits = std::numeric_limits<TypeParam>;
  std::mt19937_64 bits = random_bits();
  for (int i = 0; i < 20; ++i) {
    std::vector<TypeParam> values(32, i % 2 == 0 ? limits::min() : limits::max());
    for (TypeParam& value : values) {
      if (bits() % 4 == 0) value = static_cast<TypeParam>(bits() % 3);
      if (bits() % 4 == 0) value = static_cast<TypeParam>(bits());
    }
    test_pairs<int>(values);
    test_pairs<unsigned>(values);
  }
}

// ---------------------------------------------------------------------------- who combines which items
// Sets of items. The operator may join only disjoint sets, so it finds a lane that joins an item to itself.
// Sets of items that an operator may join only if they have none in common: a lane must not join items to themselves.
using item_set = std::uint64_t;
struct join_disjoint {
  unsigned* failures;
  STRATA_D item_set operator()(item_set a, item_set b) const {
    if ((a & b) != 0) atomicAdd(failures, 1u);
    return a | b;
  }
};

// The operator stands for one that must not see an item twice, such as a sum that reports overflow.
template <int Width>
void test_each_item_once() {
  std::vector<item_set> items;
  for (int i = 0; i < Width; ++i) items.push_back(item_set{1} << i);
  const device_vector<item_set> in(items);
  device_vector<item_set> out(2 + Width);
  device_vector<unsigned> failures(std::vector<unsigned>{0});
  ASSERT_CUDA_SUCCESS(strata::launch({"reduce_items", 1, Width}, reduce_items<item_set, Width, join_disjoint>,
                                     in.data(), out.data(), Width, join_disjoint{failures.data()}));
  EXPECT_EQ(item_set{0xffffffff} >> (32 - Width), out.to_host()[0]);
  EXPECT_EQ(0u, failures.to_host()[0]);
}

}  // namespace

template <>
struct strata::operator_traits<join_disjoint, item_set> : strata::commutative_operator {};

namespace {

TEST(warp_reduce, no_lane_combines_an_item_with_itself_by_a_commutative_operator_of_the_users) {
  test_each_item_once<32>();
  test_each_item_once<16>();
  test_each_item_once<7>();
}

// All lanes add, even those whose results are not used. Their sums must not overflow either, which would be undefined
// behaviour.
TEST(warp_reduce, sums_of_integers_do_not_overflow_in_lanes_whose_results_do_not_count) {
  std::vector<std::int64_t> items(32, 0);
  items[31] = std::numeric_limits<std::int64_t>::max();
  test_items<32>(items, 32, strata::Sum{});
  std::vector<std::int32_t> words(8, 0);
  words[7] = std::numeric_limits<std::int32_t>::min();
  test_items<8>(words, 8, strata::Sum{});
}

// -0.0 is less than 0.0, and any number is less than a NaN.
TEST(warp_reduce, minima_of_zeros_and_nans_in_all_lanes) {
  std::vector<float> items(32, 0.0f);
  items[7] = -0.0f;
  test_items<32>(items, 32, strata::Min{});
  items.assign(32, 1.0f);
  items[0] = std::numeric_limits<float>::quiet_NaN();
  test_items<32>(items, 32, strata::Min{});
}

}  // namespace
