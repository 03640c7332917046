// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Log2<N>: N must be positive
#include <strata/core/types.hpp>

#if defined(STRATA_BAD)
constexpr int bits = strata::Log2<0>::VALUE;
#else
constexpr int bits = strata::Log2<32>::VALUE;
#endif
static_assert(bits == 5, "the good half is right");
