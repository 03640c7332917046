// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/contiguous_iterator.hpp>
#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/find/dispatch.cuh>
#include <strata/device/find/search_dispatch.cuh>

#include <cstddef>

STRATA_ARCH_NAMESPACE_BEGIN

/// Searches in device memory: for the first item that satisfies a predicate, or for many values in a sorted range.
///
///     FindIf(d_in, d_out, scan_op, num_items)
///     LowerBound(d_range, range_num_items, d_values, values_num_items, d_output, compare_op)
///     UpperBound(d_range, range_num_items, d_values, values_num_items, d_output, compare_op)
///
/// | call | result |
/// |---|---|
/// | `FindIf` | `*d_out`: the first i with `scan_op(d_in[i])`, or `num_items` if there is none |
/// | `LowerBound` | `d_output[k]`: the number of items of the range that lie before `d_values[k]` |
/// | `UpperBound` | `d_output[k]`: the number of items of the range that do not lie behind `d_values[k]` |
/// | `LowerBoundSortedValues`, `UpperBoundSortedValues` | the same for values that are sorted, too |
///
/// - **Call.** Call it twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (pure arithmetic; never
///   0), then with that much device memory, whose contents and alignment do not matter. Or call it once, without these
///   two arguments: see `execution`. Counts may have any integer types. All arrays may be any random-access iterators
///   that can be dereferenced in device code.
/// - **Storage.** `FindIf` takes 8.5 KB, `LowerBound` and `UpperBound` 1 byte. The calls for sorted values take 255
///   bytes; with tens of millions of items and values, they take more (device/find/README.md).
/// - **Execution.** One kernel, or two for sorted values where temporary storage has a size that depends on the counts.
///   A call for bounds without values launches nothing. No host synchronisation and no allocation, so a call can be
///   captured in a graph and replayed. From sm_90 on, kernels start early by programmatic dependent launch, but touch
///   memory only after the previous kernel of the stream has ended.
/// - **Result.** Results are the same from run to run. `FindIf` tests all items before the first match, and few items
///   behind it: a warp starts no tile behind a match that its block has found. `scan_op` may be called for items in any
///   order, and for some of them several times.
/// - **Order.** `compare_op(a, b)` returns true if a must come before b. `LowerBound` calls it with an item and a
///   value, `UpperBound` with a value and an item; their types may differ. The range must be sorted by it. In the calls
///   for sorted values, the values must be, too. Otherwise results are unspecified, but nothing else is written, and
///   kernels terminate.
/// - **Types.** Values must be trivially relocatable. Searches of trivially relocatable items are faster. If sorted
///   values have another type than the items, they are searched for as if they were not sorted. The output type of
///   `FindIf` must be able to represent the number of items, and the output type of bounds the number of items of the
///   range.
/// - **Work.** `FindIf` reads items once, 16 bytes at a time from pointers to types of 1, 2, 4, 8 or 16 bytes. When a
///   warp finds a match, it reads the 16 bytes that have it once more. Bounds take log2(items) steps for each value.
///   Bounds of sorted values read the range and the values once, unless there is less than one value for 32 items.
/// - **Aliasing.** `d_out` of `FindIf` may lie inside the input. `d_output` must not overlap the range or the values.
/// - **Tuning.** `TunedDeviceFind<Hub>` uses your hub instead of find_policy_hub. For sorted values it also needs the
///   rows of merge_policy_hub: see default_policy_hub.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: counts that are negative, iterators
///   or outputs that cannot represent them (both in size queries, too), null pointers through which the call would read
///   or write (a null `d_out` of `FindIf` always), arrays that overlap, temporary storage too small. Otherwise a call
///   returns what the launch returns; an older error of the runtime is neither returned nor cleared.
/// - **Algorithm.** device/find/README.md.
///
/// @code
/// #include <strata/core/operators.hpp>
///
/// // The first day of frost, and how many of the sorted prices are below some limits.
/// struct is_frost {
///   STRATA_HD bool operator()(double celsius) const { return celsius < 0; }
/// };
/// __managed__ double celsius[5] = {7.5, 3, -1, 2, -4};
/// __managed__ int prices[6] = {1, 3, 3, 5, 8, 9}, limits[3] = {3, 10, 0};
/// __managed__ int day, below[3];
///
/// int main() {
///   if (strata::DeviceFind::FindIf(celsius, &day, is_frost{}, 5) != cudaSuccess ||
///       strata::DeviceFind::LowerBound(prices, 6, limits, 3, below, strata::Less{}) != cudaSuccess ||
///       cudaDeviceSynchronize() != cudaSuccess) {
///     return 1;
///   }
///   std::printf("day %d; below %d %d %d\n", day, below[0], below[1], below[2]);
/// }
/// // prints: day 2; below 1 6 0
/// @endcode
template <class PolicyHub>
struct TunedDeviceFind {
  /// Writes the index of the first item for which `scan_op(item)` is true, or `num_items` if there is none.
  template <class InputIterator, class OutputIterator, class ScanOp, class NumItemsT>
  static cudaError_t FindIf(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                            OutputIterator d_out, ScanOp scan_op, NumItemsT num_items, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceFind::FindIf");
    return detail::dispatch_find<PolicyHub>(d_temp_storage, temp_storage_bytes, detail::pointer_or_iterator(d_in),
                                            detail::pointer_or_iterator(d_out), scan_op, num_items, stream);
  }

