// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: merge_sort_grid_tuning: block_threads must be a multiple of 32, at most 1024
// expect: merge_sort_grid_tuning: items_per_thread must be odd, so that a tile has no gaps
// expect: merge_sort_grid_tuning: all policies of a chain must have the same tile of `small_grid`, and none a
#include <strata/device/device_merge_sort.cuh>

struct is_less {
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
};

#if defined(STRATA_BAD)
constexpr int threads = 80, items = 4, large_threads = 32;
#else
constexpr int threads = 64, items = 5, large_threads = 128;
#endif

// Tunings of one's own.
using usual = strata::segmented_merge_sort_policy_hub<4>::Policy750;
template <int Threads, int Items, int LargeThreads>
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy, usual> {
    static constexpr strata::merge_sort_grid_tuning small_grid{Threads, Items, 1, 0}, large_grid{LargeThreads, 5, 1, 0};
  };
  using MaxPolicy = Policy;
};

void sort(std::size_t& bytes, int* keys) {
  static_cast<void>(strata::TunedDeviceMergeSort<hub<threads, 3, 128>>::SortKeys(nullptr, bytes, keys, 9, is_less{}));
  static_cast<void>(strata::TunedDeviceMergeSort<hub<64, items, 128>>::SortKeys(nullptr, bytes, keys, 9, is_less{}));
  static_cast<void>(
      strata::TunedDeviceMergeSort<hub<64, 5, large_threads>>::SortKeys(nullptr, bytes, keys, 9, is_less{}));
}
