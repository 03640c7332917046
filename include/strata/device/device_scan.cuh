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
#include <strata/device/engine/dispatch_if.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/scan/dispatch.cuh>
#include <strata/device/scan/dispatch_by_key.cuh>
#include <strata/device/scan/initial_value.cuh>
#include <strata/device/scan/problem_scan.cuh>
#include <strata/device/scan_tile_state.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_NAMESPACE_BEGIN

/// Scans a sequence in device memory: each output is the sum of all items up to its own.
///
/// For items x[0] ... x[n-1] in the order of the input,
///
///     inclusive: out[i] = op(... op(op(init, x[0]), x[1]) ..., x[i])
///     exclusive: out[i] = op(... op(op(init, x[0]), x[1]) ..., x[i - 1]),  out[0] = init
///
/// up to association: `op` must be associative, but need not be commutative. It is applied only to items, `init` and
/// its own results. Inclusive scans need no `init`.
///
/// - **Call.** Call it twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (pure arithmetic; never
///   0), then with that much device memory, whose contents and alignment do not matter. Or call it once, without these
///   two arguments: see `execution`. `d_in` and `d_out` may be any random-access iterators that can be dereferenced in
///   device code; `num_items` may have any integer type, or be a FutureCount. `init` is a value, or a FutureValue that
///   is read from device memory when the scan runs.
/// - **In place.** `d_out` may be `d_in`, if items and results have the same size. The overloads with one iterator scan
///   in place. Scans by key: see ExclusiveSumByKey. Arrays must not overlap in any other way.
/// - **Execution.** One kernel launch at every size (three if a scan by key overwrites its keys), on `stream`; no host
///   synchronisation and no allocation, so a call can be captured in a graph and replayed. Calls that may run at the
///   same time need temporary storage of their own. From sm_90 on, kernels start early by programmatic dependent
///   launch, but touch memory only after the previous kernel of the stream has ended.
/// - **Waiting.** Blocks wait for other blocks' sums. Short inputs have one tile for each block. On an H200, the input
///   of a scan is short up to about 2 million items of 4 bytes. Scans by key, selections, partitions and runs are
///   scans, too. On an H200, their inputs are short up to a bound of 68,000 to 270,000 items. The bound depends on the
///   size of values and counts. In selections in place it is 512 items. The blocks of a short input need not be
///   resident together: a block waits only for blocks before it. If a block has not started after some milliseconds,
///   the waiting block reads the input of that block, and reduces its tile. For longer inputs the launch is
///   cooperative, whether it is made directly or captured in a graph. It has at most as many blocks as fit on the
///   multiprocessors that `stream` may use (green contexts, MPS, MIG). It starts when all of them fit, so it waits
///   until kernels that occupy one of these multiprocessors end.
/// - **Result.** Results are deterministic from run to run on one device, for floating-point sums too. The order in
///   which sums of tiles are combined depends only on sizes and on the number of multiprocessors. A green context has
///   fewer multiprocessors.
/// - **Types.** Sums are carried in the type that `op(init, x)` returns (decayed), or `op(x, x)` without `init`, as in
///   CUB, whatever the output's type. To add up in a wider type, begin with a value of that type. The type of the sums
///   must be trivially relocatable and default constructible. Each item is read once, and each result is written once.
/// - **Tuning.** `TunedDeviceScan<Hub>` uses your hub instead of scan_policy_hub, and for scans by key
///   instead of columns_policy_hub: see default_policy_hub.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: a negative count, in a size query
///   too; a null pointer if there are items; arrays that overlap; an initial value in device memory where results go;
///   temporary storage too small. Otherwise a call returns what the launch returns. An older error of the runtime is
///   neither returned nor cleared. With no items nothing is launched.
/// - **Algorithm.** One pass, in the manner of Merrill and Garland, "Single-pass Parallel Prefix Scan with
///   Decoupled Look-back" (2016), but without the chain of prefixes: see device/engine/tile_aggregates.cuh.
///
/// @code
/// // Where each of five lists begins if they lie side by side, from their lengths.
/// __managed__ int lengths[5] = {3, 1, 4, 1, 5};
/// __managed__ int begins[5];
///
/// int main() {
///   void* temp = nullptr;
///   std::size_t bytes = 0;  // The first call writes how much temporary storage the second one needs.
///   cudaError_t status = strata::DeviceScan::ExclusiveSum(nullptr, bytes, lengths, begins, 5);
///   if (status == cudaSuccess) status = cudaMalloc(&temp, bytes);
///   if (status == cudaSuccess) status = strata::DeviceScan::ExclusiveSum(temp, bytes, lengths, begins, 5);
///   if (status == cudaSuccess) status = cudaDeviceSynchronize();
///   if (status != cudaSuccess) return 1;
///   for (const int begin : begins) std::printf("%d ", begin);
///   cudaFree(temp);
/// }
/// // prints: 0 3 4 8 9
/// @endcode
template <class PolicyHub>
struct TunedDeviceScan {
  /// Exclusive sum: each output is the sum of all items before its own.
  template <class InputIterator, class OutputIterator, class NumItemsT>
  static detail::if_no_stream<NumItemsT> ExclusiveSum(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                      InputIterator d_in, OutputIterator d_out, NumItemsT num_items,
                                                      cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceScan::ExclusiveSum");
    using T = detail::iterator_value_t<InputIterator>;
    return scan<false>(d_temp_storage, temp_storage_bytes, d_in, d_out, strata::Sum{}, T{}, num_items, stream);
  }
  /// Exclusive sum of an array in place.
  template <class Iterator, class NumItemsT>
  static detail::if_no_stream<NumItemsT> ExclusiveSum(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                      Iterator d_data, NumItemsT num_items, cudaStream_t stream = 0) {
    return ExclusiveSum(d_temp_storage, temp_storage_bytes, d_data, d_data, num_items, stream);
  }

