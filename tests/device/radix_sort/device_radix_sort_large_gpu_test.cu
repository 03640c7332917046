// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Radix sorts of more items than 31 bits can count, checked on the device.
#include <strata/core/launcher.cuh>
#include <strata/device/device_radix_sort.cuh>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "device/device_call.cuh"
#include "device/large_arrays.cuh"

namespace {

using namespace device_test;
using strata::DeviceRadixSort;

constexpr std::size_t beyond_31_bits = (std::size_t{1} << 31) + 7;

// Counts keys that are less than the key before them. Keys of 4 bytes are all different, so equal neighbours and keys
// that no item has count, too.
template <class Key>
STRATA_KERNEL void count_wrong_keys(const Key* keys, std::size_t count, unsigned long long* wrong) {
  for_all(count, [&](std::size_t i) {
    const bool is_new = i == 0 || keys[i - 1] < keys[i];
    bool is_right = is_new || (sizeof(Key) < 4 && keys[i - 1] == keys[i]);
    if (sizeof(Key) == 4) is_right = is_right && keys[i] * inverse < count;
    if (!is_right) atomicAdd(wrong, 1ull);
  });
}
// Adds `sign` to the count of each key. After +1 for each input key and -1 for each output key, all counts are 0.
template <class Key>
STRATA_KERNEL void add_counts(const Key* keys, std::size_t count, unsigned long long sign, unsigned long long* counts) {
  for_all(count, [&](std::size_t i) { atomicAdd(&counts[keys[i]], sign); });
}
// Counts pairs whose key does not belong to their value, and equal keys whose values are not in the order of the input.
template <class Key>
STRATA_KERNEL void count_wrong_pairs(const Key* keys, const std::uint32_t* values, std::size_t count,
                                     unsigned long long* wrong) {
  for_all(count, [&](std::size_t i) {
    const bool is_behind = i == 0 || keys[i - 1] != keys[i] || values[i - 1] < values[i];
    if (!is_behind || keys[i] != key_of_item<Key>(values[i])) atomicAdd(wrong, 1ull);
  });
}

template <class Key>
void expect_sorted(const Key* in, const Key* out, std::size_t count) {
  device_vector<unsigned long long> wrong(std::vector<unsigned long long>{0});
  run(count_wrong_keys<Key>, out, count, wrong.data());
  EXPECT_EQ(0u, wrong.to_host()[0]);
  if constexpr (sizeof(Key) < 4) {
    const std::vector<unsigned long long> none(std::size_t{1} << (8 * sizeof(Key)), 0);
    device_vector<unsigned long long> counts(none);
    run(add_counts<Key>, in, count, 1ull, counts.data());
    run(add_counts<Key>, out, count, ~0ull, counts.data());
    EXPECT_EQ(none, counts.to_host());
  }
}

template <class Key, class NumItemsT>
void sort_keys(NumItemsT num_items) {
  const auto count = static_cast<std::size_t>(num_items);
  SCOPED_TRACE(testing::Message() << count << " keys of " << sizeof(Key) << " bytes");
  array<Key> in(count), out(count);
  if (in.data() == nullptr || out.data() == nullptr) GTEST_SKIP() << "not enough device memory";
  run(fill_keys<Key>, in.data(), count);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceRadixSort::SortKeys(storage..., static_cast<const Key*>(in.data()), out.data(), num_items);
  }));
  expect_sorted(in.data(), out.data(), count);
}

TEST(device_radix_sort_large, keys_of_one_byte) { sort_keys<std::uint8_t>(beyond_31_bits); }
TEST(device_radix_sort_large, keys_of_two_bytes) { sort_keys<std::uint16_t>(beyond_31_bits); }

// The first size is the largest int, and the largest size whose states have 32 bits. The second size is the smallest
// one with states of 64 bits.
TEST(device_radix_sort_large, keys_of_four_bytes) {
  sort_keys<std::uint32_t>(std::numeric_limits<int>::max());
  sort_keys<std::uint32_t>(std::size_t{1} << 31);
}

TEST(device_radix_sort_large, pairs_are_stable) {
  const std::size_t count = beyond_31_bits;
  using Key = std::uint8_t;
  array<Key> in(count), out(count);
  array<std::uint32_t> values(count), values_out(count);
  if (in.data() == nullptr || out.data() == nullptr || values.data() == nullptr || values_out.data() == nullptr) {
    GTEST_SKIP() << "not enough device memory";
  }
  run(fill_keys<Key>, in.data(), count);
  run(fill_places, values.data(), count);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceRadixSort::SortPairs(storage..., static_cast<const Key*>(in.data()), out.data(),
                                      static_cast<const std::uint32_t*>(values.data()), values_out.data(), count);
  }));
  expect_sorted(in.data(), out.data(), count);
  device_vector<unsigned long long> wrong(std::vector<unsigned long long>{0});
  run(count_wrong_pairs<Key>, out.data(), values_out.data(), count, wrong.data());
  EXPECT_EQ(0u, wrong.to_host()[0]);
}

}  // namespace
