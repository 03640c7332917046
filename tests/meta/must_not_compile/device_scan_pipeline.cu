// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: scan_pipeline_tuning::scanning_threads must be a multiple of 32
// expect: scan_pipeline_tuning::vectors_per_thread must be odd
// expect: scan_pipeline_tuning::lag must be 1 or 2
// errors: 6, the kernel asserts what it reads of a row too, and all numbers here are wrong
#include <strata/device/device_scan.cuh>

#if defined(STRATA_BAD)
constexpr int threads = 250, vectors = 4, lag = 3;
#else
constexpr int threads = 256, vectors = 7, lag = 2;
#endif

// A tuning of one's own.
using base = strata::scan_policy_hub<int, int>::Policy900;
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::scan_tile_tuning small_tile = base::small_tile;
    static constexpr strata::scan_tile_tuning large_tile = base::large_tile;
    static constexpr strata::scan_pipeline_tuning pipeline{threads, vectors, 4, lag, 1};
    static constexpr int pipeline_above = base::pipeline_above;
  };
  using MaxPolicy = Policy;
};

cudaError_t sum(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::TunedDeviceScan<hub>::ExclusiveSum(storage, bytes, in, out, 1000);
}
