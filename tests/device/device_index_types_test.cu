// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls that write numbers of items into integers of the caller's: these must be able to tell them.
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_segmented_merge_sort.cuh>
#include <strata/device/device_segmented_reduce.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device_call.cuh"

namespace {

using namespace device_test;
using strata::KeyValuePair;

struct is_less {
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
};

/// `call(indices, count, storage, bytes)` is refused, the size query too, and writes nothing.
template <class Index, class Call>
void expect_refused(int count, const Call& call) {
  SCOPED_TRACE(count);
  device_vector<Index> indices(static_cast<std::size_t>(count));
  const std::vector<Index> before = indices.to_host();
  std::size_t bytes = 12345;
  EXPECT_EQ(cudaErrorInvalidValue, call(indices.data(), count, nullptr, bytes));
  EXPECT_EQ(12345u, bytes);
  const scratch storage(std::size_t{1} << 20);
  bytes = storage.bytes();
  EXPECT_EQ(cudaErrorInvalidValue, call(indices.data(), count, storage.data(), bytes));
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(before, indices.to_host());
}

/// Of 256 equal keys, indices are 0, 1 ... 255.
template <class Call>
void expect_ascending(const Call& call) {
  device_vector<std::uint8_t> indices(256);
  ASSERT_CUDA_SUCCESS(
      in_two_phases([&](void* storage, std::size_t& bytes) { return call(indices.data(), 256, storage, bytes); }));
  std::vector<std::uint8_t> expected;
  for (int i = 0; i < 256; ++i) expected.push_back(static_cast<std::uint8_t>(i));
  EXPECT_EQ(expected, indices.to_host());
}

TEST(device_index_types, arg_sort) {
  const device_vector<int> keys(std::vector<int>(300, 1));
  const auto call = [&](auto* indices, int count, void* storage, std::size_t& bytes) {
    return strata::DeviceRadixSort::ArgSort(storage, bytes, keys.data(), indices, count);
  };
  expect_ascending(call);
  expect_refused<std::uint8_t>(257, call);
  expect_refused<std::int8_t>(129, call);
}

TEST(device_index_types, indices_of_segments) {
  const device_vector<int> keys(std::vector<int>(300, 1));
  const auto of_size = [&](auto* indices, int count, void* storage, std::size_t& bytes) {
    return strata::DeviceSegmentedMergeSort::SortIndices(storage, bytes, keys.data(), indices, 1, count, is_less{});
  };
  expect_ascending(of_size);
  expect_refused<std::uint8_t>(257, of_size);
  const device_vector<int> offsets(std::vector<int>{0, 100, 256});
  const auto by_offsets = [&](auto* indices, int count, void* storage, std::size_t& bytes) {
    return strata::DeviceSegmentedMergeSort::SortIndices(storage, bytes, keys.data(), indices, count, 2, offsets.data(),
                                                         offsets.data() + 1, is_less{});
  };
  expect_ascending(by_offsets);
  expect_refused<std::uint8_t>(257, by_offsets);
}

template <class Index>
cudaError_t find_least(const int* in, int count, Index* index, int* least) {
  return in_two_phases([&](void* storage, std::size_t& bytes) {
    return strata::DeviceReduce::ArgMin(storage, bytes, in, least, index, count);
  });
}

TEST(device_index_types, places_of_extrema) {
  std::vector<int> items(300, 1);
  items[255] = 0;
  const device_vector<int> in(items);
  device_vector<std::uint8_t> index(1);
  device_vector<int> least(1);
  EXPECT_CUDA_SUCCESS(find_least(in.data(), 256, index.data(), least.data()));
  EXPECT_EQ(255, index.to_host()[0]);
  EXPECT_EQ(cudaErrorInvalidValue, find_least(in.data(), 257, index.data(), least.data()));
  expect_refused<std::uint8_t>(257, [&](auto* to, int count, void* storage, std::size_t& bytes) {
    return strata::DeviceReduce::ArgMin(storage, bytes, in.data(), least.data(), to, count);
  });

  using pair = KeyValuePair<std::uint8_t, int>;
  device_vector<pair> out(2);
  const auto of_all = [&](int count) {
    return in_two_phases([&](void* storage, std::size_t& bytes) {
      return strata::DeviceReduce::ArgMin(storage, bytes, in.data(), out.data(), count);
    });
  };
  EXPECT_CUDA_SUCCESS(of_all(256));
  EXPECT_EQ(255, out.to_host()[0].key);
  EXPECT_EQ(cudaErrorInvalidValue, of_all(257));
  const auto of_segments = [&](int count, int size) {
    return in_two_phases([&](void* storage, std::size_t& bytes) {
      return strata::DeviceSegmentedReduce::ArgMin(storage, bytes, in.data(), out.data(), count, size);
    });
  };
  EXPECT_CUDA_SUCCESS(of_segments(1, 256));
  EXPECT_EQ(255, out.to_host()[0].key);
  EXPECT_EQ(cudaErrorInvalidValue, of_segments(1, 257));
  std::size_t bytes = 0;
  EXPECT_EQ(cudaErrorInvalidValue,
            strata::DeviceSegmentedReduce::ArgMin(nullptr, bytes, in.data(), out.data(), 1, 257));
}

}  // namespace
