// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/nvtx.hpp>
#include <strata/core/types.hpp>
#include <strata/device/arguments/counts.cuh>
#include <strata/device/batched_copy/dispatch.cuh>
#include <strata/device/execution.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_NAMESPACE_BEGIN

/// Copies many ranges of items at once:
///
///     for (i = 0; i < num_ranges; ++i)
///       for (k = 0; k < sizes[i]; ++k) outputs[i][k] = inputs[i][k];
///
/// - **Ranges.** `inputs` and `outputs` are iterators of iterators (pointers, or any other random-access ones), `sizes`
///   of integers: numbers of items. Negative ones count as 0.
/// - **Types.** From pointers to pointers to the same type, if it is trivially relocatable, items are copied as bytes:
///   the cost is that of DeviceMemcpy. Everything else is assigned item by item. The order of assignments is not
///   specified.
/// - **Call, aliasing, execution, errors, algorithm.** As DeviceMemcpy.
///
///     // Decodes runs: inputs[i] is an iterator of a constant, outputs[i] a pointer to where run i begins.
///     strata::DeviceCopy::Batched(inputs, outputs, run_lengths, num_runs, stream);
struct DeviceCopy {
  template <class InputIt, class OutputIt, class SizeIteratorT>
  static cudaError_t Batched(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIt inputs, OutputIt outputs,
                             SizeIteratorT sizes, detail::count64 num_ranges, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceCopy::Batched");
    using Buffers = detail::range_buffers<InputIt, OutputIt, SizeIteratorT>;
    return detail::DispatchBatchedCopy<Buffers>::Dispatch(d_temp_storage, temp_storage_bytes,
                                                          Buffers{{inputs, outputs, sizes}}, num_ranges, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(Batched)
};

STRATA_ARCH_NAMESPACE_END
