// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/future_count.cuh>
#include <strata/device/join/common/join_hash.hpp>
#include <strata/device/join/common/rows.cuh>

#include <cstddef>
#include <cstring>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// The keys of the rows that DeviceGroupBy groups, and their number. `group_keys` makes it.
template <class KeyIterator, class NumItemsT>
struct GroupKeys {
  static_assert(detail::is_count_type<NumItemsT>,
                "group_keys: the number of rows must be an integer or a FutureCount: convert the argument");
  static_assert(is_radix_key<detail::iterator_value_t<KeyIterator>>,
                "DeviceGroupBy: keys must be integers, enumerations or floating-point numbers. Pack several columns "
                "into one integer (of up to 128 bits)");

  KeyIterator keys;     ///< The key of each row.
  NumItemsT num_items;  ///< The number of rows.
};

/// Row i has the key `d_keys[i]`, an integer, an enumeration or a floating-point number, read by a random-access
/// iterator. `num_items` is any integer or a FutureCount.
template <class KeyIterator, class NumItemsT>
GroupKeys<KeyIterator, NumItemsT> group_keys(KeyIterator d_keys, NumItemsT num_items) {
  return {d_keys, num_items};
}

/// Where DeviceGroupBy writes the key of each group, how many groups it may write, and in which order. `group_output`
/// makes it.
template <class KeyOutputIterator, bool IsSorted = false>
struct GroupOutput {
  KeyOutputIterator keys;   ///< Where the keys of the groups go.
  std::size_t capacity;     ///< How many groups may be written.
  bool has_valid_capacity;  ///< False if the capacity was negative: then calls are refused.

  /// The same output, with groups in ascending order of their keys.
  GroupOutput<KeyOutputIterator, true> sorted() const { return {keys, capacity, has_valid_capacity}; }
};

/// Group g has the key `d_keys_out[g]`. Of groups from `capacity` on nothing is written, in outputs of aggregates
/// neither. A DiscardOutputIterator drops the keys. Groups come in any order; with `.sorted()`, in that of their keys.
template <class KeyOutputIterator, class Integer>
GroupOutput<KeyOutputIterator> group_output(KeyOutputIterator d_keys_out, Integer capacity) {
  static_assert(std::is_integral_v<Integer>, "group_output: the capacity must be an integer: convert the argument");
  return {d_keys_out, detail::count_of(capacity), detail::is_count(capacity)};
}

namespace detail {

/// The word by which rows are grouped: that of a radix sort. Equal keys have equal words, -0.0 and 0.0 too, and all
/// NaNs have one word.
template <class Key>
using group_word_t = typename RadixTraits<Key>::word;

/// Words in slots of tables, which need atomic operations.
template <class Key>
using group_slot_t = word_of_t<group_word_t<Key>>;

/// Words in another order, so that any bits of them spread different keys. A bijection.
STRATA_HD constexpr unsigned mixed_group_word(unsigned word) { return detail::mixed_word(word); }
STRATA_HD constexpr unsigned long long mixed_group_word(unsigned long long word) { return detail::mixed_hash(word); }

/// The word of a mixed one.
STRATA_HD constexpr unsigned unmixed_group_word(unsigned mixed) {
  // The factors are the inverses of those of mixed_word, modulo 2^32.
  mixed ^= mixed >> 16;
  mixed *= 0x43021123u;
  mixed ^= mixed >> 15 ^ mixed >> 30;
  mixed *= 0x1d69e2a5u;
  return mixed ^ mixed >> 16;
}
STRATA_HD constexpr unsigned long long unmixed_group_word(unsigned long long mixed) {
  mixed ^= mixed >> 33;
  mixed *= 0x9cb4b2f8129337dbu;
  mixed ^= mixed >> 33;
  mixed *= 0x4f74430c22a54005u;
  return mixed ^ mixed >> 33;
}

/// The word of a key, or the mixed one, by which rows are sorted.
template <class Key>
struct group_sort_word {
  bool is_mixed;
  STRATA_HD group_word_t<Key> operator()(const Key& key) const {
    const group_word_t<Key> word = RadixTraits<Key>::ordered(key);
    if constexpr (sizeof(word) == 4 || sizeof(word) == 8) {
      if (is_mixed) return static_cast<group_word_t<Key>>(detail::mixed_group_word(group_slot_t<Key>{word}));
    }
    return word;
  }
};

/// The key of a word: 0.0 of both zeros, and a quiet NaN.
template <class Key>
STRATA_HD Key group_key_of_word(group_word_t<Key> word) {
  using Word = group_word_t<Key>;
  const auto bits = static_cast<Word>(word ^ radix_bit_order<Key, Word>::flipped_back(word));
  Key key;
  std::memcpy(static_cast<void*>(&key), &bits, sizeof(Key));
  return key;
}

}  // namespace detail
STRATA_NAMESPACE_END
