// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check, shapes

// DeviceGroupBy: the keys and aggregates of all groups, in the order of the keys, up to the capacity.
#include <strata/device/device_group_by.cuh>
#include <strata/iterator/discard_output_iterator.cuh>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"
#include "device/schedules.cuh"
#include "device/test_iterators.cuh"
#include "support/test_types.cuh"

namespace device_group_by_test {

using namespace device_test;
using strata::DeviceGroupBy;

using u64 = std::uint64_t;

// ------------------------------------------------------------------ sequential groups

/// A key as it is grouped: both zeros are one, all NaNs are one, which is the last.
struct grouped_key {
  bool is_nan;
  long double value;
  friend bool operator<(const grouped_key& a, const grouped_key& b) {
    if (a.is_nan || b.is_nan) return !a.is_nan;
    return a.value < b.value;
  }
};
struct order_of_keys {
  bool operator()(const grouped_key& a, const grouped_key& b) const {
    if (a.is_nan && b.is_nan) return false;
    return a < b;
  }
};

template <class Key>
grouped_key grouped(const Key& key) {
  if constexpr (std::is_enum_v<Key>) {
    return {false, static_cast<long double>(static_cast<std::underlying_type_t<Key>>(key))};
  } else if constexpr (std::is_same_v<Key, __half>) {
    const float value = static_cast<float>(key);
    return {value != value, value != value ? 0.0L : static_cast<long double>(value)};
  } else {
    const auto value = static_cast<long double>(key);
    return {value != value, value != value ? 0.0L : value};
  }
}

/// The rows of each group, in their order.
template <class Key>
std::map<grouped_key, std::vector<std::size_t>, order_of_keys> rows_of_groups(const std::vector<Key>& keys) {
  std::map<grouped_key, std::vector<std::size_t>, order_of_keys> groups;
  for (std::size_t i = 0; i < keys.size(); ++i) groups[grouped(keys[i])].push_back(i);
  return groups;
}

template <class T>
T number_as(u64 number) {
  if constexpr (std::is_same_v<T, __half>) {
    return static_cast<__half>(static_cast<float>(static_cast<int>(number % 3000) - 1000));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(static_cast<std::int64_t>(number)) / 16;
  } else {
    return static_cast<T>(number);
  }
}

/// Keys of up to `different` numbers; 0: all bits are random.
template <class Key>
std::vector<Key> random_keys(std::size_t count, u64 different, std::mt19937_64& bits) {
  std::vector<Key> keys(count);
  for (Key& key : keys) {
    u64 number = bits();
    if (different > 0) number = number % different * 0x9e3779b97f4a7c15u;
    key = number_as<Key>(number);
  }
  return keys;
}

template <class Key>
std::vector<Key> ascending_keys(std::size_t count) {
  std::vector<Key> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = number_as<Key>(i);
  return keys;
}

enum class color : std::int16_t {};

/// Small tables, in which few rows are combined.
struct small_tables {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::group_by_tuning tuning{/*block_threads=*/64,
                                                    /*items_per_thread=*/4,
                                                    /*blocks_per_multiprocessor=*/2,
                                                    /*table_bytes=*/4096,
                                                    /*most_slots=*/64,
                                                    /*least_rows=*/1};
  };
  using MaxPolicy = Policy;
};
using SmallTables = strata::TunedDeviceGroupBy<small_tables>;

