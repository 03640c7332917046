// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/distributed/execution.cuh>
#include <strata/distributed/sort/calls.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_NAMESPACE_BEGIN

/// Sorts the items of all ranks of a communicator by their bits, stably.
///
///     SortKeys(d_keys_in, num_items, d_keys_out, capacity, num_out, comm, stream)
///     SortPairs(d_keys_in, d_values_in, num_items, d_keys_out, d_values_out, capacity, num_out, comm, stream)
///
/// `d_temp_storage, temp_storage_bytes` come before these arguments. `SortKeysDescending` and `SortPairsDescending`
/// take the same. Before the communicator there may be `begin_bit, end_bit`, or `decomposer, begin_bit, end_bit`, or
/// `decomposer`. DeviceRadixSort says what keys, bits and decomposers are, and how floating-point numbers are ordered.
///
/// - **Result.** With n items on P ranks, rank r gets the items from r n / P to (r + 1) n / P - 1 of the sorted
///   sequence, both rounded down. Sorts are stable, descending ones, too: equal keys are in the order of their ranks,
///   and of their positions. The result is the same from run to run.
/// - **Call, capacity, execution, aliasing.** As for DistributedMergeSort. All ranks must give the same bits.
/// - **Storage.** As for DistributedMergeSort, with DeviceRadixSort in the place of DeviceMergeSort.
/// - **Traffic.** An item is sent at most once, not counting leads. The exception is small sorts in shared memory:
///   there all ranks read it. A rank sorts its items by DeviceRadixSort, then merges what it has received.
/// - **Errors.** `cudaErrorInvalidValue` on all ranks if the bits of two ranks differ, or if one refuses its arguments:
///   those that DeviceRadixSort refuses, and a null `num_out`. A null communicator is refused at once. Otherwise errors
///   of CUDA and NCCL (`as_cuda_error`). After one of these, abort the communicator: other ranks may wait for this one.
/// - **When it pays.** Two H200 with NVLink are faster than one that has all items, as measured, with 2^28 items on
///   each. With 2^24, one GPU is faster by 2 to 3 %, and with 2^20 by more. The README of this folder has the times.
///   Small sorts work as in DistributedMergeSort.
/// - **Algorithm.** As DistributedMergeSort, with local sorts by digits. Maltenberger et al., Evaluating Multi-GPU
///   Sorting with Modern Interconnects, 2022, compare algorithms of this kind with others.
///
/// @code
/// #include <cstdlib>
/// #include <thread>
/// #include <vector>
///
/// __managed__ unsigned keys[12] = {8, 6, 7, 5, 3, 0, 9, 11, 2, 4, 1, 10}, sorted[12];
/// __managed__ char letters[] = "o saasrsrttt", text[13];
///
/// void must(bool is_right) { if (!is_right) std::abort(); }  // Others would wait for a rank that ends alone.
///
/// void rank_main(int rank, int ranks, ncclComm_t comm) {
///   must(cudaSetDevice(rank) == cudaSuccess);
///   const int begin = 12 * rank / ranks, end = 12 * (rank + 1) / ranks, size = end - begin;
///   std::int64_t num_out = 0;  // becomes `size`: ranks get as many keys as they had
///   must(strata::DistributedRadixSort::SortPairs(keys + begin, letters + begin, size, sorted + begin, text + begin,
///                                                size, &num_out, comm) == cudaSuccess);
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
///   std::printf("%s\n", text);
/// }
/// // prints: strata sorts
/// @endcode
struct DistributedRadixSort {
  /// Sorts the keys of all ranks in ascending order.
  template <class KeyIterator, class Key>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                              detail::count64 num_items, Key* d_keys_out, detail::count64 capacity,
                              std::int64_t* num_out, ncclComm_t comm, cudaStream_t stream = 0) {
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys_in, NullType{}, num_items, d_keys_out, no_values,
                       capacity, num_out, comm, stream);
  }

  /// Sorts the keys of all ranks in ascending order. Compares bits `begin_bit` to `end_bit - 1`.
  template <class KeyIterator, class Key>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                              detail::count64 num_items, Key* d_keys_out, detail::count64 capacity,
                              std::int64_t* num_out, int begin_bit, int end_bit, ncclComm_t comm,
                              cudaStream_t stream = 0) {
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys_in, NullType{}, num_items, d_keys_out, no_values,
                       capacity, num_out, comm, stream, detail::identity_decomposer{}, begin_bit, end_bit);
  }

  /// Sorts the keys of all ranks in ascending order. Compares bits `begin_bit` to `end_bit - 1` of the fields that
  /// `decomposer` returns.
  template <class KeyIterator, class Key, class Decomposer, class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                              detail::count64 num_items, Key* d_keys_out, detail::count64 capacity,
                              std::int64_t* num_out, Decomposer decomposer, int begin_bit, int end_bit, ncclComm_t comm,
                              cudaStream_t stream = 0) {
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys_in, NullType{}, num_items, d_keys_out, no_values,
                       capacity, num_out, comm, stream, decomposer, begin_bit, end_bit);
  }

  /// Sorts the keys of all ranks in ascending order. Compares the fields that `decomposer` returns.
  template <class KeyIterator, class Key, class Decomposer, class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                              detail::count64 num_items, Key* d_keys_out, detail::count64 capacity,
                              std::int64_t* num_out, Decomposer decomposer, ncclComm_t comm, cudaStream_t stream = 0) {
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys_in, NullType{}, num_items, d_keys_out, no_values,
                       capacity, num_out, comm, stream, decomposer);
  }

  /// Sorts the keys of all ranks in descending order.
  template <class KeyIterator, class Key>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                                        detail::count64 num_items, Key* d_keys_out, detail::count64 capacity,
                                        std::int64_t* num_out, ncclComm_t comm, cudaStream_t stream = 0) {
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys_in, NullType{}, num_items, d_keys_out, no_values,
                      capacity, num_out, comm, stream);
  }

  /// Sorts the keys of all ranks in descending order. Compares bits `begin_bit` to `end_bit - 1`.
  template <class KeyIterator, class Key>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                                        detail::count64 num_items, Key* d_keys_out, detail::count64 capacity,
                                        std::int64_t* num_out, int begin_bit, int end_bit, ncclComm_t comm,
                                        cudaStream_t stream = 0) {
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys_in, NullType{}, num_items, d_keys_out, no_values,
                      capacity, num_out, comm, stream, detail::identity_decomposer{}, begin_bit, end_bit);
  }

  /// Sorts the keys of all ranks in descending order. Compares bits `begin_bit` to `end_bit - 1` of the fields that
  /// `decomposer` returns.
  template <class KeyIterator, class Key, class Decomposer, class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                                        detail::count64 num_items, Key* d_keys_out, detail::count64 capacity,
                                        std::int64_t* num_out, Decomposer decomposer, int begin_bit, int end_bit,
                                        ncclComm_t comm, cudaStream_t stream = 0) {
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys_in, NullType{}, num_items, d_keys_out, no_values,
                      capacity, num_out, comm, stream, decomposer, begin_bit, end_bit);
  }

  /// Sorts the keys of all ranks in descending order. Compares the fields that `decomposer` returns.
  template <class KeyIterator, class Key, class Decomposer, class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                                        detail::count64 num_items, Key* d_keys_out, detail::count64 capacity,
                                        std::int64_t* num_out, Decomposer decomposer, ncclComm_t comm,
                                        cudaStream_t stream = 0) {
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys_in, NullType{}, num_items, d_keys_out, no_values,
                      capacity, num_out, comm, stream, decomposer);
  }

  /// Sorts the keys of all ranks with their values in ascending order.
  template <class KeyIterator, class ValueIterator, class Key, class Value>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                               ValueIterator d_values_in, detail::count64 num_items, Key* d_keys_out,
                               Value* d_values_out, detail::count64 capacity, std::int64_t* num_out, ncclComm_t comm,
                               cudaStream_t stream = 0) {
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, num_items, d_keys_out, d_values_out,
                       capacity, num_out, comm, stream);
  }

  /// Sorts the keys of all ranks with their values in ascending order. Compares bits `begin_bit` to `end_bit - 1`.
  template <class KeyIterator, class ValueIterator, class Key, class Value>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                               ValueIterator d_values_in, detail::count64 num_items, Key* d_keys_out,
                               Value* d_values_out, detail::count64 capacity, std::int64_t* num_out, int begin_bit,
                               int end_bit, ncclComm_t comm, cudaStream_t stream = 0) {
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, num_items, d_keys_out, d_values_out,
                       capacity, num_out, comm, stream, detail::identity_decomposer{}, begin_bit, end_bit);
  }

  /// Sorts the keys of all ranks with their values in ascending order. Compares bits `begin_bit` to `end_bit - 1` of
  /// the fields that `decomposer` returns.
  template <class KeyIterator, class ValueIterator, class Key, class Value, class Decomposer,
            class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                               ValueIterator d_values_in, detail::count64 num_items, Key* d_keys_out,
                               Value* d_values_out, detail::count64 capacity, std::int64_t* num_out,
                               Decomposer decomposer, int begin_bit, int end_bit, ncclComm_t comm,
                               cudaStream_t stream = 0) {
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, num_items, d_keys_out, d_values_out,
                       capacity, num_out, comm, stream, decomposer, begin_bit, end_bit);
  }

  /// Sorts the keys of all ranks with their values in ascending order. Compares the fields that `decomposer` returns.
  template <class KeyIterator, class ValueIterator, class Key, class Value, class Decomposer,
            class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                               ValueIterator d_values_in, detail::count64 num_items, Key* d_keys_out,
                               Value* d_values_out, detail::count64 capacity, std::int64_t* num_out,
                               Decomposer decomposer, ncclComm_t comm, cudaStream_t stream = 0) {
    return sort<false>(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, num_items, d_keys_out, d_values_out,
                       capacity, num_out, comm, stream, decomposer);
  }

  /// Sorts the keys of all ranks with their values in descending order.
  template <class KeyIterator, class ValueIterator, class Key, class Value>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                                         ValueIterator d_values_in, detail::count64 num_items, Key* d_keys_out,
                                         Value* d_values_out, detail::count64 capacity, std::int64_t* num_out,
                                         ncclComm_t comm, cudaStream_t stream = 0) {
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, num_items, d_keys_out, d_values_out,
                      capacity, num_out, comm, stream);
  }

  /// Sorts the keys of all ranks with their values in descending order. Compares bits `begin_bit` to `end_bit - 1`.
  template <class KeyIterator, class ValueIterator, class Key, class Value>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                                         ValueIterator d_values_in, detail::count64 num_items, Key* d_keys_out,
                                         Value* d_values_out, detail::count64 capacity, std::int64_t* num_out,
                                         int begin_bit, int end_bit, ncclComm_t comm, cudaStream_t stream = 0) {
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, num_items, d_keys_out, d_values_out,
                      capacity, num_out, comm, stream, detail::identity_decomposer{}, begin_bit, end_bit);
  }

  /// Sorts the keys of all ranks with their values in descending order. Compares bits `begin_bit` to `end_bit - 1` of
  /// the fields that `decomposer` returns.
  template <class KeyIterator, class ValueIterator, class Key, class Value, class Decomposer,
            class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                                         ValueIterator d_values_in, detail::count64 num_items, Key* d_keys_out,
                                         Value* d_values_out, detail::count64 capacity, std::int64_t* num_out,
                                         Decomposer decomposer, int begin_bit, int end_bit, ncclComm_t comm,
                                         cudaStream_t stream = 0) {
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, num_items, d_keys_out, d_values_out,
                      capacity, num_out, comm, stream, decomposer, begin_bit, end_bit);
  }

  /// Sorts the keys of all ranks with their values in descending order. Compares the fields that `decomposer` returns.
  template <class KeyIterator, class ValueIterator, class Key, class Value, class Decomposer,
            class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                                         ValueIterator d_values_in, detail::count64 num_items, Key* d_keys_out,
                                         Value* d_values_out, detail::count64 capacity, std::int64_t* num_out,
                                         Decomposer decomposer, ncclComm_t comm, cudaStream_t stream = 0) {
    return sort<true>(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, num_items, d_keys_out, d_values_out,
                      capacity, num_out, comm, stream, decomposer);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(SortKeys, sorted)
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(SortKeysDescending, sorted)
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(SortPairs, sorted)
  STRATA_CALL_OF_RANK_WITHOUT_STORAGE(SortPairsDescending, sorted)

 private:
  static constexpr NullType* no_values = nullptr;

  template <bool IsDescending, class KeyIterator, class ValueIterator, class Key, class Value,
            class Decomposer = detail::identity_decomposer>
  static cudaError_t sort(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                          ValueIterator d_values_in, detail::count64 num_items, Key* d_keys_out, Value* d_values_out,
                          detail::count64 capacity, std::int64_t* num_out, ncclComm_t comm, cudaStream_t stream,
                          Decomposer decomposer = {}, int begin_bit = 0,
                          int end_bit = detail::radix_key_bits<Key, Decomposer>()) {
    constexpr bool has_values = !std::is_same_v<Value, NullType>;
    STRATA_NVTX_RANGE(d_temp_storage, has_values ? IsDescending ? "strata::DistributedRadixSort::SortPairsDescending"
                                                                : "strata::DistributedRadixSort::SortPairs"
                                      : IsDescending ? "strata::DistributedRadixSort::SortKeysDescending"
                                                     : "strata::DistributedRadixSort::SortKeys");
    return detail::distributed_radix_sort<IsDescending>(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in,
                                                        num_items, d_keys_out, d_values_out, capacity, num_out,
                                                        decomposer, begin_bit, end_bit, comm, stream);
  }
};

STRATA_ARCH_NAMESPACE_END
