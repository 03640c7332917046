// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceRadixSort in place: keys, values or both are sorted over their input. Each algorithm sorts even and odd numbers
// of digits, and digits that are equal in all items.
#include <strata/device/device_radix_sort.cuh>
#include <strata/iterator/counting_input_iterator.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device_call.cuh"
#include "device/radix_sort/device_radix_sort_support.cuh"
#include "device/radix_sort/device_radix_sort_tuned.cuh"
#include "device/schedules.cuh"

namespace {

using namespace device_test;
using strata::DeviceRadixSort;
using strata::FutureCount;

// Passes and the grid have tiles of 512 items. A cluster sorts up to 4096 items.
using passes = radix_hub<2>;
using grid = radix_grid_hub<2>;
using cluster = radix_cluster_hub<2>;

/// True where the output array is the input array.
struct in_place {
  bool keys;
  bool values;
};
constexpr in_place all_ways[] = {{true, false}, {false, true}, {true, true}};

struct bit_range {
  int begin;
  int end;
};

/// Sorts keys in place with the tuning of `Hub`. The size query gets null pointers.
template <class Hub, bool IsDescending, class Key>
void expect_keys(std::size_t size, pattern how, bit_range bits) {
  SCOPED_TRACE(testing::Message() << size << " keys of " << sizeof(Key) << " bytes, pattern " << static_cast<int>(how)
                                  << ", bits " << bits.begin << " to " << bits.end);
  const std::vector<Key> keys = make_keys<Key>(size, how);
  device_vector<Key> sorted(keys);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    Key* const array = storage == nullptr ? nullptr : sorted.data();
    return tuned_sort<Hub, IsDescending, Key>(storage, bytes, array, array, size, bits.begin, bits.end);
  }));
  expect_gathered(keys, expected_order<IsDescending>(keys, bits.begin, bits.end), sorted.to_host());
}

/// Sorts pairs in place as `is` says. An input that is not sorted in place must stay untouched.
template <class Hub, bool IsDescending, class Key, class Value>
void expect_pairs(std::size_t size, pattern how, bit_range bits, in_place is) {
  SCOPED_TRACE(testing::Message() << size << " pairs of " << sizeof(Key) << " + " << sizeof(Value) << " bytes, pattern "
                                  << static_cast<int>(how) << ", bits " << bits.begin << " to " << bits.end
                                  << (is.keys ? ", keys in place" : "") << (is.values ? ", values in place" : ""));
  const std::vector<Key> keys = make_keys<Key>(size, how);
  const std::vector<Value> values = make_values<Value>(size);
  device_vector<Key> keys_in(keys), keys_out(make_keys<Key>(size, pattern::random, 7));
  device_vector<Value> values_in(values), values_out{std::vector<Value>(size)};
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return storage == nullptr
               ? tuned_sort_pairs<Hub, IsDescending, Key, Value>(storage, bytes, nullptr, nullptr, nullptr, nullptr,
                                                                 size, bits.begin, bits.end)
               : tuned_sort_pairs<Hub, IsDescending, Key, Value>(
                     storage, bytes, keys_in.data(), (is.keys ? keys_in : keys_out).data(), values_in.data(),
                     (is.values ? values_in : values_out).data(), size, bits.begin, bits.end);
  }));
  const auto order = expected_order<IsDescending>(keys, bits.begin, bits.end);
  const auto as_it_was = expected_order<false>(keys, 0, 0);
  expect_gathered(keys, order, (is.keys ? keys_in : keys_out).to_host());
  expect_gathered(values, order, (is.values ? values_in : values_out).to_host());
  if (!is.keys) expect_gathered(keys, as_it_was, keys_in.to_host());
  if (!is.values) expect_gathered(values, as_it_was, values_in.to_host());
}

/// All combinations of `in_place`, with passes that move items and passes that move nothing.
template <class Hub, bool IsDescending, class Key, class Value>
void expect_pairs_all_ways(std::size_t size, std::initializer_list<bit_range> ranges) {
  for (const in_place is : all_ways) {
    for (const bit_range bits : ranges) {
      for (const pattern how : {pattern::random, pattern::equal, pattern::low_byte, pattern::mostly_one}) {
        ASSERT_NO_FATAL_FAILURE((expect_pairs<Hub, IsDescending, Key, Value>(size, how, bits, is)));
      }
    }
  }
}

// ------------------------------------------------------------------ keys

template <class Key>
void expect_keys_of_all_sizes() {
  constexpr int bits = strata::RadixTraits<Key>::bits;
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{256}, std::size_t{257}, if_small<std::size_t>(1500, 5001)}) {
    for (const pattern how : {pattern::random, pattern::equal, pattern::low_byte}) {
      ASSERT_NO_FATAL_FAILURE((expect_keys<passes, false, Key>(size, how, {0, bits})));
      ASSERT_NO_FATAL_FAILURE((expect_keys<passes, true, Key>(size, how, {0, bits})));
    }
    ASSERT_NO_FATAL_FAILURE((expect_keys<passes, false, Key>(size, pattern::random, {3, 3})));
    ASSERT_NO_FATAL_FAILURE((expect_keys<passes, true, Key>(size, pattern::random, {1, 8})));
    ASSERT_NO_FATAL_FAILURE((expect_keys<passes, false, Key>(size, pattern::few, {1, bits - 1})));
  }
}

