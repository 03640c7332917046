// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceHashJoin: all kinds against a nested loop and a sort-merge join.
#include "device/device_hash_join_support.cuh"

#include <cmath>

namespace {

using namespace device_join_test;

TEST(device_hash_join, few_rows_match_a_nested_loop) {
  check_few_rows<std::uint32_t, std::int32_t>(as_u32, if_small<std::size_t>(4, 1));
}

TEST(device_hash_join, rows_of_64_bits_match_a_nested_loop) {
  check_few_rows<std::int64_t, std::uint64_t>(as_i64, if_small<std::size_t>(7, 3));
}

void check_many_rows(const side_ids& build, const side_ids& probe) {
  device_joiner<std::uint32_t, std::int32_t> join(build, probe, as_u32);
  for (const JoinKind kind : every_kind) {
    const row_pairs expected = sort_merge_join(kind, build, probe);
    for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", order " << static_cast<int>(order));
      join_settings<> options;
      options.order = order;
      join.check(kind, options, expected, kind == JoinKind::full);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(device_hash_join, few_duplicates_among_many_rows) {
  const std::uint32_t rows = if_small<std::uint32_t>(3000, STRATA_HOST_SIMT ? 20000 : 600000);
  check_many_rows({random_ids(rows, rows * 4 / 5), {}}, {random_ids(rows * 3 / 2, rows), {}});
}

TEST(device_hash_join, frequent_keys_on_both_sides) {
  // Numbers of which most are low.
  const auto skewed = [](std::size_t rows) {
    side_ids side{std::vector<std::uint32_t>(rows), {}};
    for (auto& id : side.ids) {
      id = static_cast<std::uint32_t>(100 * std::pow(1e-4 + random_below(10000) / 10000.0, -1.0));
    }
    return side;
  };
  check_many_rows(skewed(if_small<std::size_t>(2000, STRATA_HOST_SIMT ? 8000 : 40000)),
                  skewed(if_small<std::size_t>(700, STRATA_HOST_SIMT ? 2000 : 15000)));
}

TEST(device_hash_join, all_keys_are_equal) {
  const std::size_t rows = if_small<std::size_t>(150, STRATA_HOST_SIMT ? 700 : 2000);
  check_many_rows({random_ids(rows, 1), {}}, {random_ids(rows + 20, 1), {}});
}

// One probe row with nearly all build rows for partners: it becomes many units of work.
TEST(device_hash_join, one_probe_row_with_most_build_rows_for_partners) {
  const std::size_t rows = if_small<std::size_t>(9000, STRATA_HOST_SIMT ? 60000 : 25000000);
  side_ids build{random_ids(rows, 1000), {}};
  std::fill(build.ids.begin() + 1000, build.ids.end(), 5000u);
  side_ids probe{random_ids(1500, 2000), {}};
  probe.ids[1234] = 5000;
  device_joiner<std::uint32_t, std::int32_t> join(build, probe, as_u32);
  const row_pairs expected = sort_merge_join(JoinKind::inner, build, probe);
  for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
    join_settings<> options;
    options.order = order;
    join.check(JoinKind::inner, options, expected);
  }
}

// More tiles than a block scans at a time.
TEST(device_hash_join, many_tiles_in_the_order_of_the_probe_rows) {
  const std::size_t rows = if_small<std::size_t>(20000, 700000);
  const side_ids build{shuffled_ids(100, 0), {}};
  const side_ids probe{random_ids(rows, 3000), {}};
  device_joiner<std::uint32_t, std::int32_t> join(build, probe, as_u32);
  join_settings<> options;
  options.order = JoinOrder::probe;
  for (const JoinKind kind : {JoinKind::semi, JoinKind::inner}) {
    join.check(kind, options, sort_merge_join(kind, build, probe), false);
  }
}

TEST(device_hash_join, broken_promise_of_unique_rows_gives_one_partner) {
  const device_vector<std::uint32_t> build(std::vector<std::uint32_t>{5, 6, 5, 7});
  const device_vector<std::uint32_t> probe(std::vector<std::uint32_t>{7, 5});
  for (const JoinStrategy strategy : {JoinStrategy::simple, JoinStrategy::radix_single}) {
    join_settings<> options;
    options.build_unique = true;
    options.strategy = strategy;
    device_vector<std::int32_t> build_out(3);
    device_vector<std::int32_t> probe_out(3);
    device_vector<std::int64_t> total(1);
    EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return DeviceHashJoin::Inner(storage, bytes, options.build_side(build.data(), 4),
                                   options.probe_side(probe.data(), 2),
                                   strata::join_pairs(build_out.data(), probe_out.data(), 3), total.data(), options);
    }));
    EXPECT_EQ(2, total.to_host()[0]);
    const std::vector<std::int32_t> b = build_out.to_host();
    const std::vector<std::int32_t> p = probe_out.to_host();
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(p[i] == 0 ? b[i] == 3 : (b[i] == 0 || b[i] == 2)) << b[i] << ", " << p[i];
    }
    EXPECT_NE(p[0], p[1]);
  }
}

// More rows of one key than the capacity of a table in shared memory.
TEST(device_hash_join, broken_promise_of_many_rows_gives_one_partner) {
  const device_vector<std::uint32_t> build(std::vector<std::uint32_t>(5000, 77));
  const device_vector<std::uint32_t> probe(std::vector<std::uint32_t>{1, 77, 2});
  join_settings<> options;
  options.build_unique = true;
  options.strategy = JoinStrategy::radix_single;
  device_vector<std::int32_t> build_out(2);
  device_vector<std::int32_t> probe_out(2);
  device_vector<std::int64_t> total(1);
  EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceHashJoin::Inner(storage, bytes, options.build_side(build.data(), 5000),
                                 options.probe_side(probe.data(), 3),
                                 strata::join_pairs(build_out.data(), probe_out.data(), 2), total.data(), options);
  }));
  EXPECT_EQ(1, total.to_host()[0]);
  EXPECT_EQ(1, probe_out.to_host()[0]);
}

TEST(device_hash_join, total_beyond_32_bits_is_counted) {
  const std::size_t rows = if_small<std::size_t>(70000, 70000);
  const device_vector<std::uint32_t> keys(std::vector<std::uint32_t>(rows, 9u));
  device_vector<std::int64_t> total(1);
  for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
    device_vector<std::int32_t> build_out(5000);
    device_vector<std::int32_t> probe_out(5000);
    join_settings<> options;
    options.order = order;
    EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return DeviceHashJoin::Full(storage, bytes, options.build_side(keys.data(), 70000),
                                  options.probe_side(keys.data(), 70000),
                                  strata::join_pairs(build_out.data(), probe_out.data(), 5000), total.data(), options);
    }));
    EXPECT_EQ(std::int64_t{70000} * 70000, total.to_host()[0]);
  }
  EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceHashJoin::Left(storage, bytes, strata::join_side(keys.data(), 70000),
                                strata::join_side(keys.data(), 70000), strata::join_count(), total.data());
  }));
  EXPECT_EQ(std::int64_t{70000} * 70000, total.to_host()[0]);
}

}  // namespace
