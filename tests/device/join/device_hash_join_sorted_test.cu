// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceHashJoin of two sides in ascending order, as JoinSide::sorted promises.
#include "device/join/device_hash_join_support.cuh"

#include "device/schedules.cuh"

#include <cmath>

namespace {

using namespace device_join_test;

template <class MakeKey>
side_ids sorted(std::vector<std::uint32_t> ids, MakeKey make_key) {
  std::sort(ids.begin(), ids.end(), [&](std::uint32_t a, std::uint32_t b) { return make_key(a) < make_key(b); });
  return {std::move(ids), {}};
}

/// Checks all kinds, in both orders, also with the promise that build rows are unique if they are.
template <class Key, class Index = std::int32_t, class Options = join_settings<>, class MakeKey>
void check_sorted(const std::vector<std::uint32_t>& build_ids, const std::vector<std::uint32_t>& probe_ids,
                  MakeKey make_key, bool all_capacities = true) {
  const side_ids build = sorted(build_ids, make_key);
  const side_ids probe = sorted(probe_ids, make_key);
  device_joiner<Key, Index, Options> join(build, probe, make_key);
  for (const JoinKind kind : every_kind) {
    const row_pairs expected = sort_merge_join(kind, build, probe);
    for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
      for (const bool unique : {false, true}) {
        if (unique && !is_unique(build)) continue;
        SCOPED_TRACE(testing::Message() << build_ids.size() << " x " << probe_ids.size() << " rows, kind "
                                        << static_cast<int>(kind) << ", order " << static_cast<int>(order)
                                        << ", promised unique " << unique);
        Options options;
        options.sorted = true;
        options.order = order;
        options.build_unique = unique;
        join.check(kind, options, expected, all_capacities);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

#if STRATA_TEST_FEW_TYPES
using wide_index = std::int32_t;
#else
using wide_index = std::uint64_t;
#endif

TEST(device_hash_join_sorted, few_rows) {
  for (const shape& data : few_rows()) {
    SCOPED_TRACE(data.name);
    check_sorted<std::uint32_t>(data.build.ids, data.probe.ids, as_u32);
    check_sorted<std::int64_t, wide_index>(data.build.ids, data.probe.ids, as_i64);
  }
}

// With null masks, the position of rows without a key is not specified, so the promise of order is not used.
TEST(device_hash_join_sorted, rows_without_a_key) {
  const std::vector<shape> shapes = few_rows_with_nulls();
  for (std::size_t i = 0; i < shapes.size(); i += if_small<std::size_t>(9, 1)) {
    side_ids build = sorted(shapes[i].build.ids, as_u32);
    side_ids probe = sorted(shapes[i].probe.ids, as_u32);
    build.null = shapes[i].build.null;
    probe.null = shapes[i].probe.null;
    device_joiner<std::uint32_t, std::int32_t> join(build, probe, as_u32);
    for (const JoinKind kind : every_kind) {
      join_settings<> options;
      options.sorted = true;
      join.check(kind, options, nested_loop_join(kind, build, probe, false), false);
    }
    if (testing::Test::HasFailure()) return;
  }
}

// The promise of order is allowed for other types of keys, too, but not used.
TEST(device_hash_join_sorted, other_keys_are_joined_as_ever) {
  device_joiner<bytes12, std::int32_t> join({{1, 2, 2, 5}, {}}, {{0, 2, 5, 5}, {}}, as_bytes12);
  join_settings<> options;
  options.sorted = true;
  join.check(JoinKind::inner, options, {{1, 1}, {2, 1}, {3, 2}, {3, 3}});
}

#if !STRATA_TEST_FEW_TYPES
enum class color : signed char {};

TEST(device_hash_join_sorted, narrow_keys_and_enumerations) {
  const std::size_t rows = if_small<std::size_t>(600, 5000);
  check_sorted<color>(
      random_ids(rows, 200), random_ids(rows / 2, 256), [](std::uint32_t id) { return static_cast<color>(id); }, false);
}
#endif

std::uint32_t many_rows() { return if_small<std::uint32_t>(9000, STRATA_HOST_SIMT ? 40000 : 500000); }

TEST(device_hash_join_sorted, unique_keys) {
  const std::uint32_t rows = many_rows();
  check_sorted<std::uint32_t>(shuffled_ids(rows, 10), random_ids(2 * rows, 2 * rows), as_u32, false);
}

TEST(device_hash_join_sorted, few_duplicates_of_wide_keys) {
  const std::uint32_t rows = many_rows() / 2;
  check_sorted<std::int64_t>(random_ids(rows, rows * 4 / 5), random_ids(rows * 3 / 2, rows), as_i64, false);
}

TEST(device_hash_join_sorted, one_side_is_much_longer) {
  const std::uint32_t rows = many_rows();
  check_sorted<std::uint32_t>(random_ids(rows, rows), random_ids(40, rows), as_u32, false);
  check_sorted<std::uint32_t>(random_ids(40, rows), random_ids(rows, rows), as_u32, false);
}

TEST(device_hash_join_sorted, all_keys_of_a_side_are_less) {
  const std::uint32_t rows = if_small<std::uint32_t>(5000, 20000);
  const auto as_is = [](std::uint32_t id) { return id; };
  check_sorted<std::uint32_t>(shuffled_ids(rows, 0), shuffled_ids(rows, rows), as_is, false);
  check_sorted<std::uint32_t>(shuffled_ids(rows, rows), shuffled_ids(rows, 0), as_is, false);
}

// Runs of equal keys, shorter and longer than what a tile knows of the build rows behind it.
TEST(device_hash_join_sorted, runs_that_leave_tiles) {
  const auto as_is = [](std::uint32_t id) { return id; };
  for (const std::uint32_t length : {2u, 31u, 32u, 33u, 64u, 65u, 1025u, 3000u}) {
    if (is_small() && length % 2 == 0) continue;
    std::vector<std::uint32_t> build(if_small<std::size_t>(4, 9) * 1000);
    for (std::size_t i = 0; i < build.size(); ++i) {
      build[i] = static_cast<std::uint32_t>(i + length / 3) / length;
    }
    std::vector<std::uint32_t> probe(build.size() / length + 2);
    for (std::size_t i = 0; i < probe.size(); ++i) probe[i] = static_cast<std::uint32_t>(i);
    check_sorted<std::uint32_t>(build, probe, as_is, false);
    if (testing::Test::HasFailure()) return;
  }
}

/// `frequency` rows of each key. Every third id is left out.
std::vector<std::uint32_t> repeated_ids(std::size_t rows, std::uint32_t frequency) {
  std::vector<std::uint32_t> ids(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto id = static_cast<std::uint32_t>(i / frequency);
    ids[i] = id + id / 2;
  }
  return ids;
}

// Some rows have few results, which share a line of memory; some have results of many lines; and some have none.
TEST(device_hash_join_sorted, equally_frequent_build_rows) {
  const std::size_t rows = if_small<std::size_t>(4500, 10000);
  for (const std::uint32_t frequency : {2u, 3u, 10u, 31u, 32u, 33u, 100u, 1000u, 5000u}) {
    if (is_small() && frequency % 10 != 0) continue;
    const std::vector<std::uint32_t> build = repeated_ids(rows, frequency);
    const std::size_t probes = std::min<std::size_t>(rows, if_small(40000u, 200000u) / frequency);
    check_sorted<std::uint32_t>(build, random_ids(probes, build.back() + 2), as_u32, !is_small());
    if (testing::Test::HasFailure()) return;
  }
}

TEST(device_hash_join_sorted, equally_frequent_wide_keys) {
  const std::size_t rows = if_small<std::size_t>(2500, 6000);
  const std::vector<std::uint32_t> build = repeated_ids(rows, 20);
  check_sorted<std::int64_t, wide_index>(build, random_ids(rows, build.back() + 2), as_i64, false);
}

// A tile has as many results as its block writes itself, or one more. The last results may belong to rows whose
// partners lie far behind the tile.
TEST(device_hash_join_sorted, about_as_many_results_as_one_block_writes) {
  constexpr std::size_t most = strata::join_policy_hub::MaxPolicy::merge.max_block_results;
  constexpr std::size_t few = 256;
  constexpr std::size_t before = 3;
  constexpr std::size_t many = most / few - 1;
  const auto put = [](std::vector<std::uint32_t>& ids, std::size_t rows, std::uint32_t id) {
    ids.insert(ids.end(), rows, id);
  };
  for (const std::size_t extra : {0u, 1u}) {
    for (const std::size_t rows_of_run : {0u, 9000u}) {
      if (is_small() && extra == 0) continue;
      std::vector<std::uint32_t> build{0};
      std::vector<std::uint32_t> probe(before, 0);
      put(build, few, 1);
      put(probe, many, 1);
      put(build, 1, 2);
      put(probe, most - before - few * many + extra, 2);
      put(build, rows_of_run, 4);
      put(probe, rows_of_run > 0 ? 5 : 0, 4);
      check_sorted<std::uint32_t>(
          build, probe, [](std::uint32_t id) { return id; }, !is_small());
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(device_hash_join_sorted, frequent_keys_on_both_sides) {
  const auto skewed = [](std::size_t rows) {
    std::vector<std::uint32_t> ids(rows);
    for (auto& id : ids) {
      id = static_cast<std::uint32_t>(100 * std::pow(1e-4 + random_below(10000) / 10000.0, -1.0));
    }
    return ids;
  };
  check_sorted<std::uint32_t>(skewed(if_small<std::size_t>(2000, STRATA_HOST_SIMT ? 8000 : 40000)),
                              skewed(if_small<std::size_t>(700, STRATA_HOST_SIMT ? 2000 : 15000)), as_u32, false);
}

TEST(device_hash_join_sorted, all_keys_are_equal) {
  const std::size_t rows = if_small<std::size_t>(150, STRATA_HOST_SIMT ? 700 : 1500);
  check_sorted<std::uint32_t>(random_ids(rows, 1), random_ids(rows + 20, 1), as_u32);
}

// Probe rows that have nearly all build rows for partners become many work items.
TEST(device_hash_join_sorted, few_probe_rows_with_most_build_rows_for_partners) {
  const std::size_t rows = if_small<std::size_t>(9000, STRATA_HOST_SIMT ? 60000 : 3000000);
  std::vector<std::uint32_t> build = random_ids(rows, 1000);
  std::fill(build.begin() + 1000, build.end(), 500u);
  // Three probe rows have this key. They share tiles with other rows.
  std::vector<std::uint32_t> probe = random_ids(1500, 1000);
  std::replace(probe.begin(), probe.end(), 500u, 501u);
  probe[1] = probe[700] = probe[1200] = 500;
  const side_ids build_side = sorted(std::move(build), as_u32);
  const side_ids probe_side = sorted(std::move(probe), as_u32);
  device_joiner<std::uint32_t, std::int32_t> join(build_side, probe_side, as_u32);
  const row_pairs expected = sort_merge_join(JoinKind::inner, build_side, probe_side);
  for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
    join_settings<> options;
    options.sorted = true;
    options.order = order;
    join.check(JoinKind::inner, options, expected);
  }
}

TEST(device_hash_join_sorted, total_beyond_32_bits_is_counted) {
  const device_vector<std::uint32_t> keys(std::vector<std::uint32_t>(70000, 9u));
  device_vector<std::int64_t> total(1);
  join_settings<> options;
  options.sorted = true;
  for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
    options.order = order;
    device_vector<std::int32_t> build_out(5000);
    device_vector<std::int32_t> probe_out(5000);
    EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return join_kinds::pairs_of(JoinKind::full, storage, bytes, keys.data(), 70000, keys.data(), 70000,
                                  build_out.data(), probe_out.data(), total.data(), 5000, options);
    }));
    EXPECT_EQ(std::int64_t{70000} * 70000, total.to_host()[0]);
    total.poison();
  }
  EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceHashJoin::Left(storage, bytes, options.build_side(keys.data(), 70000),
                                options.probe_side(keys.data(), 70000), strata::join_count(), total.data(), options);
  }));
  EXPECT_EQ(std::int64_t{70000} * 70000, total.to_host()[0]);
}

