// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/group_by/aggregates.cuh>
#include <strata/device/group_by/wide_key.hpp>
#include <strata/device/join/common/rows.cuh>
#include <strata/iterator/discard_output_iterator.cuh>
#include <strata/iterator/specializations/random_access.hpp>
#include <strata/iterator/specializations/tabulate_output.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

/// \file
/// Keys of several columns, and of columns with nulls, as one unsigned integer, the packed key:
///
///     columns      packed key:   | null | word of first | null | word of second |
///     (null, 7)                  |  1   |       0       |  0   |       7        |
///
/// Packed keys are in the lexicographic order of the columns, with nulls after all keys. The bits `null` exist only if
/// nulls are a group. A column with a free word, such as `float`, has no such bit: null takes the highest word, and
/// NaNs take the free word before it. All methods of DeviceGroupBy treat packed keys like other unsigned integers. A
/// packed key of more bits than any integer is a wide_group_key.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// How rows without a key are treated.
enum class group_nulls {
  none,      // all rows have keys
  dropped,   // such rows are in no group
  as_group,  // a null is equal to the other nulls of its column
};

/// The code of a column's key: its word, in as few bits as possible.
template <class Key, bool HasNull>
struct group_column_code {
  static_assert(is_radix_key<Key>,
                "DeviceGroupBy: keys must be integers, enumerations or floating-point numbers. Pass the members of a "
                "struct as columns");
  using Word = typename RadixTraits<Key>::word;
  static constexpr Word all_bits = static_cast<Word>(~Word{0});

  /// True if there is a word that no key has. Most floating-point types have such words, just before the word that all
  /// NaNs share.
  static constexpr bool has_free_word() {
    if constexpr (radix_mantissa_bits<Key> != 0) {
      return radix_greatest_magnitude<Key> < static_cast<Word>((all_bits >> 1) - 1);
    } else {
      return false;
    }
  }
  static constexpr bool has_null_bit = HasNull && !has_free_word();
  static constexpr int word_bits = std::is_same_v<Key, bool> ? 1 : RadixTraits<Key>::bits;
  static constexpr int bits = word_bits + (has_null_bit ? 1 : 0);

  template <class Packed>
  STRATA_HD static Packed null_code() {
    if constexpr (has_null_bit) {
      return static_cast<Packed>(Packed{1} << word_bits);
    } else {
      return static_cast<Packed>(all_bits);
    }
  }
  template <class Packed>
  STRATA_HD static Packed code(const Key& key) {
    const Word word = RadixTraits<Key>::ordered(key);
    if constexpr (HasNull && !has_null_bit) {
      // A null has the highest word, and NaNs come before it.
      return static_cast<Packed>(word == all_bits ? static_cast<Word>(all_bits - 1) : word);
    } else {
      return static_cast<Packed>(word);
    }
  }
  /// Returns the key of a code. The key of a null has no bit set.
  template <class Packed>
  STRATA_HD static Key key(const Packed& code) {
    const auto word = static_cast<Word>(code);
    auto bits_of_key = static_cast<Word>(word ^ radix_bit_order<Key, Word>::flipped_back(word));
    if (HasNull && code == null_code<Packed>()) bits_of_key = 0;
    Key result;
    std::memcpy(static_cast<void*>(&result), &bits_of_key, sizeof(Key));
    return result;
  }
};

/// The smallest type of packed keys that has at least `Bits` bits.
template <int Bits>
struct group_packed_key {
  static constexpr int most_bits = STRATA_HAS_INT128 ? 128 : 64;
  static constexpr std::size_t bytes = Bits <= 32 ? 4 : Bits <= 64 || most_bits == 64 ? 8 : 16;
  using type = std::conditional_t<Bits <= most_bits, typename unsigned_of_bytes<bytes>::type,
                                  wide_group_key<detail::ceiling_divide(Bits, 64)>>;
};

