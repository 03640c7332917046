// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions with policy hubs of the caller. With these hubs, an input of a few hundred items is spread over many
// blocks, and a segment of a few hundred items is cut into chunks.
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_segmented_reduce.cuh>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "device/device_call.cuh"
#include "device/schedules.cuh"
#include "device/segment_shapes.cuh"
#include "device/tuned.cuh"
#include "support/test_types.cuh"

namespace {

using namespace device_test;
using strata_test::join;
using strata_test::string_hash;

// ------------------------------------------------------------------ DeviceReduce

template <class Hub>
class DeviceReduceTuning : public ::testing::Test {};
template <int Threads, int MinBytes, int BytesInFlight = 128>
struct tuning {
  template <class Accum>
  using hub = eager_hub<Accum, Threads, MinBytes, BytesInFlight>;
};
// With 16 bytes in flight and few multiprocessors, blocks take tiles in several rounds.
using tunings = ::testing::Types<tuning<256, 16, 16>, tuning<256, 700>, tuning<512, 64>>;
TYPED_TEST_SUITE(DeviceReduceTuning, tunings);

TYPED_TEST(DeviceReduceTuning, sums_of_every_size) {
  using hub = typename TypeParam::template hub<int>;
  const std::size_t most = if_small<std::size_t>(300, 700);
  const std::vector<int> items = random_integers<int>(20000, -100, 100);
  const device_vector<int> in(items);
  std::vector<std::size_t> lengths(most);
  std::iota(lengths.begin(), lengths.end(), std::size_t{0});
  for (const std::size_t length : sizes{1000, 1023, 4096, 5555, 16385}) lengths.push_back(length);
  for (const std::size_t length : lengths) {
    const std::size_t start = length % 7;
    const auto first = items.begin() + static_cast<std::ptrdiff_t>(start);
    EXPECT_EQ(std::accumulate(first, first + static_cast<std::ptrdiff_t>(length), 3),
              result_of<int>([&](int* out, void* storage, std::size_t& bytes) {
                return strata::TunedDeviceReduce<hub>::Reduce(storage, bytes, in.data() + start, out, length,
                                                              strata::Sum{}, 3);
              }))
        << length;
  }
}

TYPED_TEST(DeviceReduceTuning, joins_in_order) {
  using hub = typename TypeParam::template hub<string_hash>;
  const std::vector<std::size_t> lengths = boundary_sizes(if_small<std::size_t>(1100, 9000));
  std::vector<string_hash> items;
  for (const unsigned c : random_integers<unsigned>(lengths.back() + 3, 0, 255)) {
    items.push_back(string_hash::of(c));
  }
  const device_vector<string_hash> in(items);
  const string_hash init = string_hash::of(1000);
  for (const std::size_t length : lengths) {
    const auto last = items.begin() + static_cast<std::ptrdiff_t>(length);
    EXPECT_EQ(std::accumulate(items.begin(), last, init, join{}),
              result_of<string_hash>([&](string_hash* out, void* storage, std::size_t& bytes) {
                return strata::TunedDeviceReduce<hub>::Reduce(storage, bytes, in.data(), out, length, join{}, init);
              }))
        << length;
  }
}

TYPED_TEST(DeviceReduceTuning, many_blocks_agree_under_every_schedule) {
  using hub = typename TypeParam::template hub<float>;
  constexpr std::size_t size = 3001;
  const std::vector<float> items = random_reals<float>(size, -1.0, 1.0);
  const device_vector<float> in(items);
  device_vector<float> out(1);
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(
      strata::TunedDeviceReduce<hub>::Reduce(nullptr, bytes, in.data(), out.data(), size, strata::Sum{}, 0.0f));
  const scratch storage(bytes);
  float first = 0;
  under_all_schedules([&](std::size_t repeat) {
    out.poison();
    ASSERT_CUDA_SUCCESS(strata::TunedDeviceReduce<hub>::Reduce(storage.data(), bytes, in.data(), out.data(), size,
                                                               strata::Sum{}, 0.0f));
    const float sum = out.to_host()[0];
    if (repeat == 0) first = sum;
    ASSERT_EQ(0, std::memcmp(&first, &sum, sizeof(float))) << repeat;
  });
  EXPECT_NEAR(std::accumulate(items.begin(), items.end(), 0.0), static_cast<double>(first), 1e-3);
}

// ------------------------------------------------------------------ DeviceSegmentedReduce

template <class Groups>
class DeviceSegmentedReduceTuning : public ::testing::Test {};
template <int Threads>
struct groups {
  template <class Accum>
  using hub = short_segment_hub<Accum, Threads, 300>;
};
using all_groups = ::testing::Types<groups<2>, groups<8>, groups<32>>;
TYPED_TEST_SUITE(DeviceSegmentedReduceTuning, all_groups);

// Segments of 0 to 700 items, of all these lengths if `longest` is 700, and two segments of many chunks. One launch
// reduces all of them, unless there are `more` segments of up to 3 items.
segment_shape every_length(std::int64_t longest, std::int64_t more) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t length = 0; length <= longest; ++length) lengths.push_back(length * 37 % 701);
  lengths[100] = 5000;
  lengths[101] = 90000;
  for (std::int64_t s = 0; s < more; ++s) lengths.push_back(s % 4);
  return consecutive("every length", lengths);
}

