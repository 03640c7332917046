// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceReduce::ArgMin and ArgMax.
#include <strata/device/device_reduce.cuh>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "device/device_call.cuh"

namespace {

using namespace device_test;
using strata::DeviceReduce;

template <class T>
class DeviceReduceArg : public ::testing::Test {};
using number_types = ::testing::Types<std::int8_t, std::int32_t, std::uint64_t, double>;
TYPED_TEST_SUITE(DeviceReduceArg, number_types);

template <class T>
struct place {
  T value;
  std::int64_t index;
  friend bool operator==(const place& a, const place& b) { return a.value == b.value && a.index == b.index; }
  friend std::ostream& operator<<(std::ostream& os, const place& p) { return os << +p.value << " at " << p.index; }
};

template <class T, class Call>
place<T> place_of(const Call& call) {
  device_vector<T> value(1);
  device_vector<std::int64_t> index(1);
  EXPECT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) { return call(value.data(), index.data(), storage...); }));
  return {value.to_host()[0], index.to_host()[0]};
}

template <class T>
place<T> device_arg_min(const T* in, std::size_t count) {
  return place_of<T>([&](T* value, std::int64_t* index, auto&&... storage) {
    return DeviceReduce::ArgMin(storage..., in, value, index, static_cast<std::int64_t>(count));
  });
}

template <class T>
place<T> device_arg_max(const T* in, std::size_t count) {
  return place_of<T>([&](T* value, std::int64_t* index, auto&&... storage) {
    return DeviceReduce::ArgMax(storage..., in, value, index, static_cast<std::int64_t>(count));
  });
}

// There are few different values, so nearly every extremum occurs several times. The index must be that of the first.
TYPED_TEST(DeviceReduceArg, give_the_first_extremum_at_every_boundary) {
  using T = TypeParam;
  const std::vector<std::size_t> lengths = usual_sizes();
  const std::vector<T> items = random_integers<T>(lengths.back() + 4096, 3, 120);
  const device_vector<T> in(items);
  std::size_t low = 0;
  std::size_t high = 0;
  std::size_t done = 0;
  for (const std::size_t size : lengths) {
    if (size == 0) continue;
    for (; done < size; ++done) {
      if (items[done] < items[low]) low = done;
      if (items[high] < items[done]) high = done;
    }
    EXPECT_EQ((place<T>{items[low], static_cast<std::int64_t>(low)}), device_arg_min(in.data(), size)) << "of " << size;
    EXPECT_EQ((place<T>{items[high], static_cast<std::int64_t>(high)}), device_arg_max(in.data(), size))
        << "of " << size;
  }
}

TYPED_TEST(DeviceReduceArg, of_equal_items_is_the_first) {
  using T = TypeParam;
  for (const std::size_t size : sizes{1, 33, 4097, 100000}) {
    const device_vector<T> in(std::vector<T>(size, T{7}));
    EXPECT_EQ((place<T>{7, 0}), device_arg_min(in.data(), size)) << size;
    EXPECT_EQ((place<T>{7, 0}), device_arg_max(in.data(), size)) << size;
  }
}

TYPED_TEST(DeviceReduceArg, find_an_extremum_wherever_it_lies) {
  using T = TypeParam;
  constexpr std::size_t size = 40001;
  const std::vector<T> items(size, T{50});
  device_vector<T> in(items);
  for (const std::size_t at : sizes{0, 1, 31, 32, 255, 4095, 4096, 16384, 20000, 39999, 40000}) {
    for (const T extreme : {T{2}, T{99}}) {
      ASSERT_CUDA_SUCCESS(cudaMemcpy(in.data() + at, &extreme, sizeof(T), cudaMemcpyHostToDevice));
      EXPECT_EQ((place<T>{extreme, static_cast<std::int64_t>(at)}),
                extreme < items[at] ? device_arg_min(in.data(), size) : device_arg_max(in.data(), size));
    }
    ASSERT_CUDA_SUCCESS(cudaMemcpy(in.data() + at, &items[at], sizeof(T), cudaMemcpyHostToDevice));
  }
}

TYPED_TEST(DeviceReduceArg, of_no_items_is_the_end_of_the_range_at_1) {
  using T = TypeParam;
  EXPECT_EQ((place<T>{std::numeric_limits<T>::max(), 1}), device_arg_min(static_cast<const T*>(nullptr), 0));
  EXPECT_EQ((place<T>{std::numeric_limits<T>::lowest(), 1}), device_arg_max(static_cast<const T*>(nullptr), 0));
}

TEST(device_reduce_arg, finds_the_ends_of_the_range) {
  const std::vector<std::int32_t> items(3000, std::numeric_limits<std::int32_t>::max());
  const device_vector<std::int32_t> in(items);
  EXPECT_EQ((place<std::int32_t>{items[0], 0}), device_arg_min(in.data(), items.size()));
}

TEST(device_reduce_arg, does_not_care_where_the_input_starts) {
  const std::vector<std::int8_t> items = random_integers<std::int8_t>(70000, 0, 100);
  const device_vector<std::int8_t> in(items);
  for (std::size_t start = 0; start <= 17; ++start) {
    const auto first = items.begin() + static_cast<std::ptrdiff_t>(start);
    const auto found = std::max_element(first, first + 65000);
    EXPECT_EQ((place<std::int8_t>{*found, found - first}), device_arg_max(in.data() + start, 65000)) << start;
  }
}

