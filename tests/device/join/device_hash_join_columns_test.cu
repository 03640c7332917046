// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceHashJoin with columns of values, in any order. Columns of few bytes are partitioned with the keys; for other
// ones, the result is in the order of the probe rows, if they are four or more.
#include "device/join/device_hash_join_support.cuh"

#include <algorithm>

namespace {

using namespace device_join_test;

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
value_of_12_bytes value_at<value_of_12_bytes>(std::int64_t row) {
  const auto number = static_cast<std::int32_t>(row);
  return {number, ~number, number ^ 0x5555};
}

/// A column of values of one side, and that of the result.
template <class Value>
struct column_of {
  device_vector<Value> in, out;

  column_of(std::size_t rows, std::size_t capacity) : in(values(rows)), out(capacity) {}

  static Value missing() { return value_at<Value>(-1); }

  /// `rows` has row numbers, or -1.
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

/// Two columns of row numbers, and one more of each side.
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

constexpr JoinKind kinds_with_pairs[] = {JoinKind::inner, JoinKind::left, JoinKind::full};
constexpr JoinStrategy strategies[] = {JoinStrategy::automatic, JoinStrategy::radix_single, JoinStrategy::radix_multi};

join_settings<> settings_of(JoinStrategy strategy, bool is_unique = false, bool nulls_equal = false) {
  join_settings<> settings;
  settings.strategy = strategy;
  settings.build_unique = is_unique;
  settings.nulls_equal = nulls_equal;
  return settings;
}

/// Joins by small tables, with columns of narrow values, of wide ones, and of such that are not partitioned.
template <class Key>
void check_small_tables(const side_ids& build, const side_ids& probe, Key (*make_key)(std::uint32_t),
                        bool build_is_unique = false) {
  using Joins = strata::TunedDeviceHashJoin<small_hub>;
  for (const JoinKind kind : kinds_with_pairs) {
    for (const JoinStrategy strategy : strategies) {
      for (const bool nulls_equal : {false, true}) {
        if (nulls_equal && build.null.empty()) continue;
        const join_settings<> settings = settings_of(strategy, build_is_unique, nulls_equal);
        check_columns<std::int16_t, std::uint8_t, Joins>(kind, build, probe, make_key, settings);
#if !STRATA_TEST_FEW_TYPES
        check_columns<double, std::int64_t, Joins>(kind, build, probe, make_key, settings);
#endif
        check_columns<value_of_12_bytes, std::int16_t, Joins>(kind, build, probe, make_key, settings);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(device_hash_join_columns, unique_keys) {
  check_small_tables<std::uint32_t>({shuffled_ids(130, 0), {}}, {random_ids(300, 150), {}}, as_u32, true);
  check_small_tables<std::int64_t>({shuffled_ids(70, 0), {}}, {random_ids(150, 90), {}}, as_i64, true);
}

TEST(device_hash_join_columns, several_rows_of_a_key) {
  check_small_tables<std::uint32_t>({random_ids(140, 60), {}}, {random_ids(200, 70), {}}, as_u32);
  check_small_tables<std::int64_t>({random_ids(70, 20), {}}, {random_ids(100, 25), {}}, as_i64);
}

TEST(device_hash_join_columns, rows_without_a_key) {
  check_small_tables<std::uint32_t>({random_ids(90, 40), random_nulls(90, 5)},
                                    {random_ids(120, 50), random_nulls(120, 4)}, as_u32);
}

/// One pass partitions 4,800 build rows. A table has at least 256.
struct larger_rows : small_rows {
  static constexpr strata::join_partition_tuning partition{64,  {5, 3, 2}, {4, 2, 5}, 64, 3, 1, 128,
                                                           150, 75,        2,         5,  2, 8, 8};
};

// 16 tables do not hold the rows of the frequent key: the table in global memory joins its partition.
TEST(device_hash_join_columns, overflowing_partition) {
  side_ids build{random_ids(4750, 100), {}};
  std::fill(build.ids.begin() + 60, build.ids.end() - 60, 7u);
  const side_ids probe{random_ids(60, 100), {}};
  for (const JoinKind kind : kinds_with_pairs) {
    check_columns<std::int16_t, std::uint8_t, strata::TunedDeviceHashJoin<one_policy_hub<larger_rows>>>(
        kind, build, probe, as_u32, settings_of(JoinStrategy::radix_single));
  }
}

TEST(device_hash_join_columns, few_rows) {
  for (const shape& data : few_rows()) {
    SCOPED_TRACE(data.name);
    check_small_tables<std::uint32_t>(data.build, data.probe, as_u32);
  }
}

/// Joins one column of 4 bytes of each side. True if the call has copied the column of the probe side to partitions: it
/// comes second in the temporary storage.
bool copies_probe_column(const side_ids& build, const side_ids& probe) {
  const device_vector<std::uint32_t> build_keys(keys_of<std::uint32_t>(build, as_u32));
  const device_vector<std::uint32_t> probe_keys(keys_of<std::uint32_t>(probe, as_u32));
  const std::size_t build_rows = build.ids.size(), probe_rows = probe.ids.size();
  row_pairs expected = sort_merge_join(JoinKind::inner, build, probe);
  column_of<std::int32_t> of_build(build_rows, expected.size()), of_probe(probe_rows, expected.size());
  device_vector<std::int64_t> total(1);
  const auto columns = strata::join_columns<std::int32_t>(
      static_cast<std::int64_t>(expected.size()),
      strata::build_column(of_build.in.data(), of_build.out.data(), of_build.missing()),
      strata::probe_column(of_probe.in.data(), of_probe.out.data(), of_probe.missing()));
  strata::JoinOptions<> options;
  options.strategy = JoinStrategy::radix_single;
  std::size_t bytes = 0;
  const auto join = [&](void* storage) {
    return DeviceHashJoin::Inner(
        storage, bytes, strata::join_side<std::uint32_t>(build_keys.data(), static_cast<std::int32_t>(build_rows)),
        strata::join_side<std::uint32_t>(probe_keys.data(), static_cast<std::int32_t>(probe_rows)), columns,
        total.data(), options);
  };
  EXPECT_CUDA_SUCCESS(join(nullptr));
  const std::vector<std::int32_t> poison(bytes / sizeof(std::int32_t) + 1, 0x5a5a5a5a);
  const device_vector<std::int32_t> storage(poison);
  // The sample of one call must not be that of the next one.
  for (int call = 0; call < 2; ++call) EXPECT_CUDA_SUCCESS(join(const_cast<std::int32_t*>(storage.data())));
  EXPECT_EQ(static_cast<std::int64_t>(expected.size()), total.to_host()[0]);
  std::vector<std::int32_t> found = of_probe.out.to_host(), wanted;
  for (const auto& pair : expected) wanted.push_back(value_at<std::int32_t>(pair.second));
  std::sort(found.begin(), found.end());
  std::sort(wanted.begin(), wanted.end());
  EXPECT_TRUE(found == wanted);
  const std::vector<std::int32_t> left = storage.to_host();
  const auto begin = left.begin() + static_cast<std::ptrdiff_t>(build_rows);
  return std::count(begin, begin + static_cast<std::ptrdiff_t>(probe_rows), 0x5a5a5a5a) <
         static_cast<std::ptrdiff_t>(probe_rows / 2);
}

// A sample of both sides finds on the device that few rows match.
TEST(device_hash_join_columns, columns_are_not_copied_if_few_rows_match) {
  constexpr std::uint32_t rows = 8192;  // a column ends at a boundary of temporary storage
  const side_ids build{shuffled_ids(rows, 0), {}};
  const auto probe_of = [&](std::uint32_t ids) { return side_ids{random_ids(3 * rows, ids), {}}; };
  EXPECT_TRUE(copies_probe_column(build, probe_of(rows)));
  EXPECT_TRUE(copies_probe_column(build, probe_of(rows + rows / 2)));
  EXPECT_FALSE(copies_probe_column(build, probe_of(4 * rows)));
  EXPECT_FALSE(copies_probe_column(build, probe_of(30 * rows)));
  // Few rows match, but each has many partners.
  EXPECT_TRUE(copies_probe_column({random_ids(rows, rows / 16), {}}, probe_of(rows / 2)));
}

// These joins have the tiles and tables of the device.
TEST(device_hash_join_columns, many_rows) {
  const std::uint32_t rows = if_small<std::uint32_t>(3000, STRATA_HOST_SIMT ? 30000 : 300000);
  [[maybe_unused]] const side_ids unique{shuffled_ids(rows, 10), {}};
  const side_ids repeated{random_ids(rows, rows / 2), {}};
  const side_ids probe{random_ids(2 * rows, rows + rows / 4), {}};
  for (const JoinKind kind : kinds_with_pairs) {
    if (if_small(kind == JoinKind::left, false)) continue;
    const join_settings<> settings = settings_of(JoinStrategy::automatic);
    check_columns<std::int16_t, std::uint8_t>(kind, repeated, probe, as_u32, settings);
    check_columns<double, std::int64_t>(kind, repeated, probe, as_i64, settings);
#if !STRATA_TEST_FEW_TYPES
    check_columns<float, std::int32_t>(kind, unique, probe, as_i64, settings_of(JoinStrategy::radix_single, true));
    check_columns<double, std::int64_t>(kind, unique, probe, as_u32, settings_of(JoinStrategy::radix_single, true));
#endif
  }
}

}  // namespace
