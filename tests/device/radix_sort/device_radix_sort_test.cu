// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceRadixSort: keys and pairs of all types, in both directions, by any bits.
#include <strata/core/radix_key.hpp>
#include <strata/device/device_radix_sort.cuh>

#if STRATA_HOST_SIMT
#include <strata/simt/half.hpp>
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "device/device_call.cuh"
#include "device/radix_sort/device_radix_sort_support.cuh"
#include "device/radix_sort/device_radix_sort_tuned.cuh"

namespace device_radix_sort_test {

using namespace device_test;
using strata::DeviceRadixSort;

// ------------------------------------------------------------------ keys of all types

template <class Key>
class DeviceRadixSortKeys : public ::testing::Test {};
#if STRATA_TEST_FEW_TYPES
using key_types = ::testing::Types<std::uint32_t, double>;
#else
using key_types = ::testing::Types<std::int8_t, std::uint16_t, std::int32_t, std::uint64_t, float, double, __half,
                                   strata::detail::uint128>;
#endif
TYPED_TEST_SUITE(DeviceRadixSortKeys, key_types);

TYPED_TEST(DeviceRadixSortKeys, of_any_pattern_in_many_tiles) {
  using Key = TypeParam;
  using hub = radix_hub<3>;
  constexpr int bits = strata::RadixTraits<Key>::bits;
  for (const std::size_t size : {1u, 2u, 255u, 256u, 257u, 767u, 768u, 769u, 5000u}) {
    for (const pattern how : all_patterns) {
      if (size != 5000 && how != pattern::random && how != pattern::equal) continue;
      SCOPED_TRACE(testing::Message() << size << " keys, pattern " << static_cast<int>(how));
      const std::vector<Key> keys = make_keys<Key>(size, how);
      const device_vector<Key> in(keys);
      device_vector<Key> out(std::vector<Key>(size, key_of_bits<Key>(0x77)));
      ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
        return tuned_sort<hub>(storage, bytes, in.data(), out.data(), size, 0, bits);
      }));
      expect_gathered(keys, expected_order<false>(keys, 0, bits), out.to_host());
      out.poison();
      ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
        return tuned_sort<hub, true>(storage, bytes, in.data(), out.data(), size, 0, bits);
      }));
      expect_gathered(keys, expected_order<true>(keys, 0, bits), out.to_host());
      expect_gathered(keys, expected_order<false>(keys, 0, 0), in.to_host());  // untouched
    }
  }
}

TYPED_TEST(DeviceRadixSortKeys, as_the_library_chooses) {
  using Key = TypeParam;
  constexpr int bits = strata::RadixTraits<Key>::bits;
  std::vector<std::size_t> sizes = {0, 1, 1024, 1025};
  if (!is_small()) sizes.push_back(40000);
  for (const std::size_t size : sizes) {
    SCOPED_TRACE(testing::Message() << size << " keys");
    const std::vector<Key> keys = make_keys<Key>(size, pattern::random, 5);
    const device_vector<Key> in(keys);
    device_vector<Key> out(std::vector<Key>(size, key_of_bits<Key>(0x77)));
    ASSERT_CUDA_SUCCESS(in_two_phases(
        [&](auto&&... storage) { return DeviceRadixSort::SortKeys(storage..., in.data(), out.data(), size); }));
    expect_gathered(keys, expected_order<false>(keys, 0, bits), out.to_host());
  }
}

template <bool IsDescending, class Key>
void expect_counted(std::size_t size, std::size_t shift) {
  using hub = radix_hub<1>;
  for (const pattern how : {pattern::random, pattern::few, pattern::equal, pattern::sorted}) {
    SCOPED_TRACE(testing::Message() << size << " keys from item " << shift << " on, pattern " << static_cast<int>(how));
    std::vector<Key> keys = make_keys<Key>(size + shift, how);
    const device_vector<Key> in(keys);
    device_vector<Key> out(std::vector<Key>(size + shift, key_of_bits<Key>(1)));
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return tuned_sort<hub, IsDescending>(storage, bytes, in.data() + shift, out.data() + shift, size, 0, 8);
    }));
    keys.erase(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(shift));
    std::vector<Key> sorted = out.to_host();
    sorted.erase(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(shift));
    expect_gathered(keys, expected_order<IsDescending>(keys, 0, 8), sorted);
  }
}

