// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: PaddedMatrixLayout needs rows and columns
#include <strata/core/shared_layout.hpp>

#if defined(STRATA_BAD)
constexpr int columns = 0;
#else
constexpr int columns = 32;
#endif

int position(int row, int column) { return strata::PaddedMatrixLayout<32, columns, 1>{}(row, column); }