/// Sums, numbers of rows and extremes of `values` in all groups of `keys`.
template <class GroupBy = DeviceGroupBy, class Key, class Value>
void expect_groups(const std::vector<Key>& keys, const std::vector<Value>& values, std::size_t capacity) {
  const auto groups = rows_of_groups(keys);
  const std::size_t written = std::min(capacity, groups.size());
  const device_vector<Key> in(keys);
  const device_vector<Value> items(values);
  device_vector<Key> keys_out(std::vector<Key>(capacity, number_as<Key>(77)));
  device_vector<u64> sums(std::vector<u64>(capacity, 77));
  device_vector<unsigned> counts(std::vector<unsigned>(capacity, 77));
  device_vector<Value> least(std::vector<Value>(capacity, number_as<Value>(77)));
  device_vector<Value> greatest(std::vector<Value>(capacity, number_as<Value>(77)));
  const auto num_groups = result_of<int>([&](int* number, auto&&... storage) {
    return GroupBy::Aggregate(
        storage..., strata::group_keys(in.data(), static_cast<int>(keys.size())),
        strata::group_aggregates(strata::group_sum(items.data(), sums.data()), strata::group_count(counts.data()),
                                 strata::group_min(items.data(), least.data()),
                                 strata::group_max(items.data(), greatest.data())),
        strata::group_output(keys_out.data(), capacity), number);
  });
  ASSERT_EQ(static_cast<int>(groups.size()), num_groups);
  const auto found_keys = keys_out.to_host();
  const auto found_sums = sums.to_host();
  const auto found_counts = counts.to_host();
  const auto found_least = least.to_host();
  const auto found_greatest = greatest.to_host();
  auto group = groups.begin();
  for (std::size_t g = 0; g < written; ++g, ++group) {
    const grouped_key key = grouped(found_keys[g]);
    ASSERT_EQ(group->first.is_nan, key.is_nan) << "group " << g;
    ASSERT_EQ(group->first.value, key.value) << "group " << g;
    u64 sum = 0;
    Value low = values[group->second.front()], high = low;
    for (const std::size_t row : group->second) {
      sum += static_cast<u64>(values[row]);
      low = std::min(low, values[row]);
      high = std::max(high, values[row]);
    }
    ASSERT_EQ(sum, found_sums[g]) << "group " << g;
    ASSERT_EQ(group->second.size(), found_counts[g]) << "group " << g;
    ASSERT_EQ(low, found_least[g]) << "group " << g;
    ASSERT_EQ(high, found_greatest[g]) << "group " << g;
  }
  for (std::size_t g = written; g < capacity; ++g) {
    ASSERT_EQ(77u, found_sums[g]) << "behind the groups";
    ASSERT_EQ(77u, found_counts[g]) << "behind the groups";
  }
}

template <class Value>
std::vector<Value> random_values(std::size_t count, std::mt19937_64& bits) {
  std::vector<Value> values(count);
  for (Value& value : values) value = static_cast<Value>(bits());
  return values;
}

template <class T>
class GroupByKey : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using key_types = testing::Types<std::uint8_t, std::uint32_t, double>;
#else
using key_types = testing::Types<bool, std::uint8_t, std::int16_t, color, __half, std::int32_t, std::uint32_t, float,
                                 std::int64_t, std::uint64_t, double>;
#endif
TYPED_TEST_SUITE(GroupByKey, key_types);

TYPED_TEST(GroupByKey, groups_have_their_aggregates_at_all_sizes) {
  std::mt19937_64 bits = strata_test::random_bits(11);
  std::vector<std::size_t> all_sizes = {0, 1, 2, 31, 33, 511, 513, 4095, 4096, 4097};
  all_sizes.push_back(if_small<std::size_t>(9001, 300007));
  if (!is_small()) all_sizes.push_back((1u << 22) + 5);
  for (const std::size_t size : all_sizes) {
    const auto values = random_values<std::int32_t>(size, bits);
    for (const u64 different : {u64{1}, u64{2}, u64{10}, u64{1000}, u64{4096}, u64{0}}) {
      SCOPED_TRACE(testing::Message() << size << " rows, " << different << " keys");
      const auto keys = random_keys<TypeParam>(size, different, bits);
      ASSERT_NO_FATAL_FAILURE(expect_groups(keys, values, size));
      ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
    }
    SCOPED_TRACE(testing::Message() << size << " different keys");
    ASSERT_NO_FATAL_FAILURE(expect_groups(ascending_keys<TypeParam>(size), values, size));
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(ascending_keys<TypeParam>(size), values, size));
  }
}

// A table that is full is written and begun anew; after one that was of no use rows are not combined for some tiles.
// Rows of more groups are first sorted by 8 bits of a hash, those of still more by 16.
TEST(device_group_by, tables_are_written_when_they_are_full) {
  std::mt19937_64 bits = strata_test::random_bits(12);
  const std::size_t size = if_small<std::size_t>(75000, 9000000);
  const auto values = random_values<std::uint32_t>(size, bits);
  for (const u64 different : {u64{40}, u64{100}, u64{1000}, u64{9000}, u64{20000}, u64{500000}}) {
    SCOPED_TRACE(testing::Message() << different << " keys");
    const auto keys = random_keys<std::uint64_t>(size, different, bits);
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
    if (is_small()) continue;
    ASSERT_NO_FATAL_FAILURE(expect_groups(keys, values, size));
  }
  // Few keys, then all are different, then few again. The sample finds many.
  auto keys = ascending_keys<std::uint32_t>(size);
  for (std::size_t i = 0; i < size; ++i) {
    if (i < size / 4 || i > size / 4 * 3) keys[i] %= 5;
  }
  ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
  // One row in a hundred has a key of its own. The sample finds few, and no table holds all.
  for (std::size_t i = 0; i < size; ++i) keys[i] = static_cast<std::uint32_t>(i % 100 == 7 && i > size / 2 ? i : i % 5);
  ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
  if (is_small()) return;
  ASSERT_NO_FATAL_FAILURE(expect_groups(keys, values, size));
}

