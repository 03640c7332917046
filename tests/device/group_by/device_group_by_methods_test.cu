// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check, shapes

// DeviceGroupBy: all methods have the same results, even if the sample leads to a bad choice.
#include "device/group_by/group_by_support.cuh"

#include <algorithm>
#include <cstring>
#include <map>

namespace device_group_by_methods_test {

using namespace group_by_test;

// These numbers of groups lead to each method in turn. A table that is full is written out and begun anew. With more
// groups, rows are first sorted by bits of a hash. With still more groups, rows are not combined in tables.
TEST(device_group_by_methods, groups_of_any_number) {
  std::mt19937_64 bits = strata_test::random_bits(12);
  const std::size_t size = if_small<std::size_t>(75000, 9000000);
  const auto values = random_values<std::int32_t>(size, bits);
  for (const u64 different : {u64{20}, u64{100}, u64{1000}, u64{4000}, u64{20000}, u64{500000}}) {
    if (!is_small() && (different == 100 || different == 4000)) continue;  // the reference takes most of the time
    SCOPED_TRACE(testing::Message() << different << " keys");
    const auto keys = random_keys<u64>(size, different, bits);
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
    ASSERT_NO_FATAL_FAILURE(expect_sorted_groups<SmallTables>(keys, values, size));
    if (is_small()) continue;
    ASSERT_NO_FATAL_FAILURE(expect_groups(keys, values, size));
    ASSERT_NO_FATAL_FAILURE(expect_sorted_groups(keys, values, size));
  }
}

/// Makes a call, and returns what its kernels have told each other: the plan at the begin of the temporary storage.
/// `hint` adds to the description of the keys.
template <class GroupBy = SmallTables, class Hint = without_hints>
auto plan_of_call(const std::vector<std::uint32_t>& keys, const Hint& hint = {}) {
  const device_vector<std::uint32_t> in(keys);
  device_vector<std::uint32_t> keys_out(keys);
  device_vector<unsigned> counts(std::vector<unsigned>(keys.size()));
  device_vector<int> number(std::vector<int>(1));
  std::size_t bytes = 0;
  const auto call = [&](void* storage) {
    return GroupBy::Aggregate(storage, bytes, hint(strata::group_keys(in.data(), static_cast<int>(keys.size()))),
                              strata::group_aggregates(strata::group_count(counts.data())),
                              strata::group_output(keys_out.data(), keys.size()), number.data());
  };
  EXPECT_EQ(cudaSuccess, call(nullptr));
  device_vector<char> storage(bytes);
  EXPECT_EQ(cudaSuccess, call(storage.data()));
  EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
  strata::detail::group_hash_plan<std::uint32_t> plan;
  const auto address = reinterpret_cast<std::uintptr_t>(storage.data());
  const auto skipped =
      strata::detail::round_up(address, std::uintptr_t{strata::temporary_storage::alignment}) - address;
  std::memcpy(&plan, storage.to_host().data() + skipped, sizeof(plan));
  return plan;
}

// A call with one of these arguments refuses an environment that requires the same result in each run.
template <class Argument>
constexpr bool may_change(const Argument&) {
  return strata::detail::may_change_results<Argument>;
}
TEST(device_group_by_methods, arguments_say_whether_results_may_change) {
  const float* const in = nullptr;
  float* const out = nullptr;
  const auto count = strata::group_count(static_cast<int*>(nullptr));
  EXPECT_TRUE(may_change(strata::group_output(out, 1)));
  EXPECT_FALSE(may_change(strata::group_output(out, 1).sorted()));
  EXPECT_FALSE(may_change(strata::group_output(out, 1).first_occurrence()));
  EXPECT_TRUE(may_change(strata::group_aggregates(count, strata::group_any(in, out))));
  EXPECT_TRUE(may_change(strata::group_aggregates(strata::group_sum(in, out).unordered(), count)));
  EXPECT_TRUE(may_change(strata::group_aggregates(count, strata::group_mean(in, out).unordered())));
  EXPECT_FALSE(may_change(strata::group_aggregates(count, strata::group_sum(in, out), strata::group_mean(in, out),
                                                   strata::group_min(in, out), strata::group_first(in, out))));
}

// A table has 64 slots, and the sample has 1,024 rows.
TEST(device_group_by_methods, a_sample_chooses_the_method) {
  std::mt19937_64 bits = strata_test::random_bits(23);
  constexpr std::size_t size = 20000;
  {
    const auto plan = plan_of_call(random_keys<std::uint32_t>(size, 16, bits));
    EXPECT_EQ(16u, plan.sampled.different);
    EXPECT_EQ(0u, plan.sampled.once + plan.sampled.twice);
    EXPECT_EQ(0u, plan.is_partitioned);
    EXPECT_EQ(16u, plan.num_groups);
  }
  // Each key is frequent in the sample, but no more than others.
  for (const u64 groups : {17, 24, 36}) {
    const auto plan = plan_of_call(random_keys<std::uint32_t>(size, groups, bits));
    EXPECT_EQ(groups, plan.sampled.different);
    EXPECT_EQ(groups, plan.num_sampled_frequent);
    EXPECT_EQ(0u, plan.is_partitioned) << groups;
  }
  {
    const auto plan = plan_of_call(ascending_keys<std::uint32_t>(size));
    // Two keys may have the same place in the table of the sample.
    EXPECT_NEAR(1024, plan.sampled.once, 4);
    EXPECT_EQ(plan.sampled.different, plan.sampled.once + plan.sampled.twice);
    EXPECT_EQ(1u, plan.is_partitioned);
    EXPECT_EQ(0u, plan.is_abandoned) << "the first kernel has combined rows before it gave up";
    EXPECT_EQ(0u, plan.num_frequent);
  }
  {
    auto keys = random_keys<std::uint32_t>(size, 500, bits);
    for (std::size_t i = 0; i < size; i += 3) keys[i] = 7;
    const auto plan = plan_of_call(keys);
    EXPECT_EQ(1u, plan.is_partitioned);
    EXPECT_EQ(0u, plan.is_abandoned);
    ASSERT_LE(1u, plan.num_frequent);
    const auto* const end = plan.frequent + plan.num_frequent;
    EXPECT_NE(end, std::find(plan.frequent, end, strata::detail::mixed_group_word(std::uint32_t{7})));
  }
}

constexpr strata::group_by_tuning tuning_of_wide_tables() {
  strata::group_by_tuning row = small_tables::Policy::tuning;
  row.hash_threads = 256;
  row.hash_table_bytes = 48 << 10;
  row.hash_slots = 4096;
  row.most_slots_in_memory = 16384;
  return row;
}
/// A table has 4,096 slots, and the sample has 4,096 rows.
struct wide_tables {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::group_by_tuning tuning = tuning_of_wide_tables();
  };
  using MaxPolicy = Policy;
};
// 2,560 groups fit in a table. If some keys are frequent among many others, the sample finds too few.
TEST(device_group_by_methods, an_estimate_that_is_too_low) {
  using WideTables = strata::TunedDeviceGroupBy<wide_tables>;
  std::mt19937_64 bits = strata_test::random_bits(25);
  constexpr std::size_t size = 40000;
  const auto even = plan_of_call<WideTables>(random_keys<std::uint32_t>(size, 2200, bits));
  EXPECT_LT(1900, strata::detail::estimated_groups(even.sampled));
  EXPECT_EQ(0u, even.is_partitioned);
  // The sizes of 3,150 groups follow Zipf's law.
  std::vector<double> ends(3150);
  for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = (i == 0 ? 0 : ends[i - 1]) + 1 / static_cast<double>(i + 1);
  auto keys = ascending_keys<std::uint32_t>(size);
  for (std::uint32_t& key : keys) {
    const double at = static_cast<double>(bits() >> 11) * 0x1p-53 * ends.back();
    key = static_cast<std::uint32_t>(std::upper_bound(ends.begin(), ends.end() - 1, at) - ends.begin());
  }
  const auto zipf = plan_of_call<WideTables>(keys);
  EXPECT_GT(2560, strata::detail::estimated_groups(zipf.sampled));
  EXPECT_EQ(1u, zipf.is_partitioned) << strata::detail::estimated_groups(zipf.sampled);
}

