// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceGroupBy: rows that are combined in their order, groups of rows, iterators, graphs.
#include "device/group_by/group_by_support.cuh"

namespace device_group_by_order_test {

using namespace group_by_test;

TEST(device_group_by_order, extremes_of_floating_point_are_those_of_min_and_max) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<int> keys = {1, 1, 1, 2, 2, 3, 3, 4, 4, 4};
  const std::vector<float> items = {nan, 2.0f, -3.0f, nan, nan, 0.0f, -0.0f, -5.0f, -nan, -7.0f};
  const device_vector<int> in(keys);
  const device_vector<float> values(items);
  device_vector<int> keys_out(4);
  device_vector<float> least(4), greatest(4);
  const auto groups = result_of<int>([&](int* number, auto&&... storage) {
    return DeviceGroupBy::Aggregate(storage..., strata::group_keys(in.data(), 10),
                                    strata::group_aggregates(strata::group_min(values.data(), least.data()),
                                                             strata::group_max(values.data(), greatest.data())),
                                    strata::group_output(keys_out.data(), 4).sorted(), number);
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

// An operator that is not commutative shows the order of operands. Rows are combined in states of 8 bytes, and of more
// than 16.
TEST(device_group_by_order, an_operator_combines_rows_in_their_order) {
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

TEST(device_group_by_order, sums_and_means_of_floating_point_repeat) {
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

TEST(device_group_by_order, keys_of_128_bits) {
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

TEST(device_group_by_order, groups_of_rows_and_numbers_of_keys) {
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

TEST(device_group_by_order, iterators_a_future_count_and_no_storage) {
  device_vector<int> number(std::vector<int>{2500});
  device_vector<int> groups(1);
  device_vector<long long> sums(256);
  device_vector<int> keys_out(256);
  // Row i has the key (100 + i) % 256.
  const counting<std::uint8_t> keys(100);
  const counting<int> values(0);
  const auto sum_of = [](int key) {
    long long sum = 0;
    for (int i = 0; i < 2500; ++i) sum += (100 + i) % 256 == key ? i : 0;
    return sum;
  };
  const auto rows = strata::group_keys(keys, strata::FutureCount(number.data(), 4000));
  const auto aggregates = strata::group_aggregates(strata::group_sum(values, sums.data()));
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return SmallTables::Aggregate(rows, aggregates,
                                  strata::group_output(strata::DiscardOutputIterator<>(), 10).sorted(), groups.data());
  }));
  EXPECT_EQ(256, groups.to_host()[0]);
  const auto first_sums = sums.to_host();
  for (int g = 0; g < 10; ++g) EXPECT_EQ(sum_of(g), first_sums[static_cast<std::size_t>(g)]);

  groups.assign(std::vector<int>{0});
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return SmallTables::Aggregate(rows, aggregates, strata::group_output(keys_out.data(), 256), groups.data());
  }));
  EXPECT_EQ(256, groups.to_host()[0]);
  const auto found_keys = keys_out.to_host();
  const auto found = sums.to_host();
  std::vector<bool> is_found(256);
  for (std::size_t g = 0; g < 256; ++g) {
    is_found[static_cast<std::size_t>(found_keys[g])] = true;
    EXPECT_EQ(sum_of(found_keys[g]), found[g]);
  }
  EXPECT_EQ(std::vector<bool>(256, true), is_found);
}

/// Replays one graph with keys that form different numbers of groups.
template <bool IsSorted>
void expect_replays() {
  std::mt19937_64 bits = strata_test::random_bits(18);
  constexpr std::size_t size = 20007;
  device_vector<int> keys(std::vector<int>(size, 0));
  device_vector<int> keys_out(size), counts(size), groups(1);
  const auto rows = strata::group_keys(keys.data(), size);
  const auto aggregates = strata::group_aggregates(strata::group_count(counts.data()));
  const auto output = [&] {
    const auto any = strata::group_output(keys_out.data(), size);
    if constexpr (IsSorted) {
      return any.sorted();
    } else {
      return any;
    }
  }();
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
    std::map<int, int> expected;
    for (const int key : items) ++expected[key];
    ASSERT_EQ(static_cast<int>(expected.size()), groups.to_host()[0]);
    const auto found = counts.to_host();
    const auto found_keys = keys_out.to_host();
    std::vector<std::pair<int, int>> pairs;
    for (std::size_t g = 0; g < expected.size(); ++g) pairs.emplace_back(found_keys[g], found[g]);
    if (!IsSorted) std::sort(pairs.begin(), pairs.end());
    ASSERT_TRUE(std::equal(pairs.begin(), pairs.end(), expected.begin(), expected.end(),
                           [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; }));
  }
}

TEST(device_group_by_order, a_graph_can_be_replayed_with_other_keys) {
  ASSERT_NO_FATAL_FAILURE(expect_replays<true>());
  ASSERT_NO_FATAL_FAILURE(expect_replays<false>());
}

}  // namespace device_group_by_order_test