TEST(device_radix_sort_in_place, keys_of_one_byte) { expect_keys_of_all_sizes<std::uint8_t>(); }
TEST(device_radix_sort_in_place, keys_of_two_bytes) { expect_keys_of_all_sizes<std::int16_t>(); }
TEST(device_radix_sort_in_place, keys_of_four_bytes) { expect_keys_of_all_sizes<float>(); }
TEST(device_radix_sort_in_place, keys_of_eight_bytes) { expect_keys_of_all_sizes<std::uint64_t>(); }
#if STRATA_HAS_INT128
TEST(device_radix_sort_in_place, keys_of_sixteen_bytes) { expect_keys_of_all_sizes<__uint128_t>(); }
#endif

TEST(device_radix_sort_in_place, keys_that_are_counted) {
  const std::size_t size = strata::detail::counting_sort_bins + 1000;
  expect_keys<radix_words_hub, false, std::uint16_t>(size, pattern::random, {0, 16});
  expect_keys<radix_words_hub, true, std::uint16_t>(size, pattern::mostly_one, {0, 16});
}

TEST(device_radix_sort_in_place, keys_in_one_grid) {
  for (const pattern how : all_patterns) {
    for (const bit_range bits : {bit_range{0, 32}, bit_range{0, 24}, bit_range{4, 9}, bit_range{8, 24}}) {
      ASSERT_NO_FATAL_FAILURE((expect_keys<grid, false, std::uint32_t>(2000, how, bits)));
    }
  }
}

// ------------------------------------------------------------------ pairs

TEST(device_radix_sort_in_place, pairs_in_passes) {
  expect_pairs_all_ways<passes, false, std::uint32_t, std::uint32_t>(1500,
                                                                     {{0, 32}, {0, 24}, {4, 20}, {9, 14}, {7, 7}});
  expect_pairs_all_ways<passes, true, std::uint32_t, std::uint32_t>(1500, {{0, 32}, {2, 23}});
}

TEST(device_radix_sort_in_place, pairs_of_other_sizes) {
  expect_pairs_all_ways<passes, false, std::uint8_t, std::uint32_t>(1300, {{0, 8}, {2, 5}});
  expect_pairs_all_ways<passes, false, double, std::uint8_t>(1300, {{0, 64}, {0, 56}});
}

TEST(device_radix_sort_in_place, pairs_in_one_block) {
  for (const std::size_t size : {1, 2, 200, 256}) {
    ASSERT_NO_FATAL_FAILURE(
        (expect_pairs_all_ways<passes, false, std::uint32_t, std::uint32_t>(size, {{0, 32}, {3, 10}, {5, 5}})));
  }
}

TEST(device_radix_sort_in_place, pairs_in_one_cluster) {
  for (const std::size_t size : {300, 3000}) {
    ASSERT_NO_FATAL_FAILURE(
        (expect_pairs_all_ways<cluster, false, std::uint32_t, std::uint32_t>(size, {{0, 32}, {0, 8}, {3, 20}})));
  }
}

TEST(device_radix_sort_in_place, pairs_in_one_grid) {
  for (const std::size_t size : {300, 1700}) {
    ASSERT_NO_FATAL_FAILURE(
        (expect_pairs_all_ways<grid, false, std::uint32_t, std::uint32_t>(size, {{0, 32}, {0, 16}, {0, 8}, {3, 20}})));
  }
}

// In place, a block that runs early must not write what another block still has to read.
TEST(device_radix_sort_in_place, in_any_order_of_blocks) {
  under_all_schedules([](std::size_t i) {
    const in_place is = all_ways[i % 3];
    const bit_range bits = i % 2 == 0 ? bit_range{0, 32} : bit_range{3, 20};
    expect_pairs<passes, false, std::uint32_t, std::uint32_t>(2100, pattern::mostly_one, bits, is);
    expect_pairs<grid, false, std::uint32_t, std::uint32_t>(2000, pattern::random, bits, is);
    expect_pairs<cluster, false, std::uint32_t, std::uint32_t>(2000, pattern::random, bits, is);
    expect_keys<passes, true, std::uint8_t>(2100, pattern::random, {0, 8});
  });
}

// ------------------------------------------------------------------ other inputs and counts

struct record {
  std::uint16_t low, high;
};
struct by_high {
  STRATA_HD strata::RadixFields<std::uint16_t&> operator()(record& r) const { return {r.high}; }
};

