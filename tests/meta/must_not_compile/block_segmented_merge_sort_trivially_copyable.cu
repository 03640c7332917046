// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
// expect: BlockSegmentedMergeSort keeps keys and values in shared memory: both must be default constructible
#include <strata/block/block_segmented_merge_sort.cuh>

struct value {
  int number;
#if defined(STRATA_BAD)
  STRATA_HD value(const value& other) : number(other.number + 1) {}
  value& operator=(const value&) = default;
#endif
};
constexpr int threads = 64, items = 3;

STRATA_KERNEL void sort(int* out) {
  using Sort = strata::BlockSegmentedMergeSort<int, threads, items, value>;
  STRATA_SHARED(storage, typename Sort::TempStorage);
  out[threadIdx.x] = Sort(storage).Plan(1);
}
