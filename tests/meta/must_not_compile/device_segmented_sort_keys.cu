// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: DeviceSegmentedSort takes integers, enumerations and floating-point numbers of 8 to 64 bits
#include <strata/device/device_segmented_sort.cuh>

struct record {
  int number;
};
#if defined(STRATA_BAD)
using key = record;
#else
using key = int;
#endif

cudaError_t sort(void* storage, std::size_t& bytes, const key* in, key* out, const int* offsets) {
  return strata::DeviceSegmentedSort::SortKeys(storage, bytes, in, out, 1000, 10, offsets, offsets + 1);
}
