// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSegmentedMergeSort in calls of few items, where one resident grid sorts all that the first kernel leaves.
#include <strata/device/device_segmented_merge_sort.cuh>
#include <strata/device/device_segmented_sort.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "device/merge_sort/segmented_merge_sort_support.cuh"
#include "device/schedules.cuh"

namespace {

using namespace merge_sort_test;
using lengths_of = std::vector<offset>;

/// A grid with tiles of `Threads` x 3 items. Many of its blocks are resident, so that they hold many tiles: up to 63 on
/// the host back end.
template <int Threads>
struct small_grid {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy, tiny_tiles::Policy> {
    static constexpr strata::merge_sort_grid_tuning resident_grid{Threads, 3, 16};
  };
  using MaxPolicy = Policy;
};
using grid = small_grid<32>;
constexpr offset tile = 96;
/// A grid whose tile is larger than the tiles of other kernels.
using wide_grid = small_grid<128>;

/// `grid` for DeviceSegmentedSort, with rows that leave it no segments to sort by digits.
struct grid_of_numbers {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy, grid::Policy> {
    static constexpr strata::radix_histogram_tuning histogram{256, 16 << 10};
    static constexpr strata::radix_pass_tuning pass{256, 3, 1};
    static constexpr strata::long_segment_tuning long_segments{0, 0, 0, 0};
    static constexpr strata::number_tile_tuning number_tile{0, 0, 0, 0};
  };
  using MaxPolicy = Policy;
};

/// Some long segments, and so many tiny ones that the mean is less than a tile. With a larger mean, other kernels sort.
segment_shape some_among_tiny(std::uint64_t stream) {
  lengths_of lengths(40, 2);
  const lengths_of longer{700, 97, 0, 1000, 60, 193, 300, 40, 32, 25};
  for (std::size_t i = 0; i < longer.size(); ++i) lengths[3 * i] = longer[i];
  return scattered(consecutive("some", lengths), stream);
}

/// So few items that every device has resident blocks for all tiles, whatever the lengths are.
constexpr offset most_items = 2900;

const std::vector<segment_shape>& shapes() {
  static const std::vector<segment_shape> all = [] {
    std::mt19937_64 bits = strata_test::random_bits(15);
    std::vector<segment_shape> some;
    const auto add = [&](const std::string& name, const lengths_of& lengths) {
      some.push_back(consecutive(name, lengths));
      some.push_back(scattered(some.back(), some.size()));
    };
    for (const offset length : {321, 384, 385, 1000, 1536, 1537, 2900}) {
      add("one_of_" + std::to_string(length), {length});
    }
    add("few_long", {700, 900, 800, 400});
    lengths_of lengths(29, tile + 1);  // the most tiles for so many items
    lengths.resize(60, 1);
    add("tiles_and_one_item", lengths);
    lengths = {95, 96, 97, 191, 192, 193, 287, 288, 289, 383, 384, 385};
    lengths.resize(32, 1);
    add("around_tiles", lengths);
    lengths.assign(120, 1);
    std::fill_n(lengths.begin() + 50, 20, 70);
    add("queued_alone", lengths);
    lengths.clear();
    for (offset rank = 1; rank <= 200; ++rank) lengths.push_back(480 / rank);
    std::shuffle(lengths.begin(), lengths.end(), bits);
    add("power_law", lengths);
    lengths.assign(300, 0);
    for (offset& length : lengths) length = static_cast<offset>(bits() % 5);
    lengths[123] = 1500;
    add("one_huge_among_tiny", lengths);
    lengths.assign(300, 0);
    lengths[7] = 1400;
    lengths[200] = 90;
    lengths[201] = 640;
    lengths[299] = 97;
    add("long_among_empty", lengths);
    some.push_back({"far_apart", {20000, 3, 50000}, {20700, 1003, 50800}});
    return some;
  }();
  return all;
}

TEST(device_segmented_merge_sort_grid, keys_in_segments_of_any_shape) {
  bool is_in_place = false;
  for (const segment_shape& shape : shapes()) {
    ASSERT_LE(items_of(shape), most_items) << shape;
    const offset mean = items_of(shape) / shape.segments();
    ASSERT_TRUE(mean <= tile || mean > tiny_tiles::Policy::tile_per_multiprocessor.tile_items()) << shape;
    ASSERT_NO_FATAL_FAILURE((expect_sorts_keys<std::int32_t, grid>(shape, pattern::random, is_in_place, is_less{})));
    ASSERT_NO_FATAL_FAILURE(
        (expect_sorts_keys<std::int32_t, wide_grid>(shape, pattern::random, !is_in_place, is_greater{})));
    is_in_place = !is_in_place;
  }
}

TEST(device_segmented_merge_sort_grid, pairs_are_stable_in_segments_of_any_shape) {
  bool is_in_place = true;
  for (const segment_shape& shape : shapes()) {
    for (const pattern how : {pattern::few, pattern::equal}) {
      ASSERT_NO_FATAL_FAILURE((expect_stable_pairs<std::uint32_t, std::uint32_t, grid>(shape, how, is_in_place)));
      is_in_place = !is_in_place;
    }
    ASSERT_NO_FATAL_FAILURE(
        (expect_stable_pairs<std::uint32_t, std::uint32_t, wide_grid>(shape, pattern::few, is_in_place)));
  }
}

TEST(device_segmented_merge_sort_grid, items_of_any_size) {
  const segment_shape shape = some_among_tiny(31);
  ASSERT_NO_FATAL_FAILURE((expect_sorts_keys<std::uint8_t, grid>(shape, pattern::random, false, is_less{})));
  ASSERT_NO_FATAL_FAILURE((expect_sorts_keys<record12, grid>(shape, pattern::few, true, is_greater{})));
  ASSERT_NO_FATAL_FAILURE((expect_stable_pairs<std::uint8_t, record40, grid>(shape, pattern::few, true)));
  ASSERT_NO_FATAL_FAILURE((expect_stable_pairs<record16, std::uint16_t, grid>(shape, pattern::few, false)));
}

// Blocks run in any order and at any speed. A block must read only what has been written, and what is not overwritten
// yet.
TEST(device_segmented_merge_sort_grid, under_any_schedule) {
  const segment_shape shape = some_among_tiny(21);
  under_all_schedules([&](std::size_t i) {
    expect_stable_pairs<std::uint32_t, std::uint32_t, grid>(shape, i % 2 == 0 ? pattern::few : pattern::random,
                                                            i % 3 == 0);
  });
}

// ------------------------------------------------------------------ which calls

/// Returns the number of kernels and memsets of a call.
std::size_t nodes_of(offset items, offset segments) {
  device_vector<std::uint32_t> in(static_cast<std::size_t>(items)), out(static_cast<std::size_t>(items));
  const lengths_of unset(static_cast<std::size_t>(segments));
  const device_offsets offsets(segment_shape{"unset", unset, unset});
  const auto call = [&](void* storage, std::size_t& bytes, cudaStream_t on) {
    return tuned_sort<grid, NullType, std::uint32_t>(
        storage, bytes, in.data(), out.data(), nullptr, nullptr,
        strata::detail::segments_of(items, segments, offsets.begins.data(), offsets.ends.data()), is_less{}, on);
  };
  std::size_t bytes = 0;
  EXPECT_CUDA_SUCCESS(call(nullptr, bytes, nullptr));
  const scratch storage(bytes);
  const graph recorded([&](cudaStream_t on) { return call(storage.data(), bytes, on); });
  EXPECT_CUDA_SUCCESS(recorded.status());
  return recorded.nodes();
}

TEST(device_segmented_merge_sort_grid, is_taken_where_blocks_hold_all_tiles) {
  const strata_test::device_of_multiprocessors four(4);
  // If segments are few, the grid itself finds those that are longer than a tile.
  EXPECT_EQ(1u, nodes_of(most_items, 1));
  EXPECT_EQ(1u, nodes_of(most_items, 7));
  EXPECT_EQ(2u, nodes_of(most_items, 100));
  EXPECT_EQ(2u, nodes_of(most_items, 1024));
  EXPECT_EQ(3u, nodes_of(most_items, 1025));
  // The mean segment fits a tile of other kernels, but not a tile of the grid.
  EXPECT_EQ(4u, nodes_of(most_items, 20));
#if STRATA_HOST_SIMT
  // 62 tiles and one more block, of 64 resident ones; then 64 tiles and one more block.
  EXPECT_EQ(3u, nodes_of(31 * (tile + 1), 3000));
  EXPECT_EQ(4u, nodes_of(32 * (tile + 1), 3000));
  // With few segments, few tiles are not full.
  EXPECT_EQ(1u, nodes_of(62 * tile + 95, 1));
  EXPECT_EQ(3u, nodes_of(63 * tile, 1));
#endif
  EXPECT_EQ(3u, nodes_of(2048 * tile, 5));
  EXPECT_EQ(4u, nodes_of(2048 * tile, 1025));
}

// ------------------------------------------------------------------ what a call may ask for

TEST(device_segmented_merge_sort_grid, indices_have_no_keys_of_output) {
  for (const segment_shape& shape : shapes()) {
    SCOPED_TRACE(shape);
    const std::vector<std::uint32_t> keys = make_keys<std::uint32_t>(shape.items(), pattern::few);
    const device_offsets offsets(shape);
    const device_vector<std::uint32_t> in(keys);
    const std::vector<int> before(shape.items(), -1);
    device_vector<int> out(before);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return strata::TunedDeviceSegmentedMergeSort<grid>::SortIndices(
          storage, bytes, in.data(), out.data(), items_of(shape), shape.segments(), offsets.begins.data(),
          offsets.ends.data(), is_less{});
    }));
    std::vector<int> numbers(shape.items());
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i);
    ASSERT_NO_FATAL_FAILURE(expect_gathered(numbers, expected_order(shape, keys, is_less{}), out.to_host(), before));
  }
}