TEST(device_group_by, one_key_with_most_rows_and_many_with_one) {
  std::mt19937_64 bits = strata_test::random_bits(13);
  const std::size_t size = if_small<std::size_t>(20000, 3000000);
  const auto values = random_values<std::uint32_t>(size, bits);
  auto keys = ascending_keys<std::int64_t>(size);
  for (std::int64_t& key : keys) {
    if (bits() % 16 != 0) key = -1;
  }
  ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
  ASSERT_NO_FATAL_FAILURE(expect_groups(keys, values, size));
  std::sort(keys.begin(), keys.end());
  ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
}

// A word marks a free slot, and is that of a key.
TEST(device_group_by, all_words_are_keys) {
  for (const std::size_t size : {1u, 5000u}) {
    std::vector<std::uint32_t> keys(size);
    std::vector<std::int64_t> long_keys(size);
    for (std::size_t i = 0; i < size; ++i) {
      keys[i] = i % 3 == 0 ? ~0u : static_cast<std::uint32_t>(i % 3 - 1);
      long_keys[i] = i % 3 == 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
    }
    const std::vector<std::uint32_t> values(size, 3);
    ASSERT_NO_FATAL_FAILURE(expect_groups(keys, values, size));
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(long_keys, values, size));
    // Mixed words mark it.
    for (std::uint32_t& key : keys) key = strata::detail::unmixed_group_word(key);
    for (std::int64_t& key : long_keys) {
      const auto word = strata::detail::unmixed_group_word(static_cast<unsigned long long>(key) << 1 | 1);
      key = static_cast<std::int64_t>(word ^ u64{1} << 63);
    }
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(long_keys, values, size));
  }
}

TEST(device_group_by, a_mixed_word_leads_back_to_its_word) {
  std::mt19937_64 bits = strata_test::random_bits(20);
  for (int i = 0; i < 10000; ++i) {
    const unsigned long long word = bits();
    const auto half = static_cast<unsigned>(word);
    ASSERT_EQ(word, strata::detail::unmixed_group_word(strata::detail::mixed_group_word(word)));
    ASSERT_EQ(half, strata::detail::unmixed_group_word(strata::detail::mixed_group_word(half)));
  }
}

TEST(device_group_by, groups_behind_the_capacity_are_not_written) {
  std::mt19937_64 bits = strata_test::random_bits(14);
  const auto keys = random_keys<std::int32_t>(7000, 500, bits);
  const auto values = random_values<std::int32_t>(7000, bits);
  for (const std::size_t capacity : sizes{0, 1, 17, 499, 500, 501, 7000, 9000}) {
    SCOPED_TRACE(testing::Message() << capacity);
    ASSERT_NO_FATAL_FAILURE(expect_groups(keys, values, capacity));
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, capacity));
  }
}

template <class Key>
void expect_zeros_and_nans_in_one_group_each() {
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  const auto infinity = std::numeric_limits<float>::infinity();
  const std::vector<Key> keys = {static_cast<Key>(0.0f),  static_cast<Key>(-nan),     static_cast<Key>(1.0f),
                                 static_cast<Key>(-0.0f), static_cast<Key>(nan),      static_cast<Key>(-infinity),
                                 static_cast<Key>(-0.0f), static_cast<Key>(infinity), static_cast<Key>(nan)};
  const device_vector<Key> in(keys);
  device_vector<Key> keys_out(keys.size());
  device_vector<int> counts(keys.size());
  const auto groups = result_of<int>([&](int* number, auto&&... storage) {
    return SmallTables::Aggregate(storage..., strata::group_keys(in.data(), keys.size()),
                                  strata::group_aggregates(strata::group_count(counts.data())),
                                  strata::group_output(keys_out.data(), keys.size()), number);
  });
  ASSERT_EQ(5, groups);
  const auto found = keys_out.to_host();
  const auto numbers = counts.to_host();
  const float expected_keys[] = {-infinity, 0.0f, 1.0f, infinity};
  const int expected[] = {1, 3, 1, 1, 3};
  for (std::size_t g = 0; g < 5; ++g) {
    EXPECT_EQ(expected[g], numbers[g]);
    if (g < 4) {
      EXPECT_EQ(expected_keys[g], static_cast<float>(found[g]));
      EXPECT_EQ(std::signbit(expected_keys[g]), std::signbit(static_cast<float>(found[g])));
    } else {
      EXPECT_TRUE(std::isnan(static_cast<float>(found[g])));
    }
  }
}

