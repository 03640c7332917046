// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the tests of DeviceGroupBy: keys, sequential groups, and a call whose results are compared with them.
#pragma once

#include <strata/device/device_group_by.cuh>
#include <strata/iterator/discard_output_iterator.cuh>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"
#include "device/schedules.cuh"
#include "device/test_iterators.cuh"
#include "support/test_types.cuh"

namespace group_by_test {

using namespace device_test;
using strata::DeviceGroupBy;

using u64 = std::uint64_t;

// ------------------------------------------------------------------ sequential groups

/// A key as it is grouped: zeros of both signs are equal, and all NaNs are equal and come last.
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

/// The rows of each group, in ascending order.
template <class Key>
std::map<grouped_key, std::vector<std::size_t>, order_of_keys> rows_of_groups(const std::vector<Key>& keys) {
  std::map<grouped_key, std::vector<std::size_t>, order_of_keys> groups;
  for (std::size_t i = 0; i < keys.size(); ++i) groups[grouped(keys[i])].push_back(i);
  return groups;
}

/// All rows, in the order of their groups.
template <class Key>
std::vector<std::size_t> rows_by_group(const std::vector<Key>& keys) {
  std::vector<std::size_t> rows(keys.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    if constexpr (std::is_integral_v<Key>) {
      return keys[a] < keys[b];
    } else {
      return order_of_keys{}(grouped(keys[a]), grouped(keys[b]));
    }
  });
  return rows;
}

/// Keys of one bit: std::vector has no array of bool.
enum class truth : bool {};

template <class T>
T number_as(u64 number) {
  if constexpr (std::is_same_v<T, __half>) {
    return static_cast<__half>(static_cast<float>(static_cast<int>(number % 3000) - 1000));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(static_cast<std::int64_t>(number)) / 16;
  } else if constexpr (std::is_same_v<T, truth>) {
    return static_cast<truth>((number & 1) != 0);
  } else if constexpr (sizeof(T) > 8) {
    // Bits on both sides of bit 64, and no more than a long double can have.
    return static_cast<T>(static_cast<T>(number) << 60);
  } else {
    return static_cast<T>(number);
  }
}

/// Keys with up to `different` different values; 0: all bits are random.
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
                                                    /*least_rows=*/1,
                                                    /*hash_threads=*/64,
                                                    /*hash_items_per_thread=*/4,
                                                    /*hash_blocks_per_multiprocessor=*/2,
                                                    /*hash_table_bytes=*/4096,
                                                    /*hash_slots=*/64,
                                                    /*part_threads=*/64,
                                                    /*part_blocks_per_multiprocessor=*/2,
                                                    /*part_table_bytes=*/2048,
                                                    /*partition_bits=*/3,
                                                    /*partition_items_per_thread=*/8,
                                                    /*most_table_rows=*/600,
                                                    /*most_slots_in_memory=*/256,
                                                    /*partition_threads=*/64,
                                                    /*partition_blocks_per_multiprocessor=*/2,
                                                    /*partition_sector_rows=*/8,
                                                    /*part_load_percent=*/60,
                                                    /*most_scattered_rows=*/150};
  };
  using MaxPolicy = Policy;
};
using SmallTables = strata::TunedDeviceGroupBy<small_tables>;

struct without_hints {
  template <class Keys>
  const Keys& operator()(const Keys& keys) const {
    return keys;
  }
};