TEST(device_hash_join_sorted, columns_of_both_sides_are_gathered) {
  const std::vector<std::int64_t> build_keys{-9, 1, 1, 4};
  const std::vector<std::int64_t> probe_keys{-9, 0, 1, 7};
  const device_vector<std::int64_t> build(build_keys);
  const device_vector<std::int64_t> probe(probe_keys);
  device_vector<std::int64_t> build_out(6);
  device_vector<std::int64_t> probe_out(6);
  device_vector<std::int64_t> total(1);
  join_settings<> options;
  options.sorted = true;
  const auto columns = strata::join_columns(6, strata::build_column(build.data(), build_out.data(), std::int64_t{-1}),
                                            strata::probe_column(probe.data(), probe_out.data(), std::int64_t{-2}));
  EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceHashJoin::Full(storage, bytes, options.build_side(build.data(), 4),
                                options.probe_side(probe.data(), 4), columns, total.data(), options.ordered());
  }));
  EXPECT_EQ(6, total.to_host()[0]);
  EXPECT_EQ((std::vector<std::int64_t>{-9, -1, 1, 1, -1, 4}), build_out.to_host());
  EXPECT_EQ((std::vector<std::int64_t>{-9, 0, 1, 1, 7, -2}), probe_out.to_host());
}

