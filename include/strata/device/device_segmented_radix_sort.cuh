// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/engine/segments.cuh>
#include <strata/device/radix_sort/segmented_calls.cuh>

#include <cstddef>

STRATA_ARCH_NAMESPACE_BEGIN

/// Sorts many segments of keys in device memory, alone or with values, each segment separately.
///
/// Segment `s` is the items [begin[s], end[s]), given by two sequences of offsets. Its result has the same offsets in
/// the output. Keys are integers, enumerations, bool, and floating-point numbers, in the order of DeviceRadixSort. A
/// sort looks only at bits `begin_bit` to `end_bit - 1` of the unsigned integer that RadixTraits makes of a key.
///
/// - **Stability.** Equal keys of a segment, and their values, stay in their order, in descending sorts too. Results
///   are the same from run to run.
/// - **Call.** Call it twice: first with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (pure arithmetic;
///   never 0), then with that much device memory, whose contents and alignment do not matter. Or call it once, without
///   these two arguments: see `execution`. All segments together have at most `num_items` items, and each array has at
///   least that many. `num_items` and `num_segments` may have any integer type. Offsets may be any random-access
///   iterators over integers that can be dereferenced in device code.
/// - **Segments.** Segments may have any lengths, lie in any order, leave gaps, and lie beyond `num_items` if arrays
///   are longer. They must not overlap. A segment that ends before it begins is empty. Nothing outside of segments is
///   written. The host cannot know whether segments have more than `num_items` items. If they have, some long ones are
///   not written, and debug builds (`STRATA_DEBUG`) stop.
/// - **Two buffers.** With `DoubleBuffer`, segments are sorted between its two arrays. Both are overwritten where
///   there are segments. Temporary storage then holds no copy of the items. On return `selector` names the array
///   that will have the results.
/// - **Execution.** A call makes a memset of 40 bytes and one kernel launch. If `num_items` is so large that there can
///   be long segments, two more launches follow, which end at once if there are none. No host synchronisation and no
///   allocation, so a call can be captured in a graph and replayed with other items, offsets and lengths. Calls that
///   may run at the same time need separate temporary storage.
/// - **Storage.** Temporary storage has as much memory as keys and values, or a few hundred bytes with `DoubleBuffer`.
///   If there can be long segments, it also has 2 KiB for each tile into which `num_items` items are cut, and for one
///   more tile of each segment that can be long (4 KiB for a tile in calls of more than 2^31 - 1 items). For each pass
///   of each segment that can be long, it has another 2 KiB. For 2^20 keys of 4 bytes, this part for long segments
///   takes 23 % of the memory of the keys; for 2^24 to 2^31 - 1 keys, 11 %.
/// - **Work.** A warp sorts a segment of up to 32 items, a block a longer one. A segment that fits a tile in shared
///   memory (4096 keys of 4 bytes) is read and written once. A longer segment is read once to count digits, and read
///   and written for each digit of 8 bits that is not the same in the whole segment. All blocks share out the tiles of
///   long segments. radix_sort/README.md says which segments are long.
/// - **Aliasing.** `d_keys_out` may be `d_keys_in`, and `d_values_out` may be `d_values_in`: the same array, not a part
///   of it. This takes no more storage. For segments above a tile, an odd number of digits (`end_bit - begin_bit` from
///   1 to 8, from 17 to 24, ...) costs one copy; for long segments it is a launch of its own. The pass of a digit that
///   is the same in all keys of a segment is skipped. But one such pass copies the items if the result would otherwise
///   end in the wrong array. Otherwise no output may overlap an input, another output, or the offsets. Checks look at
///   the first `num_items` items of each array.
/// - **Tuning.** `TunedDeviceSegmentedRadixSort<Hub>` uses your hub instead of segmented_radix_sort_policy_hub: see
///   default_policy_hub.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written. In size queries too: a negative or
///   too large count, bits that the keys do not have. Not in size queries: a null pointer if there are items and
///   segments, arrays that overlap, temporary storage too small. Beyond that, a call returns what the launches return.
///   An older error of the runtime is neither returned nor cleared. Without items or segments nothing is launched.
///
/// @code
/// // Sorts the neighbours of each vertex of a graph. The list of vertex v begins at vertices[v].
/// __managed__ int lists[7] = {3, 1, 2, 0, 0, 3, 0};
/// __managed__ int sorted[7];
/// __managed__ int vertices[5] = {0, 3, 4, 6, 7};
///
/// int main() {
///   using strata::DeviceSegmentedRadixSort;
///   if (DeviceSegmentedRadixSort::SortKeys(lists, sorted, 7, 4, vertices, vertices + 1) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int vertex = 0; vertex < 4; ++vertex) {
///     std::printf("%d:", vertex);
///     for (int i = vertices[vertex]; i < vertices[vertex + 1]; ++i) std::printf(" %d", sorted[i]);
///     std::printf("\n");
///   }
/// }
/// // prints: 0: 1 2 3
/// // prints: 1: 0
/// // prints: 2: 0 3
/// // prints: 3: 0
/// @endcode
template <class PolicyHub>
struct TunedDeviceSegmentedRadixSort {
  /// Sorts the keys of each segment in ascending order, from one array to another. Offsets delimit the segments.
  template <class Key, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT, class NumSegmentsT,
            class = detail::if_integral<NumSegmentsT>>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                              Key* d_keys_out, NumItemsT num_items, NumSegmentsT num_segments,
                              BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets, int begin_bit = 0,
                              int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedRadixSort::SortKeys");
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
                       arguments(num_items, num_segments, d_begin_offsets, d_end_offsets, begin_bit, end_bit, stream));
  }
  /// Sorts the keys of each segment in ascending order, between two buffers. Offsets delimit the segments.
  template <class Key, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT, class NumSegmentsT,
            class = detail::if_integral<NumSegmentsT>>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                              NumItemsT num_items, NumSegmentsT num_segments, BeginOffsetIterator d_begin_offsets,
                              EndOffsetIterator d_end_offsets, int begin_bit = 0, int end_bit = 8 * sizeof(Key),
                              cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedRadixSort::SortKeys");
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys,
                       arguments(num_items, num_segments, d_begin_offsets, d_end_offsets, begin_bit, end_bit, stream));
  }

  /// Sorts the keys of each segment in descending order, from one array to another. Offsets delimit the segments.
  template <class Key, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT, class NumSegmentsT,
            class = detail::if_integral<NumSegmentsT>>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                        Key* d_keys_out, NumItemsT num_items, NumSegmentsT num_segments,
                                        BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                                        int begin_bit = 0, int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedRadixSort::SortKeysDescending");
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
                      arguments(num_items, num_segments, d_begin_offsets, d_end_offsets, begin_bit, end_bit, stream));
  }
  /// Sorts the keys of each segment in descending order, between two buffers. Offsets delimit the segments.
  template <class Key, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT, class NumSegmentsT,
            class = detail::if_integral<NumSegmentsT>>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        DoubleBuffer<Key>& d_keys, NumItemsT num_items, NumSegmentsT num_segments,
                                        BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                                        int begin_bit = 0, int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedRadixSort::SortKeysDescending");
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys,
                      arguments(num_items, num_segments, d_begin_offsets, d_end_offsets, begin_bit, end_bit, stream));
  }

  /// Sorts the keys of each segment with their values in ascending order, from one array to another. Offsets delimit
  /// the segments.
  template <class Key, class Value, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT,
            class NumSegmentsT, class = detail::if_integral<NumSegmentsT>>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                               Key* d_keys_out, const Value* d_values_in, Value* d_values_out, NumItemsT num_items,
                               NumSegmentsT num_segments, BeginOffsetIterator d_begin_offsets,
                               EndOffsetIterator d_end_offsets, int begin_bit = 0, int end_bit = 8 * sizeof(Key),
                               cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedRadixSort::SortPairs");
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
                       arguments(num_items, num_segments, d_begin_offsets, d_end_offsets, begin_bit, end_bit, stream));
  }
  /// Sorts the keys of each segment with their values in ascending order, between two buffers. Offsets delimit the
  /// segments.
  template <class Key, class Value, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT,
            class NumSegmentsT, class = detail::if_integral<NumSegmentsT>>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                               DoubleBuffer<Value>& d_values, NumItemsT num_items, NumSegmentsT num_segments,
                               BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets, int begin_bit = 0,
                               int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedRadixSort::SortPairs");
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys, d_values,
                       arguments(num_items, num_segments, d_begin_offsets, d_end_offsets, begin_bit, end_bit, stream));
  }

  /// Sorts the keys of each segment with their values in descending order, from one array to another. Offsets delimit
  /// the segments.
  template <class Key, class Value, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT,
            class NumSegmentsT, class = detail::if_integral<NumSegmentsT>>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                         Key* d_keys_out, const Value* d_values_in, Value* d_values_out,
                                         NumItemsT num_items, NumSegmentsT num_segments,
                                         BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                                         int begin_bit = 0, int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedRadixSort::SortPairsDescending");
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
                      arguments(num_items, num_segments, d_begin_offsets, d_end_offsets, begin_bit, end_bit, stream));
  }
  /// Sorts the keys of each segment with their values in descending order, between two buffers. Offsets delimit the
  /// segments.
  template <class Key, class Value, class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT,
            class NumSegmentsT, class = detail::if_integral<NumSegmentsT>>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values, NumItemsT num_items,
                                         NumSegmentsT num_segments, BeginOffsetIterator d_begin_offsets,
                                         EndOffsetIterator d_end_offsets, int begin_bit = 0,
                                         int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedRadixSort::SortPairsDescending");
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys, d_values,
                      arguments(num_items, num_segments, d_begin_offsets, d_end_offsets, begin_bit, end_bit, stream));
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(SortKeys, sorted)
  STRATA_CALL_WITHOUT_STORAGE(SortKeysDescending, sorted)
  STRATA_CALL_WITHOUT_STORAGE(SortPairs, sorted)
  STRATA_CALL_WITHOUT_STORAGE(SortPairsDescending, sorted)

 private:
  template <bool IsDescending, class... Arguments>
  static cudaError_t sort(void* d_temp_storage, std::size_t& temp_storage_bytes, Arguments&&... rest) {
    return detail::sort_segments<IsDescending, PolicyHub>(d_temp_storage, temp_storage_bytes, rest...);
  }
  template <class BeginOffsetIterator, class EndOffsetIterator, class NumItemsT, class NumSegmentsT>
  static detail::segmented_sort_arguments<NumItemsT, NumSegmentsT, BeginOffsetIterator, EndOffsetIterator> arguments(
      NumItemsT num_items, NumSegmentsT num_segments, BeginOffsetIterator d_begin_offsets,
      EndOffsetIterator d_end_offsets, int begin_bit, int end_bit, cudaStream_t stream) {
    return {num_items, num_segments, {d_begin_offsets, d_end_offsets}, begin_bit, end_bit, stream};
  }
};
using DeviceSegmentedRadixSort = TunedDeviceSegmentedRadixSort<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
