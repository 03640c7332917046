// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/warp/warp_scan.cuh>

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

STRATA_KERNEL void running_maximum(const int* in, int* out) {
  using scanner = strata::WarpScan<item>;
  STRATA_SHARED(temp_storage, scanner::TempStorage);
  item largest(in[threadIdx.x]);
  scanner(temp_storage).InclusiveScan(largest, largest, larger{});
  out[threadIdx.x] = largest.value;
}
