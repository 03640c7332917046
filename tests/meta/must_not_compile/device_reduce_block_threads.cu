// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: reduce_tuning::block_threads must be a multiple of 32
#include <strata/device/device_reduce.cuh>

#if defined(STRATA_BAD)
constexpr int block_threads = 250;
#else
constexpr int block_threads = 256;
#endif

// A tuning of one's own.
constexpr strata::reduce_tuning changed() {
  auto tuning = strata::reduce_policy_hub<int>::MaxPolicy::tuning;
  tuning.block_threads = block_threads;
  return tuning;
}
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::reduce_tuning tuning = changed();
  };
  using MaxPolicy = Policy;
};

cudaError_t sum(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::TunedDeviceReduce<hub>::Sum(storage, bytes, in, out, 1000);
}
