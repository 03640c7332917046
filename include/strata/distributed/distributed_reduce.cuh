// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/reduce/output.cuh>
#include <strata/distributed/communication/nccl.hpp>
#include <strata/distributed/execution.cuh>
#include <strata/distributed/reduce/dispatch.cuh>

#include <cstddef>

STRATA_ARCH_NAMESPACE_BEGIN

/// Reduces the items of all ranks of a communicator to one value, which every rank gets.
///
/// The items are those of rank 0 in their order, then those of rank 1, and so on: x[0] ... x[n-1]. The result is
///
///     op(...op(op(init, x[0]), x[1])..., x[n-1])
///
/// up to association: `op` must be associative, but need not be commutative.
///
/// - **Call.** All ranks call it, with the same types, operators and `init`. `num_items` is the number of this rank's
///   items, which may be 0. Call it twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (local
///   arithmetic, which communicates nothing), then with that much device memory. Or call it once, without these two
///   arguments: see `execution`.
/// - **Execution.** On `stream`: one kernel that reduces this rank's items, an all-gather of NCCL (16 bytes and an
///   aggregate of each rank), and a kernel of one thread. If the ranks share memory (DistributedMemory), one kernel
///   takes the place of the last two. The host does not wait. A call can be captured in a graph and replayed, by all
///   ranks.
/// - **Result.** The result is written to `*d_out`, which may lie inside the input. Aggregates of ranks are combined in
///   the order of ranks. So all ranks get the same bits, and the same from run to run, for floating-point sums, too.
///   Another distribution of the items over the ranks is another association, which may change floating-point sums. If
///   no rank has items, the initial value is the result.
/// - **NaN, zeros, types.** As in DeviceReduce. Indices of `ArgMin` and `ArgMax` count the items of all ranks.
/// - **Errors.** `cudaErrorInvalidValue`: negative count, an iterator or index type that cannot represent all local
///   indices, null pointer (`d_in` if there are items, `d_out`), two outputs that overlap, temporary storage too small.
///   A rank with bad arguments returns its error and takes part without items. Then no rank writes a result; the others
///   return `cudaSuccess`, and their debug builds stop. Size queries refuse only a null communicator, so that all ranks
///   come to the call itself. Otherwise a call returns what NCCL and launches return. After an error of NCCL or of a
///   launch, abort the communicator: other ranks may wait for this one.
/// - **When it pays.** Two H200 with NVLink are faster than one that has all items, as measured, with 2^24 items on
///   each, and slower with 2^20. The README of this folder has the times.
/// - **Algorithm.** DeviceReduce on each rank, then an all-gather. Then every rank combines the aggregates of all
///   ranks.
///
/// @code
/// #include <cstdlib>
/// #include <thread>
/// #include <vector>
///
/// __managed__ int numbers[12] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
/// __managed__ int sums[64];  // one of each rank
///
/// void must(bool is_right) { if (!is_right) std::abort(); }  // Others would wait for a rank that ends alone.
///
/// void rank_main(int rank, int ranks, ncclComm_t comm) {
///   must(cudaSetDevice(rank) == cudaSuccess);
///   const int begin = 12 * rank / ranks, end = 12 * (rank + 1) / ranks;
///   must(strata::DistributedReduce::Sum(numbers + begin, sums + rank, end - begin, comm) == cudaSuccess);
///   must(cudaDeviceSynchronize() == cudaSuccess && ncclCommDestroy(comm) == ncclSuccess);
/// }
///
/// int main() {
///   int ranks = 0;
///   if (cudaGetDeviceCount(&ranks) != cudaSuccess || ranks > 64) return 1;
///   std::vector<ncclComm_t> comms(ranks);
///   if (ncclCommInitAll(comms.data(), ranks, nullptr) != ncclSuccess) return 1;
///   std::vector<std::thread> threads;
///   for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(rank_main, rank, ranks, comms[rank]);
///   for (std::thread& thread : threads) thread.join();
///   std::printf("%d\n", sums[0]);
/// }
/// // prints: 52
/// @endcode
struct DistributedReduce {
  /// Reduces with a binary operator and an initial value, which takes part once.
  template <class InputIterator, class OutputIterator, class ReductionOp, class T>
  static cudaError_t Reduce(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                            OutputIterator d_out, detail::count64 num_items, ReductionOp reduction_op, T init,
                            ncclComm_t comm, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedReduce::Reduce");
    using AccumT = detail::accumulator_t<ReductionOp, T, detail::iterator_value_t<InputIterator>>;
    return detail::reduce_ranks<AccumT, detail::keep_item>(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items,
                                                           reduction_op, init, comm, stream);
  }