TEST(device_radix_sort, keys_of_one_byte_are_counted) {
  const std::size_t size = if_small<std::size_t>(33000, 100003);
  expect_counted<false, std::uint8_t>(size, 0);
  expect_counted<true, std::int8_t>(size, 0);
  expect_counted<false, std::int8_t>(size, 1);
}

// If all keys of a tile have one digit, a block writes the tile without looking at each key. A tile with a single other
// key must not take this path.
TEST(device_radix_sort, keys_of_one_byte_in_tiles_of_almost_one_digit) {
  using hub = radix_hub<1>;
  constexpr std::size_t tile = 256 * 8 * 16;
  for (const std::size_t others : {0u, 1u, 15u, 16u, 17u}) {
    SCOPED_TRACE(testing::Message() << others << " other keys");
    std::vector<std::uint8_t> keys(2 * tile, 200);
    for (std::size_t i = 0; i < tile - others; ++i) keys[keys.size() - 1 - i] = 5;
    const device_vector<std::uint8_t> in(keys);
    device_vector<std::uint8_t> out(keys.size());
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return tuned_sort<hub>(storage, bytes, in.data(), out.data(), keys.size(), 0, 8);
    }));
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(keys, out.to_host());
  }
}

// ------------------------------------------------------------------ pairs

template <class Key, class Value>
void expect_stable_pairs() {
  using hub = radix_hub<2>;
  constexpr int bits = strata::RadixTraits<Key>::bits;
  for (const std::size_t size : {255u, 513u, 4000u}) {
    for (const pattern how : {pattern::random, pattern::few, pattern::mostly_one, pattern::equal}) {
      SCOPED_TRACE(testing::Message() << size << " pairs, pattern " << static_cast<int>(how));
      const std::vector<Key> keys = make_keys<Key>(size, how);
      const std::vector<Value> values = make_values<Value>(size);
      const device_vector<Key> in(keys);
      const device_vector<Value> values_in(values);
      device_vector<Key> out(size);
      device_vector<Value> values_out(size);
      ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
        return tuned_sort_pairs<hub>(storage, bytes, in.data(), out.data(), values_in.data(), values_out.data(), size,
                                     0, bits);
      }));
      const auto order = expected_order<false>(keys, 0, bits);
      expect_gathered(keys, order, out.to_host());
      expect_gathered(values, order, values_out.to_host());
      out.poison();
      values_out.poison();
      ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
        return tuned_sort_pairs<hub, true>(storage, bytes, in.data(), out.data(), values_in.data(), values_out.data(),
                                           size, 0, bits);
      }));
      const auto reverse = expected_order<true>(keys, 0, bits);
      expect_gathered(keys, reverse, out.to_host());
      expect_gathered(values, reverse, values_out.to_host());
    }
  }
}

struct words_40 {
  std::uint64_t word[5];
};

TEST(device_radix_sort, pairs_are_stable) {
  expect_stable_pairs<std::uint32_t, std::uint32_t>();
#if !STRATA_TEST_FEW_TYPES
  expect_stable_pairs<std::uint64_t, std::uint32_t>();
  expect_stable_pairs<std::uint8_t, std::uint64_t>();
  expect_stable_pairs<float, words_40>();
#endif
}

// ------------------------------------------------------------------ bits

TEST(device_radix_sort, any_bits) {
  using hub = radix_hub<1>;
  const std::size_t size = 700;
  const std::vector<std::int32_t> keys = make_keys<std::int32_t>(size, pattern::random);
  const device_vector<std::int32_t> in(keys);
  device_vector<std::int32_t> out(size);
  for (int begin = 0; begin <= 32; begin += is_small() ? 5 : 1) {
    for (int end = begin; end <= 32; end += is_small() ? 7 : 1) {
      SCOPED_TRACE(testing::Message() << "bits " << begin << " to " << end);
      out.poison();
      ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
        return tuned_sort<hub>(storage, bytes, in.data(), out.data(), size, begin, end);
      }));
      expect_gathered(keys, expected_order<false>(keys, begin, end), out.to_host());
    }
  }
}

