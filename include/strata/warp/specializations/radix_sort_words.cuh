// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// True for keys with a radix_sort_word: floating-point numbers, and integers of up to 64 bits except bool. Keys of
/// other types have none, because programs may specialise RadixTraits for them.
template <class Key>
inline constexpr bool has_radix_sort_word = radix_mantissa_bits<Key> != 0 ||
                                            (std::is_integral_v<Key> && !std::is_same_v<Key, bool> &&
                                             sizeof(Key) <= sizeof(std::uint64_t));

/// Whole keys as words that compare as unsigned integers, and back. A sort encodes its keys once, instead of once for
/// each digit. Each key has its own word, so keys come back unchanged.
///
/// Floating-point numbers need one more step, because equal keys may have different bits. Words count from the lowest
/// number on, so that NaNs of both signs are the highest words:
///
///     lowest number .. -0.0, +0.0 .. highest number, NaNs
///
/// A descending sort uses the complements of these words.
///
/// `normalized(word)` gives -0.0 and +0.0 one word, and all NaNs another. `is_special(key)` is true for -0.0 and NaNs:
/// a tile without them needs no normalized words.
template <class Key, bool IsDescending>
struct radix_sort_word {
  static constexpr bool is_float = radix_mantissa_bits<Key> != 0;
  using word = typename unsigned_of_bytes<sizeof(Key)>::type;

  STRATA_HD static word encode(const Key& key) {
    const word bits = bits_of(key);
    const word ordered = static_cast<word>((bits ^ order::flipped(bits)) - lowest());
    return static_cast<word>(IsDescending ? ~ordered : ordered);
  }
  STRATA_HD static Key decode(word encoded) {
    const word ordered = static_cast<word>((IsDescending ? ~encoded : encoded) + lowest());
    const word bits = static_cast<word>(ordered ^ order::flipped_back(ordered));
    Key key;
    std::memcpy(static_cast<void*>(&key), &bits, sizeof(Key));
    return key;
  }
  STRATA_HD static word normalized(word encoded) {
    if constexpr (!is_float) {
      return encoded;
    } else if constexpr (IsDescending) {
      constexpr word nan = static_cast<word>(~first_nan());
      const word number = encoded < nan ? nan : encoded;
      return static_cast<word>(number + (encoded < static_cast<word>(~negative_zero()) ? 1 : 0));
    } else {
      const word number = encoded > first_nan() ? first_nan() : encoded;
      return static_cast<word>(number - (encoded > negative_zero() ? 1 : 0));
    }
  }
  STRATA_HD static bool is_special(const Key& key) {
    if constexpr (is_float) {
      const word bits = bits_of(key);
      return bits == order::sign || static_cast<word>(bits & (order::sign - 1)) > greatest();
    } else {
      static_cast<void>(key);
      return false;
    }
  }

 private:
  using order = radix_bit_order<Key>;

  STRATA_HD static word bits_of(const Key& key) {
    word bits;
    std::memcpy(&bits, &key, sizeof(Key));
    return bits;
  }
  STRATA_HD static constexpr word greatest() {
    if constexpr (is_float) {
      return radix_greatest_magnitude<Key>;
    } else {
      return 0;
    }
  }
  // The ordered bits of the lowest number.
  STRATA_HD static constexpr word lowest() {
    return static_cast<word>(is_float ? static_cast<word>(~(order::sign | greatest())) : word{0});
  }
  STRATA_HD static constexpr word negative_zero() { return greatest(); }
  STRATA_HD static constexpr word first_nan() { return static_cast<word>(2 * greatest() + 2); }
};

/// The words of keys that have no special values.
template <class Code>
struct radix_sort_plain_word : Code {
  using word = typename Code::word;
  STRATA_HD static word normalized(word encoded) { return encoded; }
};

/// The digits of the normalized words of `Code`.
template <class Code>
struct radix_word_digits {
  using word = typename Code::word;
  STRATA_HD unsigned operator()(word encoded, int begin, int count) const {
    return static_cast<unsigned>(Code::normalized(encoded) >> begin) & (~0u >> (32 - count));
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
