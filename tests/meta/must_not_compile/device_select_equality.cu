// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: cannot be compared for equality
#include <strata/device/device_select.cuh>

struct key {
  int value;
#if !defined(STRATA_BAD)
  STRATA_HD friend bool operator==(const key& a, const key& b) { return a.value == b.value; }
#endif
};

cudaError_t call(void* storage, std::size_t& bytes, const key* in, key* out, std::int64_t* num_selected) {
  return strata::DeviceSelect::Unique(storage, bytes, in, out, num_selected, 1000);
}
