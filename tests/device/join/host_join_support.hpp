// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/device/join/host/host_join.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "device/join/join_oracles.hpp"

namespace host_join_test {

using namespace join_oracles;

using strata::HostJoinOptions;
using strata::HostJoinStatus;

// With these sizes, a few rows make many partitions, slices, chunks and tasks.
constexpr strata::HostJoinTuning tiny_tuning{3, 4, 5, 4, 7};

// Storage of exactly `bytes` bytes at an odd address, with garbage in it, between guards.
class guarded_storage {
 public:
  explicit guarded_storage(std::size_t bytes) : bytes_(bytes), all_(bytes + 1 + guard, 0xa5) {}
  void* get() { return all_.data() + 1; }
  bool guard_is_intact() const {
    return all_[0] == 0xa5 && std::all_of(all_.begin() + 1 + static_cast<std::ptrdiff_t>(bytes_), all_.end(),
                                          [](unsigned char byte) { return byte == 0xa5; });
  }

 private:
  static constexpr std::size_t guard = 64;
  std::size_t bytes_;
  std::vector<unsigned char> all_;
};

// Two sides, and functions that join them. Storage has the size that was asked for, and is poisoned and guarded.
template <class Key, class Index, class Hash = strata::JoinHash, class Equal = strata::detail::host_equality>
class joiner {
 public:
  template <class MakeKey>
  joiner(const side_ids& build, const side_ids& probe, MakeKey make_key, Hash hash = {}, Equal equal = {})
      : build_(keys_of<Key>(build, make_key)),
        probe_(keys_of<Key>(probe, make_key)),
        build_valid_(build.valid_words()),
        probe_valid_(probe.valid_words()),
        has_nulls_(!build.null.empty() || !probe.null.empty()),
        hash_(hash),
        equal_(equal) {}

  // Joins, and returns the first `capacity` rows of the result.
  row_pairs run(JoinKind kind, HostJoinOptions options, std::int64_t capacity, std::int64_t& total) {
    if (has_nulls_) {
      options.build_valid = build_valid_.data();
      options.probe_valid = probe_valid_.data();
    }
    const Index untouched = 77777;
    const auto slots = static_cast<std::size_t>(capacity);
    std::vector<Index> build_out(slots + 8, untouched);
    std::vector<Index> probe_out(slots + 8, untouched);
    std::size_t bytes = 0;
    const auto call = [&](void* storage) {
      return strata::detail::host_join_pairs(storage, bytes, kind, build_.data(),
                                             static_cast<std::int64_t>(build_.size()), probe_.data(),
                                             static_cast<std::int64_t>(probe_.size()), build_out.data(),
                                             probe_out.data(), &total, capacity, options, hash_, equal_);
    };
    EXPECT_EQ(call(nullptr), HostJoinStatus::success);
    guarded_storage storage(bytes);
    total = -1;
    EXPECT_EQ(call(storage.get()), HostJoinStatus::success);
    EXPECT_TRUE(storage.guard_is_intact());
    const std::size_t written = static_cast<std::size_t>(std::min(capacity, total));
    row_pairs out;
    for (std::size_t i = 0; i < written; ++i) {
      out.emplace_back(widened(build_out[i]), widened(probe_out[i]));
    }
    for (std::size_t i = written; i < slots + 8; ++i) {
      EXPECT_TRUE(build_out[i] == untouched && probe_out[i] == untouched) << "written at " << i << ", behind the end";
    }
    return out;
  }

  // Compares results with `expected`, which is in the order of the probe rows.
  void check(JoinKind kind, const HostJoinOptions& options, row_pairs expected) {
    std::int64_t total = 0;
    const auto size = static_cast<std::int64_t>(expected.size());
    row_pairs out = run(kind, options, size + 1, total);
    EXPECT_EQ(total, size);
    // Even if any order is allowed, rows come in the same order for all capacities.
    for (const std::int64_t capacity : {std::int64_t{0}, size / 2, size - 1, size}) {
      if (capacity < 0 || capacity > 100000) continue;
      const row_pairs part = run(kind, options, capacity, total);
      EXPECT_EQ(total, size);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), out.begin(), out.begin() + capacity))
          << "with a capacity of " << capacity;
    }
    if (options.order == JoinOrder::any) {
      std::sort(out.begin(), out.end());
      std::sort(expected.begin(), expected.end());
    }
    EXPECT_TRUE(out == expected) << out.size() << " rows, expected " << expected.size();
  }

 private:
  static std::int64_t widened(Index row) { return row == strata::no_row<Index> ? -1 : static_cast<std::int64_t>(row); }

  std::vector<Key> build_;
  std::vector<Key> probe_;
  std::vector<std::uint32_t> build_valid_;
  std::vector<std::uint32_t> probe_valid_;
  bool has_nulls_;
  Hash hash_;
  Equal equal_;
};

}  // namespace host_join_test
