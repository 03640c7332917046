// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// JoinTable on the host: built once, probed often, by several threads at the same time.
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_HOST
#include <strata/device/device_hash_join.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "device/join/device_hash_join_kinds.hpp"
#include "device/join/join_cases.hpp"

namespace {

using namespace join_cases;
using join_kinds::call_of;
using strata::DeviceHashJoin;
using strata::no_row;

template <class Index>
std::int64_t widened(Index row) {
  return row == no_row<Index> ? -1 : static_cast<std::int64_t>(row);
}

template <class Key>
auto side_of(const std::vector<Key>& keys, const side_ids& side, const std::vector<std::uint32_t>& valid) {
  return strata::join_side(keys.data(), keys.size()).valid(side.null.empty() ? nullptr : valid.data());
}

/// Returns the rows of the result of `join(output, total)`. There must be `capacity` rows.
template <class Index, class Join>
row_pairs rows_of(JoinKind kind, const Join& join, std::size_t capacity) {
  std::vector<Index> build_out(capacity + 1, Index{77}), probe_out(capacity + 1, Index{77});
  std::int64_t total = -1;
  const auto output = strata::join_pairs(build_out.data(), probe_out.data(), capacity);
  EXPECT_EQ(cudaSuccess, join(output, &total));
  EXPECT_EQ(static_cast<std::int64_t>(capacity), total);
  EXPECT_TRUE(build_out.back() == Index{77} && probe_out.back() == Index{77});
  row_pairs out;
  for (std::size_t i = 0; i < capacity; ++i) {
    out.emplace_back(strata::detail::has_pairs(kind) ? widened(build_out[i]) : -1, widened(probe_out[i]));
  }
  return out;
}

template <class Key, class Index, class Hash, JoinOrder Order, class MakeKey>
void check_shape(const shape& data, bool nulls_equal, MakeKey make_key) {
  using Table = strata::JoinTable<Key, Index, Hash, strata::Equality, Order>;
  const auto build_keys = keys_of<Key>(data.build, make_key), probe_keys = keys_of<Key>(data.probe, make_key);
  const auto build_valid = data.build.valid_words(), probe_valid = data.probe.valid_words();
  const auto build = side_of(build_keys, data.build, build_valid);
  const auto probe = side_of(probe_keys, data.probe, probe_valid);
  typename Table::Options options;
  options.nulls_equal = nulls_equal;
  options.threads = 2;
  std::size_t bytes = 0;
  ASSERT_EQ(cudaSuccess, Table::MemoryBytes(build, bytes, options));
  std::vector<unsigned char> memory(bytes + 8, 0xa5);
  Table table(memory.data(), bytes, build, options);
  ASSERT_EQ(cudaSuccess, table.Build(static_cast<std::int64_t>(build_keys.size())));
  EXPECT_EQ(8, std::count(memory.end() - 8, memory.end(), 0xa5)) << "written behind the memory";
  const std::vector<unsigned char> built = memory;
  for (int again = 0; again < 2; ++again) {
    for (const JoinKind kind : every_kind) {
      row_pairs expected = nested_loop_join(kind, data.build, data.probe, nulls_equal);
      const auto by_table = [&](const auto& output, std::int64_t* total) {
        return call_of(kind, table, probe, output, total);
      };
      const auto at_once = [&](const auto& output, std::int64_t* total) {
        return call_of(kind, DeviceHashJoin{}, build, probe, output, total, options);
      };
      row_pairs got = rows_of<Index>(kind, by_table, expected.size());
      // Even if any order is allowed, rows come in the order of one join: all rows are in the table, so it has the same
      // partitions.
      EXPECT_EQ(rows_of<Index>(kind, at_once, expected.size()), got);
      if (Order == JoinOrder::any) {
        std::sort(got.begin(), got.end());
        std::sort(expected.begin(), expected.end());
      }
      ASSERT_EQ(expected, got) << data.name << ", kind " << static_cast<int>(kind);
    }
  }
  EXPECT_EQ(built, memory) << "a probe has written to the table";
}

template <class Key, class Index, class Hash = strata::JoinHash, class MakeKey>
void check_few_rows(MakeKey make_key) {
  for (const shape& data : few_rows_with_nulls()) {
    for (const bool nulls_equal : {false, true}) {
      check_shape<Key, Index, Hash, JoinOrder::any>(data, nulls_equal, make_key);
      check_shape<Key, Index, Hash, JoinOrder::probe>(data, nulls_equal, make_key);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(JoinTableOnHost, gives_the_rows_of_one_join) {
  check_few_rows<std::uint32_t, std::int32_t>(as_u32);
  check_few_rows<std::int64_t, std::uint64_t>(as_i64);
  check_few_rows<bytes12, std::int64_t>(as_bytes12);
}
TEST(JoinTableOnHost, composite_keys) { check_few_rows<composite, std::int32_t, composite_hash>(as_composite); }
TEST(JoinTableOnHost, keys_that_all_collide) { check_few_rows<std::uint32_t, std::uint32_t, same_hash>(as_u32); }

struct counted_hash {
  std::atomic<std::int64_t>* calls;
  std::uint32_t operator()(std::uint32_t key) const {
    calls->fetch_add(1, std::memory_order_relaxed);
    return key;
  }
};

/// Many rows in several partitions, some of them added later.
struct many_rows {
  using Table = strata::JoinTable<std::uint32_t, std::int32_t, counted_hash>;

  static auto side(const std::vector<std::uint32_t>& keys, std::size_t rows) {
    return strata::join_side(keys.data(), rows);
  }

  many_rows() {
    std::size_t bytes = 0;
    EXPECT_EQ(cudaSuccess, Table::MemoryBytes(side(build, build.size()), bytes, options));
    memory.assign(bytes, 0xa5);
  }

  std::vector<std::uint32_t> build = random_ids(60000, 40000), probe = random_ids(900, 50000);
  std::atomic<std::int64_t> hashed{0};
  Table::Options options{false, strata::JoinStrategy::automatic, 2, counted_hash{&hashed}};
  std::vector<unsigned char> memory;
};

// The build side is hashed only when rows are inserted. A probe hashes its own rows, twice.
TEST(JoinTableOnHost, a_probe_does_not_look_at_the_build_side_again) {
  many_rows all;
  many_rows::Table table(all.memory.data(), all.memory.size(), all.side(all.build, all.build.size()), all.options);
  ASSERT_EQ(cudaSuccess, table.Build(50000));
  ASSERT_EQ(cudaSuccess, table.Insert(10000));
  EXPECT_LE(2 * 60000, all.hashed);
  for (int again = 0; again < 3; ++again) {
    for (const JoinKind kind : every_kind) {
      all.hashed = 0;
      std::int64_t total = -1;
      ASSERT_EQ(cudaSuccess, call_of(kind, table, all.side(all.probe, all.probe.size()), strata::join_count(), &total));
      EXPECT_EQ(static_cast<std::int64_t>(sort_merge_join(kind, {all.build, {}}, {all.probe, {}}).size()), total);
      EXPECT_GE(2 * 900, all.hashed);
    }
  }
}

TEST(JoinTableOnHost, threads_probe_at_the_same_time) {
  many_rows all;
  many_rows::Table table(all.memory.data(), all.memory.size(), all.side(all.build, all.build.size()), all.options);
  ASSERT_EQ(cudaSuccess, table.Build(60000));
  std::vector<std::vector<std::uint32_t>> probes;
  std::vector<row_pairs> expected, got(5);
  // Two full joins, because a full join notes which build rows have partners.
  const JoinKind kinds[] = {JoinKind::full, JoinKind::full, JoinKind::inner, JoinKind::left, JoinKind::anti};
  for (const JoinKind kind : kinds) {
    probes.push_back(random_ids(2000, 50000));
    expected.push_back(sort_merge_join(kind, {all.build, {}}, {probes.back(), {}}));
    std::sort(expected.back().begin(), expected.back().end());
  }
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    threads.emplace_back([&, i] {
      const JoinKind kind = kinds[i];
      for (int again = 0; again < 5; ++again) {
        got[i] = rows_of<std::int32_t>(
            kind,
            [&](const auto& output, std::int64_t* total) {
              return call_of(kind, table, all.side(probes[i], probes[i].size()), output, total);
            },
            expected[i].size());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < probes.size(); ++i) {
    std::sort(got[i].begin(), got[i].end());
    EXPECT_TRUE(expected[i] == got[i]) << i;
  }
}

TEST(JoinTableOnHost, a_table_without_rows_and_one_that_is_built_again) {
  many_rows all;
  many_rows::Table table(all.memory.data(), all.memory.size(), all.side(all.build, all.build.size()), all.options);
  for (const std::int64_t rows : {0, 1, 60000, 700, 0}) {
    ASSERT_EQ(cudaSuccess, table.Build(rows));
    ASSERT_EQ(cudaSuccess, table.Insert(0));
    const std::vector<std::uint32_t> in_table(all.build.begin(), all.build.begin() + rows);
    for (const JoinKind kind : every_kind) {
      std::int64_t total = -1;
      ASSERT_EQ(cudaSuccess, call_of(kind, table, all.side(all.probe, all.probe.size()), strata::join_count(), &total));
      EXPECT_EQ(static_cast<std::int64_t>(sort_merge_join(kind, {in_table, {}}, {all.probe, {}}).size()), total);
      ASSERT_EQ(cudaSuccess, call_of(kind, table, all.side(all.probe, 0), strata::join_count(), &total));
      EXPECT_EQ(kind == JoinKind::full ? rows : 0, total);
    }
  }
}

TEST(JoinTableOnHost, refuses_what_it_has_no_memory_for) {
  many_rows all;
  const auto build = all.side(all.build, all.build.size());
  const auto probe = all.side(all.probe, all.probe.size());
  using Table = many_rows::Table;
  Table small(all.memory.data(), all.memory.size() - 1, build, all.options);
  EXPECT_EQ(cudaErrorInvalidValue, small.Build(10));
  Table table(all.memory.data(), all.memory.size(), build, all.options);
  ASSERT_EQ(cudaSuccess, table.Build(60000));
  std::int64_t total = -7;
  std::size_t bytes = 0;
  ASSERT_EQ(cudaSuccess, table.Full(nullptr, bytes, probe, strata::join_count(), &total));
  std::vector<unsigned char> storage(bytes);
  std::size_t less = bytes - 1;
  EXPECT_EQ(cudaErrorInvalidValue, table.Full(storage.data(), less, probe, strata::join_count(), &total));
  std::vector<std::int32_t> out(10, -7);
  EXPECT_EQ(cudaErrorInvalidValue,
            table.Inner(storage.data(), bytes, probe, strata::join_pairs(out.data(), out.data() + 5, -1), &total));
  EXPECT_EQ(-7, total);
  all.options.strategy = strata::JoinStrategy::simple;
  Table for_devices(all.memory.data(), all.memory.size(), build, all.options);
  EXPECT_EQ(cudaErrorInvalidValue, for_devices.Build(10));
  EXPECT_EQ(cudaErrorInvalidValue, Table::MemoryBytes(build, bytes, all.options));
  all.options.strategy = strata::JoinStrategy::automatic;
  Table nowhere(nullptr, 0, build, all.options);
  EXPECT_EQ(cudaErrorInvalidValue, nowhere.Build(10));
  EXPECT_EQ(cudaSuccess, nowhere.Full(nullptr, bytes, probe, strata::join_count(), &total));
  EXPECT_EQ(cudaErrorInvalidValue, nowhere.Full(storage.data(), bytes, probe, strata::join_count(), &total));
  EXPECT_EQ(cudaErrorInvalidValue, Table::MemoryBytes(strata::join_side<std::uint32_t>(nullptr, -1), bytes));
}

}  // namespace
