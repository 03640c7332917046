// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Misuse of sorts, merges and top-k of device/ that must not compile. tests/README.md says how this table is read.

// case: merge_even_items
// expect: merge_tuning::items_per_thread must be odd, so that a tile has no gaps
#include <strata/device/device_merge.cuh>
namespace merge_even_items {
// A user's tuning.
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
#if defined(STRATA_CASE_merge_even_items)
    static constexpr strata::merge_tuning tuning{128, 8, 2, 4096};
#else
    static constexpr strata::merge_tuning tuning{128, 7, 2, 4096};
#endif
  };
  using MaxPolicy = Policy;
};

cudaError_t merge(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::TunedDeviceMerge<hub>::MergeKeys(storage, bytes, in, 10, in, 10, out);
}
}  // namespace merge_even_items

// case: merge_sort_comparator
// expect first: the comparator cannot be called with two keys
#include <strata/device/device_merge_sort.cuh>
namespace merge_sort_comparator {
struct is_less {
#if defined(STRATA_CASE_merge_sort_comparator)
  STRATA_HD bool operator()(const char* a, int b) const { return *a < b; }
#else
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
#endif
};

cudaError_t call(void* storage, std::size_t& bytes, int* keys) {
  return strata::DeviceMergeSort::SortKeys(storage, bytes, keys, 1000, is_less{});
}
}  // namespace merge_sort_comparator

// case: merge_sort_const_output
// expect first: results cannot be written to a pointer to const
#include <strata/device/device_merge_sort.cuh>
namespace merge_sort_const_output {
#if defined(STRATA_CASE_merge_sort_const_output)
using output = const int*;
#else
using output = int*;
#endif

struct is_less {
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
};

cudaError_t call(void* storage, std::size_t& bytes, const int* in, output out) {
  return strata::DeviceMergeSort::SortKeysCopy(storage, bytes, in, out, 1000, is_less{});
}
}  // namespace merge_sort_const_output

// case: merge_sort_grid
// expect: merge_sort_grid_tuning: block_threads must be a multiple of 32, at most 1024
// expect: merge_sort_grid_tuning: items_per_thread must be odd, so that a tile has no gaps
// expect: merge sort tuning: block_threads of `whole_array` and `merge_whole_array` must be multiples of 32
// expect: merge_sort_grid_tuning: `one_cluster` must have the same tile in all policies of a chain
// expect: merge_sort_grid_tuning: `resident_grid` must have the same tile in all policies of a chain
// errors: 12, each kernel asserts the numbers of the row that it uses, and all of them are wrong here
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_segmented_merge_sort.cuh>
namespace merge_sort_grid {
struct is_less {
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
};

using usual = strata::segmented_merge_sort_policy_hub<4>::Policy750;
#if defined(STRATA_CASE_merge_sort_grid)
constexpr int threads = 80, items = 4, newer_threads = 32, newer_grid_threads = 32, array_threads = 32;
#else
constexpr int threads = 64, items = 5, newer_threads = 64, newer_grid_threads = 64,
              array_threads = usual::many_tiles.block_threads;
#endif

// A user's tunings.
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
}  // namespace merge_sort_grid

// case: merge_tile
// expect: DeviceMerge: a tile must fit in 48 KiB of shared memory: choose fewer threads or items in its tuning\.
#include <strata/device/device_merge.cuh>
namespace merge_tile {
#if defined(STRATA_CASE_merge_tile)
constexpr int bytes_of_key = 2000;
#else
constexpr int bytes_of_key = 1024;
#endif

struct wide {
  char text[bytes_of_key];
};
struct is_less {
  STRATA_HD bool operator()(const wide& a, const wide& b) const { return a.text[0] < b.text[0]; }
};

cudaError_t call(void* storage, std::size_t& bytes, const wide* keys, wide* keys_out) {
  return strata::DeviceMerge::MergeKeys(storage, bytes, keys, 1000, keys, 1000, keys_out, is_less{});
}
}  // namespace merge_tile

// case: merge_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
// expect: DeviceMerge moves keys and values as bits: both types must be default constructible
#include <strata/device/device_merge.cuh>
namespace merge_trivially_copyable {
struct counted {
  int value;
  STRATA_HD counted(const counted& other) : value(other.value + 1) {}
  counted& operator=(const counted&) = default;
};
struct plain {
  int value;
};

#if defined(STRATA_CASE_merge_trivially_copyable)
using value = counted;
#else
using value = plain;
#endif

cudaError_t call(void* storage, std::size_t& bytes, const int* keys, const value* values, int* keys_out,
                 value* values_out) {
  return strata::DeviceMerge::MergePairs(storage, bytes, keys, values, 1000, keys, values, 1000, keys_out, values_out);
}
}  // namespace merge_trivially_copyable

