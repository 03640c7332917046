// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: SortIndices writes numbers of items: d_indices must point to integers
#include <strata/device/device_segmented_merge_sort.cuh>

struct is_less {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

#if defined(STRATA_BAD)
using number = float;
#else
using number = unsigned;
#endif

cudaError_t sort(void* storage, std::size_t& bytes, const int* keys, number* indices, const int* offsets) {
  return strata::DeviceSegmentedMergeSort::SortIndices(storage, bytes, keys, indices, 1000, 10, offsets, offsets + 1,
                                                       is_less{});
}
