// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tests with a type that only cuda::std::numeric_limits knows. Before it includes this file, a source includes
// <cuda/std/limits>, or a stand-in for it, and the headers of strata.
#pragma once

#include <limits>
#include <vector>

#include "support/test_support.cuh"

namespace cuda_limits {

/// Numbers from -1000 to 1000.
struct fixed {
  int number;

  STRATA_HD friend bool operator<(const fixed& a, const fixed& b) { return a.number < b.number; }
  STRATA_HD friend bool operator==(const fixed& a, const fixed& b) { return a.number == b.number; }
};

}  // namespace cuda_limits

template <>
class cuda::std::numeric_limits<cuda_limits::fixed> {
 public:
  static constexpr bool is_specialized = true;
  STRATA_HD static constexpr cuda_limits::fixed max() { return {1000}; }
  STRATA_HD static constexpr cuda_limits::fixed lowest() { return {-1000}; }
};

// Some programs specialise std::numeric_limits without max() and lowest(). The library must not use such a one.
template <>
class std::numeric_limits<cuda_limits::fixed> {
 public:
  static constexpr bool has_infinity = true;
};

namespace cuda_limits {

using strata_test::device_vector;

/// Returns the extremes that `Min` and `Max` of a call find.
template <class Call>
std::vector<int> extremes_of(const std::vector<fixed>& items, const Call& call) {
  const device_vector<fixed> in(items);
  device_vector<fixed> out(2);
  call(in.data(), out.data(), static_cast<int>(items.size()));
  const std::vector<fixed> found = out.to_host();
  return {found[0].number, found[1].number};
}

inline void reduce(const fixed* in, fixed* out, int count) {
  EXPECT_CUDA_SUCCESS(strata::DeviceReduce::Min(in, out, count));
  EXPECT_CUDA_SUCCESS(strata::DeviceReduce::Max(in, out + 1, count));
}

inline void reduce_segment(const fixed* in, fixed* out, int count) {
  EXPECT_CUDA_SUCCESS(strata::DeviceSegmentedReduce::Min(in, out, 1, count));
  EXPECT_CUDA_SUCCESS(strata::DeviceSegmentedReduce::Max(in, out + 1, 1, count));
}

TEST(cuda_limits, extremes_of_an_empty_input_are_those_of_libcudacxx) {
  EXPECT_EQ(extremes_of({}, reduce), (std::vector<int>{1000, -1000}));
  EXPECT_EQ(extremes_of({}, reduce_segment), (std::vector<int>{1000, -1000}));
}

TEST(cuda_limits, items_are_compared_by_their_operator) {
  const std::vector<fixed> items = {{3}, {-7}, {12}, {5}};
  EXPECT_EQ(extremes_of(items, reduce), (std::vector<int>{-7, 12}));
  EXPECT_EQ(extremes_of(items, reduce_segment), (std::vector<int>{-7, 12}));
}

TEST(cuda_limits, positions_of_extremes) {
  const device_vector<fixed> in({{3}, {-7}, {12}, {5}});
  device_vector<fixed> values(2);
  device_vector<long long> places(2);
  EXPECT_CUDA_SUCCESS(strata::DeviceReduce::ArgMin(in.data(), values.data(), places.data(), 4));
  EXPECT_CUDA_SUCCESS(strata::DeviceReduce::ArgMax(in.data(), values.data() + 1, places.data() + 1, 4));
  EXPECT_EQ(places.to_host(), (std::vector<long long>{1, 2}));
  EXPECT_EQ(values.to_host()[0].number, -7);
  EXPECT_EQ(values.to_host()[1].number, 12);
}

TEST(cuda_limits, types_that_std_knows_are_asked_there) {
  EXPECT_EQ(strata::detail::value_limits<int>::max(), std::numeric_limits<int>::max());
  EXPECT_EQ(strata::detail::value_limits<float>::lowest(), std::numeric_limits<float>::lowest());
}

}  // namespace cuda_limits
