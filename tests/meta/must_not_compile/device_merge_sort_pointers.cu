// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: DeviceMergeSort reads again what it has written: pass pointers where it writes
#include <strata/device/device_merge_sort.cuh>

#include <vector>

struct is_less {
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
};

cudaError_t sort(void* storage, std::size_t& bytes, std::vector<int>& items) {
#if defined(STRATA_BAD)
  const auto out = items.rbegin();
#else
  int* const out = items.data();
#endif
  return strata::DeviceMergeSort::SortKeys(storage, bytes, out, 1000, is_less{});
}
