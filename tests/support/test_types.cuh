// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Item types and operators for tests, random values of every type, and the sequential reference.
#pragma once

#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#if STRATA_HOST_SIMT
#include <strata/simt/half.hpp>
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <type_traits>
#include <vector>

#include "support/test_support.cuh"

namespace strata_test {

using int128 = __int128;

// ---------------------------------------------------------------------------- structs
/// `Count` words, which are added word by word. `words<3>` has 12 bytes, `words<4>` 16.
template <std::size_t Count, class Word = std::uint32_t>
struct words {
  Word word[Count];

  STRATA_HD friend words operator+(const words& a, const words& b) {
    words sum{};
    for (std::size_t i = 0; i < Count; ++i) sum.word[i] = static_cast<Word>(a.word[i] + b.word[i]);
    return sum;
  }
  STRATA_HD friend bool operator==(const words& a, const words& b) {
    for (std::size_t i = 0; i < Count; ++i) {
      if (a.word[i] != b.word[i]) return false;
    }
    return true;
  }
  friend std::ostream& operator<<(std::ostream& out, const words& w) {
    for (std::size_t i = 0; i < Count; ++i) out << (i == 0 ? "{" : ", ") << +w.word[i];
    return out << "}";
  }
};
using bytes3 = words<3, std::uint8_t>;
using struct12 = words<3>;
using struct16 = words<4>;
using struct64 = words<16>;

/// The hash of a string, and 257^length, modulo 2^64. Joining is associative and not commutative: the result is the
/// hash of the whole string only if every piece was joined once and in its place.
struct string_hash {
  std::uint64_t hash;
  std::uint64_t power;

  /// A string of one character.
  static STRATA_HD string_hash of(unsigned character) { return {character + 1u, 257u}; }
  /// The hash of no string. Joined to anything, it gives no string's hash either.
  static STRATA_HD string_hash none() { return {0u, 0u}; }

  STRATA_HD friend bool operator==(const string_hash& a, const string_hash& b) {
    return a.hash == b.hash && a.power == b.power;
  }
  friend std::ostream& operator<<(std::ostream& out, const string_hash& s) {
    return out << "{hash " << s.hash << ", power " << s.power << "}";
  }
};

struct join {
  STRATA_HD string_hash operator()(const string_hash& a, const string_hash& b) const {
    return {a.hash * b.power + b.hash, a.power * b.power};
  }
};

/// A 2 x 2 matrix modulo a prime, row by row.
struct matrix {
  std::uint32_t m[4];

  STRATA_HD friend bool operator==(const matrix& a, const matrix& b) {
    return a.m[0] == b.m[0] && a.m[1] == b.m[1] && a.m[2] == b.m[2] && a.m[3] == b.m[3];
  }
  friend std::ostream& operator<<(std::ostream& out, const matrix& a) {
    return out << "{" << a.m[0] << ", " << a.m[1] << "; " << a.m[2] << ", " << a.m[3] << "}";
  }
};

/// The product of two matrices: associative, not commutative.
struct multiply {
  static constexpr std::uint64_t prime = 1000003;
  STRATA_HD matrix operator()(const matrix& a, const matrix& b) const {
    return {{dot(a.m[0], b.m[0], a.m[1], b.m[2]), dot(a.m[0], b.m[1], a.m[1], b.m[3]),
             dot(a.m[2], b.m[0], a.m[3], b.m[2]), dot(a.m[2], b.m[1], a.m[3], b.m[3])}};
  }

 private:
  static STRATA_HD std::uint32_t dot(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
    return static_cast<std::uint32_t>((a * b + c * d) % prime);
  }
};

/// Returns the left operand. A reduction then gives the first item of its range if it keeps the order.
struct first_of {
  template <class T>
  STRATA_HD T operator()(const T& a, const T&) const {
    return a;
  }
};

/// Returns the right operand. A reduction then gives the last item of its range if it keeps the order.
struct last_of {
  template <class T>
  STRATA_HD T operator()(const T&, const T& b) const {
    return b;
  }
};

/// Sums in the type of the items: small integers are not promoted, and wrap around without undefined behaviour.
struct plain_sum {
  template <class T>
  STRATA_HD T operator()(const T& a, const T& b) const {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
    } else {
      return a + b;
    }
  }
};

// ---------------------------------------------------------------------------- type lists
template <class T>
inline constexpr bool is_narrow_float = std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;

using integer_types = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                                     std::uint32_t, std::int64_t, std::uint64_t>;
using arithmetic_types =
    testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t, float, double, __half, __nv_bfloat16, int128>;
using struct_types = testing::Types<bytes3, struct12, struct16, struct64>;
/// A few types, for tests that instantiate much code: a byte, a word, a half, a double, 16 bytes, an odd struct.
using few_types = testing::Types<std::int8_t, std::int32_t, float, double, __half, int128, bytes3>;

// ---------------------------------------------------------------------------- values
/// Converts `value` to T. The conversion is exact for integers in [0, 127] and every type of the lists. The words of a
/// struct differ from each other.
template <class T>
struct from_integer {
  static T make(int value) {
    if constexpr (is_narrow_float<T>) {
      return T(static_cast<float>(value));
    } else {
      return static_cast<T>(value);
    }
  }
};
template <std::size_t Count, class Word>
struct from_integer<words<Count, Word>> {
  static words<Count, Word> make(int value) {
    words<Count, Word> result{};
    for (std::size_t i = 0; i < Count; ++i) {
      result.word[i] = static_cast<Word>(static_cast<std::size_t>(value) + 3 * i);
    }
    return result;
  }
};
template <>
struct from_integer<string_hash> {
  static string_hash make(int value) { return string_hash::of(static_cast<unsigned>(value)); }
};
template <>
struct from_integer<matrix> {
  static matrix make(int value) {
    const auto v = static_cast<std::uint32_t>(value);
    return {{v + 1, 2 * v + 1, v * v % 1009, v + 7}};
  }
};

/// Random items made from integers up to `largest`. Sums of a thousand of them are exact in float and wider types. In
/// the 16-bit floats only sums of a few are, and a smaller `largest` allows more.
template <class T>
std::vector<T> random_items(std::size_t count, std::uint64_t stream = 0, int largest = 100) {
  std::vector<T> items;
  items.reserve(count);
  for (int value : random_integers(count, 0, largest, stream)) {
    items.push_back(from_integer<T>::make(value));
  }
  return items;
}

// ---------------------------------------------------------------------------- reference
/// Returns `op(... op(op(items[begin], items[begin + 1]), ...), items[end - 1])`, for at least one item.
template <class T, class Operator>
T reference_reduce(const std::vector<T>& items, std::size_t begin, std::size_t end, Operator op) {
  T result = items.at(begin);
  for (std::size_t i = begin + 1; i < end; ++i) result = static_cast<T>(op(result, items.at(i)));
  return result;
}

template <class T, class Operator>
T reference_reduce(const std::vector<T>& items, Operator op) {
  return reference_reduce(items, 0, items.size(), op);
}

/// Compares bits: -0 differs from +0, and a NaN equals itself. Not for types with padding.
template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

}  // namespace strata_test
