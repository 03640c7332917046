// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceGroupBy: groups in the order of their first rows.
#include "device/group_by/group_by_support.cuh"

namespace device_group_by_first_occurrence_test {

using namespace group_by_test;

/// The rows of each group, with the groups in the order of their first rows, and the group of each row.
struct groups_of_keys {
  std::vector<std::vector<std::size_t>> rows;
  std::vector<int> group_of_row;

  template <class Key>
  explicit groups_of_keys(const std::vector<Key>& keys) {
    std::map<grouped_key, std::size_t, order_of_keys> known;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::size_t group = known.emplace(grouped(keys[i]), rows.size()).first->second;
      if (group == rows.size()) rows.emplace_back();
      rows[group].push_back(i);
      group_of_row.push_back(static_cast<int>(group));
    }
  }
};

/// The expected contents of an output of `capacity` items: one item for each group, and 77 behind them.
template <class T, class OfRows>
std::vector<T> expected(const groups_of_keys& groups, std::size_t capacity, const OfRows& of_rows) {
  std::vector<T> all(capacity, number_as<T>(77));
  for (std::size_t g = 0; g < std::min(capacity, groups.rows.size()); ++g) all[g] = of_rows(groups.rows[g]);
  return all;
}

/// Compares aggregates with sequential ones. Sums of integers are computed in tables; for an operator, rows are sorted.
template <class GroupBy, bool HasOperator, class Key>
void expect_order(const std::vector<Key>& keys, std::size_t capacity) {
  SCOPED_TRACE(testing::Message() << keys.size() << " rows, capacity " << capacity
                                  << (HasOperator ? ", operator" : ""));
  const groups_of_keys groups(keys);
  const std::size_t size = keys.size();
  std::vector<std::int32_t> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<std::int32_t>(i * i % 1009) - 500;
  const device_vector<Key> in(keys);
  const device_vector<std::int32_t> items(values);
  device_vector<Key> keys_out(std::vector<Key>(capacity, number_as<Key>(77)));
  device_vector<u64> sums(std::vector<u64>(capacity, 77));
  device_vector<int> counts(std::vector<int>(capacity, 77));
  device_vector<std::int32_t> first(std::vector<std::int32_t>(capacity, 77));
  const int number = result_of<int>([&](int* number_out, auto&&... storage) {
    const auto call = [&](const auto& sum) {
      return GroupBy::Aggregate(storage..., strata::group_keys(in.data(), size),
                                strata::group_aggregates(sum, strata::group_count(counts.data()),
                                                         strata::group_first(items.data(), first.data())),
                                strata::group_output(keys_out.data(), capacity).first_occurrence(), number_out);
    };
    if constexpr (HasOperator) {
      return call(strata::group_reduce(items.data(), sums.data(), strata::Sum{}, u64{0}));
    } else {
      return call(strata::group_sum(items.data(), sums.data()));
    }
  });
  ASSERT_EQ(static_cast<int>(groups.rows.size()), number);
  const auto found_keys = keys_out.to_host();
  for (std::size_t g = 0; g < capacity; ++g) {
    const grouped_key key = grouped(g < groups.rows.size() ? keys[groups.rows[g].front()] : number_as<Key>(77));
    ASSERT_EQ(key.is_nan, grouped(found_keys[g]).is_nan) << "group " << g;
    ASSERT_EQ(key.value, grouped(found_keys[g]).value) << "group " << g;
    ASSERT_FALSE(key.value == 0 && std::signbit(static_cast<double>(found_keys[g]))) << "group " << g;
  }
  ASSERT_EQ(expected<u64>(groups, capacity,
                          [&](const auto& rows) {
                            u64 sum = 0;
                            for (const std::size_t row : rows) sum += static_cast<u64>(values[row]);
                            return sum;
                          }),
            sums.to_host());
  ASSERT_EQ(expected<int>(groups, capacity, [](const auto& rows) { return static_cast<int>(rows.size()); }),
            counts.to_host());
  ASSERT_EQ(expected<std::int32_t>(groups, capacity, [&](const auto& rows) { return values[rows.front()]; }),
            first.to_host());
}

