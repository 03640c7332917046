// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Offset iterator type should be integral
#include <strata/device/device_segmented_radix_sort.cuh>

#if defined(STRATA_BAD)
using offset = float;
#else
using offset = unsigned;
#endif

cudaError_t sort(void* storage, std::size_t& bytes, const int* in, int* out, const offset* offsets) {
  return strata::DeviceSegmentedRadixSort::SortKeys(storage, bytes, in, out, 1000, 10, offsets, offsets + 1);
}
