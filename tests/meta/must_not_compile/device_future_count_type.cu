// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: FutureCount reads an integer: d_num_items must be a pointer to integers
#include <strata/device/device_reduce.cuh>

#ifdef STRATA_BAD
using number = float;
#else
using number = int;
#endif

cudaError_t sum(const int* in, int* out, const number* num_items) {
  return strata::DeviceReduce::Sum(in, out, strata::FutureCount<number>(num_items, 1000));
}
