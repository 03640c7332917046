// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A program as a user builds it. user_program_test.py checks the reports about its kernels.
#include <strata/block/block_reduce.cuh>
#include <strata/core/launcher.cuh>

#include <cstdio>
#include <cstring>

STRATA_KERNEL void race(int* out) {
  out[threadIdx.x / 2] = static_cast<int>(threadIdx.x);  // fault: race
}

STRATA_KERNEL void spin(int* out) {
  if (threadIdx.x == 0) {
    while (*const_cast<volatile int*>(out) == 0) {  // fault: spin
    }
  }
}

STRATA_KERNEL void spin_at_barriers(const int* in) {
  while (__syncthreads_or(*const_cast<const volatile int*>(in)) == 0) {  // fault: spin_at_barriers
  }
}

STRATA_KERNEL void store_at(int* out) {
  out[threadIdx.x] = 1;  // fault: store
}

STRATA_KERNEL void row_sums(const int* in, int* out) {
  using block_reduce = strata::BlockReduce<int, 64>;
  STRATA_SHARED(storage, block_reduce::TempStorage);
  const int sum = block_reduce(storage).Sum(in[blockIdx.x * 64 + threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

int main(int argc, char** argv) {
  const char* const kernel = argc > 1 ? argv[1] : "row_sums";
  const auto is = [kernel](const char* name) { return std::strcmp(kernel, name) == 0; };
  int* memory = nullptr;
  if (cudaMalloc(&memory, 512 * sizeof(int)) != cudaSuccess) return 2;
  if (cudaMemset(memory, 0, 512 * sizeof(int)) != cudaSuccess) return 2;
  cudaError_t status = cudaErrorInvalidValue;
  if (is("race")) status = strata::launch({"race", 1, 64}, race, memory);
  if (is("spin")) status = strata::launch({"spin", 1, 64}, spin, memory);
  if (is("spin_at_barriers")) {
    status = strata::launch({"spin_at_barriers", 2, 64}, spin_at_barriers, memory);
  }
  if (is("store")) {
    status = strata::launch({"store", 1, 64}, store_at, reinterpret_cast<int*>(64));
  }
  if (is("row_sums")) {
    status = strata::launch({"row_sums", 4, 64}, row_sums, memory, memory + 256);
  }
  std::printf("%s\n", cudaGetErrorString(status));
  return status == cudaSuccess ? 0 : 1;
}
