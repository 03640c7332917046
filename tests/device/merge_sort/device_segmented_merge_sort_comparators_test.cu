// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceSegmentedMergeSort with the library's own tilings: how often it calls a comparator, what it does if the
// comparator is not an ordering, and that equal keys keep their order.
#include <strata/device/device_segmented_merge_sort.cuh>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/merge_sort/segmented_merge_sort_support.cuh"

namespace {

using namespace merge_sort_test;
using strata::DeviceSegmentedMergeSort;

/// Segments of one length, side by side, for several lengths; and segments of many lengths.
std::vector<segment_shape> shapes() {
  std::vector<segment_shape> all;
  const auto alike = [&all](offset length, std::size_t count) {
    all.push_back(
        consecutive(std::to_string(count) + "_of_" + std::to_string(length), std::vector<offset>(count, length)));
  };
  // Mean lengths for all sizes of tiles.
  for (const offset length : {1, 2, 8, 20, 32, 100}) alike(length, if_small<std::size_t>(40, 3000));
  for (const offset length : {500, 2000}) alike(length, if_small<std::size_t>(3, 300));
  for (const offset length : {6400, 6500, if_small(14000, 13000)}) {
    alike(length, if_small<std::size_t>(1, 20));
  }
  alike(if_small(30000, 1 << 20), 1);
  std::vector<offset> lengths = {0, 3, if_small(7000, 200000), 1, 9, 30, 0, 700, 1500, 2, 4000};
  lengths.resize(if_small<std::size_t>(40, 2000), 5);
  all.push_back(consecutive("mixed", lengths));
  return all;
}

// ------------------------------------------------------------------ calls

struct counting_is_less {
  unsigned long long* calls;
  STRATA_D bool operator()(const std::uint32_t& a, const std::uint32_t& b) const {
    atomicAdd(calls, 1ull);
    return a < b;
  }
};

/// The most calls that the class's comment allows: each segment counts as if it were filled up to a multiple of 25
/// items.
double most_calls(const segment_shape& shape) {
  double sum = 0;
  for (std::size_t s = 0; s < shape.begins.size(); ++s) {
    const offset length = shape.ends[s] - shape.begins[s];
    if (length < 2) continue;
    const auto items = static_cast<double>((length + 24) / 25 * 25);
    sum += items * (13 + 1.5 * std::log2(items));
  }
  return sum;
}

TEST(device_segmented_merge_sort_comparators, calls) {
  for (const segment_shape& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    const auto keys = make_keys<std::uint32_t>(shape.items(), pattern::random);
    const device_offsets offsets(shape);
    device_vector<std::uint32_t> in(keys);
    device_vector<unsigned long long> calls(std::vector<unsigned long long>{0});
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return DeviceSegmentedMergeSort::SortKeys(storage, bytes, in.data(), items_of(shape), shape.segments(),
                                                offsets.begins.data(), offsets.ends.data(),
                                                counting_is_less{calls.data()});
    }));
    expect_gathered(keys, expected_order(shape, keys, is_less{}), in.to_host(), keys);
    EXPECT_LE(static_cast<double>(calls.to_host()[0]), most_calls(shape));
  }
}

// ------------------------------------------------------------------ no ordering

/// Answers each call at random.
struct tosses_a_coin {
  unsigned long long* calls;
  template <class T>
  STRATA_D bool operator()(const T&, const T&) const {
    const unsigned long long number = atomicAdd(calls, 1ull) * 0x9e3779b97f4a7c15ull;
    return ((number ^ (number >> 29)) * 0xbf58476d1ce4e5b9ull >> 63) != 0;
  }
};
struct answers {
  bool answer;
  template <class T>
  STRATA_D bool operator()(const T&, const T&) const {
    return answer;
  }
};

/// Expects that a sort ends, and writes nothing outside of segments. Arrays and storage have guard bands.
template <class Key, class Compare>
void expect_harmless(const segment_shape& shape, Compare compare) {
  SCOPED_TRACE(testing::Message() << shape << ", bytes " << sizeof(Key));
  const std::vector<Key> keys = make_keys<Key>(shape.items(), pattern::random);
  const auto values = make_values<std::uint32_t>(shape.items());
  const device_offsets offsets(shape);
  device_vector<Key> in(keys);
  device_vector<std::uint32_t> values_in(values);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceSegmentedMergeSort::SortPairs(storage, bytes, in.data(), values_in.data(), items_of(shape),
                                               shape.segments(), offsets.begins.data(), offsets.ends.data(), compare);
  }));
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceSegmentedMergeSort::SortKeys(storage, bytes, in.data(), items_of(shape), shape.segments(),
                                              offsets.begins.data(), offsets.ends.data(), compare);
  }));
  const std::vector<std::size_t> order = expected_order(shape, values, is_less{});
  const std::vector<std::uint32_t> moved = values_in.to_host();
  const std::vector<Key> out = in.to_host();
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != nowhere) continue;
    ASSERT_EQ(values[i], moved[i]) << i;
    ASSERT_EQ(number_of(keys[i]), number_of(out[i])) << i;
  }
}

TEST(device_segmented_merge_sort_comparators, that_are_no_ordering) {
  device_vector<unsigned long long> calls(std::vector<unsigned long long>{0});
  for (const segment_shape& shape : shapes()) {
    const segment_shape with_gaps = scattered(shape, 3);
    ASSERT_NO_FATAL_FAILURE(expect_harmless<std::uint32_t>(with_gaps, tosses_a_coin{calls.data()}));
    ASSERT_NO_FATAL_FAILURE(expect_harmless<std::uint32_t>(with_gaps, answers{true}));
    ASSERT_NO_FATAL_FAILURE(expect_harmless<std::uint32_t>(with_gaps, answers{false}));
  }
  const segment_shape mixed = scattered(shapes().back(), 4);
  ASSERT_NO_FATAL_FAILURE(expect_harmless<record16>(mixed, tosses_a_coin{calls.data()}));
}

// ------------------------------------------------------------------ stability

TEST(device_segmented_merge_sort_comparators, with_37_keys_values_keep_their_order) {
  for (const segment_shape& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    const auto keys = make_keys<std::uint32_t>(shape.items(), pattern::few);
    const auto values = make_values<std::uint32_t>(shape.items());
    const device_offsets offsets(shape);
    device_vector<std::uint32_t> in(keys), values_in(values);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return DeviceSegmentedMergeSort::SortPairs(storage, bytes, in.data(), values_in.data(), items_of(shape),
                                                 shape.segments(), offsets.begins.data(), offsets.ends.data(),
                                                 is_less{});
    }));
    const auto order = expected_order(shape, keys, is_less{});
    ASSERT_NO_FATAL_FAILURE(expect_gathered(keys, order, in.to_host(), keys));
    ASSERT_NO_FATAL_FAILURE(expect_gathered(values, order, values_in.to_host(), values));
  }
}

}  // namespace
