// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: shapes

// DeviceSegmentedMergeSort sorts each segment by itself, stably, and writes nothing else. Tiles are so small that small
// inputs take all paths.
#include <strata/device/device_segmented_merge_sort.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "device/merge_sort/segmented_merge_sort_support.cuh"
#include "device/schedules.cuh"

namespace {

using namespace merge_sort_test;

/// Lengths around all limits of the tilings, scattered, with gaps.
const segment_shape& mixed() {
  static const segment_shape shape =
      scattered(consecutive("mixed", {0,  1,  2,   3,   4,   7,   16,  17,  24, 25,  0, 63, 95,
                                      96, 97, 191, 192, 193, 383, 384, 385, 1,  600, 2, 0,  if_small(1200, 5000),
                                      30, 40, 100}),
                1);
  return shape;
}

const std::vector<segment_shape>& shapes() {
  static const std::vector<segment_shape> all = [] {
    std::mt19937_64 bits = strata_test::random_bits(5);
    using lengths_of = std::vector<offset>;
    std::vector<segment_shape> some = {mixed()};
    for (const offset length : {0, 1, 33, 192, 193, 1536, 1537, if_small(2500, 40000)}) {
      some.push_back(consecutive("one_of_" + std::to_string(length), {length}));
    }
    some.push_back(consecutive("all_empty", lengths_of(700)));
    some.push_back(scattered(consecutive("around_powers", lengths_around_powers(if_small(64, 2048))), 2));
    lengths_of lengths;
    for (int length = 0; length <= 100; ++length) lengths.push_back(length);
    some.push_back(consecutive("0_to_100", lengths));
    for (const offset length : {1, 2, 3, 8, 20, 23, 50, 150}) {
      lengths.assign(if_small<std::size_t>(40, 300), length);
      some.push_back(consecutive("many_of_" + std::to_string(length), lengths));
    }
    // Lengths proportional to 1 / rank, in random order.
    lengths.clear();
    for (offset rank = 1; rank <= if_small(200, 2000); ++rank) {
      lengths.push_back(if_small(1000, 20000) / rank);
    }
    std::shuffle(lengths.begin(), lengths.end(), bits);
    some.push_back(scattered(consecutive("power_law", lengths), 3));
    lengths.assign(if_small<std::size_t>(1000, 30000), 0);
    for (offset& length : lengths) length = static_cast<offset>(bits() % 4);
    some.push_back(scattered(consecutive("very_many_tiny", lengths), 4));
    // None is longer than what one thread sorts, first side by side, then scattered. Then one is longer.
    for (offset& length : lengths) length = static_cast<offset>(bits() % 3);
    some.push_back(consecutive("no_longer_than_a_thread", lengths));
    some.push_back(scattered(some.back(), 7));
    lengths[lengths.size() / 2] = 3;
    some.push_back(consecutive("one_longer_than_a_thread", lengths));
    // Segments for threads that sort more items.
    for (const std::uint64_t most : {4, 5}) {
      for (offset& length : lengths) length = static_cast<offset>(bits() % (most + 1));
      some.push_back(consecutive("up_to_" + std::to_string(most), lengths));
    }
    // Segments for two threads each; then one for three threads.
    for (offset& length : lengths) length = static_cast<offset>(bits() % 9);
    some.push_back(consecutive("no_longer_than_two_threads", lengths));
    some.push_back(scattered(some.back(), 8));
    lengths[lengths.size() / 2] = 9;
    some.push_back(consecutive("one_longer_than_two_threads", lengths));
    std::vector<offset> mostly_empty(lengths.size());
    for (offset& length : mostly_empty) {
      if (bits() % 10 == 0) length = static_cast<offset>(bits() % 16);
    }
    some.push_back(consecutive("mostly_empty", mostly_empty));
    lengths[lengths.size() / 2] = 7;
    some.push_back(consecutive("one_longer_than_a_thread", lengths));
    lengths.resize(300);
    lengths[123] = if_small(2000, 20000);
    some.push_back(scattered(consecutive("one_huge_among_tiny", lengths), 5));
    // Few segments, most of them tiny.
    some.push_back(scattered(consecutive("few", {if_small(1500, 9000), 1, 3, 0, 20, 2}), 6));
    return some;
  }();
  return all;
}

TEST(device_segmented_merge_sort, keys_in_segments_of_any_shape) {
  bool is_in_place = false;
  for (const segment_shape& shape : shapes()) {
    ASSERT_NO_FATAL_FAILURE(expect_sorts_keys<std::int32_t>(shape, pattern::random, is_in_place, is_less{}));
    is_in_place = !is_in_place;
  }
}

#if !STRATA_TEST_SMALL
// A level has more tiles than all blocks plan at once, so that blocks take tickets for further tiles.
TEST(device_segmented_merge_sort, blocks_that_merge_many_tiles) {
  const segment_shape shape = consecutive("one_of_many_tiles", {STRATA_HOST_SIMT ? 800003 : 6500003, 5, 700});
  ASSERT_NO_FATAL_FAILURE(expect_sorts_keys<std::uint32_t>(shape, pattern::random, false, is_less{}));
}
#endif

TEST(device_segmented_merge_sort, keys_of_any_pattern) {
  for (const pattern how : all_patterns) {
    ASSERT_NO_FATAL_FAILURE(expect_sorts_keys<std::int32_t>(mixed(), how, false, is_greater{}));
    ASSERT_NO_FATAL_FAILURE(expect_sorts_keys<std::int32_t>(mixed(), how, true, is_less{}));
  }
}

template <class Key>
void expect_sorts_keys_of() {
  for (const bool is_in_place : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(expect_sorts_keys<Key>(mixed(), pattern::few, is_in_place, is_less{}));
    if (is_small()) continue;
    ASSERT_NO_FATAL_FAILURE(expect_sorts_keys<Key>(mixed(), pattern::random, is_in_place, is_greater{}));
  }
}

TEST(device_segmented_merge_sort, keys_of_any_size) {
  expect_sorts_keys_of<std::uint8_t>();
  expect_sorts_keys_of<record16>();
  expect_sorts_keys_of<record12>();
#if !STRATA_TEST_FEW_TYPES
  expect_sorts_keys_of<std::uint16_t>();
  expect_sorts_keys_of<double>();
  expect_sorts_keys_of<record40>();
#endif
}

// ------------------------------------------------------------------ pairs

TEST(device_segmented_merge_sort, pairs_are_stable_in_segments_of_any_shape) {
  bool is_in_place = false;
  for (const segment_shape& shape : shapes()) {
    ASSERT_NO_FATAL_FAILURE((expect_stable_pairs<std::uint32_t, std::uint32_t>(shape, pattern::few, is_in_place)));
    is_in_place = !is_in_place;
  }
  for (const pattern how : all_patterns) {
    ASSERT_NO_FATAL_FAILURE((expect_stable_pairs<std::uint32_t, std::uint32_t>(mixed(), how, false)));
  }
}

TEST(device_segmented_merge_sort, pairs_of_any_sizes) {
  ASSERT_NO_FATAL_FAILURE((expect_stable_pairs<std::uint8_t, record40>(mixed(), pattern::few, true)));
#if !STRATA_TEST_FEW_TYPES
  ASSERT_NO_FATAL_FAILURE((expect_stable_pairs<std::uint64_t, std::uint16_t>(mixed(), pattern::few, false)));
  ASSERT_NO_FATAL_FAILURE((expect_stable_pairs<record12, double>(mixed(), pattern::few, true)));
  ASSERT_NO_FATAL_FAILURE((expect_stable_pairs<record40, record40>(mixed(), pattern::few, false)));
#endif
}

TEST(device_segmented_merge_sort, under_any_schedule) {
  const segment_shape shape = scattered(consecutive("some", {600, 5, 0, 1100, 40, 32, 193, 300, 2, 513, 1}), 21);
  under_all_schedules([&](std::size_t i) {
    expect_stable_pairs<std::uint32_t, std::uint32_t>(shape, i % 2 == 0 ? pattern::few : pattern::random, i % 3 == 0);
  });
}

// ------------------------------------------------------------------ comparators that are none

TEST(device_segmented_merge_sort, by_no_ordering) {
  expect_harmless<tiny_tiles>(mixed(), always{true});
  expect_harmless<tiny_tiles>(mixed(), always{false});
  expect_harmless<tiny_tiles>(mixed(), is_odd_less{});
}

#if !STRATA_DEBUG
// Segments that have no room in temporary storage are not sorted, and debug builds say so. Guard bands show writes
// behind the storage.
TEST(device_segmented_merge_sort, leaves_what_has_no_room_in_storage) {
  const segment_shape shape = consecutive("too_many", {5, 600, 7, 600, 600, 9});
  for (const auto& [num_items, left_out] : std::vector<std::pair<int, int>>{{300, 3}, {700, 2}}) {
    EXPECT_EQ(600 * left_out, items_left_out<tiny_tiles>(shape, num_items)) << num_items;
  }
}
#endif

// ------------------------------------------------------------------ graphs

TEST(device_segmented_merge_sort, a_graph_may_be_replayed_with_other_segments) {
  using Key = std::uint32_t;
  const std::size_t count = 60;
  const std::size_t most = if_small<std::size_t>(6000, 30000);
  device_vector<Key> in(most), out(most), values_in(most), values_out(most);
  const std::vector<offset> unset(count);
  device_offsets offsets(segment_shape{"unset", unset, unset});
  const auto call = [&](void* storage, std::size_t& bytes, cudaStream_t on) {
    return tuned_sort<tiny_tiles, Key, Key>(
        storage, bytes, in.data(), out.data(), values_in.data(), values_out.data(),
        strata::detail::segments_of(most, count, offsets.begins.data(), offsets.ends.data()), is_less{}, on);
  };
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(call(nullptr, bytes, nullptr));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t on) { return call(storage.data(), bytes, on); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  EXPECT_LE(recorded.nodes(), 4u);
  const stream on;
  std::mt19937_64 bits = strata_test::random_bits(3);
  for (unsigned i = 0; i < if_small(4u, 12u); ++i) {
    std::vector<offset> lengths(count);
    if (i % 4 != 3) {
      for (offset& length : lengths) length = static_cast<offset>(bits() % (i % 4 == 0 ? 3 : 60));
    }
    if (i % 4 != 0) lengths[bits() % count] = static_cast<offset>(most - 4200);
    const segment_shape shape = scattered(consecutive("replay", lengths), i);
    ASSERT_LE(shape.items(), most);
    const std::vector<Key> keys = make_keys<Key>(most, pattern::few, i);
    const std::vector<Key> values = make_values<Key>(most);
    const std::vector<Key> before(most, 99);
    in.assign(keys);
    values_in.assign(values);
    out.assign(before);
    values_out.assign(before);
    offsets.begins.assign(shape.begins);
    offsets.ends.assign(shape.ends);
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    SCOPED_TRACE(testing::Message() << "replay " << i);
    const auto order = expected_order(shape, keys, is_less{});
    ASSERT_NO_FATAL_FAILURE(expect_gathered(keys, order, out.to_host(), before));
    ASSERT_NO_FATAL_FAILURE(expect_gathered(values, order, values_out.to_host(), before));
  }
}

}  // namespace
