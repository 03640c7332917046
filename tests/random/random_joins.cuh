// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Keys of joins, and the expected results, computed on the host.
#pragma once

#include <strata/device/device_hash_join.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "device/join/device_hash_join_kinds.hpp"
#include "random/random_test.cuh"

template <std::size_t Count, class Word>
struct strata::is_bitwise_comparable<random_test::record<Count, Word>> : std::true_type {};

namespace random_test {

/// The key of a code. Keys are equal if their codes are. For floats, code 0 is NaN, and codes 1 and 2 are the two
/// zeros.
template <class Key>
struct key_of_code {
  static Key make(std::uint64_t code, std::int64_t lowest) {
    if constexpr (std::is_floating_point_v<Key>) {
      if (code == 0) return std::numeric_limits<Key>::quiet_NaN();
      if (code <= 2) return code == 1 ? Key(-0.0) : Key(0.0);
      return static_cast<Key>(code);
    } else if constexpr (std::is_integral_v<Key>) {
      return static_cast<Key>(static_cast<std::uint64_t>(lowest) + code);
    } else {
      return item_of<Key>(mixed(code) * 4);
    }
  }
  static std::uint64_t same_as(std::uint64_t code) { return std::is_floating_point_v<Key> && code == 2 ? 1 : code; }
  static bool equals_itself(std::uint64_t code) { return !std::is_floating_point_v<Key> || code != 0; }
};

/// The rows of a side: the codes of their keys, and a mask of the rows that have keys.
struct side_rows {
  std::vector<std::uint64_t> codes;
  std::vector<std::uint32_t> host_valid;

  bool has_key(std::size_t row) const { return (host_valid[row / 32] >> row % 32 & 1) != 0; }
};

struct row_pair {
  std::int64_t build;
  std::int64_t probe;
  friend bool operator<(const row_pair& a, const row_pair& b) {
    return a.probe != b.probe ? a.probe < b.probe : a.build < b.build;
  }
  friend bool operator==(const row_pair& a, const row_pair& b) { return a.build == b.build && a.probe == b.probe; }
};

inline std::string text_of_row(const row_pair& row) {
  return "(" + std::to_string(row.build) + ", " + std::to_string(row.probe) + ")";
}

inline bool has_build_rows(strata::JoinKind kind) {
  return kind != strata::JoinKind::semi && kind != strata::JoinKind::anti;
}

inline const char* name_of_kind(strata::JoinKind kind) {
  static const char* const kinds[] = {"inner", "left", "full", "semi", "anti"};
  return kinds[static_cast<int>(kind)];
}

/// The complete result, in the order of probe rows.
template <class Key>
std::vector<row_pair> joined(strata::JoinKind kind, bool nulls_equal, const side_rows& build, const side_rows& probe) {
  constexpr std::int64_t none = -1;
  std::unordered_map<std::uint64_t, std::vector<std::int64_t>> rows_of_key;
  std::vector<std::int64_t> nulls;
  for (std::size_t b = 0; b < build.codes.size(); ++b) {
    if (!build.has_key(b)) {
      nulls.push_back(static_cast<std::int64_t>(b));
    } else if (key_of_code<Key>::equals_itself(build.codes[b])) {
      rows_of_key[key_of_code<Key>::same_as(build.codes[b])].push_back(static_cast<std::int64_t>(b));
    }
  }
  const std::vector<std::int64_t> no_partners;
  std::vector<char> has_partner(build.codes.size(), 0);
  std::vector<row_pair> result;
  for (std::size_t p = 0; p < probe.codes.size(); ++p) {
    const auto row = static_cast<std::int64_t>(p);
    const std::vector<std::int64_t>* partners = &no_partners;
    if (!probe.has_key(p)) {
      if (nulls_equal) partners = &nulls;
    } else if (key_of_code<Key>::equals_itself(probe.codes[p])) {
      const auto found = rows_of_key.find(key_of_code<Key>::same_as(probe.codes[p]));
      if (found != rows_of_key.end()) partners = &found->second;
    }
    if (!has_build_rows(kind)) {
      if (partners->empty() == (kind == strata::JoinKind::anti)) result.push_back({none, row});
      continue;
    }
    for (const std::int64_t b : *partners) {
      has_partner[static_cast<std::size_t>(b)] = 1;
      result.push_back({b, row});
    }
    if (partners->empty() && kind != strata::JoinKind::inner) result.push_back({none, row});
  }
  if (kind == strata::JoinKind::full) {
    for (std::size_t b = 0; b < build.codes.size(); ++b) {
      if (has_partner[b] == 0) result.push_back({static_cast<std::int64_t>(b), none});
    }
  }
  return result;
}

/// Expects that `found` are different rows of the result, in any order. If their number is the expected one, all rows
/// of the result must be among them.
inline void must_be_of_join(std::vector<row_pair> expected, std::vector<row_pair> found) {
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  const bool are_all = found.size() == expected.size();
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (are_all) {
      must_be(expected[i] == found[i], "row " + std::to_string(i) + " of " + std::to_string(found.size()) +
                                           ": expected " + text_of_row(expected[i]) + ", found " +
                                           text_of_row(found[i]));
    } else {
      must_be(std::binary_search(expected.begin(), expected.end(), found[i]),
              "row " + text_of_row(found[i]) + " is not of the result");
      must_be(i == 0 || !(found[i] == found[i - 1]), "row " + text_of_row(found[i]) + " is there twice");
    }
  }
}

}  // namespace random_test
