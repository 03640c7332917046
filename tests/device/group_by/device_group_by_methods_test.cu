// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check, shapes

// DeviceGroupBy: all methods have the same results, also when the sample chooses a bad one.
#include "device/group_by/group_by_support.cuh"

namespace device_group_by_methods_test {

using namespace group_by_test;

// A table that is full is written and begun anew. Rows of more groups are first sorted by bits of a hash, and those of
// still more groups are not combined in tables.
TEST(device_group_by_methods, groups_of_any_number) {
  std::mt19937_64 bits = strata_test::random_bits(12);
  const std::size_t size = if_small<std::size_t>(75000, 9000000);
  const auto values = random_values<std::int32_t>(size, bits);
  for (const u64 different : {u64{20}, u64{100}, u64{1000}, u64{4000}, u64{20000}, u64{500000}}) {
    SCOPED_TRACE(testing::Message() << different << " keys");
    const auto keys = random_keys<u64>(size, different, bits);
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
    ASSERT_NO_FATAL_FAILURE(expect_sorted_groups<SmallTables>(keys, values, size));
    if (is_small()) continue;
    ASSERT_NO_FATAL_FAILURE(expect_groups(keys, values, size));
    ASSERT_NO_FATAL_FAILURE(expect_sorted_groups(keys, values, size));
  }
}

// All rows of the sample have one key. Then there is no memory for the records of the others, or just enough.
TEST(device_group_by_methods, a_sample_that_misleads) {
  std::mt19937_64 bits = strata_test::random_bits(22);
  const std::size_t size = if_small<std::size_t>(75000, 9000000);
  const auto values = random_values<std::int32_t>(size, bits);
  for (const std::size_t step : sizes{1, 7, 9, 100}) {
    SCOPED_TRACE(testing::Message() << "one row of " << step << " has a key of its own");
    std::vector<std::uint32_t> keys(size);
    for (std::size_t i = 0; i < size; ++i) keys[i] = i % step == 0 ? static_cast<std::uint32_t>(i + 1) : 0;
    for (unsigned i = 0; i < strata::detail::group_sample_rows; ++i) {
      keys[strata::detail::group_sample_row(i, size)] = 0;
    }
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
    if (is_small()) continue;
    ASSERT_NO_FATAL_FAILURE(expect_groups(keys, values, size));
  }
}

TEST(device_group_by_methods, one_key_with_most_rows_and_many_with_one) {
  std::mt19937_64 bits = strata_test::random_bits(13);
  const std::size_t size = if_small<std::size_t>(20000, 3000000);
  const auto values = random_values<std::int32_t>(size, bits);
  auto keys = ascending_keys<u64>(size);
  for (u64& key : keys) {
    if (bits() % 16 != 0) key = ~u64{0};
  }
  ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
  ASSERT_NO_FATAL_FAILURE(expect_groups(keys, values, size));
  std::sort(keys.begin(), keys.end());
  ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
}

// A word marks a free slot, and is that of a key.
TEST(device_group_by_methods, all_words_are_keys) {
  for (const std::size_t size : {1u, 5000u}) {
    std::vector<std::uint32_t> keys(size);
    std::vector<u64> long_keys(size);
    for (std::size_t i = 0; i < size; ++i) {
      keys[i] = i % 3 == 0 ? ~0u : static_cast<std::uint32_t>(i % 3 - 1);
      long_keys[i] = i % 3 == 0 ? ~u64{0} : u64{0};
    }
    const std::vector<std::int32_t> values(size, 3);
    ASSERT_NO_FATAL_FAILURE(expect_groups(keys, values, size));
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(long_keys, values, size));
    // Mixed words mark it.
    for (std::uint32_t& key : keys) key = strata::detail::unmixed_group_word(key);
    for (u64& key : long_keys) key = strata::detail::unmixed_group_word(static_cast<unsigned long long>(key));
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(long_keys, values, size));
  }
}

TEST(device_group_by_methods, a_mixed_word_leads_back_to_its_word) {
  std::mt19937_64 bits = strata_test::random_bits(20);
  for (int i = 0; i < 10000; ++i) {
    const unsigned long long word = bits();
    const auto half = static_cast<unsigned>(word);
    ASSERT_EQ(word, strata::detail::unmixed_group_word(strata::detail::mixed_group_word(word)));
    ASSERT_EQ(half, strata::detail::unmixed_group_word(strata::detail::mixed_group_word(half)));
  }
}

TEST(device_group_by_methods, groups_behind_the_capacity_are_not_written) {
  std::mt19937_64 bits = strata_test::random_bits(14);
  const auto keys = random_keys<std::uint32_t>(7000, 500, bits);
  const auto values = random_values<std::int32_t>(7000, bits);
  for (const std::size_t capacity : sizes{0, 1, 17, 499, 500, 501, 7000, 9000}) {
    SCOPED_TRACE(testing::Message() << capacity);
    ASSERT_NO_FATAL_FAILURE(expect_groups(keys, values, capacity));
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, capacity));
  }
}

TEST(device_group_by_methods, results_do_not_depend_on_the_schedule) {
  std::mt19937_64 bits = strata_test::random_bits(19);
  const std::size_t size = if_small<std::size_t>(9000, 100000);
  const auto keys = random_keys<std::uint32_t>(size, 1500, bits);
  const auto values = random_values<std::int32_t>(size, bits);
  under_all_schedules([&](std::size_t i) {
    SCOPED_TRACE(testing::Message() << "schedule " << i);
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
  });
}

}  // namespace device_group_by_methods_test
