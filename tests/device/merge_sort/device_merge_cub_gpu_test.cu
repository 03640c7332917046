// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares DeviceMerge with CUB's, which merges stably, too, but does not promise it. Also tests counts that need 64
// bits.
#include <strata/device/device_merge.cuh>

#include <cub/device/device_merge.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "device/device_call.cuh"
#include "device/large_arrays.cuh"

namespace {

using namespace device_test;

struct is_less {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

template <class Key, class Value>
void expect_the_same(std::int64_t count1, std::int64_t count2, long long different) {
  SCOPED_TRACE(testing::Message() << count1 << " and " << count2 << " items, " << different << " keys");
  const auto range = [&](std::int64_t count, std::uint64_t number) {
    auto keys = random_integers<Key>(static_cast<std::size_t>(count), 0, different, number);
    std::sort(keys.begin(), keys.end());
    return device_vector<Key>(keys);
  };
  const auto values = [](std::int64_t count, std::uint64_t number) {
    return device_vector<Value>(random_integers<Value>(static_cast<std::size_t>(count), 0, 1 << 30, number));
  };
  const auto keys1 = range(count1, 1), keys2 = range(count2, 2);
  const auto values1 = values(count1, 3), values2 = values(count2, 4);
  const auto merged_by = [&](auto library) {
    device_vector<Key> keys(static_cast<std::size_t>(count1 + count2));
    device_vector<Value> merged(keys.size());
    EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return decltype(library)::MergePairs(storage, bytes, keys1.data(), values1.data(), count1, keys2.data(),
                                           values2.data(), count2, keys.data(), merged.data(), is_less{});
    }));
    return std::make_pair(keys.to_host(), merged.to_host());
  };
  const auto ours = merged_by(strata::DeviceMerge{}), theirs = merged_by(cub::DeviceMerge{});
  ASSERT_TRUE(ours.first == theirs.first);
  ASSERT_TRUE(ours.second == theirs.second);
}

TEST(device_merge_cub, random_ranges) {
  std::mt19937_64 bits = strata_test::random_bits(1);
  for (int i = 0; i < 30; ++i) {
    const auto count = [&] { return static_cast<std::int64_t>(bits() % (std::uint64_t{1} << (4 + bits() % 20))); };
    const std::int64_t count1 = count(), count2 = count();
    const auto different = static_cast<long long>(1ull << bits() % 31);
    ASSERT_NO_FATAL_FAILURE((expect_the_same<std::int32_t, std::int32_t>(count1, count2, different)));
    ASSERT_NO_FATAL_FAILURE((expect_the_same<double, std::int64_t>(count1, count2, different)));
    ASSERT_NO_FATAL_FAILURE((expect_the_same<std::uint8_t, std::int64_t>(count1, count2, std::min(different, 200ll))));
  }
}

TEST(device_merge_cub, more_items_than_32_bits_count) {
  constexpr std::int64_t count1 = (std::int64_t{1} << 31) + 3, count2 = (std::int64_t{1} << 31) + 1000;
  const array<unsigned char> in(count1 + count2), merged(count1 + count2);
  unsigned char *const keys = in.data(), *const out = merged.data();
  if (keys == nullptr || out == nullptr) GTEST_SKIP() << "the device has too little memory";
  // The first range has keys 0 and, at its end, five keys 2. The second range has keys 1.
  ASSERT_CUDA_SUCCESS(cudaMemset(keys, 0, count1));
  ASSERT_CUDA_SUCCESS(cudaMemset(keys + count1 - 5, 2, 5));
  ASSERT_CUDA_SUCCESS(cudaMemset(keys + count1, 1, count2));
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return strata::DeviceMerge::MergeKeys(storage, bytes, keys, count1, keys + count1, count2, out);
  }));
  std::vector<unsigned char> result(static_cast<std::size_t>(count1 + count2));
  ASSERT_CUDA_SUCCESS(cudaMemcpy(result.data(), out, result.size(), cudaMemcpyDeviceToHost));
  const auto first_one = result.begin() + (count1 - 5), first_two = first_one + count2;
  EXPECT_EQ(count1 - 5, std::count(result.begin(), first_one, 0));
  EXPECT_EQ(count2, std::count(first_one, first_two, 1));
  EXPECT_EQ(5, std::count(first_two, result.end(), 2));
}

}  // namespace
