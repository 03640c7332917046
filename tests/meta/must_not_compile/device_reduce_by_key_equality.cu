// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect first: cannot be compared for equality
#include <strata/device/device_reduce.cuh>

struct key {
  int value;
#if !defined(STRATA_BAD)
  STRATA_HD friend bool operator==(const key& a, const key& b) { return a.value == b.value; }
#endif
};

cudaError_t call(void* storage, std::size_t& bytes, const key* keys, key* unique, const int* values, int* sums,
                 std::int64_t* num_runs) {
  return strata::DeviceReduce::ReduceByKey(storage, bytes, keys, unique, values, sums, num_runs, strata::Sum{}, 1000);
}
