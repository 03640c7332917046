// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "device/join/host_join_support.hpp"
#include "metal/metal_plain_join.hpp"

namespace metal_test {

using host_join_test::side_ids;
using host_join_test::sort_merge_join;

// Limits so low that a few rows make several tasks, slices, dispatches and command buffers.
inline MetalJoinTuning tiny_tuning() {
  MetalJoinTuning t;
  t.threads = 64;
  t.table_rows = 48;
  t.probe_rows = 100;
  t.bucket_rows = 7;
  t.pass_bits = 2;
  t.tasks = 5;
  t.dispatch_pairs = 9000;
  t.dispatches = 2;
  return t;
}

inline side_ids random_side(std::size_t rows, std::uint32_t range, std::uint32_t seed) {
  std::mt19937 random(seed);
  side_ids side;
  side.ids.resize(rows);
  for (auto& id : side.ids) id = static_cast<std::uint32_t>(random() % range);
  return side;
}
inline side_ids constant_side(std::size_t rows, std::uint32_t id) {
  side_ids side;
  side.ids.assign(rows, id);
  return side;
}

// 64-bit keys differ in their upper halves. Some of them differ nowhere else.
template <class Key>
Key key_of(std::uint32_t id) {
  if constexpr (sizeof(Key) == 8) {
    return static_cast<Key>(static_cast<std::uint64_t>(id) << 32 | (id % 3 == 0 ? 5u : id * 7));
  } else {
    return static_cast<Key>(id);
  }
}

template <class Key, class Index>
join_result call_join(JoinKind kind, const side_ids& build, const side_ids& probe, std::int64_t capacity,
                      const MetalJoinOptions& options, bool aligned = true, void* queue = nullptr) {
  return call_plain_join<Key, Index>(kind, host_join_test::keys_of<Key>(build, key_of<Key>),
                                     host_join_test::keys_of<Key>(probe, key_of<Key>), capacity, options, aligned,
                                     queue);
}

// Compares with the result of a sort-merge join, with room for all rows and with room for some.
template <class Key, class Index = std::int32_t>
void check_join(JoinKind kind, const side_ids& build, const side_ids& probe, const MetalJoinOptions& options,
                bool aligned = true) {
  row_pairs expected = sort_merge_join(kind, build, probe);
  std::sort(expected.begin(), expected.end());
  const auto total = static_cast<std::int64_t>(expected.size());
  for (const std::int64_t capacity : {total, total / 3}) {
    const join_result got = call_join<Key, Index>(kind, build, probe, capacity, options, aligned);
    ASSERT_EQ(got.status, MetalJoinStatus::success) << strata::metal_join_error_text();
    EXPECT_EQ(got.total, total);
    EXPECT_TRUE(got.kept_bounds) << "written outside";
    if (capacity == total) {
      EXPECT_TRUE(got.pairs == expected) << got.pairs.size() << " rows, " << total << " expected";
    } else {
      EXPECT_TRUE(std::includes(expected.begin(), expected.end(), got.pairs.begin(), got.pairs.end()))
          << "a row that is none of the result, or one twice";
    }
  }
}

}  // namespace metal_test
