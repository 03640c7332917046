// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Host back end only: vector types, half and bfloat16, bit intrinsics, and atomics on every type.
#include <gtest/gtest.h>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/simt/half.hpp>

#include <cmath>
#include <random>
#include <vector>

using strata::launch;

namespace {

static_assert(sizeof(char4) == 4 && alignof(char4) == 4 && alignof(char3) == 1);
static_assert(sizeof(short4) == 8 && alignof(short4) == 8 && sizeof(short3) == 6);
static_assert(sizeof(int2) == 8 && alignof(int2) == 8 && sizeof(int3) == 12);
static_assert(sizeof(float4) == 16 && alignof(float4) == 16 && alignof(float3) == 4);
static_assert(sizeof(double2) == 16 && alignof(double2) == 16 && sizeof(double4) == 32);
static_assert(sizeof(ulonglong2) == 16 && alignof(ulonglong2) == 16);
static_assert(make_int4(1, 2, 3, 4).z == 3);
static_assert(sizeof(__half) == 2 && sizeof(__nv_bfloat16) == 2);
static_assert(std::is_trivially_copyable_v<__half>);
static_assert(std::is_trivially_default_constructible_v<__half>);

// The nearest value of a format with p bits of precision, ties to even, computed by the C library.
double nearest(double value, int precision, int smallest_exponent, double largest) {
  if (value == 0 || std::isinf(value)) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int unit = std::max(exponent - precision, smallest_exponent);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  return std::fabs(rounded) > largest ? std::copysign(INFINITY, value) : rounded;
}

TEST(Half, rounds_to_nearest_even_over_the_whole_range) {
  std::mt19937 bits(1);
  for (int i = 0; i < 200000; ++i) {
    const float value = __uint_as_float(static_cast<unsigned>(bits()));
    if (std::isnan(value)) continue;
    EXPECT_EQ(__half2float(__float2half(value)), nearest(value, 11, -24, 65504.0)) << value;
    EXPECT_EQ(__bfloat162float(__float2bfloat16(value)), nearest(value, 8, -133, 3.3895313892515355e38)) << value;
  }
}
TEST(Half, every_value_survives_the_way_through_float) {
  for (unsigned i = 0; i < 65536; ++i) {
    const __half h = __ushort_as_half(static_cast<unsigned short>(i));
    const __nv_bfloat16 b = __ushort_as_bfloat16(static_cast<unsigned short>(i));
    if (!__hisnan(h)) {
      EXPECT_EQ(__half_as_ushort(__float2half(__half2float(h))), i);
    }
    if (!__hisnan(b)) {
      EXPECT_EQ(__bfloat16_as_ushort(__float2bfloat16(__bfloat162float(b))), i);
    }
  }
}
TEST(Half, known_values_ties_and_specials) {
  EXPECT_EQ(__half_as_ushort(__float2half(1.0f)), 0x3c00);
  EXPECT_EQ(__half_as_ushort(__float2half(65504.0f)), 0x7bff);
  EXPECT_EQ(__half_as_ushort(__float2half(65520.0f)), 0x7c00);  // a tie, to infinity
  EXPECT_EQ(__half_as_ushort(__float2half(65519.996f)), 0x7bff);
  EXPECT_EQ(__half_as_ushort(__float2half(1.0f + 1.0f / 2048)), 0x3c00);  // a tie, to even
  EXPECT_EQ(__half_as_ushort(__float2half(1.0f + 3.0f / 2048)), 0x3c02);
  EXPECT_EQ(__half_as_ushort(__float2half(std::ldexp(1.0f, -25))), 0);
  EXPECT_EQ(__half_as_ushort(__float2half(std::ldexp(1.5f, -25))), 1);
  EXPECT_EQ(__half_as_ushort(__float2half(-0.0f)), 0x8000);
  EXPECT_EQ(__half_as_ushort(__float2half(NAN)), 0x7fff);
  EXPECT_EQ(__bfloat16_as_ushort(__float2bfloat16(1.0f)), 0x3f80);
  EXPECT_TRUE(__hisnan(__float2bfloat16(NAN)));
}
TEST(Half, arithmetic_rounds_each_step) {
  const __half big = 2048.0f, one = 1.0f;
  EXPECT_EQ(static_cast<float>(big + one), 2048.0f);
  EXPECT_EQ(static_cast<float>(one / __half(3)), 0.333251953125f);
  __half sum = 0;
  for (int i = 0; i < 10; ++i) sum += __half(0.5f);
  EXPECT_TRUE(sum == __half(5));
  EXPECT_TRUE(-one < one && one >= one && !(one != one));
  EXPECT_FALSE(__float2half(NAN) == __float2half(NAN));
}

TEST(Bits, intrinsics_agree_with_loops) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 1000; ++i) {
    const unsigned long long x = random() >> (random() % 64);
    const unsigned low = static_cast<unsigned>(x);
    unsigned reversed = 0;
    int ones = 0, zeros = 32;
    for (int bit = 0; bit < 32; ++bit) {
      if ((low >> bit & 1) == 0) continue;
      reversed |= 1u << (31 - bit);
      ++ones;
      zeros = 31 - bit;
    }
    EXPECT_EQ(__brev(low), reversed);
    EXPECT_EQ(__popc(low), ones);
    EXPECT_EQ(__clz(static_cast<int>(low)), zeros);
    EXPECT_EQ(__brevll(__brevll(x)), x);
    const unsigned shift = static_cast<unsigned>(random() % 32), high = static_cast<unsigned>(x >> 32);
    EXPECT_EQ(__funnelshift_l(low, high, shift), static_cast<unsigned>(x << shift >> 32));
    EXPECT_EQ(__funnelshift_r(low, high, shift), static_cast<unsigned>(x >> shift));
  }
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__clzll(1), 63);
  EXPECT_EQ(__byte_perm(0x33221100u, 0x77665544u, 0x7531u), 0x77553311u);
  EXPECT_EQ(__byte_perm(0x80u, 0, 0x8888u), 0xffffffffu);
  EXPECT_EQ(__umulhi(0xffffffffu, 0xffffffffu), 0xfffffffeu);
  EXPECT_EQ(min(-1, 2), -1);
  EXPECT_EQ(max(-1, 2u), 0xffffffffu);
}

