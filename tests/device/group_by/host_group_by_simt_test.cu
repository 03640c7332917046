// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// HostGroupBy. Device memory of the host back end is host memory, so the checks of DeviceGroupBy work for it, too.
#include <strata/device/group_by/host_group_by.cuh>

#include <array>
#include <utility>

#include "device/group_by/group_by_columns_support.cuh"

namespace host_group_by_test {

using namespace group_by_test;
using strata::HostGroupBy;

/// HostGroupBy with a number of threads.
template <unsigned Threads>
struct on_threads {
  static constexpr strata::HostGroupByOptions options{Threads};
  template <class... Arguments>
  static cudaError_t Aggregate(Arguments&&... arguments) {
    return HostGroupBy::Aggregate(std::forward<Arguments>(arguments)..., options);
  }
  template <class... Arguments>
  static cudaError_t CountDistinct(Arguments&&... arguments) {
    return HostGroupBy::CountDistinct(std::forward<Arguments>(arguments)..., options);
  }
};

template <class Key>
void expect_all_orders(std::uint64_t seed) {
  std::mt19937_64 bits = strata_test::random_bits(seed);
  // Partitions have about 8,192 rows.
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{700}, std::size_t{40000}}) {
    for (const u64 different : {u64{1}, u64{40}, u64{0}}) {
      SCOPED_TRACE(testing::Message() << size << " rows, " << different << " keys");
      const auto keys = random_keys<Key>(size, different, bits);
      const auto values = random_values<int>(size, bits);
      const std::size_t capacity = different == 40 ? 30 : size + 1;
      ASSERT_NO_FATAL_FAILURE((expect_groups_in_order<on_threads<3>, false>(keys, values, capacity)));
      ASSERT_NO_FATAL_FAILURE((expect_groups_in_order<HostGroupBy, true>(keys, values, capacity)));
    }
  }
}
TEST(host_group_by, keys_of_8_bits) { expect_all_orders<std::uint8_t>(71); }
TEST(host_group_by, keys_of_32_bits) { expect_all_orders<std::int32_t>(72); }
TEST(host_group_by, keys_of_64_bits) { expect_all_orders<u64>(73); }
TEST(host_group_by, keys_that_are_floats) { expect_all_orders<float>(74); }
TEST(host_group_by, keys_that_are_halves) { expect_all_orders<__half>(75); }
TEST(host_group_by, keys_that_are_enumerators) { expect_all_orders<color>(76); }

template <class A, class B>
void expect_columns(std::uint64_t seed) {
  std::mt19937_64 bits = strata_test::random_bits(seed);
  for (const std::size_t size : {std::size_t{0}, std::size_t{900}, std::size_t{20000}}) {
    const auto a = random_column<A>(size, 40, bits);
    const auto b = random_column<B>(size, 40, bits);
    using GroupBy = on_threads<2>;
    ASSERT_NO_FATAL_FAILURE((expect_groups<GroupBy, nulls::none, false>(a, b, size)));
    ASSERT_NO_FATAL_FAILURE((expect_groups<GroupBy, nulls::dropped, false>(a, b, size / 5)));
    ASSERT_NO_FATAL_FAILURE((expect_groups<GroupBy, nulls::dropped, true>(a, b, size)));
    ASSERT_NO_FATAL_FAILURE((expect_groups<GroupBy, nulls::as_group, false>(a, b, size)));
    ASSERT_NO_FATAL_FAILURE((expect_groups<GroupBy, nulls::as_group, true>(a, b, size)));
  }
}
TEST(host_group_by, columns_of_48_bits) { expect_columns<std::int16_t, float>(81); }
TEST(host_group_by, columns_of_128_bits) { expect_columns<u64, std::int64_t>(82); }
#if STRATA_HAS_INT128
TEST(host_group_by, columns_of_192_bits) { expect_columns<double, strata::detail::uint128>(83); }
#endif

