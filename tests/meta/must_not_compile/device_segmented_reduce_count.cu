// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: counts of rows, columns and segments must be integers
#include <strata/device/device_segmented_reduce.cuh>

cudaError_t sum(const int* in, int* out) {
#if defined(STRATA_BAD)
  const double count = 10.5;
#else
  const int count = 10;
#endif
  return strata::DeviceSegmentedReduce::Sum(in, out, count, 3);
}
