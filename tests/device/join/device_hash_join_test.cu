// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares all kinds of DeviceHashJoin with a nested loop and a sort-merge join.
#include "device/join/device_hash_join_support.cuh"

#include <cmath>

namespace {

using namespace device_join_test;

TEST(device_hash_join, few_rows_match_a_nested_loop) {
  check_few_rows<std::uint32_t, std::int32_t>(as_u32, if_small<std::size_t>(STRATA_HOST_SIMT ? 4 : 23, 1));
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
  // Most numbers are low, so low numbers are frequent keys.
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

// A probe row that has nearly all build rows for partners becomes many work items.
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

// Each method joins in any order, and then a selection restores the order of the probe rows. The last tile of the
// selection is short.
TEST(device_hash_join, order_of_the_probe_rows_is_restored) {
  const std::uint32_t rows = if_small<std::uint32_t>(3000, STRATA_HOST_SIMT ? 20000 : 300000);
  // A nested loop finds the expected rows if there are rows without a key, so these sides are small.
  const std::uint32_t few = 2000;
  const side_ids sides[][2] = {
      {{shuffled_ids(rows, 10), {}}, {random_ids(2 * rows + 77, 2 * rows), {}}},
      {{shuffled_ids(few, 10), random_nulls(few, 20)}, {random_ids(few + 5, few), random_nulls(few + 5, 9)}},
      {{{}, {}}, {random_ids(100, 9), {}}},
      {{shuffled_ids(50, 0), {}}, {{}, {}}}};
  for (const auto& side : sides) {
    device_joiner<std::uint32_t, std::int32_t> join(side[0], side[1], as_u32);
    for (const JoinKind kind : {JoinKind::inner, JoinKind::left, JoinKind::semi, JoinKind::anti}) {
      const bool has_nulls = !side[0].null.empty();
      const row_pairs expected =
          has_nulls ? nested_loop_join(kind, side[0], side[1], false) : sort_merge_join(kind, side[0], side[1]);
      for (const JoinStrategy strategy :
           {JoinStrategy::automatic, JoinStrategy::radix_single, JoinStrategy::radix_multi, JoinStrategy::simple}) {
        SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", strategy "
                                        << static_cast<int>(strategy) << ", " << side[0].ids.size() << " build rows");
        join_settings<> options;
        options.order = JoinOrder::probe;
        options.build_unique = true;
        options.strategy = strategy;
        join.check(kind, options, expected, strategy == JoinStrategy::automatic);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// The columns have row numbers. So many columns are gathered in the order of the probe rows.
TEST(device_hash_join, many_columns_of_unique_rows) {
  const std::uint32_t rows = if_small<std::uint32_t>(1500, STRATA_HOST_SIMT ? 20000 : 200000);
  const side_ids build{shuffled_ids(rows, 10), {}};
  const side_ids probe{random_ids(2 * rows, 2 * rows), {}};
  const device_vector<std::uint32_t> build_keys(build.ids), probe_keys(probe.ids);
  const row_pairs expected = sort_merge_join(JoinKind::left, build, probe);
  std::vector<std::int32_t> numbers(2 * rows);
  std::iota(numbers.begin(), numbers.end(), 0);
  const device_vector<std::int32_t> in(numbers);
  for (const JoinStrategy strategy : {JoinStrategy::automatic, JoinStrategy::radix_single, JoinStrategy::radix_multi}) {
    strata::JoinOptions<> options;
    options.strategy = strategy;
    device_vector<std::int32_t> out[4] = {device_vector<std::int32_t>(2 * rows), device_vector<std::int32_t>(2 * rows),
                                          device_vector<std::int32_t>(2 * rows), device_vector<std::int32_t>(2 * rows)};
    device_vector<std::int64_t> total(1);
    const auto columns = strata::join_columns<std::int32_t>(
        2 * rows, strata::build_column(in.data(), out[0].data(), -1),
        strata::probe_column(in.data(), out[1].data(), -1), strata::build_column(in.data(), out[2].data(), -2),
        strata::probe_column(in.data(), out[3].data(), -1));
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return DeviceHashJoin::Left(storage, bytes, strata::join_side(build_keys.data(), rows).unique(),
                                  strata::join_side(probe_keys.data(), 2 * rows), columns, total.data(), options);
    }));
    ASSERT_EQ(static_cast<std::int64_t>(2 * rows), total.to_host()[0]);
    const std::vector<std::int32_t> found[4] = {out[0].to_host(), out[1].to_host(), out[2].to_host(), out[3].to_host()};
    std::vector<bool> is_there(2 * rows);
    for (std::size_t i = 0; i < 2 * rows; ++i) {
      const auto row = static_cast<std::size_t>(found[1][i]);
      ASSERT_LT(row, expected.size());
      ASSERT_FALSE(is_there[row]);
      is_there[row] = true;
      ASSERT_EQ(expected[row].first, found[0][i]);
      ASSERT_EQ(found[1][i], found[3][i]);
      ASSERT_EQ(found[0][i] == -1 ? -2 : found[0][i], found[2][i]);
    }
  }
}

TEST(device_hash_join, broken_promise_of_unique_rows_gives_one_partner) {
  const device_vector<std::uint32_t> build(std::vector<std::uint32_t>{5, 6, 5, 7});
  const device_vector<std::uint32_t> probe(std::vector<std::uint32_t>{7, 5});
  for (int round = 0; round < 4; ++round) {
    join_settings<> options;
    options.build_unique = true;
    options.strategy = round % 2 == 0 ? JoinStrategy::simple : JoinStrategy::radix_single;
    options.order = round < 2 ? JoinOrder::any : JoinOrder::probe;
    device_vector<std::int32_t> build_out(3);
    device_vector<std::int32_t> probe_out(3);
    device_vector<std::int64_t> total(1);
    EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return join_kinds::pairs_of(JoinKind::inner, storage, bytes, build.data(), 4, probe.data(), 2, build_out.data(),
                                  probe_out.data(), total.data(), 3, options);
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

// There are more rows of one key than a table in shared memory holds.
TEST(device_hash_join, broken_promise_of_many_rows_gives_one_partner) {
  const device_vector<std::uint32_t> build(std::vector<std::uint32_t>(5000, 77));
  const device_vector<std::uint32_t> probe(std::vector<std::uint32_t>{1, 77, 2});
  for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
    join_settings<> options;
    options.build_unique = true;
    options.strategy = JoinStrategy::radix_single;
    options.order = order;
    device_vector<std::int32_t> build_out(2);
    device_vector<std::int32_t> probe_out(2);
    device_vector<std::int64_t> total(1);
    EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return join_kinds::pairs_of(JoinKind::inner, storage, bytes, build.data(), 5000, probe.data(), 3,
                                  build_out.data(), probe_out.data(), total.data(), 2, options);
    }));
    EXPECT_EQ(1, total.to_host()[0]);
    EXPECT_EQ(1, probe_out.to_host()[0]);
    EXPECT_GE(build_out.to_host()[0], 0);
    EXPECT_LT(build_out.to_host()[0], 5000);
  }
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
      return join_kinds::pairs_of(JoinKind::full, storage, bytes, keys.data(), 70000, keys.data(), 70000,
                                  build_out.data(), probe_out.data(), total.data(), 5000, options);
    }));
    EXPECT_EQ(std::int64_t{70000} * 70000, total.to_host()[0]);
    total.poison();
  }
  EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceHashJoin::Left(storage, bytes, strata::join_side(keys.data(), 70000),
                                strata::join_side(keys.data(), 70000), strata::join_count(), total.data());
  }));
  EXPECT_EQ(std::int64_t{70000} * 70000, total.to_host()[0]);
}

}  // namespace
