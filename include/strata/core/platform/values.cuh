// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Operations on values in registers: a step and a comparison in fewer instructions than the compiler takes, a
/// selection that stays a selection, and a value that the compiler knows nothing about.

#include <strata/core/detail/item_words.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN
namespace platform {

/// Adds `SecondStep` to `second` if the condition holds, otherwise `FirstStep` to `first`. It takes two instructions;
/// the compiler's code takes four.
template <int FirstStep, int SecondStep>
STRATA_D void advance_either(bool is_second, int& first, int& second) {
#if STRATA_DEVICE_PASS
  asm("{\n\t"
      ".reg .pred is_second;\n\t"
      "setp.ne.u32 is_second, %2, 0;\n\t"
      "@!is_second add.s32 %0, %0, %3;\n\t"
      "@is_second add.s32 %1, %1, %4;\n\t"
      "}"
      : "+r"(first), "+r"(second)
      : "r"(is_second ? 1u : 0u), "n"(FirstStep), "n"(SecondStep));
#else
  (is_second ? second : first) += is_second ? SecondStep : FirstStep;
#endif
}

/// Returns `if_set` if a bit of `bits` is set, otherwise `if_clear`. This is a selection, never a branch. From a
/// condition, the compiler would make a branch that encloses the shuffles after it, and the lanes on its two sides
/// would not get each other's values.
STRATA_D unsigned select_word(unsigned bits, unsigned if_set, unsigned if_clear) {
#if STRATA_DEVICE_PASS
  unsigned selected;
  asm("{\n\t"
      ".reg .pred is_set;\n\t"
      "setp.ne.u32 is_set, %3, 0;\n\t"
      "selp.b32 %0, %1, %2, is_set;\n\t"
      "}"
      : "=r"(selected)
      : "r"(if_set), "r"(if_clear), "r"(bits));
  return selected;
#else
  return bits != 0 ? if_set : if_clear;
#endif
}

/// Returns `value`, but +0.0 for -0.0, and for any NaN the one NaN in which all bits but the sign are set. This takes
/// one addition. Denormal numbers stay as they are, even if the program is compiled to flush them to zero.
STRATA_D float canonical_float(float value) {
#if STRATA_DEVICE_PASS
  float result;
  asm("add.rn.f32 %0, %1, 0f00000000;" : "=f"(result) : "f"(value));
  return result;
#else
  if (value == value) return value + 0.0f;
  const unsigned bits = 0x7fffffff;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
#endif
}

/// True if `a` is a number, and `b` is a larger number or a NaN: a strict weak ordering, in two instructions. Denormal
/// numbers are compared exactly, even if the program is compiled to flush them to zero.
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

/// Returns `value`, without an instruction. The compiler does not know that the result equals it.
template <class T>
STRATA_D T opaque(const T& value) {
#if STRATA_DEVICE_PASS
  strata::detail::item_words<T, unsigned> words(value);
  STRATA_UNROLL
  for (std::size_t i = 0; i < strata::detail::item_words<T, unsigned>::count; ++i) {
    asm("" : "+r"(words.word[i]));
  }
  return words.value();
#else
  return value;
#endif
}

/// Returns `opaque(value)` if `T` has more than 8 bytes, otherwise `value`. It is for steps of the form `condition ?
/// op(a, b) : opaque_if_wide(a)`. With plain `a`, the compiler would select an operand before the operation instead of
/// the result after it: for example, it would multiply by 1 where the condition is false. That takes more selections,
/// and results come later.
template <class T>
STRATA_D T opaque_if_wide(const T& value) {
  if constexpr (sizeof(T) > 8) {
    return platform::opaque(value);
  } else {
    return value;
  }
}

/// Returns the sum that a scan begins with: `opaque(sum)` for a number of 4 or more bytes, otherwise `sum`. If nothing
/// comes before the first item, a scan and a reduction of the same items have equal sums. Without this, the compiler
/// would keep each sum of the reduction in a register, for the scan.
template <class T>
STRATA_D T opaque_first_sum(const T& sum) {
  if constexpr (std::is_arithmetic_v<T> && sizeof(T) >= 4) {
    return platform::opaque(sum);
  } else {
    return sum;
  }
}

}  // namespace platform
STRATA_NAMESPACE_END
