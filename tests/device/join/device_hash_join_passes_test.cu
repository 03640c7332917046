// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: long

// DeviceHashJoin with partitions so small, and with so few partitions in a pass, that few rows take two passes with
// many tiles each.
#include "device/join/device_hash_join_support.cuh"

#include <algorithm>
#include <type_traits>

namespace {

using namespace device_join_test;

/// All devices of today take `small_rows`. The newer policy has other blocks and tiles, and needs the same storage.
struct chained_hub {
  struct Policy750 : strata::ChainedPolicy<750, Policy750, Policy750, small_rows> {};
  struct Policy99990 : strata::ChainedPolicy<99990, Policy99990, Policy750, small_rows> {
    static constexpr strata::join_table_tuning table{128, 256, 3, 2, 384};
    static constexpr strata::join_partition_tuning partition{128, {4, 2, 3}, {2, 3, 2}, 96, 2, 2, 160,
                                                             20,  10,        2,         3,  2, 7, 40};
    static constexpr strata::join_merge_tuning merge{128, 2, 2, 2, 1};
  };
  using MaxPolicy = Policy99990;
};

template <class Key, class Hub>
void check_order(JoinOrder order, const side_ids& build, const side_ids& probe, Key (*make_key)(std::uint32_t),
                 JoinStrategy strategy, bool is_sorted, bool nulls_equal, double matching) {
  using Sink = strata::detail::join_pairs_sink<std::int32_t>;
  const device_vector<Key> build_keys(keys_of<Key>(build, make_key));
  const device_vector<Key> probe_keys(keys_of<Key>(probe, make_key));
  const device_vector<std::uint32_t> build_valid(build.valid_words());
  const device_vector<std::uint32_t> probe_valid(probe.valid_words());
  for (const JoinKind kind : every_kind) {
    SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind));
    row_pairs expected = build.null.empty() && probe.null.empty() ? sort_merge_join(kind, build, probe)
                                                                  : nested_loop_join(kind, build, probe, nulls_equal);
    const auto sort_any = [&](row_pairs& rows) {
      if (order == JoinOrder::any) std::sort(rows.begin(), rows.end());
    };
    sort_any(expected);
    join_settings<> options;
    options.nulls_equal = nulls_equal;
    options.strategy = strategy;
    options.sorted = is_sorted;
    options.order = order;
    options.matching = matching;
    if (!build.null.empty()) options.build_valid = build_valid.data();
    if (!probe.null.empty()) options.probe_valid = probe_valid.data();
    const auto size = static_cast<std::int64_t>(expected.size());
    device_vector<std::int32_t> build_out(expected.size());
    device_vector<std::int32_t> probe_out(expected.size());
    device_vector<std::int64_t> total(1);
    const Sink sink{strata::detail::has_pairs(kind) ? build_out.data() : nullptr, probe_out.data()};
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return options.with_order([&](const auto& join_options) {
        constexpr bool is_ordered = std::decay_t<decltype(join_options)>::order == JoinOrder::probe;
        using Dispatch = strata::detail::DispatchHashJoin<
            std::int32_t, const Key*, Sink, strata::JoinHash, strata::Equality, Hub, unsigned,
            every_method<is_ordered, !is_ordered               ? strata::detail::needs_bloom_filter
                                     : std::is_integral_v<Key> ? strata::detail::needs_row_lists
                                                               : 0u>>;
        return Dispatch::Dispatch(
            storage, bytes, kind,
            strata::detail::untyped(options.build_side(build_keys.data(), static_cast<std::int64_t>(build.ids.size()))),
            strata::detail::untyped(options.probe_side(probe_keys.data(), static_cast<std::int64_t>(probe.ids.size()))),
            sink, total.data(), size, join_options, nullptr);
      });
    }));
    ASSERT_EQ(size, total.to_host()[0]);
    const std::vector<std::int32_t> b = build_out.to_host();
    const std::vector<std::int32_t> p = probe_out.to_host();
    row_pairs out;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      out.emplace_back(strata::detail::has_pairs(kind) ? b[i] : -1, p[i]);
    }
    sort_any(out);
    EXPECT_TRUE(out == expected);
  }
}