TEST(device_reduce_arg, may_give_a_pair_of_index_and_value) {
  const std::vector<float> items = random_reals<float>(30001, -5.0, 5.0);
  const device_vector<float> in(items);
  const auto low = std::min_element(items.begin(), items.end());
  const auto high = std::max_element(items.begin(), items.end());
  using pair = strata::KeyValuePair<int, float>;
  const int count = static_cast<int>(items.size());
  const pair found_low = result_of<pair>(
      [&](pair* out, auto&&... storage) { return DeviceReduce::ArgMin(storage..., in.data(), out, count); });
  EXPECT_EQ(*low, found_low.value);
  EXPECT_EQ(low - items.begin(), found_low.key);
  const pair found_high = result_of<pair>(
      [&](pair* out, auto&&... storage) { return DeviceReduce::ArgMax(storage..., in.data(), out, count); });
  EXPECT_EQ(*high, found_high.value);
  EXPECT_EQ(high - items.begin(), found_high.key);
  const pair empty = result_of<pair>(
      [&](pair* out, auto&&... storage) { return DeviceReduce::ArgMax(storage..., in.data(), out, 0); });
  EXPECT_EQ(std::numeric_limits<float>::lowest(), empty.value);
  EXPECT_EQ(1, empty.key);
}

TEST(device_reduce_arg, overloads_without_storage_do_the_same) {
  const std::vector<int> items = random_integers<int>(30000, -1000, 1000);
  const device_vector<int> in(items);
  device_vector<int> value(1);
  device_vector<int> index(1);
  const stream on;
  ASSERT_CUDA_SUCCESS(
      in_one_phase([&] { return DeviceReduce::ArgMin(in.data(), value.data(), index.data(), items.size()); }));
  const auto low = std::min_element(items.begin(), items.end());
  EXPECT_EQ(*low, value.to_host()[0]);
  EXPECT_EQ(low - items.begin(), index.to_host()[0]);
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return DeviceReduce::ArgMax(in.data(), value.data(), index.data(), items.size(), static_cast<cudaStream_t>(on));
  }));
  const auto high = std::max_element(items.begin(), items.end());
  EXPECT_EQ(*high, value.to_host()[0]);
  EXPECT_EQ(high - items.begin(), index.to_host()[0]);
}

// ------------------------------------------------------------------ in the order of a comparator

/// A record without comparison operators.
struct person {
  int age;
  short name;
};
struct is_younger {
  STRATA_HD bool operator()(const person& a, const person& b) const { return a.age < b.age; }
};
struct is_closer_to {
  int number;
  STRATA_HD int distance(int x) const { return x < number ? number - x : x - number; }
  STRATA_HD bool operator()(int a, int b) { return distance(a) < distance(b); }  // not const
};

TEST(device_reduce_arg, comparators_find_the_first_of_equal_items) {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{2}, std::size_t{31}, std::size_t{5000}, if_small<std::size_t>(50001, 3000001)}) {
    SCOPED_TRACE(size);
    const std::vector<int> ages = random_integers<int>(size, 10, 60, size), names = random_integers<int>(size, 0, 9999);
    std::vector<person> people;
    for (std::size_t i = 0; i < size; ++i) people.push_back({ages[i], static_cast<short>(names[i])});
    const device_vector<person> in(people);
    device_vector<person> found(1);
    device_vector<std::int64_t> index(1);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceReduce::ArgMin(storage..., in.data(), found.data(), index.data(), size, is_younger{});
    }));
    const auto youngest = std::min_element(people.begin(), people.end(), is_younger{}) - people.begin();
    EXPECT_EQ(youngest, index.to_host()[0]);
    EXPECT_EQ(people[static_cast<std::size_t>(youngest)].name, found.to_host()[0].name);
    found.poison();
    index.poison();
    ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
      return DeviceReduce::ArgMax(storage..., in.data(), found.data(), index.data(), size, is_younger{});
    }));
    const auto oldest = std::max_element(people.begin(), people.end(), is_younger{}) - people.begin();
    EXPECT_EQ(oldest, index.to_host()[0]);
    EXPECT_EQ(people[static_cast<std::size_t>(oldest)].name, found.to_host()[0].name);

    const device_vector<int> d_ages(ages);
    device_vector<int> value(1);
    index.poison();
    ASSERT_CUDA_SUCCESS(in_one_phase(
        [&] { return DeviceReduce::ArgMin(d_ages.data(), value.data(), index.data(), size, is_closer_to{33}); }));
    const auto closest = std::min_element(ages.begin(), ages.end(), is_closer_to{33}) - ages.begin();
    EXPECT_EQ(closest, index.to_host()[0]);
    EXPECT_EQ(ages[static_cast<std::size_t>(closest)], value.to_host()[0]);
  }
}

TEST(device_reduce_arg, comparators_without_items_and_on_streams) {
  const device_vector<person> in(std::vector<person>{{3, 1}, {2, 5}});
  device_vector<person> found(1);
  device_vector<std::int64_t> index(1);
  const stream on;
  ASSERT_CUDA_SUCCESS(in_one_phase([&] {
    return DeviceReduce::ArgMax(in.data(), found.data(), index.data(), 2, is_younger{}, static_cast<cudaStream_t>(on));
  }));
  EXPECT_EQ(0, index.to_host()[0]);
  ASSERT_CUDA_SUCCESS(
      in_one_phase([&] { return DeviceReduce::ArgMin(in.data(), found.data(), index.data(), 0, is_younger{}); }));
  EXPECT_EQ(1, index.to_host()[0]);
  EXPECT_EQ(0, found.to_host()[0].age);
}

}  // namespace
