// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/dispatch_if.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/engine/segments.cuh>
#include <strata/device/scan/initial_value.cuh>
#include <strata/device/scan/segmented_dispatch.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_NAMESPACE_BEGIN

/// Scans each of many segments of a sequence in device memory.
///
/// Segment `s` is items [begin[s], end[s]) of `d_in`, given by two sequences of offsets. Its results are written
/// from `d_out[begin[s]]` on, or from `d_out[out_begin[s]]` on in the forms with `d_out_begin_offsets`. A segment
/// that ends before it begins is empty. For the items x[0] ... x[n-1] of a segment, in their order,
///
///     inclusive: out[i] = op(... op(op(init, x[0]), x[1]) ..., x[i])
///     exclusive: out[i] = op(... op(op(init, x[0]), x[1]) ..., x[i - 1]),  out[0] = init
///
/// up to association. For operators, `init` (a value or a FutureValue) and the type in which sums are carried, the
/// rules of DeviceScan hold.
///
/// - **Call.** Twice or once, as in DeviceScan. Temporary storage has a few hundred KB, and 8 bytes for each segment.
///   Iterators may be any random-access iterators that can be dereferenced in device code. Offsets and `num_segments`
///   may have any integer types.
/// - **Segments.** They may have any lengths, lie in any order and have gaps. They may overlap in `d_in`, but no
///   two results may go to the same element of `d_out`. Nothing else in `d_out` is written.
/// - **In place.** `d_out` may be `d_in` in the forms with two sequences of offsets, if segments do not overlap
///   and items and results have one size. Otherwise outputs must overlap neither the inputs nor the offsets. Only the
///   device knows how far the output reaches. So the host checks only its first item. A call is refused if this item
///   overlaps the offsets or, unless the call is in place, the first item of `d_in`.
/// - **Offsets in one array.** In the forms with two sequences of offsets, the offsets lie in one array if both are
///   pointers, and `d_end_offsets` is `d_begin_offsets + 1`. Then the segments follow each other, and a call takes a
///   fraction of the time. If offsets decrease, results are the same, but each segment is scanned by one block only.
/// - **Execution.** One or two kernel launches, on `stream`; no host synchronisation and no allocation, so a call can
///   be captured in a graph and replayed with other items, offsets and lengths. Calls that may run at the same time
///   need temporary storage of their own. Unless the offsets lie in one array, the second launch is cooperative. If
///   there are many segments, the first launch is cooperative, too. DeviceScan says when such launches start.
/// - **Work.** All blocks get equal shares of the items: one huge segment keeps all of them busy, and a million short
///   ones cost little more. With offsets in one array, each block scans its share from left to right. If a share ends
///   amid a segment, its items of this segment are read twice. Otherwise the segments are scanned end to end as one
///   sequence, and a binary search in the segments of its tile finds the segment of an item.
/// - **Result.** Results are deterministic from run to run on one device, for floating-point sums too: the order in
///   which sums are combined depends on the offsets and the device alone.
/// - **Tuning.** `TunedDeviceSegmentedScan<Hub>` uses your hub instead of segmented_scan_policy_hub: see
///   default_policy_hub. Unless the offsets lie in one array, a scan of the segments' lengths comes first. It always
///   uses the tuning rows of DeviceScan.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: negative `num_segments`, in a size
///   query too; a null pointer if there are segments; temporary storage too small. Otherwise a call returns what the
///   launches return. With no segments nothing is launched.
///
/// @code
/// // Sums that begin anew in each of three lists, which begin at begins[list].
/// __managed__ int items[7] = {1, 2, 3, 10, 10, 5, 5};
/// __managed__ int begins[4] = {0, 3, 5, 7};
/// __managed__ int sums[7];
///
/// int main() {
///   using strata::DeviceSegmentedScan;
///   if (DeviceSegmentedScan::InclusiveSegmentedSum(items, sums, begins, begins + 1, 3) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const int sum : sums) std::printf("%d ", sum);
/// }
/// // prints: 1 3 6 10 20 5 10
/// @endcode
template <class PolicyHub>
struct TunedDeviceSegmentedScan {
  /// Exclusive sum of each segment. The results lie in `d_out` where the items lie in `d_in`.
  template <class InputIterator, class OutputIterator, class BeginOffsetIterator, class EndOffsetIterator,
            class NumSegmentsT>
  static detail::if_integral<NumSegmentsT> ExclusiveSegmentedSum(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                                 InputIterator d_in, OutputIterator d_out,
                                                                 BeginOffsetIterator d_begin_offsets,
                                                                 EndOffsetIterator d_end_offsets,
                                                                 NumSegmentsT num_segments, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedScan::ExclusiveSegmentedSum");
    return scan<false>(d_temp_storage, temp_storage_bytes, d_in, d_out, d_begin_offsets, d_end_offsets, NullType{},
                       num_segments, strata::Sum{}, detail::iterator_value_t<InputIterator>{}, stream);
  }
  /// Exclusive sum of each segment. The results of segment i begin at `d_out_begin_offsets[i]`.
  template <class InputIterator, class OutputIterator, class BeginOffsetIterator, class EndOffsetIterator,
            class OutBeginOffsetIterator, class NumSegmentsT>
  static detail::if_not_integral<OutBeginOffsetIterator> ExclusiveSegmentedSum(
      void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in, OutputIterator d_out,
      BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets, OutBeginOffsetIterator d_out_begin_offsets,
      NumSegmentsT num_segments, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedScan::ExclusiveSegmentedSum");
    return scan<false>(d_temp_storage, temp_storage_bytes, d_in, d_out, d_begin_offsets, d_end_offsets,
                       d_out_begin_offsets, num_segments, strata::Sum{}, detail::iterator_value_t<InputIterator>{},
                       stream);
  }