TEST(device_segmented_merge_sort_grid, two_buffers_of_numbers) {
  for (const segment_shape& shape : shapes()) {
    SCOPED_TRACE(shape);
    const std::vector<std::uint32_t> keys = make_keys<std::uint32_t>(shape.items(), pattern::few);
    const std::vector<std::uint32_t> values = make_values<std::uint32_t>(shape.items());
    const device_offsets offsets(shape);
    device_vector<std::uint32_t> in(keys), other(shape.items()), values_in(values), values_other(shape.items());
    strata::DoubleBuffer<std::uint32_t> both(in.data(), other.data()),
        both_values(values_in.data(), values_other.data());
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return strata::TunedDeviceSegmentedSort<grid_of_numbers>::StableSortPairs(
          storage, bytes, both, both_values, items_of(shape), shape.segments(), offsets.begins.data(),
          offsets.ends.data());
    }));
    const auto order = expected_order(shape, keys, is_less{});
    ASSERT_NO_FATAL_FAILURE(expect_gathered(keys, order, (both.selector == 0 ? in : other).to_host(), keys));
    ASSERT_NO_FATAL_FAILURE(
        expect_gathered(values, order, (both.selector == 0 ? values_in : values_other).to_host(), values));
  }
}

TEST(device_segmented_merge_sort_grid, by_no_ordering) {
  expect_harmless<grid>(some_among_tiny(31), always{true});
  expect_harmless<grid>(some_among_tiny(31), is_odd_less{});
}

