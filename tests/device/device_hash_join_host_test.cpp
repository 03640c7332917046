// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceHashJoin where the host is the back end, as it is wherever no CUDA compiler is.
#include <strata/device/device_hash_join.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/join_cases.hpp"

namespace {

using namespace join_cases;
using strata::DeviceHashJoin;
using strata::JoinOptions;

static_assert(STRATA_JOIN_BACKEND == STRATA_JOIN_BACKEND_HOST, "no CUDA compiler, no Metal");

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
    options.order = JoinOrder::probe;
    options.threads = 2;
    std::size_t bytes = 0;
    const cudaError_t status =
        call(nullptr, bytes, build.data(), build_rows(), probe.data(), probe_rows());
    if (status != cudaSuccess) return status;
    std::vector<unsigned char> storage(bytes);
    return call(static_cast<void*>(storage.data()), bytes, build.data(), build_rows(), probe.data(),
                probe_rows());
  }
  row_pairs expected(JoinKind kind) const {
    return sort_merge_join(kind, {build, {}}, {probe, {}});
  }
};

template <class Pairs, class Count>
void check_pairs(JoinKind kind, const Pairs& pairs, const Count& count) {
  sides all;
  const row_pairs expected = all.expected(kind);
  std::vector<std::int32_t> build_out(expected.size() + 1, -7);
  std::vector<std::int32_t> probe_out(expected.size() + 1, -7);
  ASSERT_EQ(cudaSuccess, all.run([&](auto&&... sides) {
    return pairs(build_out.data(), probe_out.data(), &all.total,
                 static_cast<std::int64_t>(expected.size()), all.options, sides...);
  }));
  ASSERT_EQ(static_cast<std::int64_t>(expected.size()), all.total);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(expected[i].second, probe_out[i]);
    if (strata::detail::has_pairs(kind)) {
      EXPECT_EQ(expected[i].first, build_out[i]);
    }
  }
  EXPECT_EQ(-7, probe_out.back());
  all.total = -1;
  ASSERT_EQ(cudaSuccess,
            all.run([&](auto&&... sides) { return count(&all.total, all.options, sides...); }));
  EXPECT_EQ(static_cast<std::int64_t>(expected.size()), all.total);
}

TEST(DeviceHashJoinOnHost, every_kind_matches_a_sort_merge_join) {
  check_pairs(
      JoinKind::inner,
      [](auto b, auto p, auto n, auto capacity, auto& options, auto&&... sides) {
        return DeviceHashJoin::InnerPairs(sides..., b, p, n, capacity, options);
      },
      [](auto n, auto& options, auto&&... sides) {
        return DeviceHashJoin::InnerCount(sides..., n, options);
      });
  check_pairs(
      JoinKind::left,
      [](auto b, auto p, auto n, auto capacity, auto& options, auto&&... sides) {
        return DeviceHashJoin::LeftPairs(sides..., b, p, n, capacity, options);
      },
      [](auto n, auto& options, auto&&... sides) {
        return DeviceHashJoin::LeftCount(sides..., n, options);
      });
  check_pairs(
      JoinKind::full,
      [](auto b, auto p, auto n, auto capacity, auto& options, auto&&... sides) {
        return DeviceHashJoin::FullPairs(sides..., b, p, n, capacity, options);
      },
      [](auto n, auto& options, auto&&... sides) {
        return DeviceHashJoin::FullCount(sides..., n, options);
      });
  check_pairs(
      JoinKind::semi,
      [](auto, auto p, auto n, auto capacity, auto& options, auto&&... sides) {
        return DeviceHashJoin::SemiPairs(sides..., p, n, capacity, options);
      },
      [](auto n, auto& options, auto&&... sides) {
        return DeviceHashJoin::SemiCount(sides..., n, options);
      });
  check_pairs(
      JoinKind::anti,
      [](auto, auto p, auto n, auto capacity, auto& options, auto&&... sides) {
        return DeviceHashJoin::AntiPairs(sides..., p, n, capacity, options);
      },
      [](auto n, auto& options, auto&&... sides) {
        return DeviceHashJoin::AntiCount(sides..., n, options);
      });
}

TEST(DeviceHashJoinOnHost, columns_travel_with_their_rows) {
  sides all;
  all.build = {5, 6, 7};
  all.probe = {6, 9, 6};
  const std::vector<double> prices{1.5, 2.5, 3.5};
  std::vector<double> prices_out(5, -2);
  const auto column = strata::probe_column(prices.data(), prices_out.data(), -1.0);
  ASSERT_EQ(cudaSuccess, all.run([&](auto&&... sides) {
    return DeviceHashJoin::FullGather<std::int32_t>(sides..., strata::join_columns(column),
                                                    &all.total, 4, all.options);
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
  for (const auto strategy : {strata::JoinStrategy::simple, strata::JoinStrategy::radix_single}) {
    all.options.strategy = strategy;
    EXPECT_EQ(cudaErrorInvalidValue, all.run(call));
  }
  all.options.strategy = strata::JoinStrategy::cpu;
  EXPECT_EQ(cudaErrorInvalidValue, all.run([&](auto&&... sides) {
    return DeviceHashJoin::InnerPairs(sides..., out.data(), out.data(), &all.total, 10,
                                      all.options);
  }));
  EXPECT_EQ(-1, all.total);
  EXPECT_EQ(std::vector<std::int32_t>(10, -7), out);
  EXPECT_EQ(cudaSuccess, all.run(call));
}

}  // namespace