/// Compares the sums, numbers of rows and extremes of `values` in all groups of `keys` with sequential results. Groups
/// come in any order, or in the order of the keys. `hint` adds to the description of the keys.
template <class GroupBy, bool IsSorted, class Key, class Value, class Hint = without_hints>
void expect_groups_in_order(const std::vector<Key>& keys, const std::vector<Value>& values, std::size_t capacity,
                            const Hint& hint = {}) {
  const std::vector<std::size_t> rows = rows_by_group(keys);
  const auto is_same_group = [&](std::size_t a, std::size_t b) {
    const order_of_keys less;
    return !less(grouped(keys[a]), grouped(keys[b])) && !less(grouped(keys[b]), grouped(keys[a]));
  };
  // Where each group begins in `rows`, and where the last one ends.
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || !is_same_group(rows[i - 1], rows[i])) begins.push_back(i);
  }
  const std::size_t groups = begins.size();
  begins.push_back(rows.size());
  const std::size_t written = std::min(capacity, groups);
  const device_vector<Key> in(keys);
  const device_vector<Value> items(values);
  device_vector<Key> keys_out(std::vector<Key>(capacity, number_as<Key>(77)));
  device_vector<u64> sums(std::vector<u64>(capacity, 77));
  device_vector<unsigned> counts(std::vector<unsigned>(capacity, 77));
  device_vector<Value> least(std::vector<Value>(capacity, number_as<Value>(77)));
  device_vector<Value> greatest(std::vector<Value>(capacity, number_as<Value>(77)));
  const auto num_groups = result_of<int>([&](int* number, auto&&... storage) {
    const auto output = strata::group_output(keys_out.data(), capacity);
    const auto rows_in = hint(strata::group_keys(in.data(), static_cast<int>(keys.size())));
    const auto all = strata::group_aggregates(
        strata::group_sum(items.data(), sums.data()), strata::group_count(counts.data()),
        strata::group_min(items.data(), least.data()), strata::group_max(items.data(), greatest.data()));
    if constexpr (IsSorted) {
      return GroupBy::Aggregate(storage..., rows_in, all, output.sorted(), number);
    } else {
      return GroupBy::Aggregate(storage..., rows_in, all, output, number);
    }
  });
  ASSERT_EQ(static_cast<int>(groups), num_groups);
  const auto found_keys = keys_out.to_host();
  const auto found_sums = sums.to_host();
  const auto found_counts = counts.to_host();
  const auto found_least = least.to_host();
  const auto found_greatest = greatest.to_host();
  std::vector<bool> is_written(groups);
  for (std::size_t at = 0; at < written; ++at) {
    const grouped_key key = grouped(found_keys[at]);
    const auto place = std::lower_bound(begins.begin(), begins.end() - 1, key, [&](std::size_t begin, const auto& k) {
      return order_of_keys{}(grouped(keys[rows[begin]]), k);
    });
    const auto g = static_cast<std::size_t>(place - begins.begin());
    ASSERT_LT(g, groups) << "group " << at;
    const grouped_key expected = grouped(keys[rows[begins[g]]]);
    ASSERT_EQ(expected.is_nan, key.is_nan) << "group " << at;
    ASSERT_EQ(expected.value, key.value) << "group " << at;
    ASSERT_FALSE(key.value == 0 && std::signbit(key.value)) << "group " << at;
    ASSERT_FALSE(is_written[g]) << "group " << at << " is written twice";
    is_written[g] = true;
    if (IsSorted) {
      ASSERT_EQ(at, g);
    }
    u64 sum = 0;
    Value low = values[rows[begins[g]]], high = low;
    for (std::size_t i = begins[g]; i < begins[g + 1]; ++i) {
      const Value value = values[rows[i]];
      sum += static_cast<u64>(value);
      low = std::min(low, value);
      high = std::max(high, value);
    }
    ASSERT_EQ(sum, found_sums[at]) << "group " << at;
    ASSERT_EQ(begins[g + 1] - begins[g], found_counts[at]) << "group " << at;
    ASSERT_EQ(low, found_least[at]) << "group " << at;
    ASSERT_EQ(high, found_greatest[at]) << "group " << at;
  }
  for (std::size_t g = written; g < capacity; ++g) {
    ASSERT_EQ(77u, found_sums[g]) << "behind the groups";
    ASSERT_EQ(77u, found_counts[g]) << "behind the groups";
  }
}

/// Expects groups in any order.
template <class GroupBy = DeviceGroupBy, class Key, class Value>
void expect_groups(const std::vector<Key>& keys, const std::vector<Value>& values, std::size_t capacity) {
  expect_groups_in_order<GroupBy, false>(keys, values, capacity);
}
/// Expects groups in the order of the keys.
template <class GroupBy = DeviceGroupBy, class Key, class Value>
void expect_sorted_groups(const std::vector<Key>& keys, const std::vector<Value>& values, std::size_t capacity) {
  expect_groups_in_order<GroupBy, true>(keys, values, capacity);
}

template <class Value>
std::vector<Value> random_values(std::size_t count, std::mt19937_64& bits) {
  std::vector<Value> values(count);
  for (Value& value : values) value = static_cast<Value>(bits());
  return values;
}

}  // namespace group_by_test