  /// Inclusive sum of each segment. The results lie in `d_out` where the items lie in `d_in`.
  template <class InputIterator, class OutputIterator, class BeginOffsetIterator, class EndOffsetIterator,
            class NumSegmentsT>
  static detail::if_integral<NumSegmentsT> InclusiveSegmentedSum(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                                 InputIterator d_in, OutputIterator d_out,
                                                                 BeginOffsetIterator d_begin_offsets,
                                                                 EndOffsetIterator d_end_offsets,
                                                                 NumSegmentsT num_segments, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedScan::InclusiveSegmentedSum");
    return scan<true>(d_temp_storage, temp_storage_bytes, d_in, d_out, d_begin_offsets, d_end_offsets, NullType{},
                      num_segments, strata::Sum{}, NullType{}, stream);
  }
  /// Inclusive sum of each segment. The results of segment i begin at `d_out_begin_offsets[i]`.
  template <class InputIterator, class OutputIterator, class BeginOffsetIterator, class EndOffsetIterator,
            class OutBeginOffsetIterator, class NumSegmentsT>
  static detail::if_not_integral<OutBeginOffsetIterator> InclusiveSegmentedSum(
      void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in, OutputIterator d_out,
      BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets, OutBeginOffsetIterator d_out_begin_offsets,
      NumSegmentsT num_segments, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedScan::InclusiveSegmentedSum");
    return scan<true>(d_temp_storage, temp_storage_bytes, d_in, d_out, d_begin_offsets, d_end_offsets,
                      d_out_begin_offsets, num_segments, strata::Sum{}, NullType{}, stream);
  }

  /// Exclusive scan of each segment, beginning with `init_value`: a value or a FutureValue. The results lie in `d_out`
  /// where the items lie in `d_in`.
  template <class InputIterator, class OutputIterator, class BeginOffsetIterator, class EndOffsetIterator,
            class NumSegmentsT, class ScanOp, class InitValueT>
  static detail::if_integral<NumSegmentsT> ExclusiveSegmentedScan(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                                  InputIterator d_in, OutputIterator d_out,
                                                                  BeginOffsetIterator d_begin_offsets,
                                                                  EndOffsetIterator d_end_offsets,
                                                                  NumSegmentsT num_segments, ScanOp scan_op,
                                                                  InitValueT init_value, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedScan::ExclusiveSegmentedScan");
    return scan<false>(d_temp_storage, temp_storage_bytes, d_in, d_out, d_begin_offsets, d_end_offsets, NullType{},
                       num_segments, scan_op, init_value, stream);
  }
  /// Exclusive scan of each segment, beginning with `init_value`. The results of segment i begin at
  /// `d_out_begin_offsets[i]`.
  template <class InputIterator, class OutputIterator, class BeginOffsetIterator, class EndOffsetIterator,
            class OutBeginOffsetIterator, class NumSegmentsT, class ScanOp, class InitValueT>
  static detail::if_not_integral<OutBeginOffsetIterator> ExclusiveSegmentedScan(
      void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in, OutputIterator d_out,
      BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets, OutBeginOffsetIterator d_out_begin_offsets,
      NumSegmentsT num_segments, ScanOp scan_op, InitValueT init_value, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedScan::ExclusiveSegmentedScan");
    return scan<false>(d_temp_storage, temp_storage_bytes, d_in, d_out, d_begin_offsets, d_end_offsets,
                       d_out_begin_offsets, num_segments, scan_op, init_value, stream);
  }

