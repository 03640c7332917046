// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: the comparator cannot be called with two keys
#include <strata/device/device_merge_sort.cuh>

struct is_less {
#if defined(STRATA_BAD)
  STRATA_HD bool operator()(const char* a, int b) const { return *a < b; }
#else
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
#endif
};

cudaError_t call(void* storage, std::size_t& bytes, int* keys) {
  return strata::DeviceMergeSort::SortKeys(storage, bytes, keys, 1000, is_less{});
}
