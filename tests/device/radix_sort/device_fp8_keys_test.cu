// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Keys that are 8-bit floating-point numbers: sorts, top-k, and hashes of joins.
#include <strata/block/block_radix_sort.cuh>
#include <strata/core/launcher.cuh>
#include <strata/device/device_radix_sort.cuh>
#include <strata/device/device_segmented_sort.cuh>
#include <strata/device/device_top_k.cuh>
#include <strata/device/join/common/join_hash.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <vector>

#include "device/device_call.cuh"
#include "support/fp8.cuh"

namespace {

using namespace device_test;

/// Random bit patterns, NaNs included.
template <class Key>
std::vector<Key> random_keys(std::size_t count) {
  const std::vector<unsigned char> bits = random_integers<unsigned char>(count, 0, 255, 31);
  std::vector<Key> keys(count);
  std::memcpy(static_cast<void*>(keys.data()), bits.data(), count);
  return keys;
}

template <class Key>
std::vector<unsigned char> bits_of(const std::vector<Key>& keys) {
  std::vector<unsigned char> bits(keys.size());
  std::memcpy(bits.data(), keys.data(), keys.size());
  return bits;
}

template <class Key>
bool is_before(const Key& a, const Key& b) {
  const float x = strata_test::number_of(a), y = strata_test::number_of(b);
  return x < y || (!std::isnan(x) && std::isnan(y));
}

template <class Key>
std::vector<Key> sorted(std::vector<Key> keys, bool is_descending) {
  std::stable_sort(keys.begin(), keys.end(),
                   [&](const Key& a, const Key& b) { return is_descending ? is_before(b, a) : is_before(a, b); });
  return keys;
}

template <class Key>
STRATA_KERNEL void sort_in_a_block(Key* keys) {
  using block_sort = strata::BlockRadixSort<Key, 128, 4>;
  STRATA_SHARED(storage, typename block_sort::TempStorage);
  Key mine[4];
  for (unsigned i = 0; i < 4; ++i) mine[i] = keys[threadIdx.x * 4 + i];
  block_sort(storage).Sort(mine);
  for (unsigned i = 0; i < 4; ++i) keys[threadIdx.x * 4 + i] = mine[i];
}

template <class Key>
class DeviceFp8Keys : public ::testing::Test {};
using key_types = ::testing::Types<__nv_fp8_e4m3, __nv_fp8_e5m2>;
TYPED_TEST_SUITE(DeviceFp8Keys, key_types);

TYPED_TEST(DeviceFp8Keys, radix_sorts_order_them_by_their_numbers) {
  const std::vector<TypeParam> keys = random_keys<TypeParam>(if_small(5000u, 3000000u));
  const device_vector<TypeParam> in(keys);
  const auto n = static_cast<std::int64_t>(keys.size());
  const auto up = results_of<TypeParam>(n, [&](TypeParam* out, void* storage, std::size_t& bytes) {
    return strata::DeviceRadixSort::SortKeys(storage, bytes, in.data(), out, n);
  });
  EXPECT_EQ(bits_of(sorted(keys, false)), bits_of(up));
  const auto down = results_of<TypeParam>(n, [&](TypeParam* out, void* storage, std::size_t& bytes) {
    return strata::DeviceRadixSort::SortKeysDescending(storage, bytes, in.data(), out, n);
  });
  EXPECT_EQ(bits_of(sorted(keys, true)), bits_of(down));
}

TYPED_TEST(DeviceFp8Keys, segments_and_blocks_order_them_alike) {
  const std::vector<TypeParam> keys = random_keys<TypeParam>(512);
  const device_vector<TypeParam> in(keys);
  const auto segments = results_of<TypeParam>(512, [&](TypeParam* out, void* storage, std::size_t& bytes) {
    return strata::DeviceSegmentedSort::SortKeys(storage, bytes, in.data(), out, 1, 512);
  });
  EXPECT_EQ(bits_of(sorted(keys, false)), bits_of(segments));
  device_vector<TypeParam> block(keys);
  ASSERT_CUDA_SUCCESS(
      strata::launch({"sort_in_a_block", dim3(1), dim3(128)}, sort_in_a_block<TypeParam>, block.data()));
  ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_EQ(bits_of(sorted(keys, false)), bits_of(block.to_host()));
}

TYPED_TEST(DeviceFp8Keys, the_greatest_of_them) {
  const std::vector<TypeParam> keys = random_keys<TypeParam>(3000);
  const device_vector<TypeParam> in(keys);
  const auto found = results_of<TypeParam>(100, [&](TypeParam* out, void* storage, std::size_t& bytes) {
    return strata::DeviceTopK::MaxKeysSorted(storage, bytes, in.data(), out, 3000, 100);
  });
  std::vector<TypeParam> expected = sorted(keys, true);
  expected.resize(100);
  EXPECT_EQ(bits_of(expected), bits_of(found));
}

TYPED_TEST(DeviceFp8Keys, joins_hash_equal_numbers_alike_and_no_others) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      TypeParam keys[2];
      const unsigned char bits[2] = {static_cast<unsigned char>(a), static_cast<unsigned char>(b)};
      std::memcpy(static_cast<void*>(keys), bits, 2);
      const float x = strata_test::number_of(keys[0]), y = strata_test::number_of(keys[1]);
      if (std::isnan(x) || std::isnan(y)) continue;
      ASSERT_EQ(x == y, strata::JoinHash{}(keys[0]) == strata::JoinHash{}(keys[1])) << x << " and " << y;
    }
  }
}

}  // namespace
