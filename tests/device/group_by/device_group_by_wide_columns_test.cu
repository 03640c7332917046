// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceGroupBy: keys of several columns that fit in no integer of 64 bits. Their rows are sorted.
#include "device/group_by/group_by_columns_support.cuh"

#include <array>

namespace device_group_by_wide_columns_test {

using namespace group_by_test;

#if STRATA_HAS_INT128
TEST(device_group_by_wide_columns, of_96_bits) {
  std::mt19937_64 bits = strata_test::random_bits(54);
  ASSERT_NO_FATAL_FAILURE((expect_all_groups<double, std::int32_t>({600}, {40}, bits)));
}
#endif

#if STRATA_HAS_INT128
TEST(device_group_by_wide_columns, of_192_bits) {
  std::mt19937_64 bits = strata_test::random_bits(55);
  ASSERT_NO_FATAL_FAILURE((expect_all_groups<strata::detail::uint128, double>({0, 1, 450}, {40}, bits)));
}
#endif
// If nulls are a group, these columns have 130 bits.
TEST(device_group_by_wide_columns, of_128_bits) {
  std::mt19937_64 bits = strata_test::random_bits(56);
  ASSERT_NO_FATAL_FAILURE((expect_all_groups<u64, std::int64_t>({450}, {40}, bits)));
}

// Five columns have 232 bits. Most keys differ in one bit, so each bit of each column matters.
TEST(device_group_by_wide_columns, of_232_bits) {
  using key = std::array<u64, 5>;
  constexpr int widths[] = {64, 32, 8, 64, 64};
  const int size = if_small(4000, 200000);
  std::mt19937_64 bits = strata_test::random_bits(57);
  const key base = {bits(), bits() & 0xffffffff, bits() & 0xff, bits(), bits()};
  std::vector<key> keys(static_cast<std::size_t>(size), base);
  for (key& of_row : keys) {
    auto bit = static_cast<int>(bits() % 240);
    for (std::size_t c = 0; c < 5; bit -= widths[c++]) {
      if (bit >= 0 && bit < widths[c]) of_row[c] ^= u64{1} << bit;
    }
  }
  std::map<key, std::vector<int>> rows_of;
  std::vector<u64> a, d, e;
  std::vector<std::uint32_t> b;
  std::vector<std::uint8_t> c;
  for (int i = 0; i < size; ++i) {
    const key& of_row = keys[static_cast<std::size_t>(i)];
    rows_of[of_row].push_back(i);
    a.push_back(of_row[0]);
    b.push_back(static_cast<std::uint32_t>(of_row[1]));
    c.push_back(static_cast<std::uint8_t>(of_row[2]));
    d.push_back(of_row[3]);
    e.push_back(of_row[4]);
  }
  const device_vector<u64> a_in(a), d_in(d), e_in(e);
  const device_vector<std::uint32_t> b_in(b);
  const device_vector<std::uint8_t> c_in(c);
  const std::size_t capacity = rows_of.size() - 3;
  device_vector<u64> a_out(capacity), d_out(capacity), e_out(capacity);
  device_vector<std::uint32_t> b_out(capacity);
  device_vector<std::uint8_t> c_out(capacity);
  device_vector<int> counts(capacity), first(capacity), group_of_row(static_cast<std::size_t>(size));
  const auto rows = strata::group_keys(a_in.data(), b_in.data(), c_in.data(), d_in.data(), e_in.data(), size);
  const auto output =
      strata::group_output(a_out.data(), b_out.data(), c_out.data(), d_out.data(), e_out.data(), capacity);
  const auto all =
      strata::group_aggregates(strata::group_count(counts.data()), strata::group_first(counting<int>(0), first.data()));
  const auto expect_groups_in = [&](const std::vector<std::pair<key, std::vector<int>>>& groups) {
    const auto found_a = a_out.to_host(), found_d = d_out.to_host(), found_e = e_out.to_host();
    const auto found_b = b_out.to_host();
    const auto found_c = c_out.to_host();
    const auto found_counts = counts.to_host(), found_first = first.to_host(), found_groups = group_of_row.to_host();
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const int row : groups[g].second) {
        ASSERT_EQ(static_cast<int>(g), found_groups[static_cast<std::size_t>(row)]) << "row " << row;
      }
      if (g >= capacity) continue;
      ASSERT_EQ(groups[g].first, (key{found_a[g], found_b[g], found_c[g], found_d[g], found_e[g]})) << "group " << g;
      ASSERT_EQ(static_cast<int>(groups[g].second.size()), found_counts[g]) << "group " << g;
      ASSERT_EQ(groups[g].second[0], found_first[g]) << "group " << g;
    }
  };
  std::vector<std::pair<key, std::vector<int>>> groups(rows_of.begin(), rows_of.end());
  ASSERT_EQ(static_cast<int>(groups.size()), result_of<int>([&](int* number, auto&&... storage) {
              return DeviceGroupBy::Groups(storage..., rows, group_of_row.data(), all, output, number);
            }));
  ASSERT_NO_FATAL_FAILURE(expect_groups_in(groups));
  std::sort(groups.begin(), groups.end(), [](const auto& x, const auto& y) { return x.second[0] < y.second[0]; });
  ASSERT_EQ(static_cast<int>(groups.size()), result_of<int>([&](int* number, auto&&... storage) {
              return DeviceGroupBy::Groups(storage..., rows, group_of_row.data(), all, output.first_occurrence(),
                                           number);
            }));
  ASSERT_NO_FATAL_FAILURE(expect_groups_in(groups));
  ASSERT_EQ(static_cast<int>(groups.size()), result_of<int>([&](int* number, auto&&... storage) {
              return DeviceGroupBy::CountDistinct(storage..., rows, number);
            }));
}

}  // namespace device_group_by_wide_columns_test
