// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceGroupBy: aggregates that may differ from run to run.
#include "device/engine/grid_support.cuh"
#include "device/group_by/group_by_support.cuh"

namespace device_group_by_aggregates_test {

using namespace group_by_test;

/// An item of 5 bytes, not a power of two.
struct name {
  unsigned char letters[5];
  friend bool operator==(const name& a, const name& b) { return std::equal(a.letters, a.letters + 5, b.letters); }
};
name name_of(std::size_t row) {
  name one;
  for (int i = 0; i < 5; ++i) one.letters[i] = static_cast<unsigned char>(row >> 8 * i);
  return one;
}

/// Expects that each group has the number and the name of one of its rows.
template <class GroupBy = DeviceGroupBy, bool IsSorted = false, class Key>
void expect_any(const std::vector<Key>& keys, std::size_t capacity) {
  const auto groups = rows_of_groups(keys);
  std::vector<name> items(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) items[i] = name_of(i);
  const device_vector<Key> in(keys);
  const device_vector<name> names(items);
  device_vector<Key> keys_out(capacity);
  device_vector<int> rows(std::vector<int>(capacity, 77));
  device_vector<name> names_out(capacity);
  device_vector<int> counts(capacity);
  const int number = result_of<int>([&](int* number_out, auto&&... storage) {
    const auto all =
        strata::group_aggregates(strata::group_any(counting<int>(0), rows.data()), strata::group_count(counts.data()),
                                 strata::group_any(names.data(), names_out.data()));
    const auto output = strata::group_output(keys_out.data(), capacity);
    if constexpr (IsSorted) {
      return GroupBy::Aggregate(storage..., strata::group_keys(in.data(), keys.size()), all, output.sorted(),
                                number_out);
    } else {
      return GroupBy::Aggregate(storage..., strata::group_keys(in.data(), keys.size()), all, output, number_out);
    }
  });
  ASSERT_EQ(static_cast<int>(groups.size()), number);
  const auto found = keys_out.to_host();
  const auto found_rows = rows.to_host();
  const auto found_names = names_out.to_host();
  const auto found_counts = counts.to_host();
  for (std::size_t g = 0; g < std::min(groups.size(), capacity); ++g) {
    const auto group = groups.find(grouped(found[g]));
    ASSERT_TRUE(group != groups.end()) << "group " << g;
    const auto& all = group->second;
    ASSERT_EQ(static_cast<int>(all.size()), found_counts[g]);
    ASSERT_TRUE(std::binary_search(all.begin(), all.end(), static_cast<std::size_t>(found_rows[g]))) << "group " << g;
    ASSERT_TRUE(std::any_of(all.begin(), all.end(), [&](std::size_t row) { return items[row] == found_names[g]; }))
        << "group " << g;
  }
  for (std::size_t g = groups.size(); g < capacity; ++g) ASSERT_EQ(77, found_rows[g]) << "behind the groups";
}

TEST(device_group_by_aggregates, any_row_of_a_group) {
  std::mt19937_64 bits = strata_test::random_bits(31);
  for (const std::size_t size : sizes{0, 1, 2, 500, 700, 5000, if_small<std::size_t>(9001, 300007)}) {
    for (const u64 different : {u64{1}, u64{3}, u64{800}, u64{0}}) {
      SCOPED_TRACE(testing::Message() << size << " rows, " << different << " keys");
      const auto keys = random_keys<std::uint32_t>(size, different, bits);
      ASSERT_NO_FATAL_FAILURE(expect_any(keys, size + 3));
      ASSERT_NO_FATAL_FAILURE(expect_any<SmallTables>(keys, size));
      ASSERT_NO_FATAL_FAILURE((expect_any<SmallTables, true>(keys, size / 2)));
    }
  }
  const auto halves = random_keys<__half>(4000, 0, bits);
  ASSERT_NO_FATAL_FAILURE(expect_any<SmallTables>(halves, 4000));
}

TEST(device_group_by_aggregates, any_row_under_any_schedule) {
  std::mt19937_64 bits = strata_test::random_bits(32);
  const auto keys = random_keys<std::uint32_t>(if_small<std::size_t>(3000, 100000), 400, bits);
  under_all_schedules([&](std::size_t i) {
    SCOPED_TRACE(testing::Message() << "schedule " << i);
    ASSERT_NO_FATAL_FAILURE(expect_any<SmallTables>(keys, keys.size()));
  });
}

// Odd threads have no row, like blocks without a row of a frequent key. They must not overwrite a row that another
// thread has set in the meantime.
STRATA_KERNEL void set_rows_once(unsigned* rows, unsigned count) {
  using any_row = strata::detail::group_any_aggregate<const int*, int*>;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned none = any_row::identity<unsigned>();
  for (unsigned i = 0; i < count; ++i) any_row::add_in_memory(rows + i, thread % 2 == 0 ? thread : none);
}

TEST(device_group_by_aggregates, no_row_replaces_a_row) {
  const unsigned count = if_small(20u, 200u);
  under_grid_schedules([&](std::size_t) {
    device_vector<unsigned> rows(std::vector<unsigned>(count, ~0u));
    ASSERT_CUDA_SUCCESS(
        strata::launch({"set_rows_once", dim3(if_small(4u, 264u)), dim3(if_small(32u, 256u)), 0, nullptr},
                       set_rows_once, rows.data(), count));
    for (const unsigned row : rows.to_host()) ASSERT_EQ(0u, row % 2) << "no row";
  });
}

/// Tests sums and means of numbers whose sums are exact, in whatever order they are added.
template <class GroupBy, bool IsSorted>
void expect_unordered_sums(const std::vector<std::uint32_t>& keys, const std::vector<float>& values) {
  const auto groups = rows_of_groups(keys);
  const device_vector<std::uint32_t> in(keys);
  const device_vector<float> items(values);
  device_vector<std::uint32_t> keys_out(keys.size());
  device_vector<float> sums(keys.size());
  device_vector<double> wide_sums(keys.size()), means(keys.size());
  const int number = result_of<int>([&](int* number_out, auto&&... storage) {
    const auto all = strata::group_aggregates(strata::group_sum(items.data(), sums.data()).unordered(),
                                              strata::group_mean(items.data(), means.data()).unordered(),
                                              strata::group_sum(items.data(), wide_sums.data()).unordered());
    static_assert(decltype(all)::are_unordered);
    const auto output = strata::group_output(keys_out.data(), keys.size());
    if constexpr (IsSorted) {
      return GroupBy::Aggregate(storage..., strata::group_keys(in.data(), keys.size()), all, output.sorted(),
                                number_out);
    } else {
      return GroupBy::Aggregate(storage..., strata::group_keys(in.data(), keys.size()), all, output, number_out);
    }
  });
  ASSERT_EQ(static_cast<int>(groups.size()), number);
  const auto found = keys_out.to_host();
  const auto found_sums = sums.to_host();
  const auto found_wide_sums = wide_sums.to_host();
  const auto found_means = means.to_host();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto& rows = groups.at(grouped(found[g]));
    double sum = -0.0;
    for (const std::size_t row : rows) sum += static_cast<double>(values[row]);
    if (std::isnan(sum)) {
      ASSERT_TRUE(std::isnan(found_sums[g]) && std::isnan(found_wide_sums[g]) && std::isnan(found_means[g]));
      continue;
    }
    ASSERT_EQ(sum, static_cast<double>(found_sums[g])) << "group " << g;
    ASSERT_EQ(sum, found_wide_sums[g]) << "group " << g;
    ASSERT_EQ(sum / static_cast<double>(rows.size()), found_means[g]) << "group " << g;
    ASSERT_EQ(std::signbit(sum), std::signbit(found_sums[g])) << "group " << g;
    ASSERT_EQ(std::signbit(sum), std::signbit(found_wide_sums[g])) << "group " << g;
  }
}

