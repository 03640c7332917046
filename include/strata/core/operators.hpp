// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/detail/type_name.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN

namespace detail {

/// The floating-point types whose NaNs and zeros Min and Max know; all others are compared by their
/// operators alone.
template <class T>
inline constexpr bool is_device_real = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                                       std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;

/// True if a number is negative or -0.0.
template <class T>
STRATA_HD constexpr bool has_sign(T x) {
// NVRTC and MSVC have no __builtin_signbit. That of nvcc 12.4 calls a function of double with a float, which does not
// compile.
#if STRATA_NVRTC || defined(_MSC_VER) || (defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 13)
  return __builtin_bit_cast(std::conditional_t<sizeof(T) == 4, int, long long>, x) < 0;
#else
  return __builtin_signbit(x) != 0;
#endif
}

/// The smaller (or, for `IsMax`, the larger) of two numbers: -0.0 is smaller than +0.0, and of a NaN and a
/// number the number is taken. All values but NaNs are totally ordered, so neither the order nor the
/// association of such calls changes the result. On the device these are the instructions min and max.
template <bool IsMax, class T>
STRATA_HD constexpr T extreme_number(const T& a, const T& b) {
#if STRATA_DEVICE_PASS
  if (!__builtin_is_constant_evaluated()) {
    if constexpr (std::is_same_v<T, float>) {
      return IsMax ? ::fmaxf(a, b) : ::fminf(a, b);
    } else if constexpr (std::is_same_v<T, double>) {
      return IsMax ? ::fmax(a, b) : ::fmin(a, b);
    } else {
      return IsMax ? __hmax(a, b) : __hmin(a, b);
    }
  }
#endif
  using number = std::conditional_t<std::is_floating_point_v<T>, T, float>;
  const number x = static_cast<number>(a);
  const number y = static_cast<number>(b);
  const bool is_beyond = IsMax ? x < y : y < x;
  const bool is_other_zero = x == y && detail::has_sign(IsMax ? x : y);
  return is_beyond || is_other_zero || x != x ? b : a;
}

/// True if `b` is a number, and `a` is a NaN or larger (for `IsMax`: smaller).
template <bool IsMax, class T>
STRATA_HD constexpr bool loses_against(const T& a, const T& b) {
  const bool is_not_first = !(IsMax ? b <= a : a <= b);
  const bool is_number = b == b;
  return is_not_first & is_number;
}

/// True if the pair `b` is taken: its value is smaller than the value of `a` (for `IsMax`: larger), or the values are
/// equal and its index is smaller. The code has no `||`, with which the compiler would keep branches in a loop over
/// items.
template <bool IsMax, class Pair>
STRATA_HD constexpr bool is_second_extreme(const Pair& a, const Pair& b) {
  const bool is_beyond = detail::loses_against<IsMax>(a.value, b.value);
  const bool is_not_behind = !detail::loses_against<IsMax>(b.value, a.value);
  const bool has_smaller_key = b.key < a.key;
  return is_beyond | (is_not_behind & has_smaller_key);
}

}  // namespace detail

/// The sum of two values, `a + b`.
///
/// Reductions, scans and differences take any callable `op(a, b)`, also those of the standard library and of libcu++.
/// `operator_traits` knows the function objects of this header.
struct Sum {
  /// Returns `a + b`.
  template <class T, class U>
  STRATA_HD constexpr auto operator()(const T& a, const U& b) const -> decltype(a + b) {
    return a + b;
  }
};

/// The difference of two values, `a - b`.
struct Difference {
  /// Returns `a - b`.
  template <class T, class U>
  STRATA_HD constexpr auto operator()(const T& a, const U& b) const -> decltype(a - b) {
    return a - b;
  }
};

/// The smaller of two values by operator <. It is the first value if they are equal or unordered.
///
/// `float`, `double`, `__half` and `__nv_bfloat16` are compared as by fmin. The minimum of a NaN and a number is the
/// number. The minimum of two NaNs is a NaN with unspecified bits. -0.0 is smaller than +0.0. So every order and
/// association of the operands gives the same bits, except for NaNs. (Code that is compiled to flush subnormal floats
/// to zero may return zeros for these.)
struct Min {
  /// Returns the smaller value.
  template <class T, class U>
  STRATA_HD constexpr std::common_type_t<T, U> operator()(const T& a, const U& b) const {
    using common = std::common_type_t<T, U>;
    if constexpr (detail::is_device_real<common>) {
      return detail::extreme_number<false>(static_cast<common>(a), static_cast<common>(b));
    } else {
      return b < a ? b : a;
    }
  }
};

