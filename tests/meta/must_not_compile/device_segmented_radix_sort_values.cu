// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: a tile of these values does not fit shared memory: sort indices as values, and gather
#include <strata/device/device_segmented_radix_sort.cuh>

struct record {
#if defined(STRATA_BAD)
  char text[1000];
#else
  char text[100];
#endif
};

cudaError_t sort(void* storage, std::size_t& bytes, const int* in, int* out, const record* records, record* moved,
                 const int* offsets) {
  return strata::DeviceSegmentedRadixSort::SortPairs(storage, bytes, in, out, records, moved, 1000, 10, offsets,
                                                     offsets + 1);
}