template <class Key, class Hub = small_hub>
void check_passes(const side_ids& build, const side_ids& probe, Key (*make_key)(std::uint32_t),
                  JoinStrategy strategy = JoinStrategy::radix_single, bool is_sorted = false) {
  for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
    for (const bool nulls_equal : {true, false}) {
      if (!nulls_equal && build.null.empty() && probe.null.empty()) continue;
      SCOPED_TRACE(testing::Message() << "order " << static_cast<int>(order) << ", nulls_equal " << nulls_equal);
      for (const double matching : {1.0, 0.0}) {
        // There is a filter only in any order, and with at least 8 probe rows for each build row.
        if (matching == 0 && (order == JoinOrder::probe || probe.ids.size() < 8 * build.ids.size())) continue;
        SCOPED_TRACE(matching);
        check_order<Key, Hub>(order, build, probe, make_key, strategy, is_sorted, nulls_equal, matching);
      }
    }
  }
}

std::uint32_t some_rows() { return if_small<std::uint32_t>(1500, 9000); }

TEST(device_hash_join_passes, plan_has_two_of_them) {
  constexpr auto tuning = small_rows::partition;
  const auto plan = strata::detail::plan_join_partitions(1500, 1500, tuning, false, false);
  EXPECT_EQ(7, plan.bits);
  EXPECT_EQ(3, plan.bits_of_pass(false));
  EXPECT_EQ(4, plan.bits_of_pass(true));
  EXPECT_TRUE(plan.is_possible);
  EXPECT_FALSE(strata::detail::plan_join_partitions(160, 160, tuning, false, false).has_two_passes());
  EXPECT_TRUE(strata::detail::plan_join_partitions(160, 160, tuning, false, true).has_two_passes());
}

TEST(device_hash_join_passes, unique_keys) {
  const std::uint32_t rows = some_rows();
  check_passes<std::uint32_t>({shuffled_ids(rows, 10), {}}, {random_ids(2 * rows, 2 * rows), {}}, as_u32);
}

// 70 rows have 4 partitions, and 150 rows have 8. 300 rows also have 8, with twice as many rows: 16 partitions would
// take a second pass.
TEST(device_hash_join_passes, only_one_for_few_partitions) {
  for (const std::uint32_t rows : {70u, 150u, 300u}) {
    check_passes<std::uint32_t>({random_ids(rows, rows), {}}, {random_ids(700, 2 * rows), {}}, as_u32);
    check_passes<std::int64_t>({random_ids(rows / 2, rows), random_nulls(rows / 2, 3)},
                               {random_ids(700, 2 * rows), random_nulls(700, 9)}, as_i64);
  }
}

TEST(device_hash_join_passes, few_duplicates_of_wide_keys) {
  const std::uint32_t rows = some_rows();
  check_passes<std::int64_t>({random_ids(rows, rows * 4 / 5), {}}, {random_ids(rows * 3 / 2, rows), {}}, as_i64);
}

TEST(device_hash_join_passes, long_keys) {
  const std::uint32_t rows = some_rows();
  check_passes<bytes16>({random_ids(rows, rows / 2), {}}, {random_ids(rows / 2, rows), {}}, as_bytes16);
}

#if !STRATA_TEST_FEW_TYPES
TEST(device_hash_join_passes, keys_of_1_byte) {
  constexpr auto as_u8 = [](std::uint32_t id) { return static_cast<std::uint8_t>(id); };
  check_passes<std::uint8_t>({random_ids(400, 150), {}}, {random_ids(300, 256), {}}, as_u8);
}
#endif

TEST(device_hash_join_passes, rows_without_a_key) {
  check_passes<std::uint32_t>({random_ids(900, 500), random_nulls(900, 20)},
                              {random_ids(700, 600), random_nulls(700, 15)}, as_u32);
  check_passes<std::int64_t>({random_ids(500, 500), random_nulls(500, 50)},
                             {random_ids(900, 600), random_nulls(900, 5)}, as_i64);
}