// Of more frequent keys than fit, those with the most rows are listed. If their rows were moved, a part would have many
// more rows than others.
TEST(device_group_by_methods, the_most_frequent_keys_are_listed) {
  std::mt19937_64 bits = strata_test::random_bits(24);
  auto keys = ascending_keys<std::uint32_t>(30000);
  for (std::uint32_t& key : keys) {
    const u64 choice = bits() % 100;
    if (choice < 30) key = static_cast<std::uint32_t>(choice % 5);
    if (choice >= 30) key = static_cast<std::uint32_t>(100 + bits() % 100);
    if (choice >= 95) key = static_cast<std::uint32_t>(bits());
  }
  const auto plan = plan_of_call(keys);
  EXPECT_EQ(1u, plan.is_partitioned);
  EXPECT_LT(80u, plan.num_sampled_frequent);
  EXPECT_LE(plan.num_frequent, strata::detail::group_most_frequent);
  const auto* const end = plan.frequent + plan.num_frequent;
  for (std::uint32_t key = 0; key < 5; ++key) {
    EXPECT_NE(end, std::find(plan.frequent, end, strata::detail::mixed_group_word(key))) << key;
  }
}

// The word of the key 0 is 0 also when it is mixed. Rows without a key must not be taken for it.
TEST(device_group_by_methods, a_frequent_key_of_zero_beside_rows_without_keys) {
  auto keys = ascending_keys<std::uint32_t>(30000);
  std::vector<std::uint32_t> mask((keys.size() + 31) / 32, 0);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i % 3 == 1) keys[i] = 0;
    if (i % 3 != 0) mask[i / 32] |= 1u << i % 32;
  }
  // The first row of each warp has no key.
  for (unsigned i = 0; i < 1024; i += 32) {
    const std::size_t row = strata::detail::group_sample_row(i, keys.size(), 1024);
    mask[row / 32] &= ~(1u << row % 32);
  }
  const device_vector<std::uint32_t> valid(mask);
  const auto plan = plan_of_call(keys, [&](const auto& described) { return described.valid(valid.data()); });
  EXPECT_EQ(1u, plan.is_partitioned);
  EXPECT_EQ(1u, plan.num_sampled_frequent);
  ASSERT_EQ(1u, plan.num_frequent);
  EXPECT_EQ(0u, plan.frequent[0]);
}

