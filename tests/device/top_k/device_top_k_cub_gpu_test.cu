// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceTopK selects the first items of CUB's sort.
#include <strata/device/device_top_k.cuh>

#include <cub/device/device_radix_sort.cuh>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "device/device_call.cuh"
#include "device/radix_sort/device_radix_sort_support.cuh"

namespace {

using namespace device_test;

/// Random numbers of items and of results, and random patterns. A third of the inputs is long enough for samples.
template <class Key>
void expect_first_of_sorted() {
  std::mt19937_64 bits = strata_test::random_bits(41);
  for (int round = 0; round < if_small(4, 60); ++round) {
    const std::size_t most =
        round % 3 == 0 ? (std::size_t{40} << 20) / sizeof(Key) : std::size_t{1} << (1 + round % 20);
    const std::size_t n = round % 3 == 0 ? most - bits() % (most / 2) : 1 + bits() % most;
    const std::size_t k = 1 + bits() % (round % 2 == 0 ? n : std::min<std::size_t>(n, 5000));
    const pattern how = all_patterns[bits() % 7];
    SCOPED_TRACE(testing::Message() << k << " of " << n << " items, pattern " << static_cast<int>(how));
    const auto keys = make_keys<Key>(n, how, bits());
    std::vector<std::uint32_t> indices(n);
    std::iota(indices.begin(), indices.end(), 0u);
    const device_vector<Key> in(keys);
    const device_vector<std::uint32_t> d_indices(indices);
    device_vector<Key> out(k), sorted(n);
    device_vector<std::uint32_t> values(k), sorted_values(n);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairsDescending(storage, bytes, in.data(), sorted.data(), d_indices.data(),
                                                       sorted_values.data(), n);
    }));
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return strata::DeviceTopK::MaxPairsSorted(storage, bytes, in.data(), out.data(), d_indices.data(), values.data(),
                                                n, k);
    }));
    std::vector<Key> expected = sorted.to_host();
    std::vector<std::uint32_t> expected_values = sorted_values.to_host();
    expected.resize(k);
    expected_values.resize(k);
    ASSERT_TRUE(expected == out.to_host());
    ASSERT_TRUE(expected_values == values.to_host());

    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return strata::DeviceTopK::MaxPairs(storage, bytes, in.data(), out.data(), d_indices.data(), values.data(), n, k);
    }));
    std::sort(expected_values.begin(), expected_values.end());
    ASSERT_TRUE(expected_values == values.to_host());
    const std::vector<Key> actual = out.to_host();
    for (std::size_t i = 0; i < k; ++i) ASSERT_EQ(keys[expected_values[i]], actual[i]) << i;
  }
}

TEST(device_top_k_cub, u8) { expect_first_of_sorted<std::uint8_t>(); }
TEST(device_top_k_cub, i16) { expect_first_of_sorted<std::int16_t>(); }
TEST(device_top_k_cub, u32) { expect_first_of_sorted<std::uint32_t>(); }
TEST(device_top_k_cub, i64) { expect_first_of_sorted<std::int64_t>(); }

}  // namespace
