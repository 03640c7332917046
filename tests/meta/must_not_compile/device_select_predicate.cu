// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: the predicate cannot be called with an item
#include <strata/device/device_select.cuh>

struct is_odd {
#if defined(STRATA_BAD)
  STRATA_HD bool operator()(const char* x) const { return *x % 2 != 0; }
#else
  STRATA_HD bool operator()(int x) const { return x % 2 != 0; }
#endif
};

cudaError_t call(void* storage, std::size_t& bytes, const int* in, int* out, std::int64_t* num_selected) {
  return strata::DeviceSelect::If(storage, bytes, in, out, num_selected, 1000, is_odd{});
}
