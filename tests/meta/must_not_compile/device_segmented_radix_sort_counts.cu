// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: counts of items and segments must be integers
#include <strata/device/device_segmented_radix_sort.cuh>

#if defined(STRATA_BAD)
using count = double;
#else
using count = long long;
#endif

cudaError_t sort(void* storage, std::size_t& bytes, const int* keys, int* sorted, const int* offsets) {
  return strata::DeviceSegmentedRadixSort::SortKeys(storage, bytes, keys, sorted, count(10.5), 2, offsets, offsets + 1);
}
