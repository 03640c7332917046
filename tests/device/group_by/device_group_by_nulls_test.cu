// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceGroupBy: rows without a key (nulls), which are dropped or form a group.
#include "device/group_by/group_by_support.cuh"

namespace device_group_by_nulls_test {

using namespace group_by_test;

enum class order { any, of_keys };

/// A mask in which one row of `one_in` has no key.
std::vector<std::uint32_t> random_mask(std::size_t size, u64 one_in, std::mt19937_64& bits) {
  std::vector<std::uint32_t> mask((size + 31) / 32, 0);
  for (std::size_t i = 0; i < size; ++i) {
    if (one_in == 0 || bits() % one_in != 0) mask[i / 32] |= 1u << i % 32;
  }
  return mask;
}
bool has_key(const std::vector<std::uint32_t>& mask, std::size_t row) { return (mask[row / 32] >> row % 32 & 1) != 0; }

/// Compares the sum and the number of rows of each group with sequential results. With `IsGroup`, rows without a key
/// form a group, the last one in order.
template <class GroupBy, bool IsGroup, order Order, class Key>
void expect_groups(const std::vector<Key>& keys, const std::vector<std::uint32_t>& mask, std::size_t capacity) {
  const std::size_t size = keys.size();
  std::map<std::pair<int, grouped_key>, std::vector<std::size_t>> rows_of;
  for (std::size_t i = 0; i < size; ++i) {
    if (has_key(mask, i)) {
      // NaNs come behind all numbers, as in order_of_keys.
      const grouped_key key = grouped(keys[i]);
      rows_of[{key.is_nan ? 1 : 0, {false, key.value}}].push_back(i);
    } else if (IsGroup) {
      rows_of[{2, {false, 0}}].push_back(i);
    }
  }
  std::vector<long long> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<long long>(i * i) - 1000;
  const device_vector<Key> in(keys);
  const device_vector<std::uint32_t> valid(mask);
  const device_vector<long long> items(values);
  device_vector<Key> keys_out(capacity);
  device_vector<unsigned char> valid_out(std::vector<unsigned char>(capacity, 77));
  device_vector<long long> sums(std::vector<long long>(capacity, 77));
  device_vector<int> counts(std::vector<int>(capacity, 77));
  const int number = result_of<int>([&](int* number_out, auto&&... storage) {
    const auto all =
        strata::group_aggregates(strata::group_sum(items.data(), sums.data()), strata::group_count(counts.data()));
    const auto call = [&](const auto& rows, const auto& output) {
      return GroupBy::Aggregate(storage..., rows, all, output, number_out);
    };
    const auto call_in_order = [&](const auto& rows) {
      const auto output = strata::group_output(keys_out.data(), capacity);
      if constexpr (Order == order::of_keys) {
        return call(rows, output.sorted().valid(valid_out.data()));
      } else {
        return call(rows, output.valid(valid_out.data()));
      }
    };
    const auto rows = strata::group_keys(in.data(), size).valid(valid.data());
    if constexpr (IsGroup) {
      return call_in_order(rows.nulls_as_group());
    } else {
      return call_in_order(rows);
    }
  });
  ASSERT_EQ(static_cast<int>(rows_of.size()), number);
  const auto found_keys = keys_out.to_host();
  const auto found_valid = valid_out.to_host();
  const auto found_sums = sums.to_host();
  const auto found_counts = counts.to_host();
  const std::size_t written = std::min(capacity, rows_of.size());
  std::map<std::pair<int, grouped_key>, int> seen;
  auto next = rows_of.begin();
  for (std::size_t g = 0; g < written; ++g) {
    ASSERT_TRUE(found_valid[g] == 0 || found_valid[g] == 1);
    const grouped_key key = grouped(found_keys[g]);
    if (found_valid[g] == 0) {
      ASSERT_TRUE(!key.is_nan && key.value == 0) << "the group of rows without a key has a key";
    }
    std::pair<int, grouped_key> kind{key.is_nan ? 1 : 0, {false, key.value}};
    if (found_valid[g] == 0) kind = {2, {false, 0}};
    const auto group = Order == order::of_keys ? next++ : rows_of.find(kind);
    ASSERT_TRUE(group != rows_of.end() && !(group->first < kind) && !(kind < group->first)) << "group " << g;
    ASSERT_EQ(0, seen[kind]++) << "group " << g << " is written twice";
    long long sum = 0;
    for (const std::size_t row : group->second) sum += values[row];
    ASSERT_EQ(sum, found_sums[g]) << "group " << g;
    ASSERT_EQ(static_cast<int>(group->second.size()), found_counts[g]) << "group " << g;
  }
  for (std::size_t g = written; g < capacity; ++g) {
    ASSERT_EQ(77, found_valid[g]) << "behind the groups";
    ASSERT_EQ(77, found_sums[g]) << "behind the groups";
    ASSERT_EQ(77, found_counts[g]) << "behind the groups";
  }
  ASSERT_EQ(number, result_of<int>([&](int* number_out, auto&&... storage) {
              const auto rows = strata::group_keys(in.data(), size).valid(valid.data());
              if constexpr (IsGroup) {
                return GroupBy::CountDistinct(storage..., rows.nulls_as_group(), number_out);
              } else {
                return GroupBy::CountDistinct(storage..., rows.nulls_dropped(), number_out);
              }
            }));
}

template <class T>
class GroupByNulls : public testing::Test {};
#if STRATA_TEST_FEW_TYPES
using key_types = testing::Types<std::uint32_t, double>;
#else
using key_types = testing::Types<std::uint8_t, std::int16_t, color, __half, std::uint32_t, float, std::int64_t, double>;
#endif
TYPED_TEST_SUITE(GroupByNulls, key_types);

TYPED_TEST(GroupByNulls, are_dropped_or_a_group) {
  std::mt19937_64 bits = strata_test::random_bits(41);
  for (const std::size_t size : sizes{0, 1, 33, 500, 700, if_small<std::size_t>(2500, 300007)}) {
    for (const u64 different : {u64{1}, u64{1500}, u64{0}}) {
      for (const u64 one_in : {u64{0}, u64{1}, u64{3}}) {
        // If all rows have keys, or none, two cases are enough.
        if (one_in < 3 && (size != 700 || different == 1)) continue;
        SCOPED_TRACE(testing::Message() << size << " rows, " << different << " keys, a null in " << one_in);
        const auto keys = random_keys<TypeParam>(size, different, bits);
        const auto mask = random_mask(size, one_in, bits);
        const std::size_t capacity = different == 1500 ? size / 3 : size + 2;
        ASSERT_NO_FATAL_FAILURE((expect_groups<SmallTables, false, order::any>(keys, mask, capacity)));
        ASSERT_NO_FATAL_FAILURE((expect_groups<SmallTables, false, order::of_keys>(keys, mask, capacity)));
        ASSERT_NO_FATAL_FAILURE((expect_groups<SmallTables, true, order::any>(keys, mask, capacity)));
        ASSERT_NO_FATAL_FAILURE((expect_groups<SmallTables, true, order::of_keys>(keys, mask, capacity)));
        if (size > 700) continue;
        ASSERT_NO_FATAL_FAILURE((expect_groups<DeviceGroupBy, false, order::any>(keys, mask, capacity)));
        ASSERT_NO_FATAL_FAILURE((expect_groups<DeviceGroupBy, true, order::any>(keys, mask, capacity)));
      }
    }
  }
}

// The value of a row without a key is not taken for a key, even if half of the rows have no key.
TYPED_TEST(GroupByNulls, hide_their_keys) {
  std::mt19937_64 bits = strata_test::random_bits(42);
  const std::size_t size = if_small<std::size_t>(9000, 300000);
  auto keys = random_keys<TypeParam>(size, 700, bits);
  const auto mask = random_mask(size, 2, bits);
  for (std::size_t i = 0; i < size; ++i) {
    if (!has_key(mask, i)) keys[i] = number_as<TypeParam>(1);
  }
  ASSERT_NO_FATAL_FAILURE((expect_groups<SmallTables, false, order::any>(keys, mask, size)));
  ASSERT_NO_FATAL_FAILURE((expect_groups<SmallTables, true, order::any>(keys, mask, size)));
  ASSERT_NO_FATAL_FAILURE((expect_groups<DeviceGroupBy, false, order::any>(keys, mask, size)));
}

TEST(device_group_by_nulls, nans_both_zeros_and_nulls_are_three_groups) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> keys;
  std::vector<__half> halves;
  for (int i = 0; i < 1000; ++i) {
    for (const float key : {0.0f, -nan, -0.0f, nan, infinity, -infinity, nan, 0.0f}) keys.push_back(key);
  }
  for (const float key : keys) halves.push_back(static_cast<__half>(key));
  std::mt19937_64 bits = strata_test::random_bits(43);
  const auto mask = random_mask(keys.size(), 3, bits);
  ASSERT_NO_FATAL_FAILURE((expect_groups<SmallTables, true, order::of_keys>(keys, mask, 10)));
  ASSERT_NO_FATAL_FAILURE((expect_groups<SmallTables, true, order::any>(keys, mask, 10)));
  ASSERT_NO_FATAL_FAILURE((expect_groups<SmallTables, true, order::of_keys>(halves, mask, 10)));
  ASSERT_NO_FATAL_FAILURE((expect_groups<DeviceGroupBy, true, order::any>(halves, mask, 10)));
  ASSERT_NO_FATAL_FAILURE((expect_groups<SmallTables, false, order::of_keys>(halves, mask, 10)));
}

