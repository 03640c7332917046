// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceHashJoin with keys and results in host memory. The host joins them, as it does where there is neither a CUDA
// compiler nor Metal. metal/ compiles this source for Metal.
#ifndef STRATA_JOIN_BACKEND
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_HOST
#endif
#include <strata/device/device_hash_join.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/join/device_hash_join_kinds.hpp"
#include "device/join/join_cases.hpp"
#include "device/join/join_promises.hpp"

namespace {

using namespace join_cases;
using join_kinds::join_settings;
using strata::DeviceHashJoin;
using strata::JoinStrategy;
using strata::no_row;

constexpr bool by_metal = STRATA_JOIN_BACKEND == STRATA_JOIN_BACKEND_METAL;

// The strategies that the back end accepts.
std::vector<JoinStrategy> strategies() {
  if (!by_metal) return {JoinStrategy::cpu, JoinStrategy::automatic};
  return {JoinStrategy::cpu, JoinStrategy::automatic, JoinStrategy::simple, JoinStrategy::radix_single,
          JoinStrategy::radix_multi};
}

struct sides {
  std::vector<std::uint32_t> build = random_ids(700, 300);
  std::vector<std::uint32_t> probe = random_ids(900, 400);
  join_settings<> options;
  std::int64_t total = -1;

  std::int64_t build_rows() const { return static_cast<std::int64_t>(build.size()); }
  std::int64_t probe_rows() const { return static_cast<std::int64_t>(probe.size()); }

  /// Makes `call(storage, bytes, build, build_rows, probe, probe_rows)` twice: for the size of the storage, and with
  /// storage.
  template <class Call>
  cudaError_t run(const Call& call) {
    options.threads = 2;
    std::size_t bytes = 0;
    const cudaError_t status = call(nullptr, bytes, build.data(), build_rows(), probe.data(), probe_rows());
    if (status != cudaSuccess) return status;
    std::vector<unsigned char> storage(bytes);
    return call(static_cast<void*>(storage.data()), bytes, build.data(), build_rows(), probe.data(), probe_rows());
  }
  row_pairs expected(JoinKind kind) const { return sort_merge_join(kind, {build, {}}, {probe, {}}); }
};

template <class Pairs, class Count>
void check_pairs(JoinKind kind, const Pairs& pairs, const Count& count) {
  for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
    for (const JoinStrategy strategy : strategies()) {
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", strategy "
                                      << static_cast<int>(strategy) << ", order " << static_cast<int>(order));
      sides all;
      all.options.order = order;
      all.options.strategy = strategy;
      row_pairs expected = all.expected(kind);
      std::vector<std::int32_t> build_out(expected.size() + 1, -7);
      std::vector<std::int32_t> probe_out(expected.size() + 1, -7);
      ASSERT_EQ(cudaSuccess, all.run([&](auto&&... sides) {
        return pairs(build_out.data(), probe_out.data(), &all.total, static_cast<std::int64_t>(expected.size()),
                     all.options, sides...);
      }));
      ASSERT_EQ(static_cast<std::int64_t>(expected.size()), all.total);
      row_pairs got;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        got.emplace_back(strata::detail::has_pairs(kind) ? build_out[i] : -1, probe_out[i]);
      }
      if (order == JoinOrder::any) {
        std::sort(got.begin(), got.end());
        std::sort(expected.begin(), expected.end());
      }
      EXPECT_EQ(expected, got);
      EXPECT_EQ(-7, probe_out.back());
      all.total = -1;
      ASSERT_EQ(cudaSuccess, all.run([&](auto&&... sides) { return count(&all.total, all.options, sides...); }));
      EXPECT_EQ(static_cast<std::int64_t>(expected.size()), all.total);
    }
  }
}

TEST(DeviceHashJoinOnHost, every_kind_matches_a_sort_merge_join) {
  for (const JoinKind kind : every_kind) {
    check_pairs(
        kind,
        [kind](auto b, auto p, auto n, auto capacity, auto& options, auto&&... sides) {
          return join_kinds::pairs_of(kind, sides..., b, p, n, capacity, options);
        },
        [kind](auto n, auto& options, auto&&... sides) { return join_kinds::count_of(kind, sides..., n, options); });
  }
}