TYPED_TEST(DeviceSegmentedReduceTuning, sums_of_every_length) {
  using hub = typename TypeParam::template hub<int>;
  for (const std::int64_t more : {0, strata::detail::max_one_launch_segments<int>}) {
    const segment_shape shape = every_length(if_small(200, 700), more);
    const std::vector<int> items = random_integers<int>(shape.items(), -100, 100);
    const device_vector<int> in(items);
    const device_vector<std::int64_t> begins(shape.begins);
    const device_vector<std::int64_t> ends(shape.ends);
    device_vector<int> out(shape.begins.size());
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return strata::TunedDeviceSegmentedReduce<hub>::Reduce(storage, bytes, in.data(), out.data(), shape.segments(),
                                                             begins.data(), ends.data(), strata::Sum{}, 3);
    }));
    const std::vector<int> results = out.to_host();
    for (std::size_t s = 0; s < results.size(); ++s) {
      EXPECT_EQ(std::accumulate(items.begin() + shape.begins[s], items.begin() + shape.ends[s], 3), results[s])
          << shape.ends[s] - shape.begins[s];
    }
  }
}

TYPED_TEST(DeviceSegmentedReduceTuning, joins_in_order) {
  using hub = typename TypeParam::template hub<string_hash>;
  for (const std::int64_t more : {0, strata::detail::max_one_launch_segments<string_hash>}) {
    const segment_shape shape = every_length(if_small(200, 700), more);
    std::vector<string_hash> items;
    for (const unsigned c : random_integers<unsigned>(shape.items(), 0, 255)) {
      items.push_back(string_hash::of(c));
    }
    const device_vector<string_hash> in(items);
    const device_vector<std::int64_t> begins(shape.begins);
    const device_vector<std::int64_t> ends(shape.ends);
    device_vector<string_hash> out(shape.begins.size());
    const string_hash init = string_hash::of(1000);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return strata::TunedDeviceSegmentedReduce<hub>::Reduce(storage, bytes, in.data(), out.data(), shape.segments(),
                                                             begins.data(), ends.data(), join{}, init);
    }));
    const std::vector<string_hash> results = out.to_host();
    for (std::size_t s = 0; s < results.size(); ++s) {
      EXPECT_EQ(std::accumulate(items.begin() + shape.begins[s], items.begin() + shape.ends[s], init, join{}),
                results[s])
          << shape.ends[s] - shape.begins[s];
    }
  }
}

