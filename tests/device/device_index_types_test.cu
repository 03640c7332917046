// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Outputs of other types than the results. An integer output must be able to represent each number of items that is
// written to it. To other outputs, results are assigned as they are.
#include <strata/device/device_adjacent_difference.cuh>
#include <strata/device/device_merge.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_segmented_merge_sort.cuh>
#include <strata/device/device_segmented_reduce.cuh>
#include <strata/device/device_select.cuh>
#include <strata/device/device_transform.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/device_call.cuh"
#include "device/test_iterators.cuh"

namespace {

using namespace device_test;
using strata::KeyValuePair;

struct is_less {
  STRATA_HD bool operator()(int a, int b) const { return a < b; }
};

/// Expects that `call(indices, count, storage, bytes)` and its size query are refused and write nothing.
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

/// Expects that the indices of 256 equal keys are 0, 1 ... 255.
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
  out.poison();
  EXPECT_CUDA_SUCCESS(of_segments(1, 256));
  EXPECT_EQ(255, out.to_host()[0].key);
  EXPECT_EQ(cudaErrorInvalidValue, of_segments(1, 257));
  std::size_t bytes = 0;
  EXPECT_EQ(cudaErrorInvalidValue,
            strata::DeviceSegmentedReduce::ArgMin(nullptr, bytes, in.data(), out.data(), 1, 257));
}

// ------------------------------------------------------------------ assigned as they are

/// A number of hundredths. Numbers can be assigned to it, and nothing else.
struct hundredths {
  int number;
  STRATA_HD void operator=(double x) { number = static_cast<int>(x * 100); }
};

struct halved {
  STRATA_HD double operator()(double x) const { return x / 2; }
};
struct is_positive {
  STRATA_HD bool operator()(double x) const { return x > 0; }
};
struct comes_first {
  STRATA_HD bool operator()(double a, double b) const { return a < b; }
};

class device_assigned_results : public testing::Test {
 protected:
  device_assigned_results() : items(count), keys(count) {
    for (std::size_t i = 0; i < count; ++i) {
      items[i] = static_cast<double>(i * 37 % 16) / 4 - 1;
      keys[i] = static_cast<int>(i / 5);
    }
    d_items.assign(items);
    d_keys.assign(keys);
  }

  /// Expects that `call(output, storage...)` writes these numbers.
  template <class Call>
  static void expect_assigned(const std::vector<double>& numbers, const Call& call) {
    expect_assigned_to([](int* to) { return hundredths_output(to); }, numbers, call);
  }
  template <class Call>
  static void expect_assigned_in_memory(const std::vector<double>& numbers, const Call& call) {
    expect_assigned_to([](int* to) { return reinterpret_cast<hundredths*>(to); }, numbers, call);
  }

  static constexpr std::size_t count = 20000;
  static constexpr int n = static_cast<int>(count);
  std::vector<double> items;
  std::vector<int> keys;
  device_vector<double> d_items{count};
  device_vector<int> d_keys{count};

 private:
  template <class MakeOutput, class Call>
  static void expect_assigned_to(const MakeOutput& make_output, const std::vector<double>& numbers, const Call& call) {
    std::vector<int> expected;
    for (const double number : numbers) expected.push_back(static_cast<int>(number * 100));
    device_vector<int> out(numbers.size());
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) { return call(make_output(out.data()), storage...); }));
    EXPECT_EQ(expected, out.to_host());
  }
};

TEST_F(device_assigned_results, transform) {
  std::vector<double> halves;
  for (const double item : items) halves.push_back(item / 2);
  const auto call = [&](auto out, auto&&... storage) {
    return strata::DeviceTransform::Transform(storage..., d_items.data(), out, n, halved{});
  };
  expect_assigned(halves, call);
  expect_assigned_in_memory(halves, call);
}

TEST_F(device_assigned_results, scans) {
  std::vector<double> sums, sums_by_key;
  double sum = 0, sum_by_key = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 5 == 0) sum_by_key = 0;
    sums_by_key.push_back(sum_by_key);
    sum_by_key += items[i];
    sums.push_back(sum += items[i]);
  }
  const auto call = [&](auto out, auto&&... storage) {
    return strata::DeviceScan::InclusiveSum(storage..., d_items.data(), out, n);
  };
  expect_assigned(sums, call);
  expect_assigned_in_memory(sums, call);
  expect_assigned(sums_by_key, [&](auto out, auto&&... storage) {
    return strata::DeviceScan::ExclusiveSumByKey(storage..., d_keys.data(), d_items.data(), out, n);
  });
}

TEST_F(device_assigned_results, reductions) {
  double sum = 1.5;
  std::vector<double> sums_by_key;
  for (std::size_t i = 0; i < count; ++i) {
    sum += items[i];
    if (i % 5 == 0) sums_by_key.push_back(0);
    sums_by_key.back() += items[i];
  }
  const auto call = [&](auto out, auto&&... storage) {
    return strata::DeviceReduce::Reduce(storage..., d_items.data(), out, n, strata::Sum{}, 1.5);
  };
  expect_assigned({sum}, call);
  expect_assigned_in_memory({sum}, call);
  device_vector<int> unique(count), num(1);
  expect_assigned(sums_by_key, [&](auto out, auto&&... storage) {
    return strata::DeviceReduce::ReduceByKey(storage..., d_keys.data(), unique.data(), d_items.data(), out, num.data(),
                                             strata::Sum{}, n);
  });
}

TEST_F(device_assigned_results, selected_items) {
  std::vector<double> selected;
  for (const double item : items) {
    if (item > 0) selected.push_back(item);
  }
  device_vector<int> num(1);
  expect_assigned(selected, [&](auto out, auto&&... storage) {
    return strata::DeviceSelect::If(storage..., d_items.data(), out, num.data(), n, is_positive{});
  });
}

TEST_F(device_assigned_results, differences) {
  std::vector<double> differences = items;
  for (std::size_t i = 1; i < count; ++i) differences[i] -= items[i - 1];
  expect_assigned(differences, [&](auto out, auto&&... storage) {
    return strata::DeviceAdjacentDifference::SubtractLeftCopy(storage..., d_items.data(), out, n);
  });
}

TEST_F(device_assigned_results, merged_items) {
  std::sort(items.begin(), items.end());
  d_items.assign(items);
  std::vector<double> merged;
  for (const double item : items) merged.insert(merged.end(), 2, item);
  expect_assigned(merged, [&](auto out, auto&&... storage) {
    return strata::DeviceMerge::MergeKeys(storage..., d_items.data(), n, d_items.data(), n, out, comes_first{});
  });
}

}  // namespace
