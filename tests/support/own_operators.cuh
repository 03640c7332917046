// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Types whose operators are overloaded, associative and not commutative. Results of strata's operators on them show
// whether the operands kept their order.
#pragma once

#include <strata/core/platform.cuh>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <random>
#include <vector>

#include "support/test_support.cuh"

namespace strata_test {

/// The interval of numbers begin ... end - 1, and some bytes of padding.
template <class Word, std::size_t PaddingWords = 0>
struct interval {
  Word begin;
  Word end;
  Word padding[PaddingWords];
};
template <class Word>
struct interval<Word, 0> {
  Word begin;
  Word end;
};

/// Joins two intervals, of which the first must end where the second begins. Counts all other calls as violations, so
/// it finds operands that are out of order, not adjacent, or neither items nor results.
struct join_intervals {
  unsigned* violations;

  template <class Interval>
  STRATA_D Interval operator()(const Interval& a, const Interval& b) const {
    if (a.end != b.begin || a.end <= a.begin || b.end <= b.begin) atomicAdd(violations, 1u);
    Interval joined = a;
    joined.end = b.end;
    return joined;
  }
};

/// Item i is the interval of the number i alone.
template <class Interval>
std::vector<Interval> single_numbers(std::size_t count) {
  using Word = decltype(Interval{}.begin);
  std::vector<Interval> items(count);
  for (std::size_t i = 0; i < count; ++i) {
    items[i].begin = static_cast<Word>(i);
    items[i].end = static_cast<Word>(i + 1);
  }
  return items;
}

/// The map x -> factor * x + offset modulo 2^32. All operators compose maps, left operand first. Maps with odd factors
/// have inverses, so each map affects the result.
struct affine {
  std::uint32_t factor;
  std::uint32_t offset;

  static affine of(std::uint64_t bits) {
    return {static_cast<std::uint32_t>(bits) | 1u, static_cast<std::uint32_t>(bits >> 32)};
  }
  STRATA_HD friend affine operator+(const affine& a, const affine& b) {
    return {a.factor * b.factor, a.offset * b.factor + b.offset};
  }
  STRATA_HD friend affine operator&(const affine& a, const affine& b) { return a + b; }
  STRATA_HD friend affine operator|(const affine& a, const affine& b) { return a + b; }
  STRATA_HD friend affine operator^(const affine& a, const affine& b) { return a + b; }
  friend bool operator==(const affine& a, const affine& b) { return a.factor == b.factor && a.offset == b.offset; }
  friend std::ostream& operator<<(std::ostream& out, const affine& a) { return out << a.factor << " x + " << a.offset; }
};

/// Counts the runs of a string of two characters. `+` joins strings. The struct has 12 bytes, which is not a power of
/// two.
struct runs {
  std::uint32_t first;
  std::uint32_t last;
  std::uint32_t count;

  static runs of(std::uint64_t bits) {
    const auto character = static_cast<std::uint32_t>(bits & 1);
    return {character, character, 1};
  }
  STRATA_HD friend runs operator+(const runs& a, const runs& b) {
    if (a.count == 0 || b.count == 0) return a.count == 0 ? b : a;
    return {a.first, b.last, a.count + b.count - (a.last == b.first ? 1u : 0u)};
  }
  friend bool operator==(const runs& a, const runs& b) {
    return a.first == b.first && a.last == b.last && a.count == b.count;
  }
  friend std::ostream& operator<<(std::ostream& out, const runs& a) {
    return out << a.count << " runs from " << a.first << " to " << a.last;
  }
};

/// The 6 permutations of three things, with composition as operator. An enumeration is a type of 4 bytes that is no
/// class.
enum class permutation : std::uint32_t {};
/// The place to which permutation 2 * rotation + reflection moves thing `i` of three.
STRATA_HD constexpr unsigned place_of(permutation p, unsigned i) {
  const unsigned rotated = (i + static_cast<unsigned>(p) / 2) % 3;
  return static_cast<unsigned>(p) % 2 == 0 ? rotated : (3 - rotated) % 3;
}
STRATA_HD constexpr permutation operator+(permutation a, permutation b) {
  for (unsigned p = 0; p < 6; ++p) {
    const auto both = static_cast<permutation>(p);
    if (place_of(both, 0) == place_of(b, place_of(a, 0)) && place_of(both, 1) == place_of(b, place_of(a, 1))) {
      return both;
    }
  }
  return permutation{};
}
STRATA_HD constexpr permutation operator&(permutation a, permutation b) { return a + b; }
STRATA_HD constexpr permutation operator|(permutation a, permutation b) { return a + b; }
STRATA_HD constexpr permutation operator^(permutation a, permutation b) { return a + b; }
inline std::ostream& operator<<(std::ostream& out, permutation p) { return out << static_cast<unsigned>(p); }

/// A key with a tag. Operators compare only keys, so the tag shows which of several equal items was taken.
struct tagged {
  std::int32_t key;
  std::int32_t tag;

  STRATA_HD friend bool operator<(const tagged& a, const tagged& b) { return a.key < b.key; }
  STRATA_HD friend bool operator==(const tagged& a, const tagged& b) { return a.key == b.key && a.tag == b.tag; }
  friend std::ostream& operator<<(std::ostream& out, const tagged& a) { return out << a.key << " with " << a.tag; }
};

template <class T>
struct own_items {
  static T make(std::size_t, std::uint64_t bits) { return T::of(bits); }
};
template <>
struct own_items<permutation> {
  static permutation make(std::size_t, std::uint64_t bits) { return static_cast<permutation>(bits % 6); }
};
template <>
struct own_items<tagged> {
  static tagged make(std::size_t i, std::uint64_t bits) {
    return {static_cast<std::int32_t>(bits % 5), static_cast<std::int32_t>(i)};
  }
};

template <class T>
std::vector<T> make_own_items(std::size_t count) {
  std::mt19937_64 bits = random_bits(count);
  std::vector<T> items;
  items.reserve(count);
  for (std::size_t i = 0; i < count; ++i) items.push_back(own_items<T>::make(i, bits()));
  return items;
}

}  // namespace strata_test

template <>
struct std::numeric_limits<strata_test::tagged> {
  static constexpr bool is_specialized = true;
  static constexpr strata_test::tagged max() { return {std::numeric_limits<std::int32_t>::max(), -1}; }
  static constexpr strata_test::tagged lowest() { return {std::numeric_limits<std::int32_t>::lowest(), -1}; }
};
