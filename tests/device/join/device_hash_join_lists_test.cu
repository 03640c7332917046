// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: long

// DeviceHashJoin by partitions, in the order of the probe rows, which may have several partners each.
#include "device/join/device_hash_join_support.cuh"

#include <numeric>

namespace {

using namespace device_join_test;

#if STRATA_TEST_FEW_TYPES
using wide_index = std::int32_t;
#else
using wide_index = std::int64_t;
#endif

template <class Key, class Index = std::int32_t, class MakeKey>
void check_lists(const side_ids& build, const side_ids& probe, MakeKey make_key,
                 JoinStrategy strategy = JoinStrategy::radix_single, bool all_capacities = false) {
  device_joiner<Key, Index> join(build, probe, make_key);
  const bool has_nulls = !build.null.empty() || !probe.null.empty();
  for (const JoinKind kind : {JoinKind::inner, JoinKind::left}) {
    for (const bool nulls_equal : {false, true}) {
      if (nulls_equal && !has_nulls) continue;
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", strategy "
                                      << static_cast<int>(strategy) << ", nulls equal " << nulls_equal);
      join_settings<> options;
      options.order = JoinOrder::probe;
      options.strategy = strategy;
      options.nulls_equal = nulls_equal;
      join.check(kind, options,
                 has_nulls ? nested_loop_join(kind, build, probe, nulls_equal) : sort_merge_join(kind, build, probe),
                 all_capacities);
      if (testing::Test::HasFailure()) return;
    }
  }
}

std::uint32_t many_rows() { return if_small<std::uint32_t>(5000, STRATA_HOST_SIMT ? 20000 : 600000); }
std::uint32_t many_probe_rows() { return if_small<std::uint32_t>(7000, STRATA_HOST_SIMT ? 40000 : 1000000); }

// Makes `each` rows of every key, far from each other.
side_ids with_rows_each(std::uint32_t rows, std::uint32_t each) {
  side_ids side{shuffled_ids(rows, 0), {}};
  for (auto& id : side.ids) id /= each;
  return side;
}

// From different keys to many rows of a key, so that a thread, a warp or the whole block sorts the rows of a bucket.
TEST(device_hash_join_lists, rows_of_a_key_ascend) {
  for (const std::uint32_t each : if_small<std::vector<std::uint32_t>>({2, 40, 1000}, {1, 2, 9, 40, 150, 1000})) {
    const std::uint32_t rows = many_rows();
    SCOPED_TRACE(testing::Message() << each << " rows of each key");
    const std::uint32_t keys = rows / each + 1;
    // If keys have many rows, few probe rows find a key, so that the number of results stays moderate.
    const std::uint32_t range = keys + (each > 30 ? each / 10 * keys : keys / 3);
    check_lists<std::uint32_t>(with_rows_each(rows, each), {random_ids(many_probe_rows(), range), {}}, as_u32,
                               JoinStrategy::radix_single, each == 2);
    check_lists<std::int64_t, wide_index>(with_rows_each(rows, each), {random_ids(many_probe_rows() / 3, range), {}},
                                          as_i64);
  }
}

// After two passes, partners are found by row; after one pass, by position.
TEST(device_hash_join_lists, two_passes) {
  check_lists<std::uint32_t>(with_rows_each(many_rows(), 3), {random_ids(many_probe_rows(), many_rows() / 2), {}},
                             as_u32, JoinStrategy::radix_multi);
}

// A tile has probe rows without partners, with one partner, and with very many partners, which all warps share.
TEST(device_hash_join_lists, one_key_has_half_of_the_build_rows) {
  const std::uint32_t rows = many_rows();
  side_ids build{shuffled_ids(rows, 0), {}};
  for (std::size_t row = 0; row < build.ids.size(); row += 2) build.ids[row] = rows + 7;
  side_ids probe{random_ids(many_probe_rows(), rows), {}};
  for (const std::size_t row : {std::size_t{77}, std::size_t{78}, probe.ids.size() - 1}) probe.ids[row] = rows + 7;
  check_lists<std::uint32_t>(build, probe, as_u32, JoinStrategy::radix_single, if_small(!STRATA_HOST_SIMT, true));
  check_lists<std::int64_t>(build, probe, as_i64, JoinStrategy::radix_multi);
}

// The table in global memory joins partitions with frequent keys. Its lists are sorted by several digits.
TEST(device_hash_join_lists, frequent_keys_among_rare_ones) {
  const std::uint32_t rows = many_rows();
  side_ids build{random_ids(rows, rows), {}};
  for (std::size_t row = 0; row < build.ids.size(); row += 3) build.ids[row] = rows + (row % 2);
  side_ids probe{random_ids(many_probe_rows(), rows), {}};
  for (std::size_t row = 0; row < 5; ++row) probe.ids[row * row * (probe.ids.size() / 17)] = rows + 1;
  check_lists<std::uint32_t>(build, probe, as_u32);
}

