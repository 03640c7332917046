// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: PaddedLayout needs Every above 0
#include <strata/core/shared_layout.hpp>

#if defined(STRATA_BAD)
constexpr int every = 0;
#else
constexpr int every = 32;
#endif

int position(int index) { return strata::PaddedLayout<every, 1>{}(index); }