// ------------------------------------------------------------------ keys at any address

// Digits are counted 16 bytes at a time, but one by one before the first 16-byte boundary and behind the last.
template <class Key>
void expect_sorted_at_any_address() {
  using hub = radix_hub<2>;
  constexpr int bits = strata::RadixTraits<Key>::bits;
  for (std::size_t shift = 0; shift < 16 / sizeof(Key); ++shift) {
    for (const std::size_t size : {257u, 700u}) {
      for (const int begin : {0, 3}) {
        SCOPED_TRACE(testing::Message() << size << " keys from item " << shift << " on, bits from " << begin << " on");
        std::vector<Key> keys = make_keys<Key>(size + shift, pattern::random);
        const device_vector<Key> in(keys);
        device_vector<Key> out(std::vector<Key>(size, key_of_bits<Key>(0x77)));
        ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
          return tuned_sort<hub>(storage, bytes, in.data() + shift, out.data(), size, begin, bits);
        }));
        keys.erase(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(shift));
        expect_gathered(keys, expected_order<false>(keys, begin, bits), out.to_host());
      }
    }
  }
}

TEST(device_radix_sort, keys_at_any_address) {
  expect_sorted_at_any_address<std::uint16_t>();
  expect_sorted_at_any_address<float>();
  expect_sorted_at_any_address<std::uint64_t>();
}

struct two_words {
  std::uint16_t high;
  std::uint16_t low;
};
struct by_both_words {
  STRATA_HD strata::RadixFields<std::uint16_t&, std::uint16_t&> operator()(two_words& key) const {
    return {key.high, key.low};
  }
};

TEST(device_radix_sort, keys_of_which_none_begins_at_a_boundary) {
  using Sort = strata::TunedDeviceRadixSort<radix_hub<2>>;
  const std::size_t size = 700;
  const std::vector<std::uint16_t> words = make_keys<std::uint16_t>(1 + 2 * size, pattern::random);
  const device_vector<std::uint16_t> memory(words);
  const auto* const in = reinterpret_cast<const two_words*>(memory.data() + 1);
  device_vector<two_words> out(std::vector<two_words>(size, two_words{7, 7}));
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return Sort::SortKeys(storage, bytes, in, out.data(), size, by_both_words{});
  }));
  std::vector<std::uint32_t> expected;
  for (std::size_t i = 0; i < size; ++i) expected.push_back(words[1 + 2 * i] * 65536u + words[2 + 2 * i]);
  std::sort(expected.begin(), expected.end());
  const std::vector<two_words> sorted = out.to_host();
  for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(expected[i], sorted[i].high * 65536u + sorted[i].low) << i;
}

// ------------------------------------------------------------------ two buffers

TEST(device_radix_sort, between_two_buffers) {
  for (const std::size_t size : {std::size_t{900}, if_small<std::size_t>(20000, 40000)}) {
    for (const pattern how : {pattern::random, pattern::low_byte, pattern::equal}) {
      for (const int end : {0, 8, 13, 17, 32}) {
        SCOPED_TRACE(testing::Message() << size << " pairs, pattern " << static_cast<int>(how) << ", bits 0 to "
                                        << end);
        const std::vector<std::uint32_t> keys = make_keys<std::uint32_t>(size, how);
        const std::vector<std::uint16_t> values = make_values<std::uint16_t>(size);
        device_vector<std::uint32_t> a(keys), b(std::vector<std::uint32_t>(size, 1));
        device_vector<std::uint16_t> c(values), d(std::vector<std::uint16_t>(size, 1));
        strata::DoubleBuffer<std::uint32_t> d_keys(a.data(), b.data());
        strata::DoubleBuffer<std::uint16_t> d_values(c.data(), d.data());
        ASSERT_CUDA_SUCCESS(in_two_phases(
            [&](auto&&... storage) { return DeviceRadixSort::SortPairs(storage..., d_keys, d_values, size, 0, end); }));
        EXPECT_EQ((end + 7) / 8 % 2, d_keys.selector);
        EXPECT_EQ(d_keys.selector, d_values.selector);
        const auto order = expected_order<false>(keys, 0, end);
        expect_gathered(keys, order, (d_keys.selector == 0 ? a : b).to_host());
        expect_gathered(values, order, (d_keys.selector == 0 ? c : d).to_host());
      }
    }
  }
}

