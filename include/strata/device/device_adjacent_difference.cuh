// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/contiguous_iterator.hpp>
#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/transform/adjacent_difference_dispatch.cuh>

#include <cstddef>
#include <cstdint>

STRATA_ARCH_NAMESPACE_BEGIN

/// Computes the differences of neighbouring items of a sequence in device memory, by any operator.
///
/// | call | result for item i | result for the item without a neighbour |
/// |---|---|---|
/// | `SubtractLeftCopy`, `SubtractLeft` | `op(x[i], x[i - 1])` | `x[0]` |
/// | `SubtractRightCopy`, `SubtractRight` | `op(x[i], x[i + 1])` | `x[num_items - 1]` |
///
/// The operator need not be commutative. A call without an operator subtracts.
///
/// - **Call.** Call it twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (pure arithmetic; never
///   0), then with that much device memory, whose contents and alignment do not matter. Or call it once, without these
///   two arguments: see `execution`. Inputs and outputs may be any random-access iterators that can be dereferenced in
///   device code; `num_items` may have any integer type.
/// - **In place.** `SubtractLeft` and `SubtractRight` write over their input. The output of the others must not
///   overlap the input.
/// - **Execution.** One kernel launch. In place, a call of more than one tile has two: the first saves the items that
///   the second needs from other tiles. A call without items launches nothing. Kernels run on `stream`, with no host
///   synchronisation and no allocation, so a call can be captured in a graph and replayed. Calls in place that may run
///   at the same time need temporary storage of their own.
/// - **Result.** Results are the same from run to run.
/// - **Types.** Items must be trivially relocatable. Each item is read once. For each load of a warp, one neighbouring
///   item is read again. Each result is written once. Items and results of 1, 2, 4, 8 and 16 bytes are accessed up to
///   16 bytes at a time where results go to a pointer and both pointers allow it. Others are accessed item by item.
///   Items are counted in 64 bits, whatever the type of `num_items`. In place, temporary storage holds an item for each
///   tile. Otherwise it holds nothing.
/// - **Tuning.** `TunedDeviceAdjacentDifference<Hub>` uses your policy hub instead of tile_policy_hub: see
///   default_policy_hub.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: a negative count, or iterators that
///   cannot represent all indices (both in size queries, too); a null pointer, if there are items; an output that
///   overlaps the input; temporary storage too small. Otherwise a call returns what the launches return. An older error
///   of the runtime is neither returned nor cleared.
/// - **Algorithm.** Tiles of DeviceTransform. A thread gets the neighbour of its items by a shuffle.
///
/// @code
/// // How far a car went in each hour, from its mileage at the end of each.
/// __managed__ int mileage[5] = {120, 200, 290, 290, 350};
/// __managed__ int distances[5];
///
/// int main() {
///   using strata::DeviceAdjacentDifference;
///   if (DeviceAdjacentDifference::SubtractLeftCopy(mileage, distances, 5) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const int distance : distances) std::printf("%d ", distance);
/// }
/// // prints: 120 80 90 0 60
/// @endcode
template <class PolicyHub>
struct TunedDeviceAdjacentDifference {
  /// Writes op(x[i], x[i - 1]) for each item to another array. The first item is copied.
  template <class InputIterator, class OutputIterator, class DifferenceOp = strata::Difference,
            class NumItemsT = std::uint32_t>
  static detail::if_integral<NumItemsT> SubtractLeftCopy(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                         InputIterator d_input, OutputIterator d_output,
                                                         NumItemsT num_items, DifferenceOp difference_op = {},
                                                         cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceAdjacentDifference::SubtractLeftCopy");
    return detail::dispatch_difference<true, false, PolicyHub>(
        d_temp_storage, temp_storage_bytes, detail::pointer_or_iterator(d_input), detail::pointer_or_iterator(d_output),
        num_items, difference_op, stream);
  }

  /// Overwrites each item with op(x[i], x[i - 1]). The first item keeps its value.
  template <class Iterator, class DifferenceOp = strata::Difference, class NumItemsT = std::uint32_t>
  static detail::if_integral<NumItemsT> SubtractLeft(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                     Iterator d_input, NumItemsT num_items,
                                                     DifferenceOp difference_op = {}, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceAdjacentDifference::SubtractLeft");
    const auto items = detail::pointer_or_iterator(d_input);
    return detail::dispatch_difference<true, true, PolicyHub>(d_temp_storage, temp_storage_bytes, items, items,
                                                              num_items, difference_op, stream);
  }

  /// Writes op(x[i], x[i + 1]) for each item to another array. The last item is copied.
  template <class InputIterator, class OutputIterator, class DifferenceOp = strata::Difference,
            class NumItemsT = std::uint32_t>
  static detail::if_integral<NumItemsT> SubtractRightCopy(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                          InputIterator d_input, OutputIterator d_output,
                                                          NumItemsT num_items, DifferenceOp difference_op = {},
                                                          cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceAdjacentDifference::SubtractRightCopy");
    return detail::dispatch_difference<false, false, PolicyHub>(
        d_temp_storage, temp_storage_bytes, detail::pointer_or_iterator(d_input), detail::pointer_or_iterator(d_output),
        num_items, difference_op, stream);
  }

  /// Overwrites each item with op(x[i], x[i + 1]). The last item keeps its value.
  template <class Iterator, class DifferenceOp = strata::Difference, class NumItemsT = std::uint32_t>
  static detail::if_integral<NumItemsT> SubtractRight(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                                      Iterator d_input, NumItemsT num_items,
                                                      DifferenceOp difference_op = {}, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceAdjacentDifference::SubtractRight");
    const auto items = detail::pointer_or_iterator(d_input);
    return detail::dispatch_difference<false, true, PolicyHub>(d_temp_storage, temp_storage_bytes, items, items,
                                                               num_items, difference_op, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(SubtractLeftCopy)
  STRATA_CALL_WITHOUT_STORAGE(SubtractLeft)
  STRATA_CALL_WITHOUT_STORAGE(SubtractRightCopy)
  STRATA_CALL_WITHOUT_STORAGE(SubtractRight)
};
using DeviceAdjacentDifference = TunedDeviceAdjacentDifference<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
