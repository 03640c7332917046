// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceGroupBy: keys of several columns, with and without nulls.
#include "device/group_by/group_by_support.cuh"

#include <strata/iterator/transform_input_iterator.cuh>

#include <array>

namespace device_group_by_columns_test {

using namespace group_by_test;

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

TEST(device_group_by_columns, of_48_bits) {
  std::mt19937_64 bits = strata_test::random_bits(51);
  ASSERT_NO_FATAL_FAILURE(
      (expect_all_groups<std::int16_t, float>({0, 1, 450, if_small<std::size_t>(2100, 100000)}, {1, 40, 0}, bits)));
}
TEST(device_group_by_columns, of_16_bits) {
  std::mt19937_64 bits = strata_test::random_bits(52);
  ASSERT_NO_FATAL_FAILURE(
      (expect_all_groups<std::int8_t, std::uint8_t>({450, if_small<std::size_t>(2100, 100000)}, {40}, bits)));
}
// Columns of 32 bits together are packed into a word of 32 bits. With a bit for nulls, they need a larger word.
TEST(device_group_by_columns, of_32_bits) {
  std::mt19937_64 bits = strata_test::random_bits(53);
  ASSERT_NO_FATAL_FAILURE(
      (expect_all_groups<__half, color>({450, if_small<std::size_t>(2100, 100000)}, {40, 0}, bits)));
}
#if STRATA_HAS_INT128
TEST(device_group_by_columns, of_96_bits) {
  std::mt19937_64 bits = strata_test::random_bits(54);
  ASSERT_NO_FATAL_FAILURE((expect_all_groups<double, std::int32_t>({0, 600}, {40}, bits)));
}
#endif

struct is_odd {
  STRATA_HD bool operator()(int row) const { return row % 2 != 0; }
};

// Three columns of 25 bits together give the groups of rows. One column is not an array, one column is not written, and
// the count is a FutureCount.
TEST(device_group_by_columns, groups_of_rows_of_three_columns) {
  constexpr int size = 3000;
  const device_vector<int> number(std::vector<int>{size - 5});
  std::vector<std::uint8_t> low(size);
  std::vector<std::int16_t> high(size);
  std::map<std::array<int, 3>, std::vector<int>> rows_of;
  for (int i = 0; i < size - 5; ++i) {
    low[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i % 7);
    high[static_cast<std::size_t>(i)] = static_cast<std::int16_t>(i % 5 - 2);
    rows_of[{i % 5 - 2, i % 2, i % 7}].push_back(i);
  }
  std::vector<int> expected(static_cast<std::size_t>(size), -1);
  int groups = 0;
  for (const auto& group : rows_of) {
    for (const int row : group.second) expected[static_cast<std::size_t>(row)] = groups;
    ++groups;
  }
  const device_vector<std::uint8_t> low_in(low);
  const device_vector<std::int16_t> high_in(high);
  const auto capacity = static_cast<std::size_t>(groups);
  device_vector<int> group_of_row(std::vector<int>(static_cast<std::size_t>(size), -1)), counts(capacity);
  device_vector<std::int16_t> high_out(capacity);
  device_vector<unsigned> low_out(capacity);
  const strata::TransformInputIterator<bool, is_odd, counting<int>> odd(counting<int>(0), is_odd{});
  ASSERT_EQ(25, decltype(strata::group_keys(high_in.data(), odd, low_in.data(), size).keys)::bits);
  const int found = result_of<int>([&](int* number_out, auto&&... storage) {
    return SmallTables::Groups(
        storage..., strata::group_keys(high_in.data(), odd, low_in.data(), strata::FutureCount(number.data(), size)),
        group_of_row.data(), strata::group_aggregates(strata::group_count(counts.data())),
        strata::group_output(high_out.data(), strata::DiscardOutputIterator<>(), low_out.data(), groups), number_out);
  });
  ASSERT_EQ(groups, found);
  ASSERT_EQ(expected, group_of_row.to_host());
  const auto found_high = high_out.to_host();
  const auto found_low = low_out.to_host();
  const auto found_counts = counts.to_host();
  std::size_t g = 0;
  for (const auto& group : rows_of) {
    ASSERT_EQ(group.first[0], found_high[g]);
    ASSERT_EQ(static_cast<unsigned>(group.first[2]), found_low[g]);
    ASSERT_EQ(static_cast<int>(group.second.size()), found_counts[g]);
    ++g;
  }
}

TEST(device_group_by_columns, bad_arguments_are_refused) {
  device_vector<int> first(100), second(100), first_out(100), second_out(100), counts(100), number(1);
  const auto call = [&](const auto& rows, const auto& output) {
    return DeviceGroupBy::Aggregate(rows, strata::group_aggregates(strata::group_count(counts.data())), output,
                                    number.data());
  };
  const auto rows = strata::group_keys(first.data(), second.data(), 100);
  int* const none = nullptr;
  EXPECT_EQ(cudaSuccess, call(rows, strata::group_output(first_out.data(), second_out.data(), 100)));
  EXPECT_EQ(cudaErrorInvalidValue, call(rows, strata::group_output(first_out.data(), none, 100)));
  EXPECT_EQ(cudaErrorInvalidValue, call(rows, strata::group_output(first_out.data(), second.data(), 100)));
  EXPECT_EQ(cudaErrorInvalidValue, call(rows, strata::group_output(first_out.data(), first_out.data() + 99, 100)));
  EXPECT_EQ(cudaErrorInvalidValue, call(rows, strata::group_output(first_out.data(), second_out.data(), -1)));
  EXPECT_EQ(cudaErrorInvalidValue, call(strata::group_keys(first.data(), none, 100),
                                        strata::group_output(first_out.data(), second_out.data(), 100)));
  EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
}

}  // namespace device_group_by_columns_test
