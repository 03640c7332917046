// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

/// \file
/// The part of the standard library that the headers below device/ use. They include this file instead of headers
/// of the standard library, because NVRTC has no headers of the host. Under NVRTC, `std` is a namespace inside of
/// strata with the few names that are needed. So nothing is declared in the global namespace `std`, which belongs to
/// the program and its libraries.

/// `STRATA_STD_NAMESPACE_BEGIN` and `_END` enclose specialisations of templates of `std`.

#if !STRATA_NVRTC

#define STRATA_STD_NAMESPACE_BEGIN namespace std {
#define STRATA_STD_NAMESPACE_END }

// <array> declares std::iterator_traits, too: <iterator> would more than double the included lines.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#else

#define STRATA_STD_NAMESPACE_BEGIN \
  STRATA_NAMESPACE_BEGIN           \
  namespace std {
#define STRATA_STD_NAMESPACE_END \
  }                              \
  STRATA_NAMESPACE_END

STRATA_STD_NAMESPACE_BEGIN

// <cstddef>, <cstdint>, <cstring>
using size_t = decltype(sizeof(0));
using ptrdiff_t = decltype(static_cast<char*>(nullptr) - static_cast<char*>(nullptr));
using nullptr_t = decltype(nullptr);
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = decltype(sizeof(long) == 8 ? 0l : 0ll);
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned;
using uint64_t = decltype(sizeof(long) == 8 ? 0ul : 0ull);
using uintptr_t = size_t;
using ::memcpy;

// <type_traits>
template <class T, T Value>
struct integral_constant {
  using value_type = T;
  using type = integral_constant;
  static constexpr T value = Value;
  STRATA_HD constexpr operator T() const { return Value; }
};
template <bool Value>
using bool_constant = integral_constant<bool, Value>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <class...>
using void_t = void;
template <class T>
STRATA_HD T&& declval();

template <bool Condition, class Then, class Else>
struct conditional {
  using type = Then;
};
template <class Then, class Else>
struct conditional<false, Then, Else> {
  using type = Else;
};
template <bool Condition, class Then, class Else>
using conditional_t = typename conditional<Condition, Then, Else>::type;

template <bool Condition, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
  using type = T;
};
template <bool Condition, class T = void>
using enable_if_t = typename enable_if<Condition, T>::type;

template <class... Traits>
struct conjunction : bool_constant<(true && ... && bool(Traits::value))> {};

template <class T>
struct remove_const {
  using type = T;
};
template <class T>
struct remove_const<const T> {
  using type = T;
};
template <class T>
struct remove_volatile {
  using type = T;
};
template <class T>
struct remove_volatile<volatile T> {
  using type = T;
};
template <class T>
using remove_cv_t = typename remove_volatile<typename remove_const<T>::type>::type;

template <class T>
struct remove_reference {
  using type = T;
};
template <class T>
struct remove_reference<T&> {
  using type = T;
};
template <class T>
struct remove_reference<T&&> {
  using type = T;
};
template <class T>
using remove_reference_t = typename remove_reference<T>::type;

template <class T>
struct pointee {
  static constexpr bool is_pointer = false;
  using type = void;
};
template <class T>
struct pointee<T*> {
  static constexpr bool is_pointer = true;
  using type = T;
};
template <class T>
inline constexpr bool is_pointer_v = pointee<remove_cv_t<T>>::is_pointer;
template <class T>
using remove_pointer_t = conditional_t<is_pointer_v<T>, typename pointee<remove_cv_t<T>>::type, T>;

template <class T, class U>
inline constexpr bool is_same_v = false;
template <class T>
inline constexpr bool is_same_v<T, T> = true;
template <class T>
inline constexpr bool is_const_v = !is_same_v<T, typename remove_const<T>::type>;
template <class T>
inline constexpr bool is_volatile_v = !is_same_v<T, typename remove_volatile<T>::type>;
template <class T>
inline constexpr bool is_array_v = false;
template <class T>
inline constexpr bool is_array_v<T[]> = true;
template <class T, size_t Count>
inline constexpr bool is_array_v<T[Count]> = true;
template <class T>
inline constexpr bool is_void_v = is_same_v<remove_cv_t<T>, void>;

template <class T, class... Types>
inline constexpr bool is_one_of_v = (false || ... || is_same_v<remove_cv_t<T>, Types>);
template <class T>
inline constexpr bool is_integral_v =
    is_one_of_v<T, bool, char, signed char, unsigned char, wchar_t, char16_t, char32_t, short, unsigned short, int,
                unsigned, long, unsigned long, long long, unsigned long long
#if defined(__cpp_char8_t)
                ,
                char8_t
#endif
                >;
template <class T>
inline constexpr bool is_floating_point_v = is_one_of_v<T, float, double, long double>;
template <class T>
inline constexpr bool is_arithmetic_v = is_integral_v<T> || is_floating_point_v<T>;
template <class T>
inline constexpr bool is_enum_v = __is_enum(T);
template <class T>
inline constexpr bool is_member_pointer_v = false;
template <class T, class Class>
inline constexpr bool is_member_pointer_v<T Class::*> = true;
template <class T>
inline constexpr bool is_scalar_v = is_arithmetic_v<T> || is_enum_v<T> || is_pointer_v<T> ||
                                    is_member_pointer_v<remove_cv_t<T>> || is_same_v<remove_cv_t<T>, nullptr_t>;