/// The arrays of columns: iterators of keys, outputs of keys, or flags of groups.
template <class... Iterators>
struct group_columns {
  static constexpr int count = 0;
};
template <class First, class... Rest>
struct group_columns<First, Rest...> {
  static constexpr int count = 1 + static_cast<int>(sizeof...(Rest));
  First first;
  group_columns<Rest...> rest;

  bool can_reach(std::size_t rows) const {
    if (detail::refuses_reach(first, rows, "d_keys")) return false;
    if constexpr (count > 1) return rest.can_reach(rows);
    return true;
  }
  bool has_null() const {
    if (detail::is_null(first)) return true;
    if constexpr (count > 1) return rest.has_null();
    return false;
  }
  void list_arrays(std::size_t items, const char* argument, argument_bytes* to) const {
    *to = detail::bytes_of(first, items, argument);
    if constexpr (count > 1) rest.list_arrays(items, argument, to + 1);
  }
};
inline group_columns<> make_group_columns() { return {}; }
template <class First, class... Rest>
group_columns<First, Rest...> make_group_columns(First first, Rest... rest) {
  return {first, detail::make_group_columns(rest...)};
}

/// Packs and unpacks the keys of columns.
template <group_nulls Nulls, class... Keys>
struct group_packing {
  static constexpr int bits = 0;
};
template <group_nulls Nulls, class First, class... Rest>
struct group_packing<Nulls, First, Rest...> {
  static constexpr bool has_nulls = Nulls == group_nulls::as_group;
  using Code = group_column_code<First, has_nulls>;
  using Others = group_packing<Nulls, Rest...>;
  static constexpr int bits = Code::bits + Others::bits;

  /// The packed key of a row.
  template <class Packed, class Columns>
  STRATA_HD static Packed pack(const Columns& columns, const std::uint32_t* const* valid, std::size_t row) {
    Packed code;
    if constexpr (has_nulls) {
      const bool is_valid = detail::join_row_is_valid(*valid, row);
      code = is_valid ? Code::template code<Packed>(detail::item_at(columns.first, row))
                      : Code::template null_code<Packed>();
    } else {
      code = Code::template code<Packed>(detail::item_at(columns.first, row));
    }
    if constexpr (sizeof...(Rest) > 0) {
      code = static_cast<Packed>(code << Others::bits | Others::template pack<Packed>(columns.rest, valid + 1, row));
    }
    return code;
  }

  /// Shifts the codes of `group_pack_rows` neighbouring rows into their packed keys. The first row is at an aligned
  /// address in all arrays.
  template <class Packed, class Columns>
  STRATA_D static void load_pack(const Columns& columns, const std::uint32_t* const* valid, std::size_t first,
                                 Packed (&packed)[group_pack_rows]) {
    First keys[group_pack_rows];
    if constexpr (is_group_pack_array<decltype(Columns::first)>) {
      detail::load_group_pack(columns.first + first, keys);
    } else {
      STRATA_UNROLL
      for (unsigned k = 0; k < group_pack_rows; ++k) keys[k] = detail::item_at(columns.first, first + k);
    }
    STRATA_UNROLL
    for (unsigned k = 0; k < group_pack_rows; ++k) {
      Packed code = Code::template code<Packed>(keys[k]);
      if constexpr (has_nulls) {
        if (!detail::join_row_is_valid(*valid, first + k)) code = Code::template null_code<Packed>();
      }
      packed[k] = static_cast<Packed>(packed[k] | code << Others::bits);
    }
    if constexpr (sizeof...(Rest) > 0) Others::load_pack(columns.rest, valid + 1, first, packed);
  }
  template <class Columns>
  static bool has_aligned_packs(const Columns& columns) {
    if constexpr (is_group_pack_array<decltype(Columns::first)>) {
      if (!detail::is_group_pack_aligned(columns.first)) return false;
    }
    if constexpr (sizeof...(Rest) > 0) return Others::has_aligned_packs(columns.rest);
    return true;
  }