/// The larger of two values by operator <. It is the first value if they are equal or unordered. Floating-point values
/// are treated as by `Min`: the maximum of a NaN and a number is the number, and +0.0 is larger than -0.0.
struct Max {
  /// Returns the larger value.
  template <class T, class U>
  STRATA_HD constexpr std::common_type_t<T, U> operator()(const T& a, const U& b) const {
    using common = std::common_type_t<T, U>;
    if constexpr (detail::is_device_real<common>) {
      return detail::extreme_number<true>(static_cast<common>(a), static_cast<common>(b));
    } else {
      return a < b ? b : a;
    }
  }
};

/// The bitwise and of two values, `a & b`.
struct BitAnd {
  /// Returns `a & b`.
  template <class T>
  STRATA_HD constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a & b);
  }
};

/// The bitwise or of two values, `a | b`.
struct BitOr {
  /// Returns `a | b`.
  template <class T>
  STRATA_HD constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a | b);
  }
};

/// The bitwise exclusive or of two values, `a ^ b`.
struct BitXor {
  /// Returns `a ^ b`.
  template <class T>
  STRATA_HD constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a ^ b);
  }
};

/// Takes the (index, value) pair with the smaller value. If the values are equal, it takes the smaller index. A number
/// is smaller than a NaN. NaNs are equal to each other, and -0.0 is equal to +0.0. If indices are equal too, either
/// pair may be taken.
///
/// Values of other types than integers, `float`, `double`, `__half` and `__nv_bfloat16` are compared by their operators
/// < and ==: the first pair is taken unless the value of the second one is less, or equal with a smaller index.
struct ArgMin {
  /// Returns the pair with the smaller value.
  template <class Index, class T>
  STRATA_HD constexpr KeyValuePair<Index, T> operator()(const KeyValuePair<Index, T>& a,
                                                        const KeyValuePair<Index, T>& b) const {
    if constexpr (detail::is_device_real<T>) {
      return detail::is_second_extreme<false>(a, b) ? b : a;
    } else {
      return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
  }
};

/// Takes the (index, value) pair with the larger value. If the values are equal, it takes the smaller index. A number
/// is larger than a NaN; zeros are compared as by `ArgMin`.
struct ArgMax {
  /// Returns the pair with the larger value.
  template <class Index, class T>
  STRATA_HD constexpr KeyValuePair<Index, T> operator()(const KeyValuePair<Index, T>& a,
                                                        const KeyValuePair<Index, T>& b) const {
    if constexpr (detail::is_device_real<T>) {
      return detail::is_second_extreme<true>(a, b) ? b : a;
    } else {
      return a.value < b.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
  }
};

namespace detail {

/// Takes the (index, value) pair whose value comes first by `compare`. If the values are equal, it takes the smaller
/// index.
template <class Compare>
struct arg_first {
  Compare compare;
  template <class Pair>
  STRATA_HD Pair operator()(const Pair& a, const Pair& b) {
    if (static_cast<bool>(compare(b.value, a.value))) return b;
    if (static_cast<bool>(compare(a.value, b.value))) return a;
    return b.key < a.key ? b : a;
  }
};

/// A comparator of the reverse order.
template <class Compare>
struct reversed {
  Compare compare;
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) {
    return static_cast<bool>(compare(b, a));
  }
};

}  // namespace detail

/// True if two values are equal by operator ==.
struct Equality {
  /// Returns `a == b`.
  template <class T, class U>
  STRATA_HD auto operator()(const T& a, const U& b) const -> decltype(static_cast<bool>(a == b)) {
    return static_cast<bool>(a == b);
  }
};

/// True if one value is less than another by operator <.
struct Less {
  /// Returns `a < b`.
  template <class T, class U>
  STRATA_HD constexpr bool operator()(const T& a, const U& b) const {
    return static_cast<bool>(a < b);
  }
};

/// Negates an equality operator.
template <class EqualityOp>
struct InequalityWrapper {
  EqualityOp op;  ///< The operator that is negated.

  /// Makes a wrapper of a default-constructed operator.
  InequalityWrapper() = default;
  /// Makes a wrapper of `equality`.
  STRATA_HD constexpr InequalityWrapper(EqualityOp equality) : op(equality) {}