// The table in global memory joins a partition that overflows. Nothing is written behind the last record.
TEST(device_hash_join_passes, rows_without_a_key_beside_overflowing_partitions) {
  side_ids build{random_ids(700, 500), random_nulls(700, 20)};
  const side_ids probe{random_ids(500, 600), random_nulls(500, 9)};
  std::fill(build.ids.begin() + 300, build.ids.end(), 7u);
  check_passes<std::uint32_t>(build, probe, as_u32);
  check_passes<std::uint32_t>(build, {probe.ids, {}}, as_u32);
  check_passes<std::int64_t>({build.ids, {}}, probe, as_i64);
}

// There are 8 or more probe rows for each build row, and few of them have a partner.
TEST(device_hash_join_passes, probe_rows_that_a_filter_drops) {
  for (const std::uint32_t rows : if_small<std::vector<std::uint32_t>>({31, 180}, {1, 31, 180})) {
    SCOPED_TRACE(rows);
    const std::uint32_t probe_rows = 8 * rows + 7;
    const side_ids build{random_ids(rows, rows), {}};
    const side_ids probe{random_ids(probe_rows, 40 * rows), {}};
    const side_ids build_nulls{build.ids, random_nulls(rows, 3)};
    const side_ids probe_nulls{probe.ids, random_nulls(probe_rows, 9)};
    check_passes<std::uint32_t>(build, probe, as_u32);
    check_passes<std::int64_t>(build_nulls, probe, as_i64, JoinStrategy::radix_multi);
    check_passes<std::uint32_t>(build, probe_nulls, as_u32, JoinStrategy::radix_multi);
    check_passes<bytes16>(build_nulls, probe_nulls, as_bytes16);
  }
}

// The frequent key is in a partition that overflows.
TEST(device_hash_join_passes, probe_rows_that_a_filter_drops_beside_an_overflowing_partition) {
  side_ids build{random_ids(200, 200), {}};
  std::fill(build.ids.begin() + 60, build.ids.end(), 7u);
  const side_ids probe{random_ids(1700, 5000), {}};
  check_passes<std::uint32_t>(build, probe, as_u32);
  check_passes<std::int64_t>(build, {probe.ids, random_nulls(1700, 9)}, as_i64);
}

// Some partitions of the first pass have many tiles, beside empty ones.
TEST(device_hash_join_passes, frequent_keys_among_rare_ones) {
  side_ids build{random_ids(some_rows(), 3000), {}};
  side_ids probe{random_ids(some_rows(), 4000), {}};
  std::fill(build.ids.begin() + 1000, build.ids.end(), 5000u);
  std::fill(probe.ids.begin() + 700, probe.ids.end(), 7u);
  probe.ids[1234] = 5000;
  check_passes<std::uint32_t>(build, probe, as_u32);
}

TEST(device_hash_join_passes, asked_for_with_few_rows) {
  for (const std::uint32_t rows : {0u, 1u, 2u, 33u}) {
    check_passes<std::uint32_t>({random_ids(rows, 20), {}}, {random_ids(rows + 3, 20), {}}, as_u32,
                                JoinStrategy::radix_multi);
  }
}

// Buckets mix rows of several keys, which have many partners each.
TEST(device_hash_join_passes, several_partners_of_each_row) {
  const std::uint32_t rows = some_rows();
  for (const std::uint32_t each : {2u, 5u, 12u}) {
    check_passes<std::uint32_t>({random_ids(rows, rows / each), {}}, {random_ids(rows / 4, rows / each * 3 / 2), {}},
                                as_u32);
  }
}

