// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Items that are not trivially copyable, but may be moved as bytes.
#include <strata/block/block_exchange.cuh>
#include <strata/core/launcher.cuh>
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_scan.cuh>
#include <strata/device/device_select.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "device/device_call.cuh"
#include "support/test_types.cuh"

/// A number whose copy constructor is written out, so that the type is not trivially copyable.
struct copied_by_hand {
  std::int32_t number;

  copied_by_hand() = default;
  STRATA_HD explicit copied_by_hand(std::int32_t n) : number(n) {}
  STRATA_HD copied_by_hand(const copied_by_hand& other) : number(other.number) {}
  STRATA_HD copied_by_hand& operator=(const copied_by_hand& other) {
    number = other.number;
    return *this;
  }
};
template <>
struct strata::is_trivially_relocatable<copied_by_hand> : std::true_type {};
static_assert(!std::is_trivially_copyable_v<copied_by_hand>, "so that there is something to test");

namespace {

using namespace device_test;

template <class T>
struct access;
template <>
struct access<copied_by_hand> {
  static copied_by_hand of(int number) { return copied_by_hand(number); }
  STRATA_HD static int number(const copied_by_hand& item) { return item.number; }
};
template <>
struct access<__half2> {
  static __half2 of(int n) {
    __half2 pair;
    pair.x = __float2half(static_cast<float>(n / 1000));
    pair.y = __float2half(static_cast<float>(n % 1000));
    return pair;
  }
  STRATA_HD static int number(const __half2& item) {
    return 1000 * static_cast<int>(__half2float(item.x)) + static_cast<int>(__half2float(item.y));
  }
};

struct greater_number {
  template <class T>
  STRATA_HD T operator()(const T& a, const T& b) const {
    return access<T>::number(a) < access<T>::number(b) ? b : a;
  }
};
struct is_odd {
  template <class T>
  STRATA_HD bool operator()(const T& item) const {
    return access<T>::number(item) % 2 != 0;
  }
};
struct is_less {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return access<T>::number(a) < access<T>::number(b);
  }
};

template <class T>
class DeviceRelocatableTypes : public ::testing::Test {
 protected:
  DeviceRelocatableTypes() {
    numbers = strata_test::random_integers(count, 0, 99999);
    for (const int number : numbers) items.push_back(access<T>::of(number));
  }
  static std::vector<int> numbers_of(const std::vector<T>& from) {
    std::vector<int> all;
    for (const T& item : from) all.push_back(access<T>::number(item));
    return all;
  }
  static constexpr std::size_t count = strata_test::small_cases ? 3000 : 20000;
  static constexpr auto n = static_cast<std::int64_t>(count);
  std::vector<int> numbers;
  std::vector<T> items;
};
using relocatable_types = ::testing::Types<copied_by_hand, __half2>;
TYPED_TEST_SUITE(DeviceRelocatableTypes, relocatable_types);

TYPED_TEST(DeviceRelocatableTypes, are_reduced) {
  using T = TypeParam;
  const device_vector<T> in(this->items);
  const T result = result_of<T>([&](T* out, auto&&... storage) {
    return strata::DeviceReduce::Reduce(storage..., in.data(), out, this->n, greater_number{}, access<T>::of(0));
  });
  EXPECT_EQ(*std::max_element(this->numbers.begin(), this->numbers.end()), access<T>::number(result));
}

TYPED_TEST(DeviceRelocatableTypes, are_scanned) {
  using T = TypeParam;
  const device_vector<T> in(this->items);
  std::vector<int> expected = this->numbers;
  for (std::size_t i = 1; i < expected.size(); ++i) {
    expected[i] = std::max(expected[i - 1], expected[i]);
  }
  EXPECT_EQ(expected, this->numbers_of(results_of<T>(this->n, [&](T* out, auto&&... storage) {
    return strata::DeviceScan::InclusiveScan(storage..., in.data(), out, greater_number{}, this->n);
  })));
  const device_vector<int> keys(std::vector<int>(this->count, 5));
  EXPECT_EQ(expected, this->numbers_of(results_of<T>(this->n, [&](T* out, auto&&... storage) {
    return strata::DeviceScan::InclusiveScanByKey(storage..., keys.data(), in.data(), out, greater_number{}, this->n);
  })));
}

