// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/nvtx.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/types.hpp>
#include <strata/device/arguments.cuh>
#include <strata/device/overlap.hpp>
#include <strata/device/reduce/output.cuh>
#include <strata/device/scan/compaction.cuh>
#include <strata/device/scan/dispatch.cuh>
#include <strata/device/select/selection.cuh>
#include <strata/device/select/work_select.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_NAMESPACE_BEGIN

/// Keeps some items of a sequence in device memory, in their order, without gaps.
///
/// `If` keeps the items for which `select_op(item)` is true, `Flagged` those whose flag converts to
/// true, `FlaggedIf` those for whose flag `select_op(flag)` is true, `Unique` the first of each run
/// of equal neighbours, and `UniqueByKey` the first pair of each run of equal keys. How many were
/// kept is written to `*d_num_selected_out`; what lies behind the last of them in the output is not
/// touched.
///
/// - **Call.** Twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (pure
///   arithmetic; never 0), then with that much device memory, whose contents and alignment do not
///   matter. Inputs and outputs may be any random-access iterators that can be dereferenced in
///   device code; `num_items` any integer type. Operators should depend on their arguments only:
///   for short inputs they are applied to an item more than once.
/// - **In place.** The forms with `d_data` write over their input, which may be its own flags. In all
///   others outputs must not overlap inputs. They are as long as what is selected: a smaller array
///   than the input will do.
/// - **Execution.** One kernel launch at every size, on `stream`; no host synchronisation and no
///   allocation, so a call can be captured in a graph and replayed. Calls that may run at the same
///   time need temporary storage of their own. For how blocks wait for each other see DeviceScan.
/// - **Result.** Stable, and the same from run to run.
/// - **Types.** Items must be trivially relocatable. Items of 1, 2, 4, 8 or 16 bytes are read once,
///   and those that are kept written once; others, and arrays that are too short for that, are read
///   twice. Counts have 64 bits where `num_items` has.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: negative count,
///   null pointer (`d_num_selected_out`, or another one with items), an output that begins within an
///   input, temporary storage too small; negative counts in a size query, too. An output that
///   reaches into an input is known when it is too late: debug builds (`STRATA_DEBUG`) stop
///   then, as they do if `*d_num_selected_out` cannot tell the number. Otherwise what the launch
///   returns; an older error of the runtime is neither returned nor cleared.
/// - **Algorithm.** A scan of the numbers of kept items (see DeviceScan), in one pass: tiles wait
///   in shared memory until it is known how many are kept before them.
///
///     std::size_t bytes = 0;
///     strata::DeviceSelect::If(nullptr, bytes, d_in, d_out, d_num_selected, n, is_even{});
///     cudaMalloc(&d_temp, bytes);
///     strata::DeviceSelect::If(d_temp, bytes, d_in, d_out, d_num_selected, n, is_even{}, stream);
struct DeviceSelect {
  // -------------------------------------------------------------- by the items

  template <class InputIterator, class OutputIterator, class NumSelectedIterator, class NumItemsT,
            class SelectOp>
  [[nodiscard]] static std::enable_if_t<std::is_integral_v<NumItemsT>, cudaError_t> If(
      void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
      OutputIterator d_out, NumSelectedIterator d_num_selected_out, NumItemsT num_items,
      SelectOp select_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceSelect::If");
    return select<detail::select_by::decider, false>(d_temp_storage, temp_storage_bytes, d_in,
                                                     NullType{}, d_out, NullType{},
                                                     d_num_selected_out, num_items, select_op,
                                                     stream);
  }
  template <class Iterator, class NumSelectedIterator, class NumItemsT, class SelectOp>
  [[nodiscard]] static std::enable_if_t<std::is_integral_v<NumItemsT>, cudaError_t> If(
      void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator d_data,
      NumSelectedIterator d_num_selected_out, NumItemsT num_items, SelectOp select_op,
      cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceSelect::If");
    return select<detail::select_by::decider, true>(d_temp_storage, temp_storage_bytes, d_data,
                                                    NullType{}, d_data, NullType{},
                                                    d_num_selected_out, num_items, select_op,
                                                    stream);
  }

  // -------------------------------------------------------------- by flags

