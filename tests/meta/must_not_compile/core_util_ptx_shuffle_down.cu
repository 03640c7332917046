// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/core/util_ptx.cuh>

struct item {
  int value;
  STRATA_HD explicit item(int v) : value(v) {}
#if defined(STRATA_BAD)
  STRATA_HD item(const item& other) : value(other.value) {}
#else
  item(const item&) = default;
#endif
};

STRATA_KERNEL void neighbours(int* data) {
  data[threadIdx.x] = strata::ShuffleDown<32>(item(data[threadIdx.x]), 1, 31, 0xffffffff).value;
}
