// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/contiguous_iterator.hpp>
#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/merge_sort/merge_dispatch.cuh>

#include <cstddef>

STRATA_ARCH_NAMESPACE_BEGIN

/// Merges two sorted ranges of device memory into one, as `std::merge` does.
///
///     MergeKeys(keys_in1, num_keys1, keys_in2, num_keys2, keys_out, compare)
///     MergePairs(keys_in1, values_in1, num_pairs1, keys_in2, values_in2, num_pairs2, keys_out, values_out, compare)
///
/// The first arguments are `d_temp_storage, temp_storage_bytes`, the last a stream. Without a comparator, `<` compares.
///
/// - **Call.** Call it twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (pure arithmetic; 255
///   bytes, and 8 bytes more for each 5,888 keys if there are more than 24 million keys of 4 bytes), then with that
///   much device memory. Or call it once, without these two arguments: see `execution`. Counts may have any integer
///   types; their sum must be below 2^36.
/// - **Execution.** One kernel, or two where temporary storage has a size that depends on the counts; none without
///   items. No host synchronisation and no allocation, so a call can be captured in a graph and replayed with other
///   items. From sm_90 on, kernels start early by programmatic dependent launch, but touch memory only after the
///   previous kernel of the stream has ended.
/// - **Result.** Merges are stable: items of the first range come before equal ones of the second, and items of a range
///   keep their order. Results are the same from run to run. If `compare` is no strict weak ordering, or a range is not
///   sorted by it, the result is unspecified; nothing else is written, and the kernels terminate.
/// - **Types.** Keys and values are any trivially relocatable and default constructible types; keys have up to 1 KiB.
///   All arrays may be any random-access iterators. Items of the second range are converted to the types of the first.
///   `compare(a, b)`, called in device code, says whether key a must come before key b. Keys whose type has 1, 2, 4, 8
///   or 16 bytes and an alignment equal to its size move 16 bytes at a time from and to arrays of the first range's
///   type, wherever the arrays begin. Arrays are pointers, and iterators of `std::vector` or of a vector of Thrust.
/// - **Work.** Each item is read once and written once. Some of the keys are read again to cut the ranges.
/// - **Aliasing.** No output may overlap an input or the other output.
/// - **Tuning.** `TunedDeviceMerge<Hub>` uses your hub instead of merge_policy_hub: see default_policy_hub.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: counts that are negative or too large
///   (in size queries, too), null pointers if there are items, arrays that overlap, temporary storage too small.
///   Otherwise a call returns what the launch returns; an older error of the runtime is neither returned nor cleared.
/// - **Algorithm.** Merge path: S. Odeh, O. Green, Z. Mwassi, O. Shmueli, Y. Birk, Merge Path - Parallel Merging
///   Made Simple, 2012. Diagonals cut the merge into tiles, and tiles into slices of threads, all with the same number
///   of items, however the ranges interleave.
///
/// @code
/// // Adds the sorted events of a day to those of the year. Events of one time keep their order.
/// __managed__ int year_times[3] = {2, 5, 9}, day_times[4] = {1, 5, 6, 10};
/// __managed__ char year_events[3] = {'a', 'b', 'c'}, day_events[4] = {'P', 'Q', 'R', 'S'};
/// __managed__ int times[7];
/// __managed__ char events[7];
///
/// int main() {
///   if (strata::DeviceMerge::MergePairs(year_times, year_events, 3, day_times, day_events, 4, times, events) !=
///           cudaSuccess ||
///       cudaDeviceSynchronize() != cudaSuccess) {
///     return 1;
///   }
///   for (int i = 0; i < 7; ++i) std::printf("%d:%c ", times[i], events[i]);
/// }
/// // prints: 1:P 2:a 5:b 5:Q 6:R 9:c 10:S
/// @endcode
template <class PolicyHub>
struct TunedDeviceMerge {
  /// Merges two sorted ranges of keys.
  template <class KeyIteratorIn1, class KeyIteratorIn2, class KeyIteratorOut, class CompareOp = Less>
  static cudaError_t MergeKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIteratorIn1 keys_in1,
                               detail::count64 num_keys1, KeyIteratorIn2 keys_in2, detail::count64 num_keys2,
                               KeyIteratorOut keys_out, CompareOp compare_op = {}, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceMerge::MergeKeys");
    NullType* const none = nullptr;
    return detail::merge_ranges<PolicyHub>(d_temp_storage, temp_storage_bytes, detail::pointer_or_iterator(keys_in1),
                                           none, num_keys1, detail::pointer_or_iterator(keys_in2), none, num_keys2,
                                           detail::pointer_or_iterator(keys_out), none, compare_op, stream);
  }

  /// Merges two sorted ranges of keys with their values.
  template <class KeyIteratorIn1, class ValueIteratorIn1, class KeyIteratorIn2, class ValueIteratorIn2,
            class KeyIteratorOut, class ValueIteratorOut, class CompareOp = Less>
  static cudaError_t MergePairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIteratorIn1 keys_in1,
                                ValueIteratorIn1 values_in1, detail::count64 num_pairs1, KeyIteratorIn2 keys_in2,
                                ValueIteratorIn2 values_in2, detail::count64 num_pairs2, KeyIteratorOut keys_out,
                                ValueIteratorOut values_out, CompareOp compare_op = {}, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceMerge::MergePairs");
    return detail::merge_ranges<PolicyHub>(
        d_temp_storage, temp_storage_bytes, detail::pointer_or_iterator(keys_in1),
        detail::pointer_or_iterator(values_in1), num_pairs1, detail::pointer_or_iterator(keys_in2),
        detail::pointer_or_iterator(values_in2), num_pairs2, detail::pointer_or_iterator(keys_out),
        detail::pointer_or_iterator(values_out), compare_op, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(MergeKeys, sorted)
  STRATA_CALL_WITHOUT_STORAGE(MergePairs, sorted)
};
using DeviceMerge = TunedDeviceMerge<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
