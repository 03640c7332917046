// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/calls.cuh>

#include <cstddef>

STRATA_ARCH_NAMESPACE_BEGIN

/// Sorts keys in device memory, alone or with values, by their bits.
///
/// Integers, enumerations and bool sort by their value; floating-point numbers too, where -0.0 is
/// equal to +0.0, and all NaN are equal and greater than +infinity. For other keys a decomposer
/// returns references to the fields to sort by, the most significant first (see RadixFields). Only
/// the bits from `begin_bit` to `end_bit - 1` of a key's order are looked at, counted from the
/// least significant one: sorts of few bits are faster, and so are those of keys in which some are
/// the same everywhere.
///
/// - **Stability.** Equal keys, and their values, stay in the order in which they come; in
///   descending sorts, too. Results are the same from run to run.
/// - **Call.** Twice: with `d_temp_storage == nullptr` to learn `temp_storage_bytes` (pure
///   arithmetic; never 0), then with that much device memory, whose contents and alignment do not
///   matter. `num_items` may have any integer type. Inputs may be any random-access iterators that
///   can be dereferenced in device code; outputs are arrays.
/// - **Two buffers.** With `DoubleBuffer`, items are sorted between its two arrays, the input is
///   overwritten, and temporary storage does without a copy of the items. On return `selector`
///   names the array that will have the result.
/// - **Execution.** One kernel launch up to about a thousand items, of one block; up to some
///   thousand, of one cluster of blocks (from 9.0 on); and up to about a million, of as many blocks
///   as the device holds at a time (a cooperative launch). For more, one that counts digits
///   (cooperative), and one for each digit of 8 bits, which moves all items if the digit is not the
///   same everywhere. Two launches for integer keys of one byte, and of two from 2^23 on. For when a
///   cooperative launch starts see DeviceScan. No host
///   synchronisation and no allocation, so a call can be captured in a graph and replayed. Calls
///   that may run at the same time need temporary storage of their own.
/// - **Storage.** As much as keys and values (not with `DoubleBuffer`), and up to a seventh of
///   4-byte keys for what blocks tell each other; up to some hundred thousand items, up to a half.
/// - **Traffic.** Keys are read once to count digits, unless one launch does all, and each pass
///   reads and writes all items. Integer keys of one byte, and many of two, are counted and written
///   anew: read once and written once.
/// - **Large values.** A tile of at least 256 values is kept in shared memory: up to 800 bytes each on
///   9.0 and 10.0; a device that has less shared memory returns `cudaErrorInvalidValue` from some
///   size on (about 200 bytes on 7.5, 350 on 8.6, 8.9 and 12.0, 600 on 8.0). Sorting indices by
///   `ArgSort`, and gathering, has no such limit, and moves large values once.
/// - **Aliasing.** No output may overlap an input or another output.
/// - **Errors.** `cudaErrorInvalidValue`, before anything is launched or written: negative count
///   or one that is too large, bits that the keys do not have, an index type that cannot tell all
///   items (in size queries, too); null pointer with items, arrays that overlap, temporary storage
///   too small. Otherwise what the launches return; an older error of the runtime is neither
///   returned nor cleared.
/// - **Algorithm.** Least significant digit first: Adinets and Merrill, "Onesweep" (2022).
///
///     std::size_t bytes = 0;
///     strata::DeviceRadixSort::SortPairs(nullptr, bytes, d_keys, d_sorted, d_values, d_moved, n);
///     cudaMalloc(&d_temp, bytes);
///     strata::DeviceRadixSort::SortPairs(d_temp, bytes, d_keys, d_sorted, d_values, d_moved, n);
struct DeviceRadixSort {
  // -------------------------------------------------------------- keys

