// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sort_file {

constexpr int record_bytes = 100;
constexpr int key_bytes = 10;

/// A record as it is in a file. The first bytes are its key. Aligned so that a device copies words.
struct alignas(4) record {
  unsigned char bytes[record_bytes];
};

/// A key as two numbers that compare as its bytes do.
struct sort_key {
  std::uint64_t first;  // 8 bytes
  std::uint16_t last;   // 2 bytes
};

STRATA_HD sort_key key_of(const unsigned char* bytes) {
  sort_key key{};
  for (int i = 0; i < 8; ++i) key.first = key.first << 8 | bytes[i];
  key.last = static_cast<std::uint16_t>(bytes[8] << 8 | bytes[9]);
  return key;
}

inline bool operator<(const sort_key& a, const sort_key& b) {
  return a.first != b.first ? a.first < b.first : a.last < b.last;
}
inline bool operator==(const sort_key& a, const sort_key& b) { return a.first == b.first && a.last == b.last; }

/// The finalizer of SplitMix64.
inline std::uint64_t mix(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

/// The sum of these over all records of a file does not depend on their order.
inline std::uint64_t hash_of(const unsigned char* bytes) {
  std::uint64_t hash = record_bytes;
  for (int i = 0; i < record_bytes; i += 8) {
    const int taken = record_bytes - i < 8 ? record_bytes - i : 8;
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i, static_cast<std::size_t>(taken));
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return mix(hash);
}

/// Makes records of pseudo-random bytes from their numbers.
struct generator {
  std::uint64_t seed = 0;
  bool is_ascii = false;
  bool is_skewed = false;

  void make(std::uint64_t number, unsigned char* bytes) const;
};

}  // namespace sort_file
