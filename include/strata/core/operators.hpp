// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

#include <limits>
#include <type_traits>

STRATA_NAMESPACE_BEGIN

/// Function objects for reductions and scans. Any callable `op(a, b)` serves, those of the standard
/// library and of libcu++ too; the ones below are also known to `operator_traits`.
struct Sum {
  template <class T, class U>
  STRATA_HD constexpr auto operator()(const T& a, const U& b) const -> decltype(a + b) {
    return a + b;
  }
};

/// The smaller of two values; the first if they are equal or unordered.
struct Min {
  template <class T, class U>
  STRATA_HD constexpr std::common_type_t<T, U> operator()(const T& a, const U& b) const {
    return b < a ? b : a;
  }
};

/// The larger of two values; the first if they are equal or unordered.
struct Max {
  template <class T, class U>
  STRATA_HD constexpr std::common_type_t<T, U> operator()(const T& a, const U& b) const {
    return a < b ? b : a;
  }
};

struct BitAnd {
  template <class T>
  STRATA_HD constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a & b);
  }
};

struct BitOr {
  template <class T>
  STRATA_HD constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a | b);
  }
};

struct BitXor {
  template <class T>
  STRATA_HD constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a ^ b);
  }
};

/// Of two (index, value) pairs the one with the smaller value; of equal values the smaller index.
struct ArgMin {
  template <class Index, class T>
  STRATA_HD constexpr KeyValuePair<Index, T> operator()(const KeyValuePair<Index, T>& a,
                                                        const KeyValuePair<Index, T>& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};

/// Of two (index, value) pairs the one with the larger value; of equal values the smaller index.
struct ArgMax {
  template <class Index, class T>
  STRATA_HD constexpr KeyValuePair<Index, T> operator()(const KeyValuePair<Index, T>& a,
                                                        const KeyValuePair<Index, T>& b) const {
    return a.value < b.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};

struct Equality {
  template <class T, class U>
  STRATA_HD bool operator()(const T& a, const U& b) const {
    return a == b;
  }
};

/// Negates an equality operator.
template <class EqualityOp>
struct InequalityWrapper {
  EqualityOp op;

  InequalityWrapper() = default;
  STRATA_HD constexpr InequalityWrapper(EqualityOp equality) : op(equality) {}

  template <class T, class U>
  STRATA_HD bool operator()(const T& a, const U& b) {
    return !op(a, b);
  }
};

template <class To>
struct CastOp {
  template <class From>
  STRATA_HD constexpr To operator()(const From& a) const {
    return static_cast<To>(a);
  }
};

/// The instruction with which a warp reduces one 32-bit integer per lane, from sm_80 on.
enum class hardware_reduction { none, add, min, max, bit_and, bit_or, bit_xor };

/// What an algorithm may assume of `Operator` on values of type `T`. The primary template assumes
/// associativity alone, so operands keep their order. Specialise it for an operator of your own
/// that is commutative: reductions then need no ordered exchange.
template <class Operator, class T>
struct operator_traits {
  static constexpr bool commutative = false;
  static constexpr bool has_identity = false;
  static constexpr hardware_reduction hardware = hardware_reduction::none;
};

namespace detail {
// Device code may read these, but not call what they are made of.
template <class T>
inline constexpr T largest_value = std::numeric_limits<T>::max();
template <class T>
inline constexpr T lowest_value = std::numeric_limits<T>::lowest();

template <class T>
inline constexpr bool is_word_integer = std::is_integral_v<T> && sizeof(T) == 4;

template <class T, hardware_reduction Hardware, bool HasIdentity>
struct commutative_operator_traits {
  static constexpr bool commutative = true;
  static constexpr bool has_identity = HasIdentity;
  static constexpr hardware_reduction hardware =
      is_word_integer<T> ? Hardware : hardware_reduction::none;
};
}  // namespace detail

template <class T>
struct operator_traits<Sum, T>
    : detail::commutative_operator_traits<T, hardware_reduction::add, std::is_arithmetic_v<T>> {
  STRATA_HD static constexpr T identity() { return T{}; }
};

template <class T>
struct operator_traits<Min, T>
    : detail::commutative_operator_traits<T, hardware_reduction::min, std::is_integral_v<T>> {
  STRATA_HD static constexpr T identity() { return detail::largest_value<T>; }
};

template <class T>
struct operator_traits<Max, T>
    : detail::commutative_operator_traits<T, hardware_reduction::max, std::is_integral_v<T>> {
  STRATA_HD static constexpr T identity() { return detail::lowest_value<T>; }
};

template <class T>
struct operator_traits<BitAnd, T>
    : detail::commutative_operator_traits<T, hardware_reduction::bit_and, true> {
  STRATA_HD static constexpr T identity() { return static_cast<T>(~T{}); }
};

template <class T>
struct operator_traits<BitOr, T>
    : detail::commutative_operator_traits<T, hardware_reduction::bit_or, true> {
  STRATA_HD static constexpr T identity() { return T{}; }
};

template <class T>
struct operator_traits<BitXor, T>
    : detail::commutative_operator_traits<T, hardware_reduction::bit_xor, true> {
  STRATA_HD static constexpr T identity() { return T{}; }
};

// Ties are settled by the index, so the order of operands does not matter.
template <class T>
struct operator_traits<ArgMin, T>
    : detail::commutative_operator_traits<T, hardware_reduction::none, false> {};

template <class T>
struct operator_traits<ArgMax, T>
    : detail::commutative_operator_traits<T, hardware_reduction::none, false> {};

STRATA_NAMESPACE_END
