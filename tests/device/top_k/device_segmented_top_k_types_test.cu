// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSegmentedTopK of keys of all types, with lengths around the bounds of each method, several numbers of results,
// and all patterns.
#include "device/top_k/segmented_top_k_cases.cuh"

namespace device_segmented_top_k_test {

using namespace segmented_top_k_test;

template <class T>
class DeviceSegmentedTopKKeys : public ::testing::Test {};
#if STRATA_TEST_FEW_TYPES
using key_types = ::testing::Types<std::uint8_t, float, std::int64_t>;
#else
enum class color : std::int16_t {};
using key_types = ::testing::Types<std::int8_t, std::uint8_t, color, std::uint16_t, std::int32_t, std::uint32_t, float,
                                   std::int64_t, std::uint64_t, double, __half, __nv_bfloat16, strata::detail::uint128>;
#endif
TYPED_TEST_SUITE(DeviceSegmentedTopKKeys, key_types);

/// Lengths around the bounds of each method for keys of 4 bytes.
std::vector<std::size_t> bounds_of_methods() {
  std::vector<std::size_t> all = {1, 2, 7, 8, 9, 31, 33, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025};
  if (!is_small()) {
    for (const std::size_t bound : {4096, 8192, 32768}) all.insert(all.end(), {bound - 1, bound, bound + 1});
  } else {
    all.push_back(2100);
  }
  return all;
}

TYPED_TEST(DeviceSegmentedTopKKeys, are_those_of_a_stable_sort) {
  for (const std::size_t size : bounds_of_methods()) {
    const std::size_t rows = size < 100 ? 37 : size < 2000 ? 5 : 2;
    const auto keys = make_keys<TypeParam>(rows * size, pattern::random, size);
    for (const std::size_t k : {std::size_t{1}, std::size_t{8}, size / 3 + 1, size, size + 2}) {
      if (is_small() && size > 500 && k != 8) continue;
      ASSERT_NO_FATAL_FAILURE((expect_rows<true, false, form::keys>(keys, rows, size, k, k % 2)));
      if (k % 2 == 1 && size > 300) continue;
      ASSERT_NO_FATAL_FAILURE((expect_rows<false, true, form::arg>(keys, rows, size, k, k % 3)));
    }
  }
}

TYPED_TEST(DeviceSegmentedTopKKeys, of_all_patterns) {
  for (const pattern how : all_patterns) {
    SCOPED_TRACE(testing::Message() << "pattern " << static_cast<int>(how));
    for (const std::size_t size : {50, 200, 900, if_small(1500, 9001)}) {
      const std::size_t rows = 3;
      const auto keys = make_keys<TypeParam>(rows * size, how);
      for (const std::size_t k : {std::size_t{5}, size / 2}) {
        if (is_small() && k != 5 && size > 300) continue;
        ASSERT_NO_FATAL_FAILURE((expect_rows<true, false, form::keys>(keys, rows, size, k)));
        ASSERT_NO_FATAL_FAILURE((expect_rows<false, true, form::arg>(keys, rows, size, k)));
      }
    }
  }
}

}  // namespace device_segmented_top_k_test