// Results are right although the sample misleads. All sampled rows have the same key, also in the smaller sample of
// blocks with small tables. The records of the other rows then have no room in memory, or just enough. Their keys do
// not fit in the tables of blocks, or in the table in device memory.
TEST(device_group_by_methods, a_sample_that_misleads) {
  std::mt19937_64 bits = strata_test::random_bits(22);
  const std::size_t size = if_small<std::size_t>(75000, 9000000);
  const auto values = random_values<std::int32_t>(size, bits);
  for (const std::size_t step : sizes{1, 7, 9, 100, 170}) {
    SCOPED_TRACE(testing::Message() << "one row of " << step << " has a key of its own");
    std::vector<std::uint32_t> keys(size);
    for (std::size_t i = 0; i < size; ++i) keys[i] = i % step == 0 ? static_cast<std::uint32_t>(i + 1) : 0;
    for (const unsigned rows : {strata::detail::group_sample_rows, 16 * 64u}) {
      for (unsigned i = 0; i < rows; ++i) keys[strata::detail::group_sample_row(i, size, rows)] = 0;
    }
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
    if (is_small()) continue;
    ASSERT_NO_FATAL_FAILURE(expect_groups(keys, values, size));
  }
}

TEST(device_group_by_methods, one_key_with_most_rows_and_many_with_one) {
  std::mt19937_64 bits = strata_test::random_bits(13);
  const std::size_t size = if_small<std::size_t>(20000, 3000000);
  const auto values = random_values<std::int32_t>(size, bits);
  // The mixed word of the second key is the word that marks a free slot.
  for (const u64 frequent : {~u64{0}, u64{strata::detail::unmixed_group_word(~0ull)}}) {
    auto keys = ascending_keys<u64>(size);
    for (u64& key : keys) {
      if (bits() % 16 != 0) key = frequent;
    }
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
    if (is_small() && frequent != ~u64{0}) break;
    ASSERT_NO_FATAL_FAILURE(expect_groups(keys, values, size));
    std::sort(keys.begin(), keys.end());
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
  }
}