  /// For each value, counts the items that `compare_op(item, value)` puts before it.
  template <class RangeIterator, class RangeNumItemsT, class ValuesIterator, class ValuesNumItemsT,
            class OutputIterator, class CompareOp>
  static cudaError_t LowerBound(void* d_temp_storage, std::size_t& temp_storage_bytes, RangeIterator d_range,
                                RangeNumItemsT range_num_items, ValuesIterator d_values,
                                ValuesNumItemsT values_num_items, OutputIterator d_output, CompareOp compare_op,
                                cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceFind::LowerBound");
    return bounds<detail::bound_kind::lower, false>(d_temp_storage, temp_storage_bytes, d_range, range_num_items,
                                                    d_values, values_num_items, d_output, compare_op, stream);
  }

  /// For each value, counts the items that `compare_op(value, item)` does not put behind it.
  template <class RangeIterator, class RangeNumItemsT, class ValuesIterator, class ValuesNumItemsT,
            class OutputIterator, class CompareOp>
  static cudaError_t UpperBound(void* d_temp_storage, std::size_t& temp_storage_bytes, RangeIterator d_range,
                                RangeNumItemsT range_num_items, ValuesIterator d_values,
                                ValuesNumItemsT values_num_items, OutputIterator d_output, CompareOp compare_op,
                                cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceFind::UpperBound");
    return bounds<detail::bound_kind::upper, false>(d_temp_storage, temp_storage_bytes, d_range, range_num_items,
                                                    d_values, values_num_items, d_output, compare_op, stream);
  }

  /// `LowerBound` of values that are sorted by `compare_op`, too.
  template <class RangeIterator, class RangeNumItemsT, class ValuesIterator, class ValuesNumItemsT,
            class OutputIterator, class CompareOp>
  static cudaError_t LowerBoundSortedValues(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                            RangeIterator d_range, RangeNumItemsT range_num_items,
                                            ValuesIterator d_values, ValuesNumItemsT values_num_items,
                                            OutputIterator d_output, CompareOp compare_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceFind::LowerBoundSortedValues");
    return bounds<detail::bound_kind::lower, true>(d_temp_storage, temp_storage_bytes, d_range, range_num_items,
                                                   d_values, values_num_items, d_output, compare_op, stream);
  }

  /// `UpperBound` of values that are sorted by `compare_op`, too.
  template <class RangeIterator, class RangeNumItemsT, class ValuesIterator, class ValuesNumItemsT,
            class OutputIterator, class CompareOp>
  static cudaError_t UpperBoundSortedValues(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                            RangeIterator d_range, RangeNumItemsT range_num_items,
                                            ValuesIterator d_values, ValuesNumItemsT values_num_items,
                                            OutputIterator d_output, CompareOp compare_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceFind::UpperBoundSortedValues");
    return bounds<detail::bound_kind::upper, true>(d_temp_storage, temp_storage_bytes, d_range, range_num_items,
                                                   d_values, values_num_items, d_output, compare_op, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(FindIf)
  STRATA_CALL_WITH_UNUSED_STORAGE(LowerBound)
  STRATA_CALL_WITH_UNUSED_STORAGE(UpperBound)
  STRATA_CALL_WITHOUT_STORAGE(LowerBoundSortedValues)
  STRATA_CALL_WITHOUT_STORAGE(UpperBoundSortedValues)

 private:
  template <detail::bound_kind Kind, bool AreSorted, class RangeIterator, class RangeNumItemsT, class ValuesIterator,
            class ValuesNumItemsT, class OutputIterator, class CompareOp>
  static cudaError_t bounds(void* d_temp_storage, std::size_t& temp_storage_bytes, const RangeIterator& d_range,
                            RangeNumItemsT range_num_items, const ValuesIterator& d_values,
                            ValuesNumItemsT values_num_items, const OutputIterator& d_output,
                            const CompareOp& compare_op, cudaStream_t stream) {
    return detail::dispatch_bounds<Kind, AreSorted, PolicyHub>(
        d_temp_storage, temp_storage_bytes, detail::pointer_or_iterator(d_range), range_num_items,
        detail::pointer_or_iterator(d_values), values_num_items, detail::pointer_or_iterator(d_output), compare_op,
        stream);
  }
};
using DeviceFind = TunedDeviceFind<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
