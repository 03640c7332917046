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
#include <strata/device/scan/problem_select.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_NAMESPACE_BEGIN

/// Keeps some items of a sequence in device memory, in their order, without gaps.
///
/// `If` keeps the items for which `select_op(item)` is true. `Flagged` keeps the items whose flags convert to true.
/// `FlaggedIf` keeps the items with flags for which `select_op(flag)` is true. `Unique` keeps the first item of each
/// run of equal neighbours, `UniqueByKey` the first pair of each run of equal keys. The number of kept items is written
/// to `*d_num_selected_out`. Nothing is written after the last kept item in the output.
///
/// - **Call.** Call it twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (pure arithmetic; never
///   0), then with that much device memory, whose contents and alignment do not matter. Or call it once, without these
///   two arguments: see `execution`. Inputs and outputs may be any random-access iterators that can be dereferenced in
///   device code; `num_items` may have any integer type, or be a FutureCount. The result of an operator should depend
///   only on its arguments: operators may be applied more than once to an item or a flag.
/// - **In place.** The forms with `d_data` write over their input. `d_flags` may be the same array as `d_data`. The
///   outputs of all other forms must not overlap inputs. An output needs memory for the kept items only.
/// - **Execution.** One kernel launch at every size, on `stream`; no host synchronisation and no allocation,
///   so a call can be captured in a graph and replayed. Calls that may run at the same time need temporary
///   storage of their own. For how blocks wait for each other see DeviceScan.
/// - **Result.** Selections are stable. Results are the same from run to run.
/// - **Types.** Items must be trivially relocatable. Kept items are written once at most. On compute capability 9.0 to
///   11.x, long arrays are read once, if items, flags, keys and values have 1, 2, 4, 8 or 16 bytes. Otherwise a
///   selection to another array reads twice what the operator is applied to: items, keys or flags. Counts have 64 bits
///   if `num_items` has.
/// - **Few flags.** If few flags of a long array are set, `Flagged` and `FlaggedIf` to another array read all flags,
///   but mostly only those 64-byte lines of the items in which an item is kept. This holds on compute capability 9.0 to
///   11.x, if flags and items begin at 16-byte boundaries, and items have 4, 8 or 16 bytes and are aligned to their
///   size.
/// - **Tuning.** `TunedDeviceSelect<Hub>` uses your hub instead of columns_policy_hub: see default_policy_hub.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: a negative count, in a size query
///   too; a null pointer (`d_num_selected_out`, or another one if there are items); an output that begins within an
///   input or where another output does; temporary storage too small. The host cannot know whether an output reaches
///   into an input, or whether the type of `*d_num_selected_out` can represent the number. In debug builds
///   (`STRATA_DEBUG`) the kernel stops at such an error. Otherwise a call returns what the launch returns. An older
///   error of the runtime is neither returned nor cleared.
/// - **Algorithm.** A scan of the numbers of kept items (see DeviceScan), in one pass: tiles wait in shared
///   memory until the number of items kept before them is known.
///
/// @code
/// struct is_positive {
///   STRATA_HD bool operator()(int number) const { return number > 0; }
/// };
/// __managed__ int numbers[7] = {4, -1, 0, 7, -3, 9, 2};
/// __managed__ int selected[7], num_selected;
///
/// int main() {
///   if (strata::DeviceSelect::If(numbers, selected, &num_selected, 7, is_positive{}) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int i = 0; i < num_selected; ++i) std::printf("%d ", selected[i]);
/// }
/// // prints: 4 7 9 2
/// @endcode
template <class PolicyHub>
struct TunedDeviceSelect {
  // -------------------------------------------------------------- by the items

  /// Writes to another array the items for which `select_op` is true.
  template <class InputIterator, class OutputIterator, class NumSelectedIterator, class SelectOp, class NumItemsT>
  static detail::if_count<NumItemsT> If(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                                        OutputIterator d_out, NumSelectedIterator d_num_selected_out,
                                        NumItemsT num_items, SelectOp select_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSelect::If");
    return detail::dispatch_select<detail::select_by::key, false, PolicyHub>(
        d_temp_storage, temp_storage_bytes, d_in, NullType{}, d_out, NullType{}, d_num_selected_out, num_items,
        select_op, stream);
  }
  /// Keeps the items for which `select_op` is true, in place.
  template <class Iterator, class NumSelectedIterator, class SelectOp, class NumItemsT>
  static detail::if_count<NumItemsT> If(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator d_data,
                                        NumSelectedIterator d_num_selected_out, NumItemsT num_items, SelectOp select_op,
                                        cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSelect::If");
    return detail::dispatch_select<detail::select_by::key, true, PolicyHub>(
        d_temp_storage, temp_storage_bytes, d_data, NullType{}, d_data, NullType{}, d_num_selected_out, num_items,
        select_op, stream);
  }

