// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: SwizzledLayout needs rows of a power of two of elements: take PaddedMatrixLayout
#include <strata/core/shared_layout.hpp>

#if defined(STRATA_BAD)
constexpr int row_elements = 24;
#else
constexpr int row_elements = 32;
#endif

int position(int row, int column) { return strata::SwizzledLayout<4, row_elements>{}(row, column); }
