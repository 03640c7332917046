// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/nvtx.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/types.hpp>
#include <strata/device/arguments.cuh>
#include <strata/device/overlap.hpp>
#include <strata/device/scan/by_key.cuh>
#include <strata/device/scan/dispatch.cuh>
#include <strata/device/scan/initial_value.cuh>
#include <strata/device/scan/keys_in_output.cuh>
#include <strata/device/scan/work_scan_by_key.cuh>

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
/// up to association: `op` must be associative, but need not be commutative. It is never applied to
/// anything but items, `init` and results of itself. Inclusive scans need no `init`.
///
/// - **Call.** Twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (pure
///   arithmetic; never 0), then with that much device memory, whose contents and alignment do not
///   matter. `d_in` and `d_out` may be any random-access iterators that can be dereferenced in
///   device code; `num_items` any integer type. `init` is a value, or a `FutureValue` that is read
///   from device memory when the scan runs.
/// - **In place.** `d_out` may be `d_in`, if items and results have one size: the forms with one
///   iterator do that. Arrays must not overlap in another way.
/// - **Execution.** One kernel launch at every size, on `stream`; no host synchronisation and no
///   allocation, so a call can be captured in a graph and replayed. Calls that may run at the same
///   time need temporary storage of their own. Blocks wait for each other's sums. Where each block has
///   one tile (inputs up to about 2 million items), they need not be resident together: a block waits
///   for those before it, and after some milliseconds reduces the tile of one that has not started
///   itself, for which it reads the input again. Where blocks have several tiles, the launch is
///   cooperative: as many blocks as the multiprocessors hold that `stream` may use (green contexts,
///   MPS, MIG), directly and captured. It starts when all of them have room, so it waits for kernels
///   that occupy one of these multiprocessors until they end. On sm_90 the kernel starts dependent
///   on the previous kernel of the stream ("programmatic") but touches memory only after that one.
/// - **Result.** Deterministic from run to run on one device, for floating-point sums too: sums of
///   tiles are combined in an order that depends on sizes and the number of multiprocessors only, of
///   which a green context has fewer.
/// - **Types.** Carried in the type that `op(init, x)` returns (decayed), or `op(x, x)` where there is
///   no `init`, as in CUB; sums are those of items, whatever the output: to add up in a wider type,
///   begin with a value of that type. It must be trivially relocatable and default constructible. Reads
///   and writes each item once.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: negative count, in
///   a size query too, null pointer with items, arrays that overlap, an initial value from the device
///   where results go, temporary storage too small. Otherwise what the launch returns; an older error
///   of the runtime is neither returned nor cleared. With no items nothing is launched.
/// - **Algorithm.** One pass, in the manner of Merrill and Garland, "Single-pass Parallel Prefix Scan
///   with Decoupled Look-back" (2016), but without the chain of prefixes: see
///   device/scan/wave_sums.cuh.
///
///     std::size_t bytes = 0;
///     strata::DeviceScan::ExclusiveSum(nullptr, bytes, d_counts, d_offsets, n);
///     cudaMalloc(&d_temp, bytes);
///     strata::DeviceScan::ExclusiveSum(d_temp, bytes, d_counts, d_offsets, n, stream);
struct DeviceScan {
  /// Adds up what comes before each item.
  template <class InputIterator, class OutputIterator, class NumItemsT>
  [[nodiscard]] static cudaError_t ExclusiveSum(void* d_temp_storage,
                                                std::size_t& temp_storage_bytes,
                                                InputIterator d_in, OutputIterator d_out,
                                                NumItemsT num_items, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceScan::ExclusiveSum");
    using T = detail::iterator_value_t<InputIterator>;
    return scan<false>(d_temp_storage, temp_storage_bytes, d_in, d_out, strata::Sum{}, T{},
                       num_items, stream);
  }
  template <class Iterator, class NumItemsT>
  [[nodiscard]] static cudaError_t ExclusiveSum(void* d_temp_storage,
                                                std::size_t& temp_storage_bytes, Iterator d_data,
                                                NumItemsT num_items, cudaStream_t stream = 0) {
    return ExclusiveSum(d_temp_storage, temp_storage_bytes, d_data, d_data, num_items, stream);
  }

