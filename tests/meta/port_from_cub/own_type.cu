// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A type of the program, for which libcu++ knows limits. Reductions are instantiated for all types.
// by hand: #include <strata/core/cuda_std_limits.hpp>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cuda/std/limits>
// report: CUB_VERSION is not defined without CUB's headers
#if CUB_VERSION >= 200800
using sum_op = int;
#endif

struct fixed {
  int number;
  __host__ __device__ bool operator<(const fixed& other) const { return number < other.number; }
};
// report: reductions ask cuda::std::numeric_limits of a type if you add #include <strata/core/cuda_std_limits.hpp>
template <>
class cuda::std::numeric_limits<fixed> {
 public:
  static constexpr bool is_specialized = true;
  __host__ __device__ static constexpr fixed max() { return {2147483647}; }
  __host__ __device__ static constexpr fixed lowest() { return {-2147483647}; }
};

cudaError_t extremes(void* temp, size_t& bytes, fixed* in, fixed* out, int n, const int* offsets) {
  cub::DeviceReduce::Min(temp, bytes, in, out, n);
  cub::DeviceReduce::Max(temp, bytes, in, out, n);
  return cub::DeviceSegmentedReduce::Min(temp, bytes, in, out, n, offsets, offsets + 1);
}
