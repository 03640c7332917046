// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define STRATA_DEBUG_LOG 1
#include <strata/device/join/common/method.hpp>
#include <strata/device/join/common/strategy.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace {

using strata::choose_join_strategy;
using strata::cuda_join_policy;
using strata::JoinStrategy;
using strata::JoinThresholds;
using strata::metal_join_policy;

// Bytes of shared memory that a block may have.
constexpr std::size_t h200_shared = 227u << 10;
constexpr std::size_t metal_shared = 32u << 10;

constexpr std::uint64_t huge = ~std::uint64_t{0};
constexpr std::uint64_t million = 1000000;

constexpr JoinStrategy on_h200(std::uint64_t build_rows, std::uint64_t probe_rows, std::size_t key_bytes = 4) {
  return choose_join_strategy(build_rows, probe_rows, key_bytes, h200_shared);
}
constexpr JoinStrategy on_metal(std::uint64_t build_rows, std::uint64_t probe_rows, std::size_t key_bytes = 4) {
  return choose_join_strategy<metal_join_policy>(build_rows, probe_rows, key_bytes, metal_shared);
}

// The choice can be made in a constant expression.
static_assert(on_h200(million, 10 * million) == JoinStrategy::radix_single, "");

TEST(JoinStrategy, measured_cases_on_an_h200_get_their_fastest_plan) {
  EXPECT_EQ(on_h200(10000, 10 * million), JoinStrategy::simple);
  EXPECT_EQ(on_h200(million, 10 * million), JoinStrategy::radix_single);
  EXPECT_EQ(on_h200(1 << 20, 1 << 20), JoinStrategy::radix_single);
  EXPECT_EQ(on_h200(1 << 22, 40 * million), JoinStrategy::radix_single);
  // A table in global memory is not chosen, not even if it stays in L2.
  constexpr std::uint64_t rows_in_l2 = (60u << 20) / 2 / 16;
  EXPECT_EQ(on_h200(rows_in_l2, 4 * rows_in_l2), JoinStrategy::radix_single);
  EXPECT_EQ(on_h200(1 << 24, 1 << 24), JoinStrategy::radix_single);
  EXPECT_EQ(on_h200(1 << 24, 1 << 27), JoinStrategy::radix_single);
  EXPECT_EQ(on_h200(1 << 27, 1 << 27), JoinStrategy::radix_multi);
}

TEST(JoinStrategy, build_side_in_shared_memory_is_simple_whatever_the_probe_side) {
  constexpr std::uint64_t narrow = h200_shared / 14;
  constexpr std::uint64_t wide = h200_shared / 28;
  for (const std::uint64_t probe_rows : {std::uint64_t{1}, million, huge}) {
    EXPECT_EQ(on_h200(1, probe_rows), JoinStrategy::simple);
    EXPECT_EQ(on_h200(narrow, probe_rows, 4), JoinStrategy::simple);
    EXPECT_EQ(on_h200(wide, probe_rows, 8), JoinStrategy::simple);
  }
  EXPECT_EQ(on_h200(narrow + 1, narrow, 4), JoinStrategy::radix_single);
  EXPECT_EQ(on_h200(wide + 1, wide, 8), JoinStrategy::radix_single);
  EXPECT_EQ(on_h200(wide + 1, wide, 16), JoinStrategy::radix_single);
  EXPECT_EQ(on_h200(wide + 1, wide, 4), JoinStrategy::simple);
}

TEST(JoinStrategy, second_pass_begins_where_one_has_too_many_partitions) {
  constexpr std::uint64_t narrow = h200_shared / 14 << 11;
  constexpr std::uint64_t wide = h200_shared / 28 << 11;
  EXPECT_EQ(on_h200(narrow, narrow, 4), JoinStrategy::radix_single);
  EXPECT_EQ(on_h200(narrow + 1, narrow, 4), JoinStrategy::radix_multi);
  EXPECT_EQ(on_h200(wide, wide, 8), JoinStrategy::radix_single);
  EXPECT_EQ(on_h200(wide + 1, wide, 8), JoinStrategy::radix_multi);
  EXPECT_EQ(on_h200(huge, huge), JoinStrategy::radix_multi);
}

