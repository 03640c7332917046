// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Radix sorts whose number of items lies in device memory.
#include <strata/device/device_radix_sort.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "device/future_count.cuh"

namespace device_future_count_test {

using strata::DeviceRadixSort;

/// These sizes are sorted by one block, by a cluster, and in passes.
TEST(device_future_count, radix_sorts) {
  for (const std::size_t n : max_counts(30001)) {
    EXPECT_SAME(n, DeviceRadixSort::SortKeys, in, out, count, 0, 32);
    EXPECT_SAME(n, DeviceRadixSort::SortKeysDescending, in, out, count, 3, 3);
    EXPECT_SAME(n, DeviceRadixSort::ArgSort, in, out, count, 0, 32);
  }
}

TEST(device_future_count, radix_sorts_of_pairs) {
  for (const std::size_t n : max_counts(30001)) {
    EXPECT_SAME(n, DeviceRadixSort::SortPairs, in, out, values, values_out, count, 0, 32);
    EXPECT_SAME(n, DeviceRadixSort::SortPairsDescending, in, out, values, values_out, count, 1, 19);
  }
}

// With a count that the host knows, keys of one byte are sorted by counting. With a FutureCount, another algorithm
// sorts them.
TEST(device_future_count, radix_sorts_of_small_keys) {
  for (const std::size_t n : max_counts(30001)) {
    expect_same("bytes", n, [](arrays& a, auto count) {
      return [&a, count](void* temp, std::size_t& bytes, cudaStream_t on) {
        const auto* const in = reinterpret_cast<const std::uint8_t*>(a.in.data());
        auto* const out = reinterpret_cast<std::uint8_t*>(a.out.data());
        return DeviceRadixSort::SortKeys(temp, bytes, in, out, count, 0, 8, on);
      };
    });
  }
}

TEST(device_future_count, radix_sorts_in_two_buffers_select_the_one_with_the_result) {
  for (const std::size_t n : max_counts(30001)) {
    for (const int end_bit : {8, 32}) {  // an odd number of passes, an even one
      arrays all(n);
      const FutureCount<std::int64_t> future(all.num_items.data(), n);
      for (const std::size_t count : {n, n / 2, n / 300, std::size_t{0}}) {
        SCOPED_TRACE(std::to_string(count) + " of at most " + std::to_string(n) + ", " + std::to_string(end_bit));
        all.reset();
        all.set_count(static_cast<std::int64_t>(count));
        strata::DoubleBuffer<item> keys(all.in.data(), all.out.data());
        ASSERT_CUDA_SUCCESS(in_two_phases([&](void* temp, std::size_t& bytes) {
          return DeviceRadixSort::SortKeys(temp, bytes, keys, future, 0, end_bit);
        }));
        ASSERT_EQ(keys.Current(), end_bit == 8 ? all.out.data() : all.in.data());
        std::vector<item> expected(all.host.begin(), all.host.begin() + static_cast<std::ptrdiff_t>(count));
        std::sort(expected.begin(), expected.end());
        std::vector<item> sorted = (end_bit == 8 ? all.out : all.in).to_host();
        sorted.resize(count);
        ASSERT_TRUE(expected == sorted);
      }
    }
  }
}

}  // namespace device_future_count_test
