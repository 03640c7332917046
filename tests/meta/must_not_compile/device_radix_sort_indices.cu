// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: DeviceRadixSort::ArgSort writes numbers of items: d_indices_out must point to integers
#include <strata/device/device_radix_sort.cuh>

#if defined(STRATA_BAD)
using place = float;
#else
using place = short;
#endif

cudaError_t sort(void* storage, std::size_t& bytes, const int* keys, place* indices) {
  return strata::DeviceRadixSort::ArgSort(storage, bytes, keys, indices, 1000);
}
