// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceHashJoin: semi and anti joins by a set of the build side's keys.
#include "device/device_hash_join_tuned.cuh"

namespace {

using namespace device_join_test;

/// No table of more than 20 rows in shared memory, so that all other joins of few rows are
/// partitioned, or, with four times as many probe rows, by a set.
struct set_hub {
  struct strategy {
    static constexpr strata::JoinThresholds thresholds{0, 1 << 16, 1 << 16, 100, 1,
                                                       16, 0, 4, 100, 11};
  };
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::join_table_tuning table{64, 128, 2, 1};
    static constexpr strata::join_table_tuning set{64, 128, 3, 1};
    static constexpr strata::join_partition_tuning partition{
        64, {5, 3, 2}, {4, 2, 5}, 64, 3, 1, 128, 20, 20, 2, 3, 2};
    static constexpr strata::join_sorted_tuning sorted{64, 4, 4, 1, 0};
    static constexpr std::uint64_t least_partitioned_rows = 1;
    using strategy = set_hub::strategy;
  };
  using MaxPolicy = Policy;
};

template <class Key>
void check(const side_ids& build, const side_ids& probe, Key (*make_key)(std::uint32_t)) {
  check_tuned<set_hub>(build, probe, make_key, JoinStrategy::automatic,
                       {JoinKind::semi, JoinKind::anti});
}

std::uint32_t some_rows() { return if_small<std::uint32_t>(300, 3000); }

TEST(device_hash_join_set, keys_of_4_bytes) {
  check(side_ids{random_ids(some_rows(), some_rows()), {}},
        side_ids{random_ids(5 * some_rows() + 7, 2 * some_rows()), {}}, as_u32);
}

TEST(device_hash_join_set, keys_of_8_bytes) {
  check(side_ids{random_ids(some_rows(), some_rows()), {}},
        side_ids{random_ids(5 * some_rows() + 7, 2 * some_rows()), {}}, as_i64);
}

// An empty slot looks as the key 0 does.
TEST(device_hash_join_set, key_that_looks_as_an_empty_slot_is_there_or_not) {
  for (const std::uint32_t lowest : {0u, 1u}) {
    SCOPED_TRACE(lowest);
    check(side_ids{shuffled_ids(50, lowest), {}}, side_ids{random_ids(300, 60), {}}, as_u32);
    check(side_ids{shuffled_ids(50, lowest), {}}, side_ids{random_ids(300, 60), {}}, as_i64);
  }
}

TEST(device_hash_join_set, all_keys_are_equal) {
  check(side_ids{random_ids(some_rows(), 1), {}}, side_ids{random_ids(5 * some_rows(), 3), {}},
        as_u32);
}

TEST(device_hash_join_set, rows_without_a_key) {
  const side_ids with_nulls{random_ids(100, 80), random_nulls(100, 10)};
  const side_ids without{random_ids(100, 80), {}};
  const side_ids probe{random_ids(700, 150), random_nulls(700, 15)};
  for (const side_ids& build : {with_nulls, without}) {
    check(build, probe, as_u32);
    check(build, probe, as_i64);
  }
}

TEST(device_hash_join_set, as_the_library_is_tuned) {
  const auto rows = if_small<std::uint32_t>(20000, STRATA_HOST_SIMT ? 20000 : 500000);
  const side_ids build{random_ids(rows, rows), {}};
  const side_ids probe{random_ids(4 * rows + 1000, 2 * rows), {}};
  device_joiner<std::uint32_t, std::int32_t> narrow(build, probe, as_u32);
  device_joiner<std::int64_t, std::int32_t> wide(build, probe, as_i64);
  for (const JoinKind kind : {JoinKind::semi, JoinKind::anti}) {
    const row_pairs expected = sort_merge_join(kind, build, probe);
    narrow.check(kind, {}, expected);
    wide.check(kind, {}, expected);
  }
}

}  // namespace