TYPED_TEST(DeviceRelocatableTypes, are_reduced_by_key) {
  using T = TypeParam;
  const device_vector<T> in(this->items);
  std::vector<int> hundreds(this->count);
  for (std::size_t i = 0; i < this->count; ++i) hundreds[i] = static_cast<int>(i / 100);
  const device_vector<int> keys(hundreds);
  device_vector<int> unique(this->count);
  device_vector<T> best(this->count);
  device_vector<std::int64_t> runs(1);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return strata::DeviceReduce::ReduceByKey(storage..., keys.data(), unique.data(), in.data(), best.data(),
                                             runs.data(), greater_number{}, this->n);
  }));
  const std::vector<T> results = best.to_host();
  for (std::size_t run = 0; run < this->count / 100; ++run) {
    const auto first = this->numbers.begin() + static_cast<std::ptrdiff_t>(100 * run);
    EXPECT_EQ(*std::max_element(first, first + 100), access<T>::number(results[run]));
  }
}

TYPED_TEST(DeviceRelocatableTypes, are_selected) {
  using T = TypeParam;
  const device_vector<T> in(this->items);
  device_vector<T> out(this->count);
  device_vector<T> data(this->items);
  device_vector<std::int64_t> selected(1);
  std::vector<int> expected;
  for (const int number : this->numbers) {
    if (number % 2 != 0) expected.push_back(number);
  }
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return strata::DeviceSelect::If(storage..., in.data(), out.data(), selected.data(), this->n, is_odd{});
  }));
  ASSERT_EQ(static_cast<std::int64_t>(expected.size()), selected.to_host()[0]);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return strata::DeviceSelect::If(storage..., data.data(), selected.data(), this->n, is_odd{});
  }));
  for (const device_vector<T>* const result : {&out, &data}) {
    std::vector<int> kept = this->numbers_of(result->to_host());
    kept.resize(expected.size());
    EXPECT_EQ(expected, kept);
  }
}

TYPED_TEST(DeviceRelocatableTypes, are_sorted) {
  using T = TypeParam;
  const device_vector<T> in(this->items);
  const device_vector<int> keys(this->numbers);
  device_vector<int> sorted(this->count);
  std::vector<int> expected = this->numbers;
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(expected, this->numbers_of(results_of<T>(this->n, [&](T* out, auto&&... storage) {
    return strata::DeviceMergeSort::SortKeysCopy(storage..., in.data(), out, this->n, is_less{});
  })));
  const std::int64_t sizes[] = {this->n, 500};
  for (const std::int64_t size : sizes) {
    std::vector<int> first(this->numbers.begin(), this->numbers.begin() + size);
    std::sort(first.begin(), first.end());
    EXPECT_EQ(first, this->numbers_of(results_of<T>(size, [&](T* out, auto&&... storage) {
      return strata::DeviceRadixSort::SortPairs(storage..., keys.data(), sorted.data(), in.data(), out, size);
    })));
  }
}

template <class T>
STRATA_KERNEL void exchange_items(const T* in, T* out) {
  using Exchange = strata::BlockExchange<T, 64, 4>;
  STRATA_SHARED(temp_storage, typename Exchange::TempStorage);
  T row[4];
  for (unsigned i = 0; i < 4; ++i) row[i] = in[4 * threadIdx.x + i];
  Exchange(temp_storage).BlockedToStriped(row, row);
  for (unsigned i = 0; i < 4; ++i) out[64 * i + threadIdx.x] = row[i];
}

TYPED_TEST(DeviceRelocatableTypes, are_exchanged) {
  using T = TypeParam;
  const device_vector<T> in(this->items);
  device_vector<T> out(256);
  ASSERT_CUDA_SUCCESS(strata::launch({"exchange_items", 1, 64}, exchange_items<T>, in.data(), out.data()));
  EXPECT_EQ(std::vector<int>(this->numbers.begin(), this->numbers.begin() + 256), this->numbers_of(out.to_host()));
}

}  // namespace