template <class T, bool IsArithmetic = is_arithmetic_v<T>>
inline constexpr bool is_signed_v = false;
template <class T>
inline constexpr bool is_signed_v<T, true> = static_cast<T>(-1) < static_cast<T>(0);
template <class T>
struct is_signed : bool_constant<is_signed_v<T>> {};
template <class T>
struct is_trivially_copyable : bool_constant<__is_trivially_copyable(T)> {};
template <class T>
inline constexpr bool is_default_constructible_v = __is_constructible(T);
template <class From, class To>
inline constexpr bool is_convertible_v = __is_convertible_to(From, To);

template <class T>
using underlying_type_t = __underlying_type(T);
template <size_t Bytes>
using unsigned_of_size =
    conditional_t<Bytes == 1, unsigned char,
                  conditional_t<Bytes == 2, unsigned short, conditional_t<Bytes == 4, unsigned, unsigned long long>>>;
// `long` of 8 bytes has an unsigned type of its own.
template <class T>
using make_unsigned_t = conditional_t<is_one_of_v<T, long, unsigned long>, unsigned long, unsigned_of_size<sizeof(T)>>;

// Arrays and functions decay to pointers.
template <class T>
struct decayed {
  using type = remove_cv_t<T>;
};
template <class T>
struct decayed<T[]> {
  using type = T*;
};
template <class T, size_t Count>
struct decayed<T[Count]> {
  using type = T*;
};
template <class Result, class... Parameters>
struct decayed<Result(Parameters...)> {
  using type = Result (*)(Parameters...);
};
template <class T>
using decay_t = typename decayed<remove_reference_t<T>>::type;

template <class... Types>
struct common_type;
template <class T>
struct common_type<T> {
  using type = decay_t<T>;
};
template <class A, class B>
struct common_type<A, B> {
  using type = decay_t<decltype(false ? declval<A>() : declval<B>())>;
};
template <class... Types>
using common_type_t = typename common_type<Types...>::type;

// Functors and functions; device code calls no pointers to members.
template <class Void, class Function, class... Arguments>
struct invocation {
  static constexpr bool is_valid = false;
};
template <class Function, class... Arguments>
struct invocation<void_t<decltype(declval<Function>()(declval<Arguments>()...))>, Function, Arguments...> {
  static constexpr bool is_valid = true;
  using type = decltype(declval<Function>()(declval<Arguments>()...));
};
template <class Function, class... Arguments>
using invoke_result_t = typename invocation<void, Function, Arguments...>::type;
template <class Function, class... Arguments>
inline constexpr bool is_invocable_v = invocation<void, Function, Arguments...>::is_valid;
template <bool IsValid, class Result, class Function, class... Arguments>
inline constexpr bool returns = false;
template <class Result, class Function, class... Arguments>
inline constexpr bool returns<true, Result, Function, Arguments...> =
    is_void_v<Result> || is_convertible_v<invoke_result_t<Function, Arguments...>, Result>;
template <class Result, class Function, class... Arguments>
inline constexpr bool is_invocable_r_v =
    returns<is_invocable_v<Function, Arguments...>, Result, Function, Arguments...>;

// <utility>
template <size_t... Index>
struct index_sequence {};
template <size_t Count, size_t... Index>
struct sequence_to : sequence_to<Count - 1, Count - 1, Index...> {};
template <size_t... Index>
struct sequence_to<0, Index...> {
  using type = index_sequence<Index...>;
};
template <size_t Count>
using make_index_sequence = typename sequence_to<Count>::type;

template <class T>
struct tuple_size;
template <size_t Index, class T>
struct tuple_element;
template <size_t Index, class T>
using tuple_element_t = typename tuple_element<Index, T>::type;

// <iterator>
struct random_access_iterator_tag {};
template <class Iterator, class = void>
struct iterator_traits {};
template <class Iterator>
struct iterator_traits<Iterator, void_t<typename Iterator::value_type, typename Iterator::difference_type>> {
  using value_type = typename Iterator::value_type;
  using difference_type = typename Iterator::difference_type;
};
template <class T>
struct iterator_traits<T*, void> {
  using value_type = remove_cv_t<T>;
  using difference_type = ptrdiff_t;
};

// <limits>
template <class T, bool IsIntegral = is_integral_v<T>>
struct numeric_limits {
  static constexpr bool is_specialized = false;
  STRATA_HD static constexpr T max() { return T(); }
  STRATA_HD static constexpr T lowest() { return T(); }
};
template <class T>
struct numeric_limits<T, true> {
  static constexpr bool is_specialized = true;
  STRATA_HD static constexpr T max() {
    constexpr auto all = static_cast<make_unsigned_t<T>>(-1);
    return is_same_v<remove_cv_t<T>, bool> || !is_signed_v<T> ? static_cast<T>(all) : static_cast<T>(all >> 1);
  }
  STRATA_HD static constexpr T lowest() { return is_signed_v<T> ? static_cast<T>(-max() - 1) : T{}; }
};
template <>
struct numeric_limits<float, false> {
  static constexpr bool is_specialized = true;
  STRATA_HD static constexpr float max() { return 0x1.fffffep127f; }
  STRATA_HD static constexpr float lowest() { return -max(); }
};
template <>
struct numeric_limits<double, false> {
  static constexpr bool is_specialized = true;
  STRATA_HD static constexpr double max() { return 0x1.fffffffffffffp1023; }
  STRATA_HD static constexpr double lowest() { return -max(); }
};

STRATA_STD_NAMESPACE_END

#endif
