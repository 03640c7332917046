// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceHashJoin by partitions if the result has no build rows: sets of keys in shared memory, and keys that do not fit
// a set.
#include <algorithm>
#include <initializer_list>
#include <random>

#include "device/join/device_hash_join_support.cuh"
#include "device/schedules.cuh"

namespace {

using namespace device_join_test;

// Returns the key whose hash is `word`. The upper bits of a hash choose a partition, the next ones a bucket.
std::uint32_t unmixed_word(std::uint32_t word) {
  word ^= word >> 16;
  word *= 0x43021123u;
  word ^= word >> 15 ^ word >> 30;
  word *= 0x1d69e2a5u;
  return word ^ word >> 16;
}

void check(const side_ids& build, const side_ids& probe, std::initializer_list<JoinOrder> orders = {JoinOrder::any}) {
  device_joiner<std::uint32_t, std::int32_t> join(build, probe, unmixed_word);
  for (const JoinStrategy strategy : {JoinStrategy::radix_single, JoinStrategy::radix_multi}) {
    if (if_small(strategy == JoinStrategy::radix_multi, false)) continue;
    for (const JoinKind kind : {JoinKind::semi, JoinKind::anti}) {
      const row_pairs expected = sort_merge_join(kind, build, probe);
      for (const JoinOrder order : orders) {
        SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", strategy "
                                        << static_cast<int>(strategy) << ", order " << static_cast<int>(order));
        join_settings<> options;
        options.strategy = strategy;
        options.order = order;
        join.check(kind, options, expected);
      }
    }
  }
}

// Adds hashes that share a partition, one of 256, and a bucket of its set if the set has 1024 buckets.
void add_neighbours(std::vector<std::uint32_t>& hashes, std::uint32_t partition, std::uint32_t bucket,
                    std::uint32_t first, std::uint32_t number) {
  for (std::uint32_t i = first; i < first + number; ++i) {
    hashes.push_back(partition << 24 | bucket << 14 | i);
  }
}

TEST(device_hash_join_set, keys_are_told_from_their_hashes) {
  for (const std::uint32_t word : {0u, 1u, 0x12345678u, ~0u}) {
    EXPECT_EQ(word, strata::detail::mixed_word(unmixed_word(word)));
  }
}

TEST(device_hash_join_set, neighbours_that_a_bucket_has_no_room_for) {
  side_ids build, probe;
  for (std::uint32_t bucket = 0; bucket < 4; ++bucket) {
    add_neighbours(build.ids, 3, 100 * bucket, 0, 7);
    // Some keys are in the set. Others have the same entry as a different key of another bucket or partition.
    add_neighbours(probe.ids, 3, 100 * bucket, 4, 9);
    add_neighbours(probe.ids, 3, 100 * bucket + 1, 4, 3);
    add_neighbours(probe.ids, 4, 100 * bucket, 4, 3);
  }
  check(build, probe);
}

TEST(device_hash_join_set, neighbours_of_many_rows) {
  side_ids build, probe;
  // These are more rows than a set lists, but few keys.
  for (int copy = 0; copy < 20; ++copy) add_neighbours(build.ids, 5, 9, 0, 5);
  // These are more keys than a set holds, and too many rows for a table, too.
  for (std::uint32_t bucket = 0; bucket < 4; ++bucket) {
    add_neighbours(build.ids, 6, 200 * bucket, 0, 40);
  }
  add_neighbours(build.ids, 7, 0, 0, 100);
  for (int copy = 0; copy < 150; ++copy) add_neighbours(build.ids, 8, 0, 1000, 1);
  add_neighbours(build.ids, 8, 7, 0, 3);
  // These are more rows than the count of a bucket can hold, but not too many for a table.
  for (std::uint32_t row = 0; row < 260; ++row) add_neighbours(build.ids, 255, 0, 1u << row % 3, 1);
  for (const std::uint32_t partition : {0u, 5u, 6u, 7u, 8u, 255u}) {
    for (const std::uint32_t bucket : {0u, 1u, 7u, 9u, 200u}) {
      add_neighbours(probe.ids, partition, bucket, 0, 60);
    }
    add_neighbours(probe.ids, partition, 0, 990, 20);
  }
  check(build, probe);
}

// Each piece of a partition makes its own set of the same build rows. Some sets may have room for all keys while others
// do not.
TEST(device_hash_join_set, most_probe_rows_in_one_partition) {
  side_ids build, probe;
  for (std::uint32_t bucket = 0; bucket < 6; ++bucket) {
    for (int copy = 0; copy < 3; ++copy) add_neighbours(build.ids, 1, 30 * bucket, 0, 6);
  }
  for (std::uint32_t bucket = 0; bucket < if_small(50u, 200u); ++bucket) {
    add_neighbours(probe.ids, 1, bucket, 0, 60);
  }
  check(build, probe, {JoinOrder::any, JoinOrder::probe});
}

// The order of the rows of a bucket decides whether a set has room for these keys. So blocks with pieces of one
// partition may decide differently.
TEST(device_hash_join_set, capacity_may_depend_on_the_order_of_rows) {
  constexpr std::uint32_t partition = 77, rows = 20000;
  std::mt19937_64 bits = strata_test::random_bits(77);
  side_ids build, probe;
  for (std::uint32_t bucket = 0; bucket < 144; ++bucket) {
    for (const std::uint32_t rest : {1u, 1u, 2u}) build.ids.push_back(partition << 24 | bucket << 14 | rest);
  }
  while (build.ids.size() < rows) {
    const auto hash = static_cast<std::uint32_t>(bits());
    if (hash >> 24 != partition) build.ids.push_back(hash);
  }
  std::shuffle(build.ids.begin(), build.ids.end(), bits);
  for (std::uint32_t i = 0; i < rows; ++i) {
    const auto bucket = static_cast<std::uint32_t>(bits() % 1024);
    probe.ids.push_back(partition << 24 | bucket << 14 | (i % 2 == 0 ? 1u : 3u));
  }
  device_joiner<std::uint32_t, std::int32_t> join(build, probe, unmixed_word);
  const row_pairs with_partners = sort_merge_join(JoinKind::semi, build, probe);
  const row_pairs others = sort_merge_join(JoinKind::anti, build, probe);
  under_all_schedules([&](std::size_t i) {
    join_settings<> options;
    options.strategy = JoinStrategy::radix_single;
    options.order = JoinOrder::probe;
    join.check(i % 2 == 0 ? JoinKind::semi : JoinKind::anti, options, i % 2 == 0 ? with_partners : others, false);
  });
}

TEST(device_hash_join_set, plan_determines_all_bits_of_a_hash) {
  using strata::detail::join_set_plan;
  for (int bits = 1; bits <= strata::detail::max_join_partition_bits; ++bits) {
    constexpr std::uint64_t most_rows = strata::detail::max_join_table_rows;
    for (std::uint64_t rows = 0; rows <= most_rows; rows += rows / 3 + 1) {
      const join_set_plan plan = strata::detail::plan_join_set(bits, rows);
      ASSERT_EQ(32, bits + plan.bucket_bits + plan.rest_bits);
      ASSERT_GE(plan.bucket_entries, bits < 8 ? 1u : 2u);
      // The highest bit of a bucket has another meaning.
      ASSERT_LE(plan.bucket_entries * static_cast<unsigned>(plan.rest_bits + 1), 31u);
      ASSERT_LT(plan.max_spilled(), plan.spill_slots());
      ASSERT_LE(plan.bytes(), std::size_t{225} << 10);
    }
  }
}

}  // namespace
