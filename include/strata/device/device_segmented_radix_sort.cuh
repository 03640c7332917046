// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/segmented_radix_sort/calls.cuh>

#include <cstddef>

STRATA_ARCH_NAMESPACE_BEGIN

/// Sorts many segments of keys in device memory, alone or with values, each for itself.
///
/// Segment `s` is items [begin[s], end[s]), given by two sequences of offsets, and goes to the same
/// places of the output. Keys are integers, enumerations, bool, and floating-point numbers, in the
/// order of DeviceRadixSort; only the bits from `begin_bit` to `end_bit - 1` of a key's order are
/// looked at.
///
/// - **Stability.** Equal keys of a segment, and their values, stay in the order in which they
///   come; in descending sorts, too. Results are the same from run to run.
/// - **Call.** Twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (pure
///   arithmetic; never 0), then with that much device memory, whose contents and alignment do not
///   matter. All segments together have no more than `num_items` items, and all arrays no less; it
///   and `num_segments` may have any integer type. Offsets may be any random-access iterators over
///   integers that can be dereferenced in device code.
/// - **Segments.** Of any lengths, in any order, with gaps, and behind `num_items` too, if arrays are
///   longer; they must not overlap. One that ends before it begins is empty. Nothing outside of
///   segments is written. If they have more than `num_items` items after all, which the host cannot
///   know, some long ones are left unwritten: debug builds (`STRATA_DEBUG`) stop then.
/// - **Two buffers.** With `DoubleBuffer`, segments are sorted between its two arrays, both are
///   overwritten where there are segments, and temporary storage does without a copy of the items.
///   On return `selector` names the array that will have the results.
/// - **Execution.** A memset of 16 bytes and one kernel launch. No host synchronisation and no
///   allocation, so a call can be captured in a graph and replayed with other items, offsets and
///   lengths. Calls that may run at the same time need temporary storage of their own.
/// - **Storage.** As much as keys and values; some hundred bytes with `DoubleBuffer`.
/// - **Work.** Up to 32 items are sorted by a warp, more by a block: in shared memory what fits a
///   tile (4096 keys of 4 bytes), which is read and written once; longer segments are read once to
///   count digits, and read and written for each digit of 8 bits that is not the same in the whole
///   segment. No segment is shared by blocks: for a few huge ones DeviceRadixSort is faster.
/// - **Aliasing.** No output may overlap an input, another output, or the offsets. The first
///   `num_items` items of each array are looked at.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: negative count
///   or one that is too large, bits that the keys do not have (in size queries, too); null pointer
///   with items and segments, arrays that overlap, temporary storage too small. Otherwise
///   what the launches return; an older error of the runtime is neither returned nor cleared. Without
///   items or segments nothing is launched.
///
/// @code
/// // The neighbours of each vertex of a graph, whose lists begin at vertices[vertex], in order.
/// using strata::DeviceSegmentedRadixSort;
/// std::size_t bytes = 0;
/// DeviceSegmentedRadixSort::SortKeys(nullptr, bytes, lists, sorted, num_edges, num_vertices,
///                                    vertices, vertices + 1);
/// cudaMalloc(&temp, bytes);
/// DeviceSegmentedRadixSort::SortKeys(temp, bytes, lists, sorted, num_edges, num_vertices,
///                                    vertices, vertices + 1);
/// @endcode
struct DeviceSegmentedRadixSort {
  template <class Key, class NumItemsT, class NumSegmentsT, class BeginOffsetIterator,
            class EndOffsetIterator>
  [[nodiscard]] static detail::if_integral<NumSegmentsT> SortKeys(
      void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in, Key* d_keys_out,
      NumItemsT num_items, NumSegmentsT num_segments, BeginOffsetIterator d_begin_offsets,
      EndOffsetIterator d_end_offsets, int begin_bit = 0, int end_bit = 8 * sizeof(Key),
      cudaStream_t stream = 0) {
    return detail::sort_segments<false>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
        detail::segmented_sort_arguments{num_items, num_segments,
                                         segments(d_begin_offsets, d_end_offsets), begin_bit,
                                         end_bit, stream});
  }
  template <class Key, class NumItemsT, class NumSegmentsT, class BeginOffsetIterator,
            class EndOffsetIterator>
  [[nodiscard]] static detail::if_integral<NumSegmentsT> SortKeys(
      void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
      NumItemsT num_items, NumSegmentsT num_segments, BeginOffsetIterator d_begin_offsets,
      EndOffsetIterator d_end_offsets, int begin_bit = 0, int end_bit = 8 * sizeof(Key),
      cudaStream_t stream = 0) {
    return detail::sort_segments<false>(
        d_temp_storage, temp_storage_bytes, d_keys,
        detail::segmented_sort_arguments{num_items, num_segments,
                                         segments(d_begin_offsets, d_end_offsets), begin_bit,
                                         end_bit, stream});
  }

  template <class Key, class NumItemsT, class NumSegmentsT, class BeginOffsetIterator,
            class EndOffsetIterator>
  [[nodiscard]] static detail::if_integral<NumSegmentsT> SortKeysDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in, Key* d_keys_out,
      NumItemsT num_items, NumSegmentsT num_segments, BeginOffsetIterator d_begin_offsets,
      EndOffsetIterator d_end_offsets, int begin_bit = 0, int end_bit = 8 * sizeof(Key),
      cudaStream_t stream = 0) {
    return detail::sort_segments<true>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
        detail::segmented_sort_arguments{num_items, num_segments,
                                         segments(d_begin_offsets, d_end_offsets), begin_bit,
                                         end_bit, stream});
  }
  template <class Key, class NumItemsT, class NumSegmentsT, class BeginOffsetIterator,
            class EndOffsetIterator>
  [[nodiscard]] static detail::if_integral<NumSegmentsT> SortKeysDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
      NumItemsT num_items, NumSegmentsT num_segments, BeginOffsetIterator d_begin_offsets,
      EndOffsetIterator d_end_offsets, int begin_bit = 0, int end_bit = 8 * sizeof(Key),
      cudaStream_t stream = 0) {
    return detail::sort_segments<true>(
        d_temp_storage, temp_storage_bytes, d_keys,
        detail::segmented_sort_arguments{num_items, num_segments,
                                         segments(d_begin_offsets, d_end_offsets), begin_bit,
                                         end_bit, stream});
  }

  template <class Key, class Value, class NumItemsT, class NumSegmentsT, class BeginOffsetIterator,
            class EndOffsetIterator>
  [[nodiscard]] static detail::if_integral<NumSegmentsT> SortPairs(
      void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in, Key* d_keys_out,
      const Value* d_values_in, Value* d_values_out, NumItemsT num_items, NumSegmentsT num_segments,
      BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets, int begin_bit = 0,
      int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    return detail::sort_segments<false>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
        detail::segmented_sort_arguments{num_items, num_segments,
                                         segments(d_begin_offsets, d_end_offsets), begin_bit,
                                         end_bit, stream});
  }
  template <class Key, class Value, class NumItemsT, class NumSegmentsT, class BeginOffsetIterator,
            class EndOffsetIterator>
  [[nodiscard]] static detail::if_integral<NumSegmentsT> SortPairs(
      void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
      DoubleBuffer<Value>& d_values, NumItemsT num_items, NumSegmentsT num_segments,
      BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets, int begin_bit = 0,
      int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    return detail::sort_segments<false>(
        d_temp_storage, temp_storage_bytes, d_keys, d_values,
        detail::segmented_sort_arguments{num_items, num_segments,
                                         segments(d_begin_offsets, d_end_offsets), begin_bit,
                                         end_bit, stream});
  }

  template <class Key, class Value, class NumItemsT, class NumSegmentsT, class BeginOffsetIterator,
            class EndOffsetIterator>
  [[nodiscard]] static detail::if_integral<NumSegmentsT> SortPairsDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in, Key* d_keys_out,
      const Value* d_values_in, Value* d_values_out, NumItemsT num_items, NumSegmentsT num_segments,
      BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets, int begin_bit = 0,
      int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    return detail::sort_segments<true>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
        detail::segmented_sort_arguments{num_items, num_segments,
                                         segments(d_begin_offsets, d_end_offsets), begin_bit,
                                         end_bit, stream});
  }
  template <class Key, class Value, class NumItemsT, class NumSegmentsT, class BeginOffsetIterator,
            class EndOffsetIterator>
  [[nodiscard]] static detail::if_integral<NumSegmentsT> SortPairsDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
      DoubleBuffer<Value>& d_values, NumItemsT num_items, NumSegmentsT num_segments,
      BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets, int begin_bit = 0,
      int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    return detail::sort_segments<true>(
        d_temp_storage, temp_storage_bytes, d_keys, d_values,
        detail::segmented_sort_arguments{num_items, num_segments,
                                         segments(d_begin_offsets, d_end_offsets), begin_bit,
                                         end_bit, stream});
  }

 private:
  template <class BeginOffsetIterator, class EndOffsetIterator>
  static detail::offset_segments<BeginOffsetIterator, EndOffsetIterator> segments(
      BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets) {
    return {d_begin_offsets, d_end_offsets};
  }
};

STRATA_ARCH_NAMESPACE_END
