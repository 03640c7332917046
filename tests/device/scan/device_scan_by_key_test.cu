// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: shapes

// DeviceScan by key: scans that begin anew where the key changes.
#include <strata/device/device_scan.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_scan_tuned.cuh"
#include "device/schedules.cuh"
#include "device/test_iterators.cuh"
#include "support/test_types.cuh"

namespace device_scan_by_key_test {

using namespace device_test;
using strata::DeviceScan;

/// x -> factor * x + summand, modulo 2^64: the order of operands matters.
struct affine {
  std::uint64_t factor, summand;
  friend STRATA_HD bool operator==(const affine& a, const affine& b) {
    return a.factor == b.factor && a.summand == b.summand;
  }
};
struct compose {
  STRATA_HD affine operator()(const affine& a, const affine& b) const {
    return {a.factor * b.factor, b.factor * a.summand + b.summand};
  }
};

/// Keys in runs of 1 to 2 * `mean` - 1 items.
std::vector<std::uint32_t> runs_of(std::size_t count, std::size_t mean, std::uint64_t stream = 0) {
  std::mt19937_64 bits = strata_test::random_bits(stream);
  std::vector<std::uint32_t> keys;
  keys.reserve(count);
  for (std::uint32_t key = 0; keys.size() < count; ++key) {
    for (std::size_t left = 1 + bits() % (2 * mean - 1); left > 0 && keys.size() < count; --left) {
      keys.push_back(key % 5);  // keys recur, but not in neighbouring runs
    }
  }
  return keys;
}

/// The results of an exclusive or inclusive scan by key, computed sequentially.
template <bool IsInclusive, class T, class Item, class Key, class Op, class Equal>
std::vector<T> expected_by_key(const std::vector<Key>& keys, const std::vector<Item>& values, Op op, bool has_init,
                               T init, Equal equal) {
  std::vector<T> results;
  results.reserve(values.size());
  T sum{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool begins = i == 0 || !equal(keys[i - 1], keys[i]);
    const T item = static_cast<T>(values[i]);
    const T before = begins ? init : sum;
    sum = begins && !has_init ? item : static_cast<T>(op(before, item));
    results.push_back(IsInclusive ? sum : before);
  }
  return results;
}

template <class T>
void expect_same(const std::vector<T>& expected, const std::vector<T>& actual) {
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(expected[i] == actual[i]) << "item " << i << " of " << expected.size();
  }
}

const std::vector<std::size_t>& means() {
  static const std::vector<std::size_t> all = {1, 3, 16, 700, std::size_t{1} << 40};
  return all;
}

template <class T>
class DeviceScanByKeySum : public ::testing::Test {};
#if STRATA_TEST_FEW_TYPES
using number_types = ::testing::Types<std::int32_t>;
#else
using number_types = ::testing::Types<std::int8_t, std::int32_t, std::int64_t, double>;
#endif
TYPED_TEST_SUITE(DeviceScanByKeySum, number_types);

TYPED_TEST(DeviceScanByKeySum, begins_anew_with_each_run) {
  using T = TypeParam;
  std::vector<std::size_t> lengths = {0, 1, 2, 31, 33, 2047, 2049, 10000};
  if (!is_small()) lengths.push_back(std::is_same_v<T, std::int32_t> ? 3000017 : 300001);
  for (const std::size_t size : lengths) {
    for (const std::size_t mean : means()) {
      SCOPED_TRACE(testing::Message() << size << " items, runs of " << mean);
      const std::vector<std::uint32_t> keys = runs_of(size, mean, size + mean);
      const std::vector<T> values = random_integers<T>(size, -4, 4, size);
      const device_vector<std::uint32_t> d_keys(keys);
      const device_vector<T> d_values(values);
      const auto count = static_cast<std::int64_t>(size);
      const auto same = [](std::uint32_t a, std::uint32_t b) { return a == b; };
      const auto add = [](T a, T b) { return static_cast<T>(a + b); };
      const std::vector<T> exclusive = results_of<T>(count, [&](T* out, auto&&... storage) {
        return DeviceScan::ExclusiveSumByKey(storage..., d_keys.data(), d_values.data(), out, size);
      });
      expect_same(expected_by_key<false, T>(keys, values, add, true, T{}, same), exclusive);
      const std::vector<T> inclusive = results_of<T>(count, [&](T* out, auto&&... storage) {
        return DeviceScan::InclusiveSumByKey(storage..., d_keys.data(), d_values.data(), out, size);
      });
      expect_same(expected_by_key<true, T>(keys, values, add, true, T{}, same), inclusive);
    }
  }
}

