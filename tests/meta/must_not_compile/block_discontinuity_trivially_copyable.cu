// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/block/block_discontinuity.cuh>

struct item {
  int value;
  STRATA_HD explicit item(int v) : value(v) {}
#if defined(STRATA_BAD)
  STRATA_HD item(const item& other) : value(other.value) {}
#else
  item(const item&) = default;
#endif
  item& operator=(const item&) = default;
};

struct differ {
  STRATA_D bool operator()(const item& a, const item& b) const { return a.value != b.value; }
};

STRATA_KERNEL void heads(const int* in, int* out) {
  const item items[1] = {item(in[threadIdx.x])};
  int flags[1];
  strata::BlockDiscontinuity<item, 64>().FlagHeads(flags, items, differ{});
  out[threadIdx.x] = flags[0];
}