  // -------------------------------------------------------------- by flags

  /// Writes to another array the items whose flags are set.
  template <class InputIterator, class FlagIterator, class OutputIterator, class NumSelectedIterator, class NumItemsT>
  static std::enable_if_t<detail::is_count_type<NumItemsT> && !detail::is_count_type<NumSelectedIterator>, cudaError_t>
  Flagged(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in, FlagIterator d_flags,
          OutputIterator d_out, NumSelectedIterator d_num_selected_out, NumItemsT num_items, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSelect::Flagged");
    return select_flagged<false>(d_temp_storage, temp_storage_bytes, d_in, d_flags, d_out, d_num_selected_out,
                                 num_items, detail::is_set{}, stream);
  }
  /// Keeps the items whose flags are set, in place.
  template <class Iterator, class FlagIterator, class NumSelectedIterator, class NumItemsT>
  static detail::if_count<NumItemsT> Flagged(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator d_data,
                                             FlagIterator d_flags, NumSelectedIterator d_num_selected_out,
                                             NumItemsT num_items, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSelect::Flagged");
    return select_flagged<true>(d_temp_storage, temp_storage_bytes, d_data, d_flags, d_data, d_num_selected_out,
                                num_items, detail::is_set{}, stream);
  }

  /// Writes to another array the items for whose flags `select_op` is true.
  template <class InputIterator, class FlagIterator, class OutputIterator, class NumSelectedIterator, class SelectOp,
            class NumItemsT>
  static detail::if_count<NumItemsT> FlaggedIf(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                               InputIterator d_in, FlagIterator d_flags, OutputIterator d_out,
                                               NumSelectedIterator d_num_selected_out, NumItemsT num_items,
                                               SelectOp select_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSelect::FlaggedIf");
    return select_flagged<false>(d_temp_storage, temp_storage_bytes, d_in, d_flags, d_out, d_num_selected_out,
                                 num_items, select_op, stream);
  }
  /// Keeps the items for whose flags `select_op` is true, in place.
  template <class Iterator, class FlagIterator, class NumSelectedIterator, class SelectOp, class NumItemsT>
  static detail::if_count<NumItemsT> FlaggedIf(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator d_data,
                                               FlagIterator d_flags, NumSelectedIterator d_num_selected_out,
                                               NumItemsT num_items, SelectOp select_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSelect::FlaggedIf");
    return select_flagged<true>(d_temp_storage, temp_storage_bytes, d_data, d_flags, d_data, d_num_selected_out,
                                num_items, select_op, stream);
  }

  // -------------------------------------------------------------- by difference

