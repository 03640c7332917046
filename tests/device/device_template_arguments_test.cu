// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Explicit template arguments have the same order as in CUB. With them, size queries of sorts may pass null pointers.
#include <strata/device/device_histogram.cuh>
#include <strata/device/device_partition.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_segmented_radix_sort.cuh>
#include <strata/device/device_segmented_sort.cuh>
#include <strata/device/device_select.cuh>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device_call.cuh"

namespace {

using namespace device_test;
using strata::DeviceHistogram;
using strata::DevicePartition;
using strata::DeviceRadixSort;
using strata::DeviceScan;
using strata::DeviceSegmentedRadixSort;
using strata::DeviceSegmentedSort;
using strata::DeviceSelect;
using Key = std::uint32_t;
using Value = std::uint16_t;

constexpr int num_items = 1000;
constexpr int num_segments = 10;

/// Makes the size query `call(bytes)` and returns the size.
template <class Call>
std::size_t bytes_of(const Call& call) {
  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(call(bytes));
  EXPECT_GT(bytes, 0u);
  return bytes;
}

TEST(device_template_arguments, radix_sorts) {
  const device_vector<Key> keys(num_items);
  const device_vector<Value> values(num_items);
  device_vector<Key> keys_out(num_items);
  device_vector<Value> values_out(num_items);
  const auto expected = bytes_of([&](std::size_t& bytes) {
    return DeviceRadixSort::SortPairs(nullptr, bytes, keys.data(), keys_out.data(), values.data(), values_out.data(),
                                      num_items);
  });
  EXPECT_EQ(expected, bytes_of([](std::size_t& bytes) {
              return DeviceRadixSort::SortPairs<Key, Value>(nullptr, bytes, nullptr, nullptr, nullptr, nullptr,
                                                            num_items);
            }));
  EXPECT_EQ(expected, bytes_of([&](std::size_t& bytes) {
              return DeviceRadixSort::SortPairs<Key, Value, int>(nullptr, bytes, keys.data(), keys_out.data(),
                                                                 values.data(), values_out.data(), num_items);
            }));
  EXPECT_EQ(bytes_of([&](std::size_t& bytes) {
              return DeviceRadixSort::SortKeys(nullptr, bytes, keys.data(), keys_out.data(), num_items);
            }),
            bytes_of([](std::size_t& bytes) {
              return DeviceRadixSort::SortKeys<Key, int>(nullptr, bytes, nullptr, nullptr, num_items);
            }));
}

TEST(device_template_arguments, sorts_of_segments) {
  const int* const offsets = nullptr;
  EXPECT_EQ(bytes_of([&](std::size_t& bytes) {
              return DeviceSegmentedRadixSort::SortKeys<Key>(nullptr, bytes, nullptr, nullptr, num_items, num_segments,
                                                             offsets, offsets);
            }),
            bytes_of([](std::size_t& bytes) {
              return DeviceSegmentedRadixSort::SortKeys<Key, const int*, const int*>(
                  nullptr, bytes, nullptr, nullptr, num_items, num_segments, nullptr, nullptr);
            }));
  EXPECT_EQ(bytes_of([&](std::size_t& bytes) {
              return DeviceSegmentedSort::SortKeys<Key>(nullptr, bytes, nullptr, nullptr, num_items, num_segments,
                                                        offsets, offsets);
            }),
            bytes_of([](std::size_t& bytes) {
              return DeviceSegmentedSort::SortKeys<Key, const int*, const int*>(
                  nullptr, bytes, nullptr, nullptr, num_items, num_segments, nullptr, nullptr);
            }));
}

struct is_even {
  STRATA_HD bool operator()(Key key) const { return key % 2 == 0; }
};

TEST(device_template_arguments, scans_by_key_and_selections) {
  bytes_of([](std::size_t& bytes) {
    return DeviceScan::InclusiveSumByKey<const Key*, const Key*, Key*, strata::Equality, int>(
        nullptr, bytes, nullptr, nullptr, nullptr, num_items);
  });
  bytes_of([](std::size_t& bytes) {
    return DeviceSelect::If<const Key*, Key*, int*, is_even>(nullptr, bytes, nullptr, nullptr, nullptr, num_items,
                                                             is_even{});
  });
  bytes_of([](std::size_t& bytes) {
    return DevicePartition::If<const Key*, Key*, int*, is_even>(nullptr, bytes, nullptr, nullptr, nullptr, num_items,
                                                                is_even{});
  });
  bytes_of([](std::size_t& bytes) {
    return DevicePartition::If<const Key*, Key*, Key*, Key*, int*, is_even, is_even>(
        nullptr, bytes, nullptr, nullptr, nullptr, nullptr, nullptr, num_items, is_even{}, is_even{});
  });
}

TEST(device_template_arguments, histograms_of_array_objects) {
  using Samples = const unsigned char*;
  const std::array<int*, 2> histograms{};
  const std::array<int, 2> num_levels{5, 9}, lower{0, 0}, upper{4, 8};
  const std::array<const int*, 2> levels{};
  bytes_of([&](std::size_t& bytes) {
    return DeviceHistogram::MultiHistogramEven<3, 2, Samples, int, int, int>(nullptr, bytes, nullptr, histograms,
                                                                             num_levels, lower, upper, num_items);
  });
  bytes_of([&](std::size_t& bytes) {
    return DeviceHistogram::MultiHistogramRange<3, 2, Samples, int, int, int>(nullptr, bytes, nullptr, histograms,
                                                                              num_levels, levels, num_items);
  });
}

// ------------------------------------------------------------------ bits with a decomposer

struct its_number {
  STRATA_HD strata::RadixFields<Key&> operator()(Key& key) const { return {key}; }
};

TEST(device_template_arguments, indices_are_sorted_by_some_bits_of_the_fields) {
  const std::vector<Key> keys = random_integers<Key>(num_items, 0, 0xffffffffu);
  const device_vector<Key> in(keys);
  for (const bool is_descending : {false, true}) {
    device_vector<int> indices(num_items);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return is_descending
                 ? DeviceRadixSort::ArgSortDescending(storage, bytes, in.data(), indices.data(), num_items,
                                                      its_number{}, 4, 9)
                 : DeviceRadixSort::ArgSort(storage, bytes, in.data(), indices.data(), num_items, its_number{}, 4, 9);
    }));
    const std::vector<int> order = indices.to_host();
    const auto digit = [&](int i) {
      return keys[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] >> 4 & 31;
    };
    for (int i = 1; i < num_items; ++i) {
      const bool is_tie = digit(i - 1) == digit(i);
      ASSERT_TRUE(is_tie ? order[static_cast<std::size_t>(i - 1)] < order[static_cast<std::size_t>(i)]
                         : (digit(i - 1) > digit(i)) == is_descending)
          << i;
    }
  }
}

}  // namespace