  /// Returns the opposite of what the operator returns.
  template <class T, class U>
  STRATA_HD bool operator()(const T& a, const U& b) {
    return !op(a, b);
  }
};

/// Converts a value to another type.
template <class To>
struct CastOp {
  /// Returns `a`, converted to `To`.
  template <class From>
  STRATA_HD constexpr To operator()(const From& a) const {
    return static_cast<To>(a);
  }
};

/// The instruction with which a warp reduces one integer of up to 32 bits per lane, from sm_80 on.
enum class hardware_reduction {
  none,     ///< No instruction.
  add,      ///< Sum.
  min,      ///< Minimum.
  max,      ///< Maximum.
  bit_and,  ///< Bitwise and.
  bit_or,   ///< Bitwise or.
  bit_xor,  ///< Bitwise exclusive or.
};

namespace detail {

/// What a function object of libcu++, Thrust, CUB or the standard library computes, by the name that the compiler gives
/// its type: no header of theirs is included. Their inline namespaces have names that change with the version.
template <class Operator>
STRATA_HD constexpr hardware_reduction operation_by_name() {
  const char* text = detail::type_name<Operator>();
  if (detail::skips(text, "cuda::std::") || detail::skips(text, "cuda::") || detail::skips(text, "thrust::") ||
      detail::skips(text, "cub::") || detail::skips(text, "std::")) {
    text = detail::without_namespaces(text);
    if (detail::is_name(text, "plus") || detail::is_name(text, "Sum")) return hardware_reduction::add;
    if (detail::is_name(text, "minimum") || detail::is_name(text, "Min")) return hardware_reduction::min;
    if (detail::is_name(text, "maximum") || detail::is_name(text, "Max")) return hardware_reduction::max;
    if (detail::is_name(text, "bit_and")) return hardware_reduction::bit_and;
    if (detail::is_name(text, "bit_or")) return hardware_reduction::bit_or;
    if (detail::is_name(text, "bit_xor")) return hardware_reduction::bit_xor;
  }
  return hardware_reduction::none;
}

/// The type of the operands that an operator takes, or `void` if it takes any.
template <class Operator>
struct operand {
  using type = void;
};
template <template <class> class Operator, class T>
struct operand<Operator<T>> {
  using type = T;
};

/// Returns what a function object of another library computes on numbers of type `T`: `none` if the function object is
/// not known, or if the result may depend on the order of operands, as the minimum of floating-point numbers does with
/// NaNs.
template <class Operator, class T>
STRATA_HD constexpr hardware_reduction known_operation() {
  using Operand = typename operand<Operator>::type;
  if (!std::is_arithmetic_v<T> || !(std::is_void_v<Operand> || std::is_same_v<Operand, T>)) {
    return hardware_reduction::none;
  }
  const hardware_reduction operation = detail::operation_by_name<Operator>();
  return std::is_integral_v<T> || operation == hardware_reduction::add ? operation : hardware_reduction::none;
}

/// The order of a comparator. `Less` is known, and, by their names, `less` and `greater` of the libraries above.
enum class known_order { none, ascending, descending };
template <class Compare, class Key>
STRATA_HD constexpr known_order order_of() {
  using Operand = typename operand<Compare>::type;
  if (std::is_same_v<Compare, Less>) return known_order::ascending;
  if (!(std::is_void_v<Operand> || std::is_same_v<Operand, Key>)) return known_order::none;
  const char* text = detail::type_name<Compare>();
  if (detail::skips(text, "cuda::std::") || detail::skips(text, "thrust::") || detail::skips(text, "std::")) {
    text = detail::without_namespaces(text);
    if (detail::is_name(text, "less")) return known_order::ascending;
    if (detail::is_name(text, "greater")) return known_order::descending;
  }
  return known_order::none;
}

template <class T, hardware_reduction Operation>
struct traits_of_operation;

/// An operator that is known to be associative, and nothing else.
struct associative_operator {
  /// True if `op(a, b)` is `op(b, a)`.
  static constexpr bool commutative = false;
  /// True if there is a function `identity()`, whose value changes no operand.
  static constexpr bool has_identity = false;
  /// Instruction that reduces the items of a warp.
  static constexpr hardware_reduction hardware = hardware_reduction::none;
};

}  // namespace detail

/// What an algorithm may assume about `Operator` on values of type `T`.
///
/// The operators of strata are known on numbers: `Sum`, `Min`, `Max` and the bit operators on integers; `Sum` on
/// floating-point numbers, `__half`, `__nv_bfloat16`, `__half2` and `__nv_bfloat162`; `Min` and `Max` on the numbers
/// that they order totally; `ArgMin` and `ArgMax` on pairs of an integer and such a number. The sums, minima, maxima
/// and bit operations of libcu++, Thrust, CUB and the standard library (`cuda::std::plus`, `cuda::maximum`,
/// `thrust::bit_or`, ...) are also known, on the arithmetic types of C++. Their minima and maxima are known on integers
/// only. Algorithms assume only that all other operators are associative: operands keep their order. These are your own
/// operators, and all operators on types whose `+`, `<` or `&` is yours: classes, enumerations and CUDA's vectors such
/// as `float2`.
///
/// Reductions are faster if operands may change places. To say that your operator allows this, derive a specialisation
/// from `commutative_operator`:
///
///     template <>
///     struct strata::operator_traits<strata::Sum, my_vector> : strata::commutative_operator {};
///
/// If your operator does on numbers what one of these does, derive from the traits of that operator:
///
///     template <class T>
///     struct strata::operator_traits<my_plus, T> : strata::operator_traits<strata::Sum, T> {};
///
/// - `commutative`: op(a, b) has the bits of op(b, a), for all values but NaNs.
/// - `hardware`: the instruction that reduces `T` over a warp, if `T` is an integer of up to 32 bits.
/// - `has_identity`: op(identity(), a) and op(a, identity()) have the bits of a, for all values. Only then may
///   `identity()` be called.
template <class Operator, class T>
struct operator_traits : detail::traits_of_operation<T, detail::known_operation<Operator, T>()> {};

/// The traits of an operator that is known to be associative and commutative, and nothing else.
struct commutative_operator {
  static constexpr bool commutative = true;                                 ///< Operands may change places.
  static constexpr bool has_identity = false;                               ///< There is no identity().
  static constexpr hardware_reduction hardware = hardware_reduction::none;  ///< No instruction reduces a warp.
};

namespace detail {
// Device code may read these constants, but must not call the host functions of std::numeric_limits.
template <class T>
inline constexpr T largest_value = std::numeric_limits<T>::max();
template <class T>
inline constexpr T lowest_value = std::numeric_limits<T>::lowest();

template <class T>
inline constexpr bool is_word_integer = std::is_integral_v<T> && sizeof(T) == 4;

/// Integer types, whose operators the language defines. The standard library does not call int128 an integer in all
/// modes.
template <class T>
inline constexpr bool is_integer = std::is_integral_v<T>;
#if STRATA_HAS_INT128
template <>
inline constexpr bool is_integer<int128> = true;
template <>
inline constexpr bool is_integer<uint128> = true;
#endif

/// Numbers that Min and Max order totally, except for NaNs. Min and Max do not know the NaNs and zeros of long double.
template <class T>
inline constexpr bool is_ordered_number = is_integer<T> || is_device_real<T>;

/// Numbers whose sums do not depend on the order of two operands. CUDA itself adds its pairs of 16-bit floats.
template <class T>
inline constexpr bool is_summand = is_ordered_number<T> || std::is_floating_point_v<T> || std::is_same_v<T, __half2> ||
                                   std::is_same_v<T, __nv_bfloat162>;

/// True if `Operator` adds integers that wrap around like machine words. Then words may be added in their place, and an
/// item may be subtracted again.
template <class Operator, class T>
inline constexpr bool adds_as_words =
    std::is_same_v<Operator, Sum>&& std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8;

template <class T>
using word_of_t = std::conditional_t<sizeof(T) <= 4, unsigned, unsigned long long>;

/// What an operator does on a type of numbers; `none` if that is not known. Unlike known_operation(), it also returns
/// minima and maxima of floating-point numbers by function objects of other libraries. These may depend on the order of
/// operands if there are NaNs.
template <class Operator, class T>
STRATA_HD constexpr hardware_reduction operation_on_numbers() {
  using Operand = typename operand<Operator>::type;
  if (!is_ordered_number<T> || !(std::is_void_v<Operand> || std::is_same_v<Operand, T>)) {
    return hardware_reduction::none;
  }
  if (std::is_same_v<Operator, Sum>) return hardware_reduction::add;
  if (std::is_same_v<Operator, Min>) return hardware_reduction::min;
  if (std::is_same_v<Operator, Max>) return hardware_reduction::max;
  if (std::is_same_v<Operator, BitAnd>) return hardware_reduction::bit_and;
  if (std::is_same_v<Operator, BitOr>) return hardware_reduction::bit_or;
  if (std::is_same_v<Operator, BitXor>) return hardware_reduction::bit_xor;
  return detail::operation_by_name<Operator>();
}

/// True if op(a, a) is `a`, and op may be called with any numbers: minima and maxima, bitwise `and` and `or`.
template <class Operator, class T>
STRATA_HD constexpr bool is_idempotent() {
  const hardware_reduction operation = detail::operation_on_numbers<Operator, T>();
  return operation == hardware_reduction::min || operation == hardware_reduction::max ||
         operation == hardware_reduction::bit_and || operation == hardware_reduction::bit_or;
}

/// True for pairs of an integer index and a number that Min and Max order: the index orders pairs with equal values.
template <class T>
inline constexpr bool is_indexed_number = false;
template <class Index, class T>
inline constexpr bool is_indexed_number<KeyValuePair<Index, T>> = is_integer<Index>&& is_ordered_number<T>;

/// Traits of an operator that is known if `IsKnown`. On integers it has an identity. On integers of up to 32 bits it
/// also has an instruction for 32 bits, whose result is right for fewer bits: the low bits of a sum or a bit operation
/// do not depend on higher bits, and an extreme is one of the integers.
template <class T, bool IsKnown, hardware_reduction Hardware>
struct traits_on_numbers {
  static constexpr bool commutative = IsKnown;
  static constexpr bool has_identity = IsKnown && std::is_integral_v<T>;
  static constexpr hardware_reduction hardware = has_identity && sizeof(T) <= 4 ? Hardware : hardware_reduction::none;
};
}  // namespace detail

template <class T>
struct operator_traits<Sum, T> : detail::traits_on_numbers<T, detail::is_summand<T>, hardware_reduction::add> {
  STRATA_HD static constexpr T identity() { return T{}; }
};

template <class T>
struct operator_traits<Min, T> : detail::traits_on_numbers<T, detail::is_ordered_number<T>, hardware_reduction::min> {
  STRATA_HD static constexpr T identity() { return detail::largest_value<T>; }
};

template <class T>
struct operator_traits<Max, T> : detail::traits_on_numbers<T, detail::is_ordered_number<T>, hardware_reduction::max> {
  STRATA_HD static constexpr T identity() { return detail::lowest_value<T>; }
};

template <class T>
struct operator_traits<BitAnd, T> : detail::traits_on_numbers<T, detail::is_integer<T>, hardware_reduction::bit_and> {
  STRATA_HD static constexpr T identity() { return static_cast<T>(~T{}); }
};

template <class T>
struct operator_traits<BitOr, T> : detail::traits_on_numbers<T, detail::is_integer<T>, hardware_reduction::bit_or> {
  STRATA_HD static constexpr T identity() { return T{}; }
};

template <class T>
struct operator_traits<BitXor, T> : detail::traits_on_numbers<T, detail::is_integer<T>, hardware_reduction::bit_xor> {
  STRATA_HD static constexpr T identity() { return T{}; }
};

// Equal values are ordered by index, so the order of operands does not matter.
template <class T>
struct operator_traits<ArgMin, T>
    : std::conditional_t<detail::is_indexed_number<T>, commutative_operator, detail::associative_operator> {};

template <class T>
struct operator_traits<ArgMax, T>
    : std::conditional_t<detail::is_indexed_number<T>, commutative_operator, detail::associative_operator> {};

template <class Compare, class T>
struct operator_traits<detail::arg_first<Compare>, T> : commutative_operator {};

namespace detail {
template <class T>
struct traits_of_operation<T, hardware_reduction::none> : associative_operator {};
template <class T>
struct traits_of_operation<T, hardware_reduction::add> : operator_traits<Sum, T> {};
template <class T>
struct traits_of_operation<T, hardware_reduction::min> : operator_traits<Min, T> {};
template <class T>
struct traits_of_operation<T, hardware_reduction::max> : operator_traits<Max, T> {};
template <class T>
struct traits_of_operation<T, hardware_reduction::bit_and> : operator_traits<BitAnd, T> {};
template <class T>
struct traits_of_operation<T, hardware_reduction::bit_or> : operator_traits<BitOr, T> {};
template <class T>
struct traits_of_operation<T, hardware_reduction::bit_xor> : operator_traits<BitXor, T> {};
}  // namespace detail

STRATA_NAMESPACE_END
