// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: the difference operator cannot be called with two items, as op\(item, neighbour\)
#include <strata/block/block_adjacent_difference.cuh>

struct subtract {
#if defined(STRATA_BAD)
  STRATA_D int operator()(const char* a, int b) const { return *a - b; }
#else
  STRATA_D int operator()(int a, int b) const { return a - b; }
#endif
};

STRATA_KERNEL void differences(const int* in, int* out) {
  int items[1] = {in[threadIdx.x]};
  strata::BlockAdjacentDifference<int, 64>().SubtractLeft(items, items, subtract{});
  out[threadIdx.x] = items[0];
}
