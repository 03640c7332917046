// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Argsort by SortPairs, as inference engines call it: keys are sorted in place, and indices from one array to another.
// There is one row, or several rows of equal length.
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_segmented_radix_sort.cuh>
#include <strata/device/device_segmented_sort.cuh>
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/iterator/transform_input_iterator.cuh>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

#include "device/device_call.cuh"

namespace {

using namespace device_test;
using strata::CountingInputIterator;
using strata::DeviceRadixSort;
using strata::DeviceSegmentedRadixSort;
using strata::DeviceSegmentedSort;

struct first_of_row {
  int columns;
  STRATA_HD int operator()(int row) const { return row * columns; }
};
using offsets = strata::TransformInputIterator<int, first_of_row, CountingInputIterator<int>>;

/// Calls `sort(storage, bytes, keys, indices, sorted indices)`. The size query gets the same arrays as the sort.
template <class Sort>
void expect_indices(int rows, int columns, bool is_descending, const Sort& sort) {
  SCOPED_TRACE(testing::Message() << rows << " rows of " << columns << (is_descending ? ", descending" : ""));
  const auto items = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  std::mt19937_64 bits = strata_test::random_bits(items);
  std::vector<float> keys(items);
  std::vector<int> indices(items);
  for (std::size_t i = 0; i < items; ++i) {
    keys[i] = static_cast<float>(static_cast<int>(bits() % 5000) - 2500) * 0.37f;  // some are equal
    indices[i] = static_cast<int>(i) % columns;
  }
  device_vector<float> sorted(keys);
  const device_vector<int> from(indices);
  device_vector<int> to(items);
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(sort(nullptr, bytes, sorted.data(), from.data(), to.data()));
  const scratch storage(bytes);
  ASSERT_CUDA_SUCCESS(sort(storage.data(), bytes, sorted.data(), from.data(), to.data()));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  for (int row = 0; row < rows; ++row) {
    const auto first = indices.begin() + static_cast<std::ptrdiff_t>(row) * columns;
    const float* const of_row = keys.data() + static_cast<std::ptrdiff_t>(row) * columns;
    std::stable_sort(first, first + columns,
                     [&](int a, int b) { return is_descending ? of_row[a] > of_row[b] : of_row[a] < of_row[b]; });
  }
  std::vector<float> expected(items);
  for (std::size_t i = 0; i < items; ++i) {
    const std::size_t row = i / static_cast<std::size_t>(columns) * static_cast<std::size_t>(columns);
    expected[i] = keys[row + static_cast<std::size_t>(indices[i])];
  }
  EXPECT_TRUE(indices == to.to_host());
  EXPECT_TRUE(expected == sorted.to_host());
}

TEST(device_argsort, one_row) {
#if STRATA_HOST_SIMT
  const std::vector<int> lengths = {1500, 33000};
#else
  const std::vector<int> lengths = {1500, 33000, 262144, 6000001};
#endif
  for (const int columns : lengths) {
    expect_indices(1, columns, false, [=](void* storage, std::size_t& bytes, float* keys, const int* from, int* to) {
      return DeviceRadixSort::SortPairs(storage, bytes, keys, keys, from, to, columns, 0, 32);
    });
    expect_indices(1, columns, true, [=](void* storage, std::size_t& bytes, float* keys, const int* from, int* to) {
      return DeviceRadixSort::SortPairsDescending(storage, bytes, keys, keys, from, to, columns, 0, 32);
    });
  }
}

struct matrix {
  int rows;
  int columns;
};
std::vector<matrix> matrices() {
#if STRATA_HOST_SIMT
  return {{300, 7}, {20, 1100}, {2, 20000}};
#else
  return {{300, 7}, {256, 1100}, {256, 4096}, {40, 128256}, {3, 9000000}};
#endif
}

TEST(device_argsort, rows_by_radix_sort) {
  for (const auto [rows, columns] : matrices()) {
    const int items = rows * columns, segments = rows;
    const offsets begins(CountingInputIterator<int>(0), first_of_row{columns});
    expect_indices(rows, columns, false, [=](void* storage, std::size_t& bytes, float* keys, const int* from, int* to) {
      return DeviceSegmentedRadixSort::SortPairs(storage, bytes, keys, keys, from, to, items, segments, begins,
                                                 begins + 1, 0, 32);
    });
    expect_indices(rows, columns, true, [=](void* storage, std::size_t& bytes, float* keys, const int* from, int* to) {
      return DeviceSegmentedRadixSort::SortPairsDescending(storage, bytes, keys, keys, from, to, items, segments,
                                                           begins, begins + 1, 0, 32);
    });
  }
}

TEST(device_argsort, rows_by_segmented_sort) {
  for (const auto [rows, columns] : matrices()) {
    const int items = rows * columns, segments = rows;
    const offsets begins(CountingInputIterator<int>(0), first_of_row{columns});
    expect_indices(rows, columns, false, [=](void* storage, std::size_t& bytes, float* keys, const int* from, int* to) {
      return DeviceSegmentedSort::SortPairs(storage, bytes, keys, keys, from, to, items, segments, begins, begins + 1);
    });
    expect_indices(rows, columns, true, [=](void* storage, std::size_t& bytes, float* keys, const int* from, int* to) {
      return DeviceSegmentedSort::StableSortPairsDescending(storage, bytes, keys, keys, from, to, items, segments,
                                                            begins, begins + 1);
    });
  }
}

}  // namespace