TEST(device_group_by_aggregates, sums_in_any_order) {
  std::mt19937_64 bits = strata_test::random_bits(33);
  for (const std::size_t size : sizes{0, 1, 500, 3000}) {
    for (const u64 different : {u64{1}, u64{50}, u64{1000}}) {
      SCOPED_TRACE(testing::Message() << size << " rows, " << different << " keys");
      const auto keys = random_keys<std::uint32_t>(size, different, bits);
      std::vector<float> values(size);
      for (float& value : values) {
        value = static_cast<float>(static_cast<int>(bits() % 2000) - 1000) / 16;
        if (different == 1000) value = -0.0f;
        if (different == 50 && bits() % 1000 == 0) value = std::numeric_limits<float>::quiet_NaN();
      }
      ASSERT_NO_FATAL_FAILURE((expect_unordered_sums<DeviceGroupBy, false>(keys, values)));
      ASSERT_NO_FATAL_FAILURE((expect_unordered_sums<SmallTables, false>(keys, values)));
      ASSERT_NO_FATAL_FAILURE((expect_unordered_sums<SmallTables, true>(keys, values)));
    }
  }
  // Integers are added in any order anyway.
  EXPECT_TRUE((std::is_same_v<decltype(strata::group_sum(std::declval<int*>(), std::declval<int*>())),
                              decltype(strata::group_sum(std::declval<int*>(), std::declval<int*>()).unordered())>));
}

}  // namespace device_group_by_aggregates_test
