// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Device algorithms over the iterators.
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_run_length_encode.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_select.cuh>
#include <strata/iterator/arg_index_input_iterator.cuh>
#include <strata/iterator/cache_modified_input_iterator.cuh>
#include <strata/iterator/cache_modified_output_iterator.cuh>
#include <strata/iterator/constant_input_iterator.cuh>
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/iterator/discard_output_iterator.cuh>
#include <strata/iterator/transform_input_iterator.cuh>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace iterator_algorithms_test {

using strata::DeviceReduce;
using strata::DeviceScan;
using strata::DeviceSelect;
using strata_test::call_with_temp_storage;
using strata_test::device_vector;

struct third {
  STRATA_HD std::int64_t operator()(int x) const { return x / 3; }
};
struct is_even {
  template <class T>
  STRATA_HD bool operator()(const T& x) const {
    return static_cast<std::int64_t>(x) % 2 == 0;
  }
};
template <class Key, class Value>
struct has_even_value {
  STRATA_HD bool operator()(const strata::KeyValuePair<Key, Value>& x) const { return x.value % 2 == 0; }
};

const std::vector<std::size_t> sizes{0, 1, 31, 1000, 4097, strata_test::is_small() ? 20'000u : 300'000u};

/// Calls `use(name, iterator, expected items)` for each kind of input iterator over `items`.
template <class Use>
void for_each_input(const std::vector<int>& items, const int* in, const Use& use) {
  std::vector<std::int64_t> same(items.begin(), items.end()), thirds, count, constant(items.size(), 7);
  for (std::size_t i = 0; i < items.size(); ++i) {
    thirds.push_back(items[i] / 3);
    count.push_back(static_cast<std::int64_t>(i) - 5);
  }
  use("LOAD_CS", strata::CacheModifiedInputIterator<strata::LOAD_CS, int>(in), same);
  use("transform", strata::TransformInputIterator<std::int64_t, third, const int*>(in, third{}), thirds);
  use("counting", strata::CountingInputIterator<std::int64_t>(-5), count);
  use("constant", strata::ConstantInputIterator<std::int64_t>(7), constant);
}

std::vector<int> random_items(std::size_t count) { return strata_test::random_integers(count, -1000, 1000, count); }

TEST(iterators, reduce_takes_each_as_input) {
  for (const std::size_t size : sizes) {
    const std::vector<int> items = random_items(size);
    const device_vector<int> in(items);
    for_each_input(items, in.data(), [&](const char* name, auto input, const std::vector<std::int64_t>& expected) {
      device_vector<std::int64_t> sum(1);
      ASSERT_CUDA_SUCCESS(call_with_temp_storage(
          [&](auto&&... storage) { return DeviceReduce::Sum(storage..., input, sum.data(), size); }));
      EXPECT_EQ(sum.to_host()[0], std::accumulate(expected.begin(), expected.end(), std::int64_t{0}))
          << name << ", " << size << " items";
    });
  }
}

TEST(iterators, scan_takes_each_as_input) {
  for (const std::size_t size : sizes) {
    const std::vector<int> items = random_items(size);
    const device_vector<int> in(items);
    for_each_input(items, in.data(), [&](const char* name, auto input, const std::vector<std::int64_t>& expected) {
      device_vector<std::int64_t> sums(size);
      ASSERT_CUDA_SUCCESS(call_with_temp_storage([&](auto&&... storage) {
        return DeviceScan::InclusiveScan(storage..., input, sums.data(), strata::Sum{}, size);
      }));
      std::vector<std::int64_t> all(size);
      std::partial_sum(expected.begin(), expected.end(), all.begin());
      EXPECT_EQ(sums.to_host(), all) << name << ", " << size << " items";
    });
  }
}

TEST(iterators, select_takes_each_as_input) {
  for (const std::size_t size : sizes) {
    const std::vector<int> items = random_items(size);
    const device_vector<int> in(items);
    for_each_input(items, in.data(), [&](const char* name, auto input, const std::vector<std::int64_t>& expected) {
      device_vector<std::int64_t> selected(size);
      device_vector<std::uint64_t> count(1);
      ASSERT_CUDA_SUCCESS(call_with_temp_storage([&](auto&&... storage) {
        return DeviceSelect::If(storage..., input, selected.data(), count.data(), size, is_even{});
      }));
      std::vector<std::int64_t> even;
      for (const std::int64_t item : expected) {
        if (item % 2 == 0) even.push_back(item);
      }
      ASSERT_EQ(count.to_host()[0], even.size()) << name << ", " << size << " items";
      std::vector<std::int64_t> got = selected.to_host();
      got.resize(even.size());
      EXPECT_EQ(got, even) << name << ", " << size << " items";
    });
  }
}