TEST(device_hash_join_sorted, broken_promise_of_unique_rows_gives_one_partner) {
  const device_vector<std::uint32_t> build(std::vector<std::uint32_t>{5, 5, 6, 7});
  const device_vector<std::uint32_t> probe(std::vector<std::uint32_t>{5, 7});
  join_settings<> options;
  options.sorted = true;
  options.build_unique = true;
  device_vector<std::int32_t> build_out(3);
  device_vector<std::int32_t> probe_out(3);
  device_vector<std::int64_t> total(1);
  EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceHashJoin::Inner(storage, bytes, options.build_side(build.data(), 4),
                                 options.probe_side(probe.data(), 2),
                                 strata::join_pairs(build_out.data(), probe_out.data(), 3), total.data(), options);
  }));
  EXPECT_EQ(2, total.to_host()[0]);
  EXPECT_EQ(0, probe_out.to_host()[0]);
  EXPECT_EQ(3, build_out.to_host()[1]);
}

// It is unspecified which rows the result has. But they are rows of the sides, all are written, and nothing else is.
// There are many tiles, because with few each tile would begin behind the one before.
TEST(device_hash_join_sorted, broken_promise_of_order_gives_any_rows) {
  const std::size_t rows = if_small<std::size_t>(30000, STRATA_HOST_SIMT ? 30000 : 300000);
  for (const std::uint32_t different : {7u, static_cast<std::uint32_t>(rows / 2)}) {
    const std::vector<std::uint32_t> build_keys = random_ids(rows, different);
    const std::vector<std::uint32_t> probe_keys = random_ids(rows + 100, different);
    const device_vector<std::uint32_t> build(build_keys);
    const device_vector<std::uint32_t> probe(probe_keys);
    const auto capacity = static_cast<std::int64_t>(4 * rows);
    for (const JoinKind kind : every_kind) {
      for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
        SCOPED_TRACE(testing::Message() << different << " keys, kind " << static_cast<int>(kind) << ", order "
                                        << static_cast<int>(order));
        join_settings<> options;
        options.sorted = true;
        options.order = order;
        device_vector<std::int32_t> build_out(static_cast<std::size_t>(capacity));
        device_vector<std::int32_t> probe_out(static_cast<std::size_t>(capacity));
        device_vector<std::int64_t> total(1);
        ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
          return pairs_of(kind, storage, bytes, build.data(), static_cast<std::int64_t>(build_keys.size()),
                          probe.data(), static_cast<std::int64_t>(probe_keys.size()), build_out.data(),
                          probe_out.data(), total.data(), capacity, options);
        }));
        const std::int64_t number = total.to_host()[0];
        ASSERT_GE(number, 0);
        ASSERT_LE(number, static_cast<std::int64_t>((build_keys.size() + 1) * (probe_keys.size() + 1)));
        const std::vector<std::int32_t> b = build_out.to_host(), p = probe_out.to_host();
        for (std::size_t i = 0; i < static_cast<std::size_t>(std::min(number, capacity)); ++i) {
          const bool is_single = !strata::detail::has_pairs(kind) || b[i] == strata::no_row<std::int32_t>;
          ASSERT_TRUE(is_single || static_cast<std::uint32_t>(b[i]) < build_keys.size()) << b[i] << " at " << i;
          ASSERT_TRUE(p[i] == strata::no_row<std::int32_t> || static_cast<std::uint32_t>(p[i]) < probe_keys.size())
              << p[i] << " at " << i;
        }
      }
    }
  }
}

