// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/reduce/dispatch.cuh>
#include <strata/device/reduce/output.cuh>
#include <strata/device/reduce/reproducible.cuh>
#include <strata/device/scan/problem_reduce_by_key.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_NAMESPACE_BEGIN

/// Reduces a sequence in device memory to one value.
///
/// Every function computes, for items x[0] ... x[n-1] in the order of the input,
///
///     result = op(...op(op(init, x[0]), x[1])..., x[n-1])
///
/// up to association: `op` must be associative, but need not be commutative. It is applied only to items, transformed
/// items, `init` and its own results.
///
/// - **Call.** Call it twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (pure arithmetic; never 0;
///   the same for every count, except in `ReduceByKey` and reproducible reductions), then with that much device memory,
///   whose contents and alignment do not matter. Or call it once, without these two arguments: see `execution`. `d_out`
///   and `d_in` may be any random-access iterators that can be dereferenced in device code; `num_items` any integer
///   type, or a FutureCount.
/// - **Execution.** One kernel launch at every size, on `stream`; no host synchronisation and no allocation, so a call
///   can be captured in a graph and replayed. Calls that may run at the same time need temporary storage of their own.
///   From sm_90 on, the kernel starts early by programmatic dependent launch, but touches memory only after the
///   previous kernel of the stream has ended.
/// - **Result.** One thread writes the result to `*d_out`. It is the same from run to run on one device, for
///   floating-point sums, too: how the input is cut depends on its size, its alignment and the number of
///   multiprocessors, and partial results are combined in a fixed order. A floating-point sum may differ on another
///   device; the result of `ReproducibleSum` does not. `d_out` may lie inside the input. With no items, the initial
///   value is the result.
/// - **NaN.** `Min`, `Max`, `ArgMin` and `ArgMax` of floating-point items ignore NaNs, as fmin does. If all items are
///   NaN, the result is a NaN; `ArgMin` and `ArgMax` find the first item. -0.0 is below +0.0 for `Min` and `Max`; for
///   `ArgMin` and `ArgMax` they are equal, so the first one is found. Items of other types are compared by their
///   operators alone.
/// - **Types.** The accumulator has the type that `op(init, x)` returns (decayed). This type must be trivially
///   relocatable and default constructible. It must fit shared memory: a type of more than about 2,900 bytes does not
///   compile. Each item is read once. If the input is a pointer to a type of 1, 2, 4, 8 or 16 bytes, and its address is
///   a multiple of this size, longer inputs are read 16 bytes at a time. Operators that are known to be commutative
///   (`operator_traits`) combine the threads' results once instead of tile by tile.
/// - **Tuning.** `TunedDeviceReduce<Hub>` uses your hub instead of reduce_policy_hub, and for ReduceByKey instead of
///   columns_policy_hub: see default_policy_hub.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: negative count, an iterator or index
///   type that cannot represent all indices (both in size queries, too), null pointer (`d_in` if there are items,
///   `d_out`), two outputs that overlap, temporary storage too small. Otherwise a call returns what the launch returns;
///   an older error of the runtime is neither returned nor cleared.
/// - **Algorithm.** Each block reduces its share of the input and publishes the result; the last block to publish
///   reduces the results of all blocks (after the "threadFenceReduction" sample of CUDA, with tagged words in place of
///   a counter, see device/engine/last_block.cuh).
///
/// @code
/// __managed__ int numbers[5] = {3, 1, 4, 1, 5};
/// __managed__ long long sum;
///
/// int main() {
///   void* temp = nullptr;
///   std::size_t bytes = 0;  // The first call writes how much temporary storage the second one needs.
///   cudaError_t status = strata::DeviceReduce::Sum(nullptr, bytes, numbers, &sum, 5);
///   if (status == cudaSuccess) status = cudaMalloc(&temp, bytes);
///   if (status == cudaSuccess) status = strata::DeviceReduce::Sum(temp, bytes, numbers, &sum, 5);
///   if (status == cudaSuccess) status = cudaDeviceSynchronize();
///   if (status != cudaSuccess) return 1;
///   std::printf("%lld\n", sum);
///   cudaFree(temp);
/// }
/// // prints: 14
/// @endcode
template <class PolicyHub>
struct TunedDeviceReduce {
  /// Reduces with a binary operator and an initial value.
  template <class InputIterator, class OutputIterator, class ReductionOp, class T, class NumItemsT>
  static cudaError_t Reduce(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                            OutputIterator d_out, NumItemsT num_items, ReductionOp reduction_op, T init,
                            cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceReduce::Reduce");
    using AccumT = detail::accumulator_t<ReductionOp, T, detail::iterator_value_t<InputIterator>>;
    return detail::dispatch_reduce<AccumT, PolicyHub>(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items,
                                                      reduction_op, detail::keep_item{}, init, stream);
  }