TEST(device_group_by, both_zeros_are_one_group_and_all_nans_are_one) {
  expect_zeros_and_nans_in_one_group_each<float>();
  expect_zeros_and_nans_in_one_group_each<double>();
  expect_zeros_and_nans_in_one_group_each<__half>();
}

TEST(device_group_by, extremes_of_floating_point_are_those_of_min_and_max) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<int> keys = {1, 1, 1, 2, 2, 3, 3, 4, 4, 4};
  const std::vector<float> items = {nan, 2.0f, -3.0f, nan, nan, 0.0f, -0.0f, -5.0f, -nan, -7.0f};
  const device_vector<int> in(keys);
  const device_vector<float> values(items);
  device_vector<int> keys_out(4);
  device_vector<float> least(4), greatest(4);
  const auto groups = result_of<int>([&](int* number, auto&&... storage) {
    return SmallTables::Aggregate(storage..., strata::group_keys(in.data(), 10),
                                  strata::group_aggregates(strata::group_min(values.data(), least.data()),
                                                           strata::group_max(values.data(), greatest.data())),
                                  strata::group_output(keys_out.data(), 4), number);
  });
  ASSERT_EQ(4, groups);
  const auto low = least.to_host(), high = greatest.to_host();
  EXPECT_EQ(-3.0f, low[0]);
  EXPECT_EQ(2.0f, high[0]);
  EXPECT_TRUE(std::isnan(low[1]) && std::isnan(high[1]));
  EXPECT_TRUE(low[2] == 0 && std::signbit(low[2]));
  EXPECT_TRUE(high[2] == 0 && !std::signbit(high[2]));
  EXPECT_EQ(-7.0f, low[3]);
  EXPECT_EQ(-5.0f, high[3]);
}

/// x -> a x + b. Compositions are associative, and not commutative.
struct line {
  std::uint32_t a, b;
  friend bool operator==(const line& x, const line& y) { return x.a == y.a && x.b == y.b; }
};
struct compose {
  STRATA_HD line operator()(const line& first, const line& second) const {
    return {first.a * second.a, second.a * first.b + second.b};
  }
};

// States of 8 and of more than 16 bytes.
TEST(device_group_by, an_operator_combines_rows_in_their_order) {
  std::mt19937_64 bits = strata_test::random_bits(15);
  for (const std::size_t size : sizes{1, 500, 5000, if_small<std::size_t>(12000, 1000000)}) {
    for (const u64 different : {u64{1}, u64{7}, u64{700}}) {
      SCOPED_TRACE(testing::Message() << size << " rows, " << different << " keys");
      const auto keys = random_keys<std::int16_t>(size, different, bits);
      std::vector<line> lines(size);
      for (line& one : lines) one = {static_cast<std::uint32_t>(bits()) | 1, static_cast<std::uint32_t>(bits())};
      const line init{3, 5};
      const auto groups = rows_of_groups(keys);
      std::vector<line> expected;
      for (const auto& group : groups) {
        line all = init;
        for (const std::size_t row : group.second) all = compose{}(all, lines[row]);
        expected.push_back(all);
      }
      const device_vector<std::int16_t> in(keys);
      const device_vector<line> items(lines);
      device_vector<std::int16_t> keys_out(groups.size());
      device_vector<line> results(groups.size());
      const auto rows = strata::group_keys(in.data(), size);
      const auto output = strata::group_output(keys_out.data(), groups.size());
      const auto composed = strata::group_reduce(items.data(), results.data(), compose{}, init);
      ASSERT_EQ(static_cast<int>(groups.size()), result_of<int>([&](int* number, auto&&... storage) {
                  return DeviceGroupBy::Aggregate(storage..., rows, strata::group_aggregates(composed), output, number);
                }));
      ASSERT_EQ(expected, results.to_host());

      device_vector<line> first(groups.size());
      device_vector<double> means(groups.size());
      results.assign(std::vector<line>(groups.size()));
      ASSERT_EQ(static_cast<int>(groups.size()), result_of<int>([&](int* number, auto&&... storage) {
                  return DeviceGroupBy::Aggregate(
                      storage..., rows,
                      strata::group_aggregates(composed, strata::group_mean(in.data(), means.data()),
                                               strata::group_first(items.data(), first.data())),
                      output, number);
                }));
      ASSERT_EQ(expected, results.to_host());
      const auto found_first = first.to_host();
      const auto found_means = means.to_host();
      std::size_t g = 0;
      for (const auto& group : groups) {
        ASSERT_EQ(lines[group.second.front()], found_first[g]);
        ASSERT_EQ(static_cast<double>(group.first.value), found_means[g]);
        ++g;
      }
    }
  }
}

