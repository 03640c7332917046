// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: values of up to 800 bytes: sort indices by ArgSort, and gather
#include <strata/device/device_radix_sort.cuh>

struct record {
#if defined(STRATA_BAD)
  int word[250];
#else
  int word[25];
#endif
};

cudaError_t sort(void* storage, std::size_t& bytes, const int* in, int* out, const record* records, record* moved) {
  return strata::DeviceRadixSort::SortPairs(storage, bytes, in, out, records, moved, 1000);
}