template <class T>
STRATA_KERNEL void all_atomics(T* words) {
  const int t = static_cast<int>(threadIdx.x);
  atomicAdd(&words[0], static_cast<T>(t));
  atomicMin(&words[1], static_cast<T>(100 - t));
  atomicMax(&words[2], static_cast<T>(t));
  atomicExch(&words[3], static_cast<T>(7));
  T seen = 0;
  for (;;) {  // adds by compare and swap
    const T old = atomicCAS(&words[4], seen, seen + T(1));
    if (old == seen) break;
    seen = old;
  }
}
template <class T>
class Atomics : public testing::Test {};
using AtomicTypes = testing::Types<int, unsigned, long long, unsigned long long, float, double, __half>;
TYPED_TEST_SUITE(Atomics, AtomicTypes);

TYPED_TEST(Atomics, update_and_exchange) {
  using T = TypeParam;
  const std::vector<T> before = {T(1), T(100), T(-1), T(0), T(0)};
  T* words = nullptr;
  ASSERT_EQ(cudaMalloc(&words, 5 * sizeof(T)), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(words, before.data(), 5 * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(launch({"atomics", 1, 64}, all_atomics<T>, words), cudaSuccess) << strata::simt::last_report().text;
  std::vector<T> after(5);
  ASSERT_EQ(cudaMemcpy(after.data(), words, 5 * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(after[0], T(1 + 63 * 64 / 2));
  EXPECT_EQ(after[1], T(37));
  EXPECT_EQ(after[2], std::is_unsigned_v<T> ? T(-1) : T(63));
  EXPECT_EQ(after[3], T(7));
  EXPECT_EQ(after[4], T(64));
  EXPECT_EQ(cudaFree(words), cudaSuccess);
}

STRATA_KERNEL void integer_atomics(unsigned* words) {
  const unsigned bit = 1u << threadIdx.x;
  atomicOr(&words[0], bit);
  atomicAnd(&words[1], ~bit);
  atomicXor(&words[2], bit);
  atomicInc(&words[3], 9u);
  atomicDec(&words[4], 9u);
  atomicSub(&words[5], 1u);
}
TEST(IntegerAtomics, update_bits_and_count) {
  const std::vector<unsigned> before = {0, ~0u, 5, 0, 0, 100};
  unsigned* words = nullptr;
  ASSERT_EQ(cudaMalloc(&words, 24), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(words, before.data(), 24, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(launch({"atomics", 1, 32}, integer_atomics, words), cudaSuccess);
  std::vector<unsigned> after(6);
  ASSERT_EQ(cudaMemcpy(after.data(), words, 24, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(after, (std::vector<unsigned>{~0u, 0, ~5u, 32 % 10, 10 - 32 % 10, 68}));
  EXPECT_EQ(cudaFree(words), cudaSuccess);
}

}  // namespace
