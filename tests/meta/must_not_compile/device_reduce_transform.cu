// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: the transformation cannot be called with an item of the input
#include <strata/device/device_reduce.cuh>

struct square {
#if defined(STRATA_BAD)
  STRATA_HD int operator()(const char* x) const { return *x; }
#else
  STRATA_HD int operator()(int x) const { return x * x; }
#endif
};

cudaError_t call(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::DeviceReduce::TransformReduce(storage, bytes, in, out, 1000, strata::Sum{}, square{}, 0);
}
