// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: a logical warp has 1 to 32 threads: choose LogicalWarpThreads in that range
#include <strata/warp/warp_reduce.cuh>

#if defined(STRATA_BAD)
constexpr int width = 33;
#else
constexpr int width = 31;
#endif

STRATA_KERNEL void sum_of_a_warp(const int* in, int* out) {
  using reducer = strata::WarpReduce<int, width>;
  STRATA_SHARED(temp_storage, reducer::TempStorage);
  const int sum = reducer(temp_storage).Sum(in[threadIdx.x]);
  if (threadIdx.x == 0) *out = sum;
}
