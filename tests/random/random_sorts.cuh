// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Orders of keys, and the permutations that sort by them.
#pragma once

#include <strata/core/radix_key.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "random/random_oracles.cuh"
#include "random/random_test.cuh"

namespace random_test {

/// A key of two numbers, which use 40 of its 64 bits.
struct event {
  std::uint32_t padding;
  std::int16_t day;
  std::uint8_t kind;
  std::uint8_t rest;

  friend bool operator<(const event& a, const event& b) { return a.kind != b.kind ? a.kind < b.kind : a.day < b.day; }
};
struct decompose_event {
  STRATA_HD strata::RadixFields<std::uint8_t&, std::int16_t&> operator()(event& e) const { return {e.kind, e.day}; }
};

/// Which outputs of a sort overwrite its inputs.
struct over_input {
  bool keys = false;
  bool values = false;

  std::string text() const {
    return std::string(keys ? ", keys over keys" : "") + (values ? ", values over values" : "");
  }
};
inline over_input random_over_input(source& random, bool may_be) {
  const bool keys = random.chance(25), values = random.chance(25);
  return {may_be && keys, may_be && values};
}

/// An unsigned number with the order of the keys. NaNs are equal to each other and the greatest, and zeros are equal.
template <class T>
std::uint64_t ordered_word(const T& key) {
  constexpr unsigned bits = 8 * sizeof(T);
  constexpr std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  std::uint64_t word = 0;
  std::memcpy(&word, &key, sizeof(T));
  if constexpr (is_real<T>) {
    if (std::isnan(as_double(key))) return sign | (sign - 1);
    if (as_double(key) == 0) return sign;
    return (word & sign) != 0 ? ~word & (sign | (sign - 1)) : word | sign;
  } else if constexpr (std::is_signed_v<T>) {
    return word ^ sign;
  } else {
    return word;
  }
}
inline std::uint64_t ordered_word(const event& key) { return std::uint64_t{key.kind} << 16 | ordered_word(key.day); }

/// The bits from `begin` to `end` - 1 of a word.
struct bit_range {
  int begin;
  int end;
  std::uint64_t of(std::uint64_t word) const {
    const int count = end - begin;
    if (count == 0) return 0;
    return word >> begin & (~std::uint64_t{0} >> (64 - count));
  }
};

template <class T>
constexpr int bits_of_key = std::is_same_v<T, event> ? 24 : 8 * static_cast<int>(sizeof(T));

template <class T>
bit_range random_bit_range(source& random) {
  constexpr int all = bits_of_key<T>;
  if (random.chance(60)) return {0, all};
  const int begin = static_cast<int>(random.below(all + 1));
  return {begin, begin + static_cast<int>(random.below(static_cast<std::size_t>(all - begin) + 1))};
}

/// The stable order of the `count` keys: the index of the key for each place.
template <class T>
std::vector<std::size_t> sorted_order(const T* keys, std::size_t count, bit_range bits, bool descending) {
  std::vector<std::pair<std::uint64_t, std::size_t>> words(count);
  for (std::size_t i = 0; i < count; ++i) words[i] = {bits.of(ordered_word(keys[i])), i};
  std::stable_sort(words.begin(), words.end(), [descending](const auto& a, const auto& b) {
    return descending ? b.first < a.first : a.first < b.first;
  });
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = words[i].second;
  return order;
}

template <class T>
std::vector<T> in_order(const std::vector<T>& items, const std::vector<std::size_t>& order) {
  std::vector<T> result;
  result.reserve(order.size());
  for (const std::size_t i : order) result.push_back(items[i]);
  return result;
}

/// The order of all `items` items, if each segment is sorted by `order_of(first, length)` and other items stay.
template <class OrderOf>
std::vector<std::size_t> order_of_segments(const segment_list& list, std::size_t items, const OrderOf& order_of) {
  std::vector<std::size_t> all(items);
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (std::size_t s = 0; s < list.size(); ++s) {
    const auto first = static_cast<std::size_t>(list.begins[s]);
    if (list.length(s) == 0) continue;
    const std::vector<std::size_t> own = order_of(first, list.length(s));
    for (std::size_t i = 0; i < own.size(); ++i) all[first + i] = first + own[i];
  }
  return all;
}

/// The items of segments, in the order of the segments. Other items may hold anything, and are left out.
template <class T>
std::vector<T> items_of_segments(const segment_list& list, const std::vector<T>& items) {
  std::vector<T> result;
  for (std::size_t s = 0; s < list.size(); ++s) {
    for (std::size_t i = 0; i < list.length(s); ++i) {
      result.push_back(items[static_cast<std::size_t>(list.begins[s]) + i]);
    }
  }
  return result;
}

/// A copy of `items` in which all items outside of segments are untouched ones.
template <class T>
std::vector<T> segments_alone(const segment_list& list, const std::vector<T>& items) {
  std::vector<T> result(items.size(), untouched<T>());
  for (std::size_t s = 0; s < list.size(); ++s) {
    for (std::size_t i = 0; i < list.length(s); ++i) {
      const auto at = static_cast<std::size_t>(list.begins[s]) + i;
      result[at] = items[at];
    }
  }
  return result;
}

}  // namespace random_test
