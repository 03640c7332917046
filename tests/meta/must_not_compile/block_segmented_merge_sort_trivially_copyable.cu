// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: BlockSegmentedMergeSort moves keys and values through shared memory as bits: both must be trivially relocatable and default constructible
#include <strata/block/block_segmented_merge_sort.cuh>

struct value {
  int number;
#if defined(STRATA_BAD)
  value() = default;
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
