// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/warp/warp_reduce.cuh>

struct item {
  int value;
  STRATA_HD explicit item(int v) : value(v) {}
#if defined(STRATA_BAD)
  STRATA_HD item(const item& other) : value(other.value) {}
#endif
};

struct larger {
  STRATA_HD item operator()(const item& a, const item& b) const { return item(a.value < b.value ? b.value : a.value); }
};

STRATA_KERNEL void largest_of_a_warp(const int* in, int* out) {
  using reducer = strata::WarpReduce<item>;
  STRATA_SHARED(temp_storage, reducer::TempStorage);
  const item largest = reducer(temp_storage).Reduce(item(in[threadIdx.x]), larger{});
  if (threadIdx.x == 0) *out = largest.value;
}