TEST(JoinStrategy, nothing_to_join_or_no_device_is_left_to_the_host) {
  EXPECT_EQ(on_h200(0, million), JoinStrategy::cpu);
  EXPECT_EQ(on_h200(million, 0), JoinStrategy::cpu);
  EXPECT_EQ(choose_join_strategy(million, million, 4, 0), JoinStrategy::cpu);
  EXPECT_EQ(choose_join_strategy<metal_join_policy>(million, million, 4, 0), JoinStrategy::cpu);
}

TEST(JoinStrategy, metal_goes_by_the_rows_of_both_sides) {
  constexpr std::uint64_t few = 100000;
  constexpr std::uint64_t many = 50 * million;
  for (const std::size_t key_bytes : {std::size_t{4}, std::size_t{8}}) {
    EXPECT_EQ(on_metal(1, few - 2, key_bytes), JoinStrategy::cpu);
    EXPECT_EQ(on_metal(few / 2, few / 2 - 1, key_bytes), JoinStrategy::cpu);
    EXPECT_EQ(on_metal(1, few - 1, key_bytes), JoinStrategy::simple);
    EXPECT_EQ(on_metal(few - 1, 1, key_bytes), JoinStrategy::simple);
    EXPECT_EQ(on_metal(million / 2, million / 2 - 1, key_bytes), JoinStrategy::simple);
    EXPECT_EQ(on_metal(million / 2, million / 2, key_bytes), JoinStrategy::radix_single);
    EXPECT_EQ(on_metal(million, 10 * million, key_bytes), JoinStrategy::radix_single);
    EXPECT_EQ(on_metal(many - 2, 1, key_bytes), JoinStrategy::radix_single);
    EXPECT_EQ(on_metal(many - 1, 1, key_bytes), JoinStrategy::radix_multi);
    EXPECT_EQ(on_metal(1, huge, key_bytes), JoinStrategy::radix_multi);
    EXPECT_EQ(on_metal(huge, huge, key_bytes), JoinStrategy::radix_multi);
  }
  EXPECT_EQ(on_metal(0, many), JoinStrategy::cpu);
}

struct everything_in_one_pass {
  static constexpr strata::JoinRowThresholds thresholds{0, 0, huge};
};

TEST(JoinStrategy, policy_of_the_user_replaces_thresholds_of_rows) {
  EXPECT_EQ(choose_join_strategy<everything_in_one_pass>(1, 1, 4, metal_shared), JoinStrategy::radix_single);
  EXPECT_EQ(choose_join_strategy<everything_in_one_pass>(1, 1, 4, 0), JoinStrategy::cpu);
}

TEST(JoinStrategy, more_build_rows_never_need_fewer_passes) {
  for (const std::size_t key_bytes : {1u, 4u, 8u, 16u}) {
    for (const std::size_t shared_bytes : {std::size_t{1}, metal_shared, h200_shared}) {
      auto before = JoinStrategy::simple;
      for (std::uint64_t rows = 1; rows < huge / 3; rows += rows / 2 + 1) {
        const auto now = choose_join_strategy(rows, rows, key_bytes, shared_bytes);
        EXPECT_GE(static_cast<int>(now), static_cast<int>(before)) << rows << " rows";
        before = now;
      }
      EXPECT_EQ(before, JoinStrategy::radix_multi);
    }
  }
}

struct one_partition_bit {
  // With 100 bytes of shared memory, a table holds ten rows. One pass makes two partitions.
  static constexpr JoinThresholds thresholds{10, 20, 1};
};
TEST(JoinStrategy, policy_of_the_user_replaces_all_thresholds) {
  const auto choose = [](std::uint64_t build_rows, std::uint64_t probe_rows, std::size_t key_bytes) {
    return choose_join_strategy<one_partition_bit>(build_rows, probe_rows, key_bytes, 100);
  };
  EXPECT_EQ(choose(2, 3, 4), JoinStrategy::simple);
  EXPECT_EQ(choose(10, 100, 4), JoinStrategy::simple);
  EXPECT_EQ(choose(11, 100, 4), JoinStrategy::radix_single);
  EXPECT_EQ(choose(6, 100, 5), JoinStrategy::radix_single);
  EXPECT_EQ(choose(20, 100, 4), JoinStrategy::radix_single);
  EXPECT_EQ(choose(21, 100, 4), JoinStrategy::radix_multi);
}

