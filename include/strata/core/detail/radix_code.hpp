// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The form in which a sort holds keys whose digits it computes several times. A number becomes a code whose digits
/// cost less. For all other keys, the code is the key itself.
///
/// A key is exact if the digits of its code are its digits in the sort. `ordered()` leaves the codes of such keys as
/// they are. `digit()` returns the digit that `radix_digits` returns. With `IsExact`, it takes only codes of exact
/// keys, and results of `ordered()`.
template <class Digits, bool AreOfNumbers>
struct radix_codes_of;

template <class Key, bool IsDescending, class Decomposer>
struct radix_codes_of<radix_digits<Key, IsDescending, Decomposer>, false> {
  using Digits = radix_digits<Key, IsDescending, Decomposer>;
  using Code = Key;
  static constexpr bool are_all_exact = true;
  static constexpr bool has_highest = false;

  STRATA_HD static Code encode(Key key) { return key; }
  STRATA_HD static Key decode(const Code& code) { return code; }
  STRATA_HD static bool is_exact(const Code&) { return true; }
  STRATA_HD static Code ordered(const Code& code) { return code; }

  template <bool IsExact>
  STRATA_HD static unsigned digit(const Digits& digits, const Code& code, int begin, int count) {
    return digits(code, begin, count);
  }
};

/// The code of a number is a word in the order of the sort, made by radix_bit_order. No two keys have the same code: in
/// an ascending sort, the code of -0.0 comes just before that of +0.0, and the codes of NaNs are ordered by sign and
/// payload. -0.0 and NaNs count as not exact, because a sort takes -0.0 for +0.0, and any NaN for the NaN in which all
/// bits but the sign are set.
template <class Key, bool IsDescending>
struct radix_codes_of<radix_digits<Key, IsDescending, identity_decomposer>, true> {
  using Digits = radix_digits<Key, IsDescending, identity_decomposer>;
  using Code = typename RadixTraits<Key>::word;
  static constexpr bool is_float = radix_mantissa_bits<Key> != 0;
  static constexpr bool are_all_exact = !is_float;
  /// True if there is a code `highest` of which `digit<true>()` returns the highest digit at every place.
  static constexpr bool has_highest = true;
  static constexpr Code highest = static_cast<Code>(~Code{0});
  static constexpr int bits = RadixTraits<Key>::bits;
  static constexpr Code sign = static_cast<Code>(Code{1} << (bits - 1));

  // The key is passed by value: memcpy from a reference to memory would become loads of single bytes.
  STRATA_HD static Code encode(Key key) {
    Code word;
    std::memcpy(&word, &key, sizeof(Key));
    const Code flipped = radix_bit_order<Key, Code>::flipped(word);
    return static_cast<Code>(IsDescending ? ~(word ^ flipped) : word ^ flipped);
  }

  STRATA_HD static Key decode(Code code) {
    if (IsDescending) code = static_cast<Code>(~code);
    const Code word = static_cast<Code>(code ^ radix_bit_order<Key, Code>::flipped_back(code));
    Key key;
    std::memcpy(static_cast<void*>(&key), &word, sizeof(Key));
    return key;
  }

  /// True if the key is neither -0.0 nor NaN. Then `ordered()` leaves the code as it is.
  STRATA_HD static bool is_exact(Code code) {
    if constexpr (is_float) {
      constexpr Code last = static_cast<Code>(sign | radix_greatest_magnitude<Key>);
      constexpr Code first = static_cast<Code>(~last);
      return code != negative_zero && static_cast<Code>(ascending(code) - first) <= static_cast<Code>(last - first);
    } else {
      return true;
    }
  }

  /// Returns the code whose bits are the digits of the key, exact or not.
  STRATA_HD static Code ordered(Code code) {
    if (is_exact(code)) return code;
    return ascending(code == negative_zero ? sign : highest);
  }

  template <bool IsExact>
  STRATA_HD static unsigned digit(const Digits&, Code code, int begin, int count) {
    if (!IsExact) code = ordered(code);
    return static_cast<unsigned>(code >> begin) & (~0u >> (32 - count));
  }

 private:
  // Turns a code of this sort into the code of the same key in an ascending sort, and back.
  STRATA_HD static constexpr Code ascending(Code code) { return static_cast<Code>(IsDescending ? ~code : code); }
  static constexpr Code negative_zero = static_cast<Code>(IsDescending ? sign : sign - 1);
};

/// True for digits of keys that are one number: the order of their bits is known. The order of other keys may come from
/// a program's specialisation of RadixTraits.
template <class Digits>
inline constexpr bool are_digits_of_numbers = false;
template <class Key, bool IsDescending>
inline constexpr bool are_digits_of_numbers<radix_digits<Key, IsDescending, identity_decomposer>> = is_radix_key<Key>;

template <class Digits>
using radix_codes = radix_codes_of<Digits, are_digits_of_numbers<Digits>>;

/// The codes by which the greatest or the least keys are found.
template <class Key, bool IsMax>
struct top_k_codes : radix_codes<radix_digits<Key, IsMax>> {
  static_assert(is_radix_key<Key>,
                "top-k takes keys that are integers, enumerations or floating-point numbers: pass other keys as the "
                "integers that RadixTraits<Key>::ordered() returns");
};

/// The digits of codes as a function object: `digit_of(code, begin_bit, bits)`.
template <class Digits, bool IsExact>
struct radix_code_digits {
  const Digits& digits;

  template <class Code>
  STRATA_HD unsigned operator()(const Code& code, int begin_bit, int bits) const {
    return radix_codes<Digits>::template digit<IsExact>(digits, code, begin_bit, bits);
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
