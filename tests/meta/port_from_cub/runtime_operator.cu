// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Operators marked CUB_RUNTIME_FUNCTION, and a host function marked so.
// flags of CUB: -rdc=true
#include <cub/device/device_reduce.cuh>
#include <cub/util_ptx.cuh>

struct least {
  template <typename T>
  CUB_RUNTIME_FUNCTION __forceinline__ T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};

// by hand: CUB_RUNTIME_FUNCTION => inline
// report: CUB_RUNTIME_FUNCTION is not on an operator
CUB_RUNTIME_FUNCTION cudaError_t minimum(void* temp, size_t& bytes, const int* in, int* out, int n) {
  return cub::DeviceReduce::Reduce(temp, bytes, in, out, n, least{}, 0);
}