using strata::JoinKind;
using strata::detail::choose_join;
using strata::detail::join_description;
using strata::detail::join_detour;
using strata::detail::join_method;

constexpr join_description plain_join(std::uint64_t build_rows) {
  join_description join;
  join.build_rows = build_rows;
  join.probe_rows = 10 * million;
  join.may_merge = true;
  join.may_address = true;
  join.least_partitioned_rows = 8192;
  join.one_table_rows = 16384;
  join.one_pass_rows = 1 << 24;
  return join;
}
constexpr join_method method_of(const join_description& join) { return choose_join(join).method; }
constexpr join_detour detour_of(const join_description& join) { return choose_join(join).detour; }

TEST(JoinMethod, depends_on_the_number_of_build_rows) {
  static_assert(method_of(plain_join(million)) == join_method::partitions);
  EXPECT_EQ(method_of(plain_join(0)), join_method::global_table);
  EXPECT_EQ(method_of(plain_join(1)), join_method::one_table);
  EXPECT_EQ(method_of(plain_join(16384)), join_method::one_table);
  EXPECT_EQ(method_of(plain_join(16385)), join_method::partitions);
  for (const JoinKind kind : {JoinKind::inner, JoinKind::full}) {
    // One table in shared memory joins neither rows without a key nor build rows without a partner.
    join_description join = plain_join(8191);
    join.kind = kind;
    join.has_nulls = kind == JoinKind::inner;
    EXPECT_EQ(method_of(join), join_method::global_table);
    join.build_rows = 8192;
    EXPECT_EQ(method_of(join), join_method::partitions);
  }
}

TEST(JoinMethod, option_overrides_the_number_of_rows) {
  for (const JoinStrategy strategy : {JoinStrategy::radix_single, JoinStrategy::radix_multi}) {
    join_description join = plain_join(1);
    join.strategy = strategy;
    join.are_sorted = true;
    EXPECT_EQ(method_of(join), join_method::partitions);
  }
  join_description join = plain_join(million);
  join.strategy = JoinStrategy::simple;
  EXPECT_EQ(method_of(join), join_method::global_table);
  join.build_rows = 100;
  EXPECT_EQ(method_of(join), join_method::one_table);
}

TEST(JoinMethod, promises_are_used) {
  join_description join = plain_join(million);
  join.keys_in_range = million;
  EXPECT_EQ(method_of(join), join_method::partitions);
  join.is_build_unique = true;
  EXPECT_EQ(method_of(join), join_method::direct_address);
  for (const JoinKind kind : {JoinKind::full, JoinKind::semi, JoinKind::anti}) {
    join.kind = kind;
    EXPECT_EQ(method_of(join), join_method::partitions);
  }
  join.are_sorted = true;
  EXPECT_EQ(method_of(join), join_method::merge);
  join.has_nulls = true;
  EXPECT_EQ(method_of(join), join_method::partitions);
}

TEST(JoinMethod, order_is_restored_where_a_probe_row_has_at_most_one_result) {
  for (const JoinKind kind : {JoinKind::inner, JoinKind::left, JoinKind::full, JoinKind::semi, JoinKind::anti}) {
    for (const bool is_unique : {false, true}) {
      join_description join = plain_join(million);
      join.kind = kind;
      join.is_ordered = true;
      join.is_build_unique = is_unique;
      const bool is_filter = kind == JoinKind::semi || kind == JoinKind::anti;
      const bool has_one_each = is_filter || (is_unique && kind != JoinKind::full);
      EXPECT_EQ(method_of(join), has_one_each ? join_method::partitions : join_method::global_table);
      join.are_sorted = true;
      EXPECT_EQ(method_of(join), join_method::merge);
    }
  }
}

