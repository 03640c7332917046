// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/device/device_reduce.cuh>

#include <cstdio>

std::size_t storage_bytes_elsewhere();

int main() {
  std::size_t bytes = 0;
  const int* in = nullptr;
  int* out = nullptr;
  const cudaError_t status = strata::DeviceReduce::Sum(nullptr, bytes, in, out, 1000);
  std::printf("%s: %zu bytes here, %zu there\n", cudaGetErrorName(status), bytes, storage_bytes_elsewhere());
  return bytes == storage_bytes_elsewhere() ? 0 : 1;
}
