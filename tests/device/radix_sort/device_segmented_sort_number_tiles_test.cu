// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSegmentedSort where one block sorts each segment, with its numbers in registers.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "device/radix_sort/segmented_sort_support.cuh"

namespace {

using namespace segmented_sort_test;

template <class Key, class Value>
using numbers_hub = strata::segmented_sort_policy_hub<Key, Value>;
/// The library's rows: tiles of 4,096 items. A grid sorts longer segments. If `GridThreads` is 0, there is no grid, and
/// longer segments are queued.
template <class Key, class Value, int GridThreads>
struct number_tile_rows : numbers_hub<Key, Value>::template rows<typename numbers_hub<Key, Value>::merges::rows_900,
                                                                 typename numbers_hub<Key, Value>::digits::Policy900> {
  static constexpr strata::merge_sort_grid_tuning resident_grid{GridThreads, 9, 1};
};

template <bool IsDescending, class Key, class Value>
void expect_number_tiles(pattern how) {
  for (const segment_shape& shape : number_tile_shapes()) {
    expect_copies<IsDescending, Key, Value, strata::DeviceSegmentedSort>(shape, how);
    expect_copies<IsDescending, Key, Value, TunedDeviceSegmentedSort<one_policy_hub<number_tile_rows<Key, Value, 0>>>>(
        shape, how);
  }
}

TEST(device_segmented_sort_number_tiles, keys) {
  expect_number_tiles<true, float, NullType>(pattern::random);
  expect_number_tiles<false, std::uint32_t, NullType>(pattern::random);
}

TEST(device_segmented_sort_number_tiles, pairs) {
  expect_number_tiles<false, std::int16_t, std::uint32_t>(pattern::few);
  expect_number_tiles<true, float, std::int32_t>(pattern::random);
}

/// The high 20 bits of a word have one of `prefixes` values; a block sorts by these bits first. The low 12 bits are
/// random. In every 500 words, the first is the least possible word and the second the greatest.
template <class Key>
std::vector<Key> keys_of_few_prefixes(std::size_t count, unsigned prefixes) {
  std::vector<std::uint32_t> words = make_bits<std::uint32_t>(count, pattern::random);
  for (std::uint32_t& word : words) {
    word = (0x3f800 + word % prefixes) << 12 | (word >> 20);
  }
  for (std::size_t i = 0; i + 1 < count; i += 500) {
    words[i] = 0;
    words[i + 1] = ~0u;
  }
  std::vector<Key> keys(count);
  std::memcpy(static_cast<void*>(keys.data()), words.data(), count * sizeof(Key));
  return keys;
}

TEST(device_segmented_sort_number_tiles, keys_that_differ_in_low_bits) {
  const segment_shape shape = scattered(consecutive("prefixes", {2000, 4096, 1, 2500}), 53);
  // With these numbers of prefixes, a key has as many neighbours with its prefix as a thread compares with, fewer, or
  // more.
  for (const unsigned prefixes : {1u, 40u, 75u, 85u, 100u, 1000u, 30000u}) {
    SCOPED_TRACE(prefixes);
    expect_copies_of<false, std::uint32_t, std::uint32_t, strata::DeviceSegmentedSort>(
        shape, keys_of_few_prefixes<std::uint32_t>(shape.items(), prefixes));
    expect_copies_of<true, float, std::int32_t, strata::DeviceSegmentedSort>(
        shape, keys_of_few_prefixes<float>(shape.items(), prefixes));
    // NaNs, and zeros of both signs: equal keys with different bits must keep their order, even without values.
    std::vector<float> keys = keys_of_few_prefixes<float>(shape.items(), prefixes);
    for (std::size_t i = 0; i < keys.size(); i += 7) keys[i] = i % 2 == 0 ? -0.0f : 0.0f;
    expect_copies_of<false, float, NullType, strata::DeviceSegmentedSort>(shape, keys);
  }
}

TEST(device_segmented_sort_number_tiles, tuning_says_which_calls) {
  // On an H200.
  constexpr int multiprocessors = 132;
  constexpr strata::number_tile_tuning tuning = numbers_hub<float, NullType>::MaxPolicy::number_tile;
  const auto takes = [&](std::size_t segments, std::size_t mean, std::size_t more = 0) {
    return tuning.takes(segments * mean + more, segments, multiprocessors);
  };
  for (const std::size_t few : {std::size_t{1}, std::size_t{16}, std::size_t{264}}) {
    SCOPED_TRACE(few);
    EXPECT_FALSE(takes(few, 0));
    EXPECT_FALSE(takes(few, 511, few - 1));
    EXPECT_TRUE(takes(few, 512));
    EXPECT_TRUE(takes(few, 1200, few / 2));
    EXPECT_TRUE(takes(few, 4096));
    EXPECT_FALSE(takes(few, 4097));
  }
  for (const std::size_t many : {std::size_t{265}, std::size_t{1} << 20}) {
    SCOPED_TRACE(many);
    EXPECT_FALSE(takes(many, 512));
    EXPECT_FALSE(takes(many, 3584));
    EXPECT_TRUE(takes(many, 3585));
    EXPECT_FALSE(takes(many, 3585, 1)) << "of different lengths";
    EXPECT_TRUE(takes(many, 4096));
    EXPECT_FALSE(takes(many, 4097));
  }
  constexpr strata::number_tile_tuning never{512, 8, 2, 0};
  EXPECT_FALSE(never.takes(4096, 1, multiprocessors));
  EXPECT_FALSE(never.takes(1000 * 4096, 1000, multiprocessors));
}

/// Tiles of 256 items.
template <class Key, class Value>
struct small_number_tile_rows : number_tile_rows<Key, Value, 0> {
  static constexpr strata::number_tile_tuning number_tile{32, 8, 1, 2};
};

/// Segments of 240 items on average, enough of them that they are queued without a further kernel.
segment_shape many_rows() {
  std::vector<std::int64_t> sizes(1100, 240);
  for (std::size_t i = 0; i < 16; ++i) sizes[60 * i + 7] = 0;
  sizes[3] += 400;
  sizes[5] += 16 * 240 - 400;
  sizes[9] -= 1;
  sizes[10] += 1;
  return consecutive("many_rows", sizes);
}

TEST(device_segmented_sort_number_tiles, of_many_segments) {
  const segment_shape shape = many_rows();
  ASSERT_TRUE((small_number_tile_rows<float, NullType>::number_tile.takes(
      shape.items(), static_cast<std::size_t>(shape.segments()), 132)));
  expect_copies<true, float, NullType,
                TunedDeviceSegmentedSort<one_policy_hub<small_number_tile_rows<float, NullType>>>>(shape,
                                                                                                   pattern::random);
  using PairSort = TunedDeviceSegmentedSort<one_policy_hub<small_number_tile_rows<std::int32_t, std::uint32_t>>>;
  expect_copies<false, std::int32_t, std::uint32_t, PairSort>(shape, pattern::few);
}

}  // namespace
