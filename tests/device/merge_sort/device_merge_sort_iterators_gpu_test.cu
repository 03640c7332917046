// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceMergeSort writes through iterators of Thrust: those of vectors, which are pointers, and others.
#include <strata/device/device_merge_sort.cuh>

#include <gtest/gtest.h>

#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>
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

using pair = thrust::tuple<int, int>;
struct by_first {
  STRATA_HD bool operator()(const pair& a, const pair& b) const { return thrust::get<0>(a) < thrust::get<0>(b); }
};
struct negated {
  STRATA_HD int operator()(int x) const { return -x; }
};

TEST(device_merge_sort, of_other_iterators_of_thrust) {
  for (const std::size_t size : {std::size_t{100}, std::size_t{100000}}) {
    std::mt19937_64 bits = strata_test::random_bits(8);
    std::vector<int> keys(size), order(size);
    for (int& key : keys) key = static_cast<int>(bits() % 1000);
    std::iota(order.begin(), order.end(), 0);
    std::vector<int> sorted = keys, numbers = order;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
    });
    std::stable_sort(sorted.begin(), sorted.end());

    // Two arrays in place, as one array of pairs.
    thrust::device_vector<int> first(keys.begin(), keys.end()), second(numbers.begin(), numbers.end());
    const thrust::device_vector<int> in = first;
    ASSERT_CUDA_SUCCESS(DeviceMergeSort::SortKeys(
        thrust::make_zip_iterator(thrust::make_tuple(first.begin(), second.begin())), size, by_first{}));
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    EXPECT_EQ(sorted, std::vector<int>(first.begin(), first.end()));
    EXPECT_EQ(order, std::vector<int>(second.begin(), second.end()));

    thrust::device_vector<int> out(size);
    ASSERT_CUDA_SUCCESS(DeviceMergeSort::SortKeysCopy(
        in.begin(), thrust::make_transform_output_iterator(out.begin(), negated{}), size, descending{}));
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    for (std::size_t i = 0; i < size; ++i) sorted[i] = -sorted[i];
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, std::vector<int>(out.begin(), out.end()));

    thrust::device_vector<int> backwards = in;
    ASSERT_CUDA_SUCCESS(DeviceMergeSort::SortKeys(thrust::make_reverse_iterator(backwards.end()), size, descending{}));
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(keys, std::vector<int>(backwards.begin(), backwards.end()));
  }
}

}  // namespace
