// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceSelect::Unique and UniqueByKey keep the first item of each run.
#include <strata/device/device_select.cuh>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_select_support.cuh"
#include "device/test_iterators.cuh"
#include "support/test_types.cuh"

namespace device_select_unique_test {

using namespace device_test;
using strata::DeviceSelect;
using strata_test::struct12;
using strata_test::struct16;
using struct24 = strata_test::words<3, std::uint64_t>;

std::vector<std::size_t> lengths() {
  if (is_small()) return {0, 1, 2, 31, 33, 2049, 12000};
  std::vector<std::size_t> all = {0, 1, 2, 31, 33, 2047, 2048, 2049, 8191, 8193, 10000, 11520, 11521, 300001};
  if (!STRATA_HOST_SIMT) all.push_back(3000017);
  return all;
}

struct are_equal {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return a == b;
  }
};

// ------------------------------------------------------------------ Unique

template <class T>
class DeviceSelectUnique : public ::testing::Test {};
#if STRATA_TEST_FEW_TYPES
using item_types = ::testing::Types<std::int32_t>;
#else
using item_types = ::testing::Types<std::uint8_t, std::int32_t, double, struct16, struct12>;
#endif
TYPED_TEST_SUITE(DeviceSelectUnique, item_types);

TYPED_TEST(DeviceSelectUnique, keeps_the_first_of_each_run) {
  using T = TypeParam;
  for (const std::size_t size : lengths()) {
    for (const std::size_t mean : run_lengths) {
      const std::vector<T> items = keys_in_runs<T>(size + 1, mean, size + mean);
      const device_vector<T> in(items);
      for (const std::size_t shift : sizes{0, 1}) {
        if (shift == 1 && mean != 3) continue;
        SCOPED_TRACE(testing::Message() << size << " items from " << shift << " on, in runs of " << mean);
        const std::vector<T> shifted(items.begin() + static_cast<std::ptrdiff_t>(shift),
                                     items.begin() + static_cast<std::ptrdiff_t>(shift + size));
        ASSERT_NO_FATAL_FAILURE(expect_selects(only_kept(shifted, kept_by_difference(shifted, are_equal{})), size,
                                               shift, [&](T* out, std::int64_t* num, auto&&... storage) {
                                                 return DeviceSelect::Unique(storage..., in.data() + shift, out, num,
                                                                             static_cast<int>(size));
                                               }));
      }
    }
  }
}

// Every NaN begins a run. -0.0 and 0.0 are one run, whose first item is kept with its sign.
TEST(device_select, unique_numbers_that_are_none) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float some[] = {-0.0f, 0.0f, 0.0f, nan, nan, 1.0f, 1.0f, nan, 0.0f, -0.0f, -nan, -nan};
  for (const std::size_t size : sizes{12, 7, if_small<std::size_t>(15000, 100003)}) {
    std::vector<float> items(size);
    for (std::size_t i = 0; i < size; ++i) items[i] = some[i % 12];
    const device_vector<float> in(items);
    ASSERT_NO_FATAL_FAILURE(expect_selects(only_kept(items, kept_by_difference(items, are_equal{})), size, 0,
                                           [&](float* out, std::int64_t* num, auto&&... storage) {
                                             return DeviceSelect::Unique(storage..., in.data(), out, num, size);
                                           }));
  }
}

/// True if items differ in their lowest three bits only.
struct are_near {
  STRATA_HD bool operator()(int a, int b) const { return a / 8 == b / 8; }
};

TEST(device_select, unique_by_an_operator) {
  for (const std::size_t size : lengths()) {
    for (const std::size_t mean : run_lengths) {
      SCOPED_TRACE(testing::Message() << size << " items, in runs of " << mean);
      std::vector<int> items = keys_in_runs<int>(size, mean, size + mean);
      for (std::size_t i = 0; i < size; ++i) items[i] = items[i] % 1000 * 8 + static_cast<int>(i % 8);
      const device_vector<int> in(items);
      ASSERT_NO_FATAL_FAILURE(expect_selects(only_kept(items, kept_by_difference(items, are_near{})), size, 0,
                                             [&](int* out, std::int64_t* num, auto&&... storage) {
                                               return DeviceSelect::Unique(storage..., in.data(), out, num, size,
                                                                           are_near{});
                                             }));
    }
  }
}

