// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceMergeSort writes through iterators of Thrust's vectors.
#include <strata/device/device_merge_sort.cuh>

#include <gtest/gtest.h>

#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "support/test_support.cuh"

namespace {

using strata::DeviceMergeSort;

struct descending {
  STRATA_HD bool operator()(int a, int b) const { return b < a; }
};

TEST(device_merge_sort, of_vectors_of_thrust) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, std::size_t{100000}}) {
    std::mt19937_64 bits = strata_test::random_bits(7);
    std::vector<int> keys(size), values(size);
    for (int& key : keys) key = static_cast<int>(bits() % 1000);
    std::iota(values.begin(), values.end(), 0);
    std::vector<int> order = values, sorted = keys;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return keys[static_cast<std::size_t>(a)] > keys[static_cast<std::size_t>(b)];
    });
    std::stable_sort(sorted.begin(), sorted.end(), std::greater<>{});

    const thrust::device_vector<int> keys_in(keys.begin(), keys.end()), values_in(values.begin(), values.end());
    thrust::device_vector<int> keys_out(size), values_out(size), in_place = keys_in;
    ASSERT_CUDA_SUCCESS(DeviceMergeSort::SortPairsCopy(keys_in.begin(), values_in.cbegin(), keys_out.begin(),
                                                       values_out.data(), size, descending{}));
    ASSERT_CUDA_SUCCESS(DeviceMergeSort::SortKeys(in_place.begin(), size, descending{}));
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    EXPECT_EQ(sorted, std::vector<int>(keys_out.begin(), keys_out.end()));
    EXPECT_EQ(order, std::vector<int>(values_out.begin(), values_out.end()));
    EXPECT_EQ(sorted, std::vector<int>(in_place.begin(), in_place.end()));
  }
}

}  // namespace
