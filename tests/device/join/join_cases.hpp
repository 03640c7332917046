// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Keys and sides on which joins of all back ends are tested.
#pragma once

#include <strata/core/macros.hpp>
#include <strata/device/join/common/join_hash.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "device/join/join_oracles.hpp"
#include "support/seed.hpp"

namespace join_cases {

using namespace join_oracles;

// ---------------------------------------------------------------------------- keys

struct bytes12 {
  std::uint32_t word[3];
  STRATA_HD friend bool operator==(const bytes12& a, const bytes12& b) {
    return a.word[0] == b.word[0] && a.word[1] == b.word[1] && a.word[2] == b.word[2];
  }
};
struct bytes16 {
  std::uint64_t word[2];
  STRATA_HD friend bool operator==(const bytes16& a, const bytes16& b) {
    return a.word[0] == b.word[0] && a.word[1] == b.word[1];
  }
};

}  // namespace join_cases

template <>
struct strata::is_bitwise_comparable<join_cases::bytes12> : std::true_type {};
template <>
struct strata::is_bitwise_comparable<join_cases::bytes16> : std::true_type {};

namespace join_cases {

// Columns of different types, with padding between them that may have any bytes.
struct composite {
  std::uint8_t kind;
  double amount;
  STRATA_HD friend bool operator==(const composite& a, const composite& b) {
    return a.kind == b.kind && a.amount == b.amount;
  }
};
struct composite_hash {
  STRATA_HD std::uint32_t operator()(const composite& key) const {
    return key.kind + static_cast<std::uint32_t>(key.amount * 4) * 31;
  }
};
struct same_hash {
  template <class Key>
  STRATA_HD int operator()(const Key&) const {
    return 42;
  }
};

// Makes a key of an id: first values that a table might take for "empty", then multiples of 2^16 and others. All ids
// below 2^31 have different keys.
inline std::uint32_t as_u32(std::uint32_t id) {
  constexpr std::uint32_t special[] = {0, ~0u, 0x7fffffff, 0x80000000};
  if (id == 0x8000) return ~1u;
  return id < 4 ? special[id] : id << 16 | id >> 16;
}
inline std::int64_t as_i64(std::uint32_t id) {
  constexpr std::int64_t special[] = {0, -1, std::numeric_limits<std::int64_t>::max(),
                                      std::numeric_limits<std::int64_t>::min()};
  return id < 4 ? special[id] : static_cast<std::int64_t>(id) << 24;
}
inline bytes12 as_bytes12(std::uint32_t id) { return {{7, id, ~0u}}; }
inline bytes16 as_bytes16(std::uint32_t id) { return {{~std::uint64_t{0}, ~std::uint64_t{id}}}; }
inline composite as_composite(std::uint32_t id) {
  static std::atomic<unsigned char> garbage{0};
  composite key;
  std::memset(static_cast<void*>(&key), ++garbage, sizeof(key));
  key.kind = static_cast<std::uint8_t>(id % 3);
  key.amount = (id / 3) * 0.25;
  return key;
}

// ---------------------------------------------------------------------------- data

inline std::mt19937& random_bits() {
  static std::mt19937 generator(static_cast<std::uint32_t>(strata_test::seed()));
  return generator;
}
inline std::uint32_t random_below(std::uint32_t count) { return static_cast<std::uint32_t>(random_bits()()) % count; }

inline std::vector<std::uint32_t> random_ids(std::size_t rows, std::uint32_t different) {
  std::vector<std::uint32_t> ids(rows);
  for (auto& id : ids) id = random_below(different);
  return ids;
}
inline std::vector<std::uint32_t> shuffled_ids(std::size_t rows, std::uint32_t first) {
  std::vector<std::uint32_t> ids(rows);
  std::iota(ids.begin(), ids.end(), first);
  std::shuffle(ids.begin(), ids.end(), random_bits());
  return ids;
}
inline std::vector<bool> random_nulls(std::size_t rows, unsigned one_in) {
  std::vector<bool> null(rows);
  for (std::size_t row = 0; row < rows; ++row) null[row] = random_below(one_in) == 0;
  return null;
}

struct shape {
  const char* name;
  side_ids build;
  side_ids probe;
};

inline std::vector<shape> few_rows() {
  std::vector<shape> shapes{{"nothing", {}, {}},
                            {"no build rows", {}, {random_ids(9, 5), {}}},
                            {"no probe rows", {random_ids(9, 5), {}}, {}},
                            {"one and one", {{3}, {}}, {{3}, {}}},
                            {"different keys", {shuffled_ids(40, 0), {}}, {random_ids(50, 60), {}}},
                            {"no partners", {shuffled_ids(20, 0), {}}, {shuffled_ids(30, 20), {}}},
                            {"duplicates", {random_ids(60, 10), {}}, {random_ids(40, 13), {}}},
                            {"one key", {random_ids(25, 1), {}}, {random_ids(12, 1), {}}}};
  shape frequent{"a frequent key", {random_ids(90, 20), {}}, {random_ids(30, 25), {}}};
  std::fill(frequent.build.ids.begin() + 10, frequent.build.ids.begin() + 70, 4u);
  frequent.probe.ids[17] = 4;
  shapes.push_back(frequent);
  return shapes;
}

// Each shape as it is, and with rows without a key on one side, on both, and everywhere.
inline std::vector<shape> few_rows_with_nulls() {
  std::vector<shape> shapes;
  for (const shape& plain : few_rows()) {
    for (const int nulls : {0, 1, 2, 3, 4}) {
      shape with = plain;
      const unsigned one_in = nulls == 4 ? 1 : 3;
      if ((nulls & 1) != 0 || nulls == 4) {
        with.build.null = random_nulls(with.build.ids.size(), one_in);
      }
      if ((nulls & 2) != 0 || nulls == 4) {
        with.probe.null = random_nulls(with.probe.ids.size(), one_in);
      }
      shapes.push_back(with);
    }
  }
  return shapes;
}

/// Keys that are computed when they are read, so there are no references to them: remainders of row numbers.
struct remainder_iterator {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = std::uint32_t;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = std::uint32_t;

  std::uint32_t divisor = 1;
  std::ptrdiff_t row = 0;

  STRATA_HD std::uint32_t operator*() const { return static_cast<std::uint32_t>(row) % divisor; }
  STRATA_HD std::uint32_t operator[](std::ptrdiff_t i) const { return static_cast<std::uint32_t>(row + i) % divisor; }
  STRATA_HD remainder_iterator operator+(std::ptrdiff_t i) const { return {divisor, row + i}; }

  std::vector<std::uint32_t> read(std::size_t rows) const {
    std::vector<std::uint32_t> keys;
    for (std::size_t i = 0; i < rows; ++i) keys.push_back((*this)[static_cast<std::ptrdiff_t>(i)]);
    return keys;
  }
};

}  // namespace join_cases
