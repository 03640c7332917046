// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the tests of DeviceGroupBy with keys of two columns: the columns, and calls whose results are compared.
#pragma once

#include <array>

#include "device/group_by/group_by_support.cuh"

namespace group_by_test {

enum class nulls { none, dropped, as_group };

/// A key as a pair whose order is: numbers, NaN, null.
using one_key = std::pair<int, long double>;
constexpr one_key null_key{2, 0.0L};
template <class Key>
one_key key_of(const Key& key) {
  const grouped_key value = grouped(key);
  return {value.is_nan ? 1 : 0, value.is_nan ? 0.0L : value.value};
}

template <class Key>
struct column {
  std::vector<Key> keys;
  std::vector<std::uint32_t> mask;

  one_key at(std::size_t row, bool has_mask) const {
    return has_mask && (mask[row / 32] >> row % 32 & 1) == 0 ? null_key : key_of(keys[row]);
  }
};
template <class Key>
column<Key> random_column(std::size_t size, u64 different, std::mt19937_64& bits) {
  column<Key> made{random_keys<Key>(size, different, bits), std::vector<std::uint32_t>((size + 31) / 32)};
  for (std::size_t i = 0; i < size; ++i) made.mask[i / 32] |= (bits() % 4 != 0 ? 1u : 0u) << i % 32;
  return made;
}

/// Compares the number of rows and any row of each group with sequential results.
template <class GroupBy, nulls Nulls, bool IsSorted, class A, class B>
void expect_groups(const column<A>& a, const column<B>& b, std::size_t capacity) {
  const std::size_t size = a.keys.size();
  constexpr bool has_nulls = Nulls != nulls::none;
  std::map<std::array<one_key, 2>, std::vector<int>> rows_of;
  for (std::size_t i = 0; i < size; ++i) {
    const std::array<one_key, 2> key = {a.at(i, has_nulls), b.at(i, has_nulls)};
    if (Nulls == nulls::dropped && (key[0] == null_key || key[1] == null_key)) continue;
    rows_of[key].push_back(static_cast<int>(i));
  }
  const device_vector<A> first(a.keys);
  const device_vector<B> second(b.keys);
  const device_vector<std::uint32_t> first_mask(a.mask), second_mask(b.mask);
  device_vector<A> first_out(capacity);
  device_vector<B> second_out(capacity);
  device_vector<unsigned char> first_valid(std::vector<unsigned char>(capacity, 77));
  device_vector<int> second_valid(capacity);
  device_vector<int> counts(std::vector<int>(capacity, 77)), rows(std::vector<int>(capacity, -1));
  const int number = result_of<int>([&](int* number_out, auto&&... storage) {
    const auto all =
        strata::group_aggregates(strata::group_count(counts.data()), strata::group_any(counting<int>(0), rows.data()));
    const auto call = [&](const auto& keys) {
      const auto output = strata::group_output(first_out.data(), second_out.data(), capacity)
                              .valid(first_valid.data(), second_valid.data());
      if constexpr (IsSorted) {
        return GroupBy::Aggregate(storage..., keys, all, output.sorted(), number_out);
      } else {
        return GroupBy::Aggregate(storage..., keys, all, output, number_out);
      }
    };
    const auto keys = strata::group_keys(first.data(), second.data(), size);
    if constexpr (Nulls == nulls::none) {
      return call(keys);
    } else if constexpr (Nulls == nulls::dropped) {
      return call(keys.valid(first_mask.data(), second_mask.data()));
    } else {
      return call(keys.nulls_as_group().valid(first_mask.data(), second_mask.data()));
    }
  });
  ASSERT_EQ(static_cast<int>(rows_of.size()), number);
  const auto found_first = first_out.to_host();
  const auto found_second = second_out.to_host();
  const auto found_first_valid = first_valid.to_host();
  const auto found_second_valid = second_valid.to_host();
  const auto found_counts = counts.to_host();
  const auto found_rows = rows.to_host();
  const std::size_t written = std::min(capacity, rows_of.size());
  std::map<std::array<one_key, 2>, int> seen;
  auto next = rows_of.begin();
  for (std::size_t g = 0; g < written; ++g) {
    const std::array<one_key, 2> key = {found_first_valid[g] == 0 ? null_key : key_of(found_first[g]),
                                        found_second_valid[g] == 1 ? key_of(found_second[g]) : null_key};
    const auto group = IsSorted ? next++ : rows_of.find(key);
    ASSERT_TRUE(group != rows_of.end() && group->first == key) << "group " << g;
    ASSERT_EQ(0, seen[key]++) << "group " << g << " is written twice";
    ASSERT_EQ(static_cast<int>(group->second.size()), found_counts[g]) << "group " << g;
    ASSERT_TRUE(std::binary_search(group->second.begin(), group->second.end(), found_rows[g])) << "group " << g;
  }
  for (std::size_t g = written; g < capacity; ++g) {
    ASSERT_EQ(77, found_first_valid[g]) << "behind the groups";
    ASSERT_EQ(77, found_counts[g]) << "behind the groups";
  }
  if (Nulls == nulls::none) {
    ASSERT_EQ(number, result_of<int>([&](int* number_out, auto&&... storage) {
                return GroupBy::CountDistinct(storage..., strata::group_keys(first.data(), second.data(), size),
                                              number_out);
              }));
  }
}

template <class A, class B>
void expect_all_groups(const std::vector<std::size_t>& all_sizes, const std::vector<u64>& numbers_of_keys,
                       std::mt19937_64& bits) {
  for (const std::size_t size : all_sizes) {
    for (const u64 different : numbers_of_keys) {
      SCOPED_TRACE(testing::Message() << size << " rows, " << different << " keys in each column");
      const auto a = random_column<A>(size, different, bits);
      const auto b = random_column<B>(size, different, bits);
      const std::size_t capacity = different == 40 ? size / 5 : size + 1;
      ASSERT_NO_FATAL_FAILURE((expect_groups<SmallTables, nulls::none, false>(a, b, capacity)));
      ASSERT_NO_FATAL_FAILURE((expect_groups<SmallTables, nulls::none, true>(a, b, capacity)));
      ASSERT_NO_FATAL_FAILURE((expect_groups<SmallTables, nulls::dropped, false>(a, b, capacity)));
      ASSERT_NO_FATAL_FAILURE((expect_groups<SmallTables, nulls::dropped, true>(a, b, capacity)));
      ASSERT_NO_FATAL_FAILURE((expect_groups<SmallTables, nulls::as_group, false>(a, b, capacity)));
      ASSERT_NO_FATAL_FAILURE((expect_groups<SmallTables, nulls::as_group, true>(a, b, capacity)));
      if (size > 450) continue;
      ASSERT_NO_FATAL_FAILURE((expect_groups<DeviceGroupBy, nulls::none, false>(a, b, capacity)));
    }
  }
}

}  // namespace group_by_test
