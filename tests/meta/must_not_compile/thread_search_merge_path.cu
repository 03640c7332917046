// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: MergePathSearch: the diagonal and the lengths must be integers
#include <strata/thread/thread_search.cuh>

#if defined(STRATA_BAD)
using offset = float;
#else
using offset = unsigned;
#endif

STRATA_KERNEL void cut(const int* a, const int* b, int2* out) {
  strata::MergePathSearch(offset{6}, a, b, offset{5}, offset{7}, *out);
}
