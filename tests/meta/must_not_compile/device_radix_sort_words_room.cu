// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: radix_words_tuning: there must be room for the counters of a block
#include <strata/device/device_radix_sort.cuh>

// A tuning of one's own.
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::radix_histogram_tuning histogram{256, 48 << 10};
    static constexpr strata::radix_pass_tuning pass{256, 4, 1};
    static constexpr strata::radix_block_tuning small_block{256, 1};
    static constexpr strata::radix_cluster_tuning cluster{256, 1, 0};
    static constexpr strata::radix_block_tuning large_block{256, 4};
    static constexpr strata::radix_grid_tuning grid{256, 1, 1, 1, 0};
#if defined(STRATA_BAD)
    static constexpr strata::radix_words_tuning words{256, 60000};
#else
    static constexpr strata::radix_words_tuning words{256, 70000};
#endif
  };
  using MaxPolicy = Policy;
};

cudaError_t sort(void* storage, std::size_t& bytes, const short* in, short* out) {
  return strata::TunedDeviceRadixSort<hub>::SortKeys(storage, bytes, in, out, 70000);
}
