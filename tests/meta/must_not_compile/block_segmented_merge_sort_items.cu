// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: BlockSegmentedMergeSort: ItemsPerThread must be odd, or a power of two up to 32
// expect: a thread's items must lie in other banks than its neighbours'
#include <strata/block/block_segmented_merge_sort.cuh>

using value = strata::NullType;
#if defined(STRATA_BAD)
constexpr int threads = 64, items = 24;
#else
constexpr int threads = 64, items = 25;
#endif

STRATA_KERNEL void sort(int* out) {
  using Sort = strata::BlockSegmentedMergeSort<int, threads, items, value>;
  STRATA_SHARED(storage, typename Sort::TempStorage);
  out[threadIdx.x] = Sort(storage).Plan(1);
}
