// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Reductions over the 32 lanes of a warp by the instruction that reduces a 32-bit integer of every lane.

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/shuffle.cuh>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Floating-point numbers of up to 32 bits.
template <class T>
inline constexpr bool is_word_float =
    std::is_same_v<T, float> || std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;
/// Floating-point numbers that `extreme_words` turns into words of the same order.
template <class T>
inline constexpr bool is_ordered_float = is_word_float<T> || std::is_same_v<T, double>;

/// Words that have the order of the numbers `T`, for minima and maxima. They have 64 bits if `T` has.
///
/// Integers are their own words. In a negative float, the bits below the sign are flipped: then -0.0 is one less than
/// +0.0. NaNs have the word that loses against all numbers.
template <bool IsMax, class T>
struct extreme_words {
  static constexpr bool is_wide = sizeof(T) == 8;
  using signed_word = std::conditional_t<is_wide, std::int64_t, int>;
  using word =
      std::conditional_t<std::is_integral_v<T> && !std::is_signed_v<T>, std::make_unsigned_t<signed_word>, signed_word>;
  static constexpr word loses = IsMax ? lowest_value<word> : largest_value<word>;
  static constexpr word negative_zero = static_cast<word>(-1);

  STRATA_D static word of(const T& number) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<word>(number);
    } else {
      bits_type bits;
      std::memcpy(&bits, &number, sizeof(T));
      return (bits & magnitude) > infinity ? loses : flip(bits);
    }
  }

  /// Returns the number of a word, or a NaN if the word is `loses`.
  STRATA_D static T number(word w) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(w);
    } else {
      const auto bits = static_cast<bits_type>(flip(w));
      T number;
      std::memcpy(&number, &bits, sizeof(T));
      return number;
    }
  }

  /// Returns the word of a number. NaNs have the word that wins against all numbers.
  STRATA_D static word of_number_or_winner(const T& number) {
    bits_type bits;
    std::memcpy(&bits, &number, sizeof(T));
    return (bits & magnitude) > infinity ? ~loses : flip(bits);
  }
  /// True if the word is that of a number that is not 0, and not denormal.
  STRATA_D static bool is_normal(word w) {
    const signed_word bits = flip(w) & magnitude;
    return smallest_normal <= bits && bits <= infinity;
  }

  /// Returns the extreme of the words of all lanes, to every lane. If words are wide, the extreme of the high halves is
  /// found first.
  STRATA_D static word reduce(word w) {
    if constexpr (is_wide) {
      using half = std::conditional_t<std::is_signed_v<word>, int, unsigned>;
      const auto high = static_cast<half>(w >> 32);
      const half extreme_high = reduce_word(high);
      const unsigned low = high == extreme_high ? static_cast<unsigned>(w) : IsMax ? 0 : ~0u;
      return static_cast<word>(static_cast<std::uint64_t>(static_cast<std::uint32_t>(extreme_high)) << 32 |
                               reduce_word(low));
    } else {
      return reduce_word(w);
    }
  }

 private:
  using bits_type =
      std::conditional_t<is_wide, std::int64_t, std::conditional_t<sizeof(T) == 4, std::int32_t, std::int16_t>>;
  static constexpr signed_word magnitude = sizeof(T) == 2 ? 0x7fff : largest_value<signed_word>;
  static constexpr int mantissa_bits = is_wide ? 52 : sizeof(T) == 4 ? 23 : std::is_same_v<T, __half> ? 10 : 7;
  static constexpr signed_word smallest_normal = signed_word{1} << mantissa_bits;
  static constexpr signed_word infinity = magnitude & ~(smallest_normal - 1);

  template <class Word>
  STRATA_D static Word reduce_word(Word w) {
    return IsMax ? platform::redux_max(full_warp_mask, w) : platform::redux_min(full_warp_mask, w);
  }
  STRATA_D static signed_word flip(signed_word word) {
    return word ^ (word >> (8 * static_cast<int>(sizeof(word)) - 1) & magnitude);
  }
};

/// True if the instruction reduces a `T` of every lane by `Operator` directly: integers of up to 32 bits.
template <class Operator, class T>
inline constexpr bool is_word_operation =
    std::is_integral_v<T> && sizeof(T) <= 4 && operator_traits<Operator, T>::hardware != hardware_reduction::none;

/// True for minima and maxima of floats, and of integers of 64 bits.
template <class Operator, class T>
inline constexpr bool is_extreme_of_numbers = (std::is_same_v<Operator, Min> || std::is_same_v<Operator, Max>)&&(
    is_ordered_float<T> || (std::is_integral_v<T> && sizeof(T) == 8));

/// Minima and maxima of such floats by function objects of other libraries, which are known by their names, such as
/// `cuda::maximum`. Versions differ in what they do with NaNs, and with zeros of both signs: see normal_extreme().
template <class Operator, class T>
STRATA_HD constexpr hardware_reduction named_extreme() {
  using Operand = typename operand<Operator>::type;
  if (!platform::has_redux || !is_ordered_float<T> || !(std::is_void_v<Operand> || std::is_same_v<Operand, T>)) {
    return hardware_reduction::none;
  }
  const hardware_reduction operation = detail::operation_by_name<Operator>();
  const bool is_extreme = operation == hardware_reduction::min || operation == hardware_reduction::max;
  return is_extreme ? operation : hardware_reduction::none;
}

