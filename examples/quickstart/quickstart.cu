// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <strata/device/device_reduce.cuh>

#include <cstdio>

int main() {
  constexpr int n = 1000000;
  int* items = nullptr;
  long long* sum = nullptr;
  cudaError_t status = cudaMallocManaged(&items, n * sizeof(int));
  if (status == cudaSuccess) status = cudaMallocManaged(&sum, sizeof(long long));
  for (int i = 0; i < n && status == cudaSuccess; ++i) items[i] = i + 1;
  if (status == cudaSuccess) status = strata::DeviceReduce::Sum(items, sum, n);
  if (status == cudaSuccess) status = cudaDeviceSynchronize();
  if (status != cudaSuccess) {
    std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
    return 1;
  }
  std::printf("1 + 2 + ... + %d = %lld\n", n, *sum);
  return *sum == 500000500000 ? 0 : 1;
}