// Checks the shapes that are also tested on GPUs, with nulls, other keys and functors, in both orders.
template <class Key, class Index, class Options = join_settings<>, class MakeKey>
void check_few_rows(MakeKey make_key, std::size_t stride, JoinStrategy strategy) {
  const std::vector<shape> shapes = few_rows_with_nulls();
  for (std::size_t i = 0; i < shapes.size(); i += stride) {
    const shape& data = shapes[i];
    const auto build = keys_of<Key>(data.build, make_key);
    const auto probe = keys_of<Key>(data.probe, make_key);
    const auto build_valid = data.build.valid_words();
    const auto probe_valid = data.probe.valid_words();
    for (const JoinKind kind : every_kind) {
      for (const bool nulls_equal : {false, true}) {
        for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
          Options options;
          options.order = order;
          options.strategy = strategy;
          options.nulls_equal = nulls_equal;
          options.threads = 1;
          if (!data.build.null.empty()) options.build_valid = build_valid.data();
          if (!data.probe.null.empty()) options.probe_valid = probe_valid.data();
          row_pairs expected = nested_loop_join(kind, data.build, data.probe, nulls_equal);
          std::vector<Index> build_out(expected.size() + 1, no_row<Index>);
          std::vector<Index> probe_out(expected.size() + 1, no_row<Index>);
          std::int64_t total = -1;
          std::size_t bytes = 0;
          std::vector<unsigned char> storage;
          for (int call = 0; call < 2; ++call) {
            storage.resize(bytes);
            ASSERT_EQ(cudaSuccess,
                      join_kinds::pairs_of(kind, call == 0 ? nullptr : storage.data(), bytes, build.data(),
                                           static_cast<std::int64_t>(build.size()), probe.data(),
                                           static_cast<std::int64_t>(probe.size()), build_out.data(), probe_out.data(),
                                           &total, static_cast<std::int64_t>(expected.size()), options));
          }
          const auto widened = [](Index row) { return row == no_row<Index> ? -1 : static_cast<std::int64_t>(row); };
          row_pairs got;
          for (std::size_t r = 0; r < expected.size(); ++r) {
            got.emplace_back(widened(build_out[r]), widened(probe_out[r]));
          }
          if (order == JoinOrder::any) {
            std::sort(got.begin(), got.end());
            std::sort(expected.begin(), expected.end());
          }
          ASSERT_EQ(static_cast<std::int64_t>(expected.size()), total) << data.name;
          ASSERT_EQ(expected, got) << data.name << ", kind " << static_cast<int>(kind);
        }
      }
    }
  }
}

TEST(DeviceHashJoinOnHost, few_rows_of_keys_of_many_types) {
  for (const JoinStrategy strategy : strategies()) {
    SCOPED_TRACE(testing::Message() << "strategy " << static_cast<int>(strategy));
    check_few_rows<std::uint32_t, std::int32_t>(as_u32, 1, strategy);
    check_few_rows<std::int64_t, std::uint64_t>(as_i64, 4, strategy);
    check_few_rows<bytes12, std::int32_t>(as_bytes12, 4, strategy);
    check_few_rows<composite, std::uint32_t, join_settings<composite_hash>>(as_composite, 4, strategy);
    check_few_rows<std::uint32_t, std::int64_t, join_settings<same_hash>>(as_u32, 4, strategy);
  }
}

// The host uses no promise, so broken promises do not change the result.
TEST(DeviceHashJoinOnHost, broken_promises_change_nothing) {
  for (const shape& data : join_promises::repeated_keys(200)) {
    for (const JoinKind kind : every_kind) {
      sides all;
      all.build = data.build.ids;
      all.probe = data.probe.ids;
      all.options.order = JoinOrder::probe;
      all.options.build_unique = all.options.sorted = true;
      all.options.key_range = {1000, 7};
      all.options.matching = 0.01;
      const row_pairs expected = all.expected(kind);
      std::vector<std::int32_t> build_out(expected.size() + 1, -7), probe_out(expected.size() + 1, -7);
      ASSERT_EQ(cudaSuccess, all.run([&](auto&&... sides) {
        return join_kinds::pairs_of(kind, sides..., build_out.data(), probe_out.data(), &all.total,
                                    static_cast<std::int64_t>(expected.size()), all.options);
      }));
      ASSERT_EQ(static_cast<std::int64_t>(expected.size()), all.total);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(expected[i], row_pair(strata::detail::has_pairs(kind) ? build_out[i] : -1, probe_out[i]));
      }
      EXPECT_TRUE(build_out.back() == -7 && probe_out.back() == -7);
    }
  }
}

TEST(DeviceHashJoinOnHost, columns_travel_with_their_rows) {
  sides all;
  all.options.order = JoinOrder::probe;
  all.build = {5, 6, 7};
  all.probe = {6, 9, 6};
  const std::vector<double> prices{1.5, 2.5, 3.5};
  std::vector<double> prices_out(5, -2);
  const auto column = strata::probe_column(prices.data(), prices_out.data(), -1.0);
  ASSERT_EQ(cudaSuccess, all.run([&](auto&&... sides) {
    return join_kinds::join_of(JoinKind::full, sides..., strata::join_columns<std::int32_t>(4, column), &all.total,
                               all.options);
  }));
  EXPECT_EQ(5, all.total);
  EXPECT_EQ((std::vector<double>{1.5, 2.5, 3.5, -1, -2}), prices_out);
}

