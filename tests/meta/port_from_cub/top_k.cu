// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CUB 3.2 and later.
// not with: CUB 3.0
#include <cub/device/device_topk.cuh>

cudaError_t most(void* temp, size_t& bytes, const float* in, float* out, int n, int k, cudaStream_t stream) {
  return cub::DeviceTopK::MaxKeys(temp, bytes, in, out, n, k, stream);
}
