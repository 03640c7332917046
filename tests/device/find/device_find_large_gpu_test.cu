// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Finds a match in more than 2^32 items, and the bounds of sorted values in a range of more than 2^31 items.
#include <strata/core/operators.hpp>
#include <strata/device/device_find.cuh>
#include <strata/device/device_for.cuh>
#include <strata/device/device_transform.cuh>

#include <cstdint>
#include <vector>

#include "device/device_call.cuh"
#include "device/large_arrays.cuh"
#include "device/test_iterators.cuh"

namespace device_find_large_test {

using namespace device_test;
using strata::DeviceFind;

struct is_five {
  STRATA_HD bool operator()(std::uint8_t x) const { return x == 5; }
};

TEST(device_find_large, a_match_behind_2_to_the_32_items) {
  constexpr std::size_t size = (std::size_t{1} << 32) + 1000003;
  const array<std::uint8_t> items(size);
  if (items.data() == nullptr) GTEST_SKIP() << "not enough memory";
  ASSERT_CUDA_SUCCESS(in_one_phase([&] { return strata::DeviceTransform::Fill(items.data(), size, std::uint8_t{0}); }));
  const auto find = [&] {
    return result_of<std::uint64_t>([&](std::uint64_t* out, auto&&... storage) {
      return DeviceFind::FindIf(storage..., items.data(), out, is_five{}, size);
    });
  };
  EXPECT_EQ(size, find());
  for (const std::size_t place : {size - 1, (std::size_t{1} << 32) + 77, std::size_t{12345}}) {
    ASSERT_CUDA_SUCCESS(
        in_one_phase([&] { return strata::DeviceTransform::Fill(items.data() + place, 1, std::uint8_t{5}); }));
    EXPECT_EQ(place, find());
  }
}

/// Counts the wrong bounds of the values 0, 1, 2, ... in the range 0, 1, 2, ...
struct count_wrong {
  const std::uint64_t* bounds;
  std::uint64_t items;
  unsigned* wrong;
  STRATA_D void operator()(std::uint64_t i) const {
    if (bounds[i] != (i < items ? i : items)) atomicAdd(wrong, 1u);
  }
};

TEST(device_find_large, a_merge_of_more_than_2_to_the_31_items) {
  constexpr std::uint64_t items = (std::uint64_t{1} << 31) + 12345, count = (std::uint64_t{1} << 28) + 99;
  const array<std::uint64_t> bounds(count);
  if (bounds.data() == nullptr) GTEST_SKIP() << "not enough memory";
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceFind::LowerBoundSortedValues(storage..., counting<std::uint64_t>(0), items, counting<std::uint64_t>(0),
                                              count, bounds.data(), strata::Less{});
  }));
  device_vector<unsigned> wrong(std::vector<unsigned>{0});
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return strata::DeviceFor::Bulk(count, count_wrong{bounds.data(), items, wrong.data()});
  }));
  EXPECT_EQ(0u, wrong.to_host()[0]);
}

}  // namespace device_find_large_test
