// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// An order of floating-point numbers, NaNs among them.

#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN
namespace platform {

/// Whether `a` is a number, and `b` a larger number or a NaN: a strict weak ordering, in two instructions.
/// Denormal numbers are compared exactly, even if the program is compiled to flush them to zero.
STRATA_HD bool is_less_or_before_nan(float a, float b) {
#if STRATA_DEVICE_PASS
  unsigned is_before;
  asm("{\n\t.reg .pred is_before;\n\t"
      "setp.ltu.f32 is_before, %1, %2;\n\t"
      "setp.num.and.f32 is_before, %1, %1, is_before;\n\t"
      "selp.u32 %0, 1, 0, is_before;\n\t}"
      : "=r"(is_before)
      : "f"(a), "f"(b));
  return is_before != 0;
#else
  return !(a >= b) && a == a;
#endif
}
STRATA_HD bool is_less_or_before_nan(double a, double b) { return !(a >= b) && a == a; }

}  // namespace platform
STRATA_NAMESPACE_END
