// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/launcher.cuh>
#include <strata/core/operators.hpp>
#include <strata/thread/thread_reduce.cuh>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

// Tells its size like std::array, but device code can index it.
template <class T, std::size_t Count>
struct device_array {
  T items[Count];
  STRATA_HD const T& operator[](std::size_t i) const { return items[i]; }
};
template <class T, std::size_t Count>
struct std::tuple_size<device_array<T, Count>> : std::integral_constant<std::size_t, Count> {};

namespace {

using namespace strata_test;
using strata::ThreadReduce;

constexpr unsigned threads = 32;

template <class T, std::size_t Count, class Operator>
STRATA_KERNEL void reduce_rows(const T* in, T* out, Operator op) {
  T row[Count];
  for (std::size_t i = 0; i < Count; ++i) row[i] = in[threadIdx.x * Count + i];
  out[threadIdx.x] = static_cast<T>(ThreadReduce(row, op));
}

template <std::size_t Count, class T, class Operator>
void test_rows(const std::vector<T>& items, Operator op) {
  SCOPED_TRACE(testing::Message() << Count << " items");
  const device_vector<T> in(items);
  device_vector<T> out(threads);
  ASSERT_CUDA_SUCCESS(
      strata::launch({"reduce_rows", 1, threads}, reduce_rows<T, Count, Operator>, in.data(), out.data(), op));
  const std::vector<T> results = out.to_host();
  for (std::size_t t = 0; t < threads; ++t) {
    ASSERT_TRUE(same_bits(results[t], reference_reduce(items, t * Count, (t + 1) * Count, op))) << "thread " << t;
  }
}

template <class T, class Operator>
void test_counts(Operator op) {
  test_rows<1>(random_items<T>(threads), op);
  test_rows<2>(random_items<T>(threads * 2), op);
  test_rows<7>(random_items<T>(threads * 7), op);
}

template <class T>
class thread_reduce_of : public testing::Test {};
TYPED_TEST_SUITE(thread_reduce_of, arithmetic_types);

TYPED_TEST(thread_reduce_of, any_arithmetic_type_sums) { test_counts<TypeParam>(plain_sum{}); }

TEST(thread_reduce, sums_of_structs) {
  test_counts<bytes3>(plain_sum{});
  test_counts<struct12>(plain_sum{});
  test_counts<struct64>(plain_sum{});
}

TEST(thread_reduce, non_commutative_operators_keep_order) {
  test_counts<string_hash>(join{});
  test_counts<matrix>(multiply{});
}

// Neither associative nor commutative, so any other order of evaluation than the loop's gives another result.
struct subtract_and_double {
  STRATA_HD std::int64_t operator()(std::int64_t a, std::int64_t b) const { return 2 * a - b; }
};

TEST(thread_reduce, is_the_sequential_loop) {
  test_rows<13>(random_items<std::int64_t>(threads * 13), subtract_and_double{});
}

// Reduces as ThreadReduce does for floats: the greatest power of two below the number of items, and the rest, each
// recursively.
template <class T, class Operator>
T reference_tree(const std::vector<T>& items, std::size_t first, std::size_t count, std::size_t step, Operator op) {
  if (count == 1) return items.at(first);
  std::size_t half = 1;
  while (2 * half < count) half *= 2;
  return static_cast<T>(op(reference_tree(items, first, half, step, op),
                           reference_tree(items, first + half * step, count - half, step, op)));
}
// The documented order of sums. Doubles are added in order. Of four or more 16-bit floats, the even and the odd indices
// are summed separately, and a last item without a partner is added at the end.
template <class T>
T reference_sum(const std::vector<T>& items, std::size_t first, std::size_t count) {
  if (std::is_same_v<T, float>) return reference_tree(items, first, count, 1, strata::Sum{});
  if (std::is_same_v<T, double> || count < 4) {
    return std::accumulate(&items[first] + 1, &items[first] + count, items[first], strata::Sum{});
  }
  const T even = reference_tree(items, first, count / 2, 2, strata::Sum{});
  const T odd = reference_tree(items, first + 1, count / 2, 2, strata::Sum{});
  const T sum = static_cast<T>(strata::Sum{}(even, odd));
  return count % 2 == 0 ? sum : static_cast<T>(strata::Sum{}(sum, items.at(first + count - 1)));
}

template <class T, std::size_t Count>
void test_sums_of_floats() {
  SCOPED_TRACE(testing::Message() << sizeof(T) << " bytes, " << Count << " items");
  std::mt19937_64 bits = random_bits();
  std::uniform_real_distribution<float> value(-1.0f, 1.0f);
  std::vector<T> items(threads * Count);
  for (T& item : items) item = static_cast<T>(value(bits));
  const device_vector<T> in(items);
  device_vector<T> out(threads);
  ASSERT_CUDA_SUCCESS(strata::launch({"reduce_rows", 1, threads}, reduce_rows<T, Count, strata::Sum>, in.data(),
                                     out.data(), strata::Sum{}));
  const std::vector<T> results = out.to_host();
  for (std::size_t t = 0; t < threads; ++t) {
    ASSERT_TRUE(same_bits(results[t], reference_sum(items, t * Count, Count))) << "thread " << t;
  }
}

template <class T>
void test_sums_of_floats() {
  test_sums_of_floats<T, 1>();
  test_sums_of_floats<T, 2>();
  test_sums_of_floats<T, 3>();
  test_sums_of_floats<T, 4>();
  test_sums_of_floats<T, 5>();
  test_sums_of_floats<T, 13>();
  test_sums_of_floats<T, 16>();
}

TEST(thread_reduce, floating_point_sums_have_the_documented_order) {
  test_sums_of_floats<float>();
  test_sums_of_floats<double>();
  test_sums_of_floats<__half>();
  test_sums_of_floats<__nv_bfloat16>();
}

TEST(thread_reduce, extremes_of_floats_are_those_of_the_loop) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> items(threads * 7);
  std::mt19937_64 bits = random_bits();
  const float some[8] = {0.0f, -0.0f, nan, inf, -inf, 1.0f, -1.0f, 3.0f};
  for (float& item : items) item = some[bits() % 8];
  test_rows<7>(items, strata::Max{});
  test_rows<7>(items, strata::Min{});
}

