// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: radix_sort_policy_hub::least_grid_tile_items must be that of all policies
#include <strata/device/device_radix_sort.cuh>

// A tuning of one's own.
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::radix_histogram_tuning histogram{256, 48 << 10};
    static constexpr strata::radix_pass_tuning pass{256, 4, 1};
    static constexpr strata::radix_block_tuning small_block{256, 1};
    static constexpr strata::radix_cluster_tuning cluster{256, 1, 0};
    static constexpr strata::radix_block_tuning large_block{256, 4};
    static constexpr strata::radix_grid_tuning grid{256, 4, 2, 1, 10000};
    static constexpr strata::radix_words_tuning words{256, 0};
  };
  using MaxPolicy = Policy;
  static constexpr std::size_t least_counted_words = 0;
  static constexpr std::size_t least_tile_items = 1024;
#if defined(STRATA_BAD)
  static constexpr std::size_t least_grid_tile_items = 1024;
#else
  static constexpr std::size_t least_grid_tile_items = 512;
#endif
};

cudaError_t sort(void* storage, std::size_t& bytes, const int* in, int* out) {
  using namespace strata::detail;
  return DispatchRadixSort<const int*, strata::NullType, int, int, false, identity_decomposer, hub>::Dispatch(
      storage, bytes, {in, out, nullptr}, {}, 1000, 0, 32, {}, radix_scratch::in_storage, nullptr);
}
