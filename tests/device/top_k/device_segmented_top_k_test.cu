// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSegmentedTopK beside a stable sort of each segment by the standard library: numbers of results from 0 to beyond
// the segment, forms of segments and of results, ties, zeros and NaN, arguments.
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
      ASSERT_NO_FATAL_FAILURE((expect_rows<true, false, form::keys>(keys, 2, size, k)));
      ASSERT_NO_FATAL_FAILURE((expect_rows<false, true, form::arg>(keys, 2, size, k)));
      ASSERT_NO_FATAL_FAILURE((expect_rows<false, false, form::arg>(keys, 2, size, k)));
    }
  }
}

// Keys in a narrow range of a wide type: guesses miss.
TEST(device_segmented_top_k, clustered_keys) {
  for (const std::size_t size : {64, 1024, if_small(1500, 8000)}) {
    std::vector<std::uint32_t> keys(2 * size);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto any = static_cast<std::uint32_t>(i * 2654435761u);
      keys[i] = i % 50 == 0 ? any : (1u << 31) + any % 40;
    }
    for (const std::size_t k : {std::size_t{3}, size / 10, size / 2}) {
      ASSERT_NO_FATAL_FAILURE((expect_rows<true, false, form::arg>(keys, 2, size, k)));
      ASSERT_NO_FATAL_FAILURE((expect_rows<false, false, form::arg>(keys, 2, size, k)));
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

// More results than a block sorts.
TEST(device_segmented_top_k, many_sorted_results) {
  for (const std::size_t size : {2300, if_small(2500, 20000)}) {
    const auto keys = make_keys<float>(2 * size, pattern::random);
    ASSERT_NO_FATAL_FAILURE((expect_rows<true, true, form::arg>(keys, 2, size, 2048)));
    ASSERT_NO_FATAL_FAILURE((expect_rows<true, true, form::arg>(keys, 2, size, 2049)));
    ASSERT_NO_FATAL_FAILURE((expect_rows<false, true, form::pairs>(keys, 2, size, size)));
  }
}

// ------------------------------------------------------------------ forms of segments

TEST(device_segmented_top_k, segments_of_mixed_lengths) {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < 300; ++i) lengths.push_back(i * 7 % 13);
  lengths.insert(lengths.end(), {1025, 0, 1024, 3, 1023, if_small<std::size_t>(1100, 8192), 5,
                                 if_small<std::size_t>(1200, 8193), 0, if_small<std::size_t>(8200, 100000), 1});
  for (const pattern how : {pattern::random, pattern::few}) {
    for (const std::size_t k : {1, 6, 70}) {
      ASSERT_NO_FATAL_FAILURE((expect_segments<true, false, form::arg, float>(lengths, k, how)));
      ASSERT_NO_FATAL_FAILURE((expect_segments<false, true, form::pairs, float>(lengths, k, how)));
    }
  }
  ASSERT_NO_FATAL_FAILURE((expect_segments<true, true, form::arg, std::int32_t>(lengths, 2100, pattern::few)));
  ASSERT_NO_FATAL_FAILURE((expect_segments<true, true, form::keys, std::uint64_t>(lengths, 1500, pattern::random)));
}

TEST(device_segmented_top_k, rows_with_gaps_and_lengths) {
  const std::size_t rows = 21, stride = 101, k = 9;
  const auto keys = make_keys<std::int32_t>(rows * stride, pattern::random);
  std::vector<segment> all(rows), of_length(rows);
  std::vector<place> places(rows);
  std::vector<std::int64_t> lengths(rows);
  for (std::size_t s = 0; s < rows; ++s) {
    all[s] = {s * stride, 77};
    lengths[s] = s == 3 ? -1 : s == 4 ? 1000 : static_cast<std::int64_t>(s * 5);
    of_length[s] = {s * stride, s == 3 ? 0 : s == 4 ? stride : s * 5};
    places[s] = {s * k, k};
  }
  ASSERT_NO_FATAL_FAILURE((
      expect_results<true, true, form::arg>(keys, all, places, rows * k, strata::SegmentsOfSize(rows, 77, stride), k)));
  const device_vector<std::int64_t> d_lengths(lengths);
  ASSERT_NO_FATAL_FAILURE((expect_results<true, false, form::pairs>(
      keys, of_length, places, rows * k, strata::SegmentsByLengths(rows, d_lengths.data(), stride), k)));
}

// ------------------------------------------------------------------ forms of results

TEST(device_segmented_top_k, numbers_of_results_of_each_segment) {
  const std::size_t rows = 40, size = 70, stride = 12;
  const auto keys = make_keys<float>(rows * size, pattern::random);
  std::vector<segment> all(rows);
  std::vector<place> places(rows), compact(rows);
  std::vector<int> numbers(rows), offsets(rows);
  std::size_t outputs = 0;
  for (std::size_t s = 0; s < rows; ++s) {
    numbers[s] = s == 5 ? -3 : s == 6 ? 100 : static_cast<int>(s % 12);
    const std::size_t k = s == 5 ? 0 : s == 6 ? stride : s % 12;
    all[s] = {s * size, size};
    places[s] = {s * stride, k};
    compact[s] = {outputs, k};
    offsets[s] = static_cast<int>(outputs);
    outputs += k;
  }
  const device_vector<int> d_numbers(numbers), d_offsets(offsets);
  const strata::SegmentsOfSize segments(rows, size);
  const int* const k = d_numbers.data();
  ASSERT_NO_FATAL_FAILURE((expect_results<true, false, form::arg>(keys, all, places, rows * stride, segments,
                                                                  strata::ResultRows(k, stride))));
  ASSERT_NO_FATAL_FAILURE((expect_results<false, true, form::pairs>(
      keys, all, compact, outputs, segments, strata::ResultsAtOffsets(k, stride, d_offsets.data()))));
  const float padding = -1;
  ASSERT_NO_FATAL_FAILURE(
      (expect_results<true, true, form::arg>(keys, all, places, rows * stride, segments,
                                             strata::PaddedResultRows(k, stride, padding, -1), 0, &padding, stride)));
}

TEST(device_segmented_top_k, padding_behind_short_segments) {
  const std::size_t rows = 9, size = 5, k = 8, stride = 10;
  const auto keys = make_keys<float>(rows * size, pattern::random);
  std::vector<segment> all(rows);
  std::vector<place> places(rows);
  for (std::size_t s = 0; s < rows; ++s) {
    all[s] = {s * size, size};
    places[s] = {s * stride, k};
  }
  const float padding = -std::numeric_limits<float>::infinity();
  ASSERT_NO_FATAL_FAILURE(
      (expect_results<true, false, form::arg>(keys, all, places, rows * stride, strata::SegmentsOfSize(rows, size),
                                              strata::PaddedResultRows(k, stride, padding, -1), 0, &padding, stride)));
  ASSERT_NO_FATAL_FAILURE((expect_results<true, false, form::arg>(
      {}, std::vector<segment>(rows), places, rows * stride, strata::SegmentsOfSize(rows, 0),
      strata::PaddedResultRows(k, stride, padding, -1), 0, &padding, stride)));
}

TEST(device_segmented_top_k, a_number_that_the_device_knows) {
  const std::size_t rows = 12, size = 90, bound = 30;
  const auto keys = make_keys<std::uint32_t>(rows * size, pattern::random);
  for (const int number : {0, 1, 30}) {
    const device_vector<int> k(std::vector<int>{number});
    std::vector<segment> all(rows);
    std::vector<place> places(rows);
    for (std::size_t s = 0; s < rows; ++s) {
      all[s] = {s * size, size};
      places[s] = {s * bound, static_cast<std::size_t>(number)};
    }
    ASSERT_NO_FATAL_FAILURE(
        (expect_results<false, true, form::arg>(keys, all, places, rows * bound, strata::SegmentsOfSize(rows, size),
                                                strata::FutureCount<int>(k.data(), bound))));
  }
}

TEST(device_segmented_top_k, computed_keys) {
  device_vector<std::int32_t> out(6), places(6);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceSegmentedTopK::ArgMax(storage..., counting<std::int32_t>(-7), out.data(), places.data(),
                                       strata::SegmentsOfSize(2, 100), 3);
  }));
  EXPECT_EQ((std::vector<std::int32_t>{90, 91, 92, 190, 191, 192}), out.to_host());
  EXPECT_EQ((std::vector<std::int32_t>{97, 98, 99, 97, 98, 99}), places.to_host());
}

