// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: counts of items and segments must be integers
#include <strata/device/device_scan.cuh>

cudaError_t sum(void* storage, std::size_t& bytes, const int* in, int* out) {
#if defined(STRATA_BAD)
  const double count = 1e6;
#else
  const int count = 1000000;
#endif
  return strata::DeviceScan::ExclusiveSum(storage, bytes, in, out, count);
}