using in_blocks::short_columns;

template <class Policy, bool UsesBulkCopies, bool IsInclusive, class Key, class T>
void expect_pipeline_scans_by_key() {
  using namespace strata::detail;
  using begins = begins_by_keys<const Key*, strata::Equality>;
  using problem = scan_by_key_problem<T, begins, const T*, T*, strata::Sum, IsInclusive, T>;
  constexpr std::size_t tile = scan_pipeline<Policy, problem, UsesBulkCopies>::tile_items;
  SCOPED_TRACE(testing::Message() << tile << " items in a tile, copied: " << UsesBulkCopies
                                  << ", inclusive: " << IsInclusive);
  for (const unsigned blocks : {1u, 3u, 8u}) {
    for (const std::size_t size : {std::size_t{1}, tile - 1, 3 * tile, 8 * tile + 5, 35 * tile + tile / 2 + 1}) {
      for (const std::size_t mean : {std::size_t{1}, std::size_t{5}, tile}) {
        if (size < blocks * tile && blocks > 1 && size != 3 * tile) continue;
        if (blocks > (size + tile - 1) / tile) continue;
        SCOPED_TRACE(testing::Message() << blocks << " blocks, " << size << " items in runs of " << mean);
        const std::vector<std::uint32_t> numbers = runs_of(size, mean, size + mean);
        const std::vector<Key> keys(numbers.begin(), numbers.end());
        const std::vector<T> values = random_integers<T>(size, -4, 4, size);
        const device_vector<Key> d_keys(keys);
        const device_vector<T> d_values(values);
        device_vector<T> out(std::vector<T>(size, T{-77}));
        const scratch storage(in_blocks::storage_bytes<sum_of_run<T>>(blocks));
        ASSERT_CUDA_SUCCESS((in_blocks::run_pipeline<Policy, UsesBulkCopies>(
            blocks, storage, problem{{d_keys.data(), {}}, d_values.data(), out.data(), {}, T{3}}, size)));
        expect_same(expected_by_key<IsInclusive, T>(
                        keys, values, [](T a, T b) { return static_cast<T>(a + b); }, true, T{3},
                        [](Key a, Key b) { return a == b; }),
                    out.to_host());
      }
    }
  }
}

TEST(device_scan_by_key, pipeline_of_any_number_of_blocks) {
  if (!has_bulk_copies()) GTEST_SKIP() << "bulk copies need sm_90";
  expect_pipeline_scans_by_key<short_columns<32, 4, 2>, true, false, std::uint32_t, std::int32_t>();
  expect_pipeline_scans_by_key<short_columns<96, 3, 1>, true, true, std::uint8_t, std::int64_t>();
  expect_pipeline_scans_by_key<short_columns<96, 4, 2>, false, false, std::int64_t, std::int32_t>();
}

// Keys in the same hundred are equal.
struct same_hundred {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a / 100 == b / 100;
  }
};

TEST(device_scan_by_key, any_operator_initial_value_and_equality) {
  const std::size_t size = if_small<std::size_t>(9000, 1200003);
  std::vector<std::int64_t> keys = random_integers<std::int64_t>(size, 0, 250, 1);
  std::vector<affine> values(size);
  std::mt19937_64 bits = strata_test::random_bits(2);
  for (affine& value : values) value = {bits() | 1, bits()};
  const affine init{3, 5};
  const device_vector<std::int64_t> d_keys(keys);
  const device_vector<affine> d_values(values);
  const auto count = static_cast<std::int64_t>(size);
  expect_same(expected_by_key<false, affine>(keys, values, compose{}, true, init, same_hundred{}),
              results_of<affine>(count, [&](affine* out, auto&&... storage) {
                return DeviceScan::ExclusiveScanByKey(storage..., d_keys.data(), d_values.data(), out, compose{}, init,
                                                      size, same_hundred{});
              }));
  expect_same(expected_by_key<true, affine>(keys, values, compose{}, false, affine{}, same_hundred{}),
              results_of<affine>(count, [&](affine* out, auto&&... storage) {
                return DeviceScan::InclusiveScanByKey(storage..., d_keys.data(), d_values.data(), out, compose{}, size,
                                                      same_hundred{});
              }));
}