// case: radix_sort_cluster
// expect: radix_cluster_tuning: block_threads and items_per_thread must be powers of two
#include <strata/device/device_radix_sort.cuh>
namespace radix_sort_cluster {
// A user's tuning.
struct hub {
  using usual = strata::radix_sort_policy_hub<int, strata::NullType>::Policy900;
  struct Policy : strata::ChainedPolicy<750, Policy, Policy, usual> {
#if defined(STRATA_CASE_radix_sort_cluster)
    static constexpr strata::radix_cluster_tuning cluster{384, 4, 8};
#else
    static constexpr strata::radix_cluster_tuning cluster{256, 4, 8};
#endif
  };
  using MaxPolicy = Policy;
};

cudaError_t sort(void* storage, std::size_t& bytes, const int* in, int* out) {
  return strata::TunedDeviceRadixSort<hub>::SortKeys(storage, bytes, in, out, 5000);
}
}  // namespace radix_sort_cluster

// case: radix_sort_indices
// expect: DeviceRadixSort::ArgSort writes indices of items: d_indices_out must point to integers
#include <strata/device/device_radix_sort.cuh>
namespace radix_sort_indices {
#if defined(STRATA_CASE_radix_sort_indices)
using place = float;
#else
using place = short;
#endif

cudaError_t sort(void* storage, std::size_t& bytes, const int* keys, place* indices) {
  return strata::DeviceRadixSort::ArgSort(storage, bytes, keys, indices, 1000);
}
}  // namespace radix_sort_indices

// case: radix_sort_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/device/device_radix_sort.cuh>
namespace radix_sort_trivially_copyable {
struct name {
  int number = 0;
#if defined(STRATA_CASE_radix_sort_trivially_copyable)
  name() = default;
  name(const name& other) : number(other.number) {}
  name& operator=(const name& other) {
    number = other.number;
    return *this;
  }
#endif
};

cudaError_t sort(void* storage, std::size_t& bytes, const int* keys, int* keys_out, const name* names,
                 name* names_out) {
  return strata::DeviceRadixSort::SortPairs(storage, bytes, keys, keys_out, names, names_out, 1000);
}
}  // namespace radix_sort_trivially_copyable

// case: radix_sort_values
// expect: values of up to 800 bytes: sort indices by ArgSort, and gather
#include <strata/device/device_radix_sort.cuh>
namespace radix_sort_values {
struct record {
#if defined(STRATA_CASE_radix_sort_values)
  int word[250];
#else
  int word[25];
#endif
};

cudaError_t sort(void* storage, std::size_t& bytes, const int* in, int* out, const record* records, record* moved) {
  return strata::DeviceRadixSort::SortPairs(storage, bytes, in, out, records, moved, 1000);
}
}  // namespace radix_sort_values

// case: radix_sort_words_room
// expect: radix_words_tuning: least_items must be at least 65,536 \+ 8, so that the array that is not the input has
#include <strata/device/device_radix_sort.cuh>
namespace radix_sort_words_room {
// A user's tuning.
struct hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::radix_histogram_tuning histogram{256, 48 << 10};
    static constexpr strata::radix_pass_tuning pass{256, 4, 1};
    static constexpr strata::radix_block_tuning small_block{256, 1};
    static constexpr strata::radix_cluster_tuning cluster{256, 1, 0};
    static constexpr strata::radix_block_tuning large_block{256, 4};
    static constexpr strata::radix_grid_tuning grid{256, 1, 1, 1, 0};
#if defined(STRATA_CASE_radix_sort_words_room)
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
}  // namespace radix_sort_words_room

// case: segmented_merge_sort_comparator
// expect first: the comparator cannot be called with two keys
#include <strata/device/device_segmented_merge_sort.cuh>
namespace segmented_merge_sort_comparator {
struct is_less {
#if defined(STRATA_CASE_segmented_merge_sort_comparator)
  STRATA_HD bool operator()(const char* a, int b) const { return *a < b; }
#else
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
#endif
};

cudaError_t call(void* storage, std::size_t& bytes, const int* keys, int* keys_out, const int* begins) {
  return strata::DeviceSegmentedMergeSort::SortKeysCopy(storage, bytes, keys, keys_out, 1000, 10, begins, begins + 1,
                                                        is_less{});
}
}  // namespace segmented_merge_sort_comparator

