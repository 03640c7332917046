// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSegmentedSort with long segments, which one block or many blocks sort by digits, beside shorter ones, which are
// merged.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/radix_sort/segmented_sort_support.cuh"

namespace {

using namespace segmented_sort_test;

TEST(device_segmented_sort_long, keys) {
  expect_all_copies<false, std::uint32_t, NullType>();
  expect_all_copies<true, float, NullType>();
}

TEST(device_segmented_sort_long, pairs) {
  expect_all_copies<true, std::int32_t, std::uint32_t>();
  expect_all_copies<false, float, std::uint64_t>();
}

enum class small : std::int16_t {};

TEST(device_segmented_sort_long, keys_of_other_sizes) {
  expect_copies<false, std::int64_t, NullType>(mixed(), pattern::random);
  expect_copies<true, __half, std::uint32_t>(mixed(), pattern::random);
#if !STRATA_TEST_SMALL
  expect_copies<false, std::int8_t, NullType>(mixed(), pattern::random);
#endif
#if !STRATA_TEST_FEW_TYPES
  expect_copies<true, double, std::uint32_t>(mixed(), pattern::random);
  expect_copies<false, small, std::uint32_t>(mixed(), pattern::few);
#endif
}

TEST(device_segmented_sort_long, a_hub_may_say_that_none_are_long) {
  using Sort = TunedDeviceSegmentedSort<one_policy_hub<never_long_rows>>;
  expect_copies<false, std::uint32_t, std::uint32_t, Sort>(mixed(), pattern::random);
}

// ------------------------------------------------------------------ segments of one size

TEST(device_segmented_sort_long, segments_of_one_size) {
  for (const offset size : {500, 501, 1600}) {
    const segment_shape shape = consecutive("of_one_size", std::vector<offset>(5, size));
    SCOPED_TRACE(size);
    const std::vector<std::int32_t> keys = make_bits<std::int32_t>(shape.items(), pattern::random);
    const device_vector<std::int32_t> in(keys);
    device_vector<std::int32_t> out(keys);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return LongSort::SortKeys(storage, bytes, in.data(), out.data(), 5, size);
    }));
    expect_gathered(keys, order_of<false>(shape, keys), out.to_host(), keys);
  }
}

// ------------------------------------------------------------------ graphs

TEST(device_segmented_sort_long, a_graph_may_be_replayed_with_other_segments) {
  constexpr offset most = 6000;
  const std::vector<std::uint32_t> keys = make_bits<std::uint32_t>(most, pattern::random);
  const device_vector<std::uint32_t> in(keys);
  device_vector<std::uint32_t> out(keys);
  device_offsets offsets(consecutive("unset", {0, 0, 0, 0, 0}));
  std::size_t bytes = 0;
  const auto call = [&](void* storage, cudaStream_t on) {
    return LongSort::SortKeys(storage, bytes, in.data(), out.data(), most, 5, offsets.begins.data(),
                              offsets.ends.data(), on);
  };
  ASSERT_CUDA_SUCCESS(call(nullptr, nullptr));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t on) { return call(storage.data(), on); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const stream on;
  for (const std::vector<offset>& lengths : std::vector<std::vector<offset>>{{0, 0, most, 0, 0},
                                                                             {1, 2, 3, 4, 5},
                                                                             {501, 700, 2000, 450, 1300},
                                                                             {100, 500, 0, 400, 7},
                                                                             {2500, 0, 0, 0, 3000}}) {
    const segment_shape shape = consecutive("replay", lengths);
    offsets.begins.assign(shape.begins);
    offsets.ends.assign(shape.ends);
    const std::vector<std::uint32_t> before(keys.size(), 77);
    out.assign(before);
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    std::vector<std::size_t> order =
        order_of<false>(shape, std::vector<std::uint32_t>(keys.begin(), keys.begin() + most));
    ASSERT_NO_FATAL_FAILURE(expect_gathered(keys, order, out.to_host(), before));
  }
}

// ------------------------------------------------------------------ which calls

template <class Sort>
std::size_t nodes_of_call(offset items, offset segments) {
  const std::vector<std::uint32_t> keys(static_cast<std::size_t>(items));
  const device_vector<std::uint32_t> in(keys);
  device_vector<std::uint32_t> out(keys);
  const device_vector<offset> offsets(std::vector<offset>(static_cast<std::size_t>(segments) + 1, 0));
  std::size_t bytes = 0;
  const auto call = [&](void* storage, cudaStream_t on) {
    return Sort::SortKeys(storage, bytes, in.data(), out.data(), items, segments, offsets.data(), offsets.data() + 1,
                          on);
  };
  EXPECT_CUDA_SUCCESS(call(nullptr, nullptr));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t on) { return call(storage.data(), on); });
  EXPECT_CUDA_SUCCESS(recorded.status());
  return recorded.nodes();
}