// A pair of home slots has room for only two frequent keys. Rows of further frequent keys with the same home must not
// be lost.
TEST(device_group_by_methods, frequent_keys_with_one_home) {
  std::mt19937_64 bits = strata_test::random_bits(26);
  const std::size_t size = if_small<std::size_t>(9000, 3000000);
  const auto values = random_values<std::int32_t>(size, bits);
  auto keys = ascending_keys<u64>(size);
  for (u64& key : keys) {
    const u64 number = bits() % 8;
    if (number < 6) key = strata::detail::unmixed_group_word((number + 1ull) << 48 | (number % 2 + 24));
  }
  ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
  if (!is_small()) {
    ASSERT_NO_FATAL_FAILURE(expect_groups(keys, values, size));
  }
}

// One word marks free slots of a table, but it is also the word of a key, whose rows must not be lost.
TEST(device_group_by_methods, all_words_are_keys) {
  for (const std::size_t size : {1u, 5000u}) {
    std::vector<std::uint32_t> keys(size);
    std::vector<u64> long_keys(size);
    for (std::size_t i = 0; i < size; ++i) {
      keys[i] = i % 3 == 0 ? ~0u : static_cast<std::uint32_t>(i % 3 - 1);
      long_keys[i] = i % 3 == 0 ? ~u64{0} : u64{0};
    }
    const std::vector<std::int32_t> values(size, 3);
    ASSERT_NO_FATAL_FAILURE(expect_groups(keys, values, size));
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(long_keys, values, size));
    // These are the keys whose mixed word marks free slots.
    for (std::uint32_t& key : keys) key = strata::detail::unmixed_group_word(key);
    for (u64& key : long_keys) key = strata::detail::unmixed_group_word(static_cast<unsigned long long>(key));
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(long_keys, values, size));
  }
}

// Rows are moved to parts. The last part has such a key.
TEST(device_group_by_methods, a_part_has_the_word_of_free_slots) {
  const std::size_t size = if_small<std::size_t>(9000, 3000000);
  const std::vector<std::int32_t> values(size, 5);
  auto keys = ascending_keys<u64>(size);
  for (std::size_t i = 0; i < size; i += 1000) keys[i] = strata::detail::unmixed_group_word(~0ull);
  ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
}

TEST(device_group_by_methods, a_mixed_word_leads_back_to_its_word) {
  std::mt19937_64 bits = strata_test::random_bits(20);
  for (int i = 0; i < 10000; ++i) {
    const unsigned long long word = bits();
    const auto half = static_cast<unsigned>(word);
    ASSERT_EQ(word, strata::detail::unmixed_group_word(strata::detail::mixed_group_word(word)));
    ASSERT_EQ(half, strata::detail::unmixed_group_word(strata::detail::mixed_group_word(half)));
  }
}

