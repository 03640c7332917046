// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/launcher.cuh>
#include <strata/core/operators.hpp>
#include <strata/warp/warp_reduce.cuh>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace {

using namespace strata_test;
using strata::WarpReduce;

// ---------------------------------------------------------------------------- every type
template <class T, int Width, class Operator>
STRATA_KERNEL void reduce_items(const T* in, T* out, int valid_items, Operator op) {
  using reducer = WarpReduce<T, Width>;
  STRATA_SHARED(temp_storage, typename reducer::TempStorage);
  const T item = in[threadIdx.x];
  // The inputs of other lanes are read, for each lane reads its own, but must not be used.
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

// Sums of so few small integers are exact in each type, so any association gives the same bits.
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
// On these operators and types a whole warp uses one instruction.
template <class T>
class warp_reduce_of_word : public testing::Test {};
using word_types = testing::Types<std::int32_t, std::uint32_t, char32_t>;
TYPED_TEST_SUITE(warp_reduce_of_word, word_types);

template <class T, class Operator>
void test_word(Operator op) {
  for (std::size_t valid = 1; valid <= 32; ++valid) {
    // All bits random; and extremes, which an identity must not disturb.
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

// Zeros have an order, and a NaN loses against every number.
TEST(warp_reduce, minima_of_zeros_and_nans_in_all_lanes) {
  std::vector<float> items(32, 0.0f);
  items[7] = -0.0f;
  test_items<32>(items, 32, strata::Min{});
  items.assign(32, 1.0f);
  items[0] = std::numeric_limits<float>::quiet_NaN();
  test_items<32>(items, 32, strata::Min{});
}

}  // namespace
