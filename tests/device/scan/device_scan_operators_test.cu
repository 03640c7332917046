// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceScan with operators of all kinds and items of all sizes.
#include <strata/device/device_scan.cuh>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_scan_support.cuh"
#include "support/own_operators.cuh"
#include "support/test_types.cuh"

namespace {

using namespace device_test;
using strata::DeviceScan;
using strata_test::interval;
using strata_test::join;
using strata_test::join_intervals;
using strata_test::plain_sum;
using strata_test::string_hash;

template <class T, class Op, class Init>
std::vector<T> exclusive(const T* in, std::size_t count, Op op, Init init, std::size_t shift = 0) {
  return scan_results<T>(count, shift, [&](T* out, auto&&... storage) {
    return DeviceScan::ExclusiveScan(storage..., in, out, op, init, count);
  });
}
template <class T, class Op>
std::vector<T> inclusive(const T* in, std::size_t count, Op op, std::size_t shift = 0) {
  return scan_results<T>(count, shift, [&](T* out, auto&&... storage) {
    return DeviceScan::InclusiveScan(storage..., in, out, op, count);
  });
}
template <class T, class Op, class Init>
std::vector<T> inclusive_with_init(const T* in, std::size_t count, Op op, Init init, std::size_t shift = 0) {
  return scan_results<T>(count, shift, [&](T* out, auto&&... storage) {
    return DeviceScan::InclusiveScanInit(storage..., in, out, op, init, count);
  });
}

// ------------------------------------------------------------------ order and operands

template <class Interval>
class DeviceScanOrder : public ::testing::Test {};
#if defined(STRATA_TEST_FEW_TYPES)
using interval_types = ::testing::Types<interval<int, 0>, interval<long long, 3>>;
#else
// Intervals of 8, 12 and 40 bytes.
using interval_types = ::testing::Types<interval<int, 0>, interval<int, 1>, interval<long long, 3>>;
#endif
TYPED_TEST_SUITE(DeviceScanOrder, interval_types);

TYPED_TEST(DeviceScanOrder, operator_joins_neighbours_in_order_and_nothing_else) {
  using Interval = TypeParam;
  using Word = decltype(Interval{}.begin);
  std::vector<std::size_t> lengths = boundary_sizes(if_small<std::size_t>(5000, 40000));
  lengths.push_back(if_small<std::size_t>(30000, (8u << 20) / sizeof(Interval) + 3));
  const device_vector<Interval> in(strata_test::single_numbers<Interval>(lengths.back() + 1));
  device_vector<unsigned> violations(std::vector<unsigned>(1, 0u));
  const join_intervals op{violations.data()};
  for (const std::size_t start : sizes{0, 1}) {
    for (const std::size_t size : lengths) {
      if (start == 1 && size > 5000) continue;
      SCOPED_TRACE(testing::Message() << size << " from " << start);
      Interval init{};
      init.begin = -5;
      init.end = static_cast<Word>(start);
      const std::vector<Interval> before = exclusive(in.data() + start, size, op, init);
      const std::vector<Interval> up_to = inclusive(in.data() + start, size, op);
      for (std::size_t i = 0; i < size; ++i) {
        ASSERT_EQ(-5, before[i].begin) << i;
        ASSERT_EQ(static_cast<Word>(start + i), before[i].end) << i;
        ASSERT_EQ(static_cast<Word>(start), up_to[i].begin) << i;
        ASSERT_EQ(static_cast<Word>(start + i + 1), up_to[i].end) << i;
      }
      ASSERT_EQ(0u, violations.to_host()[0]);
    }
  }
}

// Maximum that counts operands which are the sentinel. Sentinels lie before and behind the input, so the count shows
// operands that are not items.
template <class T>
struct wary_max {
  T sentinel;
  unsigned* violations;
  STRATA_D T operator()(const T& a, const T& b) const {
    if (a == sentinel || b == sentinel) atomicAdd(violations, 1u);
    return a < b ? b : a;
  }
};
struct plain_max {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

TEST(device_scan_operators, padding_of_bytes_is_never_an_operand) {
  using T = std::uint8_t;
  constexpr std::size_t lead = 32;
  const T sentinel{200};
  device_vector<unsigned> violations(std::vector<unsigned>(1, 0u));
  for (const std::size_t size : boundary_sizes(if_small<std::size_t>(5000, 70000))) {
    const std::size_t start = lead + size % 5;
    std::vector<T> items(start + size + lead, sentinel);
    const std::vector<T> real = random_integers<T>(size, 1, 199, size);
    std::copy(real.begin(), real.end(), items.begin() + static_cast<std::ptrdiff_t>(start));
    const device_vector<T> in(items);
    ASSERT_SAME_ITEMS(inclusive_scan<T>(real.data(), size, plain_max{}),
                      inclusive(in.data() + start, size, wary_max<T>{sentinel, violations.data()}));
    ASSERT_EQ(0u, violations.to_host()[0]) << size;
  }
}

// ------------------------------------------------------------------ items of all sizes

struct by_composition {
  template <class T>
  STRATA_HD T operator()(const T& a, const T& b) const {
    return compose{}(a, b);
  }
  STRATA_HD string_hash operator()(const string_hash& a, const string_hash& b) const { return join{}(a, b); }
  template <std::size_t Count, class Word>
  STRATA_HD strata_test::words<Count, Word> operator()(const strata_test::words<Count, Word>& a,
                                                       const strata_test::words<Count, Word>& b) const {
    return a + b;
  }
};

template <class T>
class DeviceScanItems : public ::testing::Test {};
#if defined(STRATA_TEST_FEW_TYPES)
using item_types = ::testing::Types<packed_affine<std::uint8_t>, string_hash>;
#else
// Items of 1, 2, 4, 8, 16 and 3 bytes.
using item_types =
    ::testing::Types<packed_affine<std::uint8_t>, packed_affine<std::uint16_t>, packed_affine<std::uint32_t>,
                     packed_affine<std::uint64_t>, string_hash, strata_test::bytes3>;
#endif
TYPED_TEST_SUITE(DeviceScanItems, item_types);

TYPED_TEST(DeviceScanItems, are_combined_each_once_and_in_order) {
  const std::vector<std::size_t> lengths = boundary_sizes(if_small<std::size_t>(5000, 70000));
  const std::vector<TypeParam> items = scan_items<TypeParam>::make(lengths.back() + 40);
  const device_vector<TypeParam> in(items);
  const TypeParam init = scan_items<TypeParam>::make(1, 9)[0];
  const by_composition op{};
  for (const std::size_t size : lengths) {
    const std::size_t start = size % 17;
    SCOPED_TRACE(testing::Message() << size << " from " << start);
    const TypeParam* const first = items.data() + start;
    const TypeParam* const from = in.data() + start;
    EXPECT_SAME_ITEMS(exclusive_scan(first, size, op, init), exclusive(from, size, op, init, size % 3));
    EXPECT_SAME_ITEMS(inclusive_scan<TypeParam>(first, size, op), inclusive(from, size, op, size % 5));
  }
}

// With the library's tuning, these arrays take more rounds than there are slots for aggregates, so slots are reused.
TYPED_TEST(DeviceScanItems, may_be_many) {
  if (is_small()) GTEST_SKIP() << "17 MiB take too long when every access is watched";
  const std::size_t size = large_count<TypeParam>();
  const std::vector<TypeParam> items = scan_items<TypeParam>::make(size + 3);
  const device_vector<TypeParam> in(items);
  const by_composition op{};
  EXPECT_SAME_ITEMS(inclusive_scan<TypeParam>(items.data() + 1, size, op), inclusive(in.data() + 1, size, op, 1));
}

// ------------------------------------------------------------------ kinds of operators

TEST(device_scan_operators, running_extrema) {
  const auto most = if_small<std::size_t>(20000, 300001);
  const std::vector<int> items = random_integers<int>(most, -1000000, 1000000);
  const device_vector<int> in(items);
  constexpr int lowest = std::numeric_limits<int>::lowest();
  for (const std::size_t size : sizes{1, 31, 33, 4097, most}) {
    EXPECT_SAME_ITEMS(inclusive_scan<int>(items.data(), size, plain_max{}), inclusive(in.data(), size, strata::Max{}));
    EXPECT_SAME_ITEMS(exclusive_scan(items.data(), size, plain_max{}, lowest),
                      exclusive(in.data(), size, strata::Max{}, lowest));
  }
}

TEST(device_scan_operators, running_minimum_of_floats) {
  const std::vector<float> items = random_reals<float>(20001, -1.0, 1.0);
  const device_vector<float> in(items);
  const auto least = [](float a, float b) { return b < a ? b : a; };
  EXPECT_SAME_ITEMS(inclusive_scan(items.data(), items.size(), least, -0.5f),
                    inclusive_with_init(in.data(), items.size(), strata::Min{}, -0.5f));
}

struct larger_by_reference {
  STRATA_HD const int& operator()(const int& a, const int& b) const { return a < b ? b : a; }
};

TEST(device_scan_operators, may_return_one_of_the_operands_by_reference) {
  const std::vector<int> items = random_integers<int>(20000, -1000000, 1000000);
  const device_vector<int> in(items);
  EXPECT_SAME_ITEMS(inclusive_scan<int>(items.data(), items.size(), plain_max{}),
                    inclusive(in.data(), items.size(), larger_by_reference{}));
}

// nvcc refuses device lambdas in the body of a test, which is a private member function.
std::vector<int> sums_modulo(const std::vector<int>& items, int modulus) {
  const device_vector<int> in(items);
  const auto add = [modulus] __host__ __device__(int a, int b) { return (a + b) % modulus; };
  return exclusive(in.data(), items.size(), add, 5);
}

TEST(device_scan_operators, may_be_a_lambda_with_a_state) {
  const std::vector<int> items = random_integers<int>(20000, 0, 1000);
  const auto add = [](int a, int b) { return (a + b) % 1009; };
  EXPECT_SAME_ITEMS(exclusive_scan(items.data(), items.size(), add, 5), sums_modulo(items, 1009));
}

struct add_31_bits {
  STRATA_HD std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return (a + b) & 0x7fffffffu; }
};

}  // namespace

template <>
struct strata::operator_traits<add_31_bits, std::uint32_t> : strata::commutative_operator {};

namespace {

TEST(device_scan_operators, may_be_declared_commutative_by_its_traits) {
  const auto most = if_small<std::size_t>(20000, 300001);
  const std::vector<std::uint32_t> items = random_integers<std::uint32_t>(most, 0, 0x7fffffff);
  const device_vector<std::uint32_t> in(items);
  for (const std::size_t size : sizes{1, 31, 33, 4097, most}) {
    EXPECT_SAME_ITEMS(inclusive_scan<std::uint32_t>(items.data(), size, add_31_bits{}),
                      inclusive(in.data(), size, add_31_bits{}));
  }
}

}  // namespace
