// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceReduce::Reduce with operators and items of all kinds.
#include <strata/device/device_reduce.cuh>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"
#include "support/own_operators.cuh"

namespace {

using namespace device_test;
using strata::DeviceReduce;
using strata_test::affine;
using strata_test::interval;
using strata_test::join_intervals;

// ------------------------------------------------------------------ order and operands

template <class Interval>
class DeviceReduceOrder : public ::testing::Test {};
// 8 bytes (loaded in packs of two), 16 bytes (loaded one by one), 12 and 40 bytes (without 16-byte loads).
using interval_types =
    ::testing::Types<interval<int, 0>, interval<long long, 0>, interval<int, 1>, interval<long long, 3>>;
TYPED_TEST_SUITE(DeviceReduceOrder, interval_types);

TYPED_TEST(DeviceReduceOrder, operator_joins_neighbours_in_order_and_nothing_else) {
  using Interval = TypeParam;
  using Word = decltype(Interval{}.begin);
  const std::vector<std::size_t> lengths = usual_sizes();
  const device_vector<Interval> in(strata_test::single_numbers<Interval>(lengths.back() + 1));
  device_vector<unsigned> violations(std::vector<unsigned>(1, 0u));
  Interval init{};
  init.begin = -5;
  for (const std::size_t start : sizes{0, 1}) {
    init.end = static_cast<Word>(start);
    for (const std::size_t size : lengths) {
      if (start == 1 && size > 5000) continue;
      const Interval joined = result_of<Interval>([&](Interval* out, auto&&... storage) {
        return DeviceReduce::Reduce(storage..., in.data() + start, out, size, join_intervals{violations.data()}, init);
      });
      ASSERT_EQ(-5, joined.begin) << size << " from " << start;
      ASSERT_EQ(static_cast<Word>(start + size), joined.end) << size << " from " << start;
      ASSERT_EQ(0u, violations.to_host()[0]) << size << " from " << start;
    }
  }
}

// Composes maps x -> factor * x + offset modulo 2^32. The first one is applied first.
struct compose {
  STRATA_HD affine operator()(const affine& first, const affine& second) const {
    return {first.factor * second.factor, first.offset * second.factor + second.offset};
  }
};

TEST(device_reduce_operators, composes_functions_in_order) {
  std::vector<affine> items(if_small<std::size_t>(40000, 300001));
  const auto words = random_integers<std::uint32_t>(2 * items.size(), 0, 0xffffffffll);
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = {words[2 * i] | 1, words[2 * i + 1]};
  const device_vector<affine> in(items);
  const affine expected = std::accumulate(items.begin(), items.end(), affine{3, 4}, compose{});
  const affine composed = result_of<affine>([&](affine* out, auto&&... storage) {
    return DeviceReduce::Reduce(storage..., in.data(), out, items.size(), compose{}, affine{3, 4});
  });
  EXPECT_EQ(expected.factor, composed.factor);
  EXPECT_EQ(expected.offset, composed.offset);
}

// Associative, but not commutative. One load takes 16 items of one byte, whose order must be kept.
struct last {
  template <class T>
  STRATA_HD T operator()(const T&, const T& b) const {
    return b;
  }
};

TEST(device_reduce_operators, last_of_bytes_is_the_last) {
  const std::vector<std::size_t> lengths = boundary_sizes(if_small<std::size_t>(5000, 100000));
  const std::vector<std::uint8_t> items = random_integers<std::uint8_t>(lengths.back() + 40, 0, 255);
  const device_vector<std::uint8_t> in(items);
  for (const std::size_t size : lengths) {
    const std::size_t start = size % 17;
    const std::uint8_t expected = size == 0 ? std::uint8_t{77} : items[start + size - 1];
    EXPECT_EQ(expected, result_of<std::uint8_t>([&](std::uint8_t* out, auto&&... storage) {
                return DeviceReduce::Reduce(storage..., in.data() + start, out, size, last{}, std::uint8_t{77});
              }))
        << size;
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

template <class T>
class DeviceReducePadding : public ::testing::Test {};
using padding_types = ::testing::Types<std::uint8_t, std::uint16_t, float, std::uint64_t>;
TYPED_TEST_SUITE(DeviceReducePadding, padding_types);

TYPED_TEST(DeviceReducePadding, is_never_an_operand) {
  using T = TypeParam;
  constexpr std::size_t lead = 32;
  const T sentinel{200};
  device_vector<unsigned> violations(std::vector<unsigned>(1, 0u));
  for (const std::size_t size : boundary_sizes(if_small<std::size_t>(5000, 70000))) {
    const std::size_t start = lead + size % 5;
    std::vector<T> items(start + size + lead, sentinel);
    const std::vector<T> real = random_integers<T>(size, 1, 199, size);
    std::copy(real.begin(), real.end(), items.begin() + static_cast<std::ptrdiff_t>(start));
    const device_vector<T> in(items);
    const T expected = std::accumulate(real.begin(), real.end(), T{1}, [](T a, T b) { return a < b ? b : a; });
    ASSERT_EQ(expected, result_of<T>([&](T* out, auto&&... storage) {
                return DeviceReduce::Reduce(storage..., in.data() + start, out, size,
                                            wary_max<T>{sentinel, violations.data()}, T{1});
              }))
        << size;
    ASSERT_EQ(0u, violations.to_host()[0]) << size;
  }
}

// ------------------------------------------------------------------ kinds of operators

struct larger_by_reference {
  STRATA_HD const int& operator()(const int& a, const int& b) const { return a < b ? b : a; }
};

TEST(device_reduce_operators, may_return_one_of_the_operands_by_reference) {
  const std::vector<int> items = random_integers<int>(20000, -1000000, 1000000);
  const device_vector<int> in(items);
  EXPECT_EQ(*std::max_element(items.begin(), items.end()), result_of<int>([&](int* out, auto&&... storage) {
    return DeviceReduce::Reduce(storage..., in.data(), out, items.size(), larger_by_reference{}, -2000000);
  }));
}

// nvcc refuses device lambdas in the body of a test, which is a private member function.
int sum_modulo(const std::vector<int>& items, int modulus) {
  const device_vector<int> in(items);
  const auto add = [modulus] __host__ __device__(int a, int b) { return (a + b) % modulus; };
  return result_of<int>([&](int* out, auto&&... storage) {
    return DeviceReduce::Reduce(storage..., in.data(), out, items.size(), add, 0);
  });
}

TEST(device_reduce_operators, may_be_a_lambda_with_a_state) {
  const std::vector<int> items = random_integers<int>(20000, 0, 1000);
  EXPECT_EQ(std::accumulate(items.begin(), items.end(), 0) % 1009, sum_modulo(items, 1009));
}

struct add_modulo_prime {
  STRATA_HD std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return (a + b) % 65521u; }
};

}  // namespace

template <>
struct strata::operator_traits<add_modulo_prime, std::uint32_t> : strata::commutative_operator {};

namespace {

// An operator of a program that was ported from CUB: STRATA_RUNTIME_FUNCTION stands for CUB_RUNTIME_FUNCTION.
struct smaller {
  template <class T>
  STRATA_RUNTIME_FUNCTION __forceinline__ T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};

TEST(device_reduce_operators, may_be_a_runtime_function) {
  const device_vector<int> in(std::vector<int>{5, -3, 8});
  device_vector<int> out(1);
  EXPECT_EQ(DeviceReduce::Reduce(in.data(), out.data(), 3, smaller{}, 100), cudaSuccess);
  EXPECT_EQ(out.to_host(), std::vector<int>{-3});
  EXPECT_EQ(smaller{}(2.0, 1.0), 1.0);
}

TEST(device_reduce_operators, may_be_declared_commutative_by_its_traits) {
  const std::vector<std::uint32_t> items = random_integers<std::uint32_t>(20000, 0, 65520);
  const device_vector<std::uint32_t> in(items);
  for (const std::size_t size : sizes{1, 31, 33, 4097, 20000}) {
    const auto end = items.begin() + static_cast<std::ptrdiff_t>(size);
    EXPECT_EQ(std::accumulate(items.begin(), end, 5u, add_modulo_prime{}),
              result_of<std::uint32_t>([&](std::uint32_t* out, auto&&... storage) {
                return DeviceReduce::Reduce(storage..., in.data(), out, size, add_modulo_prime{}, 5u);
              }));
  }
}

template <class Operator>
std::uint32_t reduce_words(const device_vector<std::uint32_t>& in, Operator op, std::uint32_t init) {
  return result_of<std::uint32_t>([&](std::uint32_t* out, auto&&... storage) {
    return DeviceReduce::Reduce(storage..., in.data(), out, in.size(), op, init);
  });
}

TEST(device_reduce_operators, bits_combine_as_they_do_on_the_host) {
  const std::vector<std::uint32_t> items = random_integers<std::uint32_t>(9999, 0, 0xffffffffll);
  std::uint32_t every = ~0u;
  std::uint32_t any = 0;
  std::uint32_t parity = 0;
  std::vector<std::uint32_t> with_bit_9 = items;
  for (std::uint32_t& item : with_bit_9) {
    item |= 512;
    every &= item;
  }
  for (const std::uint32_t item : items) {
    any |= item & 0xf0f0u;
    parity ^= item;
  }
  std::vector<std::uint32_t> nibbles = items;
  for (std::uint32_t& item : nibbles) item &= 0xf0f0u;
  EXPECT_EQ(every, reduce_words(device_vector<std::uint32_t>(with_bit_9), strata::BitAnd{}, ~0u));
  EXPECT_EQ(any, reduce_words(device_vector<std::uint32_t>(nibbles), strata::BitOr{}, 0u));
  EXPECT_EQ(parity, reduce_words(device_vector<std::uint32_t>(items), strata::BitXor{}, 0u));
}

}  // namespace
