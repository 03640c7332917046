// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceHashJoin with columns of values: partitions that overflow, a sample of the matches, and large inputs.
#include <algorithm>

#include "device/join/device_hash_join_columns.cuh"

namespace {

using namespace device_join_test;

/// One pass partitions up to 4,800 build rows. A table holds at least 256 rows.
struct larger_rows : small_rows {
  static constexpr strata::join_partition_tuning partition{64,  {5, 3, 2}, {4, 2, 5}, 64, 3, 1, 128,
                                                           150, 75,        2,         5,  2, 8, 8};
};

// The rows of the frequent key do not fit in 16 tables, so the table in global memory joins their partition.
TEST(device_hash_join_columns, overflowing_partition) {
  side_ids build{random_ids(4750, 100), {}};
  std::fill(build.ids.begin() + 60, build.ids.end() - 60, 7u);
  const side_ids probe{random_ids(60, 100), {}};
  for (const JoinKind kind : kinds_with_pairs) {
    check_columns<std::int16_t, std::uint8_t, strata::TunedDeviceHashJoin<one_policy_hub<larger_rows>>>(
        kind, build, probe, as_u32, settings_of(JoinStrategy::radix_single));
  }
}

/// Joins one column of 4 bytes of each side. Returns true if the call has copied the column of the probe side to
/// partitions, which are the second array of the temporary storage.
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
  // The second call must not take the sample that the first one has left.
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

// On the device, a sample of both sides shows that few rows match.
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

// These joins have the tiles and tables of the default policy.
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
