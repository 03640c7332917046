// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: the operator cannot be called with two values of these types
#include <strata/device/device_segmented_scan.cuh>

struct add {
#if defined(STRATA_BAD)
  STRATA_HD int operator()(const char* a, int b) const { return *a + b; }
#else
  STRATA_HD int operator()(int a, int b) const { return a + b; }
#endif
};

cudaError_t call(void* storage, std::size_t& bytes, const int* in, int* out, const int* begins) {
  return strata::DeviceSegmentedScan::InclusiveSegmentedScan(storage, bytes, in, out, begins, begins + 1, 10, add{});
}
