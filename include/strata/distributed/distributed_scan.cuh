// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/scan/initial_value.cuh>
#include <strata/distributed/communication/nccl.hpp>
#include <strata/distributed/execution.cuh>
#include <strata/distributed/scan/dispatch.cuh>

#include <cstddef>

STRATA_ARCH_NAMESPACE_BEGIN

/// Scans the items of all ranks of a communicator: each output is the sum of all items up to its own.
///
/// The items are those of rank 0 in their order, then those of rank 1, and so on: x[0] ... x[n-1]. Each rank writes the
/// results of its own items, for item x[i]
///
///     inclusive: op(... op(x[0], x[1]) ..., x[i])
///     exclusive: op(... op(op(init, x[0]), x[1]) ..., x[i - 1]), or init for x[0]
///
/// up to association: `op` must be associative, but need not be commutative. It is applied to items, `init` and results
/// of itself, and to nothing else.
///
/// - **Call.** All ranks call it, with the same types, operators and `init`. `num_items` is the number of this rank's
///   items, which may be 0. Call it twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (local
///   arithmetic, which communicates nothing), then with that much device memory. Or call it once, without these two
///   arguments: see `execution`.
/// - **In place.** `d_out` may be `d_in`, if items and results have one size. Arrays must not overlap in another way.
/// - **Execution.** On `stream`: one kernel that reduces this rank's items (not on the last rank), an all-gather of
///   NCCL (16 bytes and an aggregate of each rank), a kernel of one thread, and one that scans. If the ranks share
///   memory (DistributedMemory), one kernel takes the place of the all-gather and of the kernel of one thread. Items
///   are read twice, on the last rank once. Results are written once. The host does not wait. A call can be captured in
///   a graph and replayed, by all ranks. DeviceScan says how blocks wait for each other.
/// - **Result.** If the items are distributed over the ranks in the same way, results are the same from run to run,
///   including floating-point sums: aggregates of ranks are combined in the order of ranks.
/// - **Types.** As in DeviceScan.
/// - **Errors.** `cudaErrorInvalidValue`: negative count, an iterator that cannot represent all local indices, a null
///   `d_in` or `d_out` if there are items, a FutureValue with a null pointer, arrays that overlap, temporary storage
///   too small. A rank with bad arguments returns its error and takes part without items. Then no rank writes results;
///   the others return `cudaSuccess`, and their debug builds stop. Size queries refuse only a null communicator, so
///   that all ranks come to the call itself. Otherwise a call returns what NCCL and launches return. After an error of
///   NCCL or of a launch, abort the communicator: other ranks may wait for this one.
/// - **When it pays.** Two H200 with NVLink are faster than one that has all items, as measured, with 2^28 items on
///   each. With 2^24 they are faster by 5 %. With 2^20 they are slower. The README of this folder has the times.
/// - **Algorithm.** Reduce, then scan, as in Blelloch, "Prefix Sums and Their Applications" (1990), with ranks in the
///   place of processors.
///
/// @code
/// #include <cstdlib>
/// #include <thread>
/// #include <vector>
///
/// __managed__ int numbers[12] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
/// __managed__ int sums[12];
///
/// void must(bool is_right) { if (!is_right) std::abort(); }  // Others would wait for a rank that ends alone.
///
/// void rank_main(int rank, int ranks, ncclComm_t comm) {
///   must(cudaSetDevice(rank) == cudaSuccess);
///   const int begin = 12 * rank / ranks, end = 12 * (rank + 1) / ranks;
///   must(strata::DistributedScan::InclusiveSum(numbers + begin, sums + begin, end - begin, comm) == cudaSuccess);
///   must(cudaDeviceSynchronize() == cudaSuccess && ncclCommDestroy(comm) == ncclSuccess);
/// }
///
/// int main() {
///   int ranks = 0;
///   if (cudaGetDeviceCount(&ranks) != cudaSuccess) return 1;
///   std::vector<ncclComm_t> comms(ranks);
///   if (ncclCommInitAll(comms.data(), ranks, nullptr) != ncclSuccess) return 1;
///   std::vector<std::thread> threads;
///   for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(rank_main, rank, ranks, comms[rank]);
///   for (std::thread& thread : threads) thread.join();
///   for (int sum : sums) std::printf("%d ", sum);
/// }
/// // prints: 3 4 8 9 14 23 25 31 36 39 44 52
/// @endcode
struct DistributedScan {
  /// Exclusive sum over the items of all ranks.
  template <class InputIterator, class OutputIterator>
  static cudaError_t ExclusiveSum(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                                  OutputIterator d_out, detail::count64 num_items, ncclComm_t comm,
                                  cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedScan::ExclusiveSum");
    using T = detail::iterator_value_t<InputIterator>;
    using AccumT = detail::accumulator_t<strata::Sum, T, T>;
    return detail::scan_ranks<AccumT>(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items, strata::Sum{}, T{},
                                      comm, stream);
  }

  /// Inclusive sum over the items of all ranks.
  template <class InputIterator, class OutputIterator>
  static cudaError_t InclusiveSum(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                                  OutputIterator d_out, detail::count64 num_items, ncclComm_t comm,
                                  cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedScan::InclusiveSum");
    using T = detail::iterator_value_t<InputIterator>;
    using AccumT = detail::accumulator_t<strata::Sum, T, T>;
    return detail::scan_ranks<AccumT>(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items, strata::Sum{},
                                      NullType{}, comm, stream);
  }

  /// Exclusive scan over the items of all ranks, beginning with `init_value`, which takes part once: a value, or a
  /// FutureValue, which each rank reads in the memory of its own device.
  template <class InputIterator, class OutputIterator, class ScanOp, class InitValueT>
  static cudaError_t ExclusiveScan(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                                   OutputIterator d_out, ScanOp scan_op, InitValueT init_value,
                                   detail::count64 num_items, ncclComm_t comm, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedScan::ExclusiveScan");
    using AccumT = detail::accumulator_t<ScanOp, typename detail::initial_value_of<InitValueT>::type,
                                         detail::iterator_value_t<InputIterator>>;
    return detail::scan_ranks<AccumT>(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items, scan_op, init_value,
                                      comm, stream);
  }

  /// Inclusive scan over the items of all ranks.
  template <class InputIterator, class OutputIterator, class ScanOp>
  static cudaError_t InclusiveScan(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                                   OutputIterator d_out, ScanOp scan_op, detail::count64 num_items, ncclComm_t comm,
                                   cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedScan::InclusiveScan");
    using T = detail::iterator_value_t<InputIterator>;
    return detail::scan_ranks<detail::accumulator_t<ScanOp, T, T>>(d_temp_storage, temp_storage_bytes, d_in, d_out,
                                                                   num_items, scan_op, NullType{}, comm, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(ExclusiveSum, associated)
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(InclusiveSum, associated)
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(ExclusiveScan, associated)
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(InclusiveScan, associated)
};

STRATA_ARCH_NAMESPACE_END
