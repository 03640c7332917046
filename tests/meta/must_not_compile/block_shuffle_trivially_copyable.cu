// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/block/block_shuffle.cuh>

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

STRATA_KERNEL void neighbours(const int* in, int* out) {
  item got(0);
  strata::BlockShuffle<item, 64>().Offset(item(in[threadIdx.x]), got);
  out[threadIdx.x] = got.value;
}
