// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: the operator cannot be called with two values of these types
#include <strata/block/block_scan.cuh>

struct add {
#if defined(STRATA_BAD)
  STRATA_HD int operator()(const char* a, int b) const { return *a + b; }
#else
  STRATA_HD int operator()(int a, int b) const { return a + b; }
#endif
};

STRATA_KERNEL void kernel(const int* in, int* out) {
  using BlockScan = strata::BlockScan<int, 128>;
  STRATA_SHARED(temp_storage, BlockScan::TempStorage);
  int sum;
  BlockScan(temp_storage).InclusiveScan(in[threadIdx.x], sum, add{});
  out[threadIdx.x] = sum;
}
