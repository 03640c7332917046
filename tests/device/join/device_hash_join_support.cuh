// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares joins of keys in device memory with simple ones.
#pragma once

#define STRATA_JOIN_BACKEND STRATA_JOIN_BACKEND_CUDA
#include <strata/device/device_hash_join.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device_call.cuh"
#include "device/join/device_hash_join_kinds.hpp"
#include "device/join/join_cases.hpp"

namespace device_join_test {

using namespace device_test;
using namespace join_cases;
using join_kinds::call_of;
using join_kinds::count_of;
using join_kinds::join_settings;
using join_kinds::pairs_of;
using strata::DeviceHashJoin;
using strata::JoinStrategy;

/// Partitions of 20 or 10 build rows, blocks of one or two warps, and up to 8 partitions in one pass, so that few rows
/// take two passes. Tiles of merges have 256 rows.
struct small_rows : strata::join_common_policy {
  static constexpr strata::join_table_tuning table{64, 128, 2, 1, 256};
  static constexpr strata::join_partition_tuning partition{64, {5, 3, 2}, {4, 2, 5}, 64, 3, 1, 128,
                                                           20, 10,        2,         3,  2, 5, 0};
  static constexpr strata::join_merge_tuning merge{64, 4, 4, 1, 0};
  static constexpr std::uint64_t least_partitioned_rows = 1;
};
using small_hub = one_policy_hub<small_rows>;

/// The methods that a call may need if its sides make all promises. `More` adds needs.
template <bool IsOrdered, unsigned More = 0>
using every_method = strata::detail::join_methods<strata::detail::needs_merge | strata::detail::needs_direct_address |
                                                  strata::detail::needs_key_sets | strata::detail::needs_one_each |
                                                  (IsOrdered ? strata::detail::needs_order : 0u) | More>;

/// Two sides in device memory, and a way to join them.
template <class Key, class Index, class Options = join_settings<>>
class device_joiner {
 public:
  template <class MakeKey>
  device_joiner(const side_ids& build, const side_ids& probe, MakeKey make_key)
      : build_(keys_of<Key>(build, make_key)),
        probe_(keys_of<Key>(probe, make_key)),
        build_valid_(build.valid_words()),
        probe_valid_(probe.valid_words()),
        has_nulls_(!build.null.empty() || !probe.null.empty()) {}

  /// Joins, and returns the first `capacity` rows of the result. `all` becomes the number of all rows.
  row_pairs run(JoinKind kind, Options options, std::int64_t capacity, std::int64_t& all);
  std::int64_t count(JoinKind kind, Options options);

  /// Compares results with `expected`, which is in the order of the probe rows.
  void check(JoinKind kind, const Options& options, const row_pairs& expected, bool all_capacities = true) {
    const auto size = static_cast<std::int64_t>(expected.size());
    row_pairs sorted = expected;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::int64_t> capacities{size + 3};
    if (all_capacities) {
      for (const std::int64_t capacity : {size, size - 1, size / 2, std::int64_t{0}}) {
        if (capacity >= 0 && capacity < capacities.back()) capacities.push_back(capacity);
      }
      EXPECT_EQ(size, count(kind, options));
    }
    for (const std::int64_t capacity : capacities) {
      std::int64_t all = -1;
      row_pairs out = run(kind, options, capacity, all);
      EXPECT_EQ(size, all);
      const auto written = static_cast<std::size_t>(std::min(capacity, size));
      ASSERT_EQ(written, out.size());
      if (options.order == JoinOrder::probe) {
        EXPECT_TRUE(std::equal(out.begin(), out.end(), expected.begin()))
            << "with a capacity of " << capacity << " of " << size;
      } else {
        // These may be any rows of the result, but none twice.
        std::sort(out.begin(), out.end());
        EXPECT_TRUE(std::includes(sorted.begin(), sorted.end(), out.begin(), out.end()))
            << "with a capacity of " << capacity << " of " << size;
      }
    }
  }

 private:
  static std::int64_t widened(Index row) { return row == strata::no_row<Index> ? -1 : static_cast<std::int64_t>(row); }
  static std::int64_t rows(const device_vector<Key>& keys) { return static_cast<std::int64_t>(keys.size()); }
  void give_nulls(Options& options) const {
    if (!has_nulls_) return;
    options.build_valid = build_valid_.data();
    options.probe_valid = probe_valid_.data();
  }