TEST(DeviceHashJoinOnHost, storage_comes_from_the_heap_if_none_is_given) {
  const sides all;
  for (const JoinKind kind : every_kind) {
    row_pairs expected = all.expected(kind);
    const auto build = strata::join_side(all.build.data(), static_cast<int>(all.build.size()));
    const auto probe = strata::join_side(all.probe.data(), all.probe.size());
    std::vector<std::int64_t> probe_out(expected.size(), -7);
    std::uint64_t total = 0;
    ASSERT_EQ(cudaSuccess,
              join_kinds::call_of(kind, DeviceHashJoin{}, build, probe,
                                  strata::join_columns(expected.size(),
                                                       [&](std::int64_t position, std::int64_t, std::int64_t p) {
                                                         probe_out[static_cast<std::size_t>(position)] = p;
                                                       }),
                                  &total));
    ASSERT_EQ(expected.size(), total);
    std::vector<std::int64_t> expected_out;
    for (const auto& row : expected) expected_out.push_back(row.second);
    std::sort(expected_out.begin(), expected_out.end());
    std::sort(probe_out.begin(), probe_out.end());
    EXPECT_EQ(expected_out, probe_out);
  }
}

#if STRATA_JOIN_BACKEND == STRATA_JOIN_BACKEND_HOST
struct memory_on_loan {
  void* allocate(std::size_t bytes, cudaStream_t) {
    memory.resize(bytes);
    ++allocations;
    return memory.data();
  }
  void deallocate(void* returned, std::size_t bytes, cudaStream_t) {
    EXPECT_EQ(memory.data(), returned);
    EXPECT_EQ(memory.size(), bytes);
    ++deallocations;
  }
  std::vector<unsigned char> memory;
  int allocations = 0, deallocations = 0;
};

TEST(DeviceHashJoinOnHost, storage_comes_from_the_resource_of_the_execution) {
  const sides all;
  const auto build = strata::join_side(all.build.data(), all.build.size());
  const auto probe = strata::join_side(all.probe.data(), all.probe.size());
  memory_on_loan memory;
  std::int64_t total = 0;
  ASSERT_EQ(cudaSuccess,
            DeviceHashJoin::Inner(build, probe, strata::join_count(), &total, {}, strata::execution{nullptr, memory}));
  EXPECT_EQ(static_cast<std::int64_t>(all.expected(JoinKind::inner).size()), total);
  EXPECT_EQ(1, memory.allocations);
  EXPECT_EQ(1, memory.deallocations);
}
#endif

