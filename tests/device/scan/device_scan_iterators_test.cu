// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceScan over iterators that are not pointers.
#include <strata/device/device_scan.cuh>

#include <cstdint>
#include <vector>

#include "device/device_call.cuh"
#include "device/scan/device_scan_support.cuh"
#include "device/test_iterators.cuh"

namespace {

using namespace device_test;
using strata::DeviceScan;
using strata_test::plain_sum;

// With the library's tuning, a few tiles in small builds, and many rounds in others.
const std::size_t many = if_small<std::size_t>(20000, (1u << 21) + 3);

template <class T, class Iterator>
std::vector<T> exclusive_sums(Iterator in, std::size_t count) {
  return scan_results<T>(
      count, [&](T* out, auto&&... storage) { return DeviceScan::ExclusiveSum(storage..., in, out, count); });
}
template <class T, class Iterator>
std::vector<T> inclusive_sums(Iterator in, std::size_t count) {
  return scan_results<T>(
      count, [&](T* out, auto&&... storage) { return DeviceScan::InclusiveSum(storage..., in, out, count); });
}

TEST(device_scan_iterators, counting) {
  std::vector<std::size_t> lengths = boundary_sizes(if_small<std::size_t>(5000, 70000));
  lengths.push_back(many);
  for (const std::size_t size : lengths) {
    const auto before = exclusive_sums<std::int64_t>(counting<std::int64_t>(7), size);
    for (std::size_t i = 0; i < size; ++i) {
      const auto n = static_cast<std::int64_t>(i);
      ASSERT_EQ(n * (n - 1) / 2 + 7 * n, before[i]) << i << " of " << size;
    }
  }
}

TEST(device_scan_iterators, may_point_into_the_middle) {
  const counting<std::int64_t> start = counting<std::int64_t>(0) + 1000;
  const auto before = exclusive_sums<std::int64_t>(start, 5000);
  for (std::int64_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(1000 * i + i * (i - 1) / 2, before[static_cast<std::size_t>(i)]);
  }
}

struct square {
  STRATA_HD std::int64_t operator()(int x) const { return static_cast<std::int64_t>(x) * x; }
};

TEST(device_scan_iterators, transformed_pointer) {
  const std::vector<int> items = random_integers<int>(many, -1000, 1000);
  const device_vector<int> in(items);
  std::vector<std::int64_t> squares;
  for (const int item : items) squares.push_back(square{}(item));
  EXPECT_SAME_ITEMS(inclusive_scan<std::int64_t>(squares.data(), many, plain_sum{}),
                    inclusive_sums<std::int64_t>(transforming<const int*, square>(in.data(), square{}), many));
}

TEST(device_scan_iterators, strided_forwards_and_backwards) {
  const std::vector<int> items = random_integers<int>(3 * 10000, -1000, 1000);
  const device_vector<int> in(items);
  std::vector<int> third;
  for (std::size_t i = 1; i < items.size(); i += 3) third.push_back(items[i]);
  EXPECT_SAME_ITEMS(inclusive_scan<int>(third.data(), third.size(), plain_sum{}),
                    inclusive_sums<int>(strided<const int>(in.data() + 1, 3), third.size()));
  const std::vector<int> reversed(items.rbegin(), items.rend());
  EXPECT_SAME_ITEMS(inclusive_scan<int>(reversed.data(), reversed.size(), plain_sum{}),
                    inclusive_sums<int>(strided<const int>(in.data() + items.size() - 1, -1), items.size()));
}

TEST(device_scan_iterators, proxy_references) {
  const std::vector<unsigned> words = random_integers<unsigned>(1000, 0, 0xffffffffll);
  const device_vector<unsigned> in(words);
  const std::vector<int> ranks = exclusive_sums<int>(bits(in.data()), 31999);
  int expected = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ASSERT_EQ(expected, ranks[i]) << i;
    expected += (words[i / 32] >> i % 32 & 1u) != 0;
  }
}

// ------------------------------------------------------------------ outputs

TEST(device_scan_iterators, output_without_a_value_type_takes_the_type_of_the_items) {
  for (const std::size_t size : sizes{0, 5, 10000}) {
    const auto results = scan_results<int>(size, [&](int* out, auto&&... storage) {
      return DeviceScan::ExclusiveSum(storage..., counting<int>(0), doubling_output<int>(out), size);
    });
    for (std::size_t i = 0; i < size; ++i) {
      ASSERT_EQ(static_cast<int>(i * (i > 0 ? i - 1 : 0)), results[i]) << size;
    }
  }
}

TEST(device_scan_iterators, output_may_have_gaps) {
  const std::vector<int> items = random_integers<int>(5000, -1000, 1000);
  const device_vector<int> in(items);
  device_vector<int> out(2 * items.size());
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceScan::InclusiveSum(storage..., in.data(), strided<int>(out.data(), 2), items.size());
  }));
  const std::vector<int> all = out.to_host();
  const std::vector<int> sums = inclusive_scan<int>(items.data(), items.size(), plain_sum{});
  for (std::size_t i = 0; i < sums.size(); ++i) {
    ASSERT_EQ(sums[i], all[2 * i]) << i;
    ASSERT_TRUE(strata_test::is_poison(all[2 * i + 1])) << i;
  }
}

TEST(device_scan_iterators, every_output_is_written_once) {
  const std::vector<int> items = random_integers<int>(many, -1000, 1000);
  const device_vector<int> in(items);
  for (const std::size_t size : sizes{1, 33, 4097, many}) {
    device_vector<unsigned> written(std::vector<unsigned>(size, 0u));
    const auto results = scan_results<int>(size, [&](int* out, auto&&... storage) {
      return DeviceScan::InclusiveSum(storage..., in.data(), counted_output<int>(out, written.data()), size);
    });
    EXPECT_SAME_ITEMS(inclusive_scan<int>(items.data(), size, plain_sum{}), results);
    EXPECT_SAME_ITEMS(std::vector<unsigned>(size, 1u), written.to_host());
  }
}

}  // namespace