TEST(iterators, select_keeps_the_index_of_an_item) {
  using with_index = strata::ArgIndexInputIterator<const int*, int>;
  for (const std::size_t size : sizes) {
    const std::vector<int> items = random_items(size);
    const device_vector<int> in(items);
    device_vector<with_index::value_type> selected(size);
    device_vector<int> count(1);
    ASSERT_CUDA_SUCCESS(call_with_temp_storage([&](auto&&... storage) {
      return DeviceSelect::If(storage..., with_index(in.data(), 0), selected.data(), count.data(), size,
                              has_even_value<int, int>{});
    }));
    const std::vector<with_index::value_type> got = selected.to_host();
    std::size_t at = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if (items[i] % 2 != 0) continue;
      ASSERT_EQ(got[at].key, static_cast<int>(i)) << size;
      ASSERT_EQ(got[at].value, items[i]) << size;
      ++at;
    }
    EXPECT_EQ(count.to_host()[0], static_cast<int>(at));
  }
}

TEST(iterators, algorithms_begin_where_an_iterator_was_moved_to) {
  const std::vector<int> items = random_items(5000);
  const device_vector<int> in(items);
  for_each_input(items, in.data(), [&](const char* name, auto input, const std::vector<std::int64_t>& expected) {
    device_vector<std::int64_t> sum(1);
    ASSERT_CUDA_SUCCESS(call_with_temp_storage(
        [&](auto&&... storage) { return DeviceReduce::Sum(storage..., input + 777, sum.data(), 3000); }));
    EXPECT_EQ(sum.to_host()[0], std::accumulate(expected.begin() + 777, expected.begin() + 3777, std::int64_t{0}))
        << name;
  });
}

// An output iterator has no value type, so the calls compute with the value type of the input.
template <strata::CacheStoreModifier Modifier, class T>
void expect_outputs_are_written() {
  for (const std::size_t size : sizes) {
    const std::vector<int> values = random_items(size);
    const std::vector<T> items(values.begin(), values.end());
    const device_vector<T> in(items);
    device_vector<T> sums(size), sum(1), selected(size);
    device_vector<int> count(1);
    using output = strata::CacheModifiedOutputIterator<Modifier, T>;
    ASSERT_CUDA_SUCCESS(call_with_temp_storage(
        [&](auto&&... storage) { return DeviceScan::ExclusiveSum(storage..., in.data(), output(sums.data()), size); }));
    ASSERT_CUDA_SUCCESS(call_with_temp_storage(
        [&](auto&&... storage) { return DeviceReduce::Sum(storage..., in.data(), output(sum.data()), size); }));
    ASSERT_CUDA_SUCCESS(call_with_temp_storage([&](auto&&... storage) {
      return DeviceSelect::If(storage..., in.data(), output(selected.data()),
                              strata::CacheModifiedOutputIterator<Modifier, int>(count.data()), size, is_even{});
    }));
    std::vector<T> before, even;
    T total = 0;
    for (const T item : items) {
      before.push_back(total);
      total = static_cast<T>(total + item);
      if (is_even{}(item)) even.push_back(item);
    }
    EXPECT_EQ(sums.to_host(), before) << size;
    EXPECT_EQ(sum.to_host()[0], total) << size;
    EXPECT_EQ(count.to_host()[0], static_cast<int>(even.size())) << size;
    std::vector<T> got = selected.to_host();
    got.resize(even.size());
    EXPECT_EQ(got, even) << size;
  }
}

TEST(iterators, algorithms_write_cache_modified_outputs) {
  expect_outputs_are_written<strata::STORE_CS, int>();
  expect_outputs_are_written<strata::STORE_WT, double>();
}

TEST(iterators, results_that_are_discarded_change_no_others) {
  const std::size_t size = sizes.back();
  const std::vector<int> items = random_items(size);
  const device_vector<int> in(items);
  const strata::DiscardOutputIterator<> none;
  device_vector<int> count(1), selected(size);
  ASSERT_CUDA_SUCCESS(call_with_temp_storage(
      [&](auto&&... storage) { return DeviceSelect::If(storage..., in.data(), none, count.data(), size, is_even{}); }));
  std::vector<int> even;
  for (const int item : items) {
    if (item % 2 == 0) even.push_back(item);
  }
  EXPECT_EQ(count.to_host()[0], static_cast<int>(even.size()));
  ASSERT_CUDA_SUCCESS(call_with_temp_storage([&](auto&&... storage) {
    return DeviceSelect::If(storage..., in.data(), selected.data(), none, size, is_even{});
  }));
  std::vector<int> got = selected.to_host();
  got.resize(even.size());
  EXPECT_EQ(got, even);
  EXPECT_CUDA_SUCCESS(call_with_temp_storage(
      [&](auto&&... storage) { return DeviceScan::InclusiveSum(storage..., in.data(), none, size); }));
  EXPECT_CUDA_SUCCESS(
      call_with_temp_storage([&](auto&&... storage) { return DeviceReduce::Sum(storage..., in.data(), none, size); }));
}

// ---------------------------------------------------------------------------- examples
// Finds the largest item and its index. Of several equal ones, the first is returned.
cudaError_t largest(const int* d_in, strata::KeyValuePair<std::ptrdiff_t, int>* d_out, int count) {
  const strata::KeyValuePair<std::ptrdiff_t, int> lowest(-1, std::numeric_limits<int>::lowest());
  return strata::DeviceReduce::Reduce(strata::ArgIndexInputIterator<const int*>(d_in), d_out, count, strata::ArgMax{},
                                      lowest);
}