  /// Adds up all items. The accumulator has the type of (output type) + (input type): sums of integers smaller than
  /// `int` are carried in `int`, and an `std::int64_t` output makes a 64-bit sum of 32-bit items.
  template <class InputIterator, class OutputIterator, class NumItemsT>
  static cudaError_t Sum(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                         OutputIterator d_out, NumItemsT num_items, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceReduce::Sum");
    using T = detail::initial_value_t<OutputIterator, detail::iterator_value_t<InputIterator>>;
    using AccumT = detail::accumulator_t<strata::Sum, T, detail::iterator_value_t<InputIterator>>;
    return detail::dispatch_reduce<AccumT, PolicyHub>(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items,
                                                      strata::Sum{}, detail::keep_item{}, T{}, stream);
  }

  /// Finds the smallest item. With no items, the largest value of the input type.
  template <class InputIterator, class OutputIterator, class NumItemsT>
  static cudaError_t Min(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                         OutputIterator d_out, NumItemsT num_items, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceReduce::Min");
    using T = detail::iterator_value_t<InputIterator>;
    return extremum(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items, strata::Min{},
                    detail::value_limits<T>::max(), stream);
  }

  /// Finds the largest item. With no items, the lowest value of the input type.
  template <class InputIterator, class OutputIterator, class NumItemsT>
  static cudaError_t Max(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                         OutputIterator d_out, NumItemsT num_items, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceReduce::Max");
    using T = detail::iterator_value_t<InputIterator>;
    return extremum(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items, strata::Max{},
                    detail::value_limits<T>::lowest(), stream);
  }

  /// Finds the smallest item and its 64-bit index: the first one, if several items are equal. With no items: the
  /// largest value of the input type, index 1.
  template <class InputIterator, class ExtremumOutIterator, class IndexOutIterator, class NumItemsT>
  static detail::if_no_stream<NumItemsT> ArgMin(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                InputIterator d_in, ExtremumOutIterator d_min_out,
                                                IndexOutIterator d_index_out, NumItemsT num_items,
                                                cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceReduce::ArgMin");
    using T = detail::iterator_value_t<InputIterator>;
    return arg_extremum(d_temp_storage, temp_storage_bytes, d_in,
                        detail::arg_output<ExtremumOutIterator, IndexOutIterator>{d_min_out, d_index_out}, num_items,
                        strata::ArgMin{}, detail::value_limits<T>::max(), stream);
  }

  /// Finds the item that comes first by a comparator, and its 64-bit index: the first one, if several items are equal.
  /// `compare_op(a, b)` says whether item a must come before item b: a strict weak ordering. With no items: a
  /// default-constructed item, index 1.
  template <class InputIterator, class ExtremumOutIterator, class IndexOutIterator, class NumItemsT, class CompareOp>
  static detail::if_compares<CompareOp, InputIterator> ArgMin(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                              InputIterator d_in, ExtremumOutIterator d_min_out,
                                                              IndexOutIterator d_index_out, NumItemsT num_items,
                                                              CompareOp compare_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceReduce::ArgMin");
    using T = detail::iterator_value_t<InputIterator>;
    return arg_extremum(d_temp_storage, temp_storage_bytes, d_in,
                        detail::arg_output<ExtremumOutIterator, IndexOutIterator>{d_min_out, d_index_out}, num_items,
                        detail::arg_first<CompareOp>{compare_op}, T{}, stream);
  }

  /// Finds the smallest item and its index, and writes both to one output. Its type has members `key` (the index) and
  /// `value`, or `first` and `second`.
  template <class InputIterator, class OutputIterator, class NumItemsT>
  static detail::if_count<NumItemsT> ArgMin(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                                            OutputIterator d_out, NumItemsT num_items, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceReduce::ArgMin");
    using T = detail::iterator_value_t<InputIterator>;
    return arg_extremum(d_temp_storage, temp_storage_bytes, d_in, detail::pair_output<OutputIterator>{d_out}, num_items,
                        strata::ArgMin{}, detail::value_limits<T>::max(), stream);
  }

