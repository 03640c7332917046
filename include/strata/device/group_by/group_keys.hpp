// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/future_count.cuh>
#include <strata/device/group_by/key_columns.cuh>
#include <strata/device/group_by/wide_key.hpp>
#include <strata/device/join/common/join_hash.hpp>
#include <strata/device/join/common/rows.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// The words of the keys that a caller expects: `keys` words from `lowest` on. A word is what radix sorts compare.
struct GroupKeyRange {
  std::uint64_t lowest = 0;  ///< Word of the lowest key.
  std::uint64_t keys = 0;    ///< Number of keys in the range. 0: the range is unknown.
};

/// The keys of the rows that DeviceGroupBy groups, and the number of rows. `group_keys` makes a GroupKeys.
///
/// @code
/// #include <strata/device/device_group_by.cuh>
///
/// // How many people live in each district. All districts are numbers from 0 to 9, and the last person has none.
/// __managed__ unsigned char districts[6] = {4, 0, 4, 9, 4, 0};
/// __managed__ unsigned has_district = 0b011111;
/// __managed__ unsigned char ids[6];
/// __managed__ int people[6], groups;
///
/// int main() {
///   const auto keys = strata::group_keys(districts, 6).valid(&has_district).key_range(0, 9);
///   const auto counts = strata::group_aggregates(strata::group_count(people));
///   const auto output = strata::group_output(ids, 6).first_occurrence();
///   if (strata::DeviceGroupBy::Aggregate(keys, counts, output, &groups) != cudaSuccess) return 1;
///   if (cudaDeviceSynchronize() != cudaSuccess) return 1;
///   for (int g = 0; g < groups; ++g) std::printf("%d: %d\n", ids[g], people[g]);
/// }
/// // prints: 4: 3
/// // prints: 0: 1
/// // prints: 9: 1
/// @endcode
/// @tparam HasRange true after `key_range`
template <class KeyIterator, class NumItemsT, bool HasRange = false>
struct GroupKeys {
  static_assert(detail::is_count_type<NumItemsT>,
                "group_keys: the number of rows must be an integer or a FutureCount: convert the argument");
  static_assert(is_radix_key<detail::iterator_value_t<KeyIterator>> ||
                    detail::is_wide_group_key<detail::iterator_value_t<KeyIterator>>,
                "DeviceGroupBy: keys must be integers, enumerations or floating-point numbers. Pass the members of a "
                "struct as columns");

  KeyIterator keys;                                                  ///< The key of each row.
  NumItemsT num_items;                                               ///< The number of rows.
  std::conditional_t<HasRange, GroupKeyRange, NullType> range = {};  ///< The hint of `key_range`.

  /// Row i has a key if bit i % 32 of word i / 32 of `masks` is set, as in joins. If a mask is a null pointer, all rows
  /// have keys. A row without a key is in no group, unless `nulls_as_group` is called, too. `d_keys[i]` of such a row
  /// may be read, but has no effect.
  /// @param masks one array for each column
  template <class... Masks>
  auto valid(Masks... masks) const {
    constexpr auto nulls = detail::group_nulls_of<KeyIterator>() == detail::group_nulls::as_group
                               ? detail::group_nulls::as_group
                               : detail::group_nulls::dropped;
    const auto columns = detail::group_keys_with_nulls<nulls>(keys);
    static_assert(sizeof...(Masks) == std::decay_t<decltype(columns)>::count,
                  "group_keys: valid() takes one mask for each column: pass nullptr for a column without nulls");
    const std::uint32_t* const all[] = {masks...};
    return with(columns.with_masks(all));
  }
  /// Rows without a key are in no group. This is the default after `valid`. With several columns, a row is in no group
  /// if it lacks a key in any of them.
  auto nulls_dropped() const { return with(detail::group_keys_with_nulls<detail::group_nulls::dropped>(keys)); }
  /// Rows without a key are one group, the last one in order of the keys. Its key is written as 0, and
  /// `group_output(...).valid(d_valid_out)` tells it from the group of key 0. With several columns, a null is equal to
  /// the other nulls of its column, and there may be several such groups. A column of integers, enumerations or
  /// `__nv_fp8_e4m3` then takes one bit more. So rows are always sorted if a column of integers has 64 bits.
  auto nulls_as_group() const { return with(detail::group_keys_with_nulls<detail::group_nulls::as_group>(keys)); }

