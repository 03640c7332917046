// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: ThreadReduce needs a type that says its number of items, 1 or more: pass an array
#include <strata/core/operators.hpp>
#include <strata/thread/thread_reduce.cuh>

STRATA_KERNEL void sum_of_four(const int* in, int* out) {
#if defined(STRATA_BAD)
  *out = strata::ThreadReduce(in, strata::Sum{});
#else
  *out = strata::ThreadReduce<4>(in, strata::Sum{});
#endif
}
