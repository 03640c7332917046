// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Items of hundreds of bytes: their tiles must fit in shared memory.
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_segmented_scan.cuh>
#include <strata/device/device_select.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"

namespace {

using namespace device_test;

template <std::size_t Bytes>
struct large {
  std::uint32_t word[Bytes / 4];

  static large of(std::uint32_t number) {
    large item;
    for (std::size_t i = 0; i < Bytes / 4; ++i) {
      item.word[i] = number * 2654435761u + static_cast<std::uint32_t>(i);
    }
    return item;
  }
  STRATA_HD friend bool operator==(const large& a, const large& b) {
    for (std::size_t i = 0; i < Bytes / 4; ++i) {
      if (a.word[i] != b.word[i]) return false;
    }
    return true;
  }
};

struct add_words {
  template <class T>
  STRATA_HD T operator()(const T& a, const T& b) const {
    T sum;
    for (std::size_t i = 0; i < sizeof(T) / 4; ++i) sum.word[i] = a.word[i] + b.word[i];
    return sum;
  }
};
struct is_odd {
  template <class T>
  STRATA_HD bool operator()(const T& item) const {
    return item.word[0] % 2 != 0;
  }
};
struct is_less {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a.word[0] < b.word[0];
  }
};

template <class T>
class DeviceLargeTypes : public ::testing::Test {
 protected:
  DeviceLargeTypes() {
    for (std::uint32_t i = 0; i < count; ++i) items.push_back(T::of(i));
  }
  static constexpr std::uint32_t count = strata_test::small_cases ? 700 : 3000;
  static constexpr auto n = static_cast<std::int64_t>(count);
  std::vector<T> items;
};
#if STRATA_TEST_FEW_TYPES && !defined(__CUDACC__)
using large_types = ::testing::Types<large<400>, large<1024>>;
#elif defined(__CUDACC__)
using large_types = ::testing::Types<large<320>>;  // nvcc takes a minute for this type, and more for larger ones
#else
using large_types = ::testing::Types<large<400>, large<640>, large<1024>>;
#endif
TYPED_TEST_SUITE(DeviceLargeTypes, large_types);

TYPED_TEST(DeviceLargeTypes, are_reduced) {
  using T = TypeParam;
  const device_vector<T> in(this->items);
  const T expected = std::accumulate(this->items.begin() + 1, this->items.end(), this->items[0], add_words{});
  EXPECT_TRUE(expected == result_of<T>([&](T* out, auto&&... storage) {
                return strata::DeviceReduce::Reduce(storage..., in.data(), out, this->n, add_words{}, T{});
              }));
}

TYPED_TEST(DeviceLargeTypes, are_scanned) {
  using T = TypeParam;
  const device_vector<T> in(this->items);
  std::vector<T> expected = this->items;
  for (std::size_t i = 1; i < expected.size(); ++i) {
    expected[i] = add_words{}(expected[i - 1], expected[i]);
  }
  EXPECT_TRUE(expected == results_of<T>(this->n, [&](T* out, auto&&... storage) {
                return strata::DeviceScan::InclusiveScan(storage..., in.data(), out, add_words{}, this->n);
              }));
  const device_vector<std::int64_t> offsets({0, this->n});
  EXPECT_TRUE(expected == results_of<T>(this->n, [&](T* out, auto&&... storage) {
                return strata::DeviceSegmentedScan::InclusiveSegmentedScan(storage..., in.data(), out, offsets.data(),
                                                                           offsets.data() + 1, 1, add_words{});
              }));
}

TYPED_TEST(DeviceLargeTypes, are_selected) {
  using T = TypeParam;
  const device_vector<T> in(this->items);
  std::vector<T> expected;
  for (const T& item : this->items) {
    if (is_odd{}(item)) expected.push_back(item);
  }
  device_vector<T> out(this->items.size());
  device_vector<std::int64_t> selected(1);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return strata::DeviceSelect::If(storage..., in.data(), out.data(), selected.data(), this->n, is_odd{});
  }));
  EXPECT_EQ(static_cast<std::int64_t>(expected.size()), selected.to_host()[0]);
  std::vector<T> moved = out.to_host();
  moved.resize(expected.size());
  EXPECT_TRUE(expected == moved);
  device_vector<T> data(this->items);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return strata::DeviceSelect::If(storage..., data.data(), selected.data(), this->n, is_odd{});
  }));
  std::vector<T> kept = data.to_host();
  kept.resize(expected.size());
  EXPECT_TRUE(expected == kept);
}

TYPED_TEST(DeviceLargeTypes, are_sorted_by_comparison) {
  using T = TypeParam;
  const device_vector<T> in(this->items);
  std::vector<T> expected = this->items;
  std::stable_sort(expected.begin(), expected.end(), is_less{});
  EXPECT_TRUE(expected == results_of<T>(this->n, [&](T* out, auto&&... storage) {
                return strata::DeviceMergeSort::SortKeysCopy(storage..., in.data(), out, this->n, is_less{});
              }));
}

TYPED_TEST(DeviceLargeTypes, are_values_of_radix_sorts) {
  // Values of more than 800 bytes are refused.
  using T = std::conditional_t<(sizeof(TypeParam) <= 800), TypeParam, large<800>>;
  std::vector<std::uint32_t> keys;
  std::vector<T> records;
  for (std::uint32_t i = 0; i < this->count; ++i) records.push_back(T::of(i));
  for (const T& item : records) keys.push_back(item.word[0] % 1000);
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  std::vector<T> expected;
  for (const std::size_t i : order) expected.push_back(records[i]);
  const device_vector<T> in(records);
  const device_vector<std::uint32_t> d_keys(keys);
  device_vector<std::uint32_t> sorted(keys.size());
  const std::int64_t sizes[] = {this->n, this->n / 10};
  for (const std::int64_t size : sizes) {
    if (size != this->n) {
      order.resize(static_cast<std::size_t>(size));
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
      expected.clear();
      for (const std::size_t i : order) expected.push_back(records[i]);
    }
    EXPECT_TRUE(expected == results_of<T>(size,
                                          [&](T* out, auto&&... storage) {
                                            return strata::DeviceRadixSort::SortPairs(
                                                storage..., d_keys.data(), sorted.data(), in.data(), out, size);
                                          }))
        << size;
  }
}

}  // namespace
