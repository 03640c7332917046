// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: segmented_radix_sort_tuning::block_threads must be a multiple of 32, and 256 or more
// expect: segmented_radix_sort_tuning::few_items_per_thread must not be above items_per_thread
// errors: 4, each kernel asserts what it reads of a row, and all numbers here are wrong
#include <strata/device/device_segmented_radix_sort.cuh>

#if defined(STRATA_BAD)
constexpr int block_threads = 128;
constexpr int few_items_per_thread = 5;
#else
constexpr int block_threads = 288;
constexpr int few_items_per_thread = 4;
#endif

// A tuning of one's own.
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::segmented_radix_sort_tuning segmented{block_threads, few_items_per_thread, 4, 1, 64 << 10};
    static constexpr strata::radix_histogram_tuning histogram{256, 16 << 10};
    static constexpr strata::radix_pass_tuning pass{256, 4, 1};
  };
  using MaxPolicy = Policy;
};

cudaError_t sort(void* storage, std::size_t& bytes, const int* in, int* out, const int* offsets) {
  return strata::TunedDeviceSegmentedRadixSort<hub>::SortKeys(storage, bytes, in, out, 1000, 10, offsets, offsets + 1);
}
