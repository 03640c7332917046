// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/block/block_reduce.cuh>
#include <strata/core/launcher.cuh>

template <int Threads>
STRATA_KERNEL void sum_kernel(const int* values, int count, int* sum) {
  using block_reduce = strata::BlockReduce<int, Threads>;
  STRATA_SHARED(storage, typename block_reduce::TempStorage);
  const int thread = static_cast<int>(threadIdx.x);
  const int total = block_reduce(storage).Sum(thread < count ? values[thread] : 0);
  if (thread == 0) *sum = total;
}

int sum_on_device(const int* values, int count) {
  int* in = nullptr;
  int* out = nullptr;
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(int);
  int result = -1;
  if (cudaMalloc(reinterpret_cast<void**>(&in), bytes) != cudaSuccess) return -1;
  if (cudaMalloc(reinterpret_cast<void**>(&out), sizeof(int)) != cudaSuccess) return -1;
  if (cudaMemcpy(in, values, bytes, cudaMemcpyHostToDevice) != cudaSuccess) return -1;
  if (strata::launch({"sum", dim3(1), dim3(64)}, sum_kernel<64>, in, count, out) != cudaSuccess) {
    return -1;
  }
  if (cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess) return -1;
  static_cast<void>(cudaFree(in));
  static_cast<void>(cudaFree(out));
  return result;
}