  /// Writes the keys of a group, and for each key a flag that says whether it is not null.
  template <class Packed, class Outputs, class Flags>
  STRATA_HD static void store(const Packed& packed, std::size_t group, const Outputs& outputs, const Flags& flags) {
    const auto mask =
        static_cast<Packed>(static_cast<Packed>(~Packed{0}) >> (8 * static_cast<int>(sizeof(Packed)) - Code::bits));
    const auto code = static_cast<Packed>(static_cast<Packed>(packed >> Others::bits) & mask);
    using Output = decltype(Outputs::first);
    *detail::advanced(outputs.first, group) =
        static_cast<output_value_t<Output, First>>(Code::template key<Packed>(code));
    if constexpr (Flags::count > 0) {
      const bool is_valid = !has_nulls || !(code == Code::template null_code<Packed>());
      *detail::advanced(flags.first, group) = static_cast<output_value_t<decltype(Flags::first), bool>>(is_valid);
    }
    if constexpr (sizeof...(Rest) > 0) {
      if constexpr (Flags::count > 0) {
        Others::store(packed, group, outputs.rest, flags.rest);
      } else {
        Others::store(packed, group, outputs.rest, flags);
      }
    }
  }
};

/// An input of the packed keys of rows.
template <group_nulls Nulls, class... Iterators>
class group_key_columns : public random_access<group_key_columns<Nulls, Iterators...>, std::size_t, std::ptrdiff_t> {
  using base = random_access<group_key_columns, std::size_t, std::ptrdiff_t>;

 public:
  using Packing = group_packing<Nulls, iterator_value_t<Iterators>...>;
  static constexpr group_nulls nulls = Nulls;
  static constexpr int bits = Packing::bits;
  static constexpr int count = static_cast<int>(sizeof...(Iterators));
  static constexpr bool drops_rows = Nulls == group_nulls::dropped;
  using Columns = group_columns<Iterators...>;
  using value_type = typename group_packed_key<bits>::type;
  using reference = value_type;
  using pointer = const value_type*;
  template <group_nulls Others>
  using with_nulls = group_key_columns<Others, Iterators...>;

  explicit group_key_columns(const Columns& columns) : base(std::size_t{0}), columns_(columns) {}
  template <class OtherColumns>
  static group_key_columns of(const OtherColumns& other) {
    group_key_columns made(other.columns_);
    for (int i = 0; i < count; ++i) made.valid_[i] = other.valid_[i];
    return made;
  }
  group_key_columns with_masks(const std::uint32_t* const (&masks)[count]) const {
    group_key_columns made(columns_);
    for (int i = 0; i < count; ++i) made.valid_[i] = masks[i];
    return made;
  }

  STRATA_HD reference operator*() const { return key(this->position_); }
  template <class Distance>
  STRATA_HD reference operator[](Distance n) const {
    return key(this->position_ + static_cast<std::size_t>(n));
  }
  STRATA_HD value_type key(std::size_t row) const { return Packing::template pack<value_type>(columns_, valid_, row); }
  /// True if a row has keys in all columns.
  STRATA_HD bool has_keys(std::size_t row) const {
    bool is_valid = true;
    for (int i = 0; i < count; ++i) is_valid = is_valid && detail::join_row_is_valid(valid_[i], row);
    return is_valid;
  }

  /// Loads the keys of `group_pack_rows` rows. `first` is a multiple of `group_pack_rows`.
  STRATA_D void load_pack(std::size_t first, value_type (&packed)[group_pack_rows]) const {
    STRATA_UNROLL
    for (int k = 0; k < group_pack_rows; ++k) packed[k] = 0;
    Packing::load_pack(columns_, valid_, first, packed);
  }
  /// Returns a bit for each of the `group_pack_rows` rows from `first` on: 1 if the row has keys in all columns. The
  /// bits of rows behind the last one are unspecified.
  STRATA_D unsigned pack_with_keys(std::size_t first) const {
    unsigned all = (1u << group_pack_rows) - 1;
    STRATA_UNROLL
    for (int i = 0; i < count; ++i) {
      if (valid_[i] != nullptr) all &= valid_[i][first / 32] >> (first % 32);
    }
    return all;
  }
  bool has_aligned_packs() const { return Packing::has_aligned_packs(columns_); }

