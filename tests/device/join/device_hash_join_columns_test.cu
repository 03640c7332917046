// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceHashJoin with columns of values and small tables.
#include "device/join/device_hash_join_columns.cuh"

namespace {

using namespace device_join_test;

/// Joins by small tables, with narrow columns, with wide ones, and with columns that are not partitioned.
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

TEST(device_hash_join_columns, few_rows) {
  for (const shape& data : few_rows()) {
    SCOPED_TRACE(data.name);
    check_small_tables<std::uint32_t>(data.build, data.probe, as_u32);
  }
}

}  // namespace
