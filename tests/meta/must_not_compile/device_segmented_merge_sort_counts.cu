// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: counts of items and segments must be integers
#include <strata/device/device_segmented_merge_sort.cuh>

struct is_less {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

#if defined(STRATA_BAD)
using count = float;
#else
using count = unsigned;
#endif

cudaError_t sort(void* storage, std::size_t& bytes, int* keys, const int* offsets) {
  return strata::DeviceSegmentedMergeSort::SortKeys(storage, bytes, keys, count{1000}, count{10}, offsets, offsets + 1,
                                                    is_less{});
}
