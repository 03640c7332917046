// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceHashJoin where keys and results lie in host memory. The back end is the host, as it is
// wherever no CUDA compiler is, nor Metal; metal/ compiles it for Metal.
#ifndef STRATA_JOIN_BACKEND
#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_HOST
#endif
#include <strata/device/device_hash_join.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device_hash_join_kinds.hpp"
#include "device/join_cases.hpp"

namespace {

using namespace join_cases;
using strata::DeviceHashJoin;
using strata::JoinOptions;
using strata::JoinStrategy;
using strata::no_row;

constexpr bool by_metal = STRATA_JOIN_BACKEND == STRATA_JOIN_BACKEND_METAL;

// The strategies of the host back end.
std::vector<JoinStrategy> strategies() {
  if (!by_metal) return {JoinStrategy::cpu, JoinStrategy::automatic};
  return {JoinStrategy::cpu, JoinStrategy::automatic, JoinStrategy::simple, JoinStrategy::radix_single,
          JoinStrategy::radix_multi};
}

struct sides {
  std::vector<std::uint32_t> build = random_ids(700, 300);
  std::vector<std::uint32_t> probe = random_ids(900, 400);
  JoinOptions<> options;
  std::int64_t total = -1;

  std::int64_t build_rows() const { return static_cast<std::int64_t>(build.size()); }
  std::int64_t probe_rows() const { return static_cast<std::int64_t>(probe.size()); }

  /// `call(storage, bytes, build, build_rows, probe, probe_rows)`, twice.
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
        [kind](auto n, auto& options, auto&&... sides) {
          return join_kinds::count_of<std::int32_t>(kind, sides..., n, options);
        });
  }
}

// Those that are tested on GPUs: nulls, other keys and functors, both orders.
template <class Key, class Index, class Options = JoinOptions<>, class MakeKey>
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
    check_few_rows<composite, std::uint32_t, JoinOptions<composite_hash>>(as_composite, 4, strategy);
    check_few_rows<std::uint32_t, std::int64_t, JoinOptions<same_hash>>(as_u32, 4, strategy);
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
    return DeviceHashJoin::FullGather<std::int32_t>(sides..., strata::join_columns(column), &all.total, 4, all.options);
  }));
  EXPECT_EQ(5, all.total);
  EXPECT_EQ((std::vector<double>{1.5, 2.5, 3.5, -1, -2}), prices_out);
}

TEST(DeviceHashJoinOnHost, wrong_arguments_are_refused) {
  sides all;
  std::vector<std::int32_t> out(10, -7);
  const auto call = [&](auto&&... sides) {
    return DeviceHashJoin::SemiPairs(sides..., out.data(), &all.total, 10, all.options);
  };
  std::vector<JoinStrategy> wrong{static_cast<JoinStrategy>(5), static_cast<JoinStrategy>(-1)};
  if (!by_metal) wrong.insert(wrong.end(), {JoinStrategy::simple, JoinStrategy::radix_single});
  for (const auto strategy : wrong) {
    all.options.strategy = strategy;
    EXPECT_EQ(cudaErrorInvalidValue, all.run(call));
  }
  all.options.strategy = JoinStrategy::cpu;
  EXPECT_EQ(cudaErrorInvalidValue, all.run([&](auto&&... sides) {
    return DeviceHashJoin::InnerPairs(sides..., out.data(), out.data(), &all.total, 10, all.options);
  }));
  EXPECT_EQ(-1, all.total);
  EXPECT_EQ(std::vector<std::int32_t>(10, -7), out);
  EXPECT_EQ(cudaSuccess, all.run(call));
}

}  // namespace
