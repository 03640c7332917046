// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CUB 3.5 and later.
// not compiled
#include <cub/cub.cuh>

cudaError_t most(const float** in, float** out, const int* sizes, int rows) {
  // report: cuda::execution came along with CUB: add #include <cuda/execution>
  const auto any_order = cuda::execution::require(cuda::execution::determinism::not_guaranteed);
  // report: cuda::args came along with CUB: add #include <cuda/argument>
  const auto length = cuda::args::deferred_sequence{sizes, cuda::args::bounds<1, 1024>()};
  // report: DeviceBatchedTopK is not in <strata/strata.cuh>: add #include <strata/device/device_batched_topk.cuh>
  return cub::DeviceBatchedTopK::MaxKeys(in, out, length, 8, rows, any_order);
}
