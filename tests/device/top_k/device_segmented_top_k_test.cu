// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSegmentedTopK selects what std::stable_sort of each row selects: numbers of results from 0 to beyond the row,
// ties, zeros and NaNs, values, many results.
#include "device/top_k/segmented_top_k_cases.cuh"

namespace device_segmented_top_k_test {

using namespace segmented_top_k_test;

TEST(device_segmented_top_k, every_number_of_results) {
  for (const std::size_t size : {0, 1, 2, 9, 40, 70}) {
    const auto keys = make_keys<std::int32_t>(11 * size, size % 2 == 0 ? pattern::random : pattern::few, size);
    for (std::size_t k = 0; k <= size + 2; ++k) {
      ASSERT_NO_FATAL_FAILURE((expect_rows<true, false, form::pairs>(keys, 11, size, k)));
      ASSERT_NO_FATAL_FAILURE((expect_rows<false, true, form::pairs>(keys, 11, size, k)));
    }
  }
}

TEST(device_segmented_top_k, zeros_are_equal_and_nans_are_greatest) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::size_t size : {60, 250, 700, if_small(1300, 3000)}) {
    std::vector<float> keys;
    for (std::size_t i = 0; i < 2 * size; ++i) {
      keys.push_back(i % 5 == 0    ? -0.0f
                     : i % 5 == 1  ? 0.0f
                     : i % 7 == 0  ? -nan
                     : i % 11 == 0 ? nan
                     : i % 13 == 0 ? -inf
                     : i % 17 == 0 ? std::numeric_limits<float>::denorm_min()
                                   : inf);
    }
    for (const std::size_t k : {std::size_t{1}, std::size_t{20}, size / 3, 4 * size / 7, size - 1}) {
      ASSERT_NO_FATAL_FAILURE((expect_rows<true, false, form::arg>(keys, 2, size, k)));
      ASSERT_NO_FATAL_FAILURE((expect_rows<false, true, form::arg>(keys, 2, size, k)));
    }
  }
}

// Few results of aligned rows. Threads read groups of neighbouring items, and the last group of a row is short. Its
// missing items have the code of the last key in order, but must not be selected instead of real keys with this code.
template <class Key>
void expect_short_last_groups() {
  const std::size_t rows = 3;
  for (const std::size_t size : {61, 63, 125, 127, 249, 254, 255, 505, 511}) {
    const std::size_t stride = (size + 7) / 8 * 8;
    for (const std::size_t equal : {std::size_t{0}, size - 1, size}) {
      std::vector<Key> keys(rows * stride);
      std::vector<segment> all;
      for (std::size_t s = 0; s < rows; ++s) {
        for (std::size_t i = equal; i < size; ++i) keys[s * stride + i] = static_cast<Key>(1 + i);
        for (std::size_t i = size; i < stride; ++i) keys[s * stride + i] = static_cast<Key>(1000);
        all.push_back({s * stride, size});
      }
      for (const std::size_t k : {1, 3, 9}) {
        SCOPED_TRACE(testing::Message() << k << " of " << size << ", " << equal << " equal");
        const std::vector<place> places = {{0, k}, {k, k}, {2 * k, k}};
        const strata::SegmentsOfSize segments(rows, size, stride);
        ASSERT_NO_FATAL_FAILURE((
            expect_results<true, false, form::arg, std::uint32_t, short_tiles>(keys, all, places, 3 * k, segments, k)));
        ASSERT_NO_FATAL_FAILURE((expect_results<true, true, form::pairs, std::uint32_t, short_tiles>(
            keys, all, places, 3 * k, segments, k)));
      }
    }
  }
}

TEST(device_segmented_top_k, short_last_groups) {
  ASSERT_NO_FATAL_FAILURE(expect_short_last_groups<std::uint32_t>());
  ASSERT_NO_FATAL_FAILURE(expect_short_last_groups<float>());
}

// Keys lie in a narrow range of a wide type, so that guesses of the search miss.
TEST(device_segmented_top_k, clustered_keys) {
  for (const std::size_t size : {64, 1024, if_small(1500, 8000)}) {
    std::vector<float> keys(2 * size);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto any = static_cast<std::uint32_t>(i * 2654435761u);
      keys[i] = static_cast<float>(i % 50 == 0 ? any : (1u << 20) + any % 40);
    }
    for (const std::size_t k : {std::size_t{3}, size / 10, size / 2}) {
      ASSERT_NO_FATAL_FAILURE((expect_rows<true, false, form::arg>(keys, 2, size, k)));
      ASSERT_NO_FATAL_FAILURE((expect_rows<false, true, form::arg>(keys, 2, size, k)));
    }
  }
}

struct value20 {
  unsigned char bytes[20];
};

TEST(device_segmented_top_k, values_of_any_size_come_along) {
  for (const std::size_t size : {50, 1000, if_small(1500, 9000)}) {
    const auto keys = make_keys<std::int32_t>(3 * size, pattern::low_byte);
    ASSERT_NO_FATAL_FAILURE((expect_rows<true, false, form::pairs, std::uint8_t>(keys, 3, size, 20)));
    ASSERT_NO_FATAL_FAILURE((expect_rows<true, true, form::pairs, value20>(keys, 3, size, 20)));
  }
}

// As many results as a block sorts, and more.
TEST(device_segmented_top_k, many_sorted_results) {
  for (const std::size_t size : {2300, if_small(2500, 20000)}) {
    const auto keys = make_keys<float>(2 * size, pattern::random);
    ASSERT_NO_FATAL_FAILURE((expect_rows<false, true, form::arg>(keys, 2, size, 2048)));
    ASSERT_NO_FATAL_FAILURE((expect_rows<false, true, form::arg>(keys, 2, size, 2049)));
    ASSERT_NO_FATAL_FAILURE((expect_rows<false, true, form::arg>(keys, 2, size, size)));
  }
}

}  // namespace device_segmented_top_k_test
