// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CUDA's 8-bit floating-point types. The host back end lacks them, so types of the same names and size stand in there.
#pragma once

#include <strata/core/macros.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

#if STRATA_HOST_SIMT
struct __nv_fp8_e4m3 {
  unsigned char __x;
};
struct __nv_fp8_e5m2 {
  unsigned char __x;
};
#else
#include <cuda_fp8.h>
#endif

namespace strata_test {

/// Decodes an 8-bit float with `mantissa_bits` bits of mantissa. Magnitudes above `greatest` are NaNs; `greatest`
/// itself is infinity if `has_infinity`.
inline float number_of_fp8(std::uint8_t bits, int mantissa_bits, int greatest, bool has_infinity) {
  const int magnitude = bits & 0x7f;
  const float sign = (bits & 0x80) != 0 ? -1.0f : 1.0f;
  if (magnitude > greatest) return std::numeric_limits<float>::quiet_NaN();
  if (magnitude == greatest && has_infinity) return sign * std::numeric_limits<float>::infinity();
  const int exponent = magnitude >> mantissa_bits;
  const int bias = (1 << (6 - mantissa_bits)) - 1;
  const int mantissa = magnitude - ((exponent - (exponent != 0 ? 1 : 0)) << mantissa_bits);
  return sign * std::ldexp(static_cast<float>(mantissa), (exponent != 0 ? exponent : 1) - bias - mantissa_bits);
}

inline float number_of(const __nv_fp8_e4m3& key) { return number_of_fp8(key.__x, 3, 0x7e, false); }
inline float number_of(const __nv_fp8_e5m2& key) { return number_of_fp8(key.__x, 2, 0x7c, true); }

}  // namespace strata_test
