// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: the operator cannot be called with two values of these types
#include <strata/block/block_reduce.cuh>

struct add {
#if defined(STRATA_BAD)
  STRATA_HD int operator()(const char* a, int b) const { return *a + b; }
#else
  STRATA_HD int operator()(int a, int b) const { return a + b; }
#endif
};

STRATA_KERNEL void kernel(const int* in, int* out) {
  using BlockReduce = strata::BlockReduce<int, 128>;
  STRATA_SHARED(temp_storage, BlockReduce::TempStorage);
  out[threadIdx.x] = BlockReduce(temp_storage).Reduce(in[threadIdx.x], add{});
}