  template <class InputIterator, class FlagIterator, class OutputIterator,
            class NumSelectedIterator, class NumItemsT>
  [[nodiscard]] static std::enable_if_t<
      std::is_integral_v<NumItemsT> && !std::is_integral_v<NumSelectedIterator>, cudaError_t>
  Flagged(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
          FlagIterator d_flags, OutputIterator d_out, NumSelectedIterator d_num_selected_out,
          NumItemsT num_items, cudaStream_t stream = 0) {
    return FlaggedIf(d_temp_storage, temp_storage_bytes, d_in, d_flags, d_out, d_num_selected_out,
                     num_items, detail::is_set{}, stream);
  }
  template <class Iterator, class FlagIterator, class NumSelectedIterator, class NumItemsT>
  [[nodiscard]] static std::enable_if_t<std::is_integral_v<NumItemsT>, cudaError_t> Flagged(
      void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator d_data, FlagIterator d_flags,
      NumSelectedIterator d_num_selected_out, NumItemsT num_items, cudaStream_t stream = 0) {
    return FlaggedIf(d_temp_storage, temp_storage_bytes, d_data, d_flags, d_num_selected_out,
                     num_items, detail::is_set{}, stream);
  }

  template <class InputIterator, class FlagIterator, class OutputIterator,
            class NumSelectedIterator, class NumItemsT, class SelectOp>
  [[nodiscard]] static std::enable_if_t<std::is_integral_v<NumItemsT>, cudaError_t> FlaggedIf(
      void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
      FlagIterator d_flags, OutputIterator d_out, NumSelectedIterator d_num_selected_out,
      NumItemsT num_items, SelectOp select_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceSelect::FlaggedIf");
    return select<detail::select_by::decider, false>(d_temp_storage, temp_storage_bytes, d_flags,
                                                     d_in, NullType{}, d_out, d_num_selected_out,
                                                     num_items, select_op, stream);
  }
  template <class Iterator, class FlagIterator, class NumSelectedIterator, class NumItemsT,
            class SelectOp>
  [[nodiscard]] static std::enable_if_t<std::is_integral_v<NumItemsT>, cudaError_t> FlaggedIf(
      void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator d_data, FlagIterator d_flags,
      NumSelectedIterator d_num_selected_out, NumItemsT num_items, SelectOp select_op,
      cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceSelect::FlaggedIf");
    return select<detail::select_by::decider, true>(d_temp_storage, temp_storage_bytes, d_flags,
                                                    d_data, NullType{}, d_data, d_num_selected_out,
                                                    num_items, select_op, stream);
  }

  // -------------------------------------------------------------- by difference

  template <class InputIterator, class OutputIterator, class NumSelectedIterator, class NumItemsT>
  [[nodiscard]] static cudaError_t Unique(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                          InputIterator d_in, OutputIterator d_out,
                                          NumSelectedIterator d_num_selected_out,
                                          NumItemsT num_items, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceSelect::Unique");
    return select<detail::select_by::difference, false>(d_temp_storage, temp_storage_bytes, d_in,
                                                        NullType{}, d_out, NullType{},
                                                        d_num_selected_out, num_items,
                                                        strata::Equality{}, stream);
  }

