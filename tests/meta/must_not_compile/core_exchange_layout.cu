// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: ExchangeLayout needs at least one item per thread
#include <strata/core/shared_layout.hpp>

#if defined(STRATA_BAD)
constexpr int items = 0;
#else
constexpr int items = 1;
#endif

int position(int index) { return strata::ExchangeLayout<float, items>{}(index); }