// Tiles of 256 rows. With these seeds, a run of equal keys that leaves a tile begins behind the tile, because the rows
// are not in order.
struct small_merge_hub {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy>, strata::join_common_policy {
    static constexpr strata::join_partition_tuning partition = partition_with(2);
    static constexpr strata::join_merge_tuning merge{64, 4, 4, 1, 0};
  };
  using MaxPolicy = Policy;
};
TEST(device_hash_join_sorted, broken_promise_of_order_gives_rows_of_both_sides) {
  using Join = strata::TunedDeviceHashJoin<small_merge_hub>;
  for (const unsigned seed : {103u, 231u, 294u, 311u, 504u}) {
    SCOPED_TRACE(seed);
    std::mt19937 bits(seed);
    std::vector<unsigned> probe_keys(50 + bits() % 300), build_keys(50 + bits() % 300);
    const auto different = static_cast<unsigned>(2 + bits() % 5);
    for (unsigned& key : probe_keys) key = static_cast<unsigned>(bits()) % different;
    for (unsigned& key : build_keys) key = static_cast<unsigned>(bits()) % different;
    if (bits() % 2 != 0) std::sort(probe_keys.begin(), probe_keys.end());
    const device_vector<unsigned> build(build_keys), probe(probe_keys);
    constexpr std::int64_t capacity = 20000;
    device_vector<std::int32_t> build_out(capacity), probe_out(capacity);
    device_vector<std::int64_t> total(1);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return Join::Inner(storage, bytes, strata::join_side(build.data(), static_cast<int>(build.size())).sorted(),
                         strata::join_side(probe.data(), static_cast<int>(probe.size())).sorted(),
                         strata::join_pairs(build_out.data(), probe_out.data(), capacity), total.data());
    }));
    const std::vector<std::int32_t> b = build_out.to_host(), p = probe_out.to_host();
    const std::int64_t number = total.to_host()[0];
    ASSERT_LE(number, capacity);
    for (std::size_t i = 0; i < static_cast<std::size_t>(number); ++i) {
      ASSERT_LT(static_cast<std::uint32_t>(b[i]), build_keys.size()) << "at " << i;
      ASSERT_LT(static_cast<std::uint32_t>(p[i]), probe_keys.size()) << "at " << i;
    }
  }
}