TEST(device_group_by_methods, groups_behind_the_capacity_are_not_written) {
  std::mt19937_64 bits = strata_test::random_bits(14);
  const auto keys = random_keys<std::uint32_t>(7000, 500, bits);
  const auto values = random_values<std::int32_t>(7000, bits);
  for (const std::size_t capacity : sizes{0, 1, 17, 499, 500, 501, 7000, 9000}) {
    SCOPED_TRACE(testing::Message() << capacity);
    ASSERT_NO_FATAL_FAILURE(expect_groups(keys, values, capacity));
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, capacity));
  }
}

/// With this policy, one kernel combines up to 600 rows, and a plan combines 2,000 rows or more. Between these numbers,
/// rows are sorted.
struct few_or_many_rows {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::group_by_tuning tuning{/*block_threads=*/64,
                                                    /*items_per_thread=*/4,
                                                    /*blocks_per_multiprocessor=*/2,
                                                    /*table_bytes=*/4096,
                                                    /*most_slots=*/64,
                                                    /*least_rows=*/2000,
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
                                                    /*partition_sector_rows=*/1};
  };
  using MaxPolicy = Policy;
};

TEST(device_group_by_methods, groups_of_any_number_of_rows) {
  using GroupBy = strata::TunedDeviceGroupBy<few_or_many_rows>;
  std::mt19937_64 bits = strata_test::random_bits(24);
  for (const std::size_t size : sizes{0, 1, 600, 601, 1999, 2000}) {
    SCOPED_TRACE(testing::Message() << size << " rows");
    const auto values = random_values<std::int32_t>(size, bits);
    for (const u64 different : {u64{5}, u64{900}}) {
      const auto keys = random_keys<u64>(size, different, bits);
      ASSERT_NO_FATAL_FAILURE(expect_groups(keys, values, size));
      ASSERT_NO_FATAL_FAILURE(expect_groups<GroupBy>(keys, values, size));
    }
  }
}

// A table takes entries of up to 64 bytes. With larger ones, rows are sorted.
TEST(device_group_by_methods, aggregates_of_many_arrays) {
  std::mt19937_64 bits = strata_test::random_bits(25);
  const std::size_t size = 9000;
  for (const u64 different : {u64{3}, u64{3000}}) {
    SCOPED_TRACE(testing::Message() << different << " keys");
    const auto keys = random_keys<u64>(size, different, bits);
    const auto values = random_values<std::int32_t>(size, bits);
    std::map<u64, long long> expected;
    for (std::size_t i = 0; i < size; ++i) expected[keys[i]] += values[i];
    const device_vector<u64> in(keys);
    const device_vector<std::int32_t> items(values);
    device_vector<u64> keys_out(size);
    device_vector<long long> sums(8 * size);
    const auto sum = [&](std::size_t i) { return strata::group_sum(items.data(), sums.data() + i * size); };
    const auto expect_sums = [&](std::size_t number_of_sums, int groups) {
      ASSERT_EQ(static_cast<int>(expected.size()), groups);
      const auto found = keys_out.to_host();
      const auto found_sums = sums.to_host();
      for (std::size_t s = 0; s < number_of_sums; ++s) {
        for (std::size_t g = 0; g < expected.size(); ++g) ASSERT_EQ(expected.at(found[g]), found_sums[s * size + g]);
      }
      keys_out.poison();
      sums.poison();
    };
    ASSERT_NO_FATAL_FAILURE(
        expect_sums(7, result_of<int>([&](int* number, auto&&... storage) {
                      return SmallTables::Aggregate(
                          storage..., strata::group_keys(in.data(), size),
                          strata::group_aggregates(sum(0), sum(1), sum(2), sum(3), sum(4), sum(5), sum(6)),
                          strata::group_output(keys_out.data(), size), number);
                    })));
    ASSERT_NO_FATAL_FAILURE(
        expect_sums(8, result_of<int>([&](int* number, auto&&... storage) {
                      return SmallTables::Aggregate(
                          storage..., strata::group_keys(in.data(), size),
                          strata::group_aggregates(sum(0), sum(1), sum(2), sum(3), sum(4), sum(5), sum(6), sum(7)),
                          strata::group_output(keys_out.data(), size), number);
                    })));
  }
}

