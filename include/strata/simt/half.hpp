// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// __half and __nv_bfloat16 for host SIMT sources: the toolkit's names and sizes. Arithmetic goes through float, and
// each result is rounded. The GPU's instructions round once. Here, a result may be rounded twice, first to float. This
// can change the result only in __hfma, and in conversions of double and of large integers.
#pragma once

#include <cmath>

#include <strata/simt/engine.hpp>

namespace strata {
namespace simt {
namespace detail {

// Round to nearest, ties to even, into a format with the given number of stored mantissa bits and
// exponent bits; gradual underflow, overflow to infinity.
template <int MantissaBits, int ExponentBits>
inline uint16_t narrow(float value) {
  constexpr uint32_t sign_of_result = uint32_t{1} << (MantissaBits + ExponentBits);
  constexpr uint32_t infinity = ((uint32_t{1} << ExponentBits) - 1) << MantissaBits;
  constexpr int bias = (1 << (ExponentBits - 1)) - 1;
  const uint32_t bits = static_cast<uint32_t>(to_bits(value));
  const uint32_t sign = bits >> 31 != 0 ? sign_of_result : 0;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;  // NaN: the canonical one, as cvt.rn makes it
  if (magnitude == 0x7f800000u) return static_cast<uint16_t>(sign | infinity);
  int exponent = static_cast<int>(magnitude >> 23) - 127 + bias;
  uint32_t mantissa = magnitude & 0x7fffffu;
  int drop = 23 - MantissaBits;
  if (magnitude >> 23 != 0) mantissa |= 0x800000u;
  if (magnitude >> 23 == 0) ++exponent;  // a float subnormal has the exponent of the smallest normal
  if (exponent <= 0) {                   // subnormal in the narrow format, or zero
    drop += 1 - exponent;
    exponent = 0;
  }
  if (drop > 25) return static_cast<uint16_t>(sign);
  const uint32_t kept = mantissa >> drop;
  const uint32_t rest = mantissa & ((uint32_t{1} << drop) - 1);
  const uint32_t half = uint32_t{1} << (drop - 1);
  const uint32_t round_up = rest > half || (rest == half && (kept & 1) != 0);
  // For a normal number the implicit bit of `kept` adds one to the exponent field; a carry out of
  // the mantissa does so too, and rightly.
  const uint32_t field = exponent > 0 ? static_cast<uint32_t>(exponent - 1) << MantissaBits : 0;
  const uint32_t result = field + kept + round_up;
  return static_cast<uint16_t>(sign | (result > infinity ? infinity : result));
}

template <int MantissaBits, int ExponentBits>
inline float widen(uint16_t bits) {
  constexpr int bias = (1 << (ExponentBits - 1)) - 1;
  constexpr uint32_t top_exponent = (uint32_t{1} << ExponentBits) - 1;
  const uint32_t exponent = uint32_t{bits} >> MantissaBits & top_exponent;
  const uint32_t mantissa = bits & ((uint32_t{1} << MantissaBits) - 1);
  const float sign = (bits >> (MantissaBits + ExponentBits) & 1) != 0 ? -1.0f : 1.0f;
  if (exponent == top_exponent) return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), 1 - bias - MantissaBits);
  return sign * std::ldexp(static_cast<float>(mantissa | uint32_t{1} << MantissaBits),
                           static_cast<int>(exponent) - bias - MantissaBits);
}

}  // namespace detail
}  // namespace simt
}  // namespace strata

