// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/top_k/calls.cuh>

#include <cstddef>

STRATA_ARCH_NAMESPACE_BEGIN

/// Finds the `k` greatest or least keys of a sequence in device memory, alone or with values.
///
/// Keys are those of DeviceRadixSort, in its order: integers, enumerations and floating-point numbers; -0.0 is equal
/// to +0.0, and all NaN are equal and greater than +infinity. All items are results if `k` is not less than
/// `num_items`.
///
/// - **Result.** If keys are equal, the first ones in the input are taken. `MaxKeys`, `MinKeys`, `MaxPairs` and
///   `MinPairs` write the results in the order of the input. The functions with `Sorted` in their names write them in
///   the order of DeviceRadixSort, descending for the greatest: they are the first `k` items of a stable sort. Results
///   are the same from run to run. Nothing is written behind them.
/// - **Call.** Twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (pure arithmetic; never 0), then
///   with that much device memory, whose contents and alignment do not matter. Or once, without these two arguments:
///   see `execution`. `num_items` and `k` may have any integer types. Inputs may be any random-access iterators that
///   can be dereferenced in device code. So may outputs, except those of sorted results, which are arrays.
/// - **Execution.** One cooperative launch for less than 16 MiB of keys, or if `k` is more than about a sixth of
///   `num_items`; otherwise four launches, the last two of which are cooperative (DeviceScan says when these start).
///   Sorted results need in addition the launches of DeviceRadixSort for `k` items. All launches are on `stream`. There
///   is no host synchronisation and no allocation, so a call can be captured in a graph and replayed. Calls that may
///   run at the same time need temporary storage of their own.
/// - **Traffic.** Four launches read the keys once, and few of them again. One launch reads them once for each 11 bits
///   of a key until the k-th key is known, and then once more. Four launches do so, too, after the first read, if the
///   sample did not represent the input; this depends on the input alone. Only the values of results are read.
/// - **Storage.** An input of less than 16 MiB needs 62 KB for keys of 4 bytes. A longer one needs 210 KB, and memory
///   for the keys of candidates and, with values, for their indices. This is also so if `k` is so large that there is
///   one launch. The capacity for candidates is 0.74 % of `num_items` if `k` is 1, 1.3 % if `k` is a thousandth of
///   `num_items`, 3.3 % if it is a hundredth, and never more than a quarter. Sorted results need in addition `k` items,
///   and the storage of DeviceRadixSort for `k` items.
/// - **Types.** Values may have any trivially relocatable type; those of sorted results, up to 800 bytes.
/// - **Aliasing.** No output may overlap an input or the other output.
/// - **Tuning.** `TunedDeviceTopK<Hub>` uses your hub instead of top_k_policy_hub. Your hub must derive from it: see
///   default_policy_hub. Sorts of results keep the rows of DeviceRadixSort.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written. In size queries too: a negative or
///   too large count or `k`, an iterator whose differences cannot represent the indices. Only in calls that are no size
///   queries: a null pointer if there are results, arrays that overlap, temporary storage too small. Beyond that, what
///   the launches return. An older error of the runtime is neither returned nor cleared.
/// - **Algorithm.** Radix selection: digits from the highest on, by counts, until the k-th key is known (Zhang et al.,
///   "Parallel Top-K Algorithms on GPU", 2023). Before it, one item of a sample, as in Floyd and Rivest, "Expected time
///   bounds for selection" (1975), separates few candidates from the other items, in one read. Items are compared by
///   key and index, so equal keys cause no more candidates than other keys.
///
/// @code
/// // The three best players, the best one first.
/// __managed__ float scores[6] = {7.5f, 9, 6, 8.5f, 9.5f, 8};
/// __managed__ int players[6] = {0, 1, 2, 3, 4, 5};
/// __managed__ float best_scores[3];
/// __managed__ int best_players[3];
///
/// int main() {
///   using strata::DeviceTopK;
///   if (DeviceTopK::MaxPairsSorted(scores, best_scores, players, best_players, 6, 3) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int i = 0; i < 3; ++i) std::printf("%d:%g ", best_players[i], best_scores[i]);
/// }
/// // prints: 4:9.5 1:9 3:8.5
/// @endcode
template <class PolicyHub>
struct TunedDeviceTopK {
  // -------------------------------------------------------------- in the order of the input
  /// Writes the `k` greatest keys, in the order of the input.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class NumItemsT, class NumOutItemsT>
  static cudaError_t MaxKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                             KeyOutputIteratorT d_keys_out, NumItemsT num_items, NumOutItemsT k,
                             cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceTopK::MaxKeys");
    return detail::top_k<true, false, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, NullType{},
                                                 NullType{}, num_items, k, stream);
  }
  /// Writes the `k` least keys, in the order of the input.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class NumItemsT, class NumOutItemsT>
  static cudaError_t MinKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                             KeyOutputIteratorT d_keys_out, NumItemsT num_items, NumOutItemsT k,
                             cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceTopK::MinKeys");
    return detail::top_k<false, false, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, NullType{},
                                                  NullType{}, num_items, k, stream);
  }
  /// Writes the `k` greatest keys with their values, in the order of the input.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class ValueInputIteratorT, class ValueOutputIteratorT,
            class NumItemsT, class NumOutItemsT>
  static cudaError_t MaxPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                              KeyOutputIteratorT d_keys_out, ValueInputIteratorT d_values_in,
                              ValueOutputIteratorT d_values_out, NumItemsT num_items, NumOutItemsT k,
                              cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceTopK::MaxPairs");
    return detail::top_k<true, false, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                                                 d_values_out, num_items, k, stream);
  }
  /// Writes the `k` least keys with their values, in the order of the input.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class ValueInputIteratorT, class ValueOutputIteratorT,
            class NumItemsT, class NumOutItemsT>
  static cudaError_t MinPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                              KeyOutputIteratorT d_keys_out, ValueInputIteratorT d_values_in,
                              ValueOutputIteratorT d_values_out, NumItemsT num_items, NumOutItemsT k,
                              cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceTopK::MinPairs");
    return detail::top_k<false, false, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out,
                                                  d_values_in, d_values_out, num_items, k, stream);
  }

  // -------------------------------------------------------------- sorted
  /// Writes the `k` greatest keys, sorted, the greatest first.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class NumItemsT, class NumOutItemsT>
  static cudaError_t MaxKeysSorted(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                                   KeyOutputIteratorT d_keys_out, NumItemsT num_items, NumOutItemsT k,
                                   cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceTopK::MaxKeysSorted");
    return detail::top_k<true, true, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, NullType{},
                                                NullType{}, num_items, k, stream);
  }
  /// Writes the `k` least keys, sorted, the least first.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class NumItemsT, class NumOutItemsT>
  static cudaError_t MinKeysSorted(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                                   KeyOutputIteratorT d_keys_out, NumItemsT num_items, NumOutItemsT k,
                                   cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceTopK::MinKeysSorted");
    return detail::top_k<false, true, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, NullType{},
                                                 NullType{}, num_items, k, stream);
  }
  /// Writes the `k` greatest keys with their values, sorted, the greatest first.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class ValueInputIteratorT, class ValueOutputIteratorT,
            class NumItemsT, class NumOutItemsT>
  static cudaError_t MaxPairsSorted(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                                    KeyOutputIteratorT d_keys_out, ValueInputIteratorT d_values_in,
                                    ValueOutputIteratorT d_values_out, NumItemsT num_items, NumOutItemsT k,
                                    cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceTopK::MaxPairsSorted");
    return detail::top_k<true, true, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                                                d_values_out, num_items, k, stream);
  }
  /// Writes the `k` least keys with their values, sorted, the least first.
  template <class KeyInputIteratorT, class KeyOutputIteratorT, class ValueInputIteratorT, class ValueOutputIteratorT,
            class NumItemsT, class NumOutItemsT>
  static cudaError_t MinPairsSorted(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyInputIteratorT d_keys_in,
                                    KeyOutputIteratorT d_keys_out, ValueInputIteratorT d_values_in,
                                    ValueOutputIteratorT d_values_out, NumItemsT num_items, NumOutItemsT k,
                                    cudaStream_t stream = 0) {
    STRATA_NVTX_RANGE(d_temp_storage, "strata::DeviceTopK::MinPairsSorted");
    return detail::top_k<false, true, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                                                 d_values_out, num_items, k, stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(MaxKeys)
  STRATA_CALL_WITHOUT_STORAGE(MinKeys)
  STRATA_CALL_WITHOUT_STORAGE(MaxPairs)
  STRATA_CALL_WITHOUT_STORAGE(MinPairs)
  STRATA_CALL_WITHOUT_STORAGE(MaxKeysSorted, sorted)
  STRATA_CALL_WITHOUT_STORAGE(MinKeysSorted, sorted)
  STRATA_CALL_WITHOUT_STORAGE(MaxPairsSorted, sorted)
  STRATA_CALL_WITHOUT_STORAGE(MinPairsSorted, sorted)
};
using DeviceTopK = TunedDeviceTopK<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