TEST(device_group_by_first_occurrence, groups_come_in_the_order_of_their_first_rows) {
  std::mt19937_64 bits = strata_test::random_bits(31);
  // These sizes lead to all methods with tables, and to sorts.
  for (const std::size_t size : sizes{0, 1, 2, 31, 32, 33, 600, 601, 2500}) {
    for (const u64 different : {u64{1}, u64{40}, u64{0}}) {
      const auto keys = random_keys<std::uint32_t>(size, different, bits);
      ASSERT_NO_FATAL_FAILURE((expect_order<DeviceGroupBy, false>(keys, size)));
      ASSERT_NO_FATAL_FAILURE((expect_order<SmallTables, false>(keys, size)));
      ASSERT_NO_FATAL_FAILURE((expect_order<SmallTables, true>(keys, size)));
    }
  }
  if (is_small()) return;
  for (const u64 different : {u64{1}, u64{1000}, u64{0}}) {
    const auto keys = random_keys<std::uint32_t>(3000000, different, bits);
    ASSERT_NO_FATAL_FAILURE((expect_order<DeviceGroupBy, false>(keys, keys.size())));
    ASSERT_NO_FATAL_FAILURE((expect_order<SmallTables, false>(keys, keys.size())));
    ASSERT_NO_FATAL_FAILURE((expect_order<SmallTables, true>(keys, keys.size())));
  }
}

TEST(device_group_by_first_occurrence, the_first_groups_are_written_if_there_are_more_than_the_capacity) {
  std::mt19937_64 bits = strata_test::random_bits(32);
  for (const std::size_t size : sizes{100, 1500}) {
    const auto keys = random_keys<std::int64_t>(size, 50, bits);
    const std::size_t groups = groups_of_keys(keys).rows.size();
    for (const std::size_t capacity :
         {std::size_t{0}, std::size_t{1}, std::size_t{17}, groups - 1, groups, groups + 9}) {
      ASSERT_NO_FATAL_FAILURE((expect_order<SmallTables, false>(keys, capacity)));
      ASSERT_NO_FATAL_FAILURE((expect_order<SmallTables, true>(keys, capacity)));
    }
  }
}

// Zeros of both signs are one group, whose key is 0.0, and all NaNs are one group. Like all groups, they stand in the
// order of their first rows.
TEST(device_group_by_first_occurrence, zeros_and_nans_come_where_their_first_rows_are) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> keys = {5.0f, -0.0f, nan, -7.0f, 0.0f, -nan, 5.0f, std::numeric_limits<float>::infinity()};
  ASSERT_NO_FATAL_FAILURE((expect_order<DeviceGroupBy, false>(keys, keys.size())));
  ASSERT_NO_FATAL_FAILURE((expect_order<DeviceGroupBy, true>(keys, keys.size())));
}

// If several aggregates read the same array, it is read once.
TEST(device_group_by_first_occurrence, aggregates_of_one_array_and_of_several) {
  std::mt19937_64 bits = strata_test::random_bits(33);
  for (const std::size_t size : sizes{500, 2500}) {
    const auto keys = random_keys<std::uint32_t>(size, 300, bits);
    const groups_of_keys groups(keys);
    const auto one = random_values<std::int32_t>(size, bits);
    const auto other = random_values<std::int32_t>(size, bits);
    const device_vector<std::uint32_t> in(keys);
    const device_vector<std::int32_t> first_in(one), second_in(other);
    for (const bool is_one : {true, false}) {
      const auto& again = is_one ? one : other;
      device_vector<std::uint32_t> keys_out(size);
      device_vector<long long> sums(std::vector<long long>(size, 77));
      device_vector<double> means(std::vector<double>(size, number_as<double>(77)));
      device_vector<std::int32_t> least(std::vector<std::int32_t>(size, 77));
      const std::int32_t* const again_in = is_one ? first_in.data() : second_in.data();
      ASSERT_EQ(static_cast<int>(groups.rows.size()), result_of<int>([&](int* number, auto&&... storage) {
                  return SmallTables::Aggregate(
                      storage..., strata::group_keys(in.data(), size),
                      strata::group_aggregates(strata::group_sum(first_in.data(), sums.data()),
                                               strata::group_mean(again_in, means.data()),
                                               strata::group_min(again_in, least.data())),
                      strata::group_output(keys_out.data(), size).first_occurrence(), number);
                }));
      const auto sum_of = [](const auto& values, const auto& rows) {
        long long sum = 0;
        for (const std::size_t row : rows) sum += values[row];
        return sum;
      };
      ASSERT_EQ(expected<long long>(groups, size, [&](const auto& rows) { return sum_of(one, rows); }), sums.to_host());
      ASSERT_EQ(expected<double>(groups, size,
                                 [&](const auto& rows) {
                                   return static_cast<double>(sum_of(again, rows)) / static_cast<double>(rows.size());
                                 }),
                means.to_host());
      ASSERT_EQ(expected<std::int32_t>(groups, size,
                                       [&](const auto& rows) {
                                         std::int32_t low = again[rows.front()];
                                         for (const std::size_t row : rows) low = std::min(low, again[row]);
                                         return low;
                                       }),
                least.to_host());
    }
  }
}