TEST(JoinMethod, order_is_restored_where_partitions_list_the_rows_of_a_key) {
  for (const JoinKind kind : {JoinKind::inner, JoinKind::left, JoinKind::full}) {
    join_description join = plain_join(8192);
    join.kind = kind;
    join.is_ordered = true;
    join.may_list_rows = true;
    const join_method by_lists = kind == JoinKind::full ? join_method::global_table : join_method::partitions;
    EXPECT_EQ(method_of(join), by_lists);
    join.has_nulls = true;
    EXPECT_EQ(method_of(join), by_lists);
    join.build_rows = 8191;
    EXPECT_EQ(method_of(join), join_method::global_table);
    for (const JoinStrategy strategy : {JoinStrategy::radix_single, JoinStrategy::radix_multi}) {
      join.strategy = strategy;
      EXPECT_EQ(method_of(join), by_lists);
    }
    join.build_rows = million;
    join.strategy = JoinStrategy::simple;
    EXPECT_EQ(method_of(join), join_method::global_table);
  }
}

TEST(JoinMethod, few_matching_rows_of_a_long_probe_side_are_filtered) {
  join_description join = plain_join(million);
  join.may_filter = true;
  const auto is_filtered = [&] { return detour_of(join) == join_detour::bloom_filter; };
  join.probe_rows = 8 * million;
  EXPECT_FALSE(is_filtered());
  join.matching = 0.1;
  EXPECT_TRUE(is_filtered());
  join.matching = 0.11;
  EXPECT_FALSE(is_filtered());
  join.matching = 0;
  EXPECT_TRUE(is_filtered());
  join.may_filter = false;
  EXPECT_FALSE(is_filtered());
  join.may_filter = true;
  join.strategy = JoinStrategy::simple;
  EXPECT_FALSE(is_filtered());
  join.strategy = JoinStrategy::automatic;
  join.probe_rows -= 8;
  EXPECT_FALSE(is_filtered());
  join.build_rows = 20000;
  join.probe_rows = 1u << 22;
  EXPECT_TRUE(is_filtered());
  --join.probe_rows;
  EXPECT_FALSE(is_filtered());
  join.strategy = JoinStrategy::radix_single;
  EXPECT_TRUE(is_filtered());
  for (const JoinKind kind : {JoinKind::left, JoinKind::full, JoinKind::anti}) {
    join.kind = kind;
    EXPECT_FALSE(is_filtered());
  }
  join.kind = JoinKind::semi;
  EXPECT_TRUE(is_filtered());
  // If rows without a key match each other, there is no filter.
  join.nulls_equal = true;
  EXPECT_TRUE(is_filtered());
  join.has_nulls = true;
  EXPECT_FALSE(is_filtered());
  join.nulls_equal = false;
  EXPECT_TRUE(is_filtered());
}

TEST(JoinMethod, narrow_columns_are_partitioned_and_wide_ones_of_many_rows) {
  join_description join = plain_join(million);
  join.may_partition_columns = true;
  join.are_columns_narrow = true;
  join.one_pass_rows = million;
  const auto are_partitioned = [&] {
    const join_detour detour = detour_of(join);
    return detour == join_detour::partitioned_columns || detour == join_detour::sampled_columns;
  };
  EXPECT_TRUE(are_partitioned());
  join.may_partition_columns = false;
  EXPECT_FALSE(are_partitioned());
  join.may_partition_columns = true;
  join.one_pass_rows = million - 1;
  EXPECT_FALSE(are_partitioned());
  join.one_pass_rows = 1u << 22;
  join.build_rows = 16384;
  EXPECT_FALSE(are_partitioned()) << "one table";
  join.build_rows = million;
  join.are_columns_narrow = false;
  EXPECT_FALSE(are_partitioned());
  join.strategy = JoinStrategy::radix_single;
  EXPECT_TRUE(are_partitioned());
  join.strategy = JoinStrategy::radix_multi;
  join.are_columns_narrow = true;
  EXPECT_FALSE(are_partitioned());
  join.strategy = JoinStrategy::automatic;
  join.build_rows = 1u << 22;
  join.are_columns_narrow = false;
  EXPECT_TRUE(are_partitioned());
  join.are_columns_narrow = true;
  join.matching = 0.34;
  EXPECT_TRUE(are_partitioned());
  join.matching = 0.33;
  EXPECT_FALSE(are_partitioned());
  join.build_rows = (1u << 22) - 1;
  join.matching = 0.5;
  EXPECT_TRUE(are_partitioned());
  join.matching = 0.49;
  EXPECT_FALSE(are_partitioned());
  for (const JoinKind kind : {JoinKind::left, JoinKind::full}) {
    join.kind = kind;
    EXPECT_TRUE(are_partitioned());
  }
  join.matching = 1;
  for (const JoinKind kind : {JoinKind::semi, JoinKind::anti}) {
    join.kind = kind;
    EXPECT_FALSE(are_partitioned());
  }
}