  template <class KeyInputIterator, class ValueInputIterator, class KeyOutputIterator,
            class ValueOutputIterator, class NumSelectedIterator, class NumItemsT,
            class EqualityOp>
  [[nodiscard]] static std::enable_if_t<
      std::is_integral_v<NumItemsT> && !std::is_convertible_v<EqualityOp, cudaStream_t>,
      cudaError_t>
  UniqueByKey(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIterator d_keys_in,
              ValueInputIterator d_values_in, KeyOutputIterator d_keys_out,
              ValueOutputIterator d_values_out, NumSelectedIterator d_num_selected_out,
              NumItemsT num_items, EqualityOp equality_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE("strata::DeviceSelect::UniqueByKey");
    return select<detail::select_by::difference, false>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, d_keys_out, d_values_out,
        d_num_selected_out, num_items, equality_op, stream);
  }
  template <class KeyInputIterator, class ValueInputIterator, class KeyOutputIterator,
            class ValueOutputIterator, class NumSelectedIterator, class NumItemsT>
  [[nodiscard]] static std::enable_if_t<std::is_integral_v<NumItemsT>, cudaError_t> UniqueByKey(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIterator d_keys_in,
      ValueInputIterator d_values_in, KeyOutputIterator d_keys_out,
      ValueOutputIterator d_values_out, NumSelectedIterator d_num_selected_out,
      NumItemsT num_items, cudaStream_t stream = 0) {
    return UniqueByKey(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, d_keys_out,
                       d_values_out, d_num_selected_out, num_items, strata::Equality{}, stream);
  }

 private:
  template <detail::select_by By, bool InPlace, class Deciders, class Payloads, class DecidersOut,
            class PayloadsOut, class NumSelected, class NumItemsT, class Op>
  static cudaError_t select(void* d_temp_storage, std::size_t& temp_storage_bytes,
                            Deciders deciders, Payloads payloads, DecidersOut deciders_out,
                            PayloadsOut payloads_out, NumSelected num_selected_out,
                            NumItemsT num_items, Op op, cudaStream_t stream) {
    using What = detail::selection<By, detail::item_count_t<NumItemsT>, Deciders, Payloads,
                                   DecidersOut, PayloadsOut, NumSelected, Op>;
    using Decider = detail::iterator_value_t<Deciders>;
    if constexpr (By == detail::select_by::difference) {
      detail::equality_requirements<Op, Decider>::check();
    } else {
      detail::predicate_requirements<Op, Decider>::check();
    }
    const What what{deciders, payloads, deciders_out, payloads_out, num_selected_out, op};
    if (!detail::is_count(num_items)) return cudaErrorInvalidValue;
    const auto count = static_cast<std::size_t>(num_items);
    if (d_temp_storage != nullptr) {
      if (detail::is_null(num_selected_out)) return cudaErrorInvalidValue;
      if (count > 0 && (detail::is_null(deciders) || detail::is_null(payloads) ||
                        detail::is_null(deciders_out) || detail::is_null(payloads_out))) {
        return cudaErrorInvalidValue;
      }
      if (!detail::can_reach(deciders, count) || !detail::can_reach(payloads, count)) {
        return cudaErrorInvalidValue;
      }
      // How far outputs reach is known to the device alone.
      if (!InPlace && (detail::begins_within(deciders_out, deciders, count) ||
                       detail::begins_within(payloads_out, deciders, count) ||
                       detail::begins_within(deciders_out, payloads, count) ||
                       detail::begins_within(payloads_out, payloads, count) ||
                       (count > 0 && detail::begins_within(deciders_out, payloads_out, 1)))) {
        return cudaErrorInvalidValue;
      }
      if (InPlace && What::has_payload && !detail::are_same_array(payloads_out, deciders) &&
          detail::begins_within(payloads_out, deciders, count)) {
        return cudaErrorInvalidValue;
      }
    }
    const cudaError_t status = dispatch<InPlace>(d_temp_storage, temp_storage_bytes, what,
                                                 num_items, count, stream);
    if (status != cudaSuccess || d_temp_storage == nullptr || count > 0) return status;
    return detail::write_zero("strata::DeviceSelect", num_selected_out, stream);
  }

  template <bool InPlace, class What, class NumItemsT>
  static cudaError_t dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes,
                              const What& what, NumItemsT num_items, std::size_t count,
                              cudaStream_t stream) {
    using Input = std::conditional_t<InPlace, detail::carried_input<What>,
                                     detail::selected_input<What>>;
    using Output = std::conditional_t<InPlace, detail::carried_output<What>,
                                      detail::selected_output<What>>;
    using Accum = detail::iterator_value_t<Input>;
    using Op = std::conditional_t<InPlace, detail::count_selected, strata::Sum>;
    using Rings = detail::select_rings<What, InPlace>;
    return detail::DispatchScan<Accum, Input, Output, Op, true, NullType,
                                detail::columns_policy_hub<Accum, Accum>,
                                Rings>::Dispatch(d_temp_storage, temp_storage_bytes, Input(what),
                                                 Output(what, count), num_items, Op{}, NullType{},
                                                 Rings{what}, stream);
  }
};

STRATA_ARCH_NAMESPACE_END