  bool can_reach(std::size_t rows) const { return columns_.can_reach(rows); }
  bool has_null_array() const { return columns_.has_null(); }
  static constexpr std::size_t num_arrays = 2 * sizeof...(Iterators);
  void list_arrays(std::size_t rows, argument_bytes* to) const {
    columns_.list_arrays(rows, "d_keys", to);
    for (int i = 0; i < count; ++i) {
      to[count + i] = detail::bytes_of(valid_[i], detail::ceiling_divide(rows, std::size_t{32}), "the mask of d_keys");
    }
  }

  Columns columns_;
  const std::uint32_t* valid_[count] = {};
};

/// Takes the packed key of each group, and writes the columns of keys and flags.
template <class KeyColumns, class Outputs, class Flags>
struct write_group_columns {
  Outputs outputs;
  Flags flags;

  STRATA_HD void operator()(std::size_t group, const typename KeyColumns::value_type& packed) const {
    KeyColumns::Packing::store(packed, group, outputs, flags);
  }

  bool has_null_array() const {
    if (outputs.has_null()) return true;
    if constexpr (Flags::count > 0) return flags.has_null();
    return false;
  }
  static constexpr std::size_t num_arrays = static_cast<std::size_t>(Outputs::count + Flags::count);
  void list_arrays(std::size_t groups, argument_bytes* to) const {
    outputs.list_arrays(groups, "d_keys_out", to);
    if constexpr (Flags::count > 0) flags.list_arrays(groups, "d_valid_out", to + Outputs::count);
  }
};

template <class Iterator>
inline constexpr bool is_discard_output = false;
template <class Offset>
inline constexpr bool is_discard_output<DiscardOutputIterator<Offset>> = true;

/// The outputs that a call has for columns. The columns of the input say how packed keys are unpacked.
template <class Outputs, class Flags>
struct group_column_outputs {
  Outputs outputs;
  Flags flags;
};

template <class Iterator>
inline constexpr bool is_group_key_columns = false;
template <group_nulls Nulls, class... Iterators>
inline constexpr bool is_group_key_columns<group_key_columns<Nulls, Iterators...>> = true;

/// True if rows without a key are in no group.
template <class Iterator>
inline constexpr bool drops_group_rows = false;
template <class... Iterators>
inline constexpr bool drops_group_rows<group_key_columns<group_nulls::dropped, Iterators...>> = true;

template <class KeyIterator>
constexpr group_nulls group_nulls_of() {
  if constexpr (is_group_key_columns<KeyIterator>) {
    return KeyIterator::nulls;
  } else {
    return group_nulls::none;
  }
}

/// The number of columns, and the type of the first one's keys.
template <class KeyIterator>
struct group_column_of {
  static constexpr int count = 1;
  using type = iterator_value_t<KeyIterator>;
};
template <group_nulls Nulls, class First, class... Rest>
struct group_column_of<group_key_columns<Nulls, First, Rest...>> {
  static constexpr int count = 1 + static_cast<int>(sizeof...(Rest));
  using type = iterator_value_t<First>;
};

/// Returns the same keys with nulls treated as `Nulls` says. An iterator of keys becomes one column.
template <group_nulls Nulls, class KeyIterator>
auto group_keys_with_nulls(const KeyIterator& keys) {
  if constexpr (is_group_key_columns<KeyIterator>) {
    return KeyIterator::template with_nulls<Nulls>::of(keys);
  } else {
    return group_key_columns<Nulls, KeyIterator>(detail::make_group_columns(keys));
  }
}
/// Returns the keys of a call in the form that its outputs of keys need: a plain iterator of keys becomes one column if
/// the output has columns.
template <class KeyIterator, class KeyOutputs>
const KeyIterator& group_keys_for(const KeyIterator& keys, const KeyOutputs&) {
  return keys;
}
template <class KeyIterator, class Outputs, class Flags>
auto group_keys_for(const KeyIterator& keys, const group_column_outputs<Outputs, Flags>&) {
  if constexpr (is_group_key_columns<KeyIterator>) {
    return keys;
  } else {
    return detail::group_keys_with_nulls<group_nulls::none>(keys);
  }
}