// From 8,192 build rows on, joins may have partitions. With 17,000 rows they have them, because a table does not fit a
// block.
TEST(device_hash_join_lists, numbers_of_rows_around_those_of_a_join_with_partitions) {
  for (const std::uint32_t rows : {8191u, 8192u, 8193u, 17000u}) {
    if (if_small(rows == 8193, false)) continue;
    const side_ids build = with_rows_each(rows, 2);
    const side_ids probe{random_ids(rows, rows / 2), {}};
    check_lists<std::uint32_t>(build, probe, as_u32, JoinStrategy::automatic);
    check_lists<std::int64_t>(build, probe, as_i64, JoinStrategy::automatic);
  }
}

TEST(device_hash_join_lists, few_rows) {
  for (const std::uint32_t rows : {0u, 1u, 2u, 33u}) {
    for (const JoinStrategy strategy : {JoinStrategy::radix_single, JoinStrategy::radix_multi}) {
      check_lists<std::uint32_t>({random_ids(rows, 20), {}}, {random_ids(rows + 3, 20), {}}, as_u32, strategy, true);
    }
  }
  check_lists<std::uint32_t>({random_ids(30, 20), {}}, {{}, {}}, as_u32, JoinStrategy::radix_single, true);
}

TEST(device_hash_join_lists, rows_without_a_key) {
  for (const JoinStrategy strategy : {JoinStrategy::radix_single, JoinStrategy::radix_multi}) {
    check_lists<std::uint32_t>({random_ids(900, 300), random_nulls(900, 20)},
                               {random_ids(700, 400), random_nulls(700, 15)}, as_u32, strategy);
  }
  check_lists<std::int64_t>({random_ids(500, 300), random_nulls(500, 3)},
                            {random_ids(900, 400), random_nulls(900, 200)}, as_i64, JoinStrategy::radix_single);
}

// No table in shared memory holds so many build rows of one key, so the table in global memory lists them.
TEST(device_hash_join_lists, more_results_than_32_bits_count) {
  const std::size_t rows = 70000;
  const std::int64_t number = 70000;
  const std::int64_t capacity = 5000;
  const device_vector<std::uint32_t> keys(std::vector<std::uint32_t>(rows, 9u));
  for (const JoinKind kind : {JoinKind::inner, JoinKind::left}) {
    device_vector<std::int32_t> build_out(static_cast<std::size_t>(capacity));
    device_vector<std::int32_t> probe_out(static_cast<std::size_t>(capacity));
    device_vector<std::int64_t> total(1);
    join_settings<> options;
    options.order = JoinOrder::probe;
    EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return pairs_of(kind, storage, bytes, keys.data(), number, keys.data(), number, build_out.data(),
                      probe_out.data(), total.data(), capacity, options);
    }));
    EXPECT_EQ(number * number, total.to_host()[0]);
    std::vector<std::int32_t> first(static_cast<std::size_t>(capacity));
    std::iota(first.begin(), first.end(), 0);
    EXPECT_EQ(first, build_out.to_host());
    EXPECT_EQ(std::vector<std::int32_t>(first.size(), 0), probe_out.to_host());
  }
}

// Columns of row numbers show which rows are joined.
TEST(device_hash_join_lists, columns) {
  const std::uint32_t rows = many_rows();
  const side_ids build = with_rows_each(rows, 2);
  const side_ids probe{random_ids(rows, rows), {}};
  const device_vector<std::uint32_t> build_keys(build.ids), probe_keys(probe.ids);
  const row_pairs expected = sort_merge_join(JoinKind::left, build, probe);
  std::vector<std::int32_t> numbers(rows);
  std::iota(numbers.begin(), numbers.end(), 0);
  const device_vector<std::int32_t> in(numbers);
  device_vector<std::int32_t> build_out(expected.size()), probe_out(expected.size());
  device_vector<std::int64_t> total(1);
  const auto columns =
      strata::join_columns<std::int32_t>(expected.size(), strata::build_column(in.data(), build_out.data(), -1),
                                         strata::probe_column(in.data(), probe_out.data(), -1));
  strata::OrderedJoinOptions<> options;
  options.strategy = JoinStrategy::radix_single;
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceHashJoin::Left(storage, bytes, strata::join_side(build_keys.data(), rows),
                                strata::join_side(probe_keys.data(), rows), columns, total.data(), options);
  }));
  ASSERT_EQ(static_cast<std::int64_t>(expected.size()), total.to_host()[0]);
  const std::vector<std::int32_t> b = build_out.to_host();
  const std::vector<std::int32_t> p = probe_out.to_host();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(expected[i].first == b[i] && expected[i].second == p[i]) << "result " << i;
  }
}

}  // namespace
