// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: segmented reductions keep a result for each thread of a block in 48 KB of shared memory
#include <strata/device/device_segmented_reduce.cuh>

struct record {
#if defined(STRATA_BAD)
  int word[100];
#else
  int word[25];
#endif
};
struct add {
  STRATA_HD record operator()(const record& a, const record& b) const {
    record sum = a;
    for (int i = 0; i < 25; ++i) sum.word[i] += b.word[i];
    return sum;
  }
};

cudaError_t sum(void* storage, std::size_t& bytes, const record* in, record* out) {
  return strata::DeviceSegmentedReduce::Reduce(storage, bytes, in, out, 10, 100, add{}, record{});
}
