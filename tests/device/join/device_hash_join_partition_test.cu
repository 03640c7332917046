// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: long

// DeviceHashJoin by partitions, with rows that fit a table in shared memory and with rows that do not.
#include "device/join/device_hash_join_support.cuh"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace {

using namespace device_join_test;

// Returns n: every n-th shape is tested. n is not a multiple of 5, because then all shapes would have the same nulls.
std::size_t few_shapes(std::size_t if_checked, std::size_t on_host, std::size_t on_gpu) {
  return if_small(if_checked, STRATA_HOST_SIMT ? on_host : on_gpu);
}

TEST(device_hash_join_partition, few_rows_match_a_nested_loop) {
  check_few_rows<std::uint32_t, std::int32_t>(as_u32, few_shapes(STRATA_HOST_SIMT ? 28 : 43, 11, 3),
                                              JoinStrategy::radix_single);
}

#if !STRATA_TEST_FEW_TYPES
TEST(device_hash_join_partition, keys_that_all_collide_are_compared) {
  check_few_rows<std::int64_t, std::int32_t, join_settings<same_hash>>(as_i64, few_shapes(33, 17, 4),
                                                                       JoinStrategy::radix_single);
}
#endif

TEST(device_hash_join_partition, keys_with_padding_are_compared_by_their_functors) {
  check_few_rows<composite, std::uint32_t, join_settings<composite_hash>>(
      as_composite, few_shapes(STRATA_HOST_SIMT ? 63 : 33, 17, 4), JoinStrategy::radix_multi);
}

template <class Key, class MakeKey>
void check_many_rows(const side_ids& build, const side_ids& probe, MakeKey make_key, bool all_capacities = false,
                     bool nulls_equal = true) {
  device_joiner<Key, std::int32_t> join(build, probe, make_key);
  for (const JoinKind kind : every_kind) {
    // A join has a block for each of 256 partitions, which takes a second in check mode. So in check mode only few rows
    // are joined by left and semi joins, which work like other kinds.
    const bool is_like_another = kind == JoinKind::left || kind == JoinKind::semi;
    if (if_small(is_like_another, false)) continue;
    SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind));
    const row_pairs expected = build.null.empty() && probe.null.empty()
                                   ? sort_merge_join(kind, build, probe)
                                   : nested_loop_join(kind, build, probe, nulls_equal);
    join_settings<> options;
    options.strategy = JoinStrategy::radix_single;
    options.nulls_equal = nulls_equal;
    join.check(kind, options, expected, all_capacities || if_small(false, kind == JoinKind::full));
    if (kind == JoinKind::anti || kind == JoinKind::inner) {
      // Deferred work items find the partners of their rows elsewhere.
      options.order = JoinOrder::probe;
      join.check(kind, options, expected, false);
    }
    if (testing::Test::HasFailure()) return;
  }
}

std::uint32_t many_rows() { return if_small<std::uint32_t>(6000, STRATA_HOST_SIMT ? 60000 : 3000000); }

TEST(device_hash_join_partition, unique_keys) {
  const std::uint32_t rows = many_rows();
  check_many_rows<std::uint32_t>({shuffled_ids(rows, 10), {}}, {random_ids(2 * rows, 2 * rows), {}}, as_u32);
}

TEST(device_hash_join_partition, few_duplicates_of_wide_keys) {
  const std::uint32_t rows = many_rows() / 2;
  check_many_rows<std::int64_t>({random_ids(rows, rows * 4 / 5), {}}, {random_ids(rows * 3 / 2, rows), {}}, as_i64);
}

TEST(device_hash_join_partition, rows_without_a_key) {
  const side_ids build{random_ids(900, 300), random_nulls(900, 20)};
  const side_ids probe{random_ids(700, 400), random_nulls(700, 15)};
  check_many_rows<std::uint32_t>(build, probe, as_u32);
  check_many_rows<std::uint32_t>(build, probe, as_u32, false, /*nulls_equal=*/false);
}

