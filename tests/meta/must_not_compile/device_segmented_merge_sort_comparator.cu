// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: the comparator cannot be called with two keys
#include <strata/device/device_segmented_merge_sort.cuh>

struct is_less {
#if defined(STRATA_BAD)
  STRATA_HD bool operator()(const char* a, int b) const { return *a < b; }
#else
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
#endif
};

cudaError_t call(void* storage, std::size_t& bytes, const int* keys, int* keys_out, const int* begins) {
  return strata::DeviceSegmentedMergeSort::SortKeysCopy(storage, bytes, keys, keys_out, 1000, 10, begins, begins + 1,
                                                        is_less{});
}
