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
#include <strata/device/scan/problem_partition.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_NAMESPACE_BEGIN

/// Divides a sequence in device memory into selected items and others.
///
/// `Flagged` selects the items whose flags convert to true, `If` the items for which `select_op(item)` is true. Both
/// write all items to `d_out`: first the selected items in their order, then the others in reverse order. The number of
/// selected items is written to `*d_num_selected_out`:
///
///     d_in  [1 2 3 4 5 6 7 8],  flags [1 0 0 1 0 1 1 0]:  d_out [1 4 6 7 8 5 3 2],  number 4
///
/// `If` with two predicates writes the items that satisfy the first one to `d_first_part_out`. Of the other items, it
/// writes those that satisfy the second one to `d_second_part_out`, and the rest to `d_unselected_out`. All keep their
/// order. The numbers of items in the first and in the second part are written to `d_num_selected_out[0]` and
/// `d_num_selected_out[1]`.
///
/// - **Call.** Call it twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (pure arithmetic; never
///   0), then with that much device memory, whose contents and alignment do not matter. Or call it once, without these
///   two arguments: see `execution`. Inputs and outputs may be any random-access iterators that can be dereferenced in
///   device code; `num_items` may have any integer type, or be a FutureCount. The result of a predicate should depend
///   only on its argument: predicates may be applied more than once to an item. The second predicate is not applied to
///   items of the first part.
/// - **Memory.** Outputs must not overlap inputs or each other; flags may be the items. With three outputs, each needs
///   memory only for the items that it gets.
/// - **Execution.** One kernel launch at every size, on `stream`; no host synchronisation and no allocation,
///   so a call can be captured in a graph and replayed. Calls that may run at the same time need temporary
///   storage of their own. For how blocks wait for each other see DeviceScan.
/// - **Result.** Results are the same from run to run.
/// - **Types.** Items must be trivially relocatable. Each item is written once. On compute capability 9.0 to 11.x,
///   items of 1, 2, 4, 8 or 16 bytes are read once if the array is long. Otherwise items are read twice. Counts have 64
///   bits if `num_items` has.
/// - **Tuning.** `TunedDevicePartition<Hub>` uses your hub instead of columns_policy_hub: see default_policy_hub.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: a negative count, in a size query
///   too; a null pointer (`d_num_selected_out`, or another one if there are items); an output that overlaps an input or
///   another output (with three outputs, only the first item of each is checked); temporary storage too small. The host
///   cannot know whether one of three outputs reaches into an input, or whether the type of `*d_num_selected_out` can
///   represent the number. In debug builds (`STRATA_DEBUG`) the kernel stops at such an error. Otherwise a call returns
///   what the launch returns. An older error of the runtime is neither returned nor cleared.
/// - **Algorithm.** A scan of the numbers of selected items (see DeviceScan and DeviceSelect), in one pass: tiles
///   wait in shared memory until the numbers of items before them are known.
///
/// @code
/// struct is_even {
///   STRATA_HD bool operator()(int number) const { return number % 2 == 0; }
/// };
/// __managed__ int numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
/// __managed__ int parts[8];
/// __managed__ int even;
///
/// int main() {
///   if (strata::DevicePartition::If(numbers, parts, &even, 8, is_even{}) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%d even:", even);
///   for (const int number : parts) std::printf(" %d", number);  // The others are in reverse order.
/// }
/// // prints: 4 even: 2 4 6 8 7 5 3 1
/// @endcode
template <class PolicyHub>
struct TunedDevicePartition {
  /// Writes first the items whose flags are set, then the others in reverse order.
  template <class InputIterator, class FlagIterator, class OutputIterator, class NumSelectedIterator, class NumItemsT>
  static detail::if_count<NumItemsT> Flagged(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                                             FlagIterator d_flags, OutputIterator d_out,
                                             NumSelectedIterator d_num_selected_out, NumItemsT num_items,
                                             cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DevicePartition::Flagged");
    return detail::dispatch_partition<PolicyHub>(d_temp_storage, temp_storage_bytes, d_flags, d_in, d_out, NullType{},
                                                 NullType{}, d_num_selected_out, num_items, detail::is_set{},
                                                 NullType{}, stream);
  }

  /// Writes first the items for which `select_op` is true, then the others in reverse order.
  template <class InputIterator, class OutputIterator, class NumSelectedIterator, class SelectOp, class NumItemsT>
  static detail::if_count<NumItemsT> If(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                                        OutputIterator d_out, NumSelectedIterator d_num_selected_out,
                                        NumItemsT num_items, SelectOp select_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DevicePartition::If");
    return detail::dispatch_partition<PolicyHub>(d_temp_storage, temp_storage_bytes, d_in, NullType{}, d_out,
                                                 NullType{}, NullType{}, d_num_selected_out, num_items, select_op,
                                                 NullType{}, stream);
  }

  // A stream is no predicate: the call without storage must not take a stream for its second predicate.
  /// Writes the items to three outputs: those of the first part, those of the second part, and the others.
  template <class InputIterator, class FirstOutputIterator, class SecondOutputIterator, class UnselectedOutputIterator,
            class NumSelectedIterator, class SelectFirstPartOp, class SelectSecondPartOp, class NumItemsT>
  static std::enable_if_t<detail::is_count_type<NumItemsT> && !detail::is_count_type<SelectSecondPartOp> &&
                              !detail::says_where<cudaStream_t, SelectSecondPartOp>,
                          cudaError_t>
  If(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in, FirstOutputIterator d_first_part_out,
     SecondOutputIterator d_second_part_out, UnselectedOutputIterator d_unselected_out,
     NumSelectedIterator d_num_selected_out, NumItemsT num_items, SelectFirstPartOp select_first_part_op,
     SelectSecondPartOp select_second_part_op, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DevicePartition::If");
    return detail::dispatch_partition<PolicyHub>(d_temp_storage, temp_storage_bytes, d_in, NullType{}, d_first_part_out,
                                                 d_second_part_out, d_unselected_out, d_num_selected_out, num_items,
                                                 select_first_part_op, select_second_part_op, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(Flagged)
  STRATA_CALL_WITHOUT_STORAGE(If)
};
using DevicePartition = TunedDevicePartition<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