// Aggregates of the same array read it once. Here they are mixed with aggregates of other arrays.
TEST(device_group_by_methods, aggregates_of_one_array_and_of_several) {
  std::mt19937_64 bits = strata_test::random_bits(23);
  for (const std::size_t size : sizes{400, 9000}) {
    for (const u64 different : {u64{3}, u64{300}, u64{3000}}) {
      SCOPED_TRACE(testing::Message() << size << " rows, " << different << " keys");
      const auto keys = random_keys<std::uint32_t>(size, different, bits);
      const auto one = random_values<std::int32_t>(size, bits);
      const auto other = random_values<std::int32_t>(size, bits);
      const auto groups = rows_of_groups(keys);
      const device_vector<std::uint32_t> in(keys);
      const device_vector<std::int32_t> first_in(one), second_in(other);
      for (const bool is_one : {true, false}) {
        device_vector<std::uint32_t> keys_out(size);
        device_vector<long long> sums(size);
        device_vector<int> counts(size);
        device_vector<std::int32_t> least(size), greatest(size), first(size);
        device_vector<double> means(size);
        const std::int32_t* const again = is_one ? first_in.data() : second_in.data();
        const auto& again_on_host = is_one ? one : other;
        ASSERT_EQ(static_cast<int>(groups.size()), result_of<int>([&](int* number, auto&&... storage) {
                    return SmallTables::Aggregate(
                        storage..., strata::group_keys(in.data(), size),
                        strata::group_aggregates(
                            strata::group_count(counts.data()), strata::group_sum(first_in.data(), sums.data()),
                            strata::group_min(again, least.data()), strata::group_mean(again, means.data()),
                            strata::group_first(again, first.data()), strata::group_max(again, greatest.data())),
                        strata::group_output(keys_out.data(), size), number);
                  }));
        const auto found = keys_out.to_host();
        const auto found_sums = sums.to_host();
        const auto found_counts = counts.to_host();
        const auto found_least = least.to_host(), found_greatest = greatest.to_host(), found_first = first.to_host();
        const auto found_means = means.to_host();
        for (std::size_t g = 0; g < groups.size(); ++g) {
          const auto group = groups.find(grouped(found[g]));
          ASSERT_TRUE(group != groups.end());
          long long sum = 0, sum_again = 0;
          std::int32_t low = std::numeric_limits<std::int32_t>::max(), high = std::numeric_limits<std::int32_t>::min();
          for (const std::size_t row : group->second) {
            sum += one[row];
            sum_again += again_on_host[row];
            low = std::min(low, again_on_host[row]);
            high = std::max(high, again_on_host[row]);
          }
          ASSERT_EQ(sum, found_sums[g]);
          ASSERT_EQ(static_cast<int>(group->second.size()), found_counts[g]);
          ASSERT_EQ(low, found_least[g]);
          ASSERT_EQ(high, found_greatest[g]);
          ASSERT_EQ(again_on_host[group->second.front()], found_first[g]);
          ASSERT_EQ(static_cast<double>(sum_again) / static_cast<double>(group->second.size()), found_means[g]);
        }
        keys_out.poison();
        sums.poison();
        least.poison();
        first.poison();
        // Here the first aggregate that reads `again` is group_first, which keeps row numbers instead of items.
        ASSERT_EQ(static_cast<int>(groups.size()), result_of<int>([&](int* number, auto&&... storage) {
                    return SmallTables::Aggregate(storage..., strata::group_keys(in.data(), size),
                                                  strata::group_aggregates(strata::group_first(again, first.data()),
                                                                           strata::group_sum(again, sums.data()),
                                                                           strata::group_min(again, least.data())),
                                                  strata::group_output(keys_out.data(), size), number);
                  }));
        const auto again_keys = keys_out.to_host();
        const auto again_sums = sums.to_host();
        const auto again_least = least.to_host();
        for (std::size_t g = 0; g < groups.size(); ++g) {
          long long sum = 0;
          std::int32_t low = std::numeric_limits<std::int32_t>::max();
          for (const std::size_t row : groups.at(grouped(again_keys[g]))) {
            sum += again_on_host[row];
            low = std::min(low, again_on_host[row]);
          }
          ASSERT_EQ(sum, again_sums[g]);
          ASSERT_EQ(low, again_least[g]);
        }
      }
    }
  }
}

