// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/engine/segments.cuh>
#include <strata/device/reduce/dispatch.cuh>
#include <strata/device/reduce/output.cuh>
#include <strata/device/reduce/segmented_dispatch.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_NAMESPACE_BEGIN

/// Reduces many segments of a sequence in device memory, each to one value.
///
/// Segment `s` is items [begin[s], end[s]) of `d_in`, given by two sequences of offsets, or items [s * size, (s + 1) *
/// size) in the overloads with a `segment_size`. Segments may overlap, lie in any order, and leave gaps. A segment that
/// ends before it begins is empty. Output `s` is what `DeviceReduce` computes for the segment's items, with the same
/// rules for operators (associative, operands in order), accumulator types, NaNs and empty inputs.
///
/// - **Call.** As for `DeviceReduce`: twice, or once without storage. The size of temporary storage grows with
///   `num_segments` up to a few megabytes and does not depend on the lengths.
/// - **Execution.** A call of few segments is one launch; reduce/README.md says how many these are. A call of more
///   segments is a memset of 4 bytes and two launches, or one launch if `segment_size` says that no segment is long.
///   There is no host synchronisation, and a call can be captured in a graph. Kernels read the lengths on the device:
///   short segments are reduced by one thread, medium ones by a few lanes, longer ones by a warp or a block, and very
///   long ones by many blocks.
/// - **Result.** Results are deterministic from run to run: how a segment is cut depends on the lengths, the alignment
///   and the device alone. Outputs must not overlap the inputs or the offsets. If segments have offsets, the host does
///   not know how far the input reaches: it compares only the first items of `d_out` and `d_in`.
/// - **Bytes moved.** Each item is read once, and each output written once. In a call of few segments, every block
///   reads all offsets, and then the offsets of its own segments again. In other calls, each offset is read once.
/// - **Tuning.** `TunedDeviceSegmentedReduce<Hub>` uses your hub instead of segmented_reduce_policy_hub: see
///   default_policy_hub.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: negative `num_segments` or
///   `segment_size`, null pointer if there are segments (but `d_in` may be null if `segment_size` is 0), arrays that
///   overlap, iterators whose differences cannot represent all segments or, with a `segment_size`, all items, an index
///   type that cannot represent the indices in a segment, storage too small. Size queries check counts and types, too.
///   If segments have offsets, the caller must choose types that can represent all indices.
///
/// @code
/// // The sum of each row of a sparse matrix, whose entries begin at rows[row]. The second row has none.
/// __managed__ float entries[5] = {1, 2, 4, 8, 0.5f};
/// __managed__ int rows[4] = {0, 2, 2, 5};
/// __managed__ float sums[3];
///
/// int main() {
///   if (strata::DeviceSegmentedReduce::Sum(entries, sums, 3, rows, rows + 1) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const float sum : sums) std::printf("%g ", sum);
/// }
/// // prints: 3 0 12.5
/// @endcode
template <class PolicyHub>
struct TunedDeviceSegmentedReduce {
  /// Reduces each segment with a binary operator and an initial value.
  template <class InputIterator, class OutputIterator, class BeginOffsetIterator, class EndOffsetIterator,
            class ReductionOp, class T>
  static detail::if_not_integral<BeginOffsetIterator> Reduce(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                             InputIterator d_in, OutputIterator d_out,
                                                             detail::count64 num_segments,
                                                             BeginOffsetIterator d_begin_offsets,
                                                             EndOffsetIterator d_end_offsets, ReductionOp reduction_op,
                                                             T init, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedReduce::Reduce");
    return reduce_problem(d_in, d_out, reduction_op, init)
        .run(d_temp_storage, temp_storage_bytes, num_segments, offsets(d_begin_offsets, d_end_offsets), stream);
  }
  /// Reduces segments of `segment_size` items each, with a binary operator and an initial value.
  template <class InputIterator, class OutputIterator, class SegmentSizeT, class ReductionOp, class T>
  static detail::if_integral<SegmentSizeT> Reduce(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                  InputIterator d_in, OutputIterator d_out,
                                                  detail::count64 num_segments, SegmentSizeT segment_size,
                                                  ReductionOp reduction_op, T init, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedReduce::Reduce");
    return reduce_problem(d_in, d_out, reduction_op, init)
        .run(d_temp_storage, temp_storage_bytes, num_segments, fixed_size(segment_size), stream);
  }

  /// Adds up the items of each segment. See `DeviceReduce::Sum` for the type of the accumulator.
  template <class InputIterator, class OutputIterator, class BeginOffsetIterator, class EndOffsetIterator>
  static detail::if_not_integral<BeginOffsetIterator> Sum(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                          InputIterator d_in, OutputIterator d_out,
                                                          detail::count64 num_segments,
                                                          BeginOffsetIterator d_begin_offsets,
                                                          EndOffsetIterator d_end_offsets, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedReduce::Sum");
    return sum_problem(d_in, d_out)
        .run(d_temp_storage, temp_storage_bytes, num_segments, offsets(d_begin_offsets, d_end_offsets), stream);
  }
  /// Adds up the items of segments of `segment_size` items each.
  template <class InputIterator, class OutputIterator, class SegmentSizeT>
  static detail::if_integral<SegmentSizeT> Sum(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                               InputIterator d_in, OutputIterator d_out, detail::count64 num_segments,
                                               SegmentSizeT segment_size, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedReduce::Sum");
    return sum_problem(d_in, d_out)
        .run(d_temp_storage, temp_storage_bytes, num_segments, fixed_size(segment_size), stream);
  }