// Sums an array that is read only once. LOAD_CS lets caches evict its lines first.
cudaError_t sum_of_stream(const int* d_in, long long* d_out, std::size_t count) {
  const strata::CacheModifiedInputIterator<strata::LOAD_CS, int> in(d_in);
  return strata::DeviceReduce::Sum(in, d_out, count);
}

// Running sums that the next kernel does not read. STORE_CG keeps them out of L1, which holds data that it does read.
cudaError_t running_sums(void* d_temp, std::size_t& temp_bytes, const int* d_in, int* d_out, int count) {
  const strata::CacheModifiedOutputIterator<strata::STORE_CG, int> out(d_out);
  return strata::DeviceScan::InclusiveSum(d_temp, temp_bytes, d_in, out, count);
}

// The indices of the items that are not 0, in ascending order.
cudaError_t indices_of_nonzeros(void* d_temp, std::size_t& temp_bytes, const int* d_in, int* d_indices, int* d_count,
                                int count) {
  const strata::CountingInputIterator<int> indices(0);
  return strata::DeviceSelect::Flagged(d_temp, temp_bytes, indices, d_in, d_indices, d_count, count);
}

// The length of each run of equal keys.
cudaError_t run_lengths(void* d_temp, std::size_t& temp_bytes, const int* d_keys, int* d_unique, int* d_lengths,
                        int* d_runs, int count) {
  const strata::ConstantInputIterator<int> one(1);
  return strata::DeviceReduce::ReduceByKey(d_temp, temp_bytes, d_keys, d_unique, one, d_lengths, d_runs, strata::Sum{},
                                           count);
}

struct square {
  STRATA_HD double operator()(float x) const { return static_cast<double>(x) * x; }
};
// The sum of the squares.
cudaError_t sum_of_squares(const float* d_in, double* d_out, std::size_t count) {
  const strata::TransformInputIterator<double, square, const float*> squares(d_in, square{});
  return strata::DeviceReduce::Sum(squares, d_out, count);
}

// Counts the runs of equal keys without writing the keys or the lengths.
cudaError_t count_runs(void* d_temp, std::size_t& temp_bytes, const int* d_keys, int* d_runs, int count) {
  const strata::DiscardOutputIterator<> none;
  return strata::DeviceRunLengthEncode::Encode(d_temp, temp_bytes, d_keys, none, none, d_runs, count);
}

TEST(iterators, are_inputs_and_outputs_of_device_calls) {
  const std::vector<int> items{0, 0, 3, 3, 3, 0, 9, 9, -2};
  const std::vector<float> floats{1, 2, 3};
  const device_vector<int> in(items);
  const device_vector<float> floats_in(floats);
  device_vector<strata::KeyValuePair<std::ptrdiff_t, int>> pair(1);
  device_vector<long long> sum(1);
  device_vector<double> squares(1);
  device_vector<int> sums(9), indices(6), unique(5), lengths(5), selected(1), runs(1), more_runs(1);
  ASSERT_CUDA_SUCCESS(largest(in.data(), pair.data(), 9));
  ASSERT_CUDA_SUCCESS(sum_of_stream(in.data(), sum.data(), 9));
  ASSERT_CUDA_SUCCESS(call_with_temp_storage(
      [&](void* temp, std::size_t& bytes) { return running_sums(temp, bytes, in.data(), sums.data(), 9); }));
  ASSERT_CUDA_SUCCESS(call_with_temp_storage([&](void* temp, std::size_t& bytes) {
    return indices_of_nonzeros(temp, bytes, in.data(), indices.data(), selected.data(), 9);
  }));
  ASSERT_CUDA_SUCCESS(call_with_temp_storage([&](void* temp, std::size_t& bytes) {
    return run_lengths(temp, bytes, in.data(), unique.data(), lengths.data(), runs.data(), 9);
  }));
  ASSERT_CUDA_SUCCESS(sum_of_squares(floats_in.data(), squares.data(), 3));
  ASSERT_CUDA_SUCCESS(call_with_temp_storage(
      [&](void* temp, std::size_t& bytes) { return count_runs(temp, bytes, in.data(), more_runs.data(), 9); }));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(pair.to_host()[0], (strata::KeyValuePair<std::ptrdiff_t, int>(6, 9)));
  EXPECT_EQ(sum.to_host()[0], 25);
  EXPECT_EQ(sums.to_host(), (std::vector<int>{0, 0, 3, 6, 9, 9, 18, 27, 25}));
  EXPECT_EQ(selected.to_host()[0], 6);
  EXPECT_EQ(indices.to_host(), (std::vector<int>{2, 3, 4, 6, 7, 8}));
  EXPECT_EQ(runs.to_host()[0], 5);
  EXPECT_EQ(unique.to_host(), (std::vector<int>{0, 3, 0, 9, -2}));
  EXPECT_EQ(lengths.to_host(), (std::vector<int>{2, 3, 1, 2, 1}));
  EXPECT_EQ(squares.to_host()[0], 14);
  EXPECT_EQ(more_runs.to_host()[0], 5);
}

}  // namespace iterator_algorithms_test
