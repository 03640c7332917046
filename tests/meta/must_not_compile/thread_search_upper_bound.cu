// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: UpperBound: the number of items must be an integer
#include <strata/thread/thread_search.cuh>

#if defined(STRATA_BAD)
using offset = float;
#else
using offset = unsigned;
#endif

STRATA_KERNEL void find(const int* in, offset* out) { *out = strata::UpperBound(in, offset{7}, 3); }
