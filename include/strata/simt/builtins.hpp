// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Built-in variables, bit intrinsics and the small mathematical functions of CUDA C++.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <strata/simt/engine.hpp>

// These variables have names of our own in assembler: variables of the global namespace are not mangled, and a program
// may also hold objects that nvcc made.
extern uint3 threadIdx __asm__("strata_simt_thread_idx");
extern uint3 blockIdx __asm__("strata_simt_block_idx");
extern dim3 blockDim __asm__("strata_simt_block_dim");
extern dim3 gridDim __asm__("strata_simt_grid_dim");
constexpr int warpSize = 32;

// ---- bits
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline unsigned __brev(unsigned x) {
  x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
  x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
  x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
  return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned pick = selector >> (4 * i) & 15;
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (pick & 7))) & 255;
    if (pick & 8) byte = byte & 128 ? 255 : 0;  // replicate the sign
    result |= byte << (8 * i);
  }
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  shift &= 31;
  return shift ? high << shift | low >> (32 - shift) : high;
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  shift &= 31;
  return shift ? low >> shift | high << (32 - shift) : low;
}
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(static_cast<uint64_t>(a) * b >> 32); }
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<int64_t>(a) * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ typedef unsigned __int128 wide;
  return static_cast<unsigned long long>(static_cast<wide>(a) * b >> 64);
}

// ---- the same bits as another type
inline unsigned __float_as_uint(float x) { return strata::simt::from_bits<unsigned>(strata::simt::to_bits(x)); }
inline int __float_as_int(float x) { return strata::simt::from_bits<int>(strata::simt::to_bits(x)); }
inline float __uint_as_float(unsigned x) { return strata::simt::from_bits<float>(x); }
inline float __int_as_float(int x) { return strata::simt::from_bits<float>(strata::simt::to_bits(x)); }
inline long long __double_as_longlong(double x) { return strata::simt::from_bits<long long>(strata::simt::to_bits(x)); }
inline double __longlong_as_double(long long x) { return strata::simt::from_bits<double>(strata::simt::to_bits(x)); }

// ---- loads and stores with a cache hint
template <class T>
STRATA_SIMT_INLINE T __ldg(const T* address) {
  return *address;
}
template <class T>
STRATA_SIMT_INLINE T __ldca(const T* address) {
  return *address;
}
template <class T>
STRATA_SIMT_INLINE T __ldcg(const T* address) {
  return *address;
}
template <class T>
STRATA_SIMT_INLINE T __ldcs(const T* address) {
  return *address;
}
template <class T>
STRATA_SIMT_INLINE T __ldlu(const T* address) {
  return *address;
}
template <class T>
STRATA_SIMT_INLINE T __ldcv(const T* address) {
  return *address;
}
template <class T>
STRATA_SIMT_INLINE void __stwb(T* address, T value) {
  *address = value;
}
template <class T>
STRATA_SIMT_INLINE void __stcg(T* address, T value) {
  *address = value;
}
template <class T>
STRATA_SIMT_INLINE void __stcs(T* address, T value) {
  *address = value;
}
template <class T>
STRATA_SIMT_INLINE void __stwt(T* address, T value) {
  *address = value;
}

// ---- clocks: they count switches between threads, so that runs repeat exactly
inline long long clock64() { return static_cast<long long>(strata::simt::stats().switches); }

// ---- minimum and maximum: CUDA's overload set, with its mixed signed and unsigned pairs
#define STRATA_SIMT_MIN_MAX(type, left, right)                                                        \
  inline constexpr type min(left a, right b) {                                                        \
    return static_cast<type>(b) < static_cast<type>(a) ? static_cast<type>(b) : static_cast<type>(a); \
  }                                                                                                   \
  inline constexpr type max(left a, right b) {                                                        \
    return static_cast<type>(a) < static_cast<type>(b) ? static_cast<type>(b) : static_cast<type>(a); \
  }
STRATA_SIMT_MIN_MAX(int, int, int)
STRATA_SIMT_MIN_MAX(unsigned, unsigned, unsigned)
STRATA_SIMT_MIN_MAX(unsigned, int, unsigned)
STRATA_SIMT_MIN_MAX(unsigned, unsigned, int)
STRATA_SIMT_MIN_MAX(long, long, long)
STRATA_SIMT_MIN_MAX(unsigned long, unsigned long, unsigned long)
STRATA_SIMT_MIN_MAX(unsigned long, long, unsigned long)
STRATA_SIMT_MIN_MAX(unsigned long, unsigned long, long)
STRATA_SIMT_MIN_MAX(long long, long long, long long)
STRATA_SIMT_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
STRATA_SIMT_MIN_MAX(unsigned long long, long long, unsigned long long)
STRATA_SIMT_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef STRATA_SIMT_MIN_MAX
inline float min(float a, float b) { return std::fmin(a, b); }
inline float max(float a, float b) { return std::fmax(a, b); }
inline double min(double a, double b) { return std::fmin(a, b); }
inline double max(double a, double b) { return std::fmax(a, b); }
inline double min(float a, double b) { return std::fmin(static_cast<double>(a), b); }
inline double max(float a, double b) { return std::fmax(static_cast<double>(a), b); }
inline double min(double a, float b) { return std::fmin(a, static_cast<double>(b)); }
inline double max(double a, float b) { return std::fmax(a, static_cast<double>(b)); }

// ---- arithmetic with a stated rounding, and the reciprocal square root
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
