// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by tests of DeviceHashJoin with columns of values, in any order. Columns of few bytes are partitioned with the
// keys. Other columns, if there are four or more, are gathered in the order of the probe rows.
#pragma once

#include <algorithm>

#include "device/join/device_hash_join_support.cuh"

namespace device_join_test {

struct value_of_12_bytes {
  std::int32_t a, b, c;
  friend bool operator==(const value_of_12_bytes& x, const value_of_12_bytes& y) {
    return x.a == y.a && x.b == y.b && x.c == y.c;
  }
};

/// A value for each row.
template <class Value>
Value value_at(std::int64_t row) {
  return static_cast<Value>(row * 37 + 5);
}
template <>
inline value_of_12_bytes value_at<value_of_12_bytes>(std::int64_t row) {
  const auto number = static_cast<std::int32_t>(row);
  return {number, ~number, number ^ 0x5555};
}

/// A column of values of one side, and the column of the result.
template <class Value>
struct column_of {
  device_vector<Value> in, out;

  column_of(std::size_t rows, std::size_t capacity) : in(values(rows)), out(capacity) {}

  static Value missing() { return value_at<Value>(-1); }

  /// `rows` are row numbers, or -1 for a missing row.
  void check(const std::vector<std::int32_t>& rows, std::size_t written) const {
    const std::vector<Value> found = out.to_host();
    for (std::size_t i = 0; i < written; ++i) {
      ASSERT_TRUE(found[i] == value_at<Value>(rows[i])) << "result " << i << ", of row " << rows[i];
    }
  }

 private:
  static std::vector<Value> values(std::size_t rows) {
    std::vector<Value> all(rows);
    for (std::size_t row = 0; row < rows; ++row) all[row] = value_at<Value>(static_cast<std::int64_t>(row));
    return all;
  }
};

/// Compares a join of two columns of row numbers and one more column of each side with a simple join.
template <class BuildValue, class ProbeValue, class Joins = DeviceHashJoin, class Key>
void check_columns(JoinKind kind, const side_ids& build, const side_ids& probe, Key (*make_key)(std::uint32_t),
                   join_settings<> settings) {
  SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", strategy "
                                  << static_cast<int>(settings.strategy) << ", unique " << settings.build_unique
                                  << ", nulls equal " << settings.nulls_equal);
  const bool has_nulls = !build.null.empty() || !probe.null.empty();
  row_pairs expected =
      has_nulls ? nested_loop_join(kind, build, probe, settings.nulls_equal) : sort_merge_join(kind, build, probe);
  std::sort(expected.begin(), expected.end());
  const device_vector<Key> build_keys(keys_of<Key>(build, make_key)), probe_keys(keys_of<Key>(probe, make_key));
  const device_vector<std::uint32_t> build_valid(build.valid_words()), probe_valid(probe.valid_words());
  if (has_nulls) {
    settings.build_valid = build_valid.data();
    settings.probe_valid = probe_valid.data();
  }
  const std::size_t build_rows = build.ids.size(), probe_rows = probe.ids.size();
  std::vector<std::int32_t> numbers(std::max(build_rows, probe_rows));
  std::iota(numbers.begin(), numbers.end(), 0);
  const device_vector<std::int32_t> in(numbers);
  for (const std::size_t capacity : {expected.size() + 2, expected.size() / 2}) {
    SCOPED_TRACE(testing::Message() << "capacity " << capacity << " of " << expected.size());
    device_vector<std::int32_t> build_out(capacity), probe_out(capacity);
    column_of<BuildValue> of_build(build_rows, capacity);
    column_of<ProbeValue> of_probe(probe_rows, capacity);
    device_vector<std::int64_t> total(1);
    const auto columns = strata::join_columns<std::int32_t>(
        static_cast<std::int64_t>(capacity), strata::build_column(in.data(), build_out.data(), -1),
        strata::probe_column(of_probe.in.data(), of_probe.out.data(), of_probe.missing()),
        strata::build_column(of_build.in.data(), of_build.out.data(), of_build.missing()),
        strata::probe_column(in.data(), probe_out.data(), -1));
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      const auto build_side = settings.build_side(build_keys.data(), static_cast<std::int64_t>(build_rows));
      const auto probe_side = settings.probe_side(probe_keys.data(), static_cast<std::int64_t>(probe_rows));
      const strata::JoinOptions<>& options = settings;
      if (kind == JoinKind::inner) {
        return Joins::Inner(storage, bytes, build_side, probe_side, columns, total.data(), options);
      }
      if (kind == JoinKind::left) {
        return Joins::Left(storage, bytes, build_side, probe_side, columns, total.data(), options);
      }
      return Joins::Full(storage, bytes, build_side, probe_side, columns, total.data(), options);
    }));
    ASSERT_EQ(static_cast<std::int64_t>(expected.size()), total.to_host()[0]);
    const std::vector<std::int32_t> found_build = build_out.to_host(), found_probe = probe_out.to_host();
    const std::size_t written = std::min(capacity, expected.size());
    row_pairs found;
    for (std::size_t i = 0; i < written; ++i) found.emplace_back(found_build[i], found_probe[i]);
    for (std::size_t i = written; i < capacity; ++i) {
      ASSERT_TRUE(strata_test::is_poison(found_build[i]) && strata_test::is_poison(found_probe[i]));
    }
    std::sort(found.begin(), found.end());
    ASSERT_TRUE(std::includes(expected.begin(), expected.end(), found.begin(), found.end()));
    of_build.check(found_build, written);
    of_probe.check(found_probe, written);
    if (testing::Test::HasFatalFailure()) return;
  }
}

inline constexpr JoinKind kinds_with_pairs[] = {JoinKind::inner, JoinKind::left, JoinKind::full};
inline constexpr JoinStrategy strategies[] = {JoinStrategy::automatic, JoinStrategy::radix_single,
                                              JoinStrategy::radix_multi};

inline join_settings<> settings_of(JoinStrategy strategy, bool is_unique = false, bool nulls_equal = false) {
  join_settings<> settings;
  settings.strategy = strategy;
  settings.build_unique = is_unique;
  settings.nulls_equal = nulls_equal;
  return settings;
}

}  // namespace device_join_test