TEST(DeviceHashJoinOnHost, tables_join_the_rows_that_they_have) {
  const sides all;
  const auto build = strata::join_side(all.build.data(), all.build.size());
  const auto probe = strata::join_side(all.probe.data(), all.probe.size());
  using Table = strata::JoinTable<std::uint32_t, std::int32_t>;
  std::size_t bytes = 0;
  ASSERT_EQ(cudaSuccess, Table::MemoryBytes(build, bytes));
  std::vector<unsigned char> memory(bytes);
  Table table(memory.data(), bytes, build);
  std::int64_t total = -1;
  EXPECT_EQ(cudaErrorInvalidValue, table.Insert(1));
  EXPECT_EQ(cudaErrorInvalidValue, table.Inner(probe, strata::join_count(), &total));
  EXPECT_EQ(cudaErrorInvalidValue, table.Build(all.build_rows() + 1));
  ASSERT_EQ(cudaSuccess, table.Build(100));
  ASSERT_EQ(cudaSuccess, table.Insert(350));
  EXPECT_EQ(cudaErrorInvalidValue, table.Insert(all.build_rows() - 449));
  EXPECT_EQ(450, table.Rows());
  for (const JoinKind kind : every_kind) {
    const std::vector<std::uint32_t> in_table(all.build.begin(), all.build.begin() + 450);
    row_pairs expected = sort_merge_join(kind, {in_table, {}}, {all.probe, {}});
    std::vector<std::int32_t> build_out(expected.size()), probe_out(expected.size());
    ASSERT_EQ(cudaSuccess,
              join_kinds::call_of(kind, table, probe,
                                  strata::join_pairs(build_out.data(), probe_out.data(), expected.size()), &total));
    ASSERT_EQ(static_cast<std::int64_t>(expected.size()), total);
    row_pairs got;
    for (std::size_t i = 0; i < expected.size(); ++i) got.emplace_back(build_out[i], probe_out[i]);
    std::sort(got.begin(), got.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(expected, got);
  }
}

TEST(DeviceHashJoinOnHost, keys_may_be_computed) {
  const remainder_iterator build{70, 0}, probe{90, 5};
  const row_pairs expected = sort_merge_join(JoinKind::full, {build.read(300), {}}, {probe.read(200), {}});
  std::vector<std::int32_t> build_out(expected.size()), probe_out(expected.size());
  std::int64_t total = -1;
  strata::OrderedJoinOptions<> options;
  ASSERT_EQ(cudaSuccess, DeviceHashJoin::Full(strata::join_side(build, 300), strata::join_side(probe, 200),
                                              strata::join_pairs(build_out.data(), probe_out.data(), expected.size()),
                                              &total, options));
  ASSERT_EQ(static_cast<std::int64_t>(expected.size()), total);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(expected[i], row_pair(build_out[i], probe_out[i]));
}

TEST(DeviceHashJoinOnHost, wrong_arguments_are_refused) {
  sides all;
  std::vector<std::int32_t> out(10, -7);
  const auto call = [&](auto&&... sides) {
    return join_kinds::join_of(JoinKind::semi, sides..., strata::join_pairs(nullptr, out.data(), 10), &all.total,
                               all.options);
  };
  std::vector<JoinStrategy> wrong{static_cast<JoinStrategy>(5), static_cast<JoinStrategy>(-1)};
  if (!by_metal) wrong.insert(wrong.end(), {JoinStrategy::simple, JoinStrategy::radix_single});
  for (const auto strategy : wrong) {
    all.options.strategy = strategy;
    EXPECT_EQ(cudaErrorInvalidValue, all.run(call));
  }
  all.options.strategy = JoinStrategy::cpu;
  EXPECT_EQ(cudaErrorInvalidValue, all.run([&](auto&&... sides) {
    return join_kinds::pairs_of(JoinKind::inner, sides..., out.data(), out.data(), &all.total, 10, all.options);
  }));
  EXPECT_EQ(-1, all.total);
  EXPECT_EQ(std::vector<std::int32_t>(10, -7), out);
  EXPECT_EQ(cudaSuccess, all.run(call));
}

// The host reads a FutureCount when the join is called. Joins by Metal accept none.
#if STRATA_JOIN_BACKEND == STRATA_JOIN_BACKEND_HOST
TEST(DeviceHashJoinOnHost, numbers_of_rows_are_read_where_they_lie) {
  const std::vector<std::uint32_t> build = random_ids(300, 100), probe = random_ids(500, 150);
  std::int64_t total = -1;
  std::int16_t build_rows = -1;
  unsigned probe_rows = 0;
  const auto build_side = strata::join_side(build.data(), strata::FutureCount(&build_rows, 300));
  const auto probe_side = strata::join_side(probe.data(), strata::FutureCount(&probe_rows, 500));
  struct {
    std::int16_t build;
    unsigned probe;
  } const numbers[] = {{300, 500}, {70, 333}, {0, 500}, {300, 0}, {1, 1}, {299, 499}};
  for (const auto& number : numbers) {
    for (const JoinKind kind : every_kind) {
      build_rows = number.build;
      probe_rows = number.probe;
      const row_pairs expected =
          sort_merge_join(kind, {{build.begin(), build.begin() + number.build}, {}},
                          {{probe.begin(), probe.begin() + static_cast<std::ptrdiff_t>(number.probe)}, {}});
      std::vector<int> build_out(expected.size() + 1, -7), probe_out(expected.size() + 1, -7);
      const auto output = strata::join_pairs(build_out.data(), probe_out.data(), expected.size() + 1);
      const strata::OrderedJoinOptions<> options;
      ASSERT_EQ(cudaSuccess,
                join_kinds::call_of(kind, DeviceHashJoin{}, build_side, probe_side, output, &total, options));
      ASSERT_EQ(static_cast<std::int64_t>(expected.size()), total);
      row_pairs got;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        got.emplace_back(strata::detail::has_pairs(kind) ? build_out[i] : -1, probe_out[i]);
      }
      EXPECT_EQ(expected, got);
      EXPECT_EQ(-7, probe_out.back());
    }
  }
  // The build side has a FutureCount, the probe side a known number.
  build_rows = 70;
  ASSERT_EQ(cudaSuccess,
            DeviceHashJoin::Anti(build_side, strata::join_side(probe.data(), 0), strata::join_count(), &total));
  EXPECT_EQ(0, total);
#if !STRATA_DEBUG
  build_rows = -1;
  probe_rows = 501;
  ASSERT_EQ(cudaSuccess, DeviceHashJoin::Anti(build_side, probe_side, strata::join_count(), &total));
  EXPECT_EQ(500, total);
#endif
  const strata::FutureCount<int> nowhere(nullptr, 300);
  EXPECT_EQ(cudaErrorInvalidValue,
            DeviceHashJoin::Anti(strata::join_side(build.data(), nowhere), probe_side, strata::join_count(), &total));
}
#endif

}  // namespace
