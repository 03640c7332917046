// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: histogram_tuning::block_threads must be a multiple of 32, at most 1024
// expect: histogram_tuning: table_slots must be a power of two, and bytes_in_flight 32 or more
// expect: batched_copy_tuning::block_threads must be a multiple of 32, at most 1024
// expect: tile_tuning: block_threads must be a multiple of 32, at most 1024; groups, in_place_groups,
// expect: merge_tuning::block_threads must be a multiple of 32, at most 1024
// expect: segment_tile_tuning, segment_merge_tuning: block_threads must be a multiple of 32, at most 1024
// expect: radix sort tuning: block_threads must be multiples of 32 from 256 to 1024
// expect: transpose_tuning::block_threads must be a multiple of 32, at most 1024
// expect: join tuning: all numbers of threads must be multiples of 32
// expect: join_output_tuning::select_rows must be a multiple of 32
// errors: 14, each kernel asserts what it reads of a row, and all numbers here are wrong
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_CUDA
#include <strata/device/device_copy.cuh>
#include <strata/device/device_hash_join.hpp>
#include <strata/device/device_histogram.cuh>
#include <strata/device/device_merge.cuh>
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_transform.cuh>
#include <strata/device/device_transpose.cuh>

#if defined(STRATA_BAD)
constexpr int threads = 80, slots = 1000;
#else
constexpr int threads = 256, slots = 1024;
#endif

// Tunings of one's own: one row each.
template <class Rows>
struct hub_of {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy, Rows> {};
  using MaxPolicy = Policy;
};
struct histogram_row {
  static constexpr strata::histogram_tuning tuning{threads, 1, 16 * 4, 16 << 10, slots};
};
struct copy_row {
  static constexpr strata::batched_copy_tuning batched_copy{threads, 1, 512, 512, 4, 1, 2, 2};
};
struct tile_row {
  static constexpr strata::tile_tuning tuning{threads, 16, 2, 2, 2, 1, 1};
};
struct merge_row {
  static constexpr strata::merge_tuning tuning{threads, 3, 1, 4096};
};
struct merge_sort_rows : strata::segmented_merge_sort_policy_hub<4>::Policy750 {
  static constexpr strata::segment_tile_tuning few_threads{threads, 4, 1, 128};
};
struct radix_rows : strata::radix_sort_policy_hub<int, strata::NullType>::Policy750 {
  static constexpr strata::radix_block_tuning small_block{threads, 4};
};
struct transpose_rows : strata::transpose_policy_hub<4, 4>::Policy750 {
  static constexpr strata::transpose_tuning direct_tall{threads, 64, 8, 4}, tall = direct_tall;
};
struct join_rows : strata::join_policy_hub::Policy750 {
  static constexpr strata::join_table_tuning table{256, threads, 4, 1};
  static constexpr strata::join_output_tuning output{128, 4096, 4, 1024, 2, threads, 512, 2};
};

struct is_less {
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
};
struct same {
  STRATA_HD int operator()(int a) const { return a; }
};

void all(std::size_t& bytes, const int* in, int* out) {
  using namespace strata;
  void* const none = nullptr;
  const auto side = join_side(in, 10);
  TunedDeviceHistogram<hub_of<histogram_row>>::HistogramEven(none, bytes, in, out, 10, 0, 9, 10);
  TunedDeviceCopy<hub_of<copy_row>>::Batched(none, bytes, &in, &out, in, 1);
  TunedDeviceTransform<hub_of<tile_row>>::Transform(none, bytes, in, out, 10, same{});
  TunedDeviceMerge<hub_of<merge_row>>::MergeKeys(none, bytes, in, 10, in, 10, out);
  TunedDeviceMergeSort<hub_of<merge_sort_rows>>::SortKeys(none, bytes, out, 10, is_less{});
  TunedDeviceRadixSort<hub_of<radix_rows>>::SortKeys(none, bytes, in, out, 10);
  static_cast<void>(TunedDeviceTranspose<hub_of<transpose_rows>>::Transpose(none, bytes, in, out, 3, 3));
  TunedDeviceHashJoin<hub_of<join_rows>>::Inner(none, bytes, side, side, join_count(), nullptr);
}
