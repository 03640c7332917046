// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/merge_sort/calls.cuh>

#include <cstddef>
#include <type_traits>
#include <utility>

STRATA_ARCH_NAMESPACE_BEGIN

/// Sorts each of many segments of device memory by any comparator, stably.
///
/// | call | sorts |
/// |---|---|
/// | `SortKeys(d_keys, segments..., compare)` | keys in place |
/// | `SortKeysCopy(d_keys_in, d_keys_out, segments..., compare)` | keys from one array to another |
/// | `SortPairs(d_keys, d_values, segments..., compare)` | keys and their values in place |
/// | `SortPairsCopy(d_keys_in, d_values_in, d_keys_out, d_values_out, segments..., compare)` | from arrays to others |
/// | `SortIndices(d_keys, d_indices, segments..., compare)` | writes the indices of the keys in sorted order |
///
/// The first arguments are `d_temp_storage, temp_storage_bytes`, the last a stream. `StableSortKeys`,
/// `StableSortKeysCopy`, `StableSortPairs` and `StableSortPairsCopy` are other names of the first four. `segments...`
/// are
/// - `num_items, num_segments, d_begin_offsets, d_end_offsets`: segment `s` is items [begin[s], end[s])
///   of the inputs, and has the same offsets in the outputs. All segments together have at most `num_items`
///   items, and each array has at least that many. Counts may have any integer types. Offsets may be any random-access
///   iterators over integers that can be dereferenced in device code;
/// - or `num_segments, segment_size`: segments of one size, side by side.
///
/// - **Stability.** Two items of a segment keep their order if neither must come before the other. Results are the same
///   from run to run.
/// - **Comparator.** `compare(a, b)`, called in device code, says whether key `a` must come before key `b`: a
///   strict weak ordering. For a segment whose length, rounded up to a multiple of 25, is n, it is called at most n (13
///   + 1.5 log2(n)) times. If it is no strict weak ordering of some keys (such as `<` with NaNs), segments with these
///   keys hold unspecified items afterwards. Other segments are sorted, nothing else is written, and the kernels
///   terminate.
/// - **Types.** Keys and values are any trivially relocatable and default constructible types. A key and its value have
///   at most 500 bytes together on compute capability 7.5, 890 on 8.6, 8.9 and 12.0, 1,500 on 8.0, and 2,100 on 9.0 to
///   11.x. Larger ones are refused if they need a merge. Key and value of an item move together through shared memory:
///   for large values, sort indices and gather.
/// - **Call.** Call it twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (pure arithmetic; never
///   0), then with that much device memory, whose contents and alignment do not matter. Or call it once, without these
///   two arguments: see `execution`.
/// - **Segments.** Segments may have any lengths, lie in any order, leave gaps, and lie behind `num_items` if arrays
///   are longer. They must not overlap. A segment that ends before it begins is empty. Nothing outside of segments is
///   written or read. The host cannot know whether segments have more than `num_items` items. If they have, some long
///   segments are not written, and debug builds (`STRATA_DEBUG`) stop.
/// - **Indices** count from the beginning of `d_keys`: `d_keys[d_indices[i]]` is the key that belongs at index
///   i. They may have any integer type that can hold `num_items` - 1, and the largest index of a segment.
/// - **Execution.** A call launches one kernel if no segment can be longer than a tile of that kernel. With offsets, a
///   segment can have `num_items` items. If a segment can be longer than that tile, the call launches two kernels,
///   mostly after a memset, and a third if a segment can be longer than a tile of the second kernel. In calls of few
///   items, the second kernel does the work of the third, too. A call of few items and few segments, with a mean length
///   that is longer than a tile, launches only this second kernel. In calls of few segments, there is no memset, but
///   there may be a small kernel in its place. merge_sort/README.md has all these numbers. The kernel that merges
///   segments longer than a tile is a cooperative launch; DeviceScan says when it starts. No host synchronisation and
///   no allocation, so a call can be captured in a graph and replayed with other items, offsets and lengths. Calls that
///   may run at the same time need temporary storage of their own.
/// - **Work.** The mean length decides how large blocks are. Short segments are packed into tiles, which are read and
///   written once. Each segment takes as many levels of merging as its own length needs. Longer segments are queued for
///   larger blocks. Segments that are longer than the largest tile are sorted in such tiles by any blocks. Each level
///   then merges up to four runs at a time (two in calls of few items), and reads and writes the segment once.
/// - **Storage.** If segments can be longer than a tile, temporary storage has as much memory as keys and values. It
///   also has 20 KB, and lists, which take up to 11 % of the memory of keys of one byte (of 2 bytes 7 %, of 4 bytes
///   5 %, of 8 bytes 4 %). The size depends on `num_items`, never on offsets. `SortIndices` needs the memory of the
///   keys twice.
/// - **Aliasing.** Output keys of a copy may be its input keys, and output values its input values: the same array, not
///   a part of it. This costs nothing. Otherwise no output may overlap an input of a copy, another output, or the
///   offsets. The check covers the first `num_items` items of each array.
/// - **Tuning.** `TunedDeviceSegmentedMergeSort<Hub>` uses your hub instead of segmented_merge_sort_policy_hub: see
///   default_policy_hub.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: negative count or one that is too
///   large, an index type that cannot hold `num_items` - 1 (in size queries, too); null pointer if there are items and
///   segments, items that are too large for a merge, arrays that overlap, temporary storage too small. Otherwise a call
///   returns what the launches return; an older error of the runtime is neither returned nor cleared. Without items or
///   segments nothing is launched.
///
/// Why tiles: suppose that each segment had a block of its own. Only some thousands of keys fit in the shared memory of
/// a block. The kernel could not sort longer segments, or their blocks would still work when all others have ended. A
/// block with a short segment would be nearly idle. Here a block has a tile: many short segments, one segment, or a
/// part of one. Short segments are finished after their tile. A segment of 10,000 keys of 4 bytes, among shorter ones:
///
///     input   |---------------------------- 10,000 ----------------------------|
///     tiles   |------------- 6400, one block -----------|--- 3600, another -----|
///     threads |25|25|25|25|25|25|25|25| ... 256 owners  |25|25|25|25| ...   144 |
///     levels  |  50 |  50 |  50 |  50 | ...             |  50 |  50 | ...       |  in shared
///             |    100    |    100    | ...             |    100    | ...       |  memory,
///               ...                                       ...                      8 for each
///     buffer  |============== 6400, sorted =============|==== 3600, sorted =====|
///     pass    |  any blocks merge tiles of one size; a search in all runs,      |  in device
///             |  two here, finds where each tile begins                         |  memory
///     output  |======================== 10,000, sorted =========================|
///
/// Each of these items is read and written twice: for its tile, and for the pass. If the mean segment is as
/// long, tiles have 12,800 keys, and there is no pass. Longer segments take more passes, from the buffer to
/// the output and back. Their tiles go to the buffer if the number of passes is odd, otherwise to the output. So the
/// last pass writes the output. One segment of 2^27 keys is shared by all blocks from the first kernel to the last.
///
/// @code
/// // Sorts the words of each document, which begin at documents[d], by length. Words of one length keep their order.
/// struct word {
///   char letter;
///   int length;
/// };
/// struct is_shorter {
///   STRATA_HD bool operator()(const word& a, const word& b) const { return a.length < b.length; }
/// };
/// __managed__ word words[6] = {{'a', 3}, {'b', 1}, {'c', 2}, {'d', 5}, {'e', 4}, {'f', 4}};
/// __managed__ int documents[4] = {0, 3, 3, 6};
///
/// int main() {
///   using strata::DeviceSegmentedMergeSort;
///   if (DeviceSegmentedMergeSort::SortKeys(words, 6, 3, documents, documents + 1, is_shorter{}) != cudaSuccess ||
///       cudaDeviceSynchronize() != cudaSuccess) {
///     return 1;
///   }
///   for (int document = 0; document < 3; ++document) {
///     for (int i = documents[document]; i < documents[document + 1]; ++i) std::printf("%c ", words[i].letter);
///     std::printf("\n");
///   }
/// }
/// // prints: b c a
/// // prints:
/// // prints: e f d
/// @endcode
template <class PolicyHub>
struct TunedDeviceSegmentedMergeSort {
  /// Sorts the keys of each segment by `compare`, in place. Offsets delimit the segments.
  template <class Key, class NumItemsT, class NumSegmentsT, class BeginOffsetIterator, class EndOffsetIterator,
            class CompareOp, class = detail::if_not_pointer<NumSegmentsT>>
  [[nodiscard]] static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, Key* d_keys,
                                            NumItemsT num_items, NumSegmentsT num_segments,
                                            BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                                            CompareOp compare, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedMergeSort::SortKeys");
    return keys(d_temp_storage, temp_storage_bytes, static_cast<const Key*>(d_keys), d_keys,
                detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), compare, true, stream);
  }
  /// Sorts the keys of each segment by `compare`, in place. Segments have `segment_size` items each.
  template <class Key, class NumSegmentsT, class SegmentSizeT, class CompareOp>
  [[nodiscard]] static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, Key* d_keys,
                                            NumSegmentsT num_segments, SegmentSizeT segment_size, CompareOp compare,
                                            cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedMergeSort::SortKeys");
    return keys(d_temp_storage, temp_storage_bytes, static_cast<const Key*>(d_keys), d_keys,
                detail::segments_of(num_segments, segment_size), compare, true, stream);
  }

  /// Sorts the keys of each segment by `compare`, from one array to another. Offsets delimit the segments.
  template <class Key, class NumItemsT, class NumSegmentsT, class BeginOffsetIterator, class EndOffsetIterator,
            class CompareOp>
  [[nodiscard]] static cudaError_t SortKeysCopy(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                const Key* d_keys_in, Key* d_keys_out, NumItemsT num_items,
                                                NumSegmentsT num_segments, BeginOffsetIterator d_begin_offsets,
                                                EndOffsetIterator d_end_offsets, CompareOp compare,
                                                cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedMergeSort::SortKeysCopy");
    return keys(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
                detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), compare, false, stream);
  }
  /// Sorts the keys of each segment by `compare`, from one array to another. Segments have `segment_size` items each.
  template <class Key, class NumSegmentsT, class SegmentSizeT, class CompareOp>
  [[nodiscard]] static cudaError_t SortKeysCopy(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                const Key* d_keys_in, Key* d_keys_out, NumSegmentsT num_segments,
                                                SegmentSizeT segment_size, CompareOp compare, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedMergeSort::SortKeysCopy");
    return keys(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
                detail::segments_of(num_segments, segment_size), compare, false, stream);
  }

  /// Sorts the keys of each segment with their values by `compare`, in place. Offsets delimit the segments.
  template <class Key, class Value, class NumItemsT, class NumSegmentsT, class BeginOffsetIterator,
            class EndOffsetIterator, class CompareOp>
  [[nodiscard]] static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, Key* d_keys,
                                             Value* d_values, NumItemsT num_items, NumSegmentsT num_segments,
                                             BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                                             CompareOp compare, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedMergeSort::SortPairs");
    return pairs(d_temp_storage, temp_storage_bytes, static_cast<const Key*>(d_keys),
                 static_cast<const Value*>(d_values), d_keys, d_values,
                 detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), compare, true, stream);
  }
  /// Sorts the keys of each segment with their values by `compare`, in place. Segments have `segment_size` items each.
  template <class Key, class Value, class NumSegmentsT, class SegmentSizeT, class CompareOp>
  [[nodiscard]] static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, Key* d_keys,
                                             Value* d_values, NumSegmentsT num_segments, SegmentSizeT segment_size,
                                             CompareOp compare, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedMergeSort::SortPairs");
    return pairs(d_temp_storage, temp_storage_bytes, static_cast<const Key*>(d_keys),
                 static_cast<const Value*>(d_values), d_keys, d_values, detail::segments_of(num_segments, segment_size),
                 compare, true, stream);
  }

  /// Sorts the keys of each segment with their values by `compare`, from one array to another. Offsets delimit the
  /// segments.
  template <class Key, class Value, class NumItemsT, class NumSegmentsT, class BeginOffsetIterator,
            class EndOffsetIterator, class CompareOp>
  [[nodiscard]] static cudaError_t SortPairsCopy(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                 const Key* d_keys_in, const Value* d_values_in, Key* d_keys_out,
                                                 Value* d_values_out, NumItemsT num_items, NumSegmentsT num_segments,
                                                 BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                                                 CompareOp compare, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedMergeSort::SortPairsCopy");
    return pairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, d_keys_out, d_values_out,
                 detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), compare, false, stream);
  }
  /// Sorts the keys of each segment with their values by `compare`, from one array to another. Segments have
  /// `segment_size` items each.
  template <class Key, class Value, class NumSegmentsT, class SegmentSizeT, class CompareOp>
  [[nodiscard]] static cudaError_t SortPairsCopy(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                 const Key* d_keys_in, const Value* d_values_in, Key* d_keys_out,
                                                 Value* d_values_out, NumSegmentsT num_segments,
                                                 SegmentSizeT segment_size, CompareOp compare,
                                                 cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedMergeSort::SortPairsCopy");
    return pairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, d_keys_out, d_values_out,
                 detail::segments_of(num_segments, segment_size), compare, false, stream);
  }

  /// Writes the indices of the keys of each segment in the order of the keys by `compare`. Offsets delimit the
  /// segments.
  template <class Key, class Index, class NumItemsT, class NumSegmentsT, class BeginOffsetIterator,
            class EndOffsetIterator, class CompareOp>
  [[nodiscard]] static cudaError_t SortIndices(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys,
                                               Index* d_indices, NumItemsT num_items, NumSegmentsT num_segments,
                                               BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                                               CompareOp compare, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedMergeSort::SortIndices");
    return detail::merge_sort_indices<PolicyHub>(
        d_temp_storage, temp_storage_bytes, d_keys, d_indices,
        detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), compare, stream);
  }
  /// Writes the indices of the keys of each segment in the order of the keys by `compare`. Segments have `segment_size`
  /// items each.
  template <class Key, class Index, class NumSegmentsT, class SegmentSizeT, class CompareOp>
  [[nodiscard]] static cudaError_t SortIndices(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys,
                                               Index* d_indices, NumSegmentsT num_segments, SegmentSizeT segment_size,
                                               CompareOp compare, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedMergeSort::SortIndices");
    return detail::merge_sort_indices<PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys, d_indices,
                                                 detail::segments_of(num_segments, segment_size), compare, stream);
  }

  /// Sorts the keys of each segment by `compare`, in place, stably. Offsets delimit the segments.
  template <class Key, class NumItemsT, class NumSegmentsT, class BeginOffsetIterator, class EndOffsetIterator,
            class CompareOp, class = detail::if_not_pointer<NumSegmentsT>>
  [[nodiscard]] static cudaError_t StableSortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, Key* d_keys,
                                                  NumItemsT num_items, NumSegmentsT num_segments,
                                                  BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                                                  CompareOp compare, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedMergeSort::StableSortKeys");
    return keys(d_temp_storage, temp_storage_bytes, static_cast<const Key*>(d_keys), d_keys,
                detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), compare, true, stream);
  }
  /// Sorts the keys of each segment by `compare`, in place, stably. Segments have `segment_size` items each.
  template <class Key, class NumSegmentsT, class SegmentSizeT, class CompareOp>
  [[nodiscard]] static cudaError_t StableSortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, Key* d_keys,
                                                  NumSegmentsT num_segments, SegmentSizeT segment_size,
                                                  CompareOp compare, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedMergeSort::StableSortKeys");
    return keys(d_temp_storage, temp_storage_bytes, static_cast<const Key*>(d_keys), d_keys,
                detail::segments_of(num_segments, segment_size), compare, true, stream);
  }
  /// Sorts the keys of each segment by `compare`, from one array to another, stably. Offsets delimit the segments.
  template <class Key, class NumItemsT, class NumSegmentsT, class BeginOffsetIterator, class EndOffsetIterator,
            class CompareOp>
  [[nodiscard]] static cudaError_t StableSortKeysCopy(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                      const Key* d_keys_in, Key* d_keys_out, NumItemsT num_items,
                                                      NumSegmentsT num_segments, BeginOffsetIterator d_begin_offsets,
                                                      EndOffsetIterator d_end_offsets, CompareOp compare,
                                                      cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedMergeSort::StableSortKeysCopy");
    return keys(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
                detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), compare, false, stream);
  }
  /// Sorts the keys of each segment by `compare`, from one array to another, stably. Segments have `segment_size` items
  /// each.
  template <class Key, class NumSegmentsT, class SegmentSizeT, class CompareOp>
  [[nodiscard]] static cudaError_t StableSortKeysCopy(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                      const Key* d_keys_in, Key* d_keys_out, NumSegmentsT num_segments,
                                                      SegmentSizeT segment_size, CompareOp compare,
                                                      cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedMergeSort::StableSortKeysCopy");
    return keys(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
                detail::segments_of(num_segments, segment_size), compare, false, stream);
  }
  /// Sorts the keys of each segment with their values by `compare`, in place, stably. Offsets delimit the segments.
  template <class Key, class Value, class NumItemsT, class NumSegmentsT, class BeginOffsetIterator,
            class EndOffsetIterator, class CompareOp>
  [[nodiscard]] static cudaError_t StableSortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, Key* d_keys,
                                                   Value* d_values, NumItemsT num_items, NumSegmentsT num_segments,
                                                   BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                                                   CompareOp compare, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedMergeSort::StableSortPairs");
    return pairs(d_temp_storage, temp_storage_bytes, static_cast<const Key*>(d_keys),
                 static_cast<const Value*>(d_values), d_keys, d_values,
                 detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), compare, true, stream);
  }
  /// Sorts the keys of each segment with their values by `compare`, in place, stably. Segments have `segment_size`
  /// items each.
  template <class Key, class Value, class NumSegmentsT, class SegmentSizeT, class CompareOp>
  [[nodiscard]] static cudaError_t StableSortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, Key* d_keys,
                                                   Value* d_values, NumSegmentsT num_segments,
                                                   SegmentSizeT segment_size, CompareOp compare,
                                                   cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedMergeSort::StableSortPairs");
    return pairs(d_temp_storage, temp_storage_bytes, static_cast<const Key*>(d_keys),
                 static_cast<const Value*>(d_values), d_keys, d_values, detail::segments_of(num_segments, segment_size),
                 compare, true, stream);
  }
  /// Sorts the keys of each segment with their values by `compare`, from one array to another, stably. Offsets delimit
  /// the segments.
  template <class Key, class Value, class NumItemsT, class NumSegmentsT, class BeginOffsetIterator,
            class EndOffsetIterator, class CompareOp>
  [[nodiscard]] static cudaError_t StableSortPairsCopy(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                       const Key* d_keys_in, const Value* d_values_in, Key* d_keys_out,
                                                       Value* d_values_out, NumItemsT num_items,
                                                       NumSegmentsT num_segments, BeginOffsetIterator d_begin_offsets,
                                                       EndOffsetIterator d_end_offsets, CompareOp compare,
                                                       cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedMergeSort::StableSortPairsCopy");
    return pairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, d_keys_out, d_values_out,
                 detail::segments_of(num_items, num_segments, d_begin_offsets, d_end_offsets), compare, false, stream);
  }
  /// Sorts the keys of each segment with their values by `compare`, from one array to another, stably. Segments have
  /// `segment_size` items each.
  template <class Key, class Value, class NumSegmentsT, class SegmentSizeT, class CompareOp>
  [[nodiscard]] static cudaError_t StableSortPairsCopy(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                       const Key* d_keys_in, const Value* d_values_in, Key* d_keys_out,
                                                       Value* d_values_out, NumSegmentsT num_segments,
                                                       SegmentSizeT segment_size, CompareOp compare,
                                                       cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedMergeSort::StableSortPairsCopy");
    return pairs(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, d_keys_out, d_values_out,
                 detail::segments_of(num_segments, segment_size), compare, false, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(SortKeys, sorted)
  STRATA_CALL_WITHOUT_STORAGE(SortKeysCopy, sorted)
  STRATA_CALL_WITHOUT_STORAGE(SortPairs, sorted)
  STRATA_CALL_WITHOUT_STORAGE(SortPairsCopy, sorted)
  STRATA_CALL_WITHOUT_STORAGE(SortIndices, sorted)
  STRATA_CALL_WITHOUT_STORAGE(StableSortKeys, sorted)
  STRATA_CALL_WITHOUT_STORAGE(StableSortKeysCopy, sorted)
  STRATA_CALL_WITHOUT_STORAGE(StableSortPairs, sorted)
  STRATA_CALL_WITHOUT_STORAGE(StableSortPairsCopy, sorted)

 private:
  template <class Key, class All, class CompareOp>
  static cudaError_t keys(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in, Key* d_keys_out,
                          const All& all, CompareOp compare, bool is_in_place, cudaStream_t stream) {
    return detail::merge_sort_segments<PolicyHub, Key, NullType>(d_temp_storage, temp_storage_bytes, d_keys_in,
                                                                 NullType{}, {d_keys_out, nullptr}, all, compare,
                                                                 is_in_place, true, stream);
  }
  template <class Key, class Value, class All, class CompareOp>
  static cudaError_t pairs(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                           const Value* d_values_in, Key* d_keys_out, Value* d_values_out, const All& all,
                           CompareOp compare, bool is_in_place, cudaStream_t stream) {
    return detail::merge_sort_segments<PolicyHub, Key, Value>(d_temp_storage, temp_storage_bytes, d_keys_in,
                                                              d_values_in, {d_keys_out, d_values_out}, all, compare,
                                                              is_in_place, true, stream);
  }
};
using DeviceSegmentedMergeSort = TunedDeviceSegmentedMergeSort<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
