// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
// expect: DeviceMerge moves keys and values as bits: both must be default constructible
#include <strata/device/device_merge.cuh>

struct counted {
  int value;
  STRATA_HD counted(const counted& other) : value(other.value + 1) {}
  counted& operator=(const counted&) = default;
};
struct plain {
  int value;
};

#if defined(STRATA_BAD)
using value = counted;
#else
using value = plain;
#endif

cudaError_t call(void* storage, std::size_t& bytes, const int* keys, const value* values, int* keys_out,
                 value* values_out) {
  return strata::DeviceMerge::MergePairs(storage, bytes, keys, values, 1000, keys, values, 1000, keys_out, values_out);
}