  /// Adds up to each item.
  template <class InputIterator, class OutputIterator, class NumItemsT>
  [[nodiscard]] static cudaError_t InclusiveSum(void* d_temp_storage,
                                                std::size_t& temp_storage_bytes,
                                                InputIterator d_in, OutputIterator d_out,
                                                NumItemsT num_items, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceScan::InclusiveSum");
    using T = detail::iterator_value_t<InputIterator>;
    using AccumT = detail::accumulator_t<strata::Sum, T, T>;
    return dispatch<AccumT, true>(d_temp_storage, temp_storage_bytes, d_in, d_out, strata::Sum{},
                                  NullType{}, num_items, stream);
  }
  template <class Iterator, class NumItemsT>
  [[nodiscard]] static cudaError_t InclusiveSum(void* d_temp_storage,
                                                std::size_t& temp_storage_bytes, Iterator d_data,
                                                NumItemsT num_items, cudaStream_t stream = 0) {
    return InclusiveSum(d_temp_storage, temp_storage_bytes, d_data, d_data, num_items, stream);
  }

  /// Combines what comes before each item, beginning with `init_value`: a value or a FutureValue.
  template <class InputIterator, class OutputIterator, class ScanOp, class InitValueT,
            class NumItemsT>
  [[nodiscard]] static cudaError_t ExclusiveScan(void* d_temp_storage,
                                                 std::size_t& temp_storage_bytes,
                                                 InputIterator d_in, OutputIterator d_out,
                                                 ScanOp scan_op, InitValueT init_value,
                                                 NumItemsT num_items, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceScan::ExclusiveScan");
    return scan<false>(d_temp_storage, temp_storage_bytes, d_in, d_out, scan_op, init_value,
                       num_items, stream);
  }
  template <class Iterator, class ScanOp, class InitValueT, class NumItemsT>
  [[nodiscard]] static std::enable_if_t<std::is_integral_v<NumItemsT>, cudaError_t> ExclusiveScan(
      void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator d_data, ScanOp scan_op,
      InitValueT init_value, NumItemsT num_items, cudaStream_t stream = 0) {
    return ExclusiveScan(d_temp_storage, temp_storage_bytes, d_data, d_data, scan_op, init_value,
                         num_items, stream);
  }

  /// Combines up to each item.
  template <class InputIterator, class OutputIterator, class ScanOp, class NumItemsT>
  [[nodiscard]] static cudaError_t InclusiveScan(void* d_temp_storage,
                                                 std::size_t& temp_storage_bytes,
                                                 InputIterator d_in, OutputIterator d_out,
                                                 ScanOp scan_op, NumItemsT num_items,
                                                 cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceScan::InclusiveScan");
    using T = detail::iterator_value_t<InputIterator>;
    return dispatch<detail::accumulator_t<ScanOp, T, T>, true>(d_temp_storage, temp_storage_bytes,
                                                               d_in, d_out, scan_op, NullType{},
                                                               num_items, stream);
  }
  template <class Iterator, class ScanOp, class NumItemsT>
  [[nodiscard]] static std::enable_if_t<std::is_integral_v<NumItemsT>, cudaError_t> InclusiveScan(
      void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator d_data, ScanOp scan_op,
      NumItemsT num_items, cudaStream_t stream = 0) {
    return InclusiveScan(d_temp_storage, temp_storage_bytes, d_data, d_data, scan_op, num_items,
                         stream);
  }