/// Composes a * x + b in the order of rows, which does not commute.
struct line {
  unsigned a, b;
  friend bool operator==(const line& x, const line& y) { return x.a == y.a && x.b == y.b; }
};
struct composed {
  STRATA_HD line operator()(const line& first, const line& second) const {
    return {first.a * second.a, first.b * second.a + second.b};
  }
};

struct outputs {
  explicit outputs(std::size_t size) : keys(size), groups_of_rows(size, -1), counts(size), lines(size), sums(size) {}
  int number = -1;
  std::vector<int> keys, groups_of_rows;
  std::vector<unsigned> counts;
  std::vector<line> lines;
  std::vector<float> sums;
};

/// Compares the groups of rows in the order of keys, or of first rows, with sequential results. Aggregates of each
/// group are combined in the order of rows, to the last bit.
template <bool IsFirstOccurrence>
void expect_groups_of_rows(std::size_t size, int different, unsigned threads, std::uint64_t seed) {
  std::mt19937_64 bits = strata_test::random_bits(seed);
  // The count is a FutureCount, and arrays have as many rows as its bound.
  const std::size_t most = size + 100;
  std::vector<int> keys(most);
  std::vector<line> lines(most);
  std::vector<float> values(most);
  std::vector<std::uint32_t> mask(most / 32 + 1, 0xffffffff);
  std::map<int, std::pair<int, int>> found;  // for each key: its first row, its group
  for (std::size_t i = 0; i < size; ++i) {
    keys[i] = static_cast<int>(bits() % static_cast<u64>(different)) - different / 2;
    lines[i] = {static_cast<unsigned>(bits()), static_cast<unsigned>(bits())};
    values[i] = static_cast<float>(bits() % 1000) / 7;
    if (bits() % 8 == 0) {
      mask[i / 32] &= ~(1u << i % 32);
      continue;
    }
    found.try_emplace(keys[i], static_cast<int>(i), 0);
  }
  std::vector<std::pair<int, int>> order;
  for (const auto& [key, rows] : found) order.emplace_back(IsFirstOccurrence ? rows.first : key, key);
  std::sort(order.begin(), order.end());
  outputs expected(most), all(most);
  expected.number = static_cast<int>(order.size());
  for (std::size_t g = 0; g < order.size(); ++g) {
    found[order[g].second].second = static_cast<int>(g);
    expected.keys[g] = order[g].second;
    expected.lines[g] = {1, 5};
  }
  for (std::size_t i = 0; i < size; ++i) {
    if ((mask[i / 32] >> i % 32 & 1) == 0) continue;
    const auto g = static_cast<std::size_t>(found[keys[i]].second);
    expected.groups_of_rows[i] = static_cast<int>(g);
    expected.sums[g] = expected.counts[g] == 0 ? values[i] : expected.sums[g] + values[i];
    ++expected.counts[g];
    expected.lines[g] = composed{}(expected.lines[g], lines[i]);
  }
  const int number = static_cast<int>(size);
  const auto rows = strata::group_keys(keys.data(), strata::FutureCount(&number, most)).valid(mask.data());
  const auto aggregates =
      strata::group_aggregates(strata::group_count(all.counts.data()),
                               strata::group_reduce(lines.data(), all.lines.data(), composed{}, line{1, 5}),
                               strata::group_sum(values.data(), all.sums.data()));
  const auto call = [&](const auto& output) {
    return HostGroupBy::Groups(rows, all.groups_of_rows.data(), aggregates, output, &all.number, {threads});
  };
  const auto output = strata::group_output(all.keys.data(), most);
  if constexpr (IsFirstOccurrence) {
    ASSERT_EQ(cudaSuccess, call(output.first_occurrence()));
  } else {
    ASSERT_EQ(cudaSuccess, call(output));
  }
  ASSERT_EQ(expected.number, all.number);
  ASSERT_EQ(expected.keys, all.keys);
  ASSERT_EQ(expected.groups_of_rows, all.groups_of_rows);
  ASSERT_EQ(expected.counts, all.counts);
  ASSERT_EQ(expected.sums, all.sums);
  ASSERT_TRUE(expected.lines == all.lines);
}
TEST(host_group_by, groups_of_rows) {
  for (const unsigned threads : {0u, 1u, 5u}) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{333}, std::size_t{30000}}) {
      for (const int different : {1, 7, 20000}) {
        SCOPED_TRACE(testing::Message() << threads << " threads, " << size << " rows, " << different << " keys");
        ASSERT_NO_FATAL_FAILURE(expect_groups_of_rows<false>(size, different, threads, 91));
        ASSERT_NO_FATAL_FAILURE(expect_groups_of_rows<true>(size, different, threads, 92));
      }
    }
  }
}

