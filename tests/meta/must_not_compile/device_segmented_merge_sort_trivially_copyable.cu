// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
// expect: merge sorts move keys and values as bits: both must be default constructible
#include <strata/device/device_segmented_merge_sort.cuh>

struct is_less {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

struct name {
  int number = 0;
#if defined(STRATA_BAD)
  STRATA_HD name(const name& other) : number(other.number) {}
  STRATA_HD name& operator=(const name& other) {
    number = other.number;
    return *this;
  }
#endif
};

cudaError_t sort(void* storage, std::size_t& bytes, int* keys, name* names, const int* offsets) {
  return strata::DeviceSegmentedMergeSort::SortPairs(storage, bytes, keys, names, 1000, 10, offsets, offsets + 1,
                                                     is_less{});
}
