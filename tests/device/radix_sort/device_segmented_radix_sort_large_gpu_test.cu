// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Radix sorts of a segment of more items than 31 bits can count, and of as many long segments as the list has room for,
// checked on the device.
#include <strata/core/launcher.cuh>
#include <strata/device/device_segmented_radix_sort.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device_call.cuh"
#include "device/large_arrays.cuh"

namespace {

using namespace device_test;
using strata::DeviceSegmentedRadixSort;
using offset = std::int64_t;

void expect_stable(std::size_t count, const std::vector<offset>& borders) {
  using Key = std::uint8_t;
  const array<Key> in(count), out(count);
  const array<std::uint32_t> values(count), values_out(count);
  SKIP_UNLESS(in.data() != nullptr && out.data() != nullptr && values.data() != nullptr &&
              values_out.data() != nullptr);
  run(fill_keys<Key>, in.data(), count);
  run(fill_places, values.data(), count);
  const device_vector<offset> d_borders(borders);
  SKIP_UNLESS(ran([&](void* storage, std::size_t& bytes) {
    const Key* const keys = in.data();
    const std::uint32_t* const places = values.data();
    const offset* const begins = d_borders.data();
    return DeviceSegmentedRadixSort::SortPairs(storage, bytes, keys, out.data(), places, values_out.data(), count,
                                               borders.size() - 1, begins, begins + 1);
  }));
  counter wrong;
  for (std::size_t s = 0; s + 1 < borders.size(); ++s) {
    const auto first = static_cast<std::size_t>(borders[s]), end = static_cast<std::size_t>(borders[s + 1]);
    run(count_wrong_pairs, static_cast<const Key*>(out.data() + first),
        static_cast<const std::uint32_t*>(values_out.data() + first), first, end, wrong.data());
  }
  EXPECT_EQ(0u, wrong.get());
}

TEST(device_segmented_radix_sort_large, a_segment_beyond_31_bits_is_stable) {
  const offset count = (offset{1} << 31) + 300000;
  expect_stable(static_cast<std::size_t>(count), {0, 5, 40005, count - 150000, count});
}

TEST(device_segmented_radix_sort_large, very_many_long_segments) {
  std::vector<offset> borders = {0};
  for (int s = 0; s < 2000; ++s) borders.push_back(borders.back() + 65536 + s % 3);
  expect_stable(static_cast<std::size_t>(borders.back()), borders);
}

}  // namespace