  /// A hint that the keys are integers or enumerators of [lowest, highest], as dictionary codes are. The result does
  /// not depend on it. Calls that must sort rows, or have `sorted()` groups, ignore it. In other calls, if a table in
  /// shared memory has a slot for each key of the range, no sample is taken. If many rows then have other keys, all
  /// rows are read again.
  template <class Key>
  GroupKeys<KeyIterator, NumItemsT, true> key_range(Key lowest, Key highest) const {
    static_assert(detail::group_column_of<KeyIterator>::count == 1,
                  "group_keys: key_range is for one column of keys: omit it for several columns");
    using ColumnKey = typename detail::group_column_of<KeyIterator>::type;
    static_assert((std::is_integral_v<ColumnKey> || std::is_enum_v<ColumnKey>)&&sizeof(ColumnKey) <= 8,
                  "group_keys: key_range is for keys that are integers or enumerations of up to 64 bits: omit it for "
                  "other keys");
    const std::uint64_t first = RadixTraits<ColumnKey>::ordered(static_cast<ColumnKey>(lowest));
    const std::uint64_t last = RadixTraits<ColumnKey>::ordered(static_cast<ColumnKey>(highest));
    if (last < first) return {keys, num_items, {}};
    return {keys, num_items, {first, last - first + 1}};
  }

 private:
  template <class Columns>
  GroupKeys<Columns, NumItemsT, HasRange> with(const Columns& columns) const {
    return {columns, num_items, range};
  }
};

namespace detail {

/// Calls `call` with the last argument first, followed by the others. `Moves` is the number of the others.
template <std::size_t Moves, class Call, class First, class... Rest>
auto with_last_argument(const Call& call, First first, Rest... rest) {
  if constexpr (Moves == 0) {
    return call(first, rest...);
  } else {
    return detail::with_last_argument<Moves - 1>(call, rest..., first);
  }
}

}  // namespace detail

/// Row i has the key `d_keys[i]`, an integer, an enumeration or a floating-point number, read by a random-access
/// iterator. `num_items` is any integer or a FutureCount.
template <class KeyIterator, class NumItemsT>
GroupKeys<KeyIterator, NumItemsT> group_keys(KeyIterator d_keys, NumItemsT num_items) {
  return {d_keys, num_items};
}

/// Row i has several keys, `d_first[i]`, `d_second[i]` and so on, read by random-access iterators. The last argument is
/// the number of rows, as above. Rows are in the same group if they have the same keys in all columns. The order of the
/// keys is lexicographic. If the keys of a row have at most 64 bits in all, rows may be combined in tables. A `bool`
/// has one bit.
/// @param third the number of rows, or another column
/// @param rest more columns, and the number of rows
template <class FirstKeys, class SecondKeys, class ThirdArgument, class... Arguments>
auto group_keys(FirstKeys d_first, SecondKeys d_second, ThirdArgument third, Arguments... rest) {
  return detail::with_last_argument<2 + sizeof...(Arguments)>(
      [](auto num_items, auto... columns) {
        const detail::group_key_columns<detail::group_nulls::none, decltype(columns)...> keys(
            detail::make_group_columns(columns...));
        return GroupKeys<std::decay_t<decltype(keys)>, decltype(num_items)>{keys, num_items};
      },
      d_first, d_second, third, rest...);
}

/// The order of the groups that DeviceGroupBy writes.
enum class GroupOrder {
  any,          ///< Any order, which may differ from run to run.
  by_key,       ///< Ascending order of keys.
  by_first_row  ///< The order of first rows.
};

/// Where DeviceGroupBy writes the keys of groups, how many groups it may write, and in which order. `group_output`
/// makes it.
template <class KeyOutputIterator, GroupOrder Order = GroupOrder::any>
struct GroupOutput {
  /// True if the order of groups may change from run to run.
  static constexpr bool may_change_results = Order == GroupOrder::any;

  KeyOutputIterator keys;   ///< Where the keys of the groups go.
  std::size_t capacity;     ///< How many groups may be written.
  bool has_valid_capacity;  ///< False if the capacity was negative or above 2^63 - 1. Calls are then refused.

  /// Returns this output with groups in ascending order of their keys.
  GroupOutput<KeyOutputIterator, GroupOrder::by_key> sorted() const { return {keys, capacity, has_valid_capacity}; }

  /// Returns this output with groups in the order in which their first rows come, as dataframes have them. If there are
  /// more groups than the capacity, the first ones are written.
  GroupOutput<KeyOutputIterator, GroupOrder::by_first_row> first_occurrence() const {
    return {keys, capacity, has_valid_capacity};
  }

  /// Returns this output with flags. A call then also writes `d_valid_out[g]`: true if group g has a key, false if its
  /// rows have none. See `GroupKeys::nulls_as_group`.
  /// @param d_valid_out one output for each column
  template <class... FlagIterators>
  auto valid(FlagIterators... d_valid_out) const {
    const auto outputs = detail::group_outputs_with_flags(keys, detail::make_group_columns(d_valid_out...));
    return GroupOutput<std::decay_t<decltype(outputs)>, Order>{outputs, capacity, has_valid_capacity};
  }
};

