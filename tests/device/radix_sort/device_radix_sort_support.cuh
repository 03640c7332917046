// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Keys and values for tests of radix sorts, and their expected order.
#pragma once

#include <strata/core/radix_key.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"

namespace device_test {

enum class pattern { random, few, equal, sorted, reversed, mostly_one, low_byte };

template <class Key>
Key key_of_bits(std::uint64_t low, std::uint64_t high = 0) {
  static_assert(sizeof(Key) <= 16, "two words of bits");
  const std::uint64_t words[2] = {low, high};
  if constexpr (std::is_same_v<Key, bool>) return (low & 1) != 0;
  Key key;
  std::memcpy(static_cast<void*>(&key), words, sizeof(Key));
  return key;
}

template <class Key>
std::vector<Key> make_keys(std::size_t count, pattern how, std::uint64_t seed = 0) {
  std::mt19937_64 bits = strata_test::random_bits(seed * 31 + count);
  std::vector<Key> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t any = bits();
    switch (how) {
      case pattern::random:
        keys[i] = key_of_bits<Key>(any, bits());
        break;
      case pattern::few:
        keys[i] = key_of_bits<Key>((any % 3) * 0x0101010101010101u);
        break;
      case pattern::equal:
        keys[i] = key_of_bits<Key>(0x1234567812345678u);
        break;
      case pattern::sorted:
        keys[i] = key_of_bits<Key>(i * 16);
        break;
      case pattern::reversed:
        keys[i] = key_of_bits<Key>((count - i) * 16);
        break;
      case pattern::mostly_one:
        keys[i] = key_of_bits<Key>(any % 10 == 0 ? bits() : 0x1234567812345678u);
        break;
      case pattern::low_byte:
        keys[i] = key_of_bits<Key>(any % 256);
        break;
    }
  }
  return keys;
}

constexpr pattern all_patterns[] = {pattern::random,   pattern::few,        pattern::equal,   pattern::sorted,
                                    pattern::reversed, pattern::mostly_one, pattern::low_byte};

/// Input index of each item of the result, by std::stable_sort.
template <bool IsDescending, class Key>
std::vector<std::uint32_t> expected_order(const std::vector<Key>& keys, int begin_bit, int end_bit) {
  using Traits = strata::RadixTraits<Key>;
  using word = typename Traits::word;
  const auto bits_of = [&](const Key& key) {
    word ordered = Traits::ordered(key);
    const int drop = Traits::bits - end_bit;
    ordered = static_cast<word>(static_cast<word>(ordered << drop) >> drop);
    return static_cast<word>(ordered >> begin_bit);
  };
  std::vector<std::uint32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0u);
  if (begin_bit == end_bit) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return IsDescending ? bits_of(keys[a]) > bits_of(keys[b]) : bits_of(keys[a]) < bits_of(keys[b]);
  });
  return order;
}

template <class T>
void expect_gathered(const std::vector<T>& in, const std::vector<std::uint32_t>& order, const std::vector<T>& out) {
  ASSERT_EQ(order.size(), out.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const T expected = in[order[i]], actual = out[i];
    ASSERT_EQ(0, std::memcmp(&expected, &actual, sizeof(T)))
        << "place " << i << " of " << order.size() << " must have item " << order[i];
  }
}

/// Values made from the input index, which show what item moved where.
template <class Value>
std::vector<Value> make_values(std::size_t count) {
  std::vector<Value> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::memset(static_cast<void*>(&values[i]), 0, sizeof(Value));
    const std::uint64_t number = i * 2654435761u + 17;
    std::memcpy(static_cast<void*>(&values[i]), &number, std::min(sizeof(number), sizeof(Value)));
  }
  return values;
}

}  // namespace device_test