  /// Finds the smallest item of each segment. Empty segments give the largest value of the input type.
  template <class InputIterator, class OutputIterator, class BeginOffsetIterator, class EndOffsetIterator>
  static detail::if_not_integral<BeginOffsetIterator> Min(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                          InputIterator d_in, OutputIterator d_out,
                                                          detail::count64 num_segments,
                                                          BeginOffsetIterator d_begin_offsets,
                                                          EndOffsetIterator d_end_offsets, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedReduce::Min");
    return extremum_problem<strata::Min>(d_in, d_out, limits<InputIterator>::max())
        .run(d_temp_storage, temp_storage_bytes, num_segments, offsets(d_begin_offsets, d_end_offsets), stream);
  }
  /// Finds the smallest item of segments of `segment_size` items each.
  template <class InputIterator, class OutputIterator, class SegmentSizeT>
  static detail::if_integral<SegmentSizeT> Min(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                               InputIterator d_in, OutputIterator d_out, detail::count64 num_segments,
                                               SegmentSizeT segment_size, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedReduce::Min");
    return extremum_problem<strata::Min>(d_in, d_out, limits<InputIterator>::max())
        .run(d_temp_storage, temp_storage_bytes, num_segments, fixed_size(segment_size), stream);
  }

  /// Finds the largest item of each segment. Empty segments give the lowest value of the input type.
  template <class InputIterator, class OutputIterator, class BeginOffsetIterator, class EndOffsetIterator>
  static detail::if_not_integral<BeginOffsetIterator> Max(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                          InputIterator d_in, OutputIterator d_out,
                                                          detail::count64 num_segments,
                                                          BeginOffsetIterator d_begin_offsets,
                                                          EndOffsetIterator d_end_offsets, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedReduce::Max");
    return extremum_problem<strata::Max>(d_in, d_out, limits<InputIterator>::lowest())
        .run(d_temp_storage, temp_storage_bytes, num_segments, offsets(d_begin_offsets, d_end_offsets), stream);
  }
  /// Finds the largest item of segments of `segment_size` items each.
  template <class InputIterator, class OutputIterator, class SegmentSizeT>
  static detail::if_integral<SegmentSizeT> Max(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                               InputIterator d_in, OutputIterator d_out, detail::count64 num_segments,
                                               SegmentSizeT segment_size, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedReduce::Max");
    return extremum_problem<strata::Max>(d_in, d_out, limits<InputIterator>::lowest())
        .run(d_temp_storage, temp_storage_bytes, num_segments, fixed_size(segment_size), stream);
  }

  /// Finds the smallest item of each segment and its index in the segment: the first one, if several items are equal.
  /// The output type has members `key` (the index) and `value`, or `first` and `second`. Empty segments give the index
  /// 1 and the largest value of the input type.
  template <class InputIterator, class OutputIterator, class BeginOffsetIterator, class EndOffsetIterator>
  static detail::if_not_integral<BeginOffsetIterator> ArgMin(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                             InputIterator d_in, OutputIterator d_out,
                                                             detail::count64 num_segments,
                                                             BeginOffsetIterator d_begin_offsets,
                                                             EndOffsetIterator d_end_offsets, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedReduce::ArgMin");
    return arg_extremum_problem<strata::ArgMin>(d_in, d_out, limits<InputIterator>::max())
        .run(d_temp_storage, temp_storage_bytes, num_segments, offsets(d_begin_offsets, d_end_offsets), stream);
  }
  /// Finds the smallest item and its index in segments of `segment_size` items each.
  template <class InputIterator, class OutputIterator, class SegmentSizeT>
  static detail::if_integral<SegmentSizeT> ArgMin(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                  InputIterator d_in, OutputIterator d_out,
                                                  detail::count64 num_segments, SegmentSizeT segment_size,
                                                  cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedReduce::ArgMin");
    return arg_extremum_problem<strata::ArgMin>(d_in, d_out, limits<InputIterator>::max())
        .run(d_temp_storage, temp_storage_bytes, num_segments, fixed_size(segment_size), stream);
  }