/// Group g has the key `d_keys_out[g]`. Groups from `capacity` on are not written, neither their keys nor their
/// aggregates. A DiscardOutputIterator drops the keys. Groups come in any order, with `.sorted()` in ascending order of
/// their keys, or with `.first_occurrence()` in the order of their first rows.
template <class KeyOutputIterator, class Integer>
GroupOutput<KeyOutputIterator> group_output(KeyOutputIterator d_keys_out, Integer capacity) {
  static_assert(std::is_integral_v<Integer>, "group_output: the capacity must be an integer: convert the argument");
  return {d_keys_out, detail::count_of(capacity), detail::is_count(capacity)};
}

/// Group g has the keys `d_first_out[g]`, `d_second_out[g]` and so on, one for each column of `group_keys`. The last
/// argument is the capacity, as above. A DiscardOutputIterator drops the keys of a column.
/// @param third the capacity, or another column
/// @param rest more columns, and the capacity
template <class FirstOutput, class SecondOutput, class ThirdArgument, class... Arguments>
auto group_output(FirstOutput d_first_out, SecondOutput d_second_out, ThirdArgument third, Arguments... rest) {
  return detail::with_last_argument<2 + sizeof...(Arguments)>(
      [](auto capacity, auto... outputs) {
        const auto columns = detail::make_group_columns(outputs...);
        return strata::group_output(
            detail::group_column_outputs<std::decay_t<decltype(columns)>, detail::group_columns<>>{columns, {}},
            capacity);
      },
      d_first_out, d_second_out, third, rest...);
}

namespace detail {

/// The word by which rows are grouped, which is also the word of a radix sort. Equal keys have equal words. -0.0 and
/// 0.0 have the same word. All NaNs have the same word. A wide key is its own word.
template <class Key>
struct group_word {
  using type = typename RadixTraits<Key>::word;
};
template <int Words>
struct group_word<wide_group_key<Words>> {
  using type = wide_group_key<Words>;
};
template <class Key>
using group_word_t = typename group_word<Key>::type;

/// The type of a word in a slot of a table. It has 4 or 8 bytes, as atomic operations need.
template <class Key>
using group_slot_t = word_of_t<group_word_t<Key>>;

/// Returns the mixed word, a bijection of the word. Any of its bits can serve as a hash.
STRATA_HD constexpr unsigned mixed_group_word(unsigned word) { return detail::mixed_word(word); }
STRATA_HD constexpr unsigned long long mixed_group_word(unsigned long long word) { return detail::mixed_hash(word); }

/// Returns the word of a mixed word.
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

/// A table holds the *code* of each word. The code chooses the home slot. Here the code is the mixed word.
template <class Word, bool HasRange>
struct group_codes {
  using Slot = word_of_t<Word>;
  STRATA_HD static constexpr bool is_dense() { return false; }
  STRATA_HD static constexpr unsigned num_keys() { return 0; }
  STRATA_D static Slot code_of(Word word) { return detail::mixed_group_word(Slot{word}); }
  STRATA_D static Word word_of(Slot code) { return static_cast<Word>(detail::unmixed_group_word(code)); }
};
/// If the range of keys is known and small, a code is the distance from the lowest word. So no two keys of the range
/// have the same slot. A key outside the range may have any slot.
template <class Word>
struct group_codes<Word, true> {
  using Slot = word_of_t<Word>;
  Word lowest;
  unsigned range;  // number of keys; 0: codes are mixed words

  STRATA_HD bool is_dense() const { return range != 0; }
  STRATA_HD unsigned num_keys() const { return range; }
  STRATA_D Slot code_of(Word word) const {
    return is_dense() ? Slot{static_cast<Word>(word - lowest)} : detail::mixed_group_word(Slot{word});
  }
  STRATA_D Word word_of(Slot code) const {
    return static_cast<Word>(is_dense() ? static_cast<Slot>(code + lowest) : detail::unmixed_group_word(code));
  }
};

/// Returns the word of a key.
template <class Key>
STRATA_HD group_word_t<Key> group_word_of(const Key& key) {
  if constexpr (is_wide_group_key<Key>) {
    return key;
  } else {
    return RadixTraits<Key>::ordered(key);
  }
}
/// Returns the word of a key, by which rows are sorted. With `is_mixed`, returns the mixed word.
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

/// Returns the key of a word: 0.0 for both zeros, and a quiet NaN for all NaNs.
template <class Key>
STRATA_HD Key group_key_of_word(const group_word_t<Key>& word) {
  if constexpr (is_wide_group_key<Key>) {
    return word;
  } else {
    using Word = group_word_t<Key>;
    const auto bits = static_cast<Word>(word ^ radix_bit_order<Key, Word>::flipped_back(word));
    Key key;
    std::memcpy(static_cast<void*>(&key), &bits, sizeof(Key));
    return key;
  }
}

}  // namespace detail
STRATA_NAMESPACE_END