// The order of an operator that the library does not know must be the loop's, for floating-point numbers too.
TEST(thread_reduce, own_sums_of_floats_are_those_of_the_loop) {
  std::mt19937_64 bits = random_bits();
  std::uniform_real_distribution<float> value(-1.0f, 1.0f);
  std::vector<float> items(threads * 16);
  for (float& item : items) item = value(bits);
  test_rows<16>(items, plain_sum{});
}

// ---------------------------------------------------------------------------- type of the result
STRATA_KERNEL void sums_wider_than_items(const std::int8_t* in, std::int64_t* out) {
  std::int8_t row[4];
  for (int i = 0; i < 4; ++i) row[i] = in[i];
  const auto sum = ThreadReduce(row, strata::Sum{});
  static_assert(std::is_same_v<decltype(sum), const int>);
  const auto from_long = ThreadReduce(row, strata::Sum{}, std::int64_t{1} << 40);
  static_assert(std::is_same_v<decltype(from_long), const std::int64_t>);
  // The prefix is converted to the operator's result type, not to the type of the items, so 0.5 is not cut off.
  const auto from_double = ThreadReduce(row, strata::Sum{}, 0.5);
  static_assert(std::is_same_v<decltype(from_double), const double>);
  const auto largest = ThreadReduce(row, strata::Max{});
  static_assert(std::is_same_v<decltype(largest), const std::int8_t>);
  out[0] = sum;
  out[1] = from_long;
  out[2] = static_cast<std::int64_t>(2 * from_double);
  out[3] = largest;
}

