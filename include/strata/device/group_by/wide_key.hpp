// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/radix_key.hpp>

#include <cstdint>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// An unsigned integer of `Words` times 64 bits, with the operations that pack and unpack columns.
template <int Words>
struct wide_group_key {
  std::uint64_t words[Words];  // the lowest bits first

  wide_group_key() = default;
  template <class Integer, std::enable_if_t<is_radix_integer<Integer>::value, int> = 0>
  STRATA_HD explicit wide_group_key(Integer value) {
    for (int i = 0; i < Words; ++i) words[i] = 0;
    words[0] = static_cast<std::uint64_t>(value);
    if constexpr (sizeof(Integer) > 8) words[1] = static_cast<std::uint64_t>(value >> 64);
  }
  template <class Integer, std::enable_if_t<is_radix_integer<Integer>::value, int> = 0>
  STRATA_HD explicit operator Integer() const {
    if constexpr (sizeof(Integer) > 8) {
      return static_cast<Integer>(static_cast<Integer>(words[1]) << 64 | words[0]);
    } else {
      return static_cast<Integer>(words[0]);
    }
  }

  STRATA_HD friend wide_group_key operator<<(const wide_group_key& a, int bits) {
    wide_group_key result;
    for (int i = 0; i < Words; ++i) {
      const std::uint64_t upper = a.word(i - bits / 64), lower = a.word(i - bits / 64 - 1);
      result.words[i] = bits % 64 == 0 ? upper : upper << bits % 64 | lower >> (64 - bits % 64);
    }
    return result;
  }
  STRATA_HD friend wide_group_key operator>>(const wide_group_key& a, int bits) {
    wide_group_key result;
    for (int i = 0; i < Words; ++i) {
      const std::uint64_t lower = a.word(i + bits / 64), upper = a.word(i + bits / 64 + 1);
      result.words[i] = bits % 64 == 0 ? lower : lower >> bits % 64 | upper << (64 - bits % 64);
    }
    return result;
  }
  STRATA_HD friend wide_group_key operator|(const wide_group_key& a, const wide_group_key& b) {
    wide_group_key result;
    for (int i = 0; i < Words; ++i) result.words[i] = a.words[i] | b.words[i];
    return result;
  }
  STRATA_HD friend wide_group_key operator&(const wide_group_key& a, const wide_group_key& b) {
    wide_group_key result;
    for (int i = 0; i < Words; ++i) result.words[i] = a.words[i] & b.words[i];
    return result;
  }
  STRATA_HD friend wide_group_key operator~(const wide_group_key& a) {
    wide_group_key result;
    for (int i = 0; i < Words; ++i) result.words[i] = ~a.words[i];
    return result;
  }
  STRATA_HD friend bool operator==(const wide_group_key& a, const wide_group_key& b) {
    bool are_equal = true;
    for (int i = 0; i < Words; ++i) are_equal = are_equal && a.words[i] == b.words[i];
    return are_equal;
  }
  STRATA_HD friend bool operator<(const wide_group_key& a, const wide_group_key& b) {
    for (int i = Words - 1; i > 0; --i) {
      if (a.words[i] != b.words[i]) return a.words[i] < b.words[i];
    }
    return a.words[0] < b.words[0];
  }

 private:
  STRATA_HD std::uint64_t word(int i) const { return i >= 0 && i < Words ? words[i] : 0; }
};

template <class Key>
inline constexpr bool is_wide_group_key = false;
template <int Words>
inline constexpr bool is_wide_group_key<wide_group_key<Words>> = true;

}  // namespace detail
STRATA_NAMESPACE_END
