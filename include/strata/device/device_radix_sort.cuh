// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/policy_hub.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/companions.cuh>
#include <strata/device/engine/execution.cuh>
#include <strata/device/radix_sort/calls.cuh>

#include <cstddef>

STRATA_ARCH_NAMESPACE_BEGIN

/// Sorts keys in device memory, alone or with values, by their bits.
///
/// Integers, enumerations and bool sort by their value. So do floating-point numbers, those of 16 and 8 bits included
/// (`__half`, `__nv_bfloat16`, `__nv_fp8_e4m3`, `__nv_fp8_e5m2`), where -0.0 is equal to +0.0, and all NaN are equal
/// and greater than +infinity. For other keys a decomposer returns references to the fields to sort by, the most
/// significant first (see RadixFields). A sort looks only at bits `begin_bit` to `end_bit - 1` of the unsigned integer
/// that RadixTraits makes of a key. Bit 0 is the least significant one. Fewer bits, or bits that are the same in all
/// keys, make it faster.
///
/// - **Stability.** Equal keys and their values keep their order, in descending sorts too. Results are the same from
///   run to run.
/// - **Call.** Call it twice: first with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (pure arithmetic;
///   never 0), then with that much device memory, whose contents and alignment do not matter. Or call it once, without
///   these two arguments: see `execution`. `num_items` may have any integer type, or be a FutureCount. Inputs may be
///   any random-access iterators that can be dereferenced in device code. Outputs are arrays.
/// - **Two buffers.** With `DoubleBuffer`, the sort moves items between its two arrays and overwrites the input;
///   temporary storage holds no copy of them. On return `selector` names the array that will have the result.
/// - **Execution.** One kernel launch sorts up to about two million items of 4 bytes, or one million of 8. One block
///   sorts up to about a thousand items. On compute capability 9.0 to 11.x, one cluster of blocks sorts several
///   thousand; elsewhere one block does. As many blocks as the device holds at a time sort more (a cooperative launch).
///   For still more items, or a FutureCount of more items than a cluster sorts, one launch counts digits (cooperative).
///   Then one launch for each digit of 8 bits moves all items, unless all have the same digit. Integer keys of one byte
///   without values are counted by the first launch, and a second launch writes them from the counts. So are keys of
///   two bytes, from 2^23 keys on, but not on compute capabilities 7.5, 8.6, 8.9 and 12.0. Both need a sort by all
///   bits, and a count that is no FutureCount. DeviceScan says when a cooperative launch starts. No host
///   synchronisation and no allocation: a call can be captured in a graph and replayed. Concurrent calls need separate
///   storage.
/// - **Storage.** As much as keys and values (not with `DoubleBuffer`), plus state that blocks exchange. `ArgSort`
///   takes twice as much as the keys, once as much as the indices, and the state. Up to 2^18 items the state takes
///   about as much as the keys, and 33 KB. From there on it takes 1.1 MB for keys of 4 bytes, or 1/7 of their size if
///   that is more (1/6 for keys of 2 bytes, 1/3 for keys of one; twice that from 2^31 items on).
/// - **Traffic.** The digit count reads the keys once, unless one launch does all. Each pass reads and writes all
///   items. Integer keys of one byte without values, and many of two bytes, are read once and written once: they are
///   counted, and the sorted keys are written from the counts.
/// - **Large values.** A block keeps at least 256 values in shared memory. Values of more than 800 bytes do not
///   compile. A call returns `cudaErrorInvalidValue` for values of more than about 600 bytes on compute capability 8.0,
///   350 on 8.6, 8.9 and 12.0, or 200 on 7.5. Sort indices by `ArgSort` then, and gather: that moves large values only
///   once.
/// - **Aliasing.** `d_keys_out` may be `d_keys_in`, and `d_values_out` may be `d_values_in`: the same pointer, not
///   another part of the array, and no other iterator over it. This takes no more storage. Above the size of a cluster,
///   an odd number of digits (`end_bit - begin_bit` from 1 to 8, from 17 to 24, ...) costs one copy of all items, in a
///   launch of its own, unless the keys are sorted from counts. If a sort in place takes several launches, the pass of
///   a digit that is the same in all keys may copy all items, too. Apart from these cases, no output may overlap an
///   input or another output.
/// - **Tuning.** `TunedDeviceRadixSort<Hub>` uses your hub instead of radix_sort_policy_hub: see default_policy_hub.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written. In size queries too: a negative or
///   too large count, bits that the keys do not have, an index type too small for the number of items. Not in size
///   queries: a null pointer if there are items, arrays that overlap, temporary storage too small. Beyond that, a call
///   returns what the launches return. An older error of the runtime is neither returned nor cleared.
/// - **Algorithm.** Least significant digit first: Adinets and Merrill, "Onesweep" (2022).
///
/// @code
/// // People by age. Those of one age stay in their order.
/// __managed__ unsigned ages[6] = {30, 9, 27, 9, 41, 27}, sorted_ages[6];
/// __managed__ int people[6] = {0, 1, 2, 3, 4, 5}, sorted_people[6];
///
/// int main() {
///   using strata::DeviceRadixSort;
///   void* temp = nullptr;
///   std::size_t bytes = 0;  // The first call writes how much temporary storage the second one needs.
///   cudaError_t status = DeviceRadixSort::SortPairs(nullptr, bytes, ages, sorted_ages, people, sorted_people, 6);
///   if (status == cudaSuccess) status = cudaMalloc(&temp, bytes);
///   if (status == cudaSuccess) {
///     status = DeviceRadixSort::SortPairs(temp, bytes, ages, sorted_ages, people, sorted_people, 6);
///   }
///   if (status == cudaSuccess) status = cudaDeviceSynchronize();
///   if (status != cudaSuccess) return 1;
///   for (int i = 0; i < 6; ++i) std::printf("%u:%d ", sorted_ages[i], sorted_people[i]);
///   cudaFree(temp);
/// }
/// // prints: 9:1 9:3 27:2 27:5 30:0 41:4
/// @endcode
template <class PolicyHub>
struct TunedDeviceRadixSort {
  // -------------------------------------------------------------- keys
  /// Sorts keys in ascending order, from one array to another. Compares bits `begin_bit` to `end_bit - 1`.
  template <class Key, class NumItemsT, class KeyIterator, class = detail::if_count<NumItemsT>>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                              Key* d_keys_out, NumItemsT num_items, int begin_bit = 0, int end_bit = 8 * sizeof(Key),
                              cudaStream_t stream = 0) {
    return detail::sort_keys<false, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items,
                                               detail::identity_decomposer{}, begin_bit, end_bit, stream);
  }
  /// Sorts keys in ascending order, from one array to another. Compares bits `begin_bit` to `end_bit - 1` of the fields
  /// that `decomposer` returns.
  template <class Key, class NumItemsT, class Decomposer, class KeyIterator,
            class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                              Key* d_keys_out, NumItemsT num_items, Decomposer decomposer, int begin_bit, int end_bit,
                              cudaStream_t stream = 0) {
    return detail::sort_keys<false, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items,
                                               decomposer, begin_bit, end_bit, stream);
  }
  /// Sorts keys in ascending order, from one array to another. Compares the fields that `decomposer` returns.
  template <class Key, class NumItemsT, class Decomposer, class KeyIterator,
            class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                              Key* d_keys_out, NumItemsT num_items, Decomposer decomposer, cudaStream_t stream = 0) {
    return detail::sort_keys<false, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items,
                                               decomposer, 0, detail::radix_key_bits<Key, Decomposer>(), stream);
  }
  /// Sorts keys in ascending order, between two buffers. Compares bits `begin_bit` to `end_bit - 1`.
  template <class Key, class NumItemsT, class = detail::if_count<NumItemsT>>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                              NumItemsT num_items, int begin_bit = 0, int end_bit = 8 * sizeof(Key),
                              cudaStream_t stream = 0) {
    return detail::sort_keys<false, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys, num_items,
                                               detail::identity_decomposer{}, begin_bit, end_bit, stream);
  }
  /// Sorts keys in ascending order, between two buffers. Compares bits `begin_bit` to `end_bit - 1` of the fields that
  /// `decomposer` returns.
  template <class Key, class NumItemsT, class Decomposer, class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                              NumItemsT num_items, Decomposer decomposer, int begin_bit, int end_bit,
                              cudaStream_t stream = 0) {
    return detail::sort_keys<false, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys, num_items, decomposer,
                                               begin_bit, end_bit, stream);
  }
  /// Sorts keys in ascending order, between two buffers. Compares the fields that `decomposer` returns.
  template <class Key, class NumItemsT, class Decomposer, class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortKeys(void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                              NumItemsT num_items, Decomposer decomposer, cudaStream_t stream = 0) {
    return detail::sort_keys<false, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys, num_items, decomposer, 0,
                                               detail::radix_key_bits<Key, Decomposer>(), stream);
  }
  /// Sorts keys in descending order, from one array to another. Compares bits `begin_bit` to `end_bit - 1`.
  template <class Key, class NumItemsT, class KeyIterator, class = detail::if_count<NumItemsT>>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                                        Key* d_keys_out, NumItemsT num_items, int begin_bit = 0,
                                        int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    return detail::sort_keys<true, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items,
                                              detail::identity_decomposer{}, begin_bit, end_bit, stream);
  }
  /// Sorts keys in descending order, from one array to another. Compares bits `begin_bit` to `end_bit - 1` of the
  /// fields that `decomposer` returns.
  template <class Key, class NumItemsT, class Decomposer, class KeyIterator,
            class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                                        Key* d_keys_out, NumItemsT num_items, Decomposer decomposer, int begin_bit,
                                        int end_bit, cudaStream_t stream = 0) {
    return detail::sort_keys<true, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items,
                                              decomposer, begin_bit, end_bit, stream);
  }
  /// Sorts keys in descending order, from one array to another. Compares the fields that `decomposer` returns.
  template <class Key, class NumItemsT, class Decomposer, class KeyIterator,
            class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                                        Key* d_keys_out, NumItemsT num_items, Decomposer decomposer,
                                        cudaStream_t stream = 0) {
    return detail::sort_keys<true, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items,
                                              decomposer, 0, detail::radix_key_bits<Key, Decomposer>(), stream);
  }
  /// Sorts keys in descending order, between two buffers. Compares bits `begin_bit` to `end_bit - 1`.
  template <class Key, class NumItemsT, class = detail::if_count<NumItemsT>>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        DoubleBuffer<Key>& d_keys, NumItemsT num_items, int begin_bit = 0,
                                        int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    return detail::sort_keys<true, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys, num_items,
                                              detail::identity_decomposer{}, begin_bit, end_bit, stream);
  }
  /// Sorts keys in descending order, between two buffers. Compares bits `begin_bit` to `end_bit - 1` of the fields that
  /// `decomposer` returns.
  template <class Key, class NumItemsT, class Decomposer, class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        DoubleBuffer<Key>& d_keys, NumItemsT num_items, Decomposer decomposer,
                                        int begin_bit, int end_bit, cudaStream_t stream = 0) {
    return detail::sort_keys<true, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys, num_items, decomposer,
                                              begin_bit, end_bit, stream);
  }
  /// Sorts keys in descending order, between two buffers. Compares the fields that `decomposer` returns.
  template <class Key, class NumItemsT, class Decomposer, class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortKeysDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                        DoubleBuffer<Key>& d_keys, NumItemsT num_items, Decomposer decomposer,
                                        cudaStream_t stream = 0) {
    return detail::sort_keys<true, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys, num_items, decomposer, 0,
                                              detail::radix_key_bits<Key, Decomposer>(), stream);
  }

  // -------------------------------------------------------------- pairs
  /// Sorts keys with their values in ascending order, from one array to another. Compares bits `begin_bit` to
  /// `end_bit - 1`.
  template <class Key, class Value, class NumItemsT, class KeyIterator, class ValueIterator,
            class = detail::if_count<NumItemsT>>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                               Key* d_keys_out, ValueIterator d_values_in, Value* d_values_out, NumItemsT num_items,
                               int begin_bit = 0, int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    return detail::sort_pairs<false, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                                                d_values_out, num_items, detail::identity_decomposer{}, begin_bit,
                                                end_bit, stream);
  }
  /// Sorts keys with their values in ascending order, from one array to another. Compares bits `begin_bit` to
  /// `end_bit - 1` of the fields that `decomposer` returns.
  template <class Key, class Value, class NumItemsT, class Decomposer, class KeyIterator, class ValueIterator,
            class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                               Key* d_keys_out, ValueIterator d_values_in, Value* d_values_out, NumItemsT num_items,
                               Decomposer decomposer, int begin_bit, int end_bit, cudaStream_t stream = 0) {
    return detail::sort_pairs<false, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                                                d_values_out, num_items, decomposer, begin_bit, end_bit, stream);
  }
  /// Sorts keys with their values in ascending order, from one array to another. Compares the fields that `decomposer`
  /// returns.
  template <class Key, class Value, class NumItemsT, class Decomposer, class KeyIterator, class ValueIterator,
            class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                               Key* d_keys_out, ValueIterator d_values_in, Value* d_values_out, NumItemsT num_items,
                               Decomposer decomposer, cudaStream_t stream = 0) {
    return detail::sort_pairs<false, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                                                d_values_out, num_items, decomposer, 0,
                                                detail::radix_key_bits<Key, Decomposer>(), stream);
  }
  /// Sorts keys with their values in ascending order, between two buffers. Compares bits `begin_bit` to `end_bit - 1`.
  template <class Key, class Value, class NumItemsT, class = detail::if_count<NumItemsT>>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                               DoubleBuffer<Value>& d_values, NumItemsT num_items, int begin_bit = 0,
                               int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    return detail::sort_pairs<false, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items,
                                                detail::identity_decomposer{}, begin_bit, end_bit, stream);
  }
  /// Sorts keys with their values in ascending order, between two buffers. Compares bits `begin_bit` to `end_bit - 1`
  /// of the fields that `decomposer` returns.
  template <class Key, class Value, class NumItemsT, class Decomposer, class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                               DoubleBuffer<Value>& d_values, NumItemsT num_items, Decomposer decomposer, int begin_bit,
                               int end_bit, cudaStream_t stream = 0) {
    return detail::sort_pairs<false, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items,
                                                decomposer, begin_bit, end_bit, stream);
  }
  /// Sorts keys with their values in ascending order, between two buffers. Compares the fields that `decomposer`
  /// returns.
  template <class Key, class Value, class NumItemsT, class Decomposer, class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortPairs(void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                               DoubleBuffer<Value>& d_values, NumItemsT num_items, Decomposer decomposer,
                               cudaStream_t stream = 0) {
    return detail::sort_pairs<false, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items,
                                                decomposer, 0, detail::radix_key_bits<Key, Decomposer>(), stream);
  }
  /// Sorts keys with their values in descending order, from one array to another. Compares bits `begin_bit` to
  /// `end_bit - 1`.
  template <class Key, class Value, class NumItemsT, class KeyIterator, class ValueIterator,
            class = detail::if_count<NumItemsT>>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                                         Key* d_keys_out, ValueIterator d_values_in, Value* d_values_out,
                                         NumItemsT num_items, int begin_bit = 0, int end_bit = 8 * sizeof(Key),
                                         cudaStream_t stream = 0) {
    return detail::sort_pairs<true, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                                               d_values_out, num_items, detail::identity_decomposer{}, begin_bit,
                                               end_bit, stream);
  }
  /// Sorts keys with their values in descending order, from one array to another. Compares bits `begin_bit` to
  /// `end_bit - 1` of the fields that `decomposer` returns.
  template <class Key, class Value, class NumItemsT, class Decomposer, class KeyIterator, class ValueIterator,
            class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                                         Key* d_keys_out, ValueIterator d_values_in, Value* d_values_out,
                                         NumItemsT num_items, Decomposer decomposer, int begin_bit, int end_bit,
                                         cudaStream_t stream = 0) {
    return detail::sort_pairs<true, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                                               d_values_out, num_items, decomposer, begin_bit, end_bit, stream);
  }
  /// Sorts keys with their values in descending order, from one array to another. Compares the fields that `decomposer`
  /// returns.
  template <class Key, class Value, class NumItemsT, class Decomposer, class KeyIterator, class ValueIterator,
            class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                                         Key* d_keys_out, ValueIterator d_values_in, Value* d_values_out,
                                         NumItemsT num_items, Decomposer decomposer, cudaStream_t stream = 0) {
    return detail::sort_pairs<true, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in,
                                               d_values_out, num_items, decomposer, 0,
                                               detail::radix_key_bits<Key, Decomposer>(), stream);
  }
  /// Sorts keys with their values in descending order, between two buffers. Compares bits `begin_bit` to `end_bit - 1`.
  template <class Key, class Value, class NumItemsT, class = detail::if_count<NumItemsT>>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values, NumItemsT num_items,
                                         int begin_bit = 0, int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    return detail::sort_pairs<true, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items,
                                               detail::identity_decomposer{}, begin_bit, end_bit, stream);
  }
  /// Sorts keys with their values in descending order, between two buffers. Compares bits `begin_bit` to `end_bit - 1`
  /// of the fields that `decomposer` returns.
  template <class Key, class Value, class NumItemsT, class Decomposer, class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values, NumItemsT num_items,
                                         Decomposer decomposer, int begin_bit, int end_bit, cudaStream_t stream = 0) {
    return detail::sort_pairs<true, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items,
                                               decomposer, begin_bit, end_bit, stream);
  }
  /// Sorts keys with their values in descending order, between two buffers. Compares the fields that `decomposer`
  /// returns.
  template <class Key, class Value, class NumItemsT, class Decomposer, class = detail::if_decomposer<Decomposer, Key>>
  static cudaError_t SortPairsDescending(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                         DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values, NumItemsT num_items,
                                         Decomposer decomposer, cudaStream_t stream = 0) {
    return detail::sort_pairs<true, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items,
                                               decomposer, 0, detail::radix_key_bits<Key, Decomposer>(), stream);
  }

  // -------------------------------------------------------------- indices
  /// Writes the indices of the keys in ascending order of the keys. Compares bits `begin_bit` to `end_bit - 1`.
  template <class KeyIterator, class Index, class NumItemsT, class = detail::if_count<NumItemsT>>
  static cudaError_t ArgSort(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                             Index* d_indices_out, NumItemsT num_items, int begin_bit = 0,
                             int end_bit = 8 * sizeof(detail::iterator_value_t<KeyIterator>), cudaStream_t stream = 0) {
    return detail::sort_indices<false, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_indices_out,
                                                  num_items, detail::identity_decomposer{}, begin_bit, end_bit, stream);
  }
  /// Writes the indices of the keys in ascending order of the keys. Compares bits `begin_bit` to `end_bit - 1` of the
  /// fields that `decomposer` returns.
  template <class KeyIterator, class Index, class NumItemsT, class Decomposer>
  static detail::if_decomposer<Decomposer, detail::iterator_value_t<KeyIterator>> ArgSort(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in, Index* d_indices_out,
      NumItemsT num_items, Decomposer decomposer, int begin_bit, int end_bit, cudaStream_t stream = 0) {
    return detail::sort_indices<false, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_indices_out,
                                                  num_items, decomposer, begin_bit, end_bit, stream);
  }
  /// Writes the indices of the keys in ascending order of the keys. Compares the fields that `decomposer` returns.
  template <class KeyIterator, class Index, class NumItemsT, class Decomposer>
  static detail::if_decomposer<Decomposer, detail::iterator_value_t<KeyIterator>> ArgSort(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in, Index* d_indices_out,
      NumItemsT num_items, Decomposer decomposer, cudaStream_t stream = 0) {
    using Key = detail::iterator_value_t<KeyIterator>;
    return detail::sort_indices<false, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_indices_out,
                                                  num_items, decomposer, 0, detail::radix_key_bits<Key, Decomposer>(),
                                                  stream);
  }
  /// Writes the indices of the keys in descending order of the keys. Compares bits `begin_bit` to `end_bit - 1`.
  template <class KeyIterator, class Index, class NumItemsT, class = detail::if_count<NumItemsT>>
  static cudaError_t ArgSortDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                                       Index* d_indices_out, NumItemsT num_items, int begin_bit = 0,
                                       int end_bit = 8 * sizeof(detail::iterator_value_t<KeyIterator>),
                                       cudaStream_t stream = 0) {
    return detail::sort_indices<true, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_indices_out,
                                                 num_items, detail::identity_decomposer{}, begin_bit, end_bit, stream);
  }
  /// Writes the indices of the keys in descending order of the keys. Compares bits `begin_bit` to `end_bit - 1` of the
  /// fields that `decomposer` returns.
  template <class KeyIterator, class Index, class NumItemsT, class Decomposer>
  static detail::if_decomposer<Decomposer, detail::iterator_value_t<KeyIterator>> ArgSortDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in, Index* d_indices_out,
      NumItemsT num_items, Decomposer decomposer, int begin_bit, int end_bit, cudaStream_t stream = 0) {
    return detail::sort_indices<true, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_indices_out,
                                                 num_items, decomposer, begin_bit, end_bit, stream);
  }
  /// Writes the indices of the keys in descending order of the keys. Compares the fields that `decomposer` returns.
  template <class KeyIterator, class Index, class NumItemsT, class Decomposer>
  static detail::if_decomposer<Decomposer, detail::iterator_value_t<KeyIterator>> ArgSortDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in, Index* d_indices_out,
      NumItemsT num_items, Decomposer decomposer, cudaStream_t stream = 0) {
    using Key = detail::iterator_value_t<KeyIterator>;
    return detail::sort_indices<true, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_indices_out,
                                                 num_items, decomposer, 0, detail::radix_key_bits<Key, Decomposer>(),
                                                 stream);
  }

  // -------------------------------------------------------------- without temporary storage
  STRATA_CALL_WITHOUT_STORAGE(SortKeys, sorted)
  STRATA_CALL_WITHOUT_STORAGE(SortKeysDescending, sorted)
  STRATA_CALL_WITHOUT_STORAGE(SortPairs, sorted)
  STRATA_CALL_WITHOUT_STORAGE(SortPairsDescending, sorted)
  STRATA_CALL_WITHOUT_STORAGE(ArgSort, sorted)
  STRATA_CALL_WITHOUT_STORAGE(ArgSortDescending, sorted)
};
using DeviceRadixSort = TunedDeviceRadixSort<default_policy_hub>;

STRATA_ARCH_NAMESPACE_END
