// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: radix sorts take integers, enumerations and floating-point numbers of 8 to 64 bits
#include <strata/core/radix_key.hpp>

struct point {
  int x, y;
};

#if defined(STRATA_BAD)
using key = point;
#else
using key = int;
#endif

constexpr int bits = strata::RadixTraits<key>::bits;
