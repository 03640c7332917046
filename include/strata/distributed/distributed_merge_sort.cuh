// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/distributed/execution.cuh>
#include <strata/distributed/sort/calls.cuh>

#include <cstddef>
#include <cstdint>

STRATA_ARCH_NAMESPACE_BEGIN

/// Sorts the items of all ranks of a communicator by any comparator, stably.
///
///     SortKeys(d_keys_in, num_items, d_keys_out, capacity, num_out, compare, comm, stream)
///     SortPairs(d_keys_in, d_values_in, num_items, d_keys_out, d_values_out, capacity, num_out, compare, comm, stream)
///
/// `d_temp_storage, temp_storage_bytes` come before these arguments.
///
/// - **Result.** With n items on P ranks, rank r gets the items from r n / P to (r + 1) n / P - 1 of the sorted
///   sequence, both rounded down. Sorts are stable: equal items are in the order of their ranks, and of their
///   positions. The result is the same from run to run. `compare` is a strict weak ordering, as for DeviceMergeSort.
///   With another comparator the result is unspecified, or all ranks return `cudaErrorInvalidValue`.
/// - **Call.** All ranks call it, and they make all calls of the communicator in the same order. `num_items` may differ
///   between ranks and be 0. Call it twice, as with CUB: the size query is arithmetic on this rank's arguments, and
///   communicates nothing. Or call it once, without the first two arguments: see `execution`.
/// - **Capacity.** `capacity` is the number of items that the output arrays can hold. `num_out` is a host pointer: when
///   the call returns, `*num_out` is the number of items that this rank gets. If any rank would get more items than its
///   capacity, no rank writes an item, and all return `cudaErrorInvalidValue`.
/// - **Execution.** The host waits for the counts of all ranks. The same messages carry samples of the keys. If no rank
///   has more than 4,096 items (fewer if keys have more than 16 bytes), they give the splitters. Otherwise more rounds
///   find the splitters, and the host waits once more. Each round is a collective of some KiB and a kernel, and narrows
///   the search by a factor of about 700 with 2 ranks, and 60 with 8. If ranks share memory, small sorts need no
///   splitters, so the host waits once. If only some ranks have few enough items for a small sort, the host waits up to
///   three times. Calls cannot be captured. The exchange and the merges are in the stream when the call returns.
/// - **Storage.** Temporary storage has the rank's items, and in addition the largest of three parts, which are not
///   used at the same time. The first is what DeviceMergeSort takes for the rank's items. The second is `capacity`
///   items, and for more than two ranks one or two buffers. A buffer has `capacity` items, but above 2^22 only a
///   quarter of `capacity`, at least 2^22. The third is for small sorts of up to 8 ranks: up to 16 MiB for two copies
///   of the items of all ranks, and what DeviceMergeSort takes to sort these items. If the storage lies in a
///   DistributedMemory on all ranks, the sort is faster.
/// - **Traffic.** An item is sent at most once, not counting leads. The exception is small sorts in shared memory:
///   there all ranks read it. A rank sorts its items, then merges what it has received. A share of more than 2^22 items
///   comes in 4 parts, and each is merged while the next one comes.
/// - **Aliasing.** No output may overlap an input or the other output.
/// - **Errors.** `cudaErrorInvalidValue` on all ranks if one refuses its arguments: those that DeviceMergeSort refuses,
///   and a null `num_out`. A null communicator is refused at once. Otherwise errors of CUDA and NCCL (`as_cuda_error`).
///   After one of these, abort the communicator: other ranks may wait for this one.
/// - **When it pays.** Two H200 with NVLink are faster than one that has all items, as measured, with 2^24 items on
///   each, and slower with 2^20. The README of this folder has the times. If up to 8 ranks share memory, and no rank
///   has more than 2^20 items or more than 8 MiB / P of them, the sort is small: each rank gets the items of all ranks,
///   sorts them and keeps its share. All ranks see this from the counts.
/// - **Algorithm.** Local sorts, exact splitters by selection among the sorted items of all ranks (P. J. Varman et al.,
///   Merging Multiple Lists on Hierarchical-Memory Multiprocessors, 1991), one exchange, merges.
///
/// @code
/// #include <cstdlib>
/// #include <thread>
/// #include <vector>
///
/// __managed__ int numbers[12] = {31, 14, 15, 92, 65, 35, 89, 79, 32, 38, 46, 26}, sorted[12];
/// struct by_last_digit { __host__ __device__ bool operator()(int a, int b) const { return a % 10 < b % 10; } };
///
/// void must(bool is_right) { if (!is_right) std::abort(); }  // Others would wait for a rank that ends alone.
///
/// void rank_main(int rank, int ranks, ncclComm_t comm) {
///   must(cudaSetDevice(rank) == cudaSuccess);
///   const int begin = 12 * rank / ranks, end = 12 * (rank + 1) / ranks, size = end - begin;
///   std::int64_t num_out = 0;  // becomes `size`: ranks get as many numbers as they had
///   must(strata::DistributedMergeSort::SortKeys(numbers + begin, size, sorted + begin, size, &num_out,
///                                               by_last_digit{}, comm) == cudaSuccess);
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
///   for (int number : sorted) std::printf("%d ", number);
/// }
/// // prints: 31 92 32 14 15 65 35 46 26 38 89 79
/// @endcode
struct DistributedMergeSort {
  /// Sorts the keys of all ranks by `compare_op`.
  template <class KeyIterator, class Key, class CompareOp>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                              detail::count64 num_items, Key* d_keys_out, detail::count64 capacity,
                              std::int64_t* num_out, CompareOp compare_op, ncclComm_t comm, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedMergeSort::SortKeys");
    return detail::distributed_merge_sort(d_temp_storage, temp_storage_bytes, d_keys_in, NullType{}, num_items,
                                          d_keys_out, static_cast<NullType*>(nullptr), capacity, num_out, compare_op,
                                          comm, stream);
  }

  /// Sorts the keys of all ranks with their values by `compare_op`.
  template <class KeyIterator, class ValueIterator, class Key, class Value, class CompareOp>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                               ValueIterator d_values_in, detail::count64 num_items, Key* d_keys_out,
                               Value* d_values_out, detail::count64 capacity, std::int64_t* num_out,
                               CompareOp compare_op, ncclComm_t comm, cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DistributedMergeSort::SortPairs");
    return detail::distributed_merge_sort(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, num_items,
                                          d_keys_out, d_values_out, capacity, num_out, compare_op, comm, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(SortKeys, sorted)
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(SortPairs, sorted)
};

STRATA_ARCH_NAMESPACE_END
