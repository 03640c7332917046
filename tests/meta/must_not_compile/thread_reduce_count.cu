// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: ThreadReduce<Count>: there must be at least one item
#include <strata/core/operators.hpp>
#include <strata/thread/thread_reduce.cuh>

#if defined(STRATA_BAD)
constexpr int count = 0;
#else
constexpr int count = 1;
#endif

STRATA_KERNEL void sums(const int* in, int* out) { *out = strata::ThreadReduce<count>(in, strata::Sum{}, 7); }