// Rows without a key are a group at the place of their first row, or in no group.
TEST(device_group_by_first_occurrence, columns_and_nulls) {
  std::mt19937_64 bits = strata_test::random_bits(34);
  for (const std::size_t size : sizes{1, 40, 2000}) {
    std::vector<std::uint16_t> first(size);
    std::vector<std::int8_t> second(size);
    std::vector<std::uint32_t> mask((size + 31) / 32, 0);
    std::vector<u64> as_group(size);
    std::vector<u64> kept;
    std::vector<std::size_t> kept_rows;
    for (std::size_t i = 0; i < size; ++i) {
      first[i] = static_cast<std::uint16_t>(bits() % 20);
      second[i] = static_cast<std::int8_t>(static_cast<int>(bits() % 5) - 2);
      const bool has_key = bits() % 4 != 0;
      if (has_key) mask[i / 32] |= 1u << i % 32;
      const u64 number = u64{first[i]} * 256 + static_cast<std::uint8_t>(second[i]);
      as_group[i] = has_key ? number : 1 << 24 | static_cast<std::uint8_t>(second[i]);
      if (!has_key) continue;
      kept.push_back(number);
      kept_rows.push_back(i);
    }
    const device_vector<std::uint16_t> first_in(first);
    const device_vector<std::int8_t> second_in(second);
    const device_vector<std::uint32_t> valid(mask);
    for (const bool is_group : {true, false}) {
      SCOPED_TRACE(testing::Message() << size << " rows, nulls are " << (is_group ? "a group" : "dropped"));
      const groups_of_keys groups(is_group ? as_group : kept);
      const auto row_of = [&](std::size_t i) { return is_group ? i : kept_rows[i]; };
      std::vector<int> expected_group(size, -5), expected_first;
      for (std::size_t i = 0; i < groups.group_of_row.size(); ++i) expected_group[row_of(i)] = groups.group_of_row[i];
      std::vector<std::uint16_t> expected_keys;
      std::vector<std::int8_t> expected_second;
      std::vector<unsigned char> expected_valid;
      for (const auto& rows : groups.rows) {
        const std::size_t row = row_of(rows.front());
        const bool has_key = (mask[row / 32] >> row % 32 & 1) != 0;
        expected_first.push_back(static_cast<int>(row));
        expected_keys.push_back(has_key ? first[row] : std::uint16_t{0});
        expected_second.push_back(second[row]);
        expected_valid.push_back(has_key ? 1 : 0);
      }
      device_vector<int> group_of_row(std::vector<int>(size, -5)), first_rows(groups.rows.size());
      device_vector<std::uint16_t> first_out(groups.rows.size());
      device_vector<std::int8_t> second_out(groups.rows.size());
      device_vector<unsigned char> valid_out(groups.rows.size());
      const auto call = [&](auto with_groups) {
        return result_of<int>([&](int* number, auto&&... storage) {
          const auto all = strata::group_aggregates(strata::group_first(counting<int>(0), first_rows.data()));
          const auto output = strata::group_output(first_out.data(), second_out.data(), groups.rows.size())
                                  .first_occurrence()
                                  .valid(valid_out.data(), strata::DiscardOutputIterator<>());
          const auto call_of = [&](const auto& rows) {
            if constexpr (with_groups) {
              return SmallTables::Groups(storage..., rows, group_of_row.data(), all, output, number);
            } else {
              return SmallTables::Aggregate(storage..., rows, all, output, number);
            }
          };
          const auto rows = strata::group_keys(first_in.data(), second_in.data(), size).valid(valid.data(), nullptr);
          return is_group ? call_of(rows.nulls_as_group()) : call_of(rows);
        });
      };
      const auto expect_results = [&] {
        ASSERT_EQ(expected_first, first_rows.to_host());
        ASSERT_EQ(expected_keys, first_out.to_host());
        ASSERT_EQ(expected_second, second_out.to_host());
        ASSERT_EQ(expected_valid, valid_out.to_host());
      };
      ASSERT_EQ(static_cast<int>(groups.rows.size()), call(std::true_type{}));
      ASSERT_NO_FATAL_FAILURE(expect_results());
      ASSERT_EQ(expected_group, group_of_row.to_host());
      first_rows.poison();
      first_out.poison();
      second_out.poison();
      valid_out.poison();
      ASSERT_EQ(static_cast<int>(groups.rows.size()), call(std::false_type{}));
      ASSERT_NO_FATAL_FAILURE(expect_results());
    }
  }
}

