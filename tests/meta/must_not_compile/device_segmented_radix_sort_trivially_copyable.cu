// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/device/device_segmented_radix_sort.cuh>

struct name {
  int number = 0;
#if defined(STRATA_BAD)
  name() = default;
  name(const name& other) : number(other.number) {}
  name& operator=(const name& other) {
    number = other.number;
    return *this;
  }
#endif
};

cudaError_t sort(void* storage, std::size_t& bytes, const int* in, int* out, const name* names, name* moved,
                 const int* offsets) {
  return strata::DeviceSegmentedRadixSort::SortPairs(storage, bytes, in, out, names, moved, 1000, 10, offsets,
                                                     offsets + 1);
}
