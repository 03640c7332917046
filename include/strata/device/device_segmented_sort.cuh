// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/radix_sort/segmented_sort_calls.cuh>

#include <cstddef>

STRATA_ARCH_NAMESPACE_BEGIN

/// Sorts each of many segments of numbers in device memory, alone or with values, stably.
///
/// | call | sorts |
/// |---|---|
/// | `SortKeys(d_keys_in, d_keys_out, segments...)` | keys from one array to another |
/// | `SortPairs(d_keys_in, d_keys_out, d_values_in, d_values_out, segments...)` | keys and their values |
/// | `SortIndices(d_keys, d_indices, segments...)` | writes the indices of the keys in sorted order |
///
/// Each has a `...Descending` form. `segments...` are
/// - `num_items, num_segments, d_begin_offsets, d_end_offsets`: segment `s` is items [begin[s], end[s]) of the input,
///   and has the same offsets in the output;
/// - or `num_segments, segment_size`: segments of one size, side by side.
///
/// Keys are integers, enumerations, bool and floating-point numbers, in the order of DeviceRadixSort: -0.0 is equal to
/// +0.0, and all NaNs are equal and behind +infinity, in descending sorts before it.
///
/// Unlike DeviceSegmentedRadixSort, it mostly merges, by the kernels of DeviceSegmentedMergeSort. Long segments of
/// large calls are sorted by their digits. In some calls, a block sorts a short segment by the bits of its keys
/// (radix_sort/README.md). For other orders or types of keys, take DeviceSegmentedMergeSort.
///
/// - **Stability.** Equal keys of a segment, and their values, stay in the order in which they come, in descending
///   sorts, too. `StableSortKeys`, `StableSortPairs` and their `...Descending` forms are other names of the functions
///   with offsets. Results are the same from run to run.
/// - **Call.** Call it twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (pure arithmetic; never
///   0), then with that much device memory, whose contents and alignment do not matter. Or call it once, without these
///   two arguments: see `execution`. All segments together have at most `num_items` items, and each array has at least
///   that many. Counts may have any integer types. Offsets may be any random-access iterators over integers that can be
///   dereferenced in device code.
/// - **Indices** count from the beginning of `d_keys`. They may have any integer type that can hold `num_items` - 1,
///   and the index of each item in a segment. If a segment can be longer than a tile, temporary storage of
///   `SortIndices` has room for the keys twice, and for the indices once.
/// - **Values** are of any trivially relocatable and default constructible type. They move with their
///   keys through shared memory: for large ones, sort indices and gather.
/// - **Segments.** Segments may have any lengths, lie in any order, leave gaps, and lie behind `num_items` if arrays
///   are longer. They must not overlap. A segment that ends before it begins is empty. Nothing outside of segments is
///   written. The host cannot know whether segments have more than `num_items` items. If they have, some long segments
///   are not written, and debug builds (`STRATA_DEBUG`) stop.
/// - **Two buffers.** With `DoubleBuffer`, segments are sorted in the current array, in place, and `selector` is not
///   changed. Items of segments longer than a tile move by way of the same positions of the other array, which
///   then have unspecified contents.
/// - **Execution.** A call launches one kernel if no segment can be longer than a block sorts in shared memory.
///   Otherwise it launches two kernels, mostly after a memset. If a segment can be longer than a tile, it mostly
///   launches a third kernel. merge_sort/README.md has these lengths. The kernel that merges segments longer than a
///   tile is a cooperative launch; DeviceScan says when it starts. If long segments are sorted by their digits, two
///   more kernels follow. No host synchronisation and no allocation, so a call can be captured in a graph and replayed
///   with other items, offsets and lengths. Calls that may run at the same time need temporary storage of their own.
/// - **Work.** As in DeviceSegmentedMergeSort, items are read and written once. If a segment is longer than a tile, its
///   items are read and written once more for each level of merges. In large calls, the longest segments take the
///   passes of DeviceSegmentedRadixSort instead, unless keys have more than 4 bytes or values more than 8, or keys of
///   one byte are in a DoubleBuffer, or the segment has 2^31 items or more.
/// - **Storage.** If a segment can be longer than a tile, temporary storage has as much memory as keys and values. It
///   also has 20 KB, and lists of the segments that the first kernel does not sort, with their tiles and counters. With
///   two buffers, it has only these 20 KB and the lists. The size depends on `num_items`, not on offsets. The lists
///   take up to this part of the memory of the keys:
///
///   | bytes of a key | 1 | 2 | 4 | 8 |
///   |---|--:|--:|--:|--:|
///   | less than 2^24 items | 11 % | 7 % | 5 % | 4 % |
///   | 2^24 items or more | 29 % | 16 % | 12 % | 3 % |
///   | two buffers, less than 2^24 items | 8 % | 4 % | 2 % | 1 % |
///   | two buffers, 2^24 items or more | 7 % | 14 % | 10 % | 1 % |
///
/// - **Aliasing.** `d_keys_out` may be `d_keys_in`, and `d_values_out` may be `d_values_in`: the same array, not a part
///   of it. This takes no more storage. If long segments are sorted by their digits, one more pass may be needed, which
///   copies the items. In calls in place, long segments of keys of one byte are merged, not sorted by their digits.
///   Except for `d_keys_out` over `d_keys_in` and `d_values_out` over `d_values_in`, no output may overlap an input,
///   another output, or the offsets. The check covers the first `num_items` items of each array.
/// - **Tuning.** `TunedDeviceSegmentedSort<Hub>` uses your hub instead of segmented_sort_policy_hub: see
///   default_policy_hub.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: negative count or one that is too
///   large (in size queries, too), null pointer if there are items and segments, arrays that overlap, temporary storage
///   too small. Otherwise a call returns what the launches return; an older error of the runtime is neither returned
///   nor cleared. Without items or segments nothing is launched.
///
/// @code
/// // The temperatures of each day, which begin at days[day], the highest first.
/// __managed__ float measured[7] = {8, 15, 11, 21, 9, 17, 19};
/// __managed__ float sorted[7];
/// __managed__ int days[3] = {0, 3, 7};
///
/// int main() {
///   using strata::DeviceSegmentedSort;
///   if (DeviceSegmentedSort::SortKeysDescending(measured, sorted, 7, 2, days, days + 1) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const float temperature : sorted) std::printf("%g ", temperature);
/// }
/// // prints: 15 11 8 21 19 17 9
/// @endcode
template <class PolicyHub>
struct TunedDeviceSegmentedSort {
  /// Sorts the keys of each segment in ascending order, from one array to another. Offsets delimit the segments.
  template <class Key, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT, class NumSegmentsT>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                              Key* d_keys_out, NumItemsT num_items, NumSegmentsT num_segments,
                              BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                              cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::SortKeys");
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
                       detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), stream);
  }
  /// Sorts the keys of each segment in ascending order, in the current buffer. Offsets delimit the segments.
  template <class Key, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT, class NumSegmentsT>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                              NumItemsT num_items, NumSegmentsT num_segments, BeginOffsetIterator d_begin_offsets,
                              EndOffsetIterator d_end_offsets, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::SortKeys");
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys,
                       detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), stream);
  }

  /// Sorts the keys of each segment in ascending order, from one array to another, stably. Offsets delimit the
  /// segments.
  template <class Key, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT, class NumSegmentsT>
  static cudaError_t StableSortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                    Key* d_keys_out, NumItemsT num_items, NumSegmentsT num_segments,
                                    BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                                    cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::StableSortKeys");
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
                       detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), stream);
  }
  /// Sorts the keys of each segment in ascending order, in the current buffer, stably. Offsets delimit the segments.
  template <class Key, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT, class NumSegmentsT>
  static cudaError_t StableSortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                                    NumItemsT num_items, NumSegmentsT num_segments, BeginOffsetIterator d_begin_offsets,
                                    EndOffsetIterator d_end_offsets, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::StableSortKeys");
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys,
                       detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), stream);
  }

  /// Sorts the keys of each segment in descending order, from one array to another. Offsets delimit the segments.
  template <class Key, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT, class NumSegmentsT>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                        Key* d_keys_out, NumItemsT num_items, NumSegmentsT num_segments,
                                        BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                                        cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::SortKeysDescending");
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
                      detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), stream);
  }
  /// Sorts the keys of each segment in descending order, in the current buffer. Offsets delimit the segments.
  template <class Key, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT, class NumSegmentsT>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        DoubleBuffer<Key>& d_keys, NumItemsT num_items, NumSegmentsT num_segments,
                                        BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                                        cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::SortKeysDescending");
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys,
                      detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), stream);
  }

  /// Sorts the keys of each segment in descending order, from one array to another, stably. Offsets delimit the
  /// segments.
  template <class Key, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT, class NumSegmentsT>
  static cudaError_t StableSortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                              const Key* d_keys_in, Key* d_keys_out, NumItemsT num_items,
                                              NumSegmentsT num_segments, BeginOffsetIterator d_begin_offsets,
                                              EndOffsetIterator d_end_offsets, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::StableSortKeysDescending");
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
                      detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), stream);
  }
  /// Sorts the keys of each segment in descending order, in the current buffer, stably. Offsets delimit the segments.
  template <class Key, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT, class NumSegmentsT>
  static cudaError_t StableSortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                              DoubleBuffer<Key>& d_keys, NumItemsT num_items, NumSegmentsT num_segments,
                                              BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                                              cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::StableSortKeysDescending");
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys,
                      detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), stream);
  }

  /// Sorts the keys of each segment with their values in ascending order, from one array to another. Offsets delimit
  /// the segments.
  template <class Key, class Value, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT,
            class NumSegmentsT>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                               Key* d_keys_out, const Value* d_values_in, Value* d_values_out, NumItemsT num_items,
                               NumSegmentsT num_segments, BeginOffsetIterator d_begin_offsets,
                               EndOffsetIterator d_end_offsets, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::SortPairs");
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
                       detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), stream);
  }
  /// Sorts the keys of each segment with their values in ascending order, in the current buffer. Offsets delimit the
  /// segments.
  template <class Key, class Value, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT,
            class NumSegmentsT>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                               DoubleBuffer<Value>& d_values, NumItemsT num_items, NumSegmentsT num_segments,
                               BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                               cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::SortPairs");
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys, d_values,
                       detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), stream);
  }

  /// Sorts the keys of each segment with their values in ascending order, from one array to another, stably. Offsets
  /// delimit the segments.
  template <class Key, class Value, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT,
            class NumSegmentsT>
  static cudaError_t StableSortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                     Key* d_keys_out, const Value* d_values_in, Value* d_values_out,
                                     NumItemsT num_items, NumSegmentsT num_segments,
                                     BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                                     cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::StableSortPairs");
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
                       detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), stream);
  }
  /// Sorts the keys of each segment with their values in ascending order, in the current buffer, stably. Offsets
  /// delimit the segments.
  template <class Key, class Value, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT,
            class NumSegmentsT>
  static cudaError_t StableSortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                                     DoubleBuffer<Value>& d_values, NumItemsT num_items, NumSegmentsT num_segments,
                                     BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                                     cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::StableSortPairs");
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys, d_values,
                       detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), stream);
  }

  /// Sorts the keys of each segment with their values in descending order, from one array to another. Offsets delimit
  /// the segments.
  template <class Key, class Value, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT,
            class NumSegmentsT>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                         Key* d_keys_out, const Value* d_values_in, Value* d_values_out,
                                         NumItemsT num_items, NumSegmentsT num_segments,
                                         BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                                         cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::SortPairsDescending");
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
                      detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), stream);
  }
  /// Sorts the keys of each segment with their values in descending order, in the current buffer. Offsets delimit the
  /// segments.
  template <class Key, class Value, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT,
            class NumSegmentsT>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values, NumItemsT num_items,
                                         NumSegmentsT num_segments, BeginOffsetIterator d_begin_offsets,
                                         EndOffsetIterator d_end_offsets, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::SortPairsDescending");
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys, d_values,
                      detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), stream);
  }

  /// Sorts the keys of each segment with their values in descending order, from one array to another, stably. Offsets
  /// delimit the segments.
  template <class Key, class Value, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT,
            class NumSegmentsT>
  static cudaError_t StableSortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                               const Key* d_keys_in, Key* d_keys_out, const Value* d_values_in,
                                               Value* d_values_out, NumItemsT num_items, NumSegmentsT num_segments,
                                               BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                                               cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::StableSortPairsDescending");
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
                      detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), stream);
  }
  /// Sorts the keys of each segment with their values in descending order, in the current buffer, stably. Offsets
  /// delimit the segments.
  template <class Key, class Value, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT,
            class NumSegmentsT>
  static cudaError_t StableSortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                               DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values,
                                               NumItemsT num_items, NumSegmentsT num_segments,
                                               BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                                               cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::StableSortPairsDescending");
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys, d_values,
                      detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), stream);
  }

  // -------------------------------------------------------------- segments of one size
  /// Sorts the keys of each segment in ascending order, from one array to another. Segments have `segment_size` items
  /// each.
  template <class Key, class NumSegmentsT, class SegmentSizeT>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                              Key* d_keys_out, NumSegmentsT num_segments, SegmentSizeT segment_size,
                              cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::SortKeys");
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
                       detail::segments_of(num_segments, segment_size), stream);
  }
  /// Sorts the keys of each segment in ascending order, in the current buffer. Segments have `segment_size` items each.
  template <class Key, class NumSegmentsT, class SegmentSizeT>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                              NumSegmentsT num_segments, SegmentSizeT segment_size, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::SortKeys");
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys, detail::segments_of(num_segments, segment_size),
                       stream);
  }

  /// Sorts the keys of each segment in descending order, from one array to another. Segments have `segment_size` items
  /// each.
  template <class Key, class NumSegmentsT, class SegmentSizeT>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                        Key* d_keys_out, NumSegmentsT num_segments, SegmentSizeT segment_size,
                                        cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::SortKeysDescending");
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
                      detail::segments_of(num_segments, segment_size), stream);
  }
  /// Sorts the keys of each segment in descending order, in the current buffer. Segments have `segment_size` items
  /// each.
  template <class Key, class NumSegmentsT, class SegmentSizeT>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        DoubleBuffer<Key>& d_keys, NumSegmentsT num_segments, SegmentSizeT segment_size,
                                        cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::SortKeysDescending");
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys, detail::segments_of(num_segments, segment_size),
                      stream);
  }

  /// Sorts the keys of each segment with their values in ascending order, from one array to another. Segments have
  /// `segment_size` items each.
  template <class Key, class Value, class NumSegmentsT, class SegmentSizeT>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                               Key* d_keys_out, const Value* d_values_in, Value* d_values_out,
                               NumSegmentsT num_segments, SegmentSizeT segment_size, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::SortPairs");
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
                       detail::segments_of(num_segments, segment_size), stream);
  }
  /// Sorts the keys of each segment with their values in ascending order, in the current buffer. Segments have
  /// `segment_size` items each.
  template <class Key, class Value, class NumSegmentsT, class SegmentSizeT>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                               DoubleBuffer<Value>& d_values, NumSegmentsT num_segments, SegmentSizeT segment_size,
                               cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::SortPairs");
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys, d_values,
                       detail::segments_of(num_segments, segment_size), stream);
  }

  /// Sorts the keys of each segment with their values in descending order, from one array to another. Segments have
  /// `segment_size` items each.
  template <class Key, class Value, class NumSegmentsT, class SegmentSizeT>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                         Key* d_keys_out, const Value* d_values_in, Value* d_values_out,
                                         NumSegmentsT num_segments, SegmentSizeT segment_size,
                                         cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::SortPairsDescending");
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
                      detail::segments_of(num_segments, segment_size), stream);
  }
  /// Sorts the keys of each segment with their values in descending order, in the current buffer. Segments have
  /// `segment_size` items each.
  template <class Key, class Value, class NumSegmentsT, class SegmentSizeT>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values,
                                         NumSegmentsT num_segments, SegmentSizeT segment_size,
                                         cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::SortPairsDescending");
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys, d_values,
                      detail::segments_of(num_segments, segment_size), stream);
  }

  // -------------------------------------------------------------- indices
  /// Writes the indices of the keys of each segment in ascending order of the keys. Offsets delimit the segments.
  template <class Key, class Index, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT,
            class NumSegmentsT>
  static cudaError_t SortIndices(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys,
                                 Index* d_indices, NumItemsT num_items, NumSegmentsT num_segments,
                                 BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                                 cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::SortIndices");
    return sort_indices<false>(d_temp_storage, temp_storage_bytes, d_keys, d_indices,
                               detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), stream);
  }
  /// Writes the indices of the keys of each segment in ascending order of the keys. Segments have `segment_size` items
  /// each.
  template <class Key, class Index, class NumSegmentsT, class SegmentSizeT>
  static cudaError_t SortIndices(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys,
                                 Index* d_indices, NumSegmentsT num_segments, SegmentSizeT segment_size,
                                 cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::SortIndices");
    return sort_indices<false>(d_temp_storage, temp_storage_bytes, d_keys, d_indices,
                               detail::segments_of(num_segments, segment_size), stream);
  }
  /// Writes the indices of the keys of each segment in descending order of the keys. Offsets delimit the segments.
  template <class Key, class Index, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT,
            class NumSegmentsT>
  static cudaError_t SortIndicesDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys,
                                           Index* d_indices, NumItemsT num_items, NumSegmentsT num_segments,
                                           BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                                           cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::SortIndicesDescending");
    return sort_indices<true>(d_temp_storage, temp_storage_bytes, d_keys, d_indices,
                              detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), stream);
  }
  /// Writes the indices of the keys of each segment in descending order of the keys. Segments have `segment_size` items
  /// each.
  template <class Key, class Index, class NumSegmentsT, class SegmentSizeT>
  static cudaError_t SortIndicesDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys,
                                           Index* d_indices, NumSegmentsT num_segments, SegmentSizeT segment_size,
                                           cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedSort::SortIndicesDescending");
    return sort_indices<true>(d_temp_storage, temp_storage_bytes, d_keys, d_indices,
                              detail::segments_of(num_segments, segment_size), stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(SortKeys, sorted)
  STRATA_CALL_WITHOUT_STORAGE(StableSortKeys, sorted)
  STRATA_CALL_WITHOUT_STORAGE(SortKeysDescending, sorted)
  STRATA_CALL_WITHOUT_STORAGE(StableSortKeysDescending, sorted)
  STRATA_CALL_WITHOUT_STORAGE(SortPairs, sorted)
  STRATA_CALL_WITHOUT_STORAGE(StableSortPairs, sorted)
  STRATA_CALL_WITHOUT_STORAGE(SortPairsDescending, sorted)
  STRATA_CALL_WITHOUT_STORAGE(StableSortPairsDescending, sorted)
  STRATA_CALL_WITHOUT_STORAGE(SortIndices, sorted)
  STRATA_CALL_WITHOUT_STORAGE(SortIndicesDescending, sorted)

 private:
  template <bool IsDescending, class... Arguments>
  static cudaError_t sort(void* d_temp_storage, std::size_t& temp_storage_bytes, const Arguments&... arguments) {
    return detail::sort_number_segments<IsDescending, PolicyHub>(d_temp_storage, temp_storage_bytes, arguments...);
  }
  template <bool IsDescending, class... Arguments>
  static cudaError_t sort_indices(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                  const Arguments&... arguments) {
    return detail::sort_number_indices<IsDescending, PolicyHub>(d_temp_storage, temp_storage_bytes, arguments...);
  }
};
using DeviceSegmentedSort = TunedDeviceSegmentedSort<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