// First a few build rows of each key. Then so many that a bucket has more rows than a thread looks at. Then more than a
// table holds: an inner join has several tables for them. From 700 rows on, a loop of its own writes the results.
TEST(device_hash_join_partition, each_key_has_several_rows) {
  for (const std::uint32_t each : {3u, 12u, 70u, 700u, 4000u}) {
    if (if_small(each == 12, false)) continue;
    SCOPED_TRACE(testing::Message() << each << " rows each");
    const std::size_t rows = if_small<std::size_t>(2200, STRATA_HOST_SIMT ? 4200 : 90000);
    const auto keys = static_cast<std::uint32_t>(rows / each);
    const std::size_t probe_rows =
        if_small<std::size_t>(300, STRATA_HOST_SIMT ? 1000 : 40000) * (each < 20 ? 4 : 1) / (each / 20 + 1);
    side_ids build{shuffled_ids(rows, 0), {}};
    for (auto& id : build.ids) id = std::min(id / each, keys - 1);
    check_many_rows<std::uint32_t>(build, {random_ids(probe_rows, keys * 4 / 3 + 1), {}}, as_u32, each == 70);
    if (each < 70) continue;
    check_many_rows<std::int64_t>(build, {random_ids(probe_rows, keys + 1), {}}, as_i64);
  }
}

// Keys of one bucket. Some keys have many build rows, others few or none.
TEST(device_hash_join_partition, different_keys_share_a_bucket) {
  // With so few rows, there are always 256 partitions of 32 buckets each.
  std::vector<std::uint32_t> together;
  for (std::uint32_t key = 1; together.size() < 12; ++key) {
    if (strata::detail::mixed_word(key) >> 19 == 0x1234) together.push_back(key);
  }
  const auto itself = [](std::uint32_t id) { return id; };
  // Many rows of the same partition have no partner.
  side_ids probe{{}, {}};
  for (std::uint32_t key = 1; probe.ids.size() < 500; ++key) {
    if (strata::detail::mixed_word(key) >> 24 == 0x1234 >> 5) probe.ids.push_back(key);
  }
  for (std::size_t row = 0; row < 200; ++row) probe.ids[2 * row] = together[row % 12];
  for (const std::vector<std::size_t>& counts :
       {std::vector<std::size_t>{1, 2, 1}, std::vector<std::size_t>{20, 1, 20, 3},
        std::vector<std::size_t>{5, 40, 1, 2, 9}, std::vector<std::size_t>{50, 70},
        std::vector<std::size_t>{1, 1, 100, 1, 33, 2, 90, 1}}) {
    if (if_small(counts.size() == 4 || counts.size() == 2, false)) continue;
    side_ids build{random_ids(300, 1000000), {}};
    for (std::size_t key = 0; key < counts.size(); ++key) {
      build.ids.insert(build.ids.end(), counts[key], together[key + 2]);
    }
    std::shuffle(build.ids.begin(), build.ids.end(), random_bits());
    SCOPED_TRACE(testing::Message() << counts.size() << " keys, the first one " << counts[0] << " times");
    check_many_rows<std::uint32_t>(build, probe, itself);
  }
}

// Frequent keys make buckets with many rows, or with more rows than tables hold; rare ones do not.
TEST(device_hash_join_partition, frequent_keys_among_rare_ones) {
  const auto skewed = [](std::size_t rows) {
    side_ids side{std::vector<std::uint32_t>(rows), {}};
    for (auto& id : side.ids) {
      id = static_cast<std::uint32_t>(100 * std::pow(1e-4 + random_below(10000) / 10000.0, -1.0));
    }
    return side;
  };
  check_many_rows<std::uint32_t>(skewed(if_small<std::size_t>(2000, STRATA_HOST_SIMT ? 9000 : 40000)),
                                 skewed(if_small<std::size_t>(700, STRATA_HOST_SIMT ? 2000 : 15000)), as_u32);
}