  /// Adds up the items of all ranks. The accumulator has the type of (output type) + (input type), as in DeviceReduce.
  template <class InputIterator, class OutputIterator>
  static cudaError_t Sum(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                         OutputIterator d_out, detail::count64 num_items, ncclComm_t comm, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedReduce::Sum");
    using Item = detail::iterator_value_t<InputIterator>;
    using T = detail::initial_value_t<OutputIterator, Item>;
    using AccumT = detail::accumulator_t<strata::Sum, T, Item>;
    return detail::reduce_ranks<AccumT, detail::keep_item>(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items,
                                                           strata::Sum{}, T{}, comm, stream);
  }

  /// Finds the smallest item of all ranks. Without items, it is the largest value of the input type.
  template <class InputIterator, class OutputIterator>
  static cudaError_t Min(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                         OutputIterator d_out, detail::count64 num_items, ncclComm_t comm, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedReduce::Min");
    using T = detail::iterator_value_t<InputIterator>;
    return detail::reduce_ranks<T, detail::keep_item>(
        d_temp_storage, temp_storage_bytes, d_in, d_out, num_items, strata::Min{},
        detail::only_if_empty<T>{detail::value_limits<T>::max()}, comm, stream);
  }

  /// Finds the largest item of all ranks. Without items, it is the lowest value of the input type.
  template <class InputIterator, class OutputIterator>
  static cudaError_t Max(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                         OutputIterator d_out, detail::count64 num_items, ncclComm_t comm, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedReduce::Max");
    using T = detail::iterator_value_t<InputIterator>;
    return detail::reduce_ranks<T, detail::keep_item>(
        d_temp_storage, temp_storage_bytes, d_in, d_out, num_items, strata::Max{},
        detail::only_if_empty<T>{detail::value_limits<T>::lowest()}, comm, stream);
  }

  /// Finds the smallest item and its 64-bit index among the items of all ranks: the first one, if several items are
  /// equal. Without items: the largest value of the input type, index 1.
  template <class InputIterator, class ExtremumOutIterator, class IndexOutIterator>
  static cudaError_t ArgMin(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                            ExtremumOutIterator d_min_out, IndexOutIterator d_index_out, detail::count64 num_items,
                            ncclComm_t comm, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedReduce::ArgMin");
    using T = detail::iterator_value_t<InputIterator>;
    return arg_extremum(d_temp_storage, temp_storage_bytes, d_in,
                        detail::arg_output<ExtremumOutIterator, IndexOutIterator>{d_min_out, d_index_out}, num_items,
                        strata::ArgMin{}, detail::value_limits<T>::max(), comm, stream);
  }

  /// Finds the largest item and its 64-bit index among the items of all ranks: the first one, if several items are
  /// equal. Without items: the lowest value of the input type, index 1.
  template <class InputIterator, class ExtremumOutIterator, class IndexOutIterator>
  static cudaError_t ArgMax(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                            ExtremumOutIterator d_max_out, IndexOutIterator d_index_out, detail::count64 num_items,
                            ncclComm_t comm, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedReduce::ArgMax");
    using T = detail::iterator_value_t<InputIterator>;
    return arg_extremum(d_temp_storage, temp_storage_bytes, d_in,
                        detail::arg_output<ExtremumOutIterator, IndexOutIterator>{d_max_out, d_index_out}, num_items,
                        strata::ArgMax{}, detail::value_limits<T>::lowest(), comm, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(Reduce, associated)
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(Sum, associated)
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(Min)
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(Max)
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(ArgMin)
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(ArgMax)

 private:
  template <class InputIterator, class OutputIterator, class ReductionOp, class T>
  static cudaError_t arg_extremum(void* d_temp_storage, std::size_t& temp_storage_bytes, InputIterator d_in,
                                  OutputIterator d_out, std::int64_t num_items, ReductionOp reduction_op, T if_empty,
                                  ncclComm_t comm, cudaStream_t stream) {
    using AccumT = KeyValuePair<long long, T>;
    return detail::reduce_ranks<AccumT, detail::number_item>(d_temp_storage, temp_storage_bytes, d_in, d_out, num_items,
                                                             reduction_op, detail::only_if_empty<AccumT>{{1, if_empty}},
                                                             comm, stream);
  }
};

STRATA_ARCH_NAMESPACE_END
