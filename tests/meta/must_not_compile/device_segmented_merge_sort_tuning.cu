// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: segmented_merge_sort tuning: a tile that is sorted must be some tiles of its merges
// expect: segment_merge_tuning::tile_items must leave a thread without items
// expect: segment_tile_tuning::max_items must fit the tile, and be smallest in `one_thread`
// errors: 5, each kernel asserts what it reads of a row, and all numbers here are wrong
#include <strata/device/device_segmented_merge_sort.cuh>

struct is_less {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

#if defined(STRATA_BAD)
constexpr int merge_items = 5, thread_items = 4, max_of_few = 4, older_threads = 64;
#else
constexpr int merge_items = 3, thread_items = 5, max_of_few = 64, older_threads = 64;
#endif

// A tuning of one's own.
template <int Threads>
struct tuning {
  static constexpr strata::segment_tile_tuning one_thread{32, 2, 1, 16}, few_threads{32, 4, 1, max_of_few},
      part_of_tile{64, 3, 1, 96}, one_tile{Threads, 3, 1, Threads * 3}, many_tiles{128, 3, 1, 384},
      whole_array = many_tiles;
  static constexpr strata::segment_tile_tuning tile_per_multiprocessor{64, 5, 1, 320};
  static constexpr strata::segment_merge_tuning merge{32, thread_items, 1, 32 * merge_items}, merge_whole_array = merge;
  static constexpr strata::segment_merge_tuning merge_per_multiprocessor{32, 7, 1, 160};
  static constexpr strata::merge_sort_grid_tuning one_cluster{64, 3, 1, 1}, resident_grid{64, 3, 1};
};
struct hub {
  struct Policy750 : strata::ChainedPolicy<750, Policy750, Policy750>, tuning<older_threads> {};
  struct Policy990 : strata::ChainedPolicy<990, Policy990, Policy750>, tuning<64> {};
  using MaxPolicy = Policy990;
};

cudaError_t sort(void* storage, std::size_t& bytes, const int* in, int* out, const int* offsets) {
  return strata::TunedDeviceSegmentedMergeSort<hub>::SortKeysCopy(storage, bytes, in, out, 1000, 10, offsets,
                                                                  offsets + 1, is_less{});
}