TEST(device_group_by_methods, results_do_not_depend_on_the_schedule) {
  std::mt19937_64 bits = strata_test::random_bits(19);
  const std::size_t size = if_small<std::size_t>(9000, 100000);
  const auto keys = random_keys<std::uint32_t>(size, 1500, bits);
  const auto values = random_values<std::int32_t>(size, bits);
  under_all_schedules([&](std::size_t i) {
    SCOPED_TRACE(testing::Message() << "schedule " << i);
    ASSERT_NO_FATAL_FAILURE(expect_groups<SmallTables>(keys, values, size));
  });
}

// For all sizes of rows and entries, kernels must fit in the shared memory that a block may have.
template <class Policy, std::size_t KiB, class Key, class... Aggregates>
constexpr bool fits_in() {
  namespace sd = strata::detail;
  using All = strata::GroupAggregates<Aggregates...>;
  using Types = sd::group_by_types<const Key*, All, unsigned>;
  using Rows = sd::group_row_packs<const Key*, All, unsigned>;
  using Output = sd::group_hash_output<Key, Key*, All>;
  constexpr int bits = sd::group_partition_bits<strata::group_by_policy_hub::MaxPolicy>;
  constexpr unsigned slots = sd::group_hash_call<strata::group_by_policy_hub::MaxPolicy, const Key*, unsigned, unsigned,
                                                 All, Key*, unsigned*>::template part_slots<Policy>;
  constexpr std::size_t most = KiB << 10;
  return sizeof(typename sd::AgentGroupTable<Policy, Types, All, Rows, Output>::TempStorage) <= most &&
         sizeof(typename sd::AgentGroupFirstPass<Policy, Types, All, Rows, bits>::TempStorage) <= most &&
         sizeof(typename sd::AgentGroupSecondPass<Policy, Types, bits>::TempStorage) <= most &&
         sizeof(typename sd::AgentPartGroups<Policy, Types, All, slots, Output>::TempStorage) <= most;
}
template <class Key, class... Aggregates>
constexpr bool fits_in_shared_memory() {
  using hub = strata::group_by_policy_hub;
  return fits_in<hub::Policy750, 64, Key, Aggregates...>() && fits_in<hub::Policy900, 227, Key, Aggregates...>() &&
         fits_in<hub::Policy1200, 99, Key, Aggregates...>();
}
using sum_of_u64 = strata::detail::group_sum_aggregate<const u64*, u64*>;
using mean_of_u64 = strata::detail::group_mean_aggregate<const u64*, double*>;
using least_u32 = strata::detail::group_extreme_aggregate<false, const std::uint32_t*, std::uint32_t*>;
using count_in_u32 = strata::detail::group_count_aggregate<unsigned*>;
static_assert(fits_in_shared_memory<std::uint32_t, count_in_u32>());
static_assert(fits_in_shared_memory<std::uint32_t, sum_of_u64, mean_of_u64>());
static_assert(fits_in_shared_memory<u64, least_u32, least_u32, least_u32, least_u32, count_in_u32>());
static_assert(fits_in_shared_memory<u64, sum_of_u64, mean_of_u64>());
static_assert(fits_in_shared_memory<u64, mean_of_u64, mean_of_u64>());
static_assert(fits_in_shared_memory<u64, mean_of_u64, mean_of_u64, count_in_u32, count_in_u32, count_in_u32,
                                    count_in_u32, count_in_u32, count_in_u32>());

}  // namespace device_group_by_methods_test
