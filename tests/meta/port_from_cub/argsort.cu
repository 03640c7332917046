// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sorts rows, in one source for several back ends, as in an inference engine.
// by hand: #include <cuda/std/functional>
#include <cuda_runtime.h>
// report: CCCL_VERSION is not defined without CUB's headers
#if !defined(USE_HIP) && defined(CCCL_VERSION) && CCCL_VERSION >= 3002000
#define HAS_NEW_CCCL
#endif
#if defined(USE_HIP)
#include <hipcub/hipcub.hpp>
using namespace hipcub;
#else
#include <cub/cub.cuh>
using namespace cub;
#endif
// report: CCCL_MAJOR_VERSION is not defined without CUB's headers
#if CCCL_MAJOR_VERSION >= 3
// report: cuda::std::plus came along with CUB: add #include <cuda/std/functional>
using sum_op = cuda::std::plus<>;
#endif

cudaError_t argsort(void* temp, size_t& bytes, float* keys, float* sorted, int* in, int* out, int columns, int rows,
                    const int* begin, cudaStream_t stream) {
  // cub::DeviceRadixSort is named here, and "cub::" too
  const char* name = "cub::DeviceRadixSort";
  if (name != nullptr && rows == 1)
    return DeviceRadixSort::SortPairs(temp, bytes, keys, sorted, in, out, columns, 0, sizeof(float) * 8, stream);
  return DeviceSegmentedSort::SortPairsDescending(temp, bytes, keys, sorted, in, out, columns * rows, rows, begin,
                                                  begin + 1, stream);
}
