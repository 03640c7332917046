// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceMergeSort writes through iterators that are not pointers. It writes each item once, and reads only the input
// through them.
#include <strata/device/device_merge_sort.cuh>
#include <strata/iterator/discard_output_iterator.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/merge_sort/segmented_merge_sort_support.cuh"
#include "device/test_iterators.cuh"

namespace {

using namespace merge_sort_test;
using device_test::counted_output;
using device_test::counting;
using device_test::doubling_output;
using device_test::strided;
using strata::DeviceMergeSort;

/// Sizes of one block, and of several tiles.
std::vector<std::size_t> some_sizes() {
  return if_small<std::vector<std::size_t>>({0, 1, 300, 13000}, {0, 1, 2, 300, 13000, 60000});
}

segment_shape whole(std::size_t size) { return consecutive("whole", {static_cast<offset>(size)}); }

template <class T>
std::vector<T> reversed(std::vector<T> items) {
  return {items.rbegin(), items.rend()};
}

TEST(device_merge_sort_outputs, are_written_once) {
  for (const std::size_t size : some_sizes()) {
    const std::vector<int> keys = make_keys<int>(size, pattern::few);
    const auto order = expected_order(whole(size), keys, is_less{});
    const device_vector<int> in(keys);
    device_vector<int> out(size), values(size);
    const std::vector<unsigned> none(size), once(size, 1u);
    device_vector<unsigned> writes(none), value_writes(none);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return DeviceMergeSort::SortPairsCopy(storage, bytes, in.data(), counting<int>(0),
                                            counted_output<int>(out.data(), writes.data()),
                                            counted_output<int>(values.data(), value_writes.data()), size, is_less{});
    }));
    expect_gathered(keys, order, out.to_host(), keys);
    EXPECT_EQ(std::vector<int>(order.begin(), order.end()), values.to_host());
    EXPECT_EQ(once, writes.to_host());
    EXPECT_EQ(once, value_writes.to_host());
  }
}

TEST(device_merge_sort_outputs, need_no_value_type) {
  for (const std::size_t size : some_sizes()) {
    const std::vector<int> keys = make_keys<int>(size, pattern::few);
    const auto order = expected_order(whole(size), keys, is_less{});
    const device_vector<int> in(keys);
    device_vector<int> out(size);
    // The output discards the keys and doubles the values.
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return DeviceMergeSort::StableSortPairsCopy(storage, bytes, in.data(), counting<int>(0),
                                                  strata::DiscardOutputIterator<>(), doubling_output<int>(out.data()),
                                                  size, is_less{});
    }));
    std::vector<int> doubled;
    for (const auto source : order) doubled.push_back(2 * static_cast<int>(source));
    EXPECT_EQ(doubled, out.to_host());
  }
}

TEST(device_merge_sort_outputs, are_written_at_any_address_beside_an_iterator) {
  const std::size_t size = 1000;
  const std::vector<int> keys = make_keys<int>(size, pattern::few);
  const auto order = expected_order(whole(size), keys, is_less{});
  const device_vector<int> in(keys);
  for (std::size_t lead = 0; lead < 4; ++lead) {
    device_vector<int> out(size + lead);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return DeviceMergeSort::SortPairsCopy(storage, bytes, in.data(), counting<int>(0),
                                            strata::DiscardOutputIterator<>(), out.data() + lead, size, is_less{});
    }));
    const std::vector<int> numbers = out.to_host();
    EXPECT_EQ(std::vector<int>(order.begin(), order.end()),
              std::vector<int>(numbers.begin() + static_cast<std::ptrdiff_t>(lead), numbers.end()));
  }
}

