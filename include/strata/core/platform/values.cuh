// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Values in registers: a step and a comparison in fewer instructions than the compiler takes, a selection that stays a
/// selection, and a value that the compiler knows nothing about.

#include <strata/core/detail/item_words.cuh>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>

STRATA_NAMESPACE_BEGIN
namespace platform {

/// Adds `SecondStep` to `second`, or `FirstStep` to `first`: two instructions, where the compiler takes
/// four.
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

/// `if_set` if a bit of `bits` is set, else `if_clear`: a selection, and never a branch. From a condition, the compiler
/// makes a branch with the shuffles in it that follow, and lanes on its two sides do not get each other's values.
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

/// True if `a` is a number, and `b` a larger number or a NaN: a strict weak ordering, in two instructions.
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

/// Returns `value`. The compiler does not know that the result equals it. No instruction.
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

/// `opaque` of an item of more than 8 bytes that a step may keep or combine. The compiler would select an operand in
/// place of the result, as a factor 1 instead of the item without a product: more selections, and later results.
template <class T>
STRATA_D T opaque_if_wide(const T& value) {
  if constexpr (sizeof(T) > 8) {
    return platform::opaque(value);
  } else {
    return value;
  }
}

/// `opaque` of the sum that a scan begins with, if it is a number. If nothing comes before the first item, the scan's
/// sums are equal to the sums of a reduction of the same items. The compiler would keep these, in a register each.
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