  /// Inclusive sum: each output is the sum of all items up to its own.
  template <class InputIterator, class OutputIterator, class NumItemsT>
  static detail::if_no_stream<NumItemsT> InclusiveSum(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                      InputIterator d_in, OutputIterator d_out, NumItemsT num_items,
                                                      cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceScan::InclusiveSum");
    return scan<true>(d_temp_storage, temp_storage_bytes, d_in, d_out, strata::Sum{}, NullType{}, num_items, stream);
  }
  /// Inclusive sum of an array in place.
  template <class Iterator, class NumItemsT>
  static detail::if_no_stream<NumItemsT> InclusiveSum(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                      Iterator d_data, NumItemsT num_items, cudaStream_t stream = 0) {
    return InclusiveSum(d_temp_storage, temp_storage_bytes, d_data, d_data, num_items, stream);
  }

  /// Exclusive scan, beginning with `init_value`: a value or a FutureValue.
  template <class InputIterator, class OutputIterator, class ScanOp, class InitValueT, class NumItemsT>
  static detail::if_no_stream<NumItemsT> ExclusiveScan(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                       InputIterator d_in, OutputIterator d_out, ScanOp scan_op,
                                                       InitValueT init_value, NumItemsT num_items,
                                                       cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceScan::ExclusiveScan");
    return scan<false>(d_temp_storage, temp_storage_bytes, d_in, d_out, scan_op, init_value, num_items, stream);
  }
  /// Exclusive scan of an array in place, beginning with `init_value`.
  template <class Iterator, class ScanOp, class InitValueT, class NumItemsT>
  static detail::if_count<NumItemsT> ExclusiveScan(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                   Iterator d_data, ScanOp scan_op, InitValueT init_value,
                                                   NumItemsT num_items, cudaStream_t stream = 0) {
    return ExclusiveScan(d_temp_storage, temp_storage_bytes, d_data, d_data, scan_op, init_value, num_items, stream);
  }

