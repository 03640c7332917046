// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// CUB 2: operators and iterators that CUB 3 has removed and strata has, and CUB's limits of types.
// not with: CUB 3.0
#include <cub/cub.cuh>

template <typename T>
__global__ void softmax(const T* in, T* out) {
  typedef cub::BlockReduce<T, 256> BlockReduce;
  __shared__ typename BlockReduce::TempStorage storage;
  // by hand: cub::FpLimits<T>::Lowest() => T(-3.0e38)
  // report: cub::FpLimits has no counterpart: `std::numeric_limits`
  T value = threadIdx.x < 100 ? in[threadIdx.x] : cub::FpLimits<T>::Lowest();
  value = BlockReduce(storage).Reduce(value, cub::Max());
  if (threadIdx.x == 0) *out = value;
}
template __global__ void softmax<float>(const float*, float*);

struct is_even {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};
cudaError_t counts(void* temp, size_t& bytes, const int* in, int* out, int n) {
  cub::TransformInputIterator<bool, is_even, const int*> even(in, is_even());
  return cub::DeviceReduce::Sum(temp, bytes, even, out, n);
}
