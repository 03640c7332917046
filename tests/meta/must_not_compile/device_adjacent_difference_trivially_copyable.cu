// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/device/device_adjacent_difference.cuh>

struct number {
  int value = 0;
#if defined(STRATA_BAD)
  number() = default;
  STRATA_HD number(const number& other) : value(other.value) {}
  STRATA_HD number& operator=(const number& other) {
    value = other.value;
    return *this;
  }
#endif
};

struct minus {
  STRATA_HD number operator()(const number& a, const number&) const { return a; }
};

cudaError_t differences(void* storage, std::size_t& bytes, number* data) {
  return strata::DeviceAdjacentDifference::SubtractLeft(storage, bytes, data, 1000, minus{});
}
