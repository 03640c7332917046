// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/core/detail/aligned_range.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/operators.hpp>
#include <strata/core/types.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <limits>
#include <list>
#include <type_traits>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace {

using strata::DoubleBuffer;
using strata::KeyValuePair;
using strata::NullType;
using strata_test::device_vector;
using strata_test::int128;
namespace detail = strata::detail;

// ---------------------------------------------------------------------------- numbers
TEST(types, log2_is_rounded_up) {
  static_assert(strata::Log2<1>::VALUE == 0);
  static_assert(strata::Log2<2>::VALUE == 1);
  static_assert(strata::Log2<3>::VALUE == 2);
  static_assert(strata::Log2<32>::VALUE == 5);
  static_assert(strata::Log2<33>::VALUE == 6);
  static_assert(strata::Log2<(1 << 30) + 1>::VALUE == 31);
  for (int bits = 0; bits < 63; ++bits) {
    EXPECT_EQ(detail::log2_ceiling(1ull << bits), bits);
    EXPECT_EQ(detail::log2_ceiling((1ull << bits) + 1), bits + 1);
  }
}

TEST(types, powers_of_two) {
  static_assert(strata::PowerOfTwo<1>::VALUE);
  static_assert(strata::PowerOfTwo<64>::VALUE);
  static_assert(!strata::PowerOfTwo<0>::VALUE);
  static_assert(!strata::PowerOfTwo<48>::VALUE);
  EXPECT_TRUE(detail::is_power_of_two(1ull << 63));
  EXPECT_FALSE(detail::is_power_of_two(~0ull));
}

struct copied_by_function {
  int number;
  copied_by_function(const copied_by_function& other) : number(other.number) {}
};

TEST(types, arrays_move_16_bytes_at_a_time_if_these_hold_whole_items_that_are_bytes) {
  static_assert(detail::is_bulk_array<char*> && detail::is_bulk_array<const double*>);
  static_assert(detail::is_bulk_array<strata_test::struct16*> && detail::is_bulk_array<__half2*>);
  static_assert(!detail::is_bulk_array<strata_test::struct12*> && !detail::is_bulk_array<strata_test::struct64*>);
  static_assert(!detail::is_bulk_array<volatile int*> && !detail::is_bulk_array<const volatile int*>);
  static_assert(!detail::is_bulk_array<copied_by_function*>);
  static_assert(!detail::is_bulk_array<std::vector<int>::iterator>);
}

TEST(types, division_rounds_up_without_overflow) {
  EXPECT_EQ(detail::ceiling_divide(0, 5), 0);
  EXPECT_EQ(detail::ceiling_divide(1, 5), 1);
  EXPECT_EQ(detail::ceiling_divide(5, 5), 1);
  EXPECT_EQ(detail::ceiling_divide(6, 5), 2);
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(detail::ceiling_divide<std::uint64_t>(largest, 2), (largest >> 1) + 1);
  EXPECT_EQ(detail::round_up(0, 8), 0);
  EXPECT_EQ(detail::round_up(1, 8), 8);
  EXPECT_EQ(detail::round_up(16, 8), 16);
}

// ---------------------------------------------------------------------------- value types
TEST(types, pairs_are_equal_if_both_parts_are) {
  const KeyValuePair<int, float> pair{1, 2.0f};
  EXPECT_TRUE(pair == (KeyValuePair<int, float>{1, 2.0f}));
  EXPECT_TRUE(pair == (KeyValuePair<int, float>(1, 2.0f)));
  EXPECT_FALSE(pair == (KeyValuePair<int, float>{1, 3.0f}));
  EXPECT_FALSE(pair == (KeyValuePair<int, float>{2, 2.0f}));
  EXPECT_TRUE(pair != (KeyValuePair<int, float>{2, 2.0f}));
  EXPECT_FALSE(pair != (KeyValuePair<int, float>{1, 2.0f}));
  static_assert(std::is_same_v<KeyValuePair<int, float>::Key, int>);
  static_assert(std::is_same_v<KeyValuePair<int, float>::Value, float>);
  static_assert(std::is_trivially_copyable_v<KeyValuePair<int, float>>);
  static_assert(std::is_trivially_default_constructible_v<KeyValuePair<int, float>>);
  EXPECT_TRUE(NullType{} == NullType{});
  EXPECT_FALSE(NullType{} != NullType{});
}

STRATA_KERNEL void swap_and_fill(DoubleBuffer<int> buffers) {
  *buffers.Current() = 1;
  buffers.selector ^= 1;
  *buffers.Current() = 2;
  if (*buffers.Alternate() == 1) *buffers.Alternate() = 3;
}

