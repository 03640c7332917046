// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <strata/device/device_reduce.cuh>

#include <cstdio>
#include <cstdlib>

static void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "quickstart: %s\n", cudaGetErrorString(status));
  std::exit(1);
}

int main() {
  constexpr int n = 1000000;
  int* items = nullptr;
  long long* sum = nullptr;
  check(cudaMallocManaged(&items, n * sizeof(int)));
  check(cudaMallocManaged(&sum, sizeof(long long)));
  for (int i = 0; i < n; ++i) items[i] = i + 1;

  void* temp = nullptr;  // The first call tells how much temporary storage the second one needs.
  std::size_t temp_bytes = 0;
  check(strata::DeviceReduce::Sum(temp, temp_bytes, items, sum, n));
  check(cudaMalloc(&temp, temp_bytes));
  check(strata::DeviceReduce::Sum(temp, temp_bytes, items, sum, n));
  check(cudaDeviceSynchronize());
  std::printf("1 + 2 + ... + %d = %lld\n", n, *sum);
  return *sum == 500000500000 ? 0 : 1;
}