TEST(device_radix_sort_in_place, keys_with_a_decomposer) {
  const std::vector<std::uint32_t> words = make_keys<std::uint32_t>(1500, pattern::random);
  for (const int end : {16, 8}) {
    std::vector<record> records(words.size());
    std::vector<std::uint16_t> high(words.size());
    for (std::size_t i = 0; i < words.size(); ++i) {
      high[i] = static_cast<std::uint16_t>(words[i]);
      records[i] = {static_cast<std::uint16_t>(i), high[i]};
    }
    device_vector<record> sorted(records);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return strata::TunedDeviceRadixSort<passes>::SortKeys(storage, bytes, sorted.data(), sorted.data(), words.size(),
                                                            by_high{}, 0, end);
    }));
    expect_gathered(records, expected_order<false>(high, 0, end), sorted.to_host());
  }
}

// The FutureCount says how many items are sorted. Items behind them stay untouched. Keys may be sorted in place; values
// that come from an iterator never are.
TEST(device_radix_sort_in_place, as_many_items_as_the_device_knows) {
  constexpr std::size_t bound = 3000;
  using Sort = strata::TunedDeviceRadixSort<passes>;
  for (const pattern how : {pattern::random, pattern::equal}) {
    const std::vector<std::uint32_t> keys = make_keys<std::uint32_t>(bound, how);
    for (const std::uint32_t number : {0u, 1u, 1500u, 3000u}) {
      for (const bit_range bits : {bit_range{0, 32}, bit_range{0, 24}, bit_range{9, 9}}) {
        SCOPED_TRACE(testing::Message() << number << " items, bits " << bits.begin << " to " << bits.end);
        const device_vector<std::uint32_t> count(std::vector<std::uint32_t>{number});
        device_vector<std::uint32_t> sorted(keys), indices(bound);
        const FutureCount<std::uint32_t> future(count.data(), bound);
        ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
          return Sort::SortPairs(storage, bytes, sorted.data(), sorted.data(),
                                 strata::CountingInputIterator<std::uint32_t>(0), indices.data(), future, bits.begin,
                                 bits.end);
        }));
        const std::vector<std::uint32_t> first(keys.begin(), keys.begin() + number);
        std::vector<std::uint32_t> order = expected_order<false>(first, bits.begin, bits.end);
        const std::vector<std::uint32_t> actual = indices.to_host();
        EXPECT_TRUE(std::equal(order.begin(), order.end(), actual.begin()));
        for (std::size_t i = number; i < bound; ++i) order.push_back(static_cast<std::uint32_t>(i));
        expect_gathered(keys, order, sorted.to_host());
      }
    }
  }
}

TEST(device_radix_sort_in_place, replayed_with_other_keys) {
  for (const bit_range bits : {bit_range{0, 32}, bit_range{0, 24}}) {
    constexpr std::size_t size = 1500;
    const std::vector<std::uint32_t> values = make_values<std::uint32_t>(size);
    device_vector<std::uint32_t> keys(size), values_in(values), moved(size);
    const auto sort = [&](void* storage, std::size_t& bytes, cudaStream_t on) {
      return tuned_sort_pairs<passes, false, std::uint32_t, std::uint32_t>(
          storage, bytes, keys.data(), keys.data(), values_in.data(), moved.data(), size, bits.begin, bits.end, on);
    };
    std::size_t bytes = 0;
    ASSERT_CUDA_SUCCESS(sort(nullptr, bytes, nullptr));
    const scratch storage(bytes);
    graph recorded([&](cudaStream_t on) { return sort(storage.data(), bytes, on); });
    ASSERT_CUDA_SUCCESS(recorded.status());
    const stream where;
    for (const pattern how : {pattern::random, pattern::equal, pattern::low_byte, pattern::random}) {
      const std::vector<std::uint32_t> next = make_keys<std::uint32_t>(size, how, 3);
      keys.assign(next);
      recorded.replay(where);
      where.synchronize();
      const auto order = expected_order<false>(next, bits.begin, bits.end);
      expect_gathered(next, order, keys.to_host());
      expect_gathered(values, order, moved.to_host());
    }
  }
}

// ------------------------------------------------------------------ the library's tuning

TEST(device_radix_sort_in_place, by_the_usual_tuning) {
#if STRATA_HOST_SIMT
  const std::vector<std::size_t> sizes = {500, 6000, 40000};
#else
  const std::vector<std::size_t> sizes = {500, 6000, 300000, 5000011};
#endif
  for (const std::size_t size : sizes) {
    for (const in_place is : all_ways) {
      for (const pattern how : {pattern::random, pattern::equal}) {
        ASSERT_NO_FATAL_FAILURE((expect_pairs<strata::default_policy_hub, true, float, int>(size, how, {0, 32}, is)));
        ASSERT_NO_FATAL_FAILURE((expect_pairs<strata::default_policy_hub, true, float, int>(size, how, {8, 32}, is)));
      }
    }
    ASSERT_NO_FATAL_FAILURE(
        (expect_keys<strata::default_policy_hub, false, std::uint16_t>(size, pattern::random, {0, 16})));
  }
}

}  // namespace
