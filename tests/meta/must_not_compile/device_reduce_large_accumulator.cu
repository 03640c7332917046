// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: blocks of a reduction exchange results in 48 KB of shared memory
#include <strata/device/device_reduce.cuh>

struct record {
#if defined(STRATA_BAD)
  int word[1000];
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
  return strata::DeviceReduce::Reduce(storage, bytes, in, out, 1000, add{}, record{});
}
