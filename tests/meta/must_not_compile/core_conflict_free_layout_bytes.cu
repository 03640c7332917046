// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: the patterns of one layout must have the same element_bytes
#include <strata/core/shared_layout.hpp>

#if defined(STRATA_BAD)
constexpr int bytes = 8;
#else
constexpr int bytes = 4;
#endif

int position(int index) {
  return strata::ConflictFreeLayout<strata::strided_access<4, 1>, strata::strided_access<bytes, 1>>{}(index);
}
