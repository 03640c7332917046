// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check, shapes

// DeviceGroupBy with the range of its keys: a hint, which the results do not depend on.
#include "device/group_by/group_by_support.cuh"

namespace device_group_by_key_range_test {

using namespace group_by_test;

/// Keys of [lowest, lowest + number).
template <class Key>
std::vector<Key> keys_from(Key lowest, u64 number, std::size_t size, std::mt19937_64& bits) {
  std::vector<Key> keys(size);
  for (Key& key : keys) key = static_cast<Key>(static_cast<u64>(lowest) + bits() % number);
  return keys;
}

template <class Key>
struct range_hint {
  Key lowest;
  Key highest;
  template <class Keys>
  auto operator()(const Keys& keys) const {
    return keys.key_range(lowest, highest);
  }
};

template <class GroupBy = DeviceGroupBy, class Key>
void expect_groups(const std::vector<Key>& keys, Key lowest, Key highest) {
  std::vector<std::int32_t> values(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) values[i] = static_cast<std::int32_t>(i * i) - 1000;
  expect_groups_in_order<GroupBy, false>(keys, values, keys.size(), range_hint<Key>{lowest, highest});
}

/// More rows than one kernel combines without a sample. The host back end takes minutes for so many.
std::size_t many_rows() { return if_small<std::size_t>(5000, STRATA_HOST_SIMT ? 30000 : 1200000); }

template <class T>
class GroupByKeyRange : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using key_types = testing::Types<std::uint32_t, std::int64_t>;
#else
using key_types =
    testing::Types<std::uint8_t, std::int16_t, color, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
#endif
TYPED_TEST_SUITE(GroupByKeyRange, key_types);

// Tables of `small_tables` have 64 slots. They take up to 600 rows without a sample.
TYPED_TEST(GroupByKeyRange, has_all_keys) {
  std::mt19937_64 bits = strata_test::random_bits(51);
  const auto lowest = static_cast<TypeParam>(std::is_signed_v<TypeParam> ? -40 : 40);
  for (const std::size_t size : sizes{0, 1, 33, 600, 601, 5000}) {
    for (const u64 number : {u64{1}, u64{2}, u64{31}, u64{63}, u64{64}, u64{65}, u64{200}}) {
      SCOPED_TRACE(testing::Message() << size << " rows, " << number << " keys");
      const auto highest = static_cast<TypeParam>(static_cast<u64>(lowest) + number - 1);
      const auto keys = keys_from(lowest, number, size, bits);
      ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, lowest, highest));
      if (number != 64) continue;
      ASSERT_NO_FATAL_FAILURE(expect_groups(keys, lowest, highest));
    }
  }
}

// One row of `one_in` has a key outside of the range. A few such rows go to the table in device memory, and with more
// of them, all rows are moved to parts.
TYPED_TEST(GroupByKeyRange, lacks_some_keys) {
  std::mt19937_64 bits = strata_test::random_bits(52);
  for (const std::size_t size : sizes{600, if_small<std::size_t>(10000, 30000)}) {
    for (const u64 one_in : {u64{1}, u64{2}, u64{50}, u64{3000}}) {
      for (const u64 others : {u64{1}, u64{100}, u64{0}}) {
        SCOPED_TRACE(testing::Message() << size << " rows, one of " << one_in << ", other keys " << others);
        auto keys = keys_from<TypeParam>(TypeParam{}, 50, size, bits);
        const auto random = random_keys<TypeParam>(size, others, bits);
        for (std::size_t i = 0; i < size; ++i) {
          if (bits() % one_in == 0) keys[i] = random[i];
        }
        ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, TypeParam{}, static_cast<TypeParam>(49)));
      }
    }
  }
}

