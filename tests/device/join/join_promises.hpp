// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sides that break what JoinSide promises, and the documented results of joining them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "device/join/join_cases.hpp"

namespace join_promises {

using namespace join_cases;

/// Build sides in which several rows share a key, with probe rows of these keys and of others. If `one_null_in` is not
/// 0, some rows have no key.
inline std::vector<shape> repeated_keys(std::size_t rows, unsigned one_null_in = 0) {
  const auto number = static_cast<std::uint32_t>(rows);
  const std::size_t probe_rows = rows + rows / 2 + 3;
  shape pair{"two rows of a key", {shuffled_ids(rows, 0), {}}, {random_ids(probe_rows, number + 9), {}}};
  pair.build.ids[rows - 1] = pair.build.ids[0];
  shape frequent{"a frequent key", {shuffled_ids(rows, 0), {}}, {random_ids(probe_rows, number + 9), {}}};
  std::fill(frequent.build.ids.begin(), frequent.build.ids.begin() + static_cast<std::ptrdiff_t>(rows / 2), 3u);
  frequent.probe.ids[probe_rows / 2] = 3;
  std::vector<shape> shapes{pair,
                            frequent,
                            {"random keys", {random_ids(rows, number), {}}, {random_ids(probe_rows, number), {}}},
                            {"one key", {random_ids(rows, 1), {}}, {random_ids(probe_rows, 3), {}}},
                            {"no partners", {random_ids(rows, 5), {}}, {shuffled_ids(probe_rows, 5), {}}}};
  for (shape& data : shapes) {
    if (one_null_in == 0) continue;
    data.build.null = random_nulls(data.build.ids.size(), one_null_in);
    data.probe.null = random_nulls(data.probe.ids.size(), one_null_in);
  }
  return shapes;
}

/// What a join has written: the number of rows of the result, and the rows that fit the capacity.
struct result {
  std::int64_t number;
  row_pairs rows;
};

/// The documented result of joining two sides.
class documented_result {
 public:
  documented_result(JoinKind kind, const side_ids& build, const side_ids& probe, bool nulls_equal)
      : kind_(kind), nulls_equal_(nulls_equal), build_(build), probe_(probe) {
    const std::map<std::int64_t, std::size_t> build_keys = keys_of_side(build), probe_keys = keys_of_side(probe);
    for (std::size_t row = 0; row < probe.ids.size(); ++row) {
      has_partner_.push_back(has_key(probe, row) && build_keys.count(key_of(probe, row)) != 0);
    }
    for (std::size_t row = 0; row < build.ids.size(); ++row) {
      is_alone_.push_back(!has_key(build, row) || probe_keys.count(key_of(build, row)) == 0);
    }
  }

  /// Checks a join of sides whose order is not as promised: it returns any rows of both sides.
  void check_any_rows(const result& got) const {
    ASSERT_GE(got.number, 0);
    ASSERT_LE(got.number, static_cast<std::int64_t>((build_.ids.size() + 1) * (probe_.ids.size() + 1)));
    for (const row_pair& row : got.rows) {
      ASSERT_TRUE(is_row(build_, row.first) || row.first == -1) << row.first;
      ASSERT_TRUE(is_row(probe_, row.second) || row.second == -1) << row.second;
      ASSERT_FALSE(row.first == -1 && row.second == -1);
    }
  }

  /// Checks a join whose build keys were promised to be unique and are not: a probe row is joined with one row of its
  /// key. In a full join, the other rows are missing, or have no partner.
  void check_one_partner(const result& got, JoinOrder order) const {
    check_any_rows(got);
    if (testing::Test::HasFatalFailure()) return;
    std::vector<bool> is_probe_seen(probe_.ids.size()), is_joined(build_.ids.size()), is_build_seen(build_.ids.size());
    std::int64_t last_probe = -1, last_build = -1;
    for (const row_pair& row : got.rows) {
      const auto [b, p] = row;
      SCOPED_TRACE(testing::Message() << "rows " << b << ", " << p);
      if (p == -1) {
        ASSERT_EQ(JoinKind::full, kind_);
        ASSERT_TRUE(is_row(build_, b));
        ASSERT_FALSE(is_build_seen[index(b)]) << "twice";
        is_build_seen[index(b)] = true;
        if (order == JoinOrder::probe) {
          ASSERT_LT(last_build, b);
        }
        last_build = b;
        continue;
      }
      ASSERT_TRUE(is_row(probe_, p));
      ASSERT_FALSE(is_probe_seen[index(p)]) << "twice";
      is_probe_seen[index(p)] = true;
      ASSERT_TRUE(is_wanted(index(p)));
      const bool is_joined_row = strata::detail::has_pairs(kind_) && has_partner_[index(p)];
      ASSERT_EQ(is_joined_row, b != -1);
      if (is_joined_row) {
        ASSERT_TRUE(is_row(build_, b));
        ASSERT_EQ(key_of(build_, index(b)), key_of(probe_, index(p)));
        is_joined[index(b)] = true;
      }
      if (order == JoinOrder::probe) {
        ASSERT_LT(last_probe, p);
        ASSERT_EQ(-1, last_build) << "behind a build row without a partner";
      }
      last_probe = p;
    }
    std::int64_t wanted = 0;
    for (std::size_t p = 0; p < probe_.ids.size(); ++p) wanted += is_wanted(p) ? 1 : 0;
    const bool is_whole = static_cast<std::int64_t>(got.rows.size()) == got.number;
    if (kind_ != JoinKind::full) {
      // No row was seen twice above, so no row is missing.
      ASSERT_EQ(wanted, got.number);
      return;
    }
    ASSERT_LE(wanted, got.number);
    for (std::size_t b = 0; b < build_.ids.size(); ++b) {
      ASSERT_FALSE(is_joined[b] && is_build_seen[b]) << b << " is joined and alone";
      ASSERT_TRUE(!is_whole || !is_alone_[b] || is_build_seen[b]) << b << " has no partner and is missing";
    }
  }

 private:
  static constexpr std::int64_t null_key = -1;

  static std::size_t index(std::int64_t row) { return static_cast<std::size_t>(row); }
  static bool is_row(const side_ids& side, std::int64_t row) { return row >= 0 && index(row) < side.ids.size(); }
  static std::int64_t key_of(const side_ids& side, std::size_t row) {
    return side.is_null(row) ? null_key : std::int64_t{side.ids[row]};
  }
  bool has_key(const side_ids& side, std::size_t row) const { return nulls_equal_ || !side.is_null(row); }
  std::map<std::int64_t, std::size_t> keys_of_side(const side_ids& side) const {
    std::map<std::int64_t, std::size_t> keys;
    for (std::size_t row = 0; row < side.ids.size(); ++row) {
      if (has_key(side, row)) ++keys[key_of(side, row)];
    }
    return keys;
  }
  bool is_wanted(std::size_t probe_row) const {
    if (kind_ == JoinKind::left || kind_ == JoinKind::full) return true;
    return has_partner_[probe_row] != (kind_ == JoinKind::anti);
  }

  JoinKind kind_;
  bool nulls_equal_;
  const side_ids& build_;
  const side_ids& probe_;
  /// For each probe row, true if it has a partner. For each build row, true if it has none.
  std::vector<bool> has_partner_, is_alone_;
};

}  // namespace join_promises