TEST(JoinMethod, device_samples_inner_joins_whose_matches_are_unknown) {
  join_description join = plain_join(million);
  join.may_partition_columns = true;
  join.are_columns_narrow = true;
  join.one_pass_rows = million;
  EXPECT_EQ(detour_of(join), join_detour::sampled_columns);
  join.matching = 0.5;
  EXPECT_EQ(detour_of(join), join_detour::partitioned_columns);
  join.matching = 1;
  for (const JoinKind kind : {JoinKind::left, JoinKind::full}) {
    join.kind = kind;
    EXPECT_EQ(detour_of(join), join_detour::partitioned_columns);
  }
}

TEST(JoinMethod, many_columns_are_gathered_in_probe_order) {
  join_description join = plain_join(million);
  join.one_pass_rows = million;
  join.is_build_unique = true;
  EXPECT_EQ(detour_of(join), join_detour::none);
  join.may_restore_order = true;
  EXPECT_EQ(detour_of(join), join_detour::probe_order);
  join.one_pass_rows = million - 1;
  EXPECT_EQ(detour_of(join), join_detour::none);
  join.one_pass_rows = million;
  join.strategy = JoinStrategy::radix_multi;
  EXPECT_EQ(detour_of(join), join_detour::none);
  join.strategy = JoinStrategy::automatic;
  for (const JoinKind kind : {JoinKind::full, JoinKind::semi, JoinKind::anti}) {
    join.kind = kind;
    EXPECT_EQ(detour_of(join), join_detour::none);
  }
  join.kind = JoinKind::left;
  EXPECT_EQ(detour_of(join), join_detour::probe_order);
  join.is_build_unique = false;
  EXPECT_EQ(detour_of(join), join_detour::none);
  join.may_list_rows = true;
  EXPECT_EQ(detour_of(join), join_detour::row_lists);
  join.build_rows = 100;
  EXPECT_EQ(method_of(join), join_method::one_table);
  EXPECT_EQ(detour_of(join), join_detour::none);
}

TEST(JoinMethod, wanted_order_is_restored_unless_one_table_in_global_memory_keeps_it) {
  join_description join = plain_join(100);
  join.is_ordered = true;
  join.is_build_unique = true;
  join.may_restore_order = true;
  EXPECT_EQ(method_of(join), join_method::one_table);
  EXPECT_EQ(detour_of(join), join_detour::probe_order);
  join.is_build_unique = false;
  EXPECT_EQ(method_of(join), join_method::global_table);
  EXPECT_EQ(detour_of(join), join_detour::none);
  join.build_rows = million;
  join.may_list_rows = true;
  EXPECT_EQ(detour_of(join), join_detour::row_lists);
  join.are_sorted = true;
  EXPECT_EQ(method_of(join), join_method::merge);
  EXPECT_EQ(detour_of(join), join_detour::none);
}

TEST(JoinMethod, debug_builds_print_the_choice) {
  join_description join = plain_join(million);
  join.is_ordered = true;
  join.may_list_rows = true;
  testing::internal::CaptureStderr();
  strata::detail::log_join(join, choose_join(join));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "strata: join of 1000000 x 10000000 rows: partitions; detour: probe order restored from lists of rows\n");
  testing::internal::CaptureStderr();
  strata::detail::log_join(join, {join_method::merge, join_detour::none});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "strata: join of 1000000 x 10000000 rows: merge; detour: none\n");
}

TEST(JoinMethod, rows_of_8_bytes_are_joined_by_one_table_in_global_memory) {
  join_description join = plain_join(std::uint64_t{1} << 33);
  join.has_short_rows = false;
  join.is_build_unique = true;
  for (const JoinStrategy strategy : {JoinStrategy::automatic, JoinStrategy::simple, JoinStrategy::radix_multi}) {
    join.strategy = strategy;
    EXPECT_EQ(method_of(join), join_method::global_table);
  }
}

}  // namespace