// More chunks than temporary storage has room for. Which segments get room may depend on the schedule, but the results
// must not. Segment s + `period` has the same items as segment s, so it must have the same bits.
template <class Hub>
void expect_the_same_without_room(std::size_t segments, std::size_t period, std::int64_t length) {
  const std::vector<float> items = random_reals<float>(static_cast<std::size_t>(length) + period, -1.0, 1.0);
  const device_vector<float> in(items);
  std::vector<std::int64_t> begin_list(segments);
  std::vector<std::int64_t> end_list(segments);
  for (std::size_t s = 0; s < segments; ++s) {
    begin_list[s] = static_cast<std::int64_t>(s % period);
    end_list[s] = begin_list[s] + length;
  }
  const device_vector<std::int64_t> begins(begin_list);
  const device_vector<std::int64_t> ends(end_list);
  device_vector<float> out(segments);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return strata::TunedDeviceSegmentedReduce<Hub>::Reduce(storage, bytes, in.data(), out.data(),
                                                           static_cast<std::int64_t>(segments), begins.data(),
                                                           ends.data(), strata::Sum{}, 0.0f);
  }));
  const std::vector<float> results = out.to_host();
  for (std::size_t s = 0; s < segments; ++s) {
    if (s >= period) {
      ASSERT_EQ(0, std::memcmp(&results[s - period], &results[s], sizeof(float))) << s;
    } else {
      ASSERT_NEAR(std::accumulate(items.begin() + begin_list[s], items.begin() + end_list[s], 0.0),
                  static_cast<double>(results[s]), 1e-3);
    }
  }
}

TEST(device_segmented_reduce_tuning, many_long_segments_without_room_are_reduced_alike) {
  if (is_small()) GTEST_SKIP() << "34,000 chunks take too long when every access is watched";
  expect_the_same_without_room<short_segment_hub<float, 8, 150>>(strata::detail::max_chunks / 2 + 600, 40, 151);
}

// In one launch, where a segment is cut depends on its neighbours. Each result is compared with the sequential sum, and
// every schedule must give the same bits.
template <class Hub>
void expect_shared_segments_are_right(const std::vector<std::int64_t>& lengths) {
  constexpr std::size_t segments = 300;
  std::vector<std::int64_t> begin_list(segments);
  std::vector<std::int64_t> end_list(segments);
  std::int64_t next = 0;
  for (std::size_t s = 0; s < segments; ++s) {
    begin_list[s] = next + static_cast<std::int64_t>(s % 5);
    end_list[s] = begin_list[s] + lengths[s % lengths.size()];
    next = end_list[s];
  }
  const std::vector<float> items = random_reals<float>(static_cast<std::size_t>(next), -1.0, 1.0);
  const device_vector<float> in(items);
  const device_vector<std::int64_t> begins(begin_list);
  const device_vector<std::int64_t> ends(end_list);
  std::vector<float> first;
  under_all_schedules([&](std::size_t schedule) {
    device_vector<float> out(segments);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return strata::TunedDeviceSegmentedReduce<Hub>::Reduce(storage, bytes, in.data(), out.data(),
                                                             static_cast<std::int64_t>(segments), begins.data(),
                                                             ends.data(), strata::Sum{}, 0.0f);
    }));
    const std::vector<float> results = out.to_host();
    if (schedule == 0) first = results;
    for (std::size_t s = 0; s < segments; ++s) {
      ASSERT_NEAR(std::accumulate(items.begin() + begin_list[s], items.begin() + end_list[s], 0.0),
                  static_cast<double>(results[s]), 1e-2)
          << s;
      ASSERT_EQ(0, std::memcmp(&results[s], &first[s], sizeof(float))) << s;
    }
  });
}

TEST(device_segmented_reduce_tuning, few_segments_of_every_length_are_shared_by_all_blocks) {
  // Lengths of a few items, of one warp, of one block, of a few shares, of many shares.
  expect_shared_segments_are_right<short_segment_hub<float, 8, 300>>(
      {3, 0, 30, 101, 64, 1000, 7, 130, 3001, 65, 12000, 257, 299, 301, 363, 365});
}

// Shares are cut at multiples of 64 items of a segment. A shorter segment must never count as long, because it would be
// in no share.
TEST(device_segmented_reduce_tuning, segments_below_the_granule_of_shares_are_not_lost) {
  expect_shared_segments_are_right<short_segment_hub<float, 8, 20>>({41});
  expect_shared_segments_are_right<short_segment_hub<float, 8, 20>>({41, 63, 64, 65, 50, 90});
}

}  // namespace
