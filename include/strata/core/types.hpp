// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/cuda_std_limits.hpp>
#include <strata/core/detail/requirements.hpp>
#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>

// These are include guards of libcu++. If one is defined, the program has included its numeric_limits.
#if defined(_CUDA_STD_LIMITS) || defined(_LIBCUDACXX_LIMITS)
#include <strata/core/cuda_std_limits.hpp>
#endif

#if STRATA_HOST_SIMT
// The declaration has the ABI tag of strata/simt/half.hpp, because a later declaration cannot add it.
struct [[gnu::abi_tag("strata_simt")]] __half;
struct [[gnu::abi_tag("strata_simt")]] __nv_bfloat16;
#else
struct __half;
struct __nv_bfloat16;
#endif
struct __half2;
struct __nv_bfloat162;
struct __nv_fp8_e4m3;
struct __nv_fp8_e5m2;

STRATA_NAMESPACE_BEGIN

/// Marks the absence of a value or of an initial value.
struct NullType {
  STRATA_HD friend bool operator==(const NullType&, const NullType&) { return true; }
  STRATA_HD friend bool operator!=(const NullType&, const NullType&) { return false; }
};

/// The order of a sort. The library's calls do not take it: each order has calls of its own, such as
/// `SortKeysDescending`.
enum class SortOrder {
  Ascending,  ///< The smallest key first.
  Descending  ///< The largest key first.
};

/// A key with the value that travels with it. `ArgMin` and `ArgMax` use the key for the index.
template <class Key_, class Value_>
struct KeyValuePair {
  using Key = Key_;      ///< Type of the key.
  using Value = Value_;  ///< Type of the value.

  Key key;      ///< The key.
  Value value;  ///< The value.

  /// Default-initialises key and value.
  KeyValuePair() = default;
  /// Makes a pair of `k` and `v`.
  STRATA_HD constexpr KeyValuePair(const Key& k, const Value& v) : key(k), value(v) {}

  STRATA_HD friend bool operator==(const KeyValuePair& a, const KeyValuePair& b) {
    return a.key == b.key && a.value == b.value;
  }
  STRATA_HD friend bool operator!=(const KeyValuePair& a, const KeyValuePair& b) { return !(a == b); }
};

/// True if a copy of the bytes of a `T` is a copy of its value. True for trivially copyable types, and for CUDA's pairs
/// of 16-bit floats, whose copy constructors are user-provided. Algorithms move items as bits, from thread to thread
/// and from array to array, and never call a destructor. Specialise it for a type that is not trivially copyable, but
/// whose bytes are its value:
///
///     template <>
///     struct strata::is_trivially_relocatable<my_type> : std::true_type {};
///
/// The type must have a trivial destructor.
template <class T>
struct is_trivially_relocatable : std::is_trivially_copyable<T> {};
template <>
struct is_trivially_relocatable<__half2> : std::true_type {};
template <>
struct is_trivially_relocatable<__nv_bfloat162> : std::true_type {};
template <class Key, class Value>
struct is_trivially_relocatable<KeyValuePair<Key, Value>>
    : std::conjunction<is_trivially_relocatable<Key>, is_trivially_relocatable<Value>> {};

/// Value of `is_trivially_relocatable`.
template <class T>
inline constexpr bool is_trivially_relocatable_v = is_trivially_relocatable<std::remove_cv_t<T>>::value;

namespace detail {

/// Requirement of items that are moved as bits. A type gives one error, however many layers move it.
template <class T>
struct relocatable_requirements {
  static constexpr bool are_met = is_trivially_relocatable_v<T>;
  static_assert(are_met,
                "items are moved as bits: their type must be trivially relocatable. If a copy of its bytes is a copy "
                "of its value, specialise strata::is_trivially_relocatable for it");
  STRATA_HD static constexpr bool check() { return true; }
};
template <class... Items>
inline constexpr bool are_relocatable = (relocatable_requirements<Items>::are_met && ...);

}  // namespace detail

/// Two device buffers of one length. `selector` is the index of the current one. Algorithms that move data
/// back and forth take a DoubleBuffer by reference and set `selector` to the buffer that holds the result.
template <class T>
struct DoubleBuffer {
  T* d_buffers[2]{nullptr, nullptr};  ///< The two buffers.
  int selector = 0;                   ///< Index of the current buffer.

  /// Makes a pair of null pointers.
  DoubleBuffer() = default;
  /// Makes a double buffer whose current buffer is `current`.
  STRATA_HD DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}

  /// Returns the buffer that holds the data.
  STRATA_HD T* Current() const { return d_buffers[selector]; }
  /// Returns the other buffer.
  STRATA_HD T* Alternate() const { return d_buffers[selector ^ 1]; }
};

