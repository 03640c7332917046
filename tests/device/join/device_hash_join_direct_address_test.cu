// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: long

// DeviceHashJoin with a hint that keys are in a dense range, which is true or false.
#include "device/join/device_hash_join_support.cuh"

namespace {

using namespace device_join_test;

TEST(device_hash_join_direct_address, is_chosen_while_it_stays_in_the_cache) {
  using strata::detail::choose_direct_address_join;
  static_assert(choose_direct_address_join(1000000, 1000000, 10000000));
  static_assert(choose_direct_address_join(4000000, 1000000, 10000000));
  static_assert(choose_direct_address_join(1u << 22, 1u << 20, 1u << 27));
  static_assert(!choose_direct_address_join((1u << 22) + 1, 1u << 20, 1u << 27));
  static_assert(!choose_direct_address_join(1000000, 1000, 10000000));
  static_assert(!choose_direct_address_join(1000000, 1000000, 1000));
  static_assert(!choose_direct_address_join(0, 1000000, 1000000));
}

/// Checks all kinds. Keys are ids plus `move`; the hint says that ids are from `low` to `low + keys - 1`.
template <class Key>
void check(const side_ids& build, const side_ids& probe, std::uint32_t low, std::uint64_t keys, std::int64_t move = 0) {
  ASSERT_TRUE(strata::detail::choose_direct_address_join(keys, build.ids.size(), probe.ids.size()));
  device_joiner<Key, std::int32_t> join(build, probe, [move](std::uint32_t id) { return static_cast<Key>(id + move); });
  for (const JoinKind kind : every_kind) {
    const row_pairs expected = sort_merge_join(kind, build, probe);
    for (const bool unique : {false, true}) {
      if (unique && !is_unique(build)) continue;
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", promised unique " << unique);
      join_settings<> options;
      options.build_unique = unique;
      options.key_range.lowest = move + low;
      options.key_range.keys = keys;
      join.check(kind, options, expected, kind == JoinKind::left);
      if (testing::Test::HasFailure()) return;
    }
  }
}

std::uint32_t rows() { return if_small<std::uint32_t>(1u << 14, STRATA_HOST_SIMT ? 20000 : 200000); }

TEST(device_hash_join_direct_address, all_keys_of_the_range) {
  check<std::uint32_t>({shuffled_ids(rows(), 10), {}}, {random_ids(rows() + 77, rows() + 100), {}}, 10, rows());
}

TEST(device_hash_join_direct_address, half_of_the_keys_of_the_range) {
  std::vector<std::uint32_t> ids = shuffled_ids(2 * rows(), 0);
  ids.resize(rows());
  check<std::int64_t>({ids, {}}, {random_ids(2 * rows() + 5, 2 * rows()), {}}, 0, 2 * rows(), -std::int64_t{rows()});
}

// One build row lies before the range, then one after it: the array has no element for its key.
TEST(device_hash_join_direct_address, build_rows_outside_of_the_range) {
  for (const std::uint32_t outside : {0u, 2 * rows()}) {
    std::vector<std::uint32_t> ids = shuffled_ids(rows(), 10);
    ids[rows() / 3] = outside;
    std::vector<std::uint32_t> probes = random_ids(rows() + 100, 2 * rows() + 2);
    probes[5] = outside;
    check<std::int64_t>({ids, {}}, {probes, {}}, 10, rows(), -5);
  }
}

// Keys are not promised to be unique, so the array is not used.
TEST(device_hash_join_direct_address, keys_of_several_build_rows) {
  check<std::uint32_t>({random_ids(rows(), rows()), {}}, {random_ids(rows() + 7, rows()), {}}, 0, rows());
}

TEST(device_hash_join_direct_address, in_the_order_of_the_probe_rows) {
  const side_ids build{shuffled_ids(rows(), 10), {}};
  const side_ids probe{random_ids(rows() + 77, rows() + 100), {}};
  device_joiner<std::uint32_t, std::int32_t> join(build, probe, [](std::uint32_t id) { return id; });
  for (const bool unique : {false, true}) {
    join_settings<> options;
    options.order = JoinOrder::probe;
    options.build_unique = unique;
    options.key_range = {10, rows()};
    join.check(JoinKind::left, options, sort_merge_join(JoinKind::left, build, probe), false);
  }
}

}  // namespace
