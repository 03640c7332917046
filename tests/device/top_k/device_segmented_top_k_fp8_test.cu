// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSegmentedTopK of 8-bit floating-point numbers selects what a stable sort by the numbers themselves selects.
#include <cmath>
#include <numeric>

#include "device/top_k/segmented_top_k_cases.cuh"
#include "support/fp8.cuh"

namespace device_segmented_top_k_fp8_test {

using namespace segmented_top_k_test;

template <class Key>
class DeviceSegmentedTopKFp8 : public ::testing::Test {};
using key_types = ::testing::Types<__nv_fp8_e4m3, __nv_fp8_e5m2>;
TYPED_TEST_SUITE(DeviceSegmentedTopKFp8, key_types);

/// The indices of the results of one segment. NaNs are equal, and greater than all other numbers.
template <class Key>
std::vector<std::uint32_t> items_of_numbers(const Key* keys, std::size_t size, std::size_t k, bool is_max,
                                            bool is_sorted) {
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0u);
  const auto is_less = [&](std::uint32_t a, std::uint32_t b) {
    const float x = strata_test::number_of(keys[a]), y = strata_test::number_of(keys[b]);
    return x < y || (!std::isnan(x) && std::isnan(y));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return is_max ? is_less(b, a) : is_less(a, b); });
  order.resize(std::min(k, size));
  if (!is_sorted) std::sort(order.begin(), order.end());
  return order;
}

template <bool IsMax, bool IsSorted, class Key>
void expect_numbers(const std::vector<Key>& keys, std::size_t rows, std::size_t size, std::size_t k) {
  SCOPED_TRACE(testing::Message() << k << " of " << rows << " rows of " << size << (IsMax ? ", greatest" : ", least"));
  const device_vector<Key> in(keys);
  device_vector<Key> out(rows * k);
  device_vector<std::uint32_t> indices(rows * k);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return call<IsMax, IsSorted, form::arg>(static_cast<const Key*>(in.data()), out.data(), NullType{}, indices.data(),
                                            strata::SegmentsOfSize(rows, size), k, storage...);
  }));
  const auto found = out.to_host();
  const auto found_indices = indices.to_host();
  for (std::size_t row = 0; row < rows; ++row) {
    const auto expected = items_of_numbers(keys.data() + row * size, size, k, IsMax, IsSorted);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(expected[i], found_indices[row * k + i]) << "row " << row << ", place " << i;
      ASSERT_EQ(0, std::memcmp(&keys[row * size + expected[i]], &found[row * k + i], 1)) << row << ", place " << i;
    }
  }
}

// Lengths for warps, groups, blocks and samples. There are only 256 different keys, so most results have equal keys.
TYPED_TEST(DeviceSegmentedTopKFp8, are_in_the_order_of_their_numbers) {
  struct sizes {
    std::size_t rows, size, k;
  };
  std::vector<sizes> all = {{9, 50, 7}, {3, 256, 8}, {3, 900, 300}, {2, 3000, 40}, {2, 3000, 1000}};
  if (!is_small()) all.insert(all.end(), {{2, 8192, 100}, {2, 20000, 2000}, {2, 70001, 500}});
  for (const sizes& each : all) {
    auto keys = make_keys<TypeParam>(each.rows * each.size, pattern::random, each.size);
    ASSERT_NO_FATAL_FAILURE((expect_numbers<true, false>(keys, each.rows, each.size, each.k)));
    ASSERT_NO_FATAL_FAILURE((expect_numbers<false, true>(keys, each.rows, each.size, each.k)));
  }
}

TYPED_TEST(DeviceSegmentedTopKFp8, of_zeros_and_numbers_that_are_none) {
  constexpr std::size_t rows = 2, size = 300;
  std::vector<TypeParam> keys(rows * size);
  const unsigned char bits[] = {0x80, 0x00, 0xff, 0x7f, 0x01, 0x81};
  for (std::size_t i = 0; i < keys.size(); ++i) std::memcpy(static_cast<void*>(&keys[i]), &bits[i * 7 % 6], 1);
  for (const std::size_t k : {5, 120, 299}) {
    ASSERT_NO_FATAL_FAILURE((expect_numbers<true, false>(keys, rows, size, k)));
    ASSERT_NO_FATAL_FAILURE((expect_numbers<false, true>(keys, rows, size, k)));
  }
}

// Segments by offsets use other kernels than segments of one size. More results than a block sorts use other kernels,
// too.
TYPED_TEST(DeviceSegmentedTopKFp8, of_segments_by_offsets) {
  ASSERT_NO_FATAL_FAILURE(
      (expect_segments<true, true, form::pairs, TypeParam>({0, 1, 40, 700, 2100}, 33, pattern::random)));
  ASSERT_NO_FATAL_FAILURE((expect_segments<false, true, form::keys, TypeParam>({2600, 30}, 2500, pattern::few)));
}

}  // namespace device_segmented_top_k_fp8_test
