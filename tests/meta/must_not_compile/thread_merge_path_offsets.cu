// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: MergePath: offsets and counts must be integers
#include <strata/thread/thread_merge.cuh>

struct is_less {
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
};

#if defined(STRATA_BAD)
using offset = float;
#else
using offset = unsigned;
#endif

STRATA_KERNEL void cut(const int* a, const int* b, offset* out) {
  *out = strata::MergePath(a, b, offset{5}, offset{7}, offset{6}, is_less{});
}