  /// Finds the largest item and its 64-bit index: the first one, if several items are equal. With no items: the lowest
  /// value of the input type, index 1.
  template <class InputIterator, class ExtremumOutIterator, class IndexOutIterator, class NumItemsT>
  static detail::if_no_stream<NumItemsT> ArgMax(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                InputIterator d_in, ExtremumOutIterator d_max_out,
                                                IndexOutIterator d_index_out, NumItemsT num_items,
                                                cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceReduce::ArgMax");
    using T = detail::iterator_value_t<InputIterator>;
    return arg_extremum(d_temp_storage, temp_storage_bytes, d_in,
                        detail::arg_output<ExtremumOutIterator, IndexOutIterator>{d_max_out, d_index_out}, num_items,
                        strata::ArgMax{}, detail::value_limits<T>::lowest(), stream);
  }

  /// Finds the item that comes last by a comparator, and its 64-bit index: the first one, if several items are equal.
  /// With no items: a default-constructed item, index 1.
  template <class InputIterator, class ExtremumOutIterator, class IndexOutIterator, class NumItemsT, class CompareOp>
  static detail::if_compares<CompareOp, InputIterator> ArgMax(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                              InputIterator d_in, ExtremumOutIterator d_max_out,
                                                              IndexOutIterator d_index_out, NumItemsT num_items,
                                                              CompareOp compare_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceReduce::ArgMax");
    using T = detail::iterator_value_t<InputIterator>;
    using Reversed = detail::reversed<CompareOp>;
    return arg_extremum(d_temp_storage, temp_storage_bytes, d_in,
                        detail::arg_output<ExtremumOutIterator, IndexOutIterator>{d_max_out, d_index_out}, num_items,
                        detail::arg_first<Reversed>{{compare_op}}, T{}, stream);
  }

  /// Finds the largest item and its index, and writes both to one output. Its type has members `key` (the index) and
  /// `value`, or `first` and `second`.
  template <class InputIterator, class OutputIterator, class NumItemsT>
  static detail::if_count<NumItemsT> ArgMax(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                                            OutputIterator d_out, NumItemsT num_items, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceReduce::ArgMax");
    using T = detail::iterator_value_t<InputIterator>;
    return arg_extremum(d_temp_storage, temp_storage_bytes, d_in, detail::pair_output<OutputIterator>{d_out}, num_items,
                        strata::ArgMax{}, detail::value_limits<T>::lowest(), stream);
  }

  /// Reduces `transform_op(x)` for each item `x`.
  template <class InputIterator, class OutputIterator, class ReductionOp, class TransformOp, class T, class NumItemsT>
  static cudaError_t TransformReduce(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                                     OutputIterator d_out, NumItemsT num_items, ReductionOp reduction_op,
                                     TransformOp transform_op, T init, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceReduce::TransformReduce");
    using Transformed = typename detail::transformed<TransformOp, detail::iterator_value_t<InputIterator>>::type;
    using AccumT = detail::accumulator_t<ReductionOp, T, Transformed>;
    using Transform = detail::transform_item<TransformOp>;
    return detail::dispatch_reduce<AccumT, PolicyHub>(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items,
                                                      reduction_op, Transform{transform_op}, init, stream);
  }

  // -------------------------------------------------------------- the same bits on every GPU

  /// Adds up all items, with the same bits on every GPU: the association depends only on the types and the number of
  /// items. The type of the sum is that of `Sum`, and must be a number. Temporary storage grows with the input, up to
  /// 16,384 sums. If an environment requires `determinism::gpu_to_gpu`, `Sum` does the same, and `Reduce` and
  /// `TransformReduce` do the same as the next two functions.
  template <class InputIterator, class OutputIterator, class NumItemsT>
  static cudaError_t ReproducibleSum(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                                     OutputIterator d_out, NumItemsT num_items, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceReduce::ReproducibleSum");
    using T = detail::initial_value_t<OutputIterator, detail::iterator_value_t<InputIterator>>;
    using AccumT = detail::accumulator_t<strata::Sum, T, detail::iterator_value_t<InputIterator>>;
    return detail::dispatch_reproducible<AccumT>(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items,
                                                 strata::Sum{}, detail::keep_item{}, T{}, stream);
  }

  /// Reduces with an initial value and an operator that is known to be commutative, with the same bits on every GPU.
  template <class InputIterator, class OutputIterator, class ReductionOp, class T, class NumItemsT>
  static cudaError_t ReproducibleReduce(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                                        OutputIterator d_out, NumItemsT num_items, ReductionOp reduction_op, T init,
                                        cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceReduce::ReproducibleReduce");
    using AccumT = detail::accumulator_t<ReductionOp, T, detail::iterator_value_t<InputIterator>>;
    return detail::dispatch_reproducible<AccumT>(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items,
                                                 reduction_op, detail::keep_item{}, init, stream);
  }

