// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// A step of one of two indices.

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

}  // namespace platform
STRATA_NAMESPACE_END
