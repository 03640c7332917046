// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceHashJoin and JoinTable with a chain of two policies. Devices take the older one.
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_CUDA
#include <strata/device/device_hash_join.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "device/device_call.cuh"

namespace {

using namespace device_test;
using strata::ChainedPolicy;

/// Small tiles and tables. Every number differs from the one in newer_join_rows, except the numbers that temporary
/// storage depends on.
struct older_join_rows {
  static constexpr strata::join_table_tuning table{64, 128, 2, 2, 256, 2, 32, 2, 64, 128, 2, 64};
  static constexpr strata::join_merge_tuning merge{64, 4, 4, 2, 2, 4, 32, 2, 2, 512};
  static constexpr strata::join_partition_tuning partition{64, {5, 3, 2}, {4, 2, 5}, 64, 3, 2, 128, 20, 10, 2,
                                                           3,  2,         5,         0,  2, 2, 1,   2,  4};
  static constexpr strata::join_direct_address_tuning direct_address{64, 128, 2};
  static constexpr strata::join_key_set_tuning key_set{2};
  static constexpr strata::join_output_tuning output{32, 128, 2, 64, 1, 64, 64, 2};
  static constexpr strata::join_filter_tuning filter{64, 2, 3, 1};
  static constexpr strata::join_clear_tuning clear{32, 1, 1};
  static constexpr std::uint64_t least_partitioned_rows = 1;
  using strategy = strata::cuda_join_policy;
};
struct newer_join_rows {
  static constexpr strata::join_table_tuning table{128, 256, 3, 1, 384, 1, 64, 4, 128, 128, 2, 256};
  static constexpr strata::join_merge_tuning merge{128, 2, 2, 1, 1, 16, 64, 4, 4, 4096};
  static constexpr strata::join_partition_tuning partition{128, {4, 2, 3}, {2, 3, 2}, 96, 2, 1, 160, 20, 10,  2,
                                                           3,   2,         7,         40, 8, 4, 2,   4,  1024};
  static constexpr strata::join_direct_address_tuning direct_address{128, 256, 4};
  static constexpr strata::join_key_set_tuning key_set{4};
  static constexpr strata::join_output_tuning output{64, 64, 4, 128, 2, 64, 128, 1};
  static constexpr strata::join_filter_tuning filter{128, 4, 2, 2};
  static constexpr strata::join_clear_tuning clear{64, 2, 2};
  static constexpr std::uint64_t least_partitioned_rows = 1;
  using strategy = strata::cuda_join_policy;
};
/// Tables so large that, with these older rows, a multiprocessor holds only one.
struct older_large_rows : older_join_rows {
  static constexpr strata::join_partition_tuning partition{64, {5, 3, 2}, {4, 2, 5}, 64,    3, 2, 128, 20, 10, 2,
                                                           3,  2,         5,         30000, 2, 2, 1,   2,  4};
};

/// All devices of today take the older policy.
template <class Older, class Newer>
struct chain_of {
  struct Policy750 : ChainedPolicy<750, Policy750, Policy750, Older> {};
  struct Policy99990 : ChainedPolicy<99990, Policy99990, Policy750, Newer> {};
  using MaxPolicy = Policy99990;
};

using row_pairs = std::vector<std::pair<int, int>>;

row_pairs joined(const std::vector<unsigned>& build, const std::vector<unsigned>& probe, strata::JoinKind kind) {
  std::map<unsigned, std::vector<int>> rows_of;
  for (std::size_t b = 0; b < build.size(); ++b) rows_of[build[b]].push_back(static_cast<int>(b));
  row_pairs rows;
  for (std::size_t p = 0; p < probe.size(); ++p) {
    const auto found = rows_of.find(probe[p]);
    const bool is_found = found != rows_of.end();
    if (kind == strata::JoinKind::semi ? is_found : kind == strata::JoinKind::left && !is_found) {
      rows.emplace_back(static_cast<int>(p), -1);
    } else if (kind != strata::JoinKind::semi && is_found) {
      for (const int b : found->second) rows.emplace_back(static_cast<int>(p), b);
    }
  }
  return rows;
}

struct join_run {
  row_pairs rows;
  /// On the host back end: the blocks and threads of all launches, and what they did.
  std::vector<std::uint64_t> statistics;
};

template <class Hub, class Call>
join_run run_join(const std::vector<unsigned>& build, const std::vector<unsigned>& probe, std::size_t results,
                  const Call& call) {
  const device_vector<unsigned> build_keys(build), probe_keys(probe);
  device_vector<int> build_rows(results), probe_rows(results);
  device_vector<long long> matches(1);
#if STRATA_HOST_SIMT
  strata::simt::reset_statistics();
#endif
  EXPECT_CUDA_SUCCESS(in_one_phase([&] {
    return call(Hub{}, strata::join_side(build_keys.data(), static_cast<int>(build.size())),
                strata::join_side(probe_keys.data(), static_cast<int>(probe.size())),
                strata::join_pairs(build_rows.data(), probe_rows.data(), static_cast<std::int64_t>(results)),
                matches.data());
  }));
  EXPECT_EQ(static_cast<long long>(results), matches.to_host()[0]);
  join_run run;
#if STRATA_HOST_SIMT
  const auto& all = strata::simt::stats();
  run.statistics = {all.blocks, all.threads, all.collectives, all.barriers};
#endif
  const std::vector<int> b = build_rows.to_host(), p = probe_rows.to_host();
  for (std::size_t i = 0; i < results; ++i) run.rows.emplace_back(p[i], b[i]);
  return run;
}

/// Expects that a chain joins as its older policy does alone: results are right, and kernels and launches are the same.
template <class Older = older_join_rows, class Call>
void expect_older(const std::vector<unsigned>& build, const std::vector<unsigned>& probe, const Call& call,
                  bool is_ordered = false, strata::JoinKind kind = strata::JoinKind::inner) {
  const row_pairs expected = joined(build, probe, kind);
  join_run in_chain = run_join<chain_of<Older, newer_join_rows>>(build, probe, expected.size(), call);
  const join_run alone = run_join<one_policy_hub<Older>>(build, probe, expected.size(), call);
  EXPECT_EQ(in_chain.statistics, alone.statistics);
  if (!is_ordered) std::sort(in_chain.rows.begin(), in_chain.rows.end());
  EXPECT_TRUE(in_chain.rows == expected);
}

/// Random keys. Key 7 is frequent.
std::vector<unsigned> join_keys(std::size_t rows, unsigned different, std::size_t frequent, unsigned seed) {
  std::vector<unsigned> keys = random_integers<unsigned>(rows, 0, different - 1, seed);
  for (std::size_t i = 0; i < frequent; ++i) keys[i * rows / frequent] = 7;
  return keys;
}

std::vector<unsigned> unique_keys(std::size_t rows, unsigned step) {
  std::vector<unsigned> keys(rows);
  for (std::size_t i = 0; i < rows; ++i) keys[i] = static_cast<unsigned>((i * 7919) % rows) * step;
  return keys;
}

template <class Options = strata::JoinOptions<>>
Options with_strategy(strata::JoinStrategy strategy) {
  Options options;
  options.strategy = strategy;
  return options;
}
using probe_order = strata::OrderedJoinOptions<>;
constexpr auto inner = [](auto hub, auto build, auto probe, auto output, auto* matches, const auto& options) {
  return strata::TunedDeviceHashJoin<decltype(hub)>::Inner(build, probe, output, matches, options);
};
constexpr auto one_pass = strata::JoinStrategy::radix_single;

/// So few output chunks that there is a block for each.
const std::vector<unsigned> few_build(64, 7), few_probe(10, 7);

// By one table in global memory, with its lists, counts, scans and output chunks.
TEST(older_policy_of_joins, table) {
  const std::vector<unsigned> build = join_keys(700, 300, 100, 1), probe = join_keys(1500, 400, 40, 2);
  const auto in_any_order = [](auto... arguments) {
    return inner(arguments..., with_strategy(strata::JoinStrategy::simple));
  };
  const auto in_probe_order = [](auto... arguments) {
    return inner(arguments..., with_strategy<probe_order>(strata::JoinStrategy::simple));
  };
  expect_older(build, probe, in_any_order);
  expect_older(few_build, few_probe, in_any_order);
  expect_older(build, probe, in_probe_order, true);
  expect_older(few_build, few_probe, in_probe_order, true);
  expect_older(build, probe, [](auto hub, auto build_side, auto probe_side, auto output, auto* matches) {
    using Table = strata::TunedJoinTable<decltype(hub), unsigned>;
    std::size_t bytes = 0;
    EXPECT_CUDA_SUCCESS(Table::MemoryBytes(build_side, bytes));
    const scratch memory(bytes);
    Table table(memory.data(), bytes, build_side);
    EXPECT_CUDA_SUCCESS(table.Build(700));
    const cudaError_t status = table.Inner(probe_side, output, matches);
    return status != cudaSuccess ? status : cudaDeviceSynchronize();
  });
}

TEST(older_policy_of_joins, one_table_in_shared_memory) {
  expect_older(join_keys(15, 20, 1, 1), join_keys(1500, 30, 40, 2),
               [](auto... arguments) { return inner(arguments..., strata::JoinOptions<>{}); });
}

// In one pass, with short tiles and with others, and in two passes. Keys with many rows are deferred.
TEST(older_policy_of_joins, partitions) {
  const auto by_partitions = [](auto... arguments) { return inner(arguments..., with_strategy(one_pass)); };
  for (const std::size_t rows : {60u, 150u, 700u}) {
    SCOPED_TRACE(rows);
    expect_older(join_keys(rows, 200, rows / 10, 1), join_keys(1500, 300, 40, 2), by_partitions);
    expect_older(join_keys(rows, 10, 1, 1), join_keys(500, 20, 1, 2), by_partitions);
  }
  expect_older<older_large_rows>(join_keys(150, 200, 3, 1), join_keys(1500, 300, 40, 2), by_partitions);
}

TEST(older_policy_of_joins, partitioned_columns) {
  std::vector<int> all(1500);
  std::iota(all.begin(), all.end(), 0);
  const device_vector<int> numbers(all);
  const auto columns = [in = numbers.data()](auto hub, auto build, auto probe, auto output, auto* matches) {
    return inner(hub, build, probe,
                 strata::join_columns<int>(output.capacity, strata::build_column(in, output.sink.build_out, -1),
                                           strata::probe_column(in, output.sink.probe_out, -1)),
                 matches, with_strategy(one_pass));
  };
  for (const std::size_t rows : {60u, 150u}) {
    expect_older(join_keys(rows, 200, rows / 10, 1), join_keys(1500, 300, 40, 2), columns);
  }
}

// A left join has one table for each partition, so a partition with a frequent key overflows.
TEST(older_policy_of_joins, overflowing_partitions) {
  const auto left = [](auto hub, auto build, auto probe, auto output, auto* matches) {
    return strata::TunedDeviceHashJoin<decltype(hub)>::Left(build, probe, output, matches, with_strategy(one_pass));
  };
  expect_older(join_keys(1000, 300, 600, 1), join_keys(1500, 400, 10, 2), left, false, strata::JoinKind::left);
  expect_older(
      join_keys(1000, 300, 600, 1), join_keys(1500, 400, 10, 2),
      [](auto... arguments) { return inner(arguments..., with_strategy<probe_order>(one_pass)); }, true);
}

TEST(older_policy_of_joins, key_sets) {
  for (const std::size_t rows : {150u, 2000u}) {
    expect_older(
        join_keys(rows, 2000, 3, 1), join_keys(1500, 3000, 40, 2),
        [](auto hub, auto build, auto probe, auto output, auto* matches) {
          return strata::TunedDeviceHashJoin<decltype(hub)>::Semi(build, probe, output, matches,
                                                                  with_strategy(one_pass));
        },
        false, strata::JoinKind::semi);
  }
}

TEST(older_policy_of_joins, bloom_filter) {
  expect_older(join_keys(150, 200, 3, 1), join_keys(1500, 2000, 40, 2),
               [](auto hub, auto build, auto probe, auto output, auto* matches) {
                 return inner(hub, build, probe.match_ratio(0.0), output, matches, with_strategy(one_pass));
               });
}

// A tile has more results than its block writes.
TEST(older_policy_of_joins, merge) {
  std::vector<unsigned> build = join_keys(700, 300, 100, 1), probe = join_keys(1500, 400, 40, 2);
  std::sort(build.begin(), build.end());
  std::sort(probe.begin(), probe.end());
  const auto in_any_order = [](auto hub, auto build_side, auto probe_side, auto... rest) {
    return inner(hub, build_side.sorted(), probe_side.sorted(), rest..., strata::JoinOptions<>{});
  };
  const auto in_probe_order = [](auto hub, auto build_side, auto probe_side, auto... rest) {
    return inner(hub, build_side.sorted(), probe_side.sorted(), rest..., probe_order{});
  };
  expect_older(build, probe, in_any_order);
  expect_older(few_build, few_probe, in_any_order);
  expect_older(build, probe, in_probe_order, true);
  expect_older(few_build, few_probe, in_probe_order, true);
}

TEST(older_policy_of_joins, direct_address) {
  constexpr unsigned rows = 1 << 14;
  expect_older(unique_keys(rows, 1), join_keys(rows + 100, rows, 1, 2),
               [](auto hub, auto build, auto probe, auto... rest) {
                 return inner(hub, build.unique().key_range(0, rows - 1), probe, rest..., strata::JoinOptions<>{});
               });
}

// By a selection, whose partners are found by position or, after two passes, by row. Then by lists of partners.
TEST(older_policy_of_joins, probe_order) {
  const auto by_lists = [](auto... arguments) { return inner(arguments..., with_strategy<probe_order>(one_pass)); };
  for (const std::size_t rows : {60u, 150u, 700u}) {
    SCOPED_TRACE(rows);
    const std::vector<unsigned> probe = join_keys(1500, 2 * static_cast<unsigned>(rows), 40, 2);
    expect_older(
        unique_keys(rows, 2), probe,
        [](auto hub, auto build, auto probe_side, auto... rest) {
          return inner(hub, build.unique(), probe_side, rest..., with_strategy<probe_order>(one_pass));
        },
        true);
    expect_older(join_keys(rows, 200, rows / 10, 1), probe, by_lists, true);
  }
  expect_older(few_build, few_probe, by_lists, true);
}

}  // namespace