// Groups behind the capacity have numbers, too. Rows that a FutureCount leaves out get no number.
TEST(device_group_by_first_occurrence, groups_of_rows) {
  std::mt19937_64 bits = strata_test::random_bits(35);
  for (const std::size_t size : sizes{0, 1, 700, 3000}) {
    for (const std::size_t capacity : {std::size_t{3}, size}) {
      auto keys = random_keys<std::int64_t>(size + 40, 200, bits);
      const device_vector<std::int64_t> in(keys);
      keys.resize(size);
      groups_of_keys groups(keys);
      groups.group_of_row.resize(size + 40, -5);
      const device_vector<std::size_t> number_of_rows(std::vector<std::size_t>{size});
      const strata::FutureCount rows(number_of_rows.data(), size + 40);
      device_vector<int> group_of_row(std::vector<int>(size + 40, -5));
      device_vector<int> first(std::vector<int>(capacity, 77));
      ASSERT_EQ(static_cast<int>(groups.rows.size()), result_of<int>([&](int* number, auto&&... storage) {
                  return DeviceGroupBy::Groups(
                      storage..., strata::group_keys(in.data(), rows), group_of_row.data(),
                      strata::group_aggregates(strata::group_first(counting<int>(0), first.data())),
                      strata::group_output(strata::DiscardOutputIterator<>(), capacity).first_occurrence(), number);
                }));
      ASSERT_EQ(groups.group_of_row, group_of_row.to_host());
      ASSERT_EQ(expected<int>(groups, capacity, [](const auto& group) { return static_cast<int>(group.front()); }),
                first.to_host());
    }
  }
}

TEST(device_group_by_first_occurrence, a_graph_can_be_replayed_with_other_keys_and_numbers_of_rows) {
  std::mt19937_64 bits = strata_test::random_bits(36);
  constexpr std::size_t size = 5007;
  device_vector<int> keys(std::vector<int>(size, 0));
  device_vector<int> keys_out(size), counts(size), groups(1), number(std::vector<int>{0});
  const auto rows = strata::group_keys(keys.data(), strata::FutureCount(number.data(), size));
  const auto aggregates = strata::group_aggregates(strata::group_count(counts.data()));
  const auto output = strata::group_output(keys_out.data(), size).first_occurrence();
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(SmallTables::Aggregate(nullptr, bytes, rows, aggregates, output, groups.data()));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t where) {
    return SmallTables::Aggregate(storage.data(), bytes, rows, aggregates, output, groups.data(), where);
  });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const stream where;
  for (const std::size_t different : sizes{1, 100, 0, 3}) {
    for (const std::size_t rows_now : {std::size_t{0}, std::size_t{90}, size}) {
      auto items = random_keys<int>(size, different, bits);
      keys.assign(items);
      number.assign(std::vector<int>{static_cast<int>(rows_now)});
      recorded.replay(where);
      where.synchronize();
      items.resize(rows_now);
      const groups_of_keys expected_groups(items);
      ASSERT_EQ(static_cast<int>(expected_groups.rows.size()), groups.to_host()[0]);
      const auto found = counts.to_host();
      const auto found_keys = keys_out.to_host();
      for (std::size_t g = 0; g < expected_groups.rows.size(); ++g) {
        ASSERT_EQ(items[expected_groups.rows[g].front()], found_keys[g]) << "group " << g;
        ASSERT_EQ(static_cast<int>(expected_groups.rows[g].size()), found[g]) << "group " << g;
      }
    }
  }
}

