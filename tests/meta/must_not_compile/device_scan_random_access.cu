// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: pass a random-access iterator
#include <strata/device/device_scan.cuh>

#include <list>

#if defined(STRATA_BAD)
using iterator = std::list<int>::iterator;
#else
using iterator = const int*;
#endif

cudaError_t call(void* storage, std::size_t& bytes, iterator in, int* out) {
  return strata::DeviceScan::ExclusiveSum(storage, bytes, in, out, 1000);
}