TEST(device_scan_by_key, initial_value_from_the_device_and_values_in_place) {
  const std::size_t size = 5000;
  const std::vector<std::uint32_t> keys = runs_of(size, 16);
  const std::vector<int> values = random_integers<int>(size, -100, 100);
  const device_vector<std::uint32_t> d_keys(keys);
  const device_vector<int> init(std::vector<int>{17});
  device_vector<int> data(values);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceScan::ExclusiveScanByKey(storage, bytes, d_keys.data(), data.data(), data.data(), strata::Max{},
                                          strata::FutureValue(init.data()), size);
  }));
  expect_same(expected_by_key<false, int>(
                  keys, values, [](int a, int b) { return a > b ? a : b; }, true, 17,
                  [](std::uint32_t a, std::uint32_t b) { return a == b; }),
              data.to_host());
}

TEST(device_scan_by_key, keys_and_values_may_be_computed) {
  const std::size_t size = 4000;
  // Item i is i + 1. Items in the same hundred are a run.
  std::vector<std::int64_t> numbers(size);
  for (std::size_t i = 0; i < size; ++i) numbers[i] = static_cast<std::int64_t>(i) + 1;
  const counting<std::int64_t> computed(1);
  expect_same(expected_by_key<true, std::int64_t>(
                  numbers, numbers, [](std::int64_t a, std::int64_t b) { return a + b; }, true, std::int64_t{0},
                  same_hundred{}),
              results_of<std::int64_t>(static_cast<std::int64_t>(size), [&](std::int64_t* out, auto&&... storage) {
                return DeviceScan::InclusiveSumByKey(storage..., computed, computed, out, size, same_hundred{});
              }));
}

// Results may be written over the keys.
template <bool IsInclusive>
void expect_scans_over_keys(const std::vector<std::uint32_t>& keys, const std::vector<std::int32_t>& values) {
  SCOPED_TRACE(testing::Message() << keys.size() << " items, inclusive: " << IsInclusive);
  const auto same = [](std::uint32_t a, std::uint32_t b) { return a == b; };
  const auto add = [](std::int32_t a, std::int32_t b) { return a + b; };
  const std::vector<std::int32_t> expected =
      expected_by_key<IsInclusive, std::int32_t>(keys, values, add, !IsInclusive, 5, same);
  const device_vector<std::int32_t> d_values(values);
  device_vector<std::uint32_t> data(keys);
  auto* const out = reinterpret_cast<std::int32_t*>(data.data());
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    if constexpr (IsInclusive) {
      return DeviceScan::InclusiveSumByKey(storage..., data.data(), d_values.data(), out, keys.size());
    } else {
      return DeviceScan::ExclusiveScanByKey(storage..., data.data(), d_values.data(), out, strata::Sum{}, 5,
                                            keys.size());
    }
  }));
  std::vector<std::int32_t> results;
  for (const std::uint32_t word : data.to_host()) results.push_back(static_cast<int>(word));
  ASSERT_NO_FATAL_FAILURE(expect_same(expected, results));
}

TEST(device_scan_by_key, results_may_be_written_over_keys) {
  std::vector<std::size_t> lengths = {1, 2, 255, 256, 257, 2049, 30001};
  if (!is_small()) lengths.push_back(100003);
  for (const std::size_t size : lengths) {
    for (const std::size_t mean : {std::size_t{1}, std::size_t{3}, std::size_t{5000}}) {
      const std::vector<std::uint32_t> keys = runs_of(size, mean, size + mean);
      const std::vector<std::int32_t> values = random_integers<std::int32_t>(size, -4, 4, size);
      ASSERT_NO_FATAL_FAILURE(expect_scans_over_keys<true>(keys, values));
      ASSERT_NO_FATAL_FAILURE(expect_scans_over_keys<false>(keys, values));
    }
  }
}