  /// The same, beginning with `init_value`: a value or a FutureValue.
  template <class InputIterator, class OutputIterator, class ScanOp, class InitValueT,
            class NumItemsT>
  [[nodiscard]] static cudaError_t InclusiveScanInit(void* d_temp_storage,
                                                     std::size_t& temp_storage_bytes,
                                                     InputIterator d_in, OutputIterator d_out,
                                                     ScanOp scan_op, InitValueT init_value,
                                                     NumItemsT num_items, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceScan::InclusiveScanInit");
    return scan<true>(d_temp_storage, temp_storage_bytes, d_in, d_out, scan_op, init_value,
                      num_items, stream);
  }
  template <class Iterator, class ScanOp, class InitValueT, class NumItemsT>
  [[nodiscard]] static std::enable_if_t<std::is_integral_v<NumItemsT>, cudaError_t>
  InclusiveScanInit(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator d_data,
                    ScanOp scan_op, InitValueT init_value, NumItemsT num_items,
                    cudaStream_t stream = 0) {
    return InclusiveScanInit(d_temp_storage, temp_storage_bytes, d_data, d_data, scan_op,
                             init_value, num_items, stream);
  }

  // -------------------------------------------------------------- by key

  /// Adds up what comes before each item in its run of equal keys: neighbours for which
  /// `equality_op(left, right)` is true. The first of each run gets 0. `d_values_out` may be
  /// `d_values_in` or, if they are not the values, the keys: then two kernels go before the scan,
  /// which write over the keys where runs begin.
  template <class KeysInputIterator, class ValuesInputIterator, class ValuesOutputIterator,
            class NumItemsT, class EqualityOp = strata::Equality>
  [[nodiscard]] static cudaError_t ExclusiveSumByKey(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeysInputIterator d_keys_in,
      ValuesInputIterator d_values_in, ValuesOutputIterator d_values_out, NumItemsT num_items,
      EqualityOp equality_op = EqualityOp(), cudaStream_t stream = 0) {
    using T = detail::iterator_value_t<ValuesInputIterator>;
    return ExclusiveScanByKey(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in,
                              d_values_out, strata::Sum{}, T{}, num_items, equality_op, stream);
  }

  /// Combines what comes before each item in its run, beginning with `init_value`.
  template <class KeysInputIterator, class ValuesInputIterator, class ValuesOutputIterator,
            class ScanOp, class InitValueT, class NumItemsT, class EqualityOp = strata::Equality>
  [[nodiscard]] static cudaError_t ExclusiveScanByKey(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeysInputIterator d_keys_in,
      ValuesInputIterator d_values_in, ValuesOutputIterator d_values_out, ScanOp scan_op,
      InitValueT init_value, NumItemsT num_items, EqualityOp equality_op = EqualityOp(),
      cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceScan::ExclusiveScanByKey");
    using Init = typename detail::initial_value_of<InitValueT>::type;
    using T = detail::accumulator_t<ScanOp, Init, detail::iterator_value_t<ValuesInputIterator>>;
    // The first item begins a run: what is before it is never looked at.
    return by_key<T, false>(
        d_temp_storage, temp_storage_bytes,
        detail::run_begins<KeysInputIterator, EqualityOp>{d_keys_in, equality_op}, d_values_in,
        d_values_out, scan_op, init_value, detail::sum_of_run<T>{}, num_items, stream);
  }

