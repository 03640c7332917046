// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceSegmentedReduce with offsets, inputs and outputs of all kinds.
#include <strata/device/device_segmented_reduce.cuh>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "device/device_call.cuh"
#include "device/test_iterators.cuh"

namespace {

using namespace device_test;
using strata::DeviceSegmentedReduce;

template <class Offset>
class DeviceSegmentedReduceOffsets : public ::testing::Test {};
using offset_types = ::testing::Types<std::uint16_t, int, unsigned, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(DeviceSegmentedReduceOffsets, offset_types);

TYPED_TEST(DeviceSegmentedReduceOffsets, may_be_one_array_of_any_integer_type) {
  const std::vector<int> items = random_integers<int>(40000, -100, 100);
  const device_vector<int> in(items);
  for (const int segments : {10, 5000}) {
    std::vector<TypeParam> offsets = random_integers<TypeParam>(static_cast<std::size_t>(segments) + 1, 0, 40000);
    std::sort(offsets.begin(), offsets.end());
    const device_vector<TypeParam> d_offsets(offsets);
    std::vector<int> expected;
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
      expected.push_back(std::accumulate(items.begin() + static_cast<std::ptrdiff_t>(offsets[s]),
                                         items.begin() + static_cast<std::ptrdiff_t>(offsets[s + 1]), 0));
    }
    EXPECT_EQ(expected, results_of<int>(segments, [&](int* out, auto&&... storage) {
                return DeviceSegmentedReduce::Sum(storage..., in.data(), out, segments, d_offsets.data(),
                                                  d_offsets.data() + 1);
              }));
  }
}

struct times_7 {
  STRATA_HD int operator()(int i) const { return 7 * i; }
};
struct times_7_plus_3 {
  STRATA_HD int operator()(int i) const { return 7 * i + 3; }
};

TEST(device_segmented_reduce_iterators, offsets_may_be_iterators) {
  const std::vector<int> items = random_integers<int>(7 * 5000, -100, 100);
  const device_vector<int> in(items);
  const transforming<counting<int>, times_7> begins(counting<int>(0), times_7{});
  const transforming<counting<int>, times_7_plus_3> ends(counting<int>(0), times_7_plus_3{});
  for (const int segments : {100, 5000}) {
    std::vector<int> expected;
    for (std::size_t s = 0; s < static_cast<std::size_t>(segments); ++s) {
      expected.push_back(items[7 * s] + items[7 * s + 1] + items[7 * s + 2]);
    }
    EXPECT_EQ(expected, results_of<int>(segments, [&](int* out, auto&&... storage) {
                return DeviceSegmentedReduce::Sum(storage..., in.data(), out, segments, begins, ends);
              }));
  }
}

// Items are computed, not loaded, so offsets can have more than 32 bits.
TEST(device_segmented_reduce_iterators, offsets_may_exceed_32_bits) {
  const std::int64_t far = std::int64_t{1} << 35;
  for (const std::size_t segments : sizes{5, 400, 5000}) {
    std::vector<std::int64_t> begins(segments);
    std::vector<std::int64_t> ends(segments);
    std::vector<std::int64_t> expected(segments);
    for (std::size_t s = 0; s < segments; ++s) {
      const std::int64_t begin = far * static_cast<std::int64_t>(s) + 17;
      const std::int64_t length = static_cast<std::int64_t>(s % 1000 == 4 ? 9000 : s % 300);
      begins[s] = begin;
      ends[s] = begin + length;
      expected[s] = length * begin + length * (length - 1) / 2;
    }
    const device_vector<std::int64_t> d_begins(begins);
    const device_vector<std::int64_t> d_ends(ends);
    EXPECT_EQ(expected,
              results_of<std::int64_t>(static_cast<std::int64_t>(segments), [&](std::int64_t* out, auto&&... storage) {
                return DeviceSegmentedReduce::Sum(storage..., counting<std::int64_t>(0), out,
                                                  static_cast<std::int64_t>(segments), d_begins.data(), d_ends.data());
              }));
  }
}

// An iterator with differences of 8 bits reaches 128 segments, or items. A call with more is refused.
TEST(device_segmented_reduce_iterators, differences_can_tell_all_segments_and_items) {
  const device_vector<int> items(std::vector<int>(200, 1)), zeros(std::vector<int>(200, 0));
  device_vector<int> out(200);
  using short_iterator = with_difference<int, signed char>;
  const auto by_offsets = [&](int segments) {
    return in_two_phases([&](void* storage, std::size_t& bytes) {
      return DeviceSegmentedReduce::Sum(storage, bytes, items.data(), out.data(), segments,
                                        short_iterator(zeros.data()), short_iterator(items.data()));
    });
  };
  const auto by_size = [&](int segments) {
    return in_two_phases([&](void* storage, std::size_t& bytes) {
      return DeviceSegmentedReduce::Sum(storage, bytes, short_iterator(items.data()), out.data(), segments, 1);
    });
  };
  const auto expect_ones = [&](std::ptrdiff_t count) {
    const std::vector<int> all = out.to_host();
    EXPECT_EQ(count, std::count(all.begin(), all.begin() + count, 1));
  };
  EXPECT_CUDA_SUCCESS(by_offsets(128));
  expect_ones(128);
  EXPECT_EQ(cudaErrorInvalidValue, by_offsets(129));
  out.poison();
  EXPECT_CUDA_SUCCESS(by_size(128));
  expect_ones(128);
  EXPECT_EQ(cudaErrorInvalidValue, by_size(129));
}

TEST(device_segmented_reduce_iterators, inputs_and_outputs_may_be_iterators) {
  for (const int segments : {20, 5000}) {
    const std::vector<std::int64_t> results =
        results_of<std::int64_t>(10 * segments, [&](std::int64_t* out, auto&&... storage) {
          return DeviceSegmentedReduce::Sum(storage..., counting<std::int64_t>(0), doubling_output<std::int64_t>(out),
                                            segments, 10);
        });
    for (std::size_t s = 0; s < static_cast<std::size_t>(segments); ++s) {
      EXPECT_EQ(2 * (static_cast<std::int64_t>(s) * 100 + 45), results[s]) << s;
    }
    EXPECT_TRUE(strata_test::is_poison(results[static_cast<std::size_t>(segments)]));
  }
}

}  // namespace
