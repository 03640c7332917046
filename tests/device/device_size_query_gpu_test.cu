// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A size query makes no CUDA call. This program hides all devices, so that every CUDA call fails. So it also runs on
// machines without a GPU.
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_segmented_reduce.cuh>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

const bool devices_are_hidden = setenv("CUDA_VISIBLE_DEVICES", "", 1) == 0;

template <class Query>
void expect_a_size(const Query& query) {
  std::size_t bytes = 0;
  EXPECT_EQ(cudaSuccess, query(bytes));
  EXPECT_GT(bytes, 0u);
}

TEST(device_size_query, needs_no_device) {
  ASSERT_TRUE(devices_are_hidden);
  int device = 0;
  ASSERT_NE(cudaSuccess, cudaGetDevice(&device)) << "a device is left";
  const int* const in = nullptr;
  int* const out = nullptr;
  std::int64_t* const index = nullptr;
  const int* const offsets = nullptr;
  constexpr std::int64_t n = 123456789;
  using strata::DeviceReduce;
  using strata::DeviceSegmentedReduce;
  expect_a_size([&](std::size_t& bytes) { return DeviceReduce::Sum(nullptr, bytes, in, out, n); });
  expect_a_size([&](std::size_t& bytes) { return DeviceReduce::Max(nullptr, bytes, in, out, n); });
  expect_a_size([&](std::size_t& bytes) { return DeviceReduce::Reduce(nullptr, bytes, in, out, n, strata::Sum{}, 0); });
  expect_a_size([&](std::size_t& bytes) { return DeviceReduce::ArgMin(nullptr, bytes, in, out, index, n); });
  expect_a_size(
      [&](std::size_t& bytes) { return DeviceSegmentedReduce::Sum(nullptr, bytes, in, out, n, offsets, offsets + 1); });
  expect_a_size([&](std::size_t& bytes) { return DeviceSegmentedReduce::Sum(nullptr, bytes, in, out, n, 10); });
  // A call with storage does need a device.
  std::size_t bytes = std::size_t{1} << 20;
  alignas(256) static char storage[1 << 20];
  EXPECT_NE(cudaSuccess, DeviceReduce::Sum(storage, bytes, &device, &device, 1));
}

}  // namespace