/// Turns off the resident grid, which takes calls of few segments and would launch other kernels.
template <class Rows>
struct without_grid : Rows {
  static constexpr strata::merge_sort_grid_tuning resident_grid{0, 1, 1};
};

TEST(device_segmented_sort_long, only_large_calls_launch_two_more_kernels) {
  using Sort = TunedDeviceSegmentedSort<one_policy_hub<without_grid<large_call_rows>>>;
  using Merges = TunedDeviceSegmentedSort<one_policy_hub<without_grid<never_long_rows>>>;
  const auto more_nodes = [](offset items, offset segments) {
    return nodes_of_call<Sort>(items, segments) - nodes_of_call<Merges>(items, segments);
  };
  EXPECT_EQ(0u, more_nodes(1999, 1));
  EXPECT_EQ(2u, more_nodes(2000, 1));
  EXPECT_EQ(2u, more_nodes(3000, 3));
  EXPECT_EQ(0u, more_nodes(2999, 3));
  EXPECT_EQ(0u, more_nodes(5999, 600));
  EXPECT_EQ(2u, more_nodes(6000, 600));
}

// A program may query the storage with one number of segments and call with another. So the size must not depend on it.
TEST(device_segmented_sort_long, storage_does_not_depend_on_the_number_of_segments) {
  using Sort = TunedDeviceSegmentedSort<one_policy_hub<large_call_rows>>;
  std::uint32_t* const out = nullptr;
  const std::uint32_t* const in = nullptr;
  const offset* const offsets = nullptr;
  std::size_t of_one = 0, of_many = 0;
  ASSERT_CUDA_SUCCESS(Sort::SortKeys(nullptr, of_one, in, out, 4000, 1, offsets, offsets));
  ASSERT_CUDA_SUCCESS(Sort::SortKeys(nullptr, of_many, in, out, 4000, 4000, offsets, offsets));
  EXPECT_EQ(of_one, of_many);
}

// ------------------------------------------------------------------ more items than the call has

#if !STRATA_DEBUG
// The list and the buffer have capacity for two of the four long segments. Short segments are sorted, and nothing else
// is written.
TEST(device_segmented_sort_long, leaves_long_segments_that_have_no_room) {
  const segment_shape shape = consecutive("too_many", {5, 1100, 7, 1100, 1100, 1100, 9});
  const std::vector<std::uint32_t> keys = make_bits<std::uint32_t>(shape.items(), pattern::random);
  const std::vector<std::uint32_t> before(shape.items(), 77);
  const device_offsets offsets(shape);
  const device_vector<std::uint32_t> in(keys);
  device_vector<std::uint32_t> out(before);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return LongSort::SortKeys(storage, bytes, in.data(), out.data(), 2300, shape.segments(), offsets.begins.data(),
                              offsets.ends.data());
  }));
  const std::vector<std::uint32_t> sorted = out.to_host();
  EXPECT_EQ(2200, std::count(sorted.begin(), sorted.end(), 77u));
  EXPECT_TRUE(std::none_of(sorted.end() - 9, sorted.end(), [](std::uint32_t key) { return key == 77; }));
}
#endif

// ------------------------------------------------------------------ as the library chooses

TEST(device_segmented_sort_long, limits) {
  using limits = strata::detail::long_segment_limits;
  constexpr std::size_t tile = 1000, bound = 1 << 17;
  EXPECT_EQ(0u, limits::above(bound, bound, tile).most_segments);
  EXPECT_EQ(0u, limits::above(bound, bound, tile).most_tiles);
  EXPECT_EQ(1u, limits::above(bound, bound + 1, tile).most_segments);
  EXPECT_EQ(bound / tile + 1, limits::above(bound, bound + 1, tile).most_tiles);
  // The list has at most 2^16 segments, however many items there are: the bound grows instead.
  EXPECT_EQ(bound, limits::above(bound, std::size_t{1} << 33, tile).bound);
  EXPECT_EQ(std::size_t{1} << 20, limits::above(bound, std::size_t{1} << 36, tile).bound);
  EXPECT_LE(limits::above(bound, std::size_t{1} << 50, tile).most_segments, std::size_t{1} << 16);
}

TEST(device_segmented_sort_long, rows_of_the_library) {
  const auto longest_merged = [](auto hub) { return decltype(hub)::MaxPolicy::long_segments.longest_merged; };
  EXPECT_GT(longest_merged(strata::segmented_sort_policy_hub<int, NullType>{}), 0u);
  EXPECT_GT(longest_merged(strata::segmented_sort_policy_hub<float, std::uint64_t>{}), 0u);
  EXPECT_EQ(longest_merged(strata::segmented_sort_policy_hub<double, std::uint64_t>{}), 0u);
  EXPECT_EQ(longest_merged(strata::segmented_sort_policy_hub<int, record40>{}), 0u);
}

}  // namespace
