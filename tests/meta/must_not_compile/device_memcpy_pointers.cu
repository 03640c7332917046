// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: DeviceMemcpy::Batched copies bytes from pointers to pointers: call DeviceCopy::Batched
#include <strata/device/device_memcpy.cuh>

#if defined(STRATA_BAD)
using source = int;
#else
using source = const void*;
#endif

cudaError_t copy(const source* inputs, void** outputs, const int* sizes) {
  return strata::DeviceMemcpy::Batched(inputs, outputs, sizes, 10);
}
