// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: strata::launch: pass exactly one argument for each parameter of the kernel
#include <strata/core/launcher.cuh>

template <class T>
STRATA_KERNEL void fill_kernel(T* out, T value) {
  out[threadIdx.x] = value;
}

cudaError_t fill(int* out) {
#if defined(STRATA_BAD)
  return strata::launch({"fill", dim3(1), dim3(32)}, fill_kernel<int>, out);
#else
  return strata::launch({"fill", dim3(1), dim3(32)}, fill_kernel<int>, out, 7);
#endif
}