TEST(device_hash_join_sorted, any_schedule_gives_the_same_rows) {
  const std::size_t rows = if_small<std::size_t>(9000, 20000);
  const side_ids build = sorted(random_ids(rows, 5000), as_u32);
  const side_ids probe = sorted(random_ids(rows, 6000), as_u32);
  device_joiner<std::uint32_t, std::int32_t> join(build, probe, as_u32);
  const row_pairs expected = sort_merge_join(JoinKind::full, build, probe);
  under_all_schedules([&](std::size_t i) {
    join_settings<> options;
    options.sorted = true;
    options.order = i % 2 == 0 ? JoinOrder::any : JoinOrder::probe;
    join.check(JoinKind::full, options, expected, false);
  });
}

TEST(device_hash_join_sorted, a_graph_is_replayed_with_other_keys) {
  const std::uint32_t rows = if_small<std::uint32_t>(3000, 20000);
  const auto keys_of_ids = [](std::vector<std::uint32_t> ids) {
    std::sort(ids.begin(), ids.end());
    return ids;
  };
  device_vector<std::uint32_t> build(keys_of_ids(random_ids(rows, rows)));
  device_vector<std::uint32_t> probe(keys_of_ids(random_ids(rows, rows)));
  const std::int64_t capacity = 4 * rows;
  device_vector<std::int32_t> build_out(4u * rows);
  device_vector<std::int32_t> probe_out(4u * rows);
  device_vector<std::int64_t> total(1);
  join_settings<> options;
  options.sorted = true;
  const auto call = [&](void* storage, std::size_t& bytes, cudaStream_t stream) {
    return DeviceHashJoin::Inner(
        storage, bytes, options.build_side(build.data(), rows), options.probe_side(probe.data(), rows),
        strata::join_pairs(build_out.data(), probe_out.data(), capacity), total.data(), options.ordered(), stream);
  };
  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(call(nullptr, bytes, nullptr));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t stream) { return call(storage.data(), bytes, stream); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const stream where;
  for (const std::uint32_t different : {rows, rows / 100 + 1}) {
    const side_ids build_side{keys_of_ids(random_ids(rows, 2 * rows)), {}};
    const side_ids probe_side{keys_of_ids(random_ids(rows, different)), {}};
    ASSERT_CUDA_SUCCESS(
        cudaMemcpy(const_cast<std::uint32_t*>(build.data()), build_side.ids.data(), 4 * rows, cudaMemcpyHostToDevice));
    ASSERT_CUDA_SUCCESS(
        cudaMemcpy(const_cast<std::uint32_t*>(probe.data()), probe_side.ids.data(), 4 * rows, cudaMemcpyHostToDevice));
    recorded.replay(where);
    where.synchronize();
    const row_pairs expected = sort_merge_join(JoinKind::inner, build_side, probe_side);
    ASSERT_EQ(static_cast<std::int64_t>(expected.size()), total.to_host()[0]);
    const std::vector<std::int32_t> b = build_out.to_host();
    const std::vector<std::int32_t> p = probe_out.to_host();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(expected[i], row_pair(b[i], p[i])) << i;
    }
  }
}

}  // namespace
