// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceGroupBy: keys of several columns, with and without nulls.
#include "device/group_by/group_by_columns_support.cuh"

#include <strata/iterator/transform_input_iterator.cuh>

#include <array>

namespace device_group_by_columns_test {

using namespace group_by_test;

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