namespace detail {

// A proxy iterator (cuda::discard_iterator, some transform outputs) has no value type. Then the algorithm takes the
// type that it writes.
template <class Iterator, class Fallback, class = void>
struct declared_value {
  using type = Fallback;
};
template <class Iterator, class Fallback>
struct declared_value<Iterator, Fallback, std::void_t<typename std::iterator_traits<Iterator>::value_type>> {
  using value = typename std::iterator_traits<Iterator>::value_type;
  using type = std::conditional_t<std::is_void_v<value>, Fallback, value>;
};
// A result is converted to the type of an item in memory. It is not converted if the output is a proxy, because the
// proxy's assignment need not take the declared type. It is not converted either if the item's type has an assignment
// from it but no conversion.
template <class Iterator, class Value, class Result, class = void>
struct stored_value {
  using type = Result;
};
template <class Iterator, class Value, class Result>
struct stored_value<
    Iterator, Value, Result,
    std::void_t<decltype(*std::declval<Iterator&>()), decltype(static_cast<Value>(std::declval<Result>()))>> {
  using reference = decltype(*std::declval<Iterator&>());
  static constexpr bool is_in_memory = std::is_same_v<reference, Value&> || std::is_same_v<reference, volatile Value&>;
  using type = std::conditional_t<is_in_memory, Value, Result>;
};
template <class Iterator, class Result, bool IsVoidPointer = is_void_pointer<Iterator>>
struct output_value : iterator_requirements<Iterator>, output_requirements<Iterator> {
  using declared = Result;
  using type = Result;
};
template <class Iterator, class Result>
struct output_value<Iterator, Result, false> : output_requirements<Iterator> {
  using declared = typename declared_value<Iterator, Result>::type;
  using type = typename stored_value<Iterator, declared, Result>::type;
};
/// The type of an output's items, as the iterator declares it.
template <class Iterator, class Fallback>
using declared_value_t = typename output_value<Iterator, Fallback>::declared;
/// The type to which a result is converted before it is assigned to an item of an output.
template <class Iterator, class Result>
using output_value_t = typename output_value<Iterator, Result>::type;

/// The type of a sum's initial value. It is the output's type, so that a wide output gives a wide sum. If the output's
/// type does not convert to the type of the items, as a proxy's type may not, it is the type of the items.
template <class OutputIterator, class Item>
using initial_value_t = std::conditional_t<std::is_convertible_v<declared_value_t<OutputIterator, Item>, Item>,
                                           declared_value_t<OutputIterator, Item>, Item>;

// There is a type even if a requirement is not met, so that the first error is the only one.
template <class Iterator, bool IsVoidPointer = is_void_pointer<Iterator>>
struct required_iterator_value : iterator_requirements<Iterator> {
  using type = unsigned char;
};
template <class Iterator>
struct required_iterator_value<Iterator, false> : iterator_requirements<Iterator> {
  using type = std::remove_cv_t<typename std::iterator_traits<Iterator>::value_type>;
};
template <class Iterator>
using iterator_value_t = typename required_iterator_value<Iterator>::type;

template <class Iterator>
using difference_of = typename std::iterator_traits<Iterator>::difference_type;

template <class Iterator>
STRATA_HD Iterator advanced(const Iterator& iterator, std::size_t n) {
  return iterator + static_cast<difference_of<Iterator>>(n);
}

/// An item of an iterator as a value, even if the iterator returns a proxy: functors need not take proxies.
template <class Iterator>
STRATA_HD iterator_value_t<Iterator> item_at(const Iterator& iterator, std::size_t n) {
  return static_cast<iterator_value_t<Iterator>>(detail::advanced(iterator, n)[0]);
}

/// The type of a reduction's accumulator: what the operator returns for an initial value and an input item.
template <class Operator, class Initial, class Item,
          bool IsCallable = operator_requirements<Operator, Initial, Item>::is_callable>
struct accumulator {
  using type = Initial;
};
template <class Operator, class Initial, class Item>
struct accumulator<Operator, Initial, Item, true> {
  using type = std::decay_t<std::invoke_result_t<Operator&, Initial, Item>>;
};
template <class Operator, class Initial, class Item>
using accumulator_t = typename accumulator<Operator, Initial, Item>::type;

/// The type that a transformation returns for an item.
template <class Transform, class Item, bool IsCallable = transform_requirements<Transform, Item>::is_callable>
struct transformed {
  using type = Item;
};
template <class Transform, class Item>
struct transformed<Transform, Item, true> {
  using type = std::decay_t<std::invoke_result_t<Transform&, Item>>;
};

#if STRATA_HAS_INT128 && STRATA_NVRTC
using int128 = __int128;
using uint128 = unsigned __int128;
#elif STRATA_HAS_INT128
__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;
#endif

#if !STRATA_NVRTC
/// Largest and lowest value of a type, by std::numeric_limits, otherwise by cuda::std::numeric_limits. It also knows
/// types that both lack in some language modes. Specialise it for a type that reductions by Min and Max are to accept.
template <class T, class = void>
struct value_limits {
  using limits = std::conditional_t<has_extremes<std::numeric_limits<T>>::value, std::numeric_limits<T>,
                                    detail::cuda_std_limits<T>>;
  static_assert(limits::is_specialized,
                "Min, Max, ArgMin and ArgMax need the extremes of the type for empty inputs: specialise "
                "std::numeric_limits for it, or include <strata/core/cuda_std_limits.hpp> if cuda::std::numeric_limits "
                "has them, or call Reduce with an initial value");
  static constexpr T max() { return limits::max(); }
  static constexpr T lowest() { return limits::lowest(); }
};

// The values of 16-bit floats are made from bits, so that this header need not include theirs.
template <class Half, std::uint16_t Max, std::uint16_t Lowest>
struct half_limits {
  static Half max() { return from_bits(Max); }
  static Half lowest() { return from_bits(Lowest); }

