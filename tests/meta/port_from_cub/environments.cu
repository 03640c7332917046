// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Environments, of CUB 3.5 and later.
// not compiled
#include <cuda/execution.determinism.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>

struct tuning;
struct memory_pool;
memory_pool& pool();

cudaError_t sum(const int* in, int* out, int n, cudaStream_t stream) {
  // report: cuda::stream_ref came along with CUB: add #include <cuda/stream_ref>
  const cuda::stream_ref on(stream);
  const auto same_result = cuda::execution::require(cuda::execution::determinism::run_to_run);
  // report: cuda::std::execution came along with CUB: add #include <cuda/std/execution>
  return cub::DeviceReduce::Sum(in, out, n, cuda::std::execution::env{on, same_result});
}

cudaError_t sort(const int* in, int* out, int n) {
  // report: cuda::execution::tune is ignored: it is for kernels of CUB
  const auto tuned = cuda::execution::tune(tuning{});
  // report: cuda::mr came along with CUB: add #include <cuda/memory_resource>
  const auto memory = cuda::std::execution::prop{cuda::mr::get_memory_resource, pool()};
  return cub::DeviceRadixSort::SortKeys(in, out, n, 0, 32, cuda::std::execution::env{tuned, memory});
}
