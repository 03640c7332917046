// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Thrust's iterators as inputs, and a scatter with a selection.
// by hand: #include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_select.cuh>
#include <cub/device/device_transform.cuh>

struct is_set {
  const int* flags;
  __host__ __device__ bool operator()(int i) const { return flags[i] != 0; }
};

cudaError_t nonzero(void* temp, size_t& bytes, const int* flags, int* out, int* number, int n, cudaStream_t stream) {
  // report: thrust::counting_iterator came along with CUB: add #include <thrust/iterator/counting_iterator.h>
  thrust::counting_iterator<int> indices(0);
  auto set = thrust::make_transform_iterator(indices, is_set{flags});
  return cub::DeviceSelect::Flagged(temp, bytes, indices, set, out, number, n, stream);
}
