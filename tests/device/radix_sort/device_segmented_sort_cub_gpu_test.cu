// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceSegmentedSort gives the same results as CUB's.
#include <strata/device/device_segmented_sort.cuh>

#include <cub/device/device_segmented_sort.cuh>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "device/device_call.cuh"
#include "device/segment_shapes.cuh"

namespace {

using namespace device_test;
using ours = strata::DeviceSegmentedSort;
using theirs = cub::DeviceSegmentedSort;
using Value = std::uint32_t;

/// Contiguous segments, as CUB requires them.
std::vector<segment_shape> shapes() {
  std::vector<segment_shape> all;
  for (const segment_shape& shape : segment_shapes()) {
    if (shape.name.find("scattered") == std::string::npos) all.push_back(shape);
  }
  std::mt19937_64 bits = strata_test::random_bits(8);
  std::vector<std::int64_t> lengths(3000);
  for (std::int64_t& length : lengths) length = static_cast<std::int64_t>(bits() % 2000);
  lengths[7] = 3000000;
  all.push_back(consecutive("up_to_2000", lengths));
  return all;
}

/// Keys and values after `sort(library, storage, bytes, keys, in_buffers, values_in, values_out, ...)`. `keys` is a
/// DoubleBuffer of the library, whose first buffer holds the input. `sort` sets `in_buffers` if it passes `keys` as a
/// DoubleBuffer.
template <class Key, class Buffer, class Sort, class Library>
std::pair<std::vector<Key>, std::vector<Value>> sorted_by(Library library, Buffer keys, const segment_shape& shape,
                                                          const std::vector<Key>& unsorted, const Sort& sort) {
  std::vector<Value> places(unsorted.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<Value>(i);
  device_vector<Key> in(unsorted), out(unsorted);
  const device_vector<Value> values_in(places);
  device_vector<Value> values_out(places);
  const device_vector<int> begins(std::vector<int>(shape.begins.begin(), shape.begins.end()));
  const device_vector<int> ends(std::vector<int>(shape.ends.begin(), shape.ends.end()));
  keys.d_buffers[0] = in.data();
  keys.d_buffers[1] = out.data();
  bool in_buffers = false;
  EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return sort(library, storage, bytes, keys, in_buffers, values_in.data(), values_out.data(),
                static_cast<int>(unsorted.size()), static_cast<int>(shape.segments()),
                static_cast<const int*>(begins.data()), static_cast<const int*>(ends.data()));
  }));
  const bool is_first = in_buffers && keys.Current() == in.data();
  return {(is_first ? in : out).to_host(), values_out.to_host()};
}

template <class Key, class Sort>
void expect_the_same(const Sort& sort) {
  for (const segment_shape& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    // Many keys are equal, so that only a stable sort gives CUB's values.
    const auto keys = random_integers<Key>(shape.items(), 0, 500);
    const auto expected = sorted_by(theirs{}, cub::DoubleBuffer<Key>{}, shape, keys, sort);
    const auto actual = sorted_by(ours{}, strata::DoubleBuffer<Key>{}, shape, keys, sort);
    ASSERT_TRUE(expected.first == actual.first);
    ASSERT_TRUE(expected.second == actual.second);
  }
}

TEST(device_segmented_sort_cub, pairs) {
  expect_the_same<std::uint32_t>([](auto library, void* storage, std::size_t& bytes, auto& keys, bool&, auto* values_in,
                                    auto* values_out, auto... rest) {
    return decltype(library)::StableSortPairs(storage, bytes, keys.d_buffers[0], keys.d_buffers[1], values_in,
                                              values_out, rest...);
  });
  expect_the_same<double>([](auto library, void* storage, std::size_t& bytes, auto& keys, bool&, auto* values_in,
                             auto* values_out, auto... rest) {
    return decltype(library)::StableSortPairsDescending(storage, bytes, keys.d_buffers[0], keys.d_buffers[1], values_in,
                                                        values_out, rest...);
  });
}

TEST(device_segmented_sort_cub, keys) {
  expect_the_same<float>(
      [](auto library, void* storage, std::size_t& bytes, auto& keys, bool&, auto*, auto*, auto... rest) {
        return decltype(library)::SortKeysDescending(storage, bytes, keys.d_buffers[0], keys.d_buffers[1], rest...);
      });
}

TEST(device_segmented_sort_cub, keys_in_two_buffers) {
  expect_the_same<std::uint16_t>(
      [](auto library, void* storage, std::size_t& bytes, auto& keys, bool& in_buffers, auto*, auto*, auto... rest) {
        in_buffers = true;
        return decltype(library)::SortKeys(storage, bytes, keys, rest...);
      });
}

}  // namespace