TEST(device_merge_sort_outputs, that_overlap_inputs_are_refused_beside_an_iterator_too) {
  device_vector<int> keys(1000), values(1000);
  const auto refuses = [&](int* values_out) {
    return in_two_phases([&](void* storage, std::size_t& bytes) {
             return DeviceMergeSort::SortPairsCopy(storage, bytes, keys.data(), values.data(),
                                                   strata::DiscardOutputIterator<>(), values_out, 500, is_less{});
           }) == cudaErrorInvalidValue;
  };
  EXPECT_TRUE(refuses(values.data() + 4));
  EXPECT_TRUE(refuses(keys.data()));
  EXPECT_FALSE(refuses(values.data()));
  EXPECT_FALSE(refuses(values.data() + 500));
}

TEST(device_merge_sort_outputs, may_be_the_inputs) {
  for (const std::size_t size : some_sizes()) {
    const std::vector<int> keys = make_keys<int>(size, pattern::few);
    const auto order = expected_order(whole(size), keys, is_less{});
    device_vector<int> items(reversed(keys)), numbers(size);
    const strided<int> backwards(items.data() + size - (size > 0 ? 1 : 0), -1);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return DeviceMergeSort::SortKeys(storage, bytes, backwards, size, is_less{});
    }));
    expect_gathered(keys, order, reversed(items.to_host()), keys);

    // Keys behind an iterator, values behind a pointer.
    std::vector<int> values(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<int>(i);
    items.assign(reversed(keys));
    numbers.assign(values);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return DeviceMergeSort::SortPairs(storage, bytes, backwards, numbers.data(), size, is_less{});
    }));
    expect_gathered(keys, order, reversed(items.to_host()), keys);
    EXPECT_EQ(std::vector<int>(order.begin(), order.end()), numbers.to_host());
  }
}

TEST(device_merge_sort_outputs, without_storage_and_of_another_type) {
  const std::size_t size = 5000;
  const device_vector<std::uint8_t> in(make_keys<std::uint8_t>(size, pattern::random));
  std::vector<std::uint8_t> sorted = in.to_host();
  std::sort(sorted.begin(), sorted.end());
  device_vector<int> out(2 * size);
  ASSERT_CUDA_SUCCESS(
      DeviceMergeSort::StableSortKeysCopy(in.data(), strided<int>(out.data(), 2), static_cast<short>(size), is_less{}));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  const std::vector<int> all = out.to_host();
  for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(sorted[i], all[2 * i]) << i;
}

TEST(device_merge_sort_outputs, wrong_arguments_are_refused) {
  device_vector<int> items(std::vector<int>{3, 1, 2, 0}), values(std::vector<int>{0, 1, 2, 3});
  const auto status_of = [&](int* in, int* values_out, int count, std::size_t missing) {
    const auto call = [&](void* storage, std::size_t& bytes) {
      return DeviceMergeSort::SortPairsCopy(storage, bytes, in, counting<int>(0), strided<int>(items.data() + 3, -1),
                                            values_out, count, is_less{});
    };
    std::size_t bytes = 0;
    const cudaError_t query = call(nullptr, bytes);
    if (query != cudaSuccess) return query;
    const scratch storage(bytes);
    bytes -= missing;
    const cudaError_t status = call(storage.data(), bytes);
    EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
    return status;
  };
  EXPECT_EQ(cudaErrorInvalidValue, status_of(items.data(), values.data(), -1, 0));
  EXPECT_EQ(cudaErrorInvalidValue, status_of(items.data(), values.data(), 4, 1));
  EXPECT_EQ(cudaErrorInvalidValue, status_of(nullptr, values.data(), 4, 0));
  EXPECT_EQ(cudaErrorInvalidValue, status_of(items.data(), nullptr, 4, 0));
  EXPECT_EQ((std::vector<int>{3, 1, 2, 0}), items.to_host());
  EXPECT_EQ((std::vector<int>{0, 1, 2, 3}), values.to_host());
  EXPECT_CUDA_SUCCESS(status_of(nullptr, nullptr, 0, 0));
  EXPECT_CUDA_SUCCESS(status_of(items.data(), values.data(), 4, 0));
  EXPECT_EQ((std::vector<int>{3, 2, 1, 0}), items.to_host());
  EXPECT_EQ((std::vector<int>{3, 1, 2, 0}), values.to_host());
}

}  // namespace
