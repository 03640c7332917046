// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: DeviceMemcpy::Batched cannot write to pointers to const
#include <strata/device/device_memcpy.cuh>

#if defined(STRATA_BAD)
using destination = const void*;
#else
using destination = void*;
#endif

cudaError_t copy(const void** inputs, destination* outputs, const int* sizes) {
  return strata::DeviceMemcpy::Batched(inputs, outputs, sizes, 10);
}
