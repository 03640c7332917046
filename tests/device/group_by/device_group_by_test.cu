// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check, shapes

// DeviceGroupBy: the keys and aggregates of all groups, for all types of keys.
#include "device/group_by/group_by_support.cuh"

namespace device_group_by_test {

using namespace group_by_test;

template <class T>
class GroupByKey : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using key_types = testing::Types<std::uint32_t, double>;
#else
using key_types = testing::Types<truth, std::uint8_t, std::int16_t, color, __half, std::int32_t, std::uint32_t, float,
                                 std::int64_t, std::uint64_t, double>;
#endif
TYPED_TEST_SUITE(GroupByKey, key_types);

TYPED_TEST(GroupByKey, groups_have_their_aggregates_at_all_sizes) {
  std::mt19937_64 bits = strata_test::random_bits(11);
  std::vector<std::size_t> all_sizes = {0, 1, 2, 31, 33, 511, 513, 4095, 4096, 4097};
  all_sizes.push_back(if_small<std::size_t>(9001, 300007));
  for (const std::size_t size : all_sizes) {
    const auto values = random_values<std::int32_t>(size, bits);
    for (const u64 different : {u64{1}, u64{2}, u64{10}, u64{1000}, u64{4096}, u64{0}}) {
      SCOPED_TRACE(testing::Message() << size << " rows, " << different << " keys");
      const auto keys = random_keys<TypeParam>(size, different, bits);
      ASSERT_NO_FATAL_FAILURE(expect_groups(keys, values, size));
      ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
      if (size == 513 || size == all_sizes.back()) {
        ASSERT_NO_FATAL_FAILURE(expect_sorted_groups<SmallTables>(keys, values, size));
      }
    }
    SCOPED_TRACE(testing::Message() << size << " different keys");
    ASSERT_NO_FATAL_FAILURE(expect_groups(ascending_keys<TypeParam>(size), values, size));
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(ascending_keys<TypeParam>(size), values, size));
  }
}

// Zeros of both signs are one group, whose key is 0.0, and all NaNs are one group. expect_groups compares the keys.
TYPED_TEST(GroupByKey, both_zeros_are_one_group_and_all_nans_are_one) {
  using Key = TypeParam;
  if constexpr (std::numeric_limits<Key>::has_infinity || std::is_same_v<Key, __half>) {
    const auto nan = std::numeric_limits<float>::quiet_NaN();
    const auto infinity = std::numeric_limits<float>::infinity();
    std::vector<Key> keys;
    for (const float key : {0.0f, -nan, 1.0f, -0.0f, nan, -infinity, -0.0f, infinity, nan, 0.0f}) {
      keys.push_back(static_cast<Key>(key));
    }
    const std::vector<std::int32_t> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    ASSERT_EQ(5u, rows_of_groups(keys).size());
    ASSERT_NO_FATAL_FAILURE(expect_groups(keys, values, keys.size()));
    // So many rows that they are combined in tables.
    std::vector<Key> many;
    std::vector<std::int32_t> many_values;
    for (int i = 0; i < 600; ++i) {
      many.insert(many.end(), keys.begin(), keys.end());
      many_values.insert(many_values.end(), values.begin(), values.end());
    }
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(many, many_values, many.size()));
  }
}

}  // namespace device_group_by_test
