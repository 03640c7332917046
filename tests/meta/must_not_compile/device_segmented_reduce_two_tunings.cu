// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: the two tunings of a segmented_reduce policy must have the same block_threads
#include <strata/device/device_segmented_reduce.cuh>

#if defined(STRATA_BAD)
constexpr int segmented_threads = 512;
constexpr int threads = 256;
#else
constexpr int segmented_threads = 256;
constexpr int threads = 256;
#endif

// A tuning of one's own.
template <class Tuning>
constexpr Tuning with_threads(Tuning tuning, int block_threads) {
  tuning.block_threads = block_threads;
  return tuning;
}
struct hub {
  using usual = strata::segmented_reduce_policy_hub<int>::MaxPolicy;
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr auto segmented = with_threads(usual::segmented, segmented_threads);
    static constexpr auto tuning = with_threads(usual::tuning, threads);
    static constexpr auto one_launch_tuning = with_threads(usual::one_launch_tuning, threads);
  };
  using MaxPolicy = Policy;
};

cudaError_t sums(void* storage, std::size_t& bytes, const int* in, int* out, const int* offsets) {
  return strata::TunedDeviceSegmentedReduce<hub>::Sum(storage, bytes, in, out, 1000, offsets, offsets + 1);
}
