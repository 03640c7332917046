// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: the sizes of a batched copy must be integers
#include <strata/device/device_copy.cuh>

#if defined(STRATA_BAD)
using size = float;
#else
using size = short;
#endif

cudaError_t copy(const int** inputs, int** outputs, const size* sizes) {
  return strata::DeviceCopy::Batched(inputs, outputs, sizes, 10);
}