TEST(device_group_by, sums_and_means_of_floating_point_repeat) {
  std::mt19937_64 bits = strata_test::random_bits(16);
  const std::size_t size = if_small<std::size_t>(9000, 2000000);
  const auto keys = random_keys<std::uint32_t>(size, 37, bits);
  std::vector<float> items(size);
  for (float& item : items) item = static_cast<float>(bits() % 100000) / 7;
  const auto groups = rows_of_groups(keys);
  const device_vector<std::uint32_t> in(keys);
  const device_vector<float> values(items);
  device_vector<std::uint32_t> keys_out(37);
  std::vector<float> sums_before, means_before;
  for (int repetition = 0; repetition < 3; ++repetition) {
    device_vector<float> sums(37), means(37);
    result_of<int>([&](int* number, auto&&... storage) {
      return DeviceGroupBy::Aggregate(storage..., strata::group_keys(in.data(), size),
                                      strata::group_aggregates(strata::group_sum(values.data(), sums.data()),
                                                               strata::group_mean(values.data(), means.data())),
                                      strata::group_output(keys_out.data(), 37), number);
    });
    if (repetition == 0) {
      sums_before = sums.to_host();
      means_before = means.to_host();
    }
    EXPECT_EQ(sums_before, sums.to_host());
    EXPECT_EQ(means_before, means.to_host());
  }
  std::size_t g = 0;
  for (const auto& group : groups) {
    double sum = 0;
    for (const std::size_t row : group.second) sum += static_cast<double>(items[row]);
    EXPECT_NEAR(1.0, static_cast<double>(sums_before[g]) / sum, 1e-4);
    EXPECT_NEAR(1.0, static_cast<double>(means_before[g]) / sum * static_cast<double>(group.second.size()), 1e-6);
    ++g;
  }
}

TEST(device_group_by, keys_of_128_bits) {
#if STRATA_HAS_INT128
  std::mt19937_64 bits = strata_test::random_bits(17);
  std::vector<strata::detail::uint128> keys(3000);
  for (auto& key : keys) key = static_cast<strata::detail::uint128>(bits() % 20) << 70 | bits() % 3;
  std::map<strata::detail::uint128, int> expected;
  for (const auto& key : keys) ++expected[key];
  const device_vector<strata::detail::uint128> in(keys);
  device_vector<strata::detail::uint128> keys_out(60);
  device_vector<int> counts(60);
  const auto groups = result_of<unsigned>([&](unsigned* number, auto&&... storage) {
    return DeviceGroupBy::Aggregate(storage..., strata::group_keys(in.data(), std::int64_t{3000}),
                                    strata::group_aggregates(strata::group_count(counts.data())),
                                    strata::group_output(keys_out.data(), 60), number);
  });
  ASSERT_EQ(expected.size(), groups);
  const auto found = keys_out.to_host();
  const auto numbers = counts.to_host();
  std::size_t g = 0;
  for (const auto& [key, count] : expected) {
    EXPECT_TRUE(key == found[g]);
    EXPECT_EQ(count, numbers[g]);
    ++g;
  }
#endif
}

