// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/device/device_reduce.cuh>

// Returns 0 if the sum is right, 77 without a device, otherwise 1.
extern "C" int check_sum() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;
  constexpr int count = 10000;
  int* in = nullptr;
  int* out = nullptr;
  int result = 0;
  void* storage = nullptr;
  std::size_t bytes = 0;
  bool good =
      cudaMallocManaged(&in, count * sizeof(int)) == cudaSuccess && cudaMalloc(&out, sizeof(int)) == cudaSuccess;
  for (int i = 0; good && i < count; ++i) in[i] = i;
  good = good && strata::DeviceReduce::Sum(storage, bytes, in, out, count) == cudaSuccess &&
         cudaMalloc(&storage, bytes) == cudaSuccess &&
         strata::DeviceReduce::Sum(storage, bytes, in, out, count) == cudaSuccess &&
         cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost) == cudaSuccess;
  return good && result == count / 2 * (count - 1) ? 0 : 1;
}
