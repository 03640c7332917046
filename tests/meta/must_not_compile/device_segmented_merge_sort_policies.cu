// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: all policies of a segmented merge sort must have the same tile of `large`
#include <strata/device/device_segmented_merge_sort.cuh>

struct is_less {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

#if defined(STRATA_BAD)
constexpr int merge_items = 3, small_most = 64, older_threads = 32;
#else
constexpr int merge_items = 3, small_most = 64, older_threads = 64;
#endif

// A tuning of one's own.
template <int Threads>
struct tuning {
  static constexpr strata::segment_tile_tuning tiny{32, 2, 1, 16}, little{32, 4, 1, small_most},
      middle{64, 3, 1, 96}, large{Threads, 3, 1, Threads * 3},
      huge{128, 3, 1, 384};
  static constexpr strata::segment_tile_tuning few{64, 5, 1, 320};
  static constexpr strata::segment_merge_tuning merge{32, merge_items + 2, 1, 32 * merge_items};
  static constexpr strata::segment_merge_tuning merge_few{32, 7, 1, 160};
};
struct hub {
  struct Policy750 : strata::ChainedPolicy<750, Policy750, Policy750>, tuning<older_threads> {};
  struct Policy990 : strata::ChainedPolicy<990, Policy990, Policy750>, tuning<64> {};
  using MaxPolicy = Policy990;
};

cudaError_t sort(void* storage, std::size_t& bytes, const int* in, int* out, const int* offsets) {
  using namespace strata;
  using namespace strata::detail;
  const auto all = segments_by_offsets(1000, 10, offsets, offsets + 1);
  return DispatchSegmentedMergeSort<int, NullType, const int*, NullType,
                                    offset_segments<const int*, const int*>, is_less, hub>::
      Dispatch(storage, bytes,
               {in, {}, {out, nullptr}, all.num_items, all.num_segments, all.segments, all.longest,
                false, true, is_less{}, nullptr});
}