// The tag gives these types other names in object files than the toolkit's types of the same names have.
#define STRATA_SIMT_NARROW_FLOAT(type, mantissa_bits, exponent_bits)                                              \
  struct [[gnu::abi_tag("strata_simt")]] type {                                                                   \
    unsigned short __x;                                                                                           \
    type() = default;                                                                                             \
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>                                         \
    type(T value) : __x(strata::simt::detail::narrow<mantissa_bits, exponent_bits>(static_cast<float>(value))) {} \
    operator float() const { return strata::simt::detail::widen<mantissa_bits, exponent_bits>(__x); }             \
    type& operator+=(type other) { return *this = type(float(*this) + float(other)); }                            \
    type& operator-=(type other) { return *this = type(float(*this) - float(other)); }                            \
    type& operator*=(type other) { return *this = type(float(*this) * float(other)); }                            \
    type& operator/=(type other) { return *this = type(float(*this) / float(other)); }                            \
    type& operator++() { return *this += type(1); }                                                               \
    type& operator--() { return *this -= type(1); }                                                               \
  };                                                                                                              \
  inline type operator+(type a, type b) { return type(float(a) + float(b)); }                                     \
  inline type operator-(type a, type b) { return type(float(a) - float(b)); }                                     \
  inline type operator*(type a, type b) { return type(float(a) * float(b)); }                                     \
  inline type operator/(type a, type b) { return type(float(a) / float(b)); }                                     \
  inline type operator+(type a) { return a; }                                                                     \
  inline type operator-(type a) {                                                                                 \
    a.__x = static_cast<unsigned short>(a.__x ^ 0x8000u);                                                         \
    return a;                                                                                                     \
  }                                                                                                               \
  inline bool operator==(type a, type b) { return float(a) == float(b); }                                         \
  inline bool operator!=(type a, type b) { return float(a) != float(b); }                                         \
  inline bool operator<(type a, type b) { return float(a) < float(b); }                                           \
  inline bool operator>(type a, type b) { return float(a) > float(b); }                                           \
  inline bool operator<=(type a, type b) { return float(a) <= float(b); }                                         \
  inline bool operator>=(type a, type b) { return float(a) >= float(b); }                                         \
  inline type __hadd(type a, type b) { return a + b; }                                                            \
  inline type __hsub(type a, type b) { return a - b; }                                                            \
  inline type __hmul(type a, type b) { return a * b; }                                                            \
  inline type __hdiv(type a, type b) { return a / b; }                                                            \
  inline type __hneg(type a) { return -a; }                                                                       \
  inline type __habs(type a) { return type(std::fabs(float(a))); }                                                \
  inline type __hfma(type a, type b, type c) { return type(std::fma(float(a), float(b), float(c))); }             \
  inline type __hmin(type a, type b) { return type(std::fmin(float(a), float(b))); }                              \
  inline type __hmax(type a, type b) { return type(std::fmax(float(a), float(b))); }                              \
  inline bool __heq(type a, type b) { return a == b; }                                                            \
  inline bool __hne(type a, type b) { return a != b; }                                                            \
  inline bool __hlt(type a, type b) { return a < b; }                                                             \
  inline bool __hle(type a, type b) { return a <= b; }                                                            \
  inline bool __hgt(type a, type b) { return a > b; }                                                             \
  inline bool __hge(type a, type b) { return a >= b; }                                                            \
  inline bool __hisnan(type a) { return std::isnan(float(a)); }

STRATA_SIMT_NARROW_FLOAT(__half, 10, 5)
STRATA_SIMT_NARROW_FLOAT(__nv_bfloat16, 7, 8)
#undef STRATA_SIMT_NARROW_FLOAT

using half = __half;
using nv_bfloat16 = __nv_bfloat16;

struct alignas(4) __half2 {
  __half x, y;
};
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
inline bool operator==(__half2 a, __half2 b) { return a.x == b.x && a.y == b.y; }
inline bool operator==(__nv_bfloat162 a, __nv_bfloat162 b) { return a.x == b.x && a.y == b.y; }
inline __half2 __hadd2(__half2 a, __half2 b) { return {a.x + b.x, a.y + b.y}; }
inline __nv_bfloat162 __hadd2(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x + b.x, a.y + b.y}; }
using half2 = __half2;
using nv_bfloat162 = __nv_bfloat162;

inline __half __float2half(float value) { return __half(value); }
inline __half __float2half_rn(float value) { return __half(value); }
inline float __half2float(__half value) { return value; }
inline __half __int2half_rn(int value) { return __half(value); }
inline unsigned short __half_as_ushort(__half value) { return value.__x; }
inline __half __ushort_as_half(unsigned short bits) {
  __half value;
  value.__x = bits;
  return value;
}
inline __nv_bfloat16 __float2bfloat16(float value) { return __nv_bfloat16(value); }
inline __nv_bfloat16 __float2bfloat16_rn(float value) { return __nv_bfloat16(value); }
inline float __bfloat162float(__nv_bfloat16 value) { return value; }
inline __nv_bfloat16 __int2bfloat16_rn(int value) { return __nv_bfloat16(value); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return value.__x; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  __nv_bfloat16 value;
  value.__x = bits;
  return value;
}
