// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: ExchangeLayout needs groups of a power of two up to 32 threads: take 32 for others
#include <strata/core/shared_layout.hpp>

#if defined(STRATA_BAD)
constexpr int group_threads = 12;
#else
constexpr int group_threads = 8;
#endif

int position(int index) { return strata::ExchangeLayout<float, 4, group_threads>{}(index); }
