// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: the dimensions of a block must be positive and multiply to at most 1024 threads
#include <strata/block/block_reduce.cuh>

STRATA_KERNEL void sum_of_a_block(int* out) {
  *out = strata::BlockReduce<int, 16, strata::BLOCK_REDUCE_RAKING, 16, 4>().Sum(1);
#ifdef STRATA_BAD
  __syncthreads();
  *out = strata::BlockReduce<int, 16, strata::BLOCK_REDUCE_RAKING, 16, 5>().Sum(1);
#endif
}
