// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: segmented_scan_tuning::block_threads must be a multiple of 32
// expect: segmented_scan_tuning::items_per_thread must be at most 32
#include <strata/device/device_segmented_scan.cuh>

#if defined(STRATA_BAD)
constexpr int block_threads = 80;
constexpr int items_per_thread = 33;
#else
constexpr int block_threads = 96;
constexpr int items_per_thread = 7;
#endif

// A tuning of one's own.
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::segmented_scan_tuning tuning{block_threads, items_per_thread, 1};
  };
  using MaxPolicy = Policy;
};

cudaError_t sums(void* storage, std::size_t& bytes, const int* in, int* out, const int* offsets) {
  return strata::TunedDeviceSegmentedScan<hub>::ExclusiveSegmentedSum(storage, bytes, in, out, offsets, offsets + 1,
                                                                      1000);
}