// These calls sort the rows: sums of floating-point numbers in the order of the rows, and groups of rows.
TEST(device_group_by_nulls, groups_of_rows_and_sums_in_order) {
  std::mt19937_64 bits = strata_test::random_bits(44);
  for (const std::size_t size : sizes{0, 1, 5000}) {
    const auto keys = random_keys<int>(size, 60, bits);
    const auto mask = random_mask(size, 4, bits);
    std::vector<float> values(size);
    for (float& value : values) value = static_cast<float>(bits() % 100000) / 7;
    for (const bool is_group : {false, true}) {
      SCOPED_TRACE(testing::Message() << size << " rows" << (is_group ? ", nulls are a group" : ""));
      std::map<std::pair<bool, int>, std::vector<std::size_t>> rows_of;
      for (std::size_t i = 0; i < size; ++i) {
        if (has_key(mask, i)) rows_of[{false, keys[i]}].push_back(i);
        if (!has_key(mask, i) && is_group) rows_of[{true, 0}].push_back(i);
      }
      std::vector<int> expected(size, -1);
      std::vector<int> expected_first;
      for (const auto& group : rows_of) {
        for (const std::size_t row : group.second) expected[row] = static_cast<int>(expected_first.size());
        expected_first.push_back(static_cast<int>(group.second.front()));
      }
      const std::size_t groups = rows_of.size();
      const device_vector<int> in(keys);
      const device_vector<std::uint32_t> valid(mask);
      const device_vector<float> items(values);
      device_vector<int> group_of_row(std::vector<int>(size, -1)), first(groups), keys_out(groups);
      device_vector<double> means(groups);
      ASSERT_EQ(static_cast<int>(groups), result_of<int>([&](int* number_out, auto&&... storage) {
                  const auto rows = strata::group_keys(in.data(), size).valid(valid.data());
                  const auto call = [&](const auto& all_rows) {
                    return DeviceGroupBy::Groups(
                        storage..., all_rows, group_of_row.data(),
                        strata::group_aggregates(strata::group_first(counting<int>(0), first.data()),
                                                 strata::group_mean(items.data(), means.data())),
                        strata::group_output(keys_out.data(), groups), number_out);
                  };
                  return is_group ? call(rows.nulls_as_group()) : call(rows.nulls_dropped());
                }));
      ASSERT_EQ(expected, group_of_row.to_host());
      ASSERT_EQ(expected_first, first.to_host());
      const auto found = means.to_host();
      std::size_t g = 0;
      for (const auto& group : rows_of) {
        double sum = 0;
        for (const std::size_t row : group.second) sum += static_cast<double>(values[row]);
        ASSERT_NEAR(1.0, found[g] * static_cast<double>(group.second.size()) / sum, 1e-9);
        ++g;
      }
    }
  }
}