  /// Adds up to each item in its run.
  template <class KeysInputIterator, class ValuesInputIterator, class ValuesOutputIterator,
            class NumItemsT, class EqualityOp = strata::Equality>
  [[nodiscard]] static cudaError_t InclusiveSumByKey(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeysInputIterator d_keys_in,
      ValuesInputIterator d_values_in, ValuesOutputIterator d_values_out, NumItemsT num_items,
      EqualityOp equality_op = EqualityOp(), cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceScan::InclusiveSumByKey");
    using Item = detail::iterator_value_t<ValuesInputIterator>;
    return inclusive_by_key<detail::accumulator_t<strata::Sum, Item, Item>>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, d_values_out, strata::Sum{},
        num_items, equality_op, stream);
  }

  /// Combines up to each item in its run.
  template <class KeysInputIterator, class ValuesInputIterator, class ValuesOutputIterator,
            class ScanOp, class NumItemsT, class EqualityOp = strata::Equality>
  [[nodiscard]] static cudaError_t InclusiveScanByKey(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeysInputIterator d_keys_in,
      ValuesInputIterator d_values_in, ValuesOutputIterator d_values_out, ScanOp scan_op,
      NumItemsT num_items, EqualityOp equality_op = EqualityOp(), cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceScan::InclusiveScanByKey");
    using Item = detail::iterator_value_t<ValuesInputIterator>;
    return inclusive_by_key<detail::accumulator_t<ScanOp, Item, Item>>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, d_values_out, scan_op,
        num_items, equality_op, stream);
  }

 private:
  template <class T, class KeysInputIterator, class ValuesInputIterator, class ValuesOutputIterator,
            class ScanOp, class NumItemsT, class EqualityOp>
  static cudaError_t inclusive_by_key(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                      KeysInputIterator d_keys_in, ValuesInputIterator d_values_in,
                                      ValuesOutputIterator d_values_out, ScanOp scan_op,
                                      NumItemsT num_items, EqualityOp equality_op,
                                      cudaStream_t stream) {
    return by_key<T, true>(
        d_temp_storage, temp_storage_bytes,
        detail::run_begins<KeysInputIterator, EqualityOp>{d_keys_in, equality_op}, d_values_in,
        d_values_out, scan_op, NullType{}, NullType{}, num_items, stream);
  }

  template <class T, bool IsInclusive, class Runs, class ValuesInputIterator,
            class ValuesOutputIterator, class ScanOp, class InitValueT, class InitialSum,
            class NumItemsT>
  static cudaError_t by_key(void* d_temp_storage, std::size_t& temp_storage_bytes, const Runs& runs,
                            ValuesInputIterator d_values_in, ValuesOutputIterator d_values_out,
                            ScanOp scan_op, InitValueT init_value, InitialSum initial_sum,
                            NumItemsT num_items, cudaStream_t stream) {
    using KeyIterator = decltype(runs.keys);
    using EqualityOp = decltype(runs.equality_op);
    detail::equality_requirements<EqualityOp, detail::iterator_value_t<KeyIterator>>::check();
    if (!detail::is_count(num_items)) return cudaErrorInvalidValue;
    const auto count = static_cast<std::size_t>(num_items);
    const bool is_over_keys = detail::are_same_array(runs.keys, d_values_out);
    const auto may_lie_in_output = [&](const auto& in) {
      return !detail::arrays_overlap(in, count, d_values_out, count) ||
             detail::are_same_array(in, d_values_out);
    };
    if (d_temp_storage != nullptr && count > 0) {
      if (detail::is_null(runs.keys) || detail::is_null(d_values_in) ||
          detail::is_null(d_values_out) || detail::is_null_initial_value(init_value) ||
          !detail::can_reach(runs.keys, count) || !detail::can_reach(d_values_in, count) ||
          !detail::can_reach(d_values_out, count) || !may_lie_in_output(runs.keys) ||
          !may_lie_in_output(d_values_in) ||
          detail::is_overwritten(init_value, d_values_out, count) ||
          (is_over_keys && detail::arrays_overlap(d_values_in, count, d_values_out, count))) {
        return cudaErrorInvalidValue;
      }
    }
    using Rings = detail::scan_by_key_rings<KeyIterator, ValuesInputIterator, ValuesOutputIterator,
                                            T, ScanOp, EqualityOp, IsInclusive, InitValueT>;
    const Rings rings{
        {runs.keys, d_values_in, d_values_out, scan_op, runs.equality_op, init_value}};
    if constexpr (!detail::may_write_over_keys<KeyIterator, ValuesOutputIterator>) {
      return scan_runs<T, IsInclusive>(d_temp_storage, temp_storage_bytes, runs, d_values_in,
                                       d_values_out, scan_op, init_value, initial_sum, num_items,
                                       rings, stream);
    } else {
      // Whether results go over the keys is not known in a size query.
      std::size_t scan_bytes = 0;
      cudaError_t status =
          scan_runs<T, IsInclusive>(nullptr, scan_bytes, runs, d_values_in, d_values_out, scan_op,
                                    init_value, initial_sum, num_items, rings, stream);
      if (status != cudaSuccess) return status;
      temporary_storage::layout<2> storage;
      storage.template reserve<unsigned char>(0, detail::most_key_parts);
      storage.template reserve<unsigned char>(1, scan_bytes);
      if (d_temp_storage == nullptr) return detail::answer_size_query(storage, temp_storage_bytes);
      if (!storage.map(d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
      void* const of_scan = storage.template get<unsigned char>(1);
      if (!is_over_keys || count == 0) {
        return scan_runs<T, IsInclusive>(of_scan, scan_bytes, runs, d_values_in, d_values_out,
                                         scan_op, init_value, initial_sum, num_items, rings,
                                         stream);
      }
      const detail::begins_over_keys begins{reinterpret_cast<unsigned char*>(d_values_out),
                                            sizeof(*d_values_out)};
      status = detail::write_begins_over_keys(runs, count, storage.template get<unsigned char>(0),
                                              begins, stream);
      if (status != cudaSuccess) return status;
      return scan_runs<T, IsInclusive>(of_scan, scan_bytes, begins, d_values_in, d_values_out,
                                       scan_op, init_value, initial_sum, num_items,
                                       detail::no_rings{}, stream);
    }
  }

  template <class T, bool IsInclusive, class Begins, class ValuesInputIterator,
            class ValuesOutputIterator, class ScanOp, class InitValueT, class InitialSum,
            class NumItemsT, class Rings>
  static cudaError_t scan_runs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                               const Begins& begins, ValuesInputIterator d_values_in,
                               ValuesOutputIterator d_values_out, ScanOp scan_op,
                               InitValueT init_value, InitialSum initial_sum, NumItemsT num_items,
                               const Rings& rings, cudaStream_t stream) {
    using SumT = detail::sum_of_run<T>;
    using Combine = detail::combine_runs<T, ScanOp>;
    using Input = detail::run_input<T, Begins, ValuesInputIterator, ScanOp, InitValueT>;
    const auto dispatch_to = [&](const auto& output) {
      using Output = std::decay_t<decltype(output)>;
      return detail::DispatchScan<SumT, Input, Output, Combine, IsInclusive, InitialSum,
                                  detail::columns_policy_hub<SumT, SumT>,
                                  Rings>::Dispatch(d_temp_storage, temp_storage_bytes,
                                                   Input(begins, d_values_in, scan_op, init_value),
                                                   output, num_items, Combine{scan_op}, initial_sum,
                                                   rings, stream);
    };
    if constexpr (IsInclusive) {
      return dispatch_to(detail::run_inclusive_output<T, ValuesOutputIterator>(d_values_out));
    } else {
      return dispatch_to(detail::run_exclusive_output<T, Begins, ValuesOutputIterator, InitValueT>(
          begins, d_values_out, init_value));
    }
  }

  template <bool IsInclusive, class InputIterator, class OutputIterator, class ScanOp,
            class InitValueT, class NumItemsT>
  static cudaError_t scan(void* d_temp_storage, std::size_t& temp_storage_bytes,
                          InputIterator d_in, OutputIterator d_out, ScanOp scan_op,
                          InitValueT init_value, NumItemsT num_items, cudaStream_t stream) {
    using Init = typename detail::initial_value_of<InitValueT>::type;
    using AccumT = detail::accumulator_t<ScanOp, Init, detail::iterator_value_t<InputIterator>>;
    return dispatch<AccumT, IsInclusive>(d_temp_storage, temp_storage_bytes, d_in, d_out, scan_op,
                                         init_value, num_items, stream);
  }

  template <class AccumT, bool IsInclusive, class InputIterator, class OutputIterator, class ScanOp,
            class InitT, class NumItemsT>
  static cudaError_t dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              InputIterator d_in, OutputIterator d_out, ScanOp scan_op, InitT init,
                              NumItemsT num_items, cudaStream_t stream) {
    return detail::DispatchScan<AccumT, InputIterator, OutputIterator, ScanOp, IsInclusive,
                                InitT>::Dispatch(d_temp_storage, temp_storage_bytes, d_in, d_out,
                                                 num_items, scan_op, init, stream);
  }
};

STRATA_ARCH_NAMESPACE_END
