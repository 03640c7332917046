// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: the comparator cannot be called with two keys
#include <strata/block/block_merge_sort.cuh>

struct is_less {
#if defined(STRATA_BAD)
  STRATA_HD bool operator()(const char* a, int b) const { return *a < b; }
#else
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
#endif
};

STRATA_KERNEL void kernel(const int* in, int* out) {
  using Sort = strata::BlockMergeSort<int, 128, 1>;
  STRATA_SHARED(temp_storage, Sort::TempStorage);
  int row[1] = {in[threadIdx.x]};
  Sort(temp_storage).Sort(row, is_less{});
  out[threadIdx.x] = row[0];
}
