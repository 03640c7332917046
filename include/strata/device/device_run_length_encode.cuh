// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/scan/problem_non_trivial_runs.cuh>
#include <strata/device/scan/problem_reduce_by_key.cuh>

#include <cstddef>

STRATA_ARCH_NAMESPACE_BEGIN

/// Describes a sequence in device memory by its runs of equal neighbours.
///
/// - **Call.** Call it twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (pure arithmetic; never
///   0), then with that much device memory, whose contents and alignment do not matter. Or call it once, without these
///   two arguments: see `execution`. Inputs and outputs may be any random-access iterators that can be dereferenced in
///   device code; `num_items` may have any integer type, or be a FutureCount in `Encode`. Outputs need memory for as
///   many runs as there are, and must not overlap the input. Their types must be able to represent the lengths and the
///   number of runs.
/// - **Execution.** One kernel launch at every size, on `stream`; no host synchronisation and no allocation,
///   so a call can be captured in a graph and replayed. Calls that may run at the same time need temporary
///   storage of their own. DeviceScan says how blocks wait for each other.
/// - **Types.** Items must be trivially relocatable and have an operator ==. A NaN is equal to nothing, so each NaN is
///   a run of its own. On compute capability 9.0 to 11.x, items of 1, 2, 4, 8 or 16 bytes are read once if the array is
///   long. Otherwise items are read several times. Lengths are counted in 64 bits if `num_items` has 64.
/// - **Tuning.** `TunedDeviceRunLengthEncode<Hub>` uses your hub instead of columns_policy_hub: see default_policy_hub.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: a negative count, in a size query
///   too; a null pointer (`d_num_runs_out`; if there are items, any other one, even if nothing would be written there);
///   an output that begins within the input or where another output does; temporary storage too small. The host cannot
///   know whether an output reaches into the input, or whether its type can represent each length. In debug builds
///   (`STRATA_DEBUG`) the kernel stops at such an error. Otherwise a call returns what the launch returns. An older
///   error of the runtime is neither returned nor cleared.
/// - **Algorithm.** A scan of the numbers of runs (see DeviceScan), in one pass: tiles wait in shared memory
///   until the number of runs that begin before them is known.
///
/// @code
/// // The runs of a text: their letters and lengths.
/// __managed__ char text[10] = {'a', 'a', 'a', 'b', 'c', 'c', 'c', 'c', 'a', 'a'};
/// __managed__ char letters[10];
/// __managed__ int lengths[10], runs;
///
/// int main() {
///   if (strata::DeviceRunLengthEncode::Encode(text, letters, lengths, &runs, 10) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int run = 0; run < runs; ++run) std::printf("%d%c ", lengths[run], letters[run]);
/// }
/// // prints: 3a 1b 4c 2a
/// @endcode
template <class PolicyHub>
struct TunedDeviceRunLengthEncode {
  /// Writes the first item of each run to `d_unique_out`, its length to `d_counts_out`, and the number of runs
  /// to `*d_num_runs_out`.
  template <class InputIterator, class UniqueOutputIterator, class LengthsOutputIterator, class NumRunsIterator,
            class NumItemsT>
  static cudaError_t Encode(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                            UniqueOutputIterator d_unique_out, LengthsOutputIterator d_counts_out,
                            NumRunsIterator d_num_runs_out, NumItemsT num_items, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceRunLengthEncode::Encode");
    using Count = detail::item_count_t<NumItemsT>;
    return detail::dispatch_reduce_by_key<Count, PolicyHub>(
        "strata::DeviceRunLengthEncode", d_temp_storage, temp_storage_bytes, d_in, NullType{}, d_unique_out,
        d_counts_out, d_num_runs_out, strata::Sum{}, strata::Equality{}, num_items, stream);
  }

  /// Writes the index of the first item of each run of more than one item to `d_offsets_out`, and its length to
  /// `d_lengths_out`. The number of such runs is written to `*d_num_runs_out`.
  ///
  ///     d_in [0 2 2 9 5 5 5 8]:  offsets [1 4],  lengths [2 3],  number 2
  template <class InputIterator, class OffsetsOutputIterator, class LengthsOutputIterator, class NumRunsIterator,
            class NumItemsT>
  static cudaError_t NonTrivialRuns(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                                    OffsetsOutputIterator d_offsets_out, LengthsOutputIterator d_lengths_out,
                                    NumRunsIterator d_num_runs_out, NumItemsT num_items, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceRunLengthEncode::NonTrivialRuns");
    return detail::dispatch_non_trivial_runs<PolicyHub>(d_temp_storage, temp_storage_bytes, d_in, d_offsets_out,
                                                        d_lengths_out, d_num_runs_out, num_items, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(Encode)
  STRATA_CALL_WITHOUT_STORAGE(NonTrivialRuns)
};
using DeviceRunLengthEncode = TunedDeviceRunLengthEncode<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