// ------------------------------------------------------------------ arguments

TEST(device_segmented_top_k, bad_arguments_are_refused) {
  const device_vector<float> in(std::vector<float>(100, 1.0f));
  device_vector<float> out(100);
  device_vector<int> indices(100);
  const float* const null = nullptr;
  const auto refused = [&](const float* keys, float* keys_out, const auto& segments, const auto& k) {
    return in_storage(false, [&](auto&&... storage) {
             return DeviceSegmentedTopK::ArgMax(storage..., keys, keys_out, indices.data(), segments, k);
           }) == cudaErrorInvalidValue;
  };
  const float* const keys = in.data();
  float* const keys_out = out.data();
  const strata::SegmentsOfSize rows(10, 10);
  EXPECT_FALSE(refused(keys, keys_out, rows, 2));
  EXPECT_TRUE(refused(null, keys_out, rows, 2));
  EXPECT_TRUE(refused(keys, nullptr, rows, 2));
  EXPECT_TRUE(refused(keys, keys_out, rows, -2));
  EXPECT_TRUE(refused(keys, keys_out, strata::SegmentsOfSize(-1, 10), 2));
  EXPECT_TRUE(refused(keys, keys_out, strata::SegmentsOfSize(1, -10), 2));
  EXPECT_TRUE(refused(keys, keys_out, strata::SegmentsOfSize(1ll << 40, 1ll << 40), 2));
  EXPECT_TRUE(refused(keys, const_cast<float*>(keys) + 3, rows, 2));
  const int* const no_offsets = nullptr;
  EXPECT_TRUE(refused(keys, keys_out, strata::SegmentsByOffsets(3, no_offsets, no_offsets), 2));
  EXPECT_TRUE(refused(keys, keys_out, strata::SegmentsByLengths(3, no_offsets, 10), 2));
  EXPECT_TRUE(refused(keys, keys_out, rows, strata::ResultRows(no_offsets, 2)));
  EXPECT_TRUE(refused(keys, keys_out, rows, strata::ResultRows(2, -1)));
  EXPECT_TRUE(refused(keys, keys_out, rows, strata::ResultsAtOffsets(2, 2, no_offsets)));
  EXPECT_TRUE(refused(keys, keys_out, rows, strata::ResultRows(reinterpret_cast<int*>(keys_out) + 1, 2)));
  EXPECT_FALSE(refused(null, nullptr, strata::SegmentsOfSize(0, 10), 2));
  EXPECT_FALSE(refused(null, nullptr, rows, 0));
  EXPECT_EQ(cudaErrorInvalidValue, in_storage(true, [&](auto&&... storage) {
              return DeviceSegmentedTopK::MaxKeys(storage..., keys, keys_out, rows, 2);
            }));
}

}  // namespace device_segmented_top_k_test
