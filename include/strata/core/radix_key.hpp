// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

template <class T>
struct is_radix_integer : std::bool_constant<std::is_integral_v<T> || std::is_enum_v<T>> {};
template <class T, bool IsEnum = std::is_enum_v<T>>
struct is_signed_radix_integer : std::is_signed<T> {};
template <class T>
struct is_signed_radix_integer<T, true> : std::is_signed<std::underlying_type_t<T>> {};
#if STRATA_HAS_INT128
template <>
struct is_radix_integer<int128> : std::true_type {};
template <>
struct is_radix_integer<uint128> : std::true_type {};
template <>
struct is_signed_radix_integer<int128, false> : std::true_type {};
#endif

/// Mantissa bits of the floating-point types that keys may have; 0 for other types.
template <class T>
inline constexpr int radix_mantissa_bits = 0;
template <>
inline constexpr int radix_mantissa_bits<float> = 23;
template <>
inline constexpr int radix_mantissa_bits<double> = 52;
template <>
inline constexpr int radix_mantissa_bits<__half> = 10;
template <>
inline constexpr int radix_mantissa_bits<__nv_bfloat16> = 7;
template <>
inline constexpr int radix_mantissa_bits<__nv_fp8_e5m2> = 2;
template <>
inline constexpr int radix_mantissa_bits<__nv_fp8_e4m3> = 3;

/// The bits of the greatest magnitude of a floating-point type that is not a NaN: infinity, if the type has one.
template <class T, class Word = typename unsigned_of_bytes<sizeof(T)>::type>
inline constexpr Word radix_greatest_magnitude = static_cast<Word>((static_cast<Word>(~Word{0}) >> 1) &
                                                                   ~((Word{1} << radix_mantissa_bits<T>)-1));
template <>
inline constexpr std::uint8_t radix_greatest_magnitude<__nv_fp8_e4m3, std::uint8_t> = 0x7e;

/// Turns the bits of a key into a word in the order of the keys, and back. Signed integers have the sign bit flipped,
/// negative floating-point numbers all bits, other floating-point numbers the sign bit. No two keys have the same word.
template <class T, class Word = typename unsigned_of_bytes<sizeof(T)>::type>
struct radix_bit_order {
  static constexpr int bits = 8 * static_cast<int>(sizeof(T));
  static constexpr Word sign = static_cast<Word>(Word{1} << (bits - 1));

  /// Returns the bits of `key` in which its word differs.
  STRATA_HD static Word flipped(Word key) {
    if constexpr (radix_mantissa_bits<T> != 0) {
      return static_cast<Word>(sign_mask(key) | sign);
    } else {
      static_cast<void>(key);
      return is_signed_radix_integer<T>::value ? sign : Word{0};
    }
  }

  /// Returns the bits of `word` in which its key differs. The words of negative numbers lack the sign bit.
  STRATA_HD static Word flipped_back(Word word) {
    if constexpr (radix_mantissa_bits<T> != 0) {
      return static_cast<Word>(~sign_mask(word) | sign);
    } else {
      return flipped(word);
    }
  }

 private:
  // All bits if the sign bit is set, otherwise none.
  STRATA_HD static Word sign_mask(Word word) { return static_cast<Word>(Word{0} - (word >> (bits - 1))); }
};

}  // namespace detail

/// True if keys of a type can be sorted by their bits. Keys of other types need a decomposer, or a specialisation of
/// RadixTraits.
template <class T>
inline constexpr bool is_radix_key = detail::is_radix_integer<T>::value || detail::radix_mantissa_bits<T> != 0;

/// Maps keys to unsigned integers of the same order.
///
/// Signed integers have their sign bit flipped. Negative floating-point numbers have all bits flipped, others
/// the sign bit. -0.0 equals +0.0. All NaNs, whatever their sign and payload, are equal and follow +infinity.
/// A sort compares these words only, and does not change the keys that it moves. Specialise it for classes only, not
/// for enumerations: some sorts take their integers.
template <class T>
struct RadixTraits {
  static_assert(is_radix_key<T>,
                "radix sorts take integers and enumerations, and floating-point numbers of 8 to 64 bits; give "
                "them a decomposer for other types, or specialise strata::RadixTraits");
  using word = typename detail::unsigned_of_bytes<sizeof(T)>::type;  ///< Unsigned integer with as many bits as a key.
  static constexpr int bits = 8 * static_cast<int>(sizeof(T));       ///< Number of bits of a key.