/// True for ArgMin and ArgMax of pairs of a 32-bit index and a 32-bit integer or a float of up to 32 bits.
template <class Operator, class T>
inline constexpr bool is_extreme_of_pairs = false;
template <class Operator, class Index, class T>
inline constexpr bool is_extreme_of_pairs<Operator, KeyValuePair<Index, T>> =
    (std::is_same_v<Operator, ArgMin> || std::is_same_v<Operator, ArgMax>)&&is_word_integer<Index> &&
    (is_word_integer<T> || is_word_float<T>);

/// True if instructions reduce a `T` of each of 32 lanes by `Operator`. Logical warps of 2 to 16 lanes gain nothing:
/// each would issue the instruction by itself, and it is slower than their one to four shuffles.
template <class Operator, class T>
inline constexpr bool warp_reduces_in_hardware = platform::has_redux && (is_word_operation<Operator, T> ||
                                                                         is_extreme_of_numbers<Operator, T> ||
                                                                         is_extreme_of_pairs<Operator, T>);

template <hardware_reduction Kind, class T>
STRATA_D T reduce_words(T value) {
  // The instruction knows int and unsigned; T may be smaller, or a long or a character of that size.
  using word = std::conditional_t<std::is_signed_v<T>, int, unsigned>;
  if constexpr (Kind == hardware_reduction::add) {
    return static_cast<T>(platform::redux_add(full_warp_mask, static_cast<unsigned>(value)));
  } else if constexpr (Kind == hardware_reduction::min) {
    return static_cast<T>(platform::redux_min(full_warp_mask, static_cast<word>(value)));
  } else if constexpr (Kind == hardware_reduction::max) {
    return static_cast<T>(platform::redux_max(full_warp_mask, static_cast<word>(value)));
  } else if constexpr (Kind == hardware_reduction::bit_and) {
    return static_cast<T>(platform::redux_and(full_warp_mask, static_cast<unsigned>(value)));
  } else if constexpr (Kind == hardware_reduction::bit_or) {
    return static_cast<T>(platform::redux_or(full_warp_mask, static_cast<unsigned>(value)));
  } else {
    return static_cast<T>(platform::redux_xor(full_warp_mask, static_cast<unsigned>(value)));
  }
}

/// Finds the extreme of the numbers of the valid lanes of a warp. Returns true, in all lanes, if it is normal and no
/// number is a NaN: then any function that finds extremes returns the same bits.
template <hardware_reduction Kind, class T>
STRATA_D bool normal_extreme(const T& number, bool is_valid, T& extreme) {
  using words = extreme_words<Kind == hardware_reduction::max, T>;
  const auto word = words::reduce(is_valid ? words::of_number_or_winner(number) : words::loses);
  extreme = words::number(word);
  return words::is_normal(word);
}

/// Returns the pair with the extreme value. Among equal values, the smallest index wins.
template <bool IsMax, class Index, class T>
STRATA_D KeyValuePair<Index, T> extreme_pair(const KeyValuePair<Index, T>& pair, bool is_valid) {
  using values = extreme_words<IsMax, T>;
  using indices = extreme_words<false, Index>;
  auto word = values::of(pair.value);
  if constexpr (!std::is_integral_v<T>) {
    if (word == values::negative_zero) word = 0;  // the zeros are equal
  }
  const auto extreme = values::reduce(is_valid ? word : values::loses);
  const bool is_candidate = is_valid && word == extreme;
  const auto index = indices::of(pair.key);
  const auto first = indices::reduce(is_candidate ? index : indices::loses);
  if (std::is_integral_v<T> || (extreme != 0 && extreme != values::loses)) {
    return {indices::number(first), values::number(extreme)};
  }
  // A zero or a NaN: the word does not say which.
  const unsigned winners = __ballot_sync(full_warp_mask, is_candidate && index == first ? 1 : 0);
  return platform::shuffle(full_warp_mask, pair, __ffs(static_cast<int>(winners)) - 1);
}

/// Reduces the values of the valid lanes of a warp, at least one. All lanes get the result.
template <class Operator, class T>
STRATA_D T reduce_warp_in_hardware(const T& value, bool is_valid) {
  if constexpr (is_word_operation<Operator, T>) {
    using traits = operator_traits<Operator, T>;
    return detail::reduce_words<traits::hardware>(is_valid ? value : traits::identity());
  } else if constexpr (is_extreme_of_numbers<Operator, T>) {
    using words = extreme_words<std::is_same_v<Operator, Max>, T>;
    return words::number(words::reduce(is_valid ? words::of(value) : words::loses));
  } else {
    return detail::extreme_pair<std::is_same_v<Operator, ArgMax>>(value, is_valid);
  }
}

}  // namespace detail
STRATA_NAMESPACE_END