template <class Output, class Flags>
auto group_outputs_with_flags(const Output& output, const Flags& flags) {
  return group_column_outputs<group_columns<Output>, Flags>{detail::make_group_columns(output), flags};
}
template <class Outputs, class OldFlags, class Flags>
auto group_outputs_with_flags(const group_column_outputs<Outputs, OldFlags>& old, const Flags& flags) {
  return group_column_outputs<Outputs, Flags>{old.outputs, flags};
}

template <class KeyColumns, class Outputs, class Flags>
auto group_results_of_columns(const Outputs& outputs, const Flags& flags) {
  static_assert(Outputs::count == KeyColumns::count,
                "DeviceGroupBy: group_output takes one output for each column of keys, or one DiscardOutputIterator");
  static_assert(Flags::count == 0 || Flags::count == KeyColumns::count,
                "DeviceGroupBy: valid() of group_output takes one output for each column of keys: pass a "
                "DiscardOutputIterator for a column without nulls");
  return tabulate_output(write_group_columns<KeyColumns, Outputs, Flags>{outputs, flags});
}
/// Returns an output iterator for the keys of groups. It takes keys of the type that a `KeyIterator` yields: packed
/// keys, if it packs columns.
template <class KeyIterator, class Output>
auto group_key_output_for(const KeyIterator&, const Output& output) {
  if constexpr (is_group_key_columns<KeyIterator> && !is_discard_output<Output>) {
    return detail::group_results_of_columns<KeyIterator>(detail::make_group_columns(output), group_columns<>{});
  } else {
    return output;
  }
}
template <class KeyIterator, class Outputs, class Flags>
auto group_key_output_for(const KeyIterator&, const group_column_outputs<Outputs, Flags>& output) {
  return detail::group_results_of_columns<KeyIterator>(output.outputs, output.flags);
}

/// True for rows with keys in all columns.
template <class KeyColumns>
struct has_group_keys {
  KeyColumns keys;
  template <class Row>
  STRATA_HD bool operator()(Row row) const {
    return keys.has_keys(static_cast<std::size_t>(row));
  }
};

/// Returns the number of bits by which rows are sorted: the bits of a packed key, at least one digit.
template <class KeyIterator>
constexpr int group_key_bits() {
  if constexpr (is_group_key_columns<KeyIterator>) {
    return detail::most(KeyIterator::bits, 8);
  } else {
    return RadixTraits<iterator_value_t<KeyIterator>>::bits;
  }
}

// ------------------------------------------------------------------ arrays of keys, for checks

template <class Iterator, class = void>
inline constexpr bool has_group_key_arrays = false;
template <class Iterator>
inline constexpr bool
    has_group_key_arrays<Iterator, std::void_t<decltype(std::declval<Iterator&>().has_null_array())>> = true;

template <class Iterator>
constexpr std::size_t num_group_key_arrays() {
  if constexpr (has_group_key_arrays<Iterator>) {
    return Iterator::num_arrays;
  } else {
    return 1;
  }
}
template <class Iterator>
bool refuses_null_keys(const Iterator& keys, const char* argument) {
  if constexpr (has_group_key_arrays<Iterator>) {
    return detail::is_refused(keys.has_null_array(), argument, "is null");
  } else {
    return detail::refuses_null(keys, argument);
  }
}
template <class Iterator>
void list_key_arrays(const Iterator& keys, std::size_t items, const char* argument, argument_bytes* to) {
  if constexpr (has_group_key_arrays<Iterator>) {
    keys.list_arrays(items, to);
  } else {
    *to = detail::bytes_of(keys, items, argument);
  }
}

}  // namespace detail
STRATA_NAMESPACE_END