TEST(device_hash_join_partition, one_build_key_has_most_rows_and_others_most_probe_rows) {
  const std::size_t rows = if_small<std::size_t>(9000, STRATA_HOST_SIMT ? 40000 : 2000000);
  side_ids build{random_ids(rows, 3000), {}};
  std::fill(build.ids.begin() + 2000, build.ids.end(), 5000u);
  side_ids probe{random_ids(rows, 4000), {}};
  // Three partitions have many work items each.
  constexpr std::uint32_t frequent[] = {7, 1001, 2002};
  for (std::size_t row = 1500; row < rows; ++row) probe.ids[row] = frequent[row % 3];
  probe.ids[1234] = 5000;
  check_many_rows<std::uint32_t>(build, probe, as_u32);
}

// Different keys whose hashes choose the same partition, just more than a table holds.
TEST(device_hash_join_partition, different_keys_fill_one_partition) {
  std::vector<std::uint32_t> together;
  for (std::uint32_t key = 1; together.size() < 2060; ++key) {
    if (strata::detail::mixed_word(key) >> 24 == 77) together.push_back(key);
  }
  const std::vector<std::uint32_t> some(together.begin() + 1000, together.begin() + 1600);
  const auto itself = [](std::uint32_t id) { return id; };
  check_many_rows<std::uint32_t>({together, {}}, {some, {}}, itself);
  check_many_rows<std::uint32_t>({some, {}}, {together, {}}, itself);
}

// Returns how many bytes of temporary storage a join writes. They include all records of the rows that it partitions.
std::size_t written_bytes(const std::vector<std::uint32_t>& build_ids, const std::vector<std::uint32_t>& probe_ids,
                          double match_ratio) {
  const device_vector<std::uint32_t> build(build_ids);
  const device_vector<std::uint32_t> probe(probe_ids);
  const auto build_side = strata::join_side(build.data(), static_cast<std::int64_t>(build.size())).unique();
  const auto probe_side = strata::join_side(probe.data(), static_cast<std::int64_t>(probe.size()));
  strata::JoinOptions<> options;
  options.strategy = JoinStrategy::radix_single;
  device_vector<std::int64_t> total(1);
  const auto join = [&](void* storage, std::size_t& bytes) {
    return strata::DeviceHashJoin::Inner(storage, bytes, build_side, probe_side.match_ratio(match_ratio),
                                         strata::join_count(), total.data(), options);
  };
  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(join(nullptr, bytes));
  device_vector<unsigned char> storage(std::vector<unsigned char>(bytes, 0xa5));
  EXPECT_CUDA_SUCCESS(join(storage.data(), bytes));
  EXPECT_EQ(1, total.to_host()[0]);
  std::size_t written = 0;
  for (const unsigned char byte : storage.to_host()) written += byte != 0xa5 ? 1 : 0;
  return written;
}

TEST(device_hash_join_partition, a_filter_keeps_most_rows_without_a_partner_out_of_partitions) {
  std::vector<std::uint32_t> build(2000);
  std::vector<std::uint32_t> probe(20000);
  for (std::size_t i = 0; i < build.size(); ++i) build[i] = static_cast<std::uint32_t>(i);
  for (std::size_t i = 0; i < probe.size(); ++i) probe[i] = static_cast<std::uint32_t>(1999 + i);
  const std::size_t of_all = written_bytes(build, probe, 1);
  EXPECT_GT(of_all, 6 * probe.size());
  EXPECT_LT(written_bytes(build, probe, 0.01), of_all / 2);
  // With fewer than 8 probe rows for each build row, there is no filter.
  probe.resize(15999);
  EXPECT_GT(written_bytes(build, probe, 0.01), 6 * probe.size());
}

