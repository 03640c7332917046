// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/block/block_adjacent_difference.cuh>

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

struct subtract {
  STRATA_D item operator()(const item& a, const item& b) const { return item(a.value - b.value); }
};

STRATA_KERNEL void differences(const int* in, int* out) {
  item items[1] = {item(in[threadIdx.x])};
  strata::BlockAdjacentDifference<item, 64>().SubtractLeft(items, items, subtract{});
  out[threadIdx.x] = items[0].value;
}
