// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceSegmentedRadixSort writes the same bytes as CUB's.
#include <strata/device/device_segmented_radix_sort.cuh>

#include <cub/device/device_segmented_radix_sort.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "device/device_call.cuh"
#include "device/segment_shapes.cuh"

namespace {

using namespace device_test;
using ours = strata::DeviceSegmentedRadixSort;
using theirs = cub::DeviceSegmentedRadixSort;

/// Contiguous segments, as CUB requires them. Their offsets fit in 32 bits, because CUB 3.0 takes no larger ones.
std::vector<segment_shape> shapes() {
  std::vector<segment_shape> all;
  for (const segment_shape& shape : segment_shapes()) {
    if (shape.name.find("scattered") == std::string::npos) all.push_back(shape);
  }
  std::mt19937_64 bits = strata_test::random_bits(8);
  std::vector<std::int64_t> lengths(if_small<std::size_t>(1 << 14, 1 << 20) + 3);
  for (std::int64_t& length : lengths) length = static_cast<std::int64_t>(bits() % 8);
  all.push_back(consecutive("up_to_7", lengths));
  lengths.resize(if_small<std::size_t>(300, 3000));
  for (std::int64_t& length : lengths) length = static_cast<std::int64_t>(bits() % 2000);
  lengths[7] = if_small(100000, 3000000);
  all.push_back(consecutive("up_to_2000", lengths));
  return all;
}

template <class T>
void expect_same_bytes(const std::vector<T>& expected, const std::vector<T>& actual) {
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(0, std::memcmp(&expected[i], &actual[i], sizeof(T))) << "item " << i;
  }
}

/// Calls `sort(library, storage, bytes, keys_in, keys_out, values_in, values_out, ...)` for both libraries, and
/// compares results.
template <class Key, class Value, class Sort>
void expect_the_same(const segment_shape& shape, const std::vector<Key>& keys, const Sort& sort) {
  const std::size_t size = shape.items();
  std::vector<Value> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<Value>(i);
  const device_vector<Key> in(keys);
  const device_vector<Value> values_in(values);
  const std::vector<int> begins(shape.begins.begin(), shape.begins.end());
  const std::vector<int> ends(shape.ends.begin(), shape.ends.end());
  const device_vector<int> d_begins(begins), d_ends(ends);
  const auto with = [&](auto library) {
    device_vector<Key> out(keys);
    device_vector<Value> values_out(values);
    EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return sort(library, storage, bytes, in.data(), out.data(), values_in.data(), values_out.data(),
                  static_cast<int>(size), static_cast<int>(shape.segments()), static_cast<const int*>(d_begins.data()),
                  static_cast<const int*>(d_ends.data()));
    }));
    return std::pair(out.to_host(), values_out.to_host());
  };
  const auto expected = with(theirs{});
  const auto actual = with(ours{});
  expect_same_bytes(expected.first, actual.first);
  expect_same_bytes(expected.second, actual.second);
}

// Many keys are equal, so that only a stable sort gives CUB's values.
TEST(device_segmented_radix_sort_cub, pairs) {
  for (const segment_shape& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    const auto keys = random_integers<std::uint32_t>(shape.items(), 0, 5000);
    expect_the_same<std::uint32_t, std::uint32_t>(shape, keys,
                                                  [](auto library, void* storage, std::size_t& bytes, auto... rest) {
                                                    return decltype(library)::SortPairs(storage, bytes, rest...);
                                                  });
    expect_the_same<std::uint32_t, std::uint32_t>(
        shape, keys, [](auto library, void* storage, std::size_t& bytes, auto... rest) {
          return decltype(library)::SortPairsDescending(storage, bytes, rest..., 1, 11);
        });
  }
}

TEST(device_segmented_radix_sort_cub, keys) {
  for (const segment_shape& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    expect_the_same<std::int64_t, std::uint8_t>(
        shape, random_integers<std::int64_t>(shape.items(), -100000000000, 100000000000),
        [](auto library, void* storage, std::size_t& bytes, auto* in, auto* out, auto*, auto*, auto... rest) {
          return decltype(library)::SortKeys(storage, bytes, in, out, rest...);
        });
    expect_the_same<float, std::uint8_t>(
        shape, random_integers<float>(shape.items(), -1000, 1000),
        [](auto library, void* storage, std::size_t& bytes, auto* in, auto* out, auto*, auto*, auto... rest) {
          return decltype(library)::SortKeysDescending(storage, bytes, in, out, rest...);
        });
  }
}

/// Sorts pairs in DoubleBuffers by both libraries. Each value is its key.
void expect_the_same_in_buffers(const segment_shape& shape, int end_bit) {
  using Key = std::uint32_t;
  const std::vector<Key> keys = random_integers<Key>(shape.items(), 0, 1 << 30);
  const std::vector<int> begins(shape.begins.begin(), shape.begins.end());
  const std::vector<int> ends(shape.ends.begin(), shape.ends.end());
  const device_vector<int> d_begins(begins), d_ends(ends);
  const auto with = [&](auto library, auto d_keys, auto d_values) {
    device_vector<Key> a(keys), b(keys.size()), c(keys), d(keys.size());
    d_keys.d_buffers[0] = a.data();
    d_keys.d_buffers[1] = b.data();
    d_values.d_buffers[0] = c.data();
    d_values.d_buffers[1] = d.data();
    EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return decltype(library)::SortPairs(storage, bytes, d_keys, d_values, static_cast<int>(keys.size()),
                                          static_cast<int>(shape.segments()), static_cast<const int*>(d_begins.data()),
                                          static_cast<const int*>(d_ends.data()), 0, end_bit);
    }));
    EXPECT_EQ(d_keys.selector, d_values.selector);
    return std::pair((d_keys.Current() == a.data() ? a : b).to_host(),
                     (d_values.Current() == c.data() ? c : d).to_host());
  };
  const auto expected = with(theirs{}, cub::DoubleBuffer<Key>{}, cub::DoubleBuffer<Key>{});
  const auto actual = with(ours{}, strata::DoubleBuffer<Key>{}, strata::DoubleBuffer<Key>{});
  expect_same_bytes(expected.first, actual.first);
  expect_same_bytes(expected.second, actual.second);
}

TEST(device_segmented_radix_sort_cub, between_two_buffers) {
  for (const segment_shape& shape : shapes()) {
    for (const int end_bit : {5, 16, 32}) {
      SCOPED_TRACE(testing::Message() << shape << ", bits 0 to " << end_bit);
      expect_the_same_in_buffers(shape, end_bit);
    }
  }
}

}  // namespace