  device_vector<Key> build_;
  device_vector<Key> probe_;
  device_vector<std::uint32_t> build_valid_;
  device_vector<std::uint32_t> probe_valid_;
  bool has_nulls_;
};

template <class Key, class Index, class Options>
row_pairs device_joiner<Key, Index, Options>::run(JoinKind kind, Options options, std::int64_t capacity,
                                                  std::int64_t& all) {
  give_nulls(options);
  const bool has_build_rows = kind != JoinKind::semi && kind != JoinKind::anti;
  // Guard bands show writes behind the capacity.
  device_vector<Index> build_out(static_cast<std::size_t>(capacity));
  device_vector<Index> probe_out(static_cast<std::size_t>(capacity));
  device_vector<std::int64_t> total(1);
  EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return pairs_of(kind, storage, bytes, build_.data(), rows(build_), probe_.data(), rows(probe_), build_out.data(),
                    probe_out.data(), total.data(), capacity, options);
  }));
  all = total.to_host()[0];
  const std::vector<Index> build_rows = build_out.to_host();
  const std::vector<Index> probe_rows = probe_out.to_host();
  row_pairs out;
  for (std::size_t i = 0; i < build_rows.size(); ++i) {
    if (static_cast<std::int64_t>(i) >= all) {
      EXPECT_TRUE(strata_test::is_poison(build_rows[i]) && strata_test::is_poison(probe_rows[i]))
          << "written at " << i << ", behind the end";
      continue;
    }
    out.emplace_back(has_build_rows ? widened(build_rows[i]) : -1, widened(probe_rows[i]));
  }
  return out;
}

template <class Key, class Index, class Options>
std::int64_t device_joiner<Key, Index, Options>::count(JoinKind kind, Options options) {
  give_nulls(options);
  device_vector<std::int64_t> total(1);
  EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return count_of(kind, storage, bytes, build_.data(), rows(build_), probe_.data(), rows(probe_), total.data(),
                    options);
  }));
  return total.to_host()[0];
}

// device_hash_join_support.cu instantiates these joins for all tests, because each takes seconds to compile.
extern template class device_joiner<std::uint32_t, std::int32_t>;
extern template class device_joiner<std::int64_t, std::int32_t>;

inline bool is_unique(const side_ids& side) {
  std::vector<std::uint32_t> ids;
  std::size_t nulls = 0;
  for (std::size_t row = 0; row < side.ids.size(); ++row) {
    if (side.is_null(row)) {
      ++nulls;
    } else {
      ids.push_back(side.ids[row]);
    }
  }
  std::sort(ids.begin(), ids.end());
  return nulls < 2 && std::adjacent_find(ids.begin(), ids.end()) == ids.end();
}

/// Checks all kinds, orders and rules of nulls on few rows. Every `stride`-th shape is tested.
template <class Key, class Index, class Options = join_settings<>, class MakeKey>
void check_few_rows(MakeKey make_key, std::size_t stride, JoinStrategy strategy = JoinStrategy::automatic) {
  const std::vector<shape> shapes = few_rows_with_nulls();
  for (std::size_t i = 0; i < shapes.size(); i += stride) {
    const shape& data = shapes[i];
    device_joiner<Key, Index, Options> join(data.build, data.probe, make_key);
    for (const JoinKind kind : every_kind) {
      for (const bool nulls_equal : {false, true}) {
        const row_pairs expected = nested_loop_join(kind, data.build, data.probe, nulls_equal);
        for (const JoinOrder order : {JoinOrder::any, JoinOrder::probe}) {
          for (const bool unique : {false, true}) {
            if (unique && !is_unique(data.build)) continue;
            Options options;
            options.order = order;
            options.nulls_equal = nulls_equal;
            options.build_unique = unique;
            options.strategy = strategy;
            SCOPED_TRACE(testing::Message()
                         << data.name << ", kind " << static_cast<int>(kind) << ", order " << static_cast<int>(order)
                         << ", nulls equal " << nulls_equal << ", promised unique " << unique);
            join.check(kind, options, expected);
            if (testing::Test::HasFailure()) return;
          }
        }
      }
    }
  }
}

}  // namespace device_join_test