  template <class KeyIterator, class Key, class NumItemsT>
  [[nodiscard]] static detail::if_count<NumItemsT> SortKeys(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in, Key* d_keys_out,
      NumItemsT num_items, int begin_bit = 0,
      int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    return detail::sort_keys<false>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items,
        detail::identity_decomposer{}, begin_bit, end_bit, stream);
  }
  template <class KeyIterator, class Key, class NumItemsT, class Decomposer>
  [[nodiscard]] static detail::if_decomposer<Decomposer, Key> SortKeys(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in, Key* d_keys_out,
      NumItemsT num_items, Decomposer decomposer,
      int begin_bit, int end_bit, cudaStream_t stream = 0) {
    return detail::sort_keys<false>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items, decomposer,
        begin_bit, end_bit, stream);
  }
  template <class KeyIterator, class Key, class NumItemsT, class Decomposer>
  [[nodiscard]] static detail::if_decomposer<Decomposer, Key> SortKeys(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in, Key* d_keys_out,
      NumItemsT num_items, Decomposer decomposer,
      cudaStream_t stream = 0) {
    return detail::sort_keys<false>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items, decomposer, 0,
        detail::radix_key_bits<Key, Decomposer>(), stream);
  }
  template <class Key, class NumItemsT>
  [[nodiscard]] static detail::if_count<NumItemsT> SortKeys(
      void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
      NumItemsT num_items, int begin_bit = 0,
      int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    return detail::sort_keys<false>(
        d_temp_storage, temp_storage_bytes, d_keys, num_items, detail::identity_decomposer{},
        begin_bit, end_bit, stream);
  }
  template <class Key, class NumItemsT, class Decomposer>
  [[nodiscard]] static detail::if_decomposer<Decomposer, Key> SortKeys(
      void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
      NumItemsT num_items, Decomposer decomposer,
      int begin_bit, int end_bit, cudaStream_t stream = 0) {
    return detail::sort_keys<false>(
        d_temp_storage, temp_storage_bytes, d_keys, num_items, decomposer, begin_bit, end_bit,
        stream);
  }
  template <class Key, class NumItemsT, class Decomposer>
  [[nodiscard]] static detail::if_decomposer<Decomposer, Key> SortKeys(
      void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
      NumItemsT num_items, Decomposer decomposer,
      cudaStream_t stream = 0) {
    return detail::sort_keys<false>(
        d_temp_storage, temp_storage_bytes, d_keys, num_items, decomposer, 0,
        detail::radix_key_bits<Key, Decomposer>(), stream);
  }

  template <class KeyIterator, class Key, class NumItemsT>
  [[nodiscard]] static detail::if_count<NumItemsT> SortKeysDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in, Key* d_keys_out,
      NumItemsT num_items, int begin_bit = 0,
      int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    return detail::sort_keys<true>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items,
        detail::identity_decomposer{}, begin_bit, end_bit, stream);
  }
  template <class KeyIterator, class Key, class NumItemsT, class Decomposer>
  [[nodiscard]] static detail::if_decomposer<Decomposer, Key> SortKeysDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in, Key* d_keys_out,
      NumItemsT num_items, Decomposer decomposer,
      int begin_bit, int end_bit, cudaStream_t stream = 0) {
    return detail::sort_keys<true>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items, decomposer,
        begin_bit, end_bit, stream);
  }
  template <class KeyIterator, class Key, class NumItemsT, class Decomposer>
  [[nodiscard]] static detail::if_decomposer<Decomposer, Key> SortKeysDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in, Key* d_keys_out,
      NumItemsT num_items, Decomposer decomposer,
      cudaStream_t stream = 0) {
    return detail::sort_keys<true>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, num_items, decomposer, 0,
        detail::radix_key_bits<Key, Decomposer>(), stream);
  }
  template <class Key, class NumItemsT>
  [[nodiscard]] static detail::if_count<NumItemsT> SortKeysDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
      NumItemsT num_items, int begin_bit = 0,
      int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    return detail::sort_keys<true>(
        d_temp_storage, temp_storage_bytes, d_keys, num_items, detail::identity_decomposer{},
        begin_bit, end_bit, stream);
  }
  template <class Key, class NumItemsT, class Decomposer>
  [[nodiscard]] static detail::if_decomposer<Decomposer, Key> SortKeysDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
      NumItemsT num_items, Decomposer decomposer,
      int begin_bit, int end_bit, cudaStream_t stream = 0) {
    return detail::sort_keys<true>(
        d_temp_storage, temp_storage_bytes, d_keys, num_items, decomposer, begin_bit, end_bit,
        stream);
  }
  template <class Key, class NumItemsT, class Decomposer>
  [[nodiscard]] static detail::if_decomposer<Decomposer, Key> SortKeysDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
      NumItemsT num_items, Decomposer decomposer,
      cudaStream_t stream = 0) {
    return detail::sort_keys<true>(
        d_temp_storage, temp_storage_bytes, d_keys, num_items, decomposer, 0,
        detail::radix_key_bits<Key, Decomposer>(), stream);
  }

  // -------------------------------------------------------------- pairs

  template <class KeyIterator, class Key, class ValueIterator, class Value,
            class NumItemsT>
  [[nodiscard]] static detail::if_count<NumItemsT> SortPairs(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in, Key* d_keys_out,
      ValueIterator d_values_in, Value* d_values_out, NumItemsT num_items, int begin_bit = 0,
      int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    return detail::sort_pairs<false>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
        num_items, detail::identity_decomposer{}, begin_bit, end_bit, stream);
  }
  template <class KeyIterator, class Key, class ValueIterator, class Value,
            class NumItemsT, class Decomposer>
  [[nodiscard]] static detail::if_decomposer<Decomposer, Key> SortPairs(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in, Key* d_keys_out,
      ValueIterator d_values_in, Value* d_values_out, NumItemsT num_items, Decomposer decomposer,
      int begin_bit, int end_bit, cudaStream_t stream = 0) {
    return detail::sort_pairs<false>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
        num_items, decomposer, begin_bit, end_bit, stream);
  }
  template <class KeyIterator, class Key, class ValueIterator, class Value,
            class NumItemsT, class Decomposer>
  [[nodiscard]] static detail::if_decomposer<Decomposer, Key> SortPairs(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in, Key* d_keys_out,
      ValueIterator d_values_in, Value* d_values_out, NumItemsT num_items, Decomposer decomposer,
      cudaStream_t stream = 0) {
    return detail::sort_pairs<false>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
        num_items, decomposer, 0, detail::radix_key_bits<Key, Decomposer>(), stream);
  }
  template <class Key, class Value, class NumItemsT>
  [[nodiscard]] static detail::if_count<NumItemsT> SortPairs(
      void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
      DoubleBuffer<Value>& d_values, NumItemsT num_items, int begin_bit = 0,
      int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    return detail::sort_pairs<false>(
        d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items,
        detail::identity_decomposer{}, begin_bit, end_bit, stream);
  }
  template <class Key, class Value, class NumItemsT, class Decomposer>
  [[nodiscard]] static detail::if_decomposer<Decomposer, Key> SortPairs(
      void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
      DoubleBuffer<Value>& d_values, NumItemsT num_items, Decomposer decomposer,
      int begin_bit, int end_bit, cudaStream_t stream = 0) {
    return detail::sort_pairs<false>(
        d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items, decomposer, begin_bit,
        end_bit, stream);
  }
  template <class Key, class Value, class NumItemsT, class Decomposer>
  [[nodiscard]] static detail::if_decomposer<Decomposer, Key> SortPairs(
      void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
      DoubleBuffer<Value>& d_values, NumItemsT num_items, Decomposer decomposer,
      cudaStream_t stream = 0) {
    return detail::sort_pairs<false>(
        d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items, decomposer, 0,
        detail::radix_key_bits<Key, Decomposer>(), stream);
  }

  template <class KeyIterator, class Key, class ValueIterator, class Value,
            class NumItemsT>
  [[nodiscard]] static detail::if_count<NumItemsT> SortPairsDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in, Key* d_keys_out,
      ValueIterator d_values_in, Value* d_values_out, NumItemsT num_items, int begin_bit = 0,
      int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    return detail::sort_pairs<true>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
        num_items, detail::identity_decomposer{}, begin_bit, end_bit, stream);
  }
  template <class KeyIterator, class Key, class ValueIterator, class Value,
            class NumItemsT, class Decomposer>
  [[nodiscard]] static detail::if_decomposer<Decomposer, Key> SortPairsDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in, Key* d_keys_out,
      ValueIterator d_values_in, Value* d_values_out, NumItemsT num_items, Decomposer decomposer,
      int begin_bit, int end_bit, cudaStream_t stream = 0) {
    return detail::sort_pairs<true>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
        num_items, decomposer, begin_bit, end_bit, stream);
  }
  template <class KeyIterator, class Key, class ValueIterator, class Value,
            class NumItemsT, class Decomposer>
  [[nodiscard]] static detail::if_decomposer<Decomposer, Key> SortPairsDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in, Key* d_keys_out,
      ValueIterator d_values_in, Value* d_values_out, NumItemsT num_items, Decomposer decomposer,
      cudaStream_t stream = 0) {
    return detail::sort_pairs<true>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_keys_out, d_values_in, d_values_out,
        num_items, decomposer, 0, detail::radix_key_bits<Key, Decomposer>(), stream);
  }
  template <class Key, class Value, class NumItemsT>
  [[nodiscard]] static detail::if_count<NumItemsT> SortPairsDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
      DoubleBuffer<Value>& d_values, NumItemsT num_items, int begin_bit = 0,
      int end_bit = 8 * sizeof(Key), cudaStream_t stream = 0) {
    return detail::sort_pairs<true>(
        d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items,
        detail::identity_decomposer{}, begin_bit, end_bit, stream);
  }
  template <class Key, class Value, class NumItemsT, class Decomposer>
  [[nodiscard]] static detail::if_decomposer<Decomposer, Key> SortPairsDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
      DoubleBuffer<Value>& d_values, NumItemsT num_items, Decomposer decomposer,
      int begin_bit, int end_bit, cudaStream_t stream = 0) {
    return detail::sort_pairs<true>(
        d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items, decomposer, begin_bit,
        end_bit, stream);
  }
  template <class Key, class Value, class NumItemsT, class Decomposer>
  [[nodiscard]] static detail::if_decomposer<Decomposer, Key> SortPairsDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
      DoubleBuffer<Value>& d_values, NumItemsT num_items, Decomposer decomposer,
      cudaStream_t stream = 0) {
    return detail::sort_pairs<true>(
        d_temp_storage, temp_storage_bytes, d_keys, d_values, num_items, decomposer, 0,
        detail::radix_key_bits<Key, Decomposer>(), stream);
  }

  // -------------------------------------------------------------- indices

  /// Writes where each item of the sorted sequence is in `d_keys_in`, and no keys.
  template <class KeyIterator, class Index, class NumItemsT>
  [[nodiscard]] static detail::if_count<NumItemsT> ArgSort(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
      Index* d_indices_out, NumItemsT num_items, int begin_bit = 0,
      int end_bit = 8 * sizeof(detail::iterator_value_t<KeyIterator>), cudaStream_t stream = 0) {
    return detail::sort_indices<false>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_indices_out, num_items,
        detail::identity_decomposer{}, begin_bit, end_bit, stream);
  }
  template <class KeyIterator, class Index, class NumItemsT, class Decomposer>
  [[nodiscard]] static detail::if_decomposer<Decomposer, detail::iterator_value_t<KeyIterator>>
  ArgSort(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
          Index* d_indices_out, NumItemsT num_items, Decomposer decomposer,
          cudaStream_t stream = 0) {
    using Key = detail::iterator_value_t<KeyIterator>;
    return detail::sort_indices<false>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_indices_out, num_items, decomposer, 0,
        detail::radix_key_bits<Key, Decomposer>(), stream);
  }

  template <class KeyIterator, class Index, class NumItemsT>
  [[nodiscard]] static detail::if_count<NumItemsT> ArgSortDescending(
      void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
      Index* d_indices_out, NumItemsT num_items, int begin_bit = 0,
      int end_bit = 8 * sizeof(detail::iterator_value_t<KeyIterator>), cudaStream_t stream = 0) {
    return detail::sort_indices<true>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_indices_out, num_items,
        detail::identity_decomposer{}, begin_bit, end_bit, stream);
  }
  template <class KeyIterator, class Index, class NumItemsT, class Decomposer>
  [[nodiscard]] static detail::if_decomposer<Decomposer, detail::iterator_value_t<KeyIterator>>
  ArgSortDescending(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
          Index* d_indices_out, NumItemsT num_items, Decomposer decomposer,
          cudaStream_t stream = 0) {
    using Key = detail::iterator_value_t<KeyIterator>;
    return detail::sort_indices<true>(
        d_temp_storage, temp_storage_bytes, d_keys_in, d_indices_out, num_items, decomposer, 0,
        detail::radix_key_bits<Key, Decomposer>(), stream);
  }
};

STRATA_ARCH_NAMESPACE_END
