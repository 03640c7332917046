// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: a pointer to void does not say of what type the items are
#include <strata/device/device_reduce.cuh>

#if defined(STRATA_BAD)
using item = void;
#else
using item = int;
#endif

cudaError_t call(void* storage, std::size_t& bytes, const item* in, int* out) {
  return strata::DeviceReduce::Sum(storage, bytes, in, out, 1000);
}