// ------------------------------------------------------------------ indices, iterators, fields

TEST(device_radix_sort, indices_of_sorted_items) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{300}, std::size_t{30000}}) {
    const std::vector<float> keys = make_keys<float>(size, pattern::random);
    const device_vector<float> in(keys);
    device_vector<std::uint32_t> indices(size);
    ASSERT_CUDA_SUCCESS(in_two_phases(
        [&](auto&&... storage) { return DeviceRadixSort::ArgSort(storage..., in.data(), indices.data(), size); }));
    EXPECT_EQ(expected_order<false>(keys, 0, 32), indices.to_host());
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceRadixSort::ArgSortDescending(storage..., in.data(), indices.data(), size);
    }));
    EXPECT_EQ(expected_order<true>(keys, 0, 32), indices.to_host());
  }
}

struct event {
  std::int16_t year;
  std::uint8_t kind;
  float weight;
  std::uint32_t number;
};
struct by_year_and_weight {
  STRATA_HD strata::RadixFields<std::int16_t&, float&> operator()(event& e) const { return {e.year, e.weight}; }
};

TEST(device_radix_sort, keys_with_fields) {
  for (const std::size_t size : {std::size_t{500}, std::size_t{20000}}) {
    std::mt19937_64 bits = strata_test::random_bits(3);
    std::vector<event> events(size);
    for (std::size_t i = 0; i < size; ++i) {
      events[i] = {static_cast<std::int16_t>(bits() % 20 - 10), static_cast<std::uint8_t>(bits()),
                   static_cast<float>(bits() % 100) - 50, static_cast<std::uint32_t>(i)};
    }
    const device_vector<event> in(events);
    device_vector<event> out(events);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceRadixSort::SortKeys(storage..., in.data(), out.data(), size, by_year_and_weight{});
    }));
    std::stable_sort(events.begin(), events.end(), [](const event& a, const event& b) {
      return a.year != b.year ? a.year < b.year : a.weight < b.weight;
    });
    const std::vector<event> sorted = out.to_host();
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(events[i].number, sorted[i].number) << i;
  }
}

/// A key of 320 bits: a sort of all of them takes 40 passes.
struct wide_key {
  std::uint64_t words[5];
};
struct by_all_words {
  using fields = strata::RadixFields<std::uint64_t&, std::uint64_t&, std::uint64_t&, std::uint64_t&, std::uint64_t&>;
  STRATA_HD fields operator()(wide_key& key) const {
    return {key.words[0], key.words[1], key.words[2], key.words[3], key.words[4]};
  }
};
std::vector<wide_key> wide_keys(std::size_t size) {
  std::mt19937_64 bits = strata_test::random_bits(4);
  std::vector<wide_key> keys(size);
  for (wide_key& key : keys) {
    for (std::uint64_t& word : key.words) word = bits() % 5 * 0x0123456789abcdef;
  }
  return keys;
}
std::vector<std::size_t> order_of_wide_keys(const std::vector<wide_key>& keys) {
  std::vector<std::size_t> order(keys.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::lexicographical_compare(keys[a].words, keys[a].words + 5, keys[b].words, keys[b].words + 5);
  });
  return order;
}

TEST(device_radix_sort, keys_of_more_than_256_bits) {
  const std::size_t size = 20000;
  const std::vector<wide_key> keys = wide_keys(size);
  const device_vector<wide_key> in(keys);
  device_vector<wide_key> out(size);
  const device_vector<int> count(std::vector<int>{static_cast<int>(size)});
  // A call with a FutureCount sorts so many keys by passes.
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceRadixSort::SortKeys(storage..., in.data(), out.data(),
                                     strata::FutureCount<int>(count.data(), static_cast<int>(size)), by_all_words{});
  }));
  const std::vector<std::size_t> order = order_of_wide_keys(keys);
  const std::vector<wide_key> sorted = out.to_host();
  for (std::size_t i = 0; i < size; ++i) {
    ASSERT_TRUE(std::equal(sorted[i].words, sorted[i].words + 5, keys[order[i]].words)) << i;
  }
}

