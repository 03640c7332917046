// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The host compiler and nvcc both recognise operators of the toolkit's libraries, by their names.
#include <strata/core/operators.hpp>
#include <strata/device/device_reduce.cuh>

#include <gtest/gtest.h>

#include <thrust/functional.h>
#include <cstdint>
#include <cub/thread/thread_operators.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
#include <random>
#include <vector>

#include "support/test_support.cuh"

namespace {

using strata::hardware_reduction;
using strata::operator_traits;
using strata_test::device_vector;

template <class Operator, class T>
constexpr hardware_reduction operation = operator_traits<Operator, T>::hardware;
template <class Operator, class T>
constexpr bool is_known = operator_traits<Operator, T>::commutative;

static_assert(operation<cuda::std::plus<>, int> == hardware_reduction::add);
static_assert(operation<cuda::std::plus<int>, int> == hardware_reduction::add);
static_assert(operation<cuda::std::bit_and<>, unsigned> == hardware_reduction::bit_and);
static_assert(operation<cuda::std::bit_or<>, unsigned> == hardware_reduction::bit_or);
static_assert(operation<cuda::std::bit_xor<>, unsigned> == hardware_reduction::bit_xor);
static_assert(operation<cuda::minimum<>, int> == hardware_reduction::min);
static_assert(operation<cuda::maximum<>, int> == hardware_reduction::max);
static_assert(operation<thrust::plus<int>, int> == hardware_reduction::add);
static_assert(operation<thrust::minimum<int>, int> == hardware_reduction::min);
static_assert(operation<thrust::maximum<int>, int> == hardware_reduction::max);
static_assert(operation<thrust::bit_xor<unsigned>, unsigned> == hardware_reduction::bit_xor);
static_assert(is_known<cuda::std::plus<>, float> && is_known<cuda::maximum<>, std::int64_t>);
// Not known: the first one's result would depend on the order of NaNs, the second one rounds, the third one subtracts.
static_assert(!is_known<cuda::maximum<>, float> && !is_known<cuda::std::plus<float>, int>);
static_assert(!is_known<cuda::std::minus<>, int>);

// Sums by another library's operator must be added in the order of strata::Sum, so the results agree to the last bit.
TEST(foreign_operators, sums_are_those_of_the_operator_of_strata) {
  std::mt19937_64 bits = strata_test::random_bits(3);
  std::vector<float> items(1000003);
  for (float& item : items) item = static_cast<float>(bits() % 1000) / 7;
  const device_vector<float> in(items);
  device_vector<float> out(std::vector<float>(3));
  ASSERT_CUDA_SUCCESS(strata::DeviceReduce::Reduce(in.data(), out.data(), items.size(), strata::Sum{}, 0.0f));
  ASSERT_CUDA_SUCCESS(strata::DeviceReduce::Reduce(in.data(), out.data() + 1, items.size(), cuda::std::plus<>{}, 0.0f));
  ASSERT_CUDA_SUCCESS(
      strata::DeviceReduce::Reduce(in.data(), out.data() + 2, items.size(), thrust::plus<float>{}, 0.0f));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  const std::vector<float> sums = out.to_host();
  EXPECT_GT(sums[0], 0);
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_EQ(sums[0], sums[2]);
}

}  // namespace