// The arrays of results need room for `capacity` items only, however many rows there are.
TEST(device_group_by_first_occurrence, arguments_are_refused_as_in_other_orders) {
  constexpr int size = 10;
  device_vector<int> keys(std::vector<int>{9, 8, 9, 7, 6, 7, 8, 1, 2, 3});
  device_vector<int> out(std::vector<int>(6, -1)), groups(1);
  const auto call = [&](const int* keys_in, int* keys_out, int* counts, int capacity, int* number) {
    return in_one_phase([&] {
      return DeviceGroupBy::Aggregate(strata::group_keys(keys_in, size),
                                      strata::group_aggregates(strata::group_count(counts)),
                                      strata::group_output(keys_out, capacity).first_occurrence(), number);
    });
  };
  EXPECT_EQ(cudaErrorInvalidValue, call(keys.data(), out.data(), out.data() + 3, -1, groups.data()));
  EXPECT_EQ(cudaErrorInvalidValue, call(keys.data(), out.data(), out.data() + 2, 3, groups.data()));
  EXPECT_EQ(cudaErrorInvalidValue, call(keys.data(), keys.data(), out.data() + 3, 3, groups.data()));
  EXPECT_EQ(cudaErrorInvalidValue, call(keys.data(), nullptr, out.data(), 3, groups.data()));
  EXPECT_EQ(cudaErrorInvalidValue, call(keys.data(), out.data(), out.data() + 3, 3, nullptr));
  EXPECT_EQ(std::vector<int>(6, -1), out.to_host());
  std::size_t bytes = 0;
  EXPECT_EQ(cudaErrorInvalidValue,
            DeviceGroupBy::Aggregate(nullptr, bytes, strata::group_keys(keys.data(), size),
                                     strata::group_aggregates(strata::group_count(out.data())),
                                     strata::group_output(out.data() + 3, -1).first_occurrence(), groups.data()));
  ASSERT_CUDA_SUCCESS(call(keys.data(), out.data(), out.data() + 3, 3, groups.data()));
  EXPECT_EQ((std::vector<int>{9, 8, 7, 2, 2, 2}), out.to_host());
  EXPECT_EQ(7, groups.to_host()[0]);
  // The keys lie just behind an output of three items.
  device_vector<int> both(std::vector<int>{-1, -1, -1, 9, 8, 9, 7, 6, 7, 8, 1, 2, 3});
  ASSERT_CUDA_SUCCESS(call(both.data() + 3, out.data(), both.data(), 3, groups.data()));
  EXPECT_EQ((std::vector<int>{2, 2, 2, 9, 8, 9, 7, 6, 7, 8, 1, 2, 3}), both.to_host());
  groups.assign(std::vector<int>{-1});
  ASSERT_CUDA_SUCCESS(call(keys.data(), nullptr, nullptr, 0, groups.data()));
  EXPECT_EQ(7, groups.to_host()[0]);
}

TEST(device_group_by_first_occurrence, results_do_not_depend_on_the_schedule) {
  std::mt19937_64 bits = strata_test::random_bits(37);
  const auto keys = random_keys<std::uint32_t>(if_small<std::size_t>(3000, 50000), 700, bits);
  under_all_schedules([&](std::size_t i) {
    SCOPED_TRACE(testing::Message() << "schedule " << i);
    ASSERT_NO_FATAL_FAILURE((expect_order<SmallTables, false>(keys, keys.size())));
  });
}

}  // namespace device_group_by_first_occurrence_test
