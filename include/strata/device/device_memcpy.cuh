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

#include <cstddef>
#include <type_traits>

STRATA_ARCH_NAMESPACE_BEGIN

/// Copies many buffers in device memory at once:
///
///     for (i = 0; i < num_buffers; ++i) memcpy(outputs[i], inputs[i], sizes[i]);
///
/// - **Call.** Call it twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (12 for each buffer, and
///   up to 1 KB), then with that much device memory; or call it once, by the overload without these two arguments.
/// - **Buffers.** `inputs` and `outputs` are iterators of pointers to any types. `sizes` is an iterator of integers:
///   numbers of bytes. Negative sizes count as 0. All three are read on the device, some items twice. Pointers may have
///   any alignment. Pointers of empty buffers are not used.
/// - **Aliasing.** No output may overlap another output, an input, or one of the three arrays. Inputs may overlap each
///   other. The host cannot check this. Debug builds (`STRATA_DEBUG`) assert that input and output of a buffer do not
///   overlap. Bytes beside the buffers are neither read nor written.
/// - **Execution.** A memset of 8 bytes and two kernel launches, on `stream`; no host synchronisation and no
///   allocation, so a call can be captured in a graph and replayed with other pointers and sizes. Calls that may run at
///   the same time need temporary storage of their own.
/// - **Cost.** Each byte is read from device memory once and written once, mostly 16 bytes at a time. Up to 30 bytes at
///   each end of a buffer are written up to 4 bytes at a time. Where source and destination differ modulo 16, that may
///   be all bytes of a buffer of up to 46 bytes. Where source and destination differ modulo 16, each 16 bytes are read
///   twice, the second time from the L1 cache.
/// - **Tuning.** `TunedDeviceMemcpy<Hub>` uses your hub instead of batched_copy_policy_hub: see default_policy_hub.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: a negative count, or an iterator that
///   cannot be advanced so far, in a size query too; one of the three arrays is null although there are buffers;
///   temporary storage too small. Otherwise a call returns what the launches return. An older error of the runtime is
///   neither returned nor cleared.
/// - **Algorithm.** A warp takes up to 32 neighbouring buffers. A scan of their lengths numbers their units of 16
///   bytes, and the lanes copy units in that order. So no lane idles, however short the buffers are. Buffers above 8
///   KiB go to a queue, and the warps of a second kernel copy equal shares of them. If the buffers are very long, each
///   of n warps copies every n-th piece instead.
///
/// @code
/// // Puts three words into another order.
/// __managed__ char words[] = "three, one, two, ";
/// __managed__ char sorted[sizeof(words)];
/// __managed__ const char* sources[3];
/// __managed__ char* destinations[3];
/// __managed__ int bytes[3] = {7, 5, 5};
///
/// int main() {
///   const int from[3] = {0, 7, 12}, to[3] = {10, 0, 5};
///   for (int i = 0; i < 3; ++i) {
///     sources[i] = words + from[i];
///     destinations[i] = sorted + to[i];
///   }
///   if (strata::DeviceMemcpy::Batched(sources, destinations, bytes, 3) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   std::printf("%s\n", sorted);
/// }
/// // prints: one, two, three,
/// @endcode
template <class PolicyHub>
struct TunedDeviceMemcpy {
  /// Copies many buffers, `sizes[i]` bytes from `inputs[i]` to `outputs[i]`.
  template <class InputBufferIt, class OutputBufferIt, class BufferSizeIteratorT>
  static cudaError_t Batched(void* d_temp_storage, std::size_t& temp_storage_bytes, InputBufferIt inputs,
                             OutputBufferIt outputs, BufferSizeIteratorT sizes, detail::count64 num_buffers,
                             cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceMemcpy::Batched");
    using in = detail::iterator_value_t<InputBufferIt>;
    using out = detail::iterator_value_t<OutputBufferIt>;
    static_assert(std::is_pointer_v<in> && std::is_pointer_v<out>,
                  "DeviceMemcpy::Batched copies bytes from pointers to pointers: call DeviceCopy::Batched for other "
                  "iterators");
    static_assert(!std::is_const_v<std::remove_pointer_t<out>>,
                  "DeviceMemcpy::Batched cannot write to pointers to const: pass destinations that are not const");
    using Buffers = detail::byte_buffers<1, 1, InputBufferIt, OutputBufferIt, BufferSizeIteratorT>;
    return detail::DispatchBatchedCopy<Buffers, PolicyHub>::Dispatch(
        d_temp_storage, temp_storage_bytes, Buffers{{inputs, outputs, sizes}}, num_buffers, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(Batched)
};
using DeviceMemcpy = TunedDeviceMemcpy<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