// Host code and kernels take blocks and tiles from the same policy, even if the chain has a newer one.
TEST(device_hash_join_passes, policies_of_a_chain) {
  const std::uint32_t rows = some_rows() / 2;
  const side_ids build{random_ids(rows, rows / 4), {}};
  const side_ids probe{random_ids(2 * rows, rows / 2), {}};
  for (const JoinStrategy strategy : {JoinStrategy::simple, JoinStrategy::radix_single, JoinStrategy::radix_multi}) {
    check_passes<std::uint32_t, chained_hub>(build, probe, as_u32, strategy);
#if !STRATA_TEST_FEW_TYPES
    check_passes<std::int64_t, chained_hub>(build, probe, as_i64, strategy);
#endif
  }
  // Several rows without a key, which the table in global memory joins.
  check_passes<std::uint32_t, chained_hub>({random_ids(rows, rows), random_nulls(rows, 3)},
                                           {random_ids(rows, rows), random_nulls(rows, 9)}, as_u32);
  side_ids first = build;
  side_ids second = probe;
  std::sort(first.ids.begin(), first.ids.end());
  std::sort(second.ids.begin(), second.ids.end());
  const auto itself = [](std::uint32_t id) { return id; };
  check_passes<std::uint32_t, chained_hub>(first, second, itself, JoinStrategy::automatic, true);
  // The table in global memory has lists of the partners in a partition that overflows.
  side_ids frequent = build;
  std::fill(frequent.ids.begin() + rows / 2, frequent.ids.end(), 7u);
  check_passes<std::uint32_t, chained_hub>(frequent, {random_ids(200, rows / 2), {}}, as_u32);
  // A filter drops probe rows.
  check_passes<std::uint32_t, chained_hub>({random_ids(180, 180), {}}, {random_ids(1447, 7200), {}}, as_u32);
}

TEST(device_hash_join_passes, policies_of_a_chain_count_and_probe_a_table) {
  const auto rows = static_cast<std::int32_t>(some_rows() / 2);
  const side_ids build{random_ids(some_rows() / 2, some_rows() / 8), {}};
  const side_ids probe{random_ids(some_rows(), some_rows() / 4), {}};
  const device_vector<std::uint32_t> build_keys(keys_of<std::uint32_t>(build, as_u32));
  const device_vector<std::uint32_t> probe_keys(keys_of<std::uint32_t>(probe, as_u32));
  const auto build_side = strata::join_side(build_keys.data(), rows);
  const auto probe_side = strata::join_side(probe_keys.data(), static_cast<std::int32_t>(some_rows()));
  const row_pairs expected = sort_merge_join(JoinKind::inner, build, probe);
  const auto size = static_cast<std::int64_t>(expected.size());
  device_vector<std::int64_t> total(1);
  for (const JoinStrategy strategy : {JoinStrategy::simple, JoinStrategy::radix_single, JoinStrategy::radix_multi}) {
    SCOPED_TRACE(static_cast<int>(strategy));
    strata::JoinOptions<> options;
    options.strategy = strategy;
    total.poison();
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return strata::TunedDeviceHashJoin<chained_hub>::Inner(storage, bytes, build_side, probe_side,
                                                             strata::join_count(), total.data(), options);
    }));
    EXPECT_EQ(size, total.to_host()[0]);
  }

  using Table = strata::TunedJoinTable<chained_hub, std::uint32_t>;
  std::size_t bytes_of_table = 0;
  ASSERT_CUDA_SUCCESS(Table::MemoryBytes(build_side, bytes_of_table));
  const scratch memory(bytes_of_table);
  Table table(memory.data(), memory.bytes(), build_side);
  ASSERT_CUDA_SUCCESS(table.Build(rows));
  device_vector<std::int32_t> build_out(expected.size()), probe_out(expected.size());
  total.poison();
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return table.Inner(storage, bytes, probe_side, strata::join_pairs(build_out.data(), probe_out.data(), size),
                       total.data());
  }));
  ASSERT_EQ(size, total.to_host()[0]);
  const std::vector<std::int32_t> b = build_out.to_host(), p = probe_out.to_host();
  row_pairs out;
  for (std::size_t i = 0; i < expected.size(); ++i) out.emplace_back(b[i], p[i]);
  std::sort(out.begin(), out.end());
  row_pairs in_order = expected;
  std::sort(in_order.begin(), in_order.end());
  EXPECT_TRUE(out == in_order);
}

// Storage for the order of the probe rows must not depend on the tiles, because the policies of a chain may have
// different ones. 100 build rows take one pass.
TEST(device_hash_join_passes, probe_order_is_restored_whatever_the_tiles) {
  const side_ids build{shuffled_ids(100, 10), {}};
  const side_ids probe{random_ids(20 * some_rows(), 200), {}};
  check_passes<std::uint32_t>(build, probe, as_u32);
  check_passes<std::uint32_t, chained_hub>(build, probe, as_u32);
}

}  // namespace