// Even groups in any order, and sums in any order, do not depend on the number of threads.
TEST(host_group_by, results_repeat) {
  constexpr std::size_t size = 50000;
  std::mt19937_64 bits = strata_test::random_bits(93);
  std::vector<u64> keys = random_keys<u64>(size, 9000, bits);
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(bits() % 1000) / 7;
  const auto groups_on = [&](unsigned threads) {
    std::pair<std::vector<u64>, std::vector<float>> found{std::vector<u64>(size), std::vector<float>(size)};
    int number = 0;
    EXPECT_EQ(cudaSuccess,
              HostGroupBy::Aggregate(
                  strata::group_keys(keys.data(), size),
                  strata::group_aggregates(strata::group_sum(values.data(), found.second.data()).unordered()),
                  strata::group_output(found.first.data(), size), &number, {threads}));
    return found;
  };
  const auto by_one = groups_on(1);
  ASSERT_EQ(by_one, groups_on(2));
  ASSERT_EQ(by_one, groups_on(9));
  ASSERT_EQ(by_one, groups_on(300));
}

TEST(host_group_by, bad_arguments_are_refused) {
  std::vector<int> keys(100), keys_out(100, 77), counts(100);
  int number = 77;
  const auto all = strata::group_aggregates(strata::group_count(counts.data()));
  const auto output = strata::group_output(keys_out.data(), 100);
  const auto status_of = [&](const auto& rows, const auto& groups, int* num_groups, bool is_short = false) {
    return in_storage(is_short, [&](void* storage, std::size_t& bytes) {
      return HostGroupBy::Aggregate(storage, bytes, rows, all, groups, num_groups);
    });
  };
  const auto rows = strata::group_keys(keys.data(), 100);
  int* const none = nullptr;
  EXPECT_EQ(cudaErrorInvalidValue, status_of(strata::group_keys(keys.data(), -1), output, &number));
  EXPECT_EQ(cudaErrorInvalidValue, status_of(strata::group_keys(none, 100), output, &number));
  EXPECT_EQ(cudaErrorInvalidValue, status_of(rows, strata::group_output(none, 100), &number));
  EXPECT_EQ(cudaErrorInvalidValue, status_of(rows, strata::group_output(keys.data() + 99, 100), &number));
  EXPECT_EQ(cudaErrorInvalidValue, status_of(rows, strata::group_output(keys_out.data(), -1), &number));
  EXPECT_EQ(cudaErrorInvalidValue, status_of(rows, output, none));
  EXPECT_EQ(cudaErrorInvalidValue, status_of(rows, output, &number, true));
  EXPECT_EQ(cudaErrorInvalidValue, status_of(strata::group_keys(keys.data(), 0xffffffffu), output, &number));
  EXPECT_EQ(77, number);
  EXPECT_EQ(std::vector<int>(100, 77), keys_out);
  EXPECT_EQ(cudaSuccess, status_of(strata::group_keys(none, 0), strata::group_output(none, 0), &number));
  EXPECT_EQ(0, number);
  EXPECT_EQ(cudaSuccess, HostGroupBy::CountDistinct(rows, &number));
  EXPECT_EQ(1, number);
}

}  // namespace host_group_by_test
