// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: WarpMask: a logical warp has 1 to 32 threads
#include <strata/core/util_ptx.cuh>

#if defined(STRATA_BAD)
constexpr int lanes = 33;
#else
constexpr int lanes = 31;
#endif

STRATA_KERNEL void mask(unsigned* out) { *out = strata::WarpMask<lanes>(0); }