TEST(device_group_by_nulls, a_future_count_no_mask_and_a_graph) {
  constexpr std::size_t size = 3000;
  std::mt19937_64 bits = strata_test::random_bits(45);
  device_vector<u64> keys(size);
  device_vector<std::uint32_t> valid((size + 31) / 32);
  device_vector<u64> keys_out(size);
  device_vector<int> counts(size), groups(1);
  const device_vector<int> number(std::vector<int>{static_cast<int>(size) - 11});
  const strata::FutureCount count(number.data(), size);
  const auto aggregates = strata::group_aggregates(strata::group_count(counts.data()));
  const auto replay = [&](const auto& rows, const auto& output, bool has_mask) {
    std::size_t bytes = 0;
    ASSERT_CUDA_SUCCESS(SmallTables::Aggregate(nullptr, bytes, rows, aggregates, output, groups.data()));
    const scratch storage(bytes);
    graph recorded([&](cudaStream_t where) {
      return SmallTables::Aggregate(storage.data(), bytes, rows, aggregates, output, groups.data(), where);
    });
    ASSERT_CUDA_SUCCESS(recorded.status());
    const stream where;
    for (const u64 different : {u64{5}, u64{900}, u64{0}}) {
      const auto items = random_keys<u64>(size, different, bits);
      const auto mask = random_mask(size, 3, bits);
      keys.assign(items);
      valid.assign(mask);
      recorded.replay(where);
      where.synchronize();
      std::map<u64, int> expected;
      for (std::size_t i = 0; i < size - 11; ++i) {
        if (!has_mask || has_key(mask, i)) ++expected[items[i]];
      }
      ASSERT_EQ(static_cast<int>(expected.size()), groups.to_host()[0]);
      const auto found = counts.to_host();
      const auto found_keys = keys_out.to_host();
      std::map<u64, int> pairs;
      for (std::size_t g = 0; g < expected.size(); ++g) pairs[found_keys[g]] = found[g];
      ASSERT_EQ(expected, pairs);
    }
  };
  const auto rows = strata::group_keys(keys.data(), count).valid(valid.data());
  const auto output = strata::group_output(keys_out.data(), size);
  ASSERT_NO_FATAL_FAILURE(replay(rows, output, true));
  ASSERT_NO_FATAL_FAILURE(replay(rows, output.sorted(), true));
  ASSERT_NO_FATAL_FAILURE(replay(strata::group_keys(keys.data(), count).valid(nullptr), output, false));
  ASSERT_NO_FATAL_FAILURE(replay(strata::group_keys(keys.data(), count).nulls_as_group(), output.sorted(), false));
}