  /// Returns the unsigned integer of a key.
  STRATA_HD static word ordered(T key) {
    word result;
    std::memcpy(&result, &key, sizeof(T));
    constexpr word sign = static_cast<word>(word{1} << (bits - 1));
    if constexpr (detail::radix_mantissa_bits<T> != 0) {
      const bool is_nan = static_cast<word>(result & (sign - 1)) > detail::radix_greatest_magnitude<T>;
      if (result == sign) result = 0;
      result = static_cast<word>((result & sign) != 0 ? ~result : result | sign);
      return is_nan ? static_cast<word>(~word{0}) : result;
    } else if constexpr (detail::is_signed_radix_integer<T>::value) {
      return static_cast<word>(result ^ sign);
    } else {
      return result;
    }
  }

  /// Returns the key of a word. It is for integers only, because several floating-point keys may have the same word.
  STRATA_HD static T from_ordered(word ordered) {
    // not for users: only counting sorts call it.
    static_assert(detail::is_radix_integer<T>::value, "several floating-point keys may have the same word");
    const auto result = static_cast<word>(ordered ^ detail::radix_bit_order<T>::flipped_back(ordered));
    T key;
    std::memcpy(&key, &result, sizeof(T));
    return key;
  }
};

/// The bits of keys as codes in the order of the keys, and back: for radix selections and sorts in kernels of your own.
///
///     using Bits = strata::Traits<float>::UnsignedBits;
///     Bits code = strata::Traits<float>::TwiddleIn(__float_as_uint(x));  // x < y: the code of x is smaller
///     float y = __uint_as_float(strata::Traits<float>::TwiddleOut(code));
///
/// CUB has the same codes. TwiddleOut(TwiddleIn(bits)) == bits for all bits, so the codes of floating-point numbers
/// differ from the words of `RadixTraits`, by which the sorts compare keys:
///
/// | key | Traits | RadixTraits |
/// |---|---|---|
/// | -0.0 | just below +0.0 | equal to +0.0 |
/// | NaN without the sign bit | above +infinity, by payload | equal to all other NaNs, above +infinity |
/// | NaN with the sign bit | below -infinity, by payload | equal to all other NaNs, above +infinity |
///
/// `T` is an integer, an enumeration or a floating-point number (`is_radix_key`).
template <class T>
struct Traits {
  static_assert(is_radix_key<std::remove_cv_t<T>>,
                "Traits: T must be an integer, an enumeration or a floating-point number of 8 to 64 bits; copy the "
                "bits of other keys to an integer of the same size first");
  /// Unsigned integer of the size of `T`. If `T` has 8 bytes, it is unsigned long long, except for long and unsigned
  /// long.
  using UnsignedBits = std::conditional_t<sizeof(T) == sizeof(long long) && !std::is_same_v<T, long> &&
                                              !std::is_same_v<T, unsigned long>,
                                          unsigned long long, typename detail::unsigned_of_bytes<sizeof(T)>::type>;

  /// Returns the code of a key, from the key's bits.
  STRATA_HD static UnsignedBits TwiddleIn(UnsignedBits key) {
    return static_cast<UnsignedBits>(key ^ bit_order::flipped(key));
  }

  /// Returns the bits of a key, from its code.
  STRATA_HD static UnsignedBits TwiddleOut(UnsignedBits key) {
    return static_cast<UnsignedBits>(key ^ bit_order::flipped_back(key));
  }

 private:
  using bit_order = detail::radix_bit_order<std::remove_cv_t<T>, UnsignedBits>;
};

/// The fields of a key, by reference, the most significant first: what a decomposer returns.
///
///     struct by_day {
///       STRATA_HD strata::RadixFields<int&, unsigned char&> operator()(event& e) const {
///         return {e.year, e.day};
///       }
///     };
///
/// A cuda::std::tuple of references serves as well.
template <class... Fields>
struct RadixFields;
template <>
struct RadixFields<> {};
template <class First, class... Rest>
struct RadixFields<First, Rest...> {
  First first;
  RadixFields<Rest...> rest;