#if !STRATA_DEBUG
// A segment for whose tiles there is no storage is not sorted, and debug builds say so. No block may wait for a block
// that does not exist.
TEST(device_segmented_merge_sort_grid, leaves_what_has_no_tiles) {
  lengths_of lengths(30, 4);
  for (const std::size_t long_one : {3, 10, 20}) lengths[long_one] = 600;
  const segment_shape shape = consecutive("too_many", lengths);
  for (const auto& [num_items, left_out] : std::vector<std::pair<int, int>>{{300, 3}, {600, 2}, {800, 1}}) {
    EXPECT_EQ(600 * left_out, items_left_out<grid>(shape, num_items)) << num_items;
  }
}

// Storage suffices for the tiles of both segments, but the grid has no blocks for one of them, which is not sorted.
TEST(device_segmented_merge_sort_grid, leaves_what_has_no_blocks) {
  const strata_test::device_of_multiprocessors four(4);
  const auto left_out = items_left_out<grid>(consecutive("too_many", {600, 300}), 650);
  EXPECT_TRUE(left_out == 300 || left_out == 600) << left_out;
}
#endif

void expect_replays(std::size_t count, std::size_t nodes) {
  const strata_test::device_of_multiprocessors four(4);
  using Key = std::uint32_t;
  const std::size_t most = most_items;
  device_vector<Key> in(most), out(most);
  const lengths_of unset(count);
  device_offsets offsets(segment_shape{"unset", unset, unset});
  const auto call = [&](void* storage, std::size_t& bytes, cudaStream_t on) {
    return tuned_sort<grid, NullType, Key>(
        storage, bytes, in.data(), out.data(), nullptr, nullptr,
        strata::detail::segments_of(most, count, offsets.begins.data(), offsets.ends.data()), is_less{}, on);
  };
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(call(nullptr, bytes, nullptr));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t on) { return call(storage.data(), bytes, on); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  EXPECT_EQ(nodes, recorded.nodes());
  const stream on;
  std::mt19937_64 bits = strata_test::random_bits(3);
  for (unsigned i = 0; i < if_small(5u, 12u); ++i) {
    lengths_of lengths(count);
    for (offset& length : lengths) length = static_cast<offset>(bits() % (count > 60 ? 2 : i % 2 == 0 ? 3 : 25));
    if (i % 3 != 1) {
      lengths[bits() % count] = static_cast<offset>(bits() % (count > 60 ? 300 : 900));
      lengths[bits() % count] = static_cast<offset>(bits() % 300);
    }
    const segment_shape shape = scattered(consecutive("replay", lengths), i);
    ASSERT_LE(shape.items(), most);
    const std::vector<Key> keys = make_keys<Key>(most, pattern::few, i);
    const std::vector<Key> before(most, 99);
    in.assign(keys);
    out.assign(before);
    offsets.begins.assign(shape.begins);
    offsets.ends.assign(shape.ends);
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    SCOPED_TRACE(testing::Message() << "replay " << i);
    ASSERT_NO_FATAL_FAILURE(expect_gathered(keys, expected_order(shape, keys, is_less{}), out.to_host(), before));
  }
}

TEST(device_segmented_merge_sort_grid, a_graph_may_be_replayed_with_other_segments) { expect_replays(1100, 3); }

// In a call of few segments, no earlier kernel clears the flags of the barrier. So a replay must not find the flags of
// the replay before.
TEST(device_segmented_merge_sort_grid, a_graph_of_few_segments_may_be_replayed_with_others) { expect_replays(60, 2); }

}  // namespace
