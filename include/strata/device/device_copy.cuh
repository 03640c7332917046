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
#include <strata/device/transform/batched_copy_dispatch.cuh>
#include <strata/device/transform/extents_dispatch.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_NAMESPACE_BEGIN

/// Copies many ranges of items at once, or an array of several dimensions:
///
///     Batched:   for (i = 0; i < num_ranges; ++i)
///                  for (k = 0; k < sizes[i]; ++k) outputs[i][k] = inputs[i][k];
///     Copy:      mdspan_out(i, j, ...) = mdspan_in(i, j, ...) for all indices
///
/// - **Ranges.** `inputs` and `outputs` are iterators of iterators (pointers, or any other random-access iterators).
///   `sizes` is an iterator of integers: numbers of items. Negative sizes count as 0.
/// - **Types.** Items are copied as bytes if all iterators are pointers to one trivially relocatable type. The cost is
///   then that of DeviceMemcpy. Everything else is assigned item by item, in any order.
/// - **Copy.** `Copy` takes types with the members of `cuda::std::mdspan`, which device code must be able to call.
///   Extents must be the same; layouts and types may differ. Where the elements of both arrays lie side by side in the
///   same order, and their accessors are default accessors, they are copied as one array, up to 16 bytes at a time.
///   Otherwise each element is assigned by itself, in the order of the output's memory. Nothing is kept in temporary
///   storage. Null pointers are refused. So are arrays whose spans overlap, even if they have no element in common.
/// - **Tuning.** `TunedDeviceCopy<Hub>::Batched` uses your hub instead of batched_copy_policy_hub: see
///   default_policy_hub. `Copy` has no tuning of its own.
/// - **Call, aliasing, execution, errors, algorithm of `Batched`.** As for DeviceMemcpy.
///
/// @code
/// // Makes one list of three. Items change their type, which DeviceMemcpy cannot do.
/// __managed__ short numbers[8] = {1, 2, 3, 40, 50, 600, 700, 800};
/// __managed__ double list[6];
/// __managed__ const short* sources[3];
/// __managed__ double* destinations[3];
/// __managed__ int lengths[3] = {2, 1, 3};
///
/// int main() {
///   const int from[3] = {0, 3, 5}, to[3] = {0, 2, 3};
///   for (int i = 0; i < 3; ++i) {
///     sources[i] = numbers + from[i];
///     destinations[i] = list + to[i];
///   }
///   if (strata::DeviceCopy::Batched(sources, destinations, lengths, 3) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (const double item : list) std::printf("%g ", item);
/// }
/// // prints: 1 2 40 600 700 800
/// @endcode
template <class PolicyHub>
struct TunedDeviceCopy {
  /// Copies many ranges of items, `sizes[i]` items from `inputs[i]` to `outputs[i]`.
  template <class InputIt, class OutputIt, class SizeIteratorT>
  static cudaError_t Batched(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIt inputs, OutputIt outputs,
                             SizeIteratorT sizes, detail::count64 num_ranges, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceCopy::Batched");
    using Buffers = detail::range_buffers<InputIt, OutputIt, SizeIteratorT>;
    return detail::DispatchBatchedCopy<Buffers, PolicyHub>::Dispatch(
        d_temp_storage, temp_storage_bytes, Buffers{{inputs, outputs, sizes}}, num_ranges, stream);
  }

  /// Copies an array of several dimensions. Its layout may change.
  template <class MdspanIn, class MdspanOut>
  static cudaError_t Copy(void* d_temp_storage, std::size_t& temp_storage_bytes, MdspanIn mdspan_in,
                          MdspanOut mdspan_out, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceCopy::Copy");
    constexpr bool are_mdspans = detail::is_mdspan<MdspanIn> && detail::is_mdspan<MdspanOut>;
    static_assert(are_mdspans,
                  "DeviceCopy::Copy takes mdspans, or types that have their functions data_handle(), mapping() and "
                  "accessor()");
    if constexpr (are_mdspans) {
      static_assert(MdspanIn::rank() == MdspanOut::rank(),
                    "DeviceCopy::Copy: input and output must have the same number of dimensions");
      if constexpr (MdspanIn::rank() == MdspanOut::rank()) {
        return detail::dispatch_mdspan_copy(d_temp_storage, temp_storage_bytes, mdspan_in, mdspan_out, stream);
      }
    }
    return cudaErrorInvalidValue;
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(Batched)
  STRATA_CALL_WITH_UNUSED_STORAGE(Copy)
};
using DeviceCopy = TunedDeviceCopy<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