 private:
  static Half from_bits(std::uint16_t bits) {
    Half value;
    memcpy(static_cast<void*>(&value), &bits, sizeof(bits));
    return value;
  }
};
template <>
struct value_limits<__half, void> : half_limits<__half, 0x7bff, 0xfbff> {};
template <>
struct value_limits<__nv_bfloat16, void> : half_limits<__nv_bfloat16, 0x7f7f, 0xff7f> {};
#if STRATA_HAS_INT128
template <>
struct value_limits<int128, void> {
  static constexpr int128 max() { return static_cast<int128>(~static_cast<uint128>(0) >> 1); }
  static constexpr int128 lowest() { return -max() - 1; }
};
template <>
struct value_limits<uint128, void> {
  static constexpr uint128 max() { return ~static_cast<uint128>(0); }
  static constexpr uint128 lowest() { return 0; }
};
#endif
#endif  // !STRATA_NVRTC

/// The unsigned integer of `Bytes` bytes.
template <std::size_t Bytes>
struct unsigned_of_bytes;
template <>
struct unsigned_of_bytes<1> {
  using type = std::uint8_t;
};
template <>
struct unsigned_of_bytes<2> {
  using type = std::uint16_t;
};
template <>
struct unsigned_of_bytes<4> {
  using type = std::uint32_t;
};
template <>
struct unsigned_of_bytes<8> {
  using type = std::uint64_t;
};
#if STRATA_HAS_INT128
template <>
struct unsigned_of_bytes<16> {
  using type = uint128;
};
#endif

/// The smaller of two numbers. As in `a < b ? a : b`, both are converted to their common type.
template <class A, class B, class T = std::common_type_t<A, B>>
STRATA_HD constexpr T least(A a, B b) {
  return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(a) : static_cast<T>(b);
}

/// The larger of two numbers.
template <class A, class B, class T = std::common_type_t<A, B>>
STRATA_HD constexpr T most(A a, B b) {
  return static_cast<T>(a) > static_cast<T>(b) ? static_cast<T>(a) : static_cast<T>(b);
}

template <class Integer>
STRATA_HD constexpr Integer ceiling_divide(Integer a, Integer b) {
  return static_cast<Integer>(a / b + (a % b != 0 ? 1 : 0));
}

template <class Integer>
STRATA_HD constexpr Integer round_up(Integer a, Integer multiple) {
  return static_cast<Integer>(detail::ceiling_divide(a, multiple) * multiple);
}

STRATA_HD constexpr bool is_power_of_two(unsigned long long x) { return x && !(x & (x - 1)); }

STRATA_HD constexpr int log2_ceiling(unsigned long long x) {
  int bits = 0;
  while ((1ull << bits) < x) ++bits;
  return bits;
}

}  // namespace detail

/// Smallest k with 2^k >= N.
template <int N>
struct Log2 {
  static_assert(N > 0, "Log2<N>: N must be positive");
  enum { VALUE = detail::log2_ceiling(N) };
};

/// True if an integer is a power of two: `PowerOfTwo<N>::VALUE`.
template <int N>
struct PowerOfTwo {
  enum { VALUE = detail::is_power_of_two(N) };
};

/// Storage of an object whose constructor is not called. Every `TempStorage` is one, so that it may be shared
/// memory or a member of a union. `Alias()` gives the object.
template <class T>
struct Uninitialized {
  alignas(T) unsigned char storage[sizeof(T)];  ///< Bytes of the object.

  /// Returns the object.
  STRATA_HD T& Alias() { return reinterpret_cast<T&>(*this); }
};

STRATA_NAMESPACE_END