  /// Inclusive scan: each output combines all items up to its own.
  template <class InputIterator, class OutputIterator, class ScanOp, class NumItemsT>
  static detail::if_no_stream<NumItemsT> InclusiveScan(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                       InputIterator d_in, OutputIterator d_out, ScanOp scan_op,
                                                       NumItemsT num_items, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceScan::InclusiveScan");
    return scan<true>(d_temp_storage, temp_storage_bytes, d_in, d_out, scan_op, NullType{}, num_items, stream);
  }
  /// Inclusive scan of an array in place.
  template <class Iterator, class ScanOp, class NumItemsT>
  static detail::if_count<NumItemsT> InclusiveScan(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                   Iterator d_data, ScanOp scan_op, NumItemsT num_items,
                                                   cudaStream_t stream = 0) {
    return InclusiveScan(d_temp_storage, temp_storage_bytes, d_data, d_data, scan_op, num_items, stream);
  }

  /// Inclusive scan, beginning with `init_value`: a value or a FutureValue.
  template <class InputIterator, class OutputIterator, class ScanOp, class InitValueT, class NumItemsT>
  static cudaError_t InclusiveScanInit(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                                       OutputIterator d_out, ScanOp scan_op, InitValueT init_value, NumItemsT num_items,
                                       cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceScan::InclusiveScanInit");
    return scan<true>(d_temp_storage, temp_storage_bytes, d_in, d_out, scan_op, init_value, num_items, stream);
  }
  /// Inclusive scan of an array in place, beginning with `init_value`.
  template <class Iterator, class ScanOp, class InitValueT, class NumItemsT>
  static detail::if_count<NumItemsT> InclusiveScanInit(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                       Iterator d_data, ScanOp scan_op, InitValueT init_value,
                                                       NumItemsT num_items, cudaStream_t stream = 0) {
    return InclusiveScanInit(d_temp_storage, temp_storage_bytes, d_data, d_data, scan_op, init_value, num_items,
                             stream);
  }

  // -------------------------------------------------------------- by key