  /// Finds the largest item of each segment and its index in the segment: the first one, if several items are equal.
  /// The output type has members `key` (the index) and `value`, or `first` and `second`. Empty segments give the index
  /// 1 and the lowest value of the input type.
  template <class InputIterator, class OutputIterator, class BeginOffsetIterator, class EndOffsetIterator>
  static detail::if_not_integral<BeginOffsetIterator> ArgMax(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                             InputIterator d_in, OutputIterator d_out,
                                                             detail::count64 num_segments,
                                                             BeginOffsetIterator d_begin_offsets,
                                                             EndOffsetIterator d_end_offsets, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedReduce::ArgMax");
    return arg_extremum_problem<strata::ArgMax>(d_in, d_out, limits<InputIterator>::lowest())
        .run(d_temp_storage, temp_storage_bytes, num_segments, offsets(d_begin_offsets, d_end_offsets), stream);
  }
  /// Finds the largest item and its index in segments of `segment_size` items each.
  template <class InputIterator, class OutputIterator, class SegmentSizeT>
  static detail::if_integral<SegmentSizeT> ArgMax(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                  InputIterator d_in, OutputIterator d_out,
                                                  detail::count64 num_segments, SegmentSizeT segment_size,
                                                  cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSegmentedReduce::ArgMax");
    return arg_extremum_problem<strata::ArgMax>(d_in, d_out, limits<InputIterator>::lowest())
        .run(d_temp_storage, temp_storage_bytes, num_segments, fixed_size(segment_size), stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(Reduce, associated)
  STRATA_CALL_WITHOUT_STORAGE(Sum, associated)
  STRATA_CALL_WITHOUT_STORAGE(Min)
  STRATA_CALL_WITHOUT_STORAGE(Max)
  STRATA_CALL_WITHOUT_STORAGE(ArgMin)
  STRATA_CALL_WITHOUT_STORAGE(ArgMax)

 private:
  template <class InputIterator>
  using limits = detail::value_limits<detail::iterator_value_t<InputIterator>>;

  // A reduction without its segments, which differ between the overloads.
  template <class AccumT, class InputIterator, class OutputIterator, class ReductionOp, class TransformOp, class InitT>
  struct STRATA_DETAIL_HIDDEN problem {
    InputIterator d_in;
    OutputIterator d_out;
    ReductionOp reduction_op;
    TransformOp transform_op;
    InitT init;

    template <class Segments>
    cudaError_t run(void* d_temp_storage, std::size_t& temp_storage_bytes, std::int64_t num_segments,
                    const Segments& segments, cudaStream_t stream) const {
      return detail::dispatch_segmented_reduce<AccumT, PolicyHub>(d_temp_storage, temp_storage_bytes, d_in, d_out,
                                                                  segments, num_segments, reduction_op, transform_op,
                                                                  init, stream);
    }
  };

  template <class AccumT, class InputIterator, class OutputIterator, class ReductionOp, class TransformOp, class InitT>
  static problem<AccumT, InputIterator, OutputIterator, ReductionOp, TransformOp, InitT> make_problem(
      InputIterator d_in, OutputIterator d_out, ReductionOp reduction_op, TransformOp transform_op, InitT init) {
    return {d_in, d_out, reduction_op, transform_op, init};
  }

  template <class InputIterator, class OutputIterator, class ReductionOp, class T>
  static auto reduce_problem(InputIterator d_in, OutputIterator d_out, ReductionOp reduction_op, T init) {
    using AccumT = detail::accumulator_t<ReductionOp, T, detail::iterator_value_t<InputIterator>>;
    return make_problem<AccumT>(d_in, d_out, reduction_op, detail::keep_item{}, init);
  }

  template <class InputIterator, class OutputIterator>
  static auto sum_problem(InputIterator d_in, OutputIterator d_out) {
    using T = detail::initial_value_t<OutputIterator, detail::iterator_value_t<InputIterator>>;
    return reduce_problem(d_in, d_out, strata::Sum{}, T{});
  }

  template <class ReductionOp, class InputIterator, class OutputIterator, class T>
  static auto extremum_problem(InputIterator d_in, OutputIterator d_out, T if_empty) {
    return make_problem<T>(d_in, d_out, ReductionOp{}, detail::keep_item{}, detail::only_if_empty<T>{if_empty});
  }

  template <class ReductionOp, class InputIterator, class OutputIterator, class T>
  static auto arg_extremum_problem(InputIterator d_in, OutputIterator d_out, T if_empty) {
    using AccumT = KeyValuePair<long long, T>;
    return make_problem<AccumT>(d_in, detail::pair_output<OutputIterator>{d_out}, ReductionOp{}, detail::number_item{},
                                detail::only_if_empty<AccumT>{{1, if_empty}});
  }

  template <class BeginOffsetIterator, class EndOffsetIterator>
  static detail::offset_segments<BeginOffsetIterator, EndOffsetIterator> offsets(BeginOffsetIterator begins,
                                                                                 EndOffsetIterator ends) {
    static_assert(std::is_integral_v<detail::iterator_value_t<BeginOffsetIterator>> &&
                      std::is_integral_v<detail::iterator_value_t<EndOffsetIterator>>,
                  "offsets of segments must be integers: convert them, for example by a TransformInputIterator");
    return {begins, ends};
  }

  template <class SegmentSizeT>
  static detail::fixed_size_segments fixed_size(SegmentSizeT size) {
    return {detail::count64(size)};
  }
};
using DeviceSegmentedReduce = TunedDeviceSegmentedReduce<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