  /// Inclusive scan of each segment. The results lie in `d_out` where the items lie in `d_in`.
  template <class InputIterator, class OutputIterator, class BeginOffsetIterator, class EndOffsetIterator,
            class NumSegmentsT, class ScanOp>
  static detail::if_integral<NumSegmentsT> InclusiveSegmentedScan(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                                  InputIterator d_in, OutputIterator d_out,
                                                                  BeginOffsetIterator d_begin_offsets,
                                                                  EndOffsetIterator d_end_offsets,
                                                                  NumSegmentsT num_segments, ScanOp scan_op,
                                                                  cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedScan::InclusiveSegmentedScan");
    return scan<true>(d_temp_storage, temp_storage_bytes, d_in, d_out, d_begin_offsets, d_end_offsets, NullType{},
                      num_segments, scan_op, NullType{}, stream);
  }
  /// Inclusive scan of each segment. The results of segment i begin at `d_out_begin_offsets[i]`.
  template <class InputIterator, class OutputIterator, class BeginOffsetIterator, class EndOffsetIterator,
            class OutBeginOffsetIterator, class NumSegmentsT, class ScanOp>
  static detail::if_not_integral<OutBeginOffsetIterator> InclusiveSegmentedScan(
      void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in, OutputIterator d_out,
      BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets, OutBeginOffsetIterator d_out_begin_offsets,
      NumSegmentsT num_segments, ScanOp scan_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedScan::InclusiveSegmentedScan");
    return scan<true>(d_temp_storage, temp_storage_bytes, d_in, d_out, d_begin_offsets, d_end_offsets,
                      d_out_begin_offsets, num_segments, scan_op, NullType{}, stream);
  }

  /// Inclusive scan of each segment, beginning with `init_value`: a value or a FutureValue. The results lie in `d_out`
  /// where the items lie in `d_in`.
  template <class InputIterator, class OutputIterator, class BeginOffsetIterator, class EndOffsetIterator,
            class NumSegmentsT, class ScanOp, class InitValueT>
  static detail::if_integral<NumSegmentsT> InclusiveSegmentedScanInit(
      void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in, OutputIterator d_out,
      BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets, NumSegmentsT num_segments, ScanOp scan_op,
      InitValueT init_value, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedScan::InclusiveSegmentedScanInit");
    return scan<true>(d_temp_storage, temp_storage_bytes, d_in, d_out, d_begin_offsets, d_end_offsets, NullType{},
                      num_segments, scan_op, init_value, stream);
  }
  /// Inclusive scan of each segment, beginning with `init_value`. The results of segment i begin at
  /// `d_out_begin_offsets[i]`.
  template <class InputIterator, class OutputIterator, class BeginOffsetIterator, class EndOffsetIterator,
            class OutBeginOffsetIterator, class NumSegmentsT, class ScanOp, class InitValueT>
  static detail::if_not_integral<OutBeginOffsetIterator> InclusiveSegmentedScanInit(
      void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in, OutputIterator d_out,
      BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets, OutBeginOffsetIterator d_out_begin_offsets,
      NumSegmentsT num_segments, ScanOp scan_op, InitValueT init_value, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedScan::InclusiveSegmentedScanInit");
    return scan<true>(d_temp_storage, temp_storage_bytes, d_in, d_out, d_begin_offsets, d_end_offsets,
                      d_out_begin_offsets, num_segments, scan_op, init_value, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(ExclusiveSegmentedSum, associated)
  STRATA_CALL_WITHOUT_STORAGE(InclusiveSegmentedSum, associated)
  STRATA_CALL_WITHOUT_STORAGE(ExclusiveSegmentedScan, associated)
  STRATA_CALL_WITHOUT_STORAGE(InclusiveSegmentedScan, associated)
  STRATA_CALL_WITHOUT_STORAGE(InclusiveSegmentedScanInit, associated)

 private:
  // NullType stands for no offsets.
  template <class Iterator>
  static constexpr bool are_offsets = std::is_integral_v<typename detail::declared_value<Iterator, int>::type>;

  template <bool IsInclusive, class InputIterator, class OutputIterator, class BeginOffsetIterator,
            class EndOffsetIterator, class OutBeginOffsetIterator, class NumSegmentsT, class ScanOp, class InitValueT>
  static cudaError_t scan(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                          OutputIterator d_out, BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets,
                          OutBeginOffsetIterator d_out_begin_offsets, NumSegmentsT num_segments, ScanOp scan_op,
                          InitValueT init_value, cudaStream_t stream) {
    static_assert(
        are_offsets<BeginOffsetIterator> && are_offsets<EndOffsetIterator> && are_offsets<OutBeginOffsetIterator>,
        "offsets of segments must be integers: convert them, for example by a TransformInputIterator");
    using AccumT = detail::scan_accumulator_t<InputIterator, ScanOp, InitValueT>;
    constexpr bool is_possible = detail::can_accumulate<ScanOp, AccumT, InputIterator, OutputIterator>;
    using Dispatch =
        detail::DispatchSegmentedScan<AccumT, InputIterator, OutputIterator, BeginOffsetIterator, EndOffsetIterator,
                                      OutBeginOffsetIterator, detail::item_count_t<NumSegmentsT>, ScanOp, IsInclusive,
                                      InitValueT, PolicyHub>;
    return detail::dispatch_if<is_possible, Dispatch>::Dispatch(
        d_temp_storage, temp_storage_bytes, d_in, d_out,
        detail::offset_segments<BeginOffsetIterator, EndOffsetIterator>{d_begin_offsets, d_end_offsets},
        d_out_begin_offsets, num_segments, scan_op, init_value, stream);
  }
};
using DeviceSegmentedScan = TunedDeviceSegmentedScan<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