  /// Exclusive sum of each run of equal keys: neighbours for which `equality_op(left, right)` is true. The first item
  /// of each run gets 0. `d_values_out` may be `d_values_in`. All scans by key may also write over `d_keys_in`. Then
  /// keys must have the size of results, keys and values must be different arrays, and `num_items` must not be a
  /// FutureCount. Then two more kernels run before the scan. They replace each key by a flag that says whether a run
  /// begins there.
  template <class KeysInputIterator, class ValuesInputIterator, class ValuesOutputIterator,
            class EqualityOp = strata::Equality, class NumItemsT>
  static cudaError_t ExclusiveSumByKey(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                       KeysInputIterator d_keys_in, ValuesInputIterator d_values_in,
                                       ValuesOutputIterator d_values_out, NumItemsT num_items,
                                       EqualityOp equality_op = EqualityOp(), cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceScan::ExclusiveSumByKey");
    using T = detail::iterator_value_t<ValuesInputIterator>;
    return scan_by_key<false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, d_values_out, strata::Sum{},
                              T{}, num_items, equality_op, stream);
  }

  /// Exclusive scan of each run of equal keys, beginning with `init_value`.
  template <class KeysInputIterator, class ValuesInputIterator, class ValuesOutputIterator, class ScanOp,
            class InitValueT, class EqualityOp = strata::Equality, class NumItemsT>
  static cudaError_t ExclusiveScanByKey(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        KeysInputIterator d_keys_in, ValuesInputIterator d_values_in,
                                        ValuesOutputIterator d_values_out, ScanOp scan_op, InitValueT init_value,
                                        NumItemsT num_items, EqualityOp equality_op = EqualityOp(),
                                        cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceScan::ExclusiveScanByKey");
    return scan_by_key<false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, d_values_out, scan_op,
                              init_value, num_items, equality_op, stream);
  }

  /// Inclusive sum of each run of equal keys.
  template <class KeysInputIterator, class ValuesInputIterator, class ValuesOutputIterator,
            class EqualityOp = strata::Equality, class NumItemsT>
  static cudaError_t InclusiveSumByKey(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                       KeysInputIterator d_keys_in, ValuesInputIterator d_values_in,
                                       ValuesOutputIterator d_values_out, NumItemsT num_items,
                                       EqualityOp equality_op = EqualityOp(), cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceScan::InclusiveSumByKey");
    return scan_by_key<true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, d_values_out, strata::Sum{},
                             NullType{}, num_items, equality_op, stream);
  }

  /// Inclusive scan of each run of equal keys.
  template <class KeysInputIterator, class ValuesInputIterator, class ValuesOutputIterator, class ScanOp,
            class EqualityOp = strata::Equality, class NumItemsT>
  static cudaError_t InclusiveScanByKey(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        KeysInputIterator d_keys_in, ValuesInputIterator d_values_in,
                                        ValuesOutputIterator d_values_out, ScanOp scan_op, NumItemsT num_items,
                                        EqualityOp equality_op = EqualityOp(), cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceScan::InclusiveScanByKey");
    return scan_by_key<true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, d_values_out, scan_op,
                             NullType{}, num_items, equality_op, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(ExclusiveSum, associated)
  STRATA_CALL_WITHOUT_STORAGE(InclusiveSum, associated)
  STRATA_CALL_WITHOUT_STORAGE(ExclusiveScan, associated)
  STRATA_CALL_WITHOUT_STORAGE(InclusiveScan, associated)
  STRATA_CALL_WITHOUT_STORAGE(InclusiveScanInit, associated)
  STRATA_CALL_WITHOUT_STORAGE(ExclusiveSumByKey, associated)
  STRATA_CALL_WITHOUT_STORAGE(ExclusiveScanByKey, associated)
  STRATA_CALL_WITHOUT_STORAGE(InclusiveSumByKey, associated)
  STRATA_CALL_WITHOUT_STORAGE(InclusiveScanByKey, associated)

 private:
  template <bool IsInclusive, class InputIterator, class OutputIterator, class ScanOp, class InitValueT,
            class NumItemsT>
  static cudaError_t scan(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                          OutputIterator d_out, ScanOp scan_op, InitValueT init_value, NumItemsT num_items,
                          cudaStream_t stream) {
    using Accum = detail::scan_accumulator_t<InputIterator, ScanOp, InitValueT>;
    using Problem = detail::scan_problem<InputIterator, OutputIterator, Accum, ScanOp, IsInclusive, InitValueT>;
    constexpr bool is_possible = detail::can_accumulate<ScanOp, Accum, InputIterator, OutputIterator>;
    return detail::dispatch_if<is_possible, detail::DispatchScan<Problem, PolicyHub>>::Dispatch(
        d_temp_storage, temp_storage_bytes, Problem{d_in, d_out, scan_op, init_value}, num_items, stream);
  }

  template <bool IsInclusive, class KeysInputIterator, class ValuesInputIterator, class ValuesOutputIterator,
            class ScanOp, class InitValueT, class NumItemsT, class EqualityOp>
  static cudaError_t scan_by_key(void* d_temp_storage, std::size_t& temp_storage_bytes, KeysInputIterator d_keys_in,
                                 ValuesInputIterator d_values_in, ValuesOutputIterator d_values_out, ScanOp scan_op,
                                 InitValueT init_value, NumItemsT num_items, EqualityOp equality_op,
                                 cudaStream_t stream) {
    using T = detail::scan_accumulator_t<ValuesInputIterator, ScanOp, InitValueT>;
    return detail::dispatch_scan_by_key<T, IsInclusive, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in,
                                                                   d_values_in, d_values_out, scan_op, init_value,
                                                                   num_items, equality_op, stream);
  }
};
using DeviceScan = TunedDeviceScan<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
