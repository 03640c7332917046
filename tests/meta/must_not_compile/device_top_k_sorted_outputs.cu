// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// expect: pass pointers to such items, or call the function without
// errors: 4, the arrays of another type are used
#include <strata/device/device_top_k.cuh>

cudaError_t call(const float* in, float* out, double* other) {
  std::size_t bytes = 0;
  cudaError_t status = strata::DeviceTopK::MaxKeysSorted(nullptr, bytes, in, out, 10, 3);
  static_cast<void>(other);
#ifdef STRATA_BAD
  status = strata::DeviceTopK::MaxKeysSorted(nullptr, bytes, in, other, 10, 3);
#endif
  return status;
}
