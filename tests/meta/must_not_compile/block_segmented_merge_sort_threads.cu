// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: BlockSegmentedMergeSort needs whole warps: BlockDimX must be a multiple of 32
#include <strata/block/block_segmented_merge_sort.cuh>

using value = strata::NullType;
#if defined(STRATA_BAD)
constexpr int threads = 80, items = 3;
#else
constexpr int threads = 96, items = 3;
#endif

STRATA_KERNEL void sort(int* out) {
  using Sort = strata::BlockSegmentedMergeSort<int, threads, items, value>;
  STRATA_SHARED(storage, typename Sort::TempStorage);
  out[threadIdx.x] = Sort(storage).Plan(1);
}