  STRATA_HD RadixFields(First field, Rest... fields) : first(field), rest{fields...} {}
};

template <std::size_t Index, class First, class... Rest>
STRATA_HD constexpr auto& get(const RadixFields<First, Rest...>& fields) {
  if constexpr (Index == 0) {
    return fields.first;
  } else {
    return strata::get<Index - 1>(fields.rest);
  }
}

namespace detail {

/// For keys that are one number.
struct identity_decomposer {};

template <class Key, class Decomposer>
struct radix_fields {
  using tuple = std::decay_t<std::invoke_result_t<Decomposer, Key&>>;
  static constexpr std::size_t count = std::tuple_size<tuple>::value;
  template <std::size_t Index>
  using field = std::remove_cv_t<std::remove_reference_t<std::tuple_element_t<Index, tuple>>>;

  template <std::size_t... Index>
  STRATA_HD static constexpr int sum_of_bits(std::index_sequence<Index...>) {
    return (0 + ... + RadixTraits<field<Index>>::bits);
  }
  static constexpr int bits = sum_of_bits(std::make_index_sequence<count>{});
};

/// The number of bits to sort by.
template <class Key, class Decomposer>
STRATA_HD constexpr int radix_key_bits() {
  if constexpr (std::is_same_v<Decomposer, identity_decomposer>) {
    return RadixTraits<Key>::bits;
  } else {
    return radix_fields<Key, Decomposer>::bits;
  }
}

/// The digits of keys: bits `begin` to `begin + count - 1`, at most 32, of the ordered words of all fields,
/// concatenated. They are complemented for descending sorts.
template <class Key, bool IsDescending, class Decomposer = identity_decomposer>
struct radix_digits {
  static constexpr int key_bits = detail::radix_key_bits<Key, Decomposer>();

  Decomposer decomposer;

  STRATA_HD unsigned operator()(const Key& key, int begin, int count) const {
    const unsigned mask = ~0u >> (32 - count);
    const unsigned digit = ascending(key, begin, count);
    return (IsDescending ? ~digit : digit) & mask;
  }

 private:
  STRATA_HD unsigned ascending(const Key& key, int begin, int count) const {
    if constexpr (std::is_same_v<Decomposer, identity_decomposer>) {
      static_cast<void>(count);
      return static_cast<unsigned>(RadixTraits<Key>::ordered(key) >> begin);
    } else {
      using fields = radix_fields<Key, Decomposer>;
      Key copy = key;
      return of_fields(decomposer(copy), begin, count, std::make_index_sequence<fields::count>{});
    }
  }

  template <class Tuple, std::size_t... Index>
  STRATA_HD static unsigned of_fields(const Tuple& fields, int begin, int count, std::index_sequence<Index...>) {
    unsigned digit = 0;
    int end = key_bits;  // the end of the field's bits
    ((digit |= of_field(get<Index>(fields), end, begin, count)), ...);
    return digit;
  }

  // The part of the digit in the field whose bits end at `end`. Sets `end` to the end of the next field.
  template <class Field>
  STRATA_HD static unsigned of_field(const Field& field, int& end, int begin, int count) {
    const int first = end - RadixTraits<Field>::bits;
    const int last = end;
    end = first;
    if (begin >= last || begin + count <= first) return 0;
    const auto word = RadixTraits<Field>::ordered(field);
    return begin >= first ? static_cast<unsigned>(word >> (begin - first))
                          : static_cast<unsigned>(word) << (first - begin);
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_STD_NAMESPACE_BEGIN
template <class... Fields>
struct tuple_size<STRATA_DETAIL_ROOT::RadixFields<Fields...>> : integral_constant<size_t, sizeof...(Fields)> {};
template <size_t Index, class First, class... Rest>
struct tuple_element<Index, STRATA_DETAIL_ROOT::RadixFields<First, Rest...>>
    : tuple_element<Index - 1, STRATA_DETAIL_ROOT::RadixFields<Rest...>> {};
template <class First, class... Rest>
struct tuple_element<0, STRATA_DETAIL_ROOT::RadixFields<First, Rest...>> {
  using type = First;
};
STRATA_STD_NAMESPACE_END
