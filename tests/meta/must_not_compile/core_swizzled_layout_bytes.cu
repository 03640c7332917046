// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: SwizzledLayout is for elements of 4, 8 or 16 bytes: take PaddedLayout
#include <strata/core/shared_layout.hpp>

#if defined(STRATA_BAD)
constexpr int bytes = 2;
#else
constexpr int bytes = 4;
#endif

int position(int row, int column) { return strata::SwizzledLayout<bytes, 32>{}(row, column); }