TEST(device_group_by_key_range, many_rows_have_other_keys) {
  std::mt19937_64 bits = strata_test::random_bits(56);
  const std::size_t size = many_rows();
  for (const u64 one_in : {u64{0}, u64{3000}, u64{2}}) {
    for (const u64 number : {u64{1}, u64{1000}, u64{9000}, u64{100000}}) {
      SCOPED_TRACE(testing::Message() << "one of " << one_in << ", " << number << " keys");
      auto keys = keys_from<std::uint32_t>(77, number, size, bits);
      for (std::uint32_t& key : keys) {
        if (one_in > 0 && bits() % one_in == 0) key = static_cast<std::uint32_t>(bits());
      }
      ASSERT_NO_FATAL_FAILURE(expect_groups(keys, 77u, static_cast<std::uint32_t>(76 + number)));
    }
  }
}

// The code of the key before the range marks a free slot.
TEST(device_group_by_key_range, keys_beside_the_range_and_at_the_ends_of_the_type) {
  std::mt19937_64 bits = strata_test::random_bits(53);
  const std::size_t size = many_rows();
  auto keys = keys_from<std::uint32_t>(99, 52, size, bits);
  ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, 100u, 149u));
  ASSERT_NO_FATAL_FAILURE(expect_groups(keys, 100u, 149u));
  const auto short_keys = keys_from<std::int16_t>(99, 52, size, bits);
  ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(short_keys, std::int16_t{100}, std::int16_t{149}));
  auto long_keys = keys_from<std::int64_t>(-1, 52, size, bits);
  ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(long_keys, std::int64_t{0}, std::int64_t{49}));
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto greatest = std::numeric_limits<std::int64_t>::max();
  long_keys = keys_from<std::int64_t>(greatest - 40, 41, size, bits);
  ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(long_keys, greatest - 40, greatest));
  long_keys = keys_from<std::int64_t>(least, 41, size, bits);
  ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(long_keys, least, least + 40));
  // A range of all keys, and one whose end comes before its begin.
  ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(long_keys, least, greatest));
  ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(long_keys, greatest, least));
}

// All keys outside of the range have the same code in the table in device memory, unless codes are mixed there.
TEST(device_group_by_key_range, other_keys_collide) {
  // One kernel combines up to 2^20 rows, and has a slot for each in device memory.
  const std::size_t size = if_small<std::size_t>(6000, STRATA_HOST_SIMT ? 30000 : 1000000);
  std::vector<u64> keys(size);
  for (std::size_t i = 0; i < size; ++i) keys[i] = i * 0x100000001u;
  ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, u64{0}, u64{9}));
  ASSERT_NO_FATAL_FAILURE(expect_groups(keys, u64{0}, u64{9}));
  keys.resize(500);
  ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, u64{0}, u64{9}));
}

// No sample is taken before rows turn out to be outside of the range.
TEST(device_group_by_key_range, a_frequent_key_is_outside) {
  std::mt19937_64 bits = strata_test::random_bits(54);
  const std::size_t size = many_rows();
  auto keys = random_keys<std::uint32_t>(size, 0, bits);
  for (std::uint32_t& key : keys) {
    if (bits() % 4 != 0) key = 1000;
  }
  ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, 0u, 49u));
  ASSERT_NO_FATAL_FAILURE(expect_groups(keys, 0u, 49u));
}

TEST(device_group_by_key_range, under_all_schedules) {
  std::mt19937_64 bits = strata_test::random_bits(55);
  const std::size_t size = if_small<std::size_t>(3000, STRATA_HOST_SIMT ? 6000 : 100000);
  auto keys = keys_from<std::uint32_t>(7, 40, size, bits);
  under_all_schedules([&](std::size_t i) {
    SCOPED_TRACE(testing::Message() << "schedule " << i);
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, 7u, 46u));
  });
  for (std::size_t k = 0; k < size; k += 3) keys[k] = static_cast<std::uint32_t>(k * k);
  under_all_schedules([&](std::size_t i) {
    SCOPED_TRACE(testing::Message() << "schedule " << i << ", other keys");
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, 7u, 46u));
  });
}

