// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: long_segment_tuning::longest_merged must be at least the items of each tile
#include <strata/device/device_segmented_sort.cuh>

#if defined(STRATA_BAD)
constexpr std::size_t longest_merged = 5000;
#else
constexpr std::size_t longest_merged = 50000;
#endif

struct hub {
  using library = strata::segmented_sort_policy_hub<int, strata::NullType>;
  struct rows : library::rows<library::merges::rows_900, library::digits::Policy900> {
    static constexpr strata::long_segment_tuning long_segments{longest_merged, 0, 0, 0};
  };
  struct Policy : strata::ChainedPolicy<750, Policy, Policy>, rows {};
  using MaxPolicy = Policy;
};

cudaError_t sort(void* storage, std::size_t& bytes, const int* in, int* out, const int* offsets) {
  return strata::TunedDeviceSegmentedSort<hub>::SortKeys(storage, bytes, in, out, 1000, 10, offsets, offsets + 1);
}