struct large_value {
  std::uint32_t words[200];
};

TEST(device_radix_sort, items_that_fit_in_shared_memory_only_one_array_at_a_time) {
  const std::size_t size = 1000;
  const std::vector<wide_key> keys = wide_keys(size);
  std::vector<large_value> values(size);
  for (std::size_t i = 0; i < size; ++i) {
    std::fill(std::begin(values[i].words), std::end(values[i].words), static_cast<std::uint32_t>(i));
  }
  const device_vector<wide_key> in(keys);
  const device_vector<large_value> values_in(values);
  device_vector<wide_key> out(size);
  device_vector<large_value> values_out(size);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceRadixSort::SortPairs(storage..., in.data(), out.data(), values_in.data(), values_out.data(), size,
                                      by_all_words{});
  }));
  const std::vector<std::size_t> order = order_of_wide_keys(keys);
  const std::vector<large_value> sorted = values_out.to_host();
  for (std::size_t i = 0; i < size; ++i) {
    ASSERT_EQ(order[i], sorted[i].words[0]) << i;
    ASSERT_EQ(order[i], sorted[i].words[199]) << i;
  }
}

/// A key with its own specialization of RadixTraits: its upper half comes first in memory.
struct version {
  std::uint16_t upper, lower;
};

}  // namespace device_radix_sort_test

STRATA_NAMESPACE_BEGIN
template <>
struct RadixTraits<device_radix_sort_test::version> {
  using word = std::uint32_t;
  static constexpr int bits = 32;
  STRATA_HD static word ordered(const device_radix_sort_test::version& key) {
    return word{key.upper} << 16 | key.lower;
  }
};
STRATA_NAMESPACE_END

namespace device_radix_sort_test {

/// Sorts with the tuning of `Hub`. With `radix_hub`, passes over the digits sort even few items.
template <bool IsDescending, class Hub>
void expect_versions_in_order() {
  using sort = strata::TunedDeviceRadixSort<Hub>;
  const std::size_t size = 5000;
  std::mt19937_64 bits = strata_test::random_bits(4);
  std::vector<version> keys(size);
  std::vector<std::uint32_t> numbers(size);
  for (std::size_t i = 0; i < size; ++i) {
    keys[i] = {static_cast<std::uint16_t>(bits() % 50), static_cast<std::uint16_t>(bits() % 3000)};
    numbers[i] = static_cast<std::uint32_t>(i);
  }
  const device_vector<version> in(keys);
  const device_vector<std::uint32_t> values(numbers);
  device_vector<version> out(size);
  device_vector<std::uint32_t> values_out(size);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    if constexpr (IsDescending) {
      return sort::SortPairsDescending(storage..., in.data(), out.data(), values.data(), values_out.data(), size);
    } else {
      return sort::SortPairs(storage..., in.data(), out.data(), values.data(), values_out.data(), size);
    }
  }));
  std::stable_sort(numbers.begin(), numbers.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto first = strata::RadixTraits<version>::ordered(keys[a]);
    const auto second = strata::RadixTraits<version>::ordered(keys[b]);
    return IsDescending ? first > second : first < second;
  });
  EXPECT_EQ(numbers, values_out.to_host());
  const std::vector<version> sorted = out.to_host();
  for (std::size_t i = 0; i < size; ++i) {
    ASSERT_EQ(keys[numbers[i]].upper, sorted[i].upper) << i;
    ASSERT_EQ(keys[numbers[i]].lower, sorted[i].lower) << i;
  }
}

TEST(device_radix_sort, keys_whose_traits_are_specialised) {
  expect_versions_in_order<false, strata::default_policy_hub>();
  expect_versions_in_order<false, radix_hub<4>>();
  expect_versions_in_order<true, radix_hub<4>>();
}

}  // namespace device_radix_sort_test
