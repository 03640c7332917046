// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#include <cstdint>

namespace sort_file {

constexpr int record_bytes = 100;
constexpr int key_bytes = 10;

/// A record of a file. Its first bytes are its key. It is aligned so that a device can copy 4 bytes at a time.
struct alignas(4) record {
  unsigned char bytes[record_bytes];
};

/// A key as two numbers that compare as its bytes do.
struct sort_key {
  std::uint64_t first;  // 8 bytes
  std::uint16_t last;   // 2 bytes
};

STRATA_HD sort_key key_of(const void* record) {
  const auto* const bytes = static_cast<const unsigned char*>(record);
  sort_key key{};
  for (int i = 0; i < 8; ++i) key.first = key.first << 8 | bytes[i];
  key.last = static_cast<std::uint16_t>(bytes[8] << 8 | bytes[9]);
  return key;
}

inline bool operator<(const sort_key& a, const sort_key& b) {
  return a.first != b.first ? a.first < b.first : a.last < b.last;
}

}  // namespace sort_file