TEST(types, double_buffer_swaps_by_its_selector) {
  device_vector<int> a(1), b(1);
  DoubleBuffer<int> buffers(a.data(), b.data());
  EXPECT_EQ(buffers.selector, 0);
  EXPECT_EQ(buffers.Current(), a.data());
  EXPECT_EQ(buffers.Alternate(), b.data());
  ASSERT_CUDA_SUCCESS(strata::launch({"swap_and_fill", 1, 1}, swap_and_fill, buffers));
  EXPECT_EQ(a.to_host()[0], 3);
  EXPECT_EQ(b.to_host()[0], 2);
  buffers.selector = 1;
  EXPECT_EQ(buffers.Current(), b.data());
  EXPECT_EQ(buffers.Alternate(), a.data());
  const DoubleBuffer<int> empty;
  EXPECT_EQ(empty.Current(), nullptr);
  EXPECT_EQ(empty.Alternate(), nullptr);
}

// ---------------------------------------------------------------------------- type traits
struct not_an_iterator {};
struct returns_reference {
  const long& operator()(int, int) const;
};

TEST(types, output_iterators_without_a_value_type_take_the_fallback) {
  static_assert(std::is_same_v<detail::output_value_t<float*, int>, float>);
  static_assert(std::is_same_v<detail::output_value_t<std::list<short>::iterator, int>, short>);
  using inserter = std::back_insert_iterator<std::vector<float>>;
  static_assert(std::is_same_v<detail::output_value_t<inserter, int>, int>);
  static_assert(std::is_same_v<detail::output_value_t<not_an_iterator, int>, int>);
  static_assert(std::is_same_v<detail::iterator_value_t<const double*>, double>);
}

TEST(types, accumulators_have_the_type_that_the_operator_returns) {
  static_assert(std::is_same_v<detail::accumulator_t<strata::Sum, short, short>, int>);
  static_assert(std::is_same_v<detail::accumulator_t<strata::Sum, float, int>, float>);
  static_assert(std::is_same_v<detail::accumulator_t<strata::Max, char, char>, char>);
  static_assert(std::is_same_v<detail::accumulator_t<returns_reference, int, int>, long>);
  static_assert(std::is_same_v<detail::accumulator_t<strata::Sum, int128, int>, int128>);
}

// Uninitialized<wide> must have its alignment, and must not run its constructor.
struct alignas(32) wide {
  int value = 7;
};

TEST(types, uninitialized_storage_fits_and_runs_no_constructor) {
  static_assert(sizeof(strata::Uninitialized<wide>) == sizeof(wide));
  static_assert(alignof(strata::Uninitialized<wide>) == 32);
  static_assert(std::is_trivially_default_constructible_v<strata::Uninitialized<wide>>);
  strata::Uninitialized<wide> storage;
  EXPECT_EQ(static_cast<void*>(&storage.Alias()), static_cast<void*>(&storage));
}

// ---------------------------------------------------------------------------- extremes
TEST(types, extremes_of_numbers) {
  EXPECT_EQ(detail::value_limits<std::int8_t>::max(), 127);
  EXPECT_EQ(detail::value_limits<std::int8_t>::lowest(), -128);
  EXPECT_EQ(detail::value_limits<float>::max(), std::numeric_limits<float>::max());
  EXPECT_EQ(detail::value_limits<float>::lowest(), -std::numeric_limits<float>::max());
}

TEST(types, extremes_of_16_bit_floats) {
  using half = detail::value_limits<__half>;
  EXPECT_EQ(static_cast<float>(half::max()), 65504.0f);
  EXPECT_EQ(static_cast<float>(half::lowest()), -65504.0f);
  using bfloat16 = detail::value_limits<__nv_bfloat16>;
  EXPECT_EQ(static_cast<float>(bfloat16::max()), 0x1.FEp127f);
  EXPECT_EQ(static_cast<float>(bfloat16::lowest()), -0x1.FEp127f);
}

TEST(types, extremes_of_128_bit_integers) {
  const int128 largest = detail::value_limits<int128>::max();
  const int128 lowest = detail::value_limits<int128>::lowest();
  EXPECT_EQ(static_cast<std::uint64_t>(largest), ~std::uint64_t{0});
  EXPECT_EQ(static_cast<std::int64_t>(largest >> 64), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(static_cast<std::uint64_t>(lowest), 0u);
  EXPECT_EQ(static_cast<std::int64_t>(lowest >> 64), std::numeric_limits<std::int64_t>::min());
  using unsigned128 = unsigned __int128;
  EXPECT_TRUE(detail::value_limits<unsigned128>::max() + 1 == 0);
  EXPECT_TRUE(detail::value_limits<unsigned128>::lowest() == 0);
}

}  // namespace
