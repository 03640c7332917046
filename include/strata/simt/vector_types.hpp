// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CUDA's vector types and dim3: same names, members, sizes and alignments as the toolkit's, so that
// a vectorised load of a misaligned address is as wrong here as it is on the GPU.
#pragma once

#include <strata/simt/keywords.hpp>

#define STRATA_SIMT_VECTOR(name, type, align2, align4)                                  \
  struct name##1 {                                                                      \
    type x;                                                                             \
  };                                                                                    \
  struct alignas(align2) name##2 {                                                      \
    type x, y;                                                                          \
  };                                                                                    \
  struct name##3 {                                                                      \
    type x, y, z;                                                                       \
  };                                                                                    \
  struct alignas(align4) name##4 {                                                      \
    type x, y, z, w;                                                                    \
  };                                                                                    \
  inline constexpr name##1 make_##name##1(type x) { return {x}; }                       \
  inline constexpr name##2 make_##name##2(type x, type y) { return {x, y}; }            \
  inline constexpr name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  inline constexpr name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

STRATA_SIMT_VECTOR(char, signed char, 2, 4)
STRATA_SIMT_VECTOR(uchar, unsigned char, 2, 4)
STRATA_SIMT_VECTOR(short, short, 4, 8)
STRATA_SIMT_VECTOR(ushort, unsigned short, 4, 8)
STRATA_SIMT_VECTOR(int, int, 8, 16)
STRATA_SIMT_VECTOR(uint, unsigned int, 8, 16)
STRATA_SIMT_VECTOR(long, long, 2 * sizeof(long), 16)
STRATA_SIMT_VECTOR(ulong, unsigned long, 2 * sizeof(long), 16)
STRATA_SIMT_VECTOR(longlong, long long, 16, 16)
STRATA_SIMT_VECTOR(ulonglong, unsigned long long, 16, 16)
STRATA_SIMT_VECTOR(float, float, 8, 16)
STRATA_SIMT_VECTOR(double, double, 16, 16)
#undef STRATA_SIMT_VECTOR

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