  /// Reduces `transform_op(x)` for each item `x`, with the same bits on every GPU.
  template <class InputIterator, class OutputIterator, class ReductionOp, class TransformOp, class T, class NumItemsT>
  static cudaError_t ReproducibleTransformReduce(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                 InputIterator d_in, OutputIterator d_out, NumItemsT num_items,
                                                 ReductionOp reduction_op, TransformOp transform_op, T init,
                                                 cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceReduce::ReproducibleTransformReduce");
    using Transformed = typename detail::transformed<TransformOp, detail::iterator_value_t<InputIterator>>::type;
    using AccumT = detail::accumulator_t<ReductionOp, T, Transformed>;
    return detail::dispatch_reproducible<AccumT>(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items,
                                                 reduction_op, detail::transform_item<TransformOp>{transform_op}, init,
                                                 stream);
  }

  // -------------------------------------------------------------- by key

  /// Reduces the values of each run of equal neighbouring keys. Writes the first key of each run to `d_unique_out`, the
  /// reduction of its values, in their order, to `d_aggregates_out`, and the number of runs to `*d_num_runs_out`.
  /// Outputs need room for as many runs as there are, and must not overlap inputs. An output that begins within an
  /// input is refused; one that reaches into an input stops debug builds. There is no initial value; the sum has the
  /// type that `op(x, x)` returns. Keys must be trivially relocatable and have an operator ==. The reduction takes one
  /// pass. On compute capability 9.0 to 11.x, keys and values of 1, 2, 4, 8 or 16 bytes are read once if the arrays are
  /// long. Otherwise keys are read several times. Temporary storage grows with the input up to a few hundred KB.
  /// DeviceScan describes the algorithm, and how blocks wait for each other. The comment of this class describes the
  /// rest.
  template <class KeyInputIterator, class UniqueOutputIterator, class ValueInputIterator, class AggregateOutputIterator,
            class NumRunsIterator, class ReductionOp, class NumItemsT>
  static cudaError_t ReduceByKey(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIterator d_keys_in,
                                 UniqueOutputIterator d_unique_out, ValueInputIterator d_values_in,
                                 AggregateOutputIterator d_aggregates_out, NumRunsIterator d_num_runs_out,
                                 ReductionOp reduction_op, NumItemsT num_items, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceReduce::ReduceByKey");
    using Value = detail::iterator_value_t<ValueInputIterator>;
    return detail::dispatch_reduce_by_key<detail::accumulator_t<ReductionOp, Value, Value>, PolicyHub>(
        "strata::DeviceReduce::ReduceByKey", d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, d_unique_out,
        d_aggregates_out, d_num_runs_out, reduction_op, strata::Equality{}, num_items, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(ReproducibleReduce)
  STRATA_CALL_WITHOUT_STORAGE_OR(Reduce, associated, ReproducibleReduce)
  STRATA_CALL_WITHOUT_STORAGE(ReproducibleSum)
  STRATA_CALL_WITHOUT_STORAGE_OR(Sum, associated, ReproducibleSum)
  STRATA_CALL_WITHOUT_STORAGE(Min)
  STRATA_CALL_WITHOUT_STORAGE(Max)
  STRATA_CALL_WITHOUT_STORAGE(ArgMin)
  STRATA_CALL_WITHOUT_STORAGE(ArgMax)
  STRATA_CALL_WITHOUT_STORAGE(ReproducibleTransformReduce)
  STRATA_CALL_WITHOUT_STORAGE_OR(TransformReduce, associated, ReproducibleTransformReduce)
  STRATA_CALL_WITHOUT_STORAGE(ReduceByKey, associated)

 private:
  template <class InputIterator, class OutputIterator, class NumItemsT, class ReductionOp, class T>
  static cudaError_t extremum(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                              OutputIterator d_out, NumItemsT num_items, ReductionOp reduction_op, T if_empty,
                              cudaStream_t stream) {
    using Init = detail::only_if_empty<T>;
    return detail::dispatch_reduce<T, PolicyHub>(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items,
                                                 reduction_op, detail::keep_item{}, Init{if_empty}, stream);
  }

  template <class InputIterator, class OutputIterator, class NumItemsT, class ReductionOp, class T>
  static cudaError_t arg_extremum(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                                  OutputIterator d_out, NumItemsT num_items, ReductionOp reduction_op, T if_empty,
                                  cudaStream_t stream) {
    using AccumT = KeyValuePair<long long, T>;
    using Init = detail::only_if_empty<AccumT>;
    return detail::dispatch_reduce<AccumT, PolicyHub>(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items,
                                                      reduction_op, detail::number_item{}, Init{{1, if_empty}}, stream);
  }
};
using DeviceReduce = TunedDeviceReduce<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
