// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: merge_sort_grid_tuning: block_threads must be a multiple of 32, at most 1024
// expect: merge_sort_grid_tuning: items_per_thread must be odd, so that a tile has no gaps
// expect: merge sort tuning: block_threads of `whole_array` and `merge_whole_array` must be multiples of 32
// expect: merge_sort_grid_tuning: all policies of a chain must have the same tile of `one_cluster`
// expect: merge_sort_grid_tuning: all policies of a chain must have the same tile of `resident_grid`
// errors: 12, each kernel asserts what it reads of a row, and all numbers here are wrong
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_segmented_merge_sort.cuh>

struct is_less {
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
};

using usual = strata::segmented_merge_sort_policy_hub<4>::Policy750;
#if defined(STRATA_BAD)
constexpr int threads = 80, items = 4, newer_threads = 32, newer_grid_threads = 32, array_threads = 32;
#else
constexpr int threads = 64, items = 5, newer_threads = 64, newer_grid_threads = 64,
              array_threads = usual::many_tiles.block_threads;
#endif

// Tunings of one's own.
template <int Threads, int Items, int NewerThreads>
struct hub {
  struct Policy750 : strata::ChainedPolicy<750, Policy750, Policy750, usual> {
    static constexpr strata::merge_sort_grid_tuning one_cluster{Threads, Items, 1, 8}, resident_grid{64, 5, 1};
  };
  struct Policy990 : strata::ChainedPolicy<990, Policy990, Policy750, usual> {
    static constexpr strata::merge_sort_grid_tuning one_cluster{NewerThreads, Items, 1, 8}, resident_grid{64, 5, 1};
  };
  using MaxPolicy = Policy990;
};

struct segments_hub {
  struct Policy750 : strata::ChainedPolicy<750, Policy750, Policy750, usual> {
    static constexpr strata::merge_sort_grid_tuning resident_grid{64, 5, 1};
  };
  struct Policy990 : strata::ChainedPolicy<990, Policy990, Policy750, usual> {
    static constexpr strata::merge_sort_grid_tuning resident_grid{newer_grid_threads, 5, 1};
  };
  using MaxPolicy = Policy990;
};

struct array_hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy, usual> {
    static constexpr strata::segment_tile_tuning whole_array{array_threads, usual::many_tiles.items_per_thread, 1};
  };
  using MaxPolicy = Policy;
};

void sort(std::size_t& bytes, int* keys, const int* offsets) {
  static_cast<void>(strata::TunedDeviceSegmentedMergeSort<segments_hub>::SortKeys(nullptr, bytes, keys, 9, 3, offsets,
                                                                                  offsets + 1, is_less{}));
  static_cast<void>(strata::TunedDeviceMergeSort<array_hub>::SortKeys(nullptr, bytes, keys, 9, is_less{}));
  static_cast<void>(
      strata::TunedDeviceMergeSort<hub<threads, 3, threads>>::SortKeys(nullptr, bytes, keys, 9, is_less{}));
  static_cast<void>(strata::TunedDeviceMergeSort<hub<64, items, 64>>::SortKeys(nullptr, bytes, keys, 9, is_less{}));
  static_cast<void>(
      strata::TunedDeviceMergeSort<hub<64, 5, newer_threads>>::SortKeys(nullptr, bytes, keys, 9, is_less{}));
}
