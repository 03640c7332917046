// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A bijection in which every bit of the result depends on every bit of `x`: the finalizer of
/// MurmurHash3. Joins may then use any bits of it, however poor the hash was.
STRATA_HD constexpr std::uint64_t mixed_hash(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdu;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

// An enumeration may have operators of its own. A call of `operator==` as a function finds these only.
template <class T, class = void>
inline constexpr bool has_user_equality = false;
template <class T>
inline constexpr bool
    has_user_equality<T, std::void_t<decltype(operator==(std::declval<const T&>(), std::declval<const T&>()))>> = true;
template <class T, class = void>
inline constexpr bool has_user_less = false;
template <class T>
inline constexpr bool
    has_user_less<T, std::void_t<decltype(operator<(std::declval<const T&>(), std::declval<const T&>()))>> = true;

}  // namespace detail

/// A promise that keys of a type have equal bytes where `==` says that they are equal: JoinHash may hash the bytes.
/// True for integers, pointers, enumerations without an `operator==` of their own, and KeyValuePair and std::array of
/// such types. False for classes, because nothing can be known of their `==`: it may compare text without its case,
/// leave out a member, or compare floating-point numbers, of which -0.0 equals 0.0. Specialise it for a class without
/// padding whose members are of the types above, and whose `==` compares all members:
///
///     template <>
///     struct strata::is_bitwise_comparable<my_key> : std::true_type {};
template <class T>
struct is_bitwise_comparable {
  /// True if JoinHash may hash the bytes of a key.
  static constexpr bool value = std::is_pointer_v<T> || (detail::is_radix_integer<T>::value &&
                                                         !(std::is_enum_v<T> && detail::has_user_equality<T>));
};
template <class Key, class Value>
struct is_bitwise_comparable<KeyValuePair<Key, Value>>
    : std::conjunction<is_bitwise_comparable<Key>, is_bitwise_comparable<Value>> {};
template <class T, std::size_t Size>
struct is_bitwise_comparable<std::array<T, Size>> : is_bitwise_comparable<T> {};

namespace detail {

/// Integers and enumerations that joins may compare as integers.
template <class Key>
inline constexpr bool is_join_integer = (std::is_integral_v<Key> ||
                                         std::is_enum_v<Key>)&&is_bitwise_comparable<Key>::value;

}  // namespace detail

/// Hash of a key for joins. It takes floating-point numbers of 8 to 64 bits, CUDA's pairs of floating-point numbers of
/// 16 bits, and types that are is_bitwise_comparable. Any functor may replace it, if it returns an integer, the same
/// for equal keys. The hash need not be a good one, because joins mix it. CUDA's numbers of 8 bits have no `==`: give
/// the join an equality.
///
/// -0.0 and 0.0 have one hash, because they are equal. A NaN equals nothing by `==`, so it has no
/// partner. For another rule pass an equality and a hash.
struct JoinHash {
  /// Returns the hash of a key.
  template <class Key>
  STRATA_HD std::uint64_t operator()(const Key& key) const {
    if constexpr (sizeof(Key) <= 8 && detail::is_join_integer<Key>) {
      return static_cast<std::uint64_t>(key);
    } else if constexpr (std::is_same_v<Key, float> || std::is_same_v<Key, double>) {
      const Key value = key == Key{0} ? Key{0} : key;
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof(Key));
      return bits;
    } else if constexpr (detail::radix_mantissa_bits<Key> != 0) {
      return RadixTraits<Key>::ordered(key);
    } else if constexpr (std::is_same_v<Key, __half2> || std::is_same_v<Key, __nv_bfloat162>) {
      return (*this)(key.x) << 16 | (*this)(key.y);
    } else {
      static_assert(is_bitwise_comparable<Key>::value,
                    "JoinHash does not know whether equal keys of this type have equal bytes. If they have, "
                    "specialise strata::is_bitwise_comparable for the type. If not (floating point, a user-defined "
                    "operator ==), pass a hash functor of your own to the join");
      static_assert(!is_bitwise_comparable<Key>::value || std::has_unique_object_representations_v<Key>,
                    "JoinHash hashes bytes, but equal keys of this type may have different bytes (padding, floating "
                    "point): pass a hash functor of your own to the join");
      std::uint64_t hash = 0;
      for (std::size_t first = 0; first < sizeof(Key); first += 8) {
        const std::size_t bytes = detail::least(sizeof(Key) - first, 8);
        std::uint64_t word = 0;
        std::memcpy(&word, reinterpret_cast<const unsigned char*>(&key) + first, bytes);
        // An odd factor: words in another order give another hash.
        hash = detail::mixed_hash(hash * 0x9e3779b97f4a7c15u + word);
      }
      return hash;
    }
  }
};

STRATA_NAMESPACE_END