  /// Writes to another array the first item of each run of neighbours for which `equality_op(item, next)` is true.
  template <class InputIterator, class OutputIterator, class NumSelectedIterator, class NumItemsT, class EqualityOp>
  static std::enable_if_t<detail::is_count_type<NumItemsT> && detail::compares_items_of<EqualityOp, InputIterator>(),
                          cudaError_t>
  Unique(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in, OutputIterator d_out,
         NumSelectedIterator d_num_selected_out, NumItemsT num_items, EqualityOp equality_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSelect::Unique");
    return detail::dispatch_select<detail::select_by::difference, false, PolicyHub>(
        d_temp_storage, temp_storage_bytes, d_in, NullType{}, d_out, NullType{}, d_num_selected_out, num_items,
        equality_op, stream);
  }
  /// Writes to another array the first item of each run of equal neighbours.
  template <class InputIterator, class OutputIterator, class NumSelectedIterator, class NumItemsT>
  static std::enable_if_t<detail::is_count_type<NumItemsT> && !detail::is_count_type<NumSelectedIterator>, cudaError_t>
  Unique(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in, OutputIterator d_out,
         NumSelectedIterator d_num_selected_out, NumItemsT num_items, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSelect::Unique");
    return detail::dispatch_select<detail::select_by::difference, false, PolicyHub>(
        d_temp_storage, temp_storage_bytes, d_in, NullType{}, d_out, NullType{}, d_num_selected_out, num_items,
        strata::Equality{}, stream);
  }
  /// Keeps the first item of each run of neighbours for which `equality_op(item, next)` is true, in place.
  template <class Iterator, class NumSelectedIterator, class NumItemsT, class EqualityOp>
  static std::enable_if_t<detail::is_count_type<NumItemsT> && detail::compares_items_of<EqualityOp, Iterator>(),
                          cudaError_t>
  Unique(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator d_data, NumSelectedIterator d_num_selected_out,
         NumItemsT num_items, EqualityOp equality_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSelect::Unique");
    return detail::dispatch_select<detail::select_by::difference, true, PolicyHub>(
        d_temp_storage, temp_storage_bytes, d_data, NullType{}, d_data, NullType{}, d_num_selected_out, num_items,
        equality_op, stream);
  }
  /// Keeps the first item of each run of equal neighbours, in place.
  template <class Iterator, class NumSelectedIterator, class NumItemsT>
  static detail::if_count<NumItemsT> Unique(void* d_temp_storage, std::size_t& temp_storage_bytes, Iterator d_data,
                                            NumSelectedIterator d_num_selected_out, NumItemsT num_items,
                                            cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSelect::Unique");
    return detail::dispatch_select<detail::select_by::difference, true, PolicyHub>(
        d_temp_storage, temp_storage_bytes, d_data, NullType{}, d_data, NullType{}, d_num_selected_out, num_items,
        strata::Equality{}, stream);
  }

  /// Writes the first key of each run of keys that `equality_op` compares equal, with its value.
  template <class KeyInputIterator, class ValueInputIterator, class KeyOutputIterator, class ValueOutputIterator,
            class NumSelectedIterator, class NumItemsT, class EqualityOp>
  static std::enable_if_t<detail::is_count_type<NumItemsT> && !detail::says_where<cudaStream_t, EqualityOp>,
                          cudaError_t>
  UniqueByKey(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIterator d_keys_in,
              ValueInputIterator d_values_in, KeyOutputIterator d_keys_out, ValueOutputIterator d_values_out,
              NumSelectedIterator d_num_selected_out, NumItemsT num_items, EqualityOp equality_op,
              cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceSelect::UniqueByKey");
    return detail::dispatch_select<detail::select_by::difference, false, PolicyHub>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, d_keys_out, d_values_out, d_num_selected_out,
        num_items, equality_op, stream);
  }
  /// Writes the first key of each run of equal keys, with its value.
  template <class KeyInputIterator, class ValueInputIterator, class KeyOutputIterator, class ValueOutputIterator,
            class NumSelectedIterator, class NumItemsT>
  static detail::if_count<NumItemsT> UniqueByKey(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                 KeyInputIterator d_keys_in, ValueInputIterator d_values_in,
                                                 KeyOutputIterator d_keys_out, ValueOutputIterator d_values_out,
                                                 NumSelectedIterator d_num_selected_out, NumItemsT num_items,
                                                 cudaStream_t stream = 0) {
    return UniqueByKey(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, d_keys_out, d_values_out,
                       d_num_selected_out, num_items, strata::Equality{}, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(If)
  STRATA_CALL_WITHOUT_STORAGE(Flagged)
  STRATA_CALL_WITHOUT_STORAGE(FlaggedIf)
  STRATA_CALL_WITHOUT_STORAGE(Unique)
  STRATA_CALL_WITHOUT_STORAGE(UniqueByKey)

 private:
  template <bool IsInPlace, class InputIterator, class FlagIterator, class OutputIterator, class NumSelectedIterator,
            class NumItemsT, class SelectOp>
  static cudaError_t select_flagged(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                                    FlagIterator d_flags, OutputIterator d_out, NumSelectedIterator d_num_selected_out,
                                    NumItemsT num_items, SelectOp select_op, cudaStream_t stream) {
    return detail::dispatch_select<detail::select_by::key, IsInPlace, PolicyHub>(
        d_temp_storage, temp_storage_bytes, d_flags, d_in, NullType{}, d_out, d_num_selected_out, num_items, select_op,
        stream);
  }
};
using DeviceSelect = TunedDeviceSelect<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