/// The numbers of rows of the keys 3, 4 and 5, of which row i has i % 3 + 3. Rows without a key count as key 0.
template <class Keys, class Output>
void expect_counts(const Keys& keys, const Output& output, const device_vector<int>& keys_out, bool is_ordered,
                   std::map<int, int> expected) {
  device_vector<int> counts(9);
  const int groups = result_of<int>([&](int* number, auto&&... storage) {
    return SmallTables::Aggregate(storage..., keys, strata::group_aggregates(strata::group_count(counts.data())),
                                  output, number);
  });
  ASSERT_EQ(static_cast<int>(expected.size()), groups);
  const auto found_keys = keys_out.to_host();
  const auto found_counts = counts.to_host();
  for (std::size_t g = 0; g < expected.size(); ++g) {
    if (is_ordered) {
      ASSERT_TRUE(g == 0 || found_keys[g - 1] < found_keys[g]) << "group " << g;
    }
    ASSERT_EQ(1u, expected.count(found_keys[g])) << "group " << g;
    ASSERT_EQ(expected[found_keys[g]], found_counts[g]) << "group " << g;
  }
}

TEST(device_group_by_key_range, with_all_orders_nulls_and_counts_of_the_device) {
  for (const int size : {300, 3000}) {
    std::vector<int> host_keys(static_cast<std::size_t>(size));
    std::vector<std::uint32_t> host_mask(static_cast<std::size_t>(size + 31) / 32, ~0u);
    for (std::size_t i = 0; i < host_keys.size(); ++i) host_keys[i] = static_cast<int>(i % 3) + 3;
    // The rows of key 5 have none.
    for (std::size_t i = 2; i < host_keys.size(); i += 3) host_mask[i / 32] &= ~(1u << i % 32);
    const device_vector<int> in(host_keys);
    const device_vector<std::uint32_t> mask(host_mask);
    device_vector<int> out(9);
    const int third = size / 3;
    const auto keys = strata::group_keys(in.data(), size).key_range(3, 5);
    const auto output = strata::group_output(out.data(), 9);
    const std::map<int, int> all{{3, third}, {4, third}, {5, third}};
    const std::map<int, int> some{{3, third}, {4, third}};
    ASSERT_NO_FATAL_FAILURE(expect_counts(keys, output, out, false, all));
    ASSERT_NO_FATAL_FAILURE(expect_counts(keys, output.sorted(), out, true, all));
    ASSERT_NO_FATAL_FAILURE(expect_counts(keys, output.first_occurrence(), out, true, all));
    ASSERT_NO_FATAL_FAILURE(expect_counts(keys.valid(mask.data()), output, out, false, some));
    ASSERT_NO_FATAL_FAILURE(expect_counts(strata::group_keys(in.data(), size).valid(mask.data()).key_range(3, 5),
                                          output, out, false, some));
    ASSERT_NO_FATAL_FAILURE(expect_counts(keys.valid(mask.data()).nulls_as_group(), output, out, false,
                                          {{3, third}, {4, third}, {0, third}}));
    const device_vector<int> number(std::vector<int>{size / 2});
    const auto half = strata::group_keys(in.data(), strata::FutureCount<int>(number.data(), size)).key_range(3, 5);
    ASSERT_NO_FATAL_FAILURE(expect_counts(half, output, out, false, {{3, size / 6}, {4, size / 6}, {5, size / 6}}));
    ASSERT_EQ(3, result_of<int>([&](int* found, auto&&... storage) {
                return SmallTables::CountDistinct(storage..., keys, found);
              }));
    device_vector<int> group_of_row(static_cast<std::size_t>(size));
    device_vector<int> counts(9);
    ASSERT_EQ(3, result_of<int>([&](int* found, auto&&... storage) {
                return SmallTables::Groups(storage..., keys, group_of_row.data(),
                                           strata::group_aggregates(strata::group_count(counts.data())), output, found);
              }));
    const auto groups = group_of_row.to_host();
    for (std::size_t i = 0; i < groups.size(); ++i) ASSERT_EQ(static_cast<int>(i % 3), groups[i]);
  }
}

}  // namespace device_group_by_key_range_test