TEST(device_group_by, groups_of_rows_and_numbers_of_keys) {
  std::mt19937_64 bits = strata_test::random_bits(21);
  for (const std::size_t size : sizes{0, 1, 300, 5000, if_small<std::size_t>(9000, 1000000)}) {
    for (const u64 different : {u64{1}, u64{20}, u64{0}}) {
      SCOPED_TRACE(testing::Message() << size << " rows, " << different << " keys");
      const auto keys = random_keys<std::int64_t>(size, different, bits);
      const auto groups = rows_of_groups(keys);
      std::vector<int> expected(size), expected_first;
      for (const auto& group : groups) {
        for (const std::size_t row : group.second) expected[row] = static_cast<int>(expected_first.size());
        expected_first.push_back(static_cast<int>(group.second.front()));
      }
      const device_vector<std::int64_t> in(keys);
      device_vector<int> group_of_row(size), first(groups.size());
      const auto number = result_of<int>([&](int* number_out, auto&&... storage) {
        return DeviceGroupBy::Groups(storage..., strata::group_keys(in.data(), size), group_of_row.data(),
                                     strata::group_aggregates(strata::group_first(counting<int>(0), first.data())),
                                     strata::group_output(strata::DiscardOutputIterator<>(), groups.size()),
                                     number_out);
      });
      ASSERT_EQ(static_cast<int>(groups.size()), number);
      ASSERT_EQ(expected, group_of_row.to_host());
      ASSERT_EQ(expected_first, first.to_host());
      ASSERT_EQ(number, result_of<int>([&](int* number_out, auto&&... storage) {
                  return DeviceGroupBy::CountDistinct(storage..., strata::group_keys(in.data(), size), number_out);
                }));
      ASSERT_EQ(number, result_of<int>([&](int* number_out, auto&&... storage) {
                  return SmallTables::CountDistinct(storage..., strata::group_keys(in.data(), size), number_out);
                }));
    }
  }
}

TEST(device_group_by, iterators_a_future_count_and_no_storage) {
  device_vector<int> number(std::vector<int>{2500});
  device_vector<int> groups(1);
  device_vector<long long> sums(10);
  // Row i has the key 100 + i, of which the type keeps 8 bits.
  const counting<std::uint8_t> keys(100);
  const counting<int> values(0);
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return SmallTables::Aggregate(strata::group_keys(keys, strata::FutureCount(number.data(), 4000)),
                                  strata::group_aggregates(strata::group_sum(values, sums.data())),
                                  strata::group_output(strata::DiscardOutputIterator<>(), 10), groups.data());
  }));
  EXPECT_EQ(256, groups.to_host()[0]);
  const auto found = sums.to_host();
  for (int g = 0; g < 10; ++g) {
    long long sum = 0;
    for (int i = 0; i < 2500; ++i) sum += (100 + i) % 256 == g ? i : 0;
    EXPECT_EQ(sum, found[static_cast<std::size_t>(g)]);
  }
}

TEST(device_group_by, a_graph_can_be_replayed_with_other_keys) {
  std::mt19937_64 bits = strata_test::random_bits(18);
  constexpr std::size_t size = 20007;
  device_vector<int> keys(std::vector<int>(size, 0));
  device_vector<int> keys_out(size), counts(size), groups(1);
  const auto rows = strata::group_keys(keys.data(), size);
  const auto aggregates = strata::group_aggregates(strata::group_count(counts.data()));
  const auto output = strata::group_output(keys_out.data(), size);
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(SmallTables::Aggregate(nullptr, bytes, rows, aggregates, output, groups.data()));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t where) {
    return SmallTables::Aggregate(storage.data(), bytes, rows, aggregates, output, groups.data(), where);
  });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const stream where;
  for (const u64 different : {u64{1}, u64{100}, u64{0}, u64{3}}) {
    const auto items = random_keys<int>(size, different, bits);
    keys.assign(items);
    recorded.replay(where);
    where.synchronize();
    const auto expected = rows_of_groups(items);
    ASSERT_EQ(static_cast<int>(expected.size()), groups.to_host()[0]);
    const auto found = counts.to_host();
    std::size_t g = 0;
    for (const auto& group : expected) ASSERT_EQ(static_cast<int>(group.second.size()), found[g++]);
  }
}

TEST(device_group_by, results_do_not_depend_on_the_schedule) {
  std::mt19937_64 bits = strata_test::random_bits(19);
  const std::size_t size = if_small<std::size_t>(9000, 100000);
  const auto keys = random_keys<std::uint32_t>(size, 1500, bits);
  const auto values = random_values<std::uint32_t>(size, bits);
  under_all_schedules([&](std::size_t i) {
    SCOPED_TRACE(testing::Message() << "schedule " << i);
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
  });
}

}  // namespace device_group_by_test
