// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: radix sorts take integers, enumerations and floating-point numbers of 8 to 64 bits; give them a decomposer for other types
#include <strata/block/block_radix_sort.cuh>

struct point {
  int x, y;
};
struct by_y {
  STRATA_HD strata::RadixFields<int&> operator()(point& p) const { return {p.y}; }
};

STRATA_KERNEL void sort(point* out) {
  point keys[1] = {out[threadIdx.x]};
  strata::BlockRadixSort<point, 64, 1> block_sort;
  block_sort.Sort(keys, by_y{});
#ifdef STRATA_BAD
  __syncthreads();
  block_sort.Sort(keys);
#endif
  out[threadIdx.x] = keys[0];
}
