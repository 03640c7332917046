// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: the last argument of a call says where it works: pass a cudaStream_t, a class that converts to it or
#include <strata/device/device_scan.cuh>

struct somewhere {
#if !defined(STRATA_BAD)
  cudaStream_t get() const { return nullptr; }
#endif
};

int main() {
  int in[3] = {1, 2, 3}, out[3] = {};
  std::size_t bytes = 0;
  return strata::DeviceScan::InclusiveSum(nullptr, bytes, in, out, 3, somewhere{}) == cudaSuccess ? 0 : 1;
}
