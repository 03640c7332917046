// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: results cannot be written to a pointer to const
#include <strata/device/device_reduce.cuh>

#if defined(STRATA_BAD)
using output = const int*;
#else
using output = int*;
#endif

cudaError_t call(void* storage, std::size_t& bytes, const int* in, output out) {
  return strata::DeviceReduce::Reduce(storage, bytes, in, out, 1000, strata::Sum{}, 0);
}