struct of_a_hundred {
  STRATA_HD std::int64_t operator()(std::int64_t n) const { return n / 100; }
};

TEST(device_select, unique_computed_items) {
  for (const std::size_t size : sizes{1, 100, 101, if_small<std::size_t>(20000, 300000)}) {
    const transforming<counting<std::int64_t>, of_a_hundred> in(counting<std::int64_t>(0), of_a_hundred{});
    std::vector<std::int64_t> expected;
    for (std::size_t i = 0; i < size; i += 100) {
      expected.push_back(static_cast<std::int64_t>(i) / 100);
    }
    ASSERT_NO_FATAL_FAILURE(
        expect_selects(expected, size, 0, [&](std::int64_t* out, std::int64_t* num, auto&&... storage) {
          return DeviceSelect::Unique(storage..., in, out, num, static_cast<unsigned>(size));
        }));
  }
}

// ------------------------------------------------------------------ UniqueByKey

template <class Key, class Value>
void expect_unique_by_key() {
  for (const std::size_t size : lengths()) {
    for (const std::size_t mean : run_lengths) {
      if (size > 100000 && mean != 3 && mean != 700) continue;
      const std::vector<Key> keys = keys_in_runs<Key>(size, mean, size + mean);
      const std::vector<Value> values = items_of_any_bits<Value>(size, size);
      const device_vector<Key> d_keys(keys);
      const std::vector<char> keeps = kept_by_difference(keys, are_equal{});
      for (const std::size_t shift : sizes{0, 1}) {
        if (shift == 1 && mean != 3) continue;
        SCOPED_TRACE(testing::Message() << size << " pairs, values shifted by " << shift << ", in runs of " << mean);
        const shifted_array<Value> d_values(values, shift);
        ASSERT_NO_FATAL_FAILURE(expect_selects_pairs(
            only_kept(keys, keeps), only_kept(values, keeps), size, shift,
            [&](Key* keys_out, Value* values_out, std::int64_t* num, auto&&... storage) {
              return DeviceSelect::UniqueByKey(storage..., d_keys.data(), d_values.data(), keys_out, values_out, num,
                                               static_cast<std::int64_t>(size));
            }));
      }
    }
  }
}

TEST(device_select, unique_by_key) { expect_unique_by_key<std::uint32_t, float>(); }
#if !STRATA_TEST_FEW_TYPES
TEST(device_select, unique_by_narrow_key) { expect_unique_by_key<std::uint8_t, struct16>(); }
TEST(device_select, unique_by_wide_key) { expect_unique_by_key<std::int64_t, std::uint16_t>(); }
TEST(device_select, unique_by_key_of_12_bytes) { expect_unique_by_key<struct12, struct24>(); }
#endif

TEST(device_select, unique_by_key_with_any_equality_and_computed_values) {
  for (const std::size_t size : sizes{5, 5000, if_small<std::size_t>(20000, 300000)}) {
    const std::vector<std::int64_t> keys = random_integers<std::int64_t>(size, 0, 250, 1);
    const device_vector<std::int64_t> d_keys(keys);
    const std::vector<char> keeps = kept_by_difference(keys, same_hundred{});
    std::vector<int> values(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<int>(i) + 9;
    ASSERT_NO_FATAL_FAILURE(
        expect_selects_pairs(only_kept(keys, keeps), only_kept(values, keeps), size, 0,
                             [&](std::int64_t* keys_out, int* values_out, std::int64_t* num, auto&&... storage) {
                               return DeviceSelect::UniqueByKey(storage..., d_keys.data(), counting<int>(9), keys_out,
                                                                values_out, num, size, same_hundred{});
                             }));
  }
}

}  // namespace device_select_unique_test