TEST(thread_reduce, result_has_the_type_that_the_operator_returns) {
  const device_vector<std::int8_t> in({100, 101, 102, 103});
  device_vector<std::int64_t> out(4);
  ASSERT_CUDA_SUCCESS(strata::launch({"sums_wider_than_items", 1, 1}, sums_wider_than_items, in.data(), out.data()));
  EXPECT_EQ(out.to_host(), (std::vector<std::int64_t>{406, (std::int64_t{1} << 40) + 406, 813, 103}));
}

// ---------------------------------------------------------------------------- prefix, forms
// Counts its calls, so it has state.
struct counting_join {
  int* calls;
  STRATA_HD string_hash operator()(const string_hash& a, const string_hash& b) {
    ++*calls;
    return join{}(a, b);
  }
};

struct characters {
  STRATA_HD string_hash operator[](int i) const { return string_hash::of(unsigned('a') + unsigned(i)); }
};

struct view_of_three {
  static constexpr std::size_t extent = 3;
  const string_hash* first;
  STRATA_HD const string_hash& operator[](std::size_t i) const { return first[i]; }
};

STRATA_KERNEL void reduce_in_all_forms(const string_hash* in, string_hash* out, int* calls) {
  const string_hash array[3] = {in[0], in[1], in[2]};
  const device_array<string_hash, 3> object = {{in[0], in[1], in[2]}};
  const view_of_three view{in};
  const string_hash prefix = string_hash::of('>');
  int count = 0;
  counting_join op{&count};

  out[0] = ThreadReduce(array, op);
  calls[0] = count;
  out[1] = ThreadReduce(object, op);
  out[2] = ThreadReduce(view, op);
  out[3] = ThreadReduce<3>(in, op);
  out[4] = ThreadReduce<3>(characters{}, op);

  count = 0;
  out[5] = ThreadReduce(array, op, prefix);
  calls[1] = count;
  out[6] = ThreadReduce(object, op, prefix);
  out[7] = ThreadReduce(view, op, prefix);
  out[8] = ThreadReduce<3>(in, op, prefix);
  out[9] = ThreadReduce<3>(characters{}, op, prefix);
}

TEST(thread_reduce, arrays_objects_views_pointers_and_iterators_give_the_same) {
  const std::vector<string_hash> text = {string_hash::of('a'), string_hash::of('b'), string_hash::of('c')};
  const device_vector<string_hash> in(text);
  device_vector<string_hash> out(10);
  device_vector<int> calls(2);
  ASSERT_CUDA_SUCCESS(
      strata::launch({"reduce_in_all_forms", 1, 1}, reduce_in_all_forms, in.data(), out.data(), calls.data()));
  const string_hash expected = reference_reduce(text, join{});
  const string_hash after_prefix = join{}(string_hash::of('>'), expected);
  const std::vector<string_hash> results = out.to_host();
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i], i < 5 ? expected : after_prefix) << "form " << i;
  }
  EXPECT_EQ(calls.to_host(), (std::vector<int>{2, 3}));
}

#if STRATA_HOST_SIMT
// Host only, because device code cannot call the functions of std::array.
TEST(thread_reduce, takes_a_standard_array) {
  EXPECT_EQ(ThreadReduce(std::array<short, 4>{1, 2, 3, 4}, strata::Sum{}), 10);
}
#endif

// ---------------------------------------------------------------------------- as a user calls it
STRATA_KERNEL void row_sums(const int* in, int* out) {
  int row[4];
  for (unsigned i = 0; i < 4; ++i) row[i] = in[4 * threadIdx.x + i];
  out[threadIdx.x] = strata::ThreadReduce(row, strata::Sum{});
}

TEST(thread_reduce, sums_an_array) {
  const device_vector<int> in({1, 2, 3, 4, 10, 20, 30, 40});
  device_vector<int> out(2);
  ASSERT_CUDA_SUCCESS(strata::launch({"row_sums", 1, 2}, row_sums, in.data(), out.data()));
  EXPECT_EQ(out.to_host(), (std::vector<int>{10, 100}));
}

}  // namespace
