// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: the flag operator can be called neither with two items
#include <strata/block/block_discontinuity.cuh>

struct differ {
#if defined(STRATA_BAD)
  STRATA_D bool operator()(int a) const { return a != 0; }
#else
  STRATA_D bool operator()(int a, int b) const { return a != b; }
#endif
};

STRATA_KERNEL void heads(const int* in, int* out) {
  const int items[1] = {in[threadIdx.x]};
  int flags[1];
  strata::BlockDiscontinuity<int, 64>().FlagHeads(flags, items, differ{});
  out[threadIdx.x] = flags[0];
}
