// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <strata/device/device_scan.cuh>

#include <cstdio>

__managed__ int lengths[5] = {3, 1, 4, 1, 5}, begins[5];

int main() {
  cudaError_t status = strata::DeviceScan::ExclusiveSum(lengths, begins, 5);
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
    return 1;
  }
  for (const int begin : begins) std::printf("%d ", begin);  // prints: 0 3 4 8 9
}
