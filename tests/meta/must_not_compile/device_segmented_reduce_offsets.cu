// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Offset iterator type should be integral
#include <strata/device/device_segmented_reduce.cuh>

#if defined(STRATA_BAD)
using offset = double;
#else
using offset = long long;
#endif

cudaError_t sums(void* storage, std::size_t& bytes, const int* in, int* out, const offset* offsets) {
  return strata::DeviceSegmentedReduce::Sum(storage, bytes, in, out, 1000, offsets, offsets + 1);
}