// Results may be written over the keys. A block also reads keys beside its tile, over which the block of the
// neighbouring tile writes. Results must be right whichever block runs first.
TEST(device_scan_by_key, results_over_keys_under_all_schedules) {
  const std::vector<std::uint32_t> keys = runs_of(8011, 3, 1);
  const std::vector<std::int32_t> values = random_integers<std::int32_t>(keys.size(), -4, 4);
  under_all_schedules([&](std::size_t) {
    ASSERT_NO_FATAL_FAILURE(expect_scans_over_keys<true>(keys, values));
    ASSERT_NO_FATAL_FAILURE(expect_scans_over_keys<false>(keys, values));
  });
}

// A call of this size would take the pipeline if its results were elsewhere.
TEST(device_scan_by_key, many_results_over_keys) {
  if (STRATA_HOST_SIMT != 0 && is_small()) GTEST_SKIP() << "takes long";
  const std::size_t size = (std::size_t{17} << 20) / 8 + 5;
  const std::vector<std::uint32_t> keys = runs_of(size, 700, 2);
  const std::vector<std::int32_t> values = random_integers<std::int32_t>(size, -4, 4);
  expect_scans_over_keys<true>(keys, values);
}

// Operators get values, even if iterators return proxies.
struct is_same_int {
  STRATA_HD bool operator()(int a, int b) const { return a == b; }
  template <class T>
  bool operator()(device_test::item_reference<T>, device_test::item_reference<T>) const = delete;
};
TEST(device_scan_by_key, operators_are_given_no_proxies) {
  const std::vector<int> keys = random_integers<int>(5000, 0, 2), values(5000, 1);
  const device_vector<int> d_keys(keys), d_values(values);
  const auto add = [](int a, int b) { return a + b; };
  const auto same = [](int a, int b) { return a == b; };
  expect_same(expected_by_key<true, int>(keys, values, add, false, 0, same),
              results_of<int>(5000, [&](int* out, auto&&... storage) {
                return DeviceScan::InclusiveSumByKey(storage..., by_proxies<int>(d_keys.data()),
                                                     by_proxies<int>(d_values.data()), out, 5000, is_same_int{});
              }));
}

TEST(device_scan_by_key, bad_arguments_are_errors) {
  const device_vector<int> keys(std::vector<int>(100, 1)), values(keys.to_host());
  device_vector<int> out(std::vector<int>(100, -1));
  const int* const none = nullptr;
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(DeviceScan::ExclusiveSumByKey(nullptr, bytes, keys.data(), values.data(), out.data(), 100));
  const scratch storage(bytes);
  const auto call = [&](const int* k, const int* v, int* o, int n) {
    return DeviceScan::ExclusiveSumByKey(storage.data(), bytes, k, v, o, n);
  };
  EXPECT_EQ(cudaErrorInvalidValue, call(none, values.data(), out.data(), 100));
  EXPECT_EQ(cudaErrorInvalidValue, call(keys.data(), none, out.data(), 100));
  EXPECT_EQ(cudaErrorInvalidValue, call(keys.data(), values.data(), nullptr, 100));
  EXPECT_EQ(cudaErrorInvalidValue, call(keys.data(), values.data(), out.data(), -1));
  for (const int shift : {-99, -1, 1, 99}) {
    EXPECT_EQ(cudaErrorInvalidValue, call(out.data() + shift, values.data(), out.data(), 100))
        << "keys would be overwritten";
    EXPECT_EQ(cudaErrorInvalidValue, call(keys.data(), out.data() + shift, out.data(), 100))
        << "values would be overwritten";
  }
  EXPECT_EQ(cudaErrorInvalidValue, call(out.data(), out.data(), out.data(), 100))
      << "keys and values would be overwritten";
  EXPECT_EQ(cudaSuccess, call(none, none, nullptr, 0));
  EXPECT_EQ(std::vector<int>(100, -1), out.to_host());
}

}  // namespace device_scan_by_key_test