// So many columns that, without a filter, they would be gathered in the order of the probe rows.
TEST(device_hash_join_partition, columns_of_rows_that_a_filter_selects) {
  const auto rows = if_small<std::uint32_t>(300, STRATA_HOST_SIMT ? 3000 : 300000);
  const std::uint32_t probe_rows = 8 * rows + 5;
  const side_ids build{shuffled_ids(rows, 10), {}};
  const side_ids probe{random_ids(probe_rows, 40 * rows), {}};
  const row_pairs expected = sort_merge_join(JoinKind::inner, build, probe);
  const device_vector<std::uint32_t> build_keys(build.ids), probe_keys(probe.ids);
  std::vector<std::int32_t> numbers(probe_rows);
  std::iota(numbers.begin(), numbers.end(), 0);
  const device_vector<std::int32_t> in(numbers);
  device_vector<std::int32_t> out[4] = {
      device_vector<std::int32_t>(probe_rows), device_vector<std::int32_t>(probe_rows),
      device_vector<std::int32_t>(probe_rows), device_vector<std::int32_t>(probe_rows)};
  device_vector<std::int64_t> total(1);
  strata::JoinOptions<> options;
  options.strategy = JoinStrategy::radix_single;
  const auto columns = strata::join_columns<std::int32_t>(
      probe_rows, strata::build_column(in.data(), out[0].data(), -1),
      strata::probe_column(in.data(), out[1].data(), -1), strata::build_column(in.data(), out[2].data(), -1),
      strata::probe_column(in.data(), out[3].data(), -1));
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return strata::DeviceHashJoin::Inner(storage, bytes, strata::join_side(build_keys.data(), rows).unique(),
                                         strata::join_side(probe_keys.data(), probe_rows).match_ratio(0.03), columns,
                                         total.data(), options);
  }));
  const std::vector<std::int32_t> found[4] = {out[0].to_host(), out[1].to_host(), out[2].to_host(), out[3].to_host()};
  ASSERT_EQ(static_cast<std::int64_t>(expected.size()), total.to_host()[0]);
  row_pairs joined;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    joined.push_back({found[0][i], found[1][i]});
    ASSERT_EQ(found[0][i], found[2][i]);
    ASSERT_EQ(found[1][i], found[3][i]);
  }
  std::sort(joined.begin(), joined.end());
  row_pairs sorted = expected;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, joined);
}

TEST(device_hash_join_partition, one_side_or_both_are_empty) {
  const std::vector<std::uint32_t> ids = random_ids(if_small<std::size_t>(100, 300), 200);
  check_many_rows<std::uint32_t>({{}, {}}, {ids, {}}, as_u32, true);
  check_many_rows<std::uint32_t>({ids, {}}, {{}, {}}, as_u32, true);
  check_many_rows<std::uint32_t>({{}, {}}, {{}, {}}, as_u32, true);
}

TEST(device_hash_join_partition, plan_has_room_for_what_it_promises) {
  using strata::detail::join_duplicates_list;
  using strata::detail::join_partition_plan;
  using strata::detail::join_static_shared_bytes;
  constexpr strata::join_partition_tuning tuning = strata::join_policy_hub::MaxPolicy::partition;
  for (std::uint64_t rows = 0; rows < (std::uint64_t{1} << 31); rows += rows / 5 + 1) {
    for (const bool is_wide : {false, true}) {
      const join_partition_plan plan = strata::detail::plan_join_partitions(rows, 3 * rows, tuning, is_wide, false);
      ASSERT_GE(plan.bits, 1);
      ASSERT_LE(plan.bits, strata::detail::max_join_partition_bits);
      ASSERT_LE(plan.bits_of_pass(false), strata::detail::max_join_pass_bits);
      ASSERT_LE(plan.bits_of_pass(true), strata::detail::max_join_pass_bits);
      ASSERT_LT(plan.bits + plan.bucket_bits, 32);
      ASSERT_GT(plan.work_item_rows, 0u);
      if (!plan.is_possible) {
        ASSERT_GT(rows, std::uint64_t{1} << 28);
        continue;
      }
      // A row number must fit in the bits of an entry that the rest of the hash leaves free.
      ASSERT_LE(rows, std::uint64_t{1} << (plan.bits + plan.bucket_bits));
      ASSERT_GE(plan.table_rows, (rows >> plan.bits) + (rows >> plan.bits) / 16);
      ASSERT_LT(plan.table_rows, 1u << 16);
      // With more rows, a table may need more shared memory than a block may have. Then one table in global memory
      // joins.
      if (rows <= std::uint64_t{1} << 28) {
        ASSERT_LE(plan.table_bytes(true) + 8 * sizeof(join_duplicates_list<128>) + join_static_shared_bytes,
                  std::size_t{227} << 10);
      }
    }
  }
}

}  // namespace