TEST(device_group_by_nulls, bad_arguments_are_refused) {
  device_vector<int> keys(100), keys_out(100), counts(100), number(1);
  device_vector<std::uint32_t> mask(4);
  device_vector<bool> valid_out(100);
  const auto call = [&](const auto& rows, const auto& output) {
    return DeviceGroupBy::Aggregate(rows, strata::group_aggregates(strata::group_count(counts.data())), output,
                                    number.data());
  };
  const auto rows = strata::group_keys(static_cast<const int*>(keys.data()), 100).valid(mask.data());
  const auto output = strata::group_output(keys_out.data(), 100).valid(valid_out.data());
  EXPECT_EQ(cudaSuccess, call(rows, output));
  EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
  for (auto* const out : {&keys_out, &counts, &number}) out->poison();
  EXPECT_EQ(cudaErrorInvalidValue,
            call(strata::group_keys(static_cast<const int*>(nullptr), 100).valid(mask.data()), output));
  EXPECT_EQ(cudaErrorInvalidValue,
            call(rows, strata::group_output(keys_out.data(), 100).valid(static_cast<bool*>(nullptr))));
  EXPECT_EQ(cudaErrorInvalidValue, call(rows, strata::group_output(keys.data(), 100).valid(valid_out.data())));
  EXPECT_EQ(cudaErrorInvalidValue, call(rows, strata::group_output(keys_out.data(), 100).valid(keys_out.data() + 99)));
  EXPECT_EQ(cudaErrorInvalidValue, call(rows, strata::group_output(keys_out.data(), 100).valid(mask.data() + 3)));
  EXPECT_EQ(cudaErrorInvalidValue,
            call(strata::group_keys(static_cast<const int*>(keys.data()), -1).valid(mask.data()), output));
  EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
  for (const auto* const out : {&keys_out, &counts, &number}) {
    for (const int item : out->to_host()) EXPECT_TRUE(strata_test::is_poison(item)) << item;
  }
}

}  // namespace device_group_by_nulls_test
