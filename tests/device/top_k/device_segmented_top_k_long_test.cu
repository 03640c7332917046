// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSegmentedTopK of segments that do not fit the registers of a block: samples, several blocks, fallbacks.
#include "device/top_k/segmented_top_k_cases.cuh"

namespace device_segmented_top_k_test {

using namespace segmented_top_k_test;

// One row has several blocks, many rows have one each. Few results: candidates by a sample. Many: the whole segment.
TEST(device_segmented_top_k, long_segments) {
  for (const pattern how : all_patterns) {
    SCOPED_TRACE(testing::Message() << "pattern " << static_cast<int>(how));
    for (const std::size_t rows : {1, 2, is_small() ? 9 : 300}) {
      for (const std::size_t size : {513, 1025, is_small() ? 6001 : 70001}) {
        if (rows > 2 && size > 1025) continue;
        const auto keys = make_keys<float>(rows * size, how, size);
        for (const std::size_t k : {std::size_t{1}, std::size_t{20}, size / 2, size - 1}) {
          if (is_small() && k > 20 && how != pattern::few) continue;
          ASSERT_NO_FATAL_FAILURE(
              (expect_rows<true, false, form::arg, std::uint32_t, short_tiles>(keys, rows, size, k, k % 2)));
          ASSERT_NO_FATAL_FAILURE(
              (expect_rows<false, true, form::pairs, std::uint32_t, short_tiles>(keys, rows, size, k)));
        }
      }
    }
  }
}

TEST(device_segmented_top_k, long_and_short_segments) {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < 50; ++i) lengths.push_back(i * 37 % 90);
  lengths.insert(lengths.end(), {511, 512, 513, 0, if_small<std::size_t>(3000, 200000), 1, 1500, 63, 64, 65});
  for (const pattern how : {pattern::random, pattern::equal, pattern::sorted}) {
    for (const std::size_t k : {1, 15, 400}) {
      ASSERT_NO_FATAL_FAILURE((expect_segments<true, false, form::arg, std::int64_t, short_tiles>(lengths, k, how)));
      ASSERT_NO_FATAL_FAILURE((expect_segments<false, true, form::keys, std::int64_t, short_tiles>(lengths, k, how)));
    }
  }
}

// All keys at the places of the sample are greater than others, or less: candidates are too few, or too many.
TEST(device_segmented_top_k, a_sample_may_mislead) {
  const std::size_t size = if_small<std::size_t>(4096, 65536), group = size / 128;
  for (const bool is_greater : {false, true}) {
    auto keys = make_keys<std::uint32_t>(size, pattern::random);
    for (std::uint32_t& key : keys) key = (key >> 4) + (1u << 30);
    for (std::size_t i = 0; i < 128; ++i) {
      unsigned long long hash = (i + 1) * 0x9e3779b97f4a7c15ull;
      hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9ull;
      const std::size_t first = i * group + ((hash >> 32) * (group - 3) >> 32);
      for (std::size_t j = first; j < first + 4; ++j) keys[j] += is_greater ? 1u << 31 : 0u - (1u << 30);
    }
    for (const std::size_t k : {std::size_t{30}, std::size_t{60}}) {
      ASSERT_NO_FATAL_FAILURE((expect_rows<true, false, form::arg, std::uint32_t, short_tiles>(keys, 1, size, k)));
      ASSERT_NO_FATAL_FAILURE((expect_rows<true, true, form::arg, std::uint32_t, short_tiles>(keys, 1, size, k)));
    }
  }
}

}  // namespace device_segmented_top_k_test