// case: segmented_merge_sort_counts
// expect: counts of items and segments must be integers: convert the argument
#include <strata/device/device_segmented_merge_sort.cuh>
namespace segmented_merge_sort_counts {
struct is_less {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

#if defined(STRATA_CASE_segmented_merge_sort_counts)
using count = float;
#else
using count = unsigned;
#endif

cudaError_t sort(void* storage, std::size_t& bytes, int* keys, const int* offsets) {
  return strata::DeviceSegmentedMergeSort::SortKeys(storage, bytes, keys, count{1000}, count{10}, offsets, offsets + 1,
                                                    is_less{});
}
}  // namespace segmented_merge_sort_counts

// case: segmented_merge_sort_indices
// expect: SortIndices writes indices of items: d_indices must point to integers
#include <strata/device/device_segmented_merge_sort.cuh>
namespace segmented_merge_sort_indices {
struct is_less {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

#if defined(STRATA_CASE_segmented_merge_sort_indices)
using number = float;
#else
using number = unsigned;
#endif

cudaError_t sort(void* storage, std::size_t& bytes, const int* keys, number* indices, const int* offsets) {
  return strata::DeviceSegmentedMergeSort::SortIndices(storage, bytes, keys, indices, 1000, 10, offsets, offsets + 1,
                                                       is_less{});
}
}  // namespace segmented_merge_sort_indices

// case: segmented_merge_sort_tiles
// expect: segmented merge sort tuning: the tile of `many_tiles` must not be smaller than
// expect: segmented merge sort tuning: the tile of `tile_per_multiprocessor` must not be smaller than
// expect: segmented merge sort tuning: `one_tile` must have the same tile in all policies of a chain
#include <strata/device/device_segmented_merge_sort.cuh>
namespace segmented_merge_sort_tiles {
struct is_less {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

#if defined(STRATA_CASE_segmented_merge_sort_tiles)
constexpr int merge_items = 3, max_of_few = 64, older_threads = 32;
constexpr int many_tiles_threads = 32, last_threads = 32;
#else
constexpr int merge_items = 3, max_of_few = 64, older_threads = 64;
constexpr int many_tiles_threads = 128, last_threads = 64;
#endif

// A user's tuning.
template <int Threads>
struct tuning {
  static constexpr strata::segment_tile_tuning one_thread{32, 2, 1, 16}, few_threads{32, 4, 1, max_of_few},
      part_of_tile{64, 3, 1, 96}, one_tile{Threads, 3, 1, Threads * 3},
      many_tiles{many_tiles_threads, 3, 1, many_tiles_threads * 3};
  static constexpr strata::segment_tile_tuning tile_per_multiprocessor{last_threads, 5, 1, last_threads * 5};
  static constexpr strata::segment_tile_tuning whole_array = many_tiles;
  static constexpr strata::segment_merge_tuning merge{32, merge_items + 2, 1, 32 * merge_items};
  static constexpr strata::segment_merge_tuning merge_per_multiprocessor{32, 7, 1, last_threads * 5 / 2},
      merge_whole_array = merge;
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
}  // namespace segmented_merge_sort_tiles

// case: segmented_merge_sort_trivially_copyable
// expect: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
// expect: merge sorts move keys and values as bits: both types must be default constructible
#include <strata/device/device_segmented_merge_sort.cuh>
namespace segmented_merge_sort_trivially_copyable {
struct is_less {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

struct name {
  int number = 0;
#if defined(STRATA_CASE_segmented_merge_sort_trivially_copyable)
  STRATA_HD name(const name& other) : number(other.number) {}
  STRATA_HD name& operator=(const name& other) {
    number = other.number;
    return *this;
  }
#endif
};

cudaError_t sort(void* storage, std::size_t& bytes, int* keys, name* names, const int* offsets) {
  return strata::DeviceSegmentedMergeSort::SortPairs(storage, bytes, keys, names, 1000, 10, offsets, offsets + 1,
                                                     is_less{});
}
}  // namespace segmented_merge_sort_trivially_copyable

// case: segmented_merge_sort_tuning
// expect: segmented_merge_sort tuning: the size of a sorted tile must be a multiple of tile_items of its merges
// expect: segment_merge_tuning::tile_items must be at most \(block_threads - 1\) \* items_per_thread
// expect: segment_tile_tuning::max_items must not exceed the tile, nor be below max_items of `one_thread`
// errors: 5, each kernel asserts the numbers of the row that it uses, and all of them are wrong here
#include <strata/device/device_segmented_merge_sort.cuh>
namespace segmented_merge_sort_tuning {
struct is_less {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

#if defined(STRATA_CASE_segmented_merge_sort_tuning)
constexpr int merge_items = 5, thread_items = 4, max_of_few = 4, older_threads = 64;
#else
constexpr int merge_items = 3, thread_items = 5, max_of_few = 64, older_threads = 64;
#endif

// A user's tuning.
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
}  // namespace segmented_merge_sort_tuning

// case: segmented_radix_sort_counts
// expect: counts of items and segments must be integers: convert the argument
#include <strata/device/device_segmented_radix_sort.cuh>
namespace segmented_radix_sort_counts {
#if defined(STRATA_CASE_segmented_radix_sort_counts)
using count = double;
#else
using count = long long;
#endif

cudaError_t sort(void* storage, std::size_t& bytes, const int* keys, int* sorted, const int* offsets) {
  return strata::DeviceSegmentedRadixSort::SortKeys(storage, bytes, keys, sorted, count(10.5), 2, offsets, offsets + 1);
}
}  // namespace segmented_radix_sort_counts

// case: segmented_radix_sort_offsets
// expect: offsets of segments must be integers: convert them, for example by a TransformInputIterator
#include <strata/device/device_segmented_radix_sort.cuh>
namespace segmented_radix_sort_offsets {
#if defined(STRATA_CASE_segmented_radix_sort_offsets)
using offset = float;
#else
using offset = unsigned;
#endif

cudaError_t sort(void* storage, std::size_t& bytes, const int* in, int* out, const offset* offsets) {
  return strata::DeviceSegmentedRadixSort::SortKeys(storage, bytes, in, out, 1000, 10, offsets, offsets + 1);
}
}  // namespace segmented_radix_sort_offsets

// case: segmented_radix_sort_trivially_copyable
// expect first: items are moved as bits: .* specialise strata::is_trivially_relocatable for it
#include <strata/device/device_segmented_radix_sort.cuh>
namespace segmented_radix_sort_trivially_copyable {
struct name {
  int number = 0;
#if defined(STRATA_CASE_segmented_radix_sort_trivially_copyable)
  name() = default;
  name(const name& other) : number(other.number) {}
  name& operator=(const name& other) {
    number = other.number;
    return *this;
  }
#endif
};

cudaError_t sort(void* storage, std::size_t& bytes, const int* in, int* out, const name* names, name* moved,
                 const int* offsets) {
  return strata::DeviceSegmentedRadixSort::SortPairs(storage, bytes, in, out, names, moved, 1000, 10, offsets,
                                                     offsets + 1);
}
}  // namespace segmented_radix_sort_trivially_copyable

// case: segmented_radix_sort_tuning
// expect: segmented_radix_sort_tuning::block_threads must be a multiple of 32, and at least 256: one thread for each
// expect: segmented_radix_sort_tuning::few_items_per_thread must not be above items_per_thread
// errors: 4, each kernel asserts the numbers of the row that it uses, and all of them are wrong here
#include <strata/device/device_segmented_radix_sort.cuh>
namespace segmented_radix_sort_tuning {
#if defined(STRATA_CASE_segmented_radix_sort_tuning)
constexpr int block_threads = 128;
constexpr int few_items_per_thread = 5;
#else
constexpr int block_threads = 288;
constexpr int few_items_per_thread = 4;
#endif

// A user's tuning.
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
}  // namespace segmented_radix_sort_tuning

// case: segmented_radix_sort_values
// expect: a tile of these values does not fit in shared memory: sort indices instead, and gather the values
#include <strata/device/device_segmented_radix_sort.cuh>
namespace segmented_radix_sort_values {
struct record {
#if defined(STRATA_CASE_segmented_radix_sort_values)
  char text[1000];
#else
  char text[100];
#endif
};

cudaError_t sort(void* storage, std::size_t& bytes, const int* in, int* out, const record* records, record* moved,
                 const int* offsets) {
  return strata::DeviceSegmentedRadixSort::SortPairs(storage, bytes, in, out, records, moved, 1000, 10, offsets,
                                                     offsets + 1);
}
}  // namespace segmented_radix_sort_values

// case: segmented_sort_keys
// expect: DeviceSegmentedSort takes integers and enumerations, and floating-point numbers of 8 to 64 bits
#include <strata/device/device_segmented_sort.cuh>
namespace segmented_sort_keys {
struct record {
  int number;
};
#if defined(STRATA_CASE_segmented_sort_keys)
using key = record;
#else
using key = int;
#endif

cudaError_t sort(void* storage, std::size_t& bytes, const key* in, key* out, const int* offsets) {
  return strata::DeviceSegmentedSort::SortKeys(storage, bytes, in, out, 1000, 10, offsets, offsets + 1);
}
}  // namespace segmented_sort_keys

// case: segmented_sort_long_segments
// expect: long_segment_tuning::longest_merged must be at least the size of each tile in which segments are sorted
#include <strata/device/device_segmented_sort.cuh>
namespace segmented_sort_long_segments {
#if defined(STRATA_CASE_segmented_sort_long_segments)
constexpr std::size_t longest_merged = 5000;
#else
constexpr std::size_t longest_merged = 50000;
#endif

struct hub {
  using library = strata::segmented_sort_policy_hub<int, strata::NullType>;
  struct rows : library::rows<library::merges::rows_900, library::digits::Policy900> {
    static constexpr strata::long_segment_tuning long_segments{longest_merged, 0, 0, 0};
    static constexpr strata::number_tile_tuning number_tile{0, 0, 0, 0};
  };
  struct Policy : strata::ChainedPolicy<750, Policy, Policy>, rows {};
  using MaxPolicy = Policy;
};

cudaError_t sort(void* storage, std::size_t& bytes, const int* in, int* out, const int* offsets) {
  return strata::TunedDeviceSegmentedSort<hub>::SortKeys(storage, bytes, in, out, 1000, 10, offsets, offsets + 1);
}
}  // namespace segmented_sort_long_segments

// case: segmented_sort_number_tile
// expect: number_tile_tuning: the tile must not be larger than that of `one_tile`
#include <strata/device/device_segmented_sort.cuh>
namespace segmented_sort_number_tile {
#if defined(STRATA_CASE_segmented_sort_number_tile)
constexpr int items = 16;
#else
constexpr int items = 8;
#endif

struct hub {
  using library = strata::segmented_sort_policy_hub<int, strata::NullType>;
  struct rows : library::rows<library::merges::rows_900, library::digits::Policy900> {
    static constexpr strata::number_tile_tuning number_tile{512, items, 1, 2};
  };
  struct Policy : strata::ChainedPolicy<750, Policy, Policy>, rows {};
  using MaxPolicy = Policy;
};

cudaError_t sort(void* storage, std::size_t& bytes, const int* in, int* out, const int* offsets) {
  return strata::TunedDeviceSegmentedSort<hub>::SortKeys(storage, bytes, in, out, 1000, 10, offsets, offsets + 1);
}
}  // namespace segmented_sort_number_tile

// case: segmented_sort_number_tile_threads
// expect: number_tile_tuning::block_threads must be a multiple of 32, at most 1024
#include <strata/device/device_segmented_sort.cuh>
namespace segmented_sort_number_tile_threads {
#if defined(STRATA_CASE_segmented_sort_number_tile_threads)
constexpr int threads = 100;
#else
constexpr int threads = 256;
#endif

struct hub {
  using library = strata::segmented_sort_policy_hub<int, strata::NullType>;
  struct rows : library::rows<library::merges::rows_900, library::digits::Policy900> {
    static constexpr strata::number_tile_tuning number_tile{threads, 8, 1, 2};
  };
  struct Policy : strata::ChainedPolicy<750, Policy, Policy>, rows {};
  using MaxPolicy = Policy;
};

cudaError_t sort(void* storage, std::size_t& bytes, const int* in, int* out, const int* offsets) {
  return strata::TunedDeviceSegmentedSort<hub>::SortKeys(storage, bytes, in, out, 1000, 10, offsets, offsets + 1);
}
}  // namespace segmented_sort_number_tile_threads

// case: top_k_sorted_outputs
// expect: DeviceTopK sorts results in the output arrays: pass pointers to the types of the input, or call the function
// errors: 4, the output arrays of another type are used
#include <strata/device/device_top_k.cuh>
namespace top_k_sorted_outputs {
cudaError_t call(const float* in, float* out, double* other) {
  std::size_t bytes = 0;
  cudaError_t status = strata::DeviceTopK::MaxKeysSorted(nullptr, bytes, in, out, 10, 3);
  static_cast<void>(other);
#ifdef STRATA_CASE_top_k_sorted_outputs
  status = strata::DeviceTopK::MaxKeysSorted(nullptr, bytes, in, other, 10, 3);
#endif
  return status;
}
}  // namespace top_k_sorted_outputs
