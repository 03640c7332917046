// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/device/device_reduce.cuh>

struct item {
  int value = 0;
  item() = default;
#if defined(STRATA_BAD)
  STRATA_HD item(const item& other) : value(other.value) {}
  STRATA_HD item& operator=(const item& other) { return value = other.value, *this; }
#endif
};
struct add {
  STRATA_HD item operator()(const item& a, const item& b) const {
    item sum;
    sum.value = a.value + b.value;
    return sum;
  }
};

cudaError_t sum(void* storage, std::size_t& bytes, const item* in, item* out) {
  return strata::DeviceReduce::Reduce(storage, bytes, in, out, 1000, add{}, item{});
}
