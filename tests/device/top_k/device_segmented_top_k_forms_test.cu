// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSegmentedTopK: segments given by sizes, offsets and lengths, results in rows, with padding and at offsets, and
// arguments that are refused.
#include <strata/iterator/discard_output_iterator.cuh>

#include <utility>

#include "device/top_k/segmented_top_k_cases.cuh"

namespace device_segmented_top_k_forms_test {

using namespace segmented_top_k_test;

// ------------------------------------------------------------------ forms of segments

TEST(device_segmented_top_k_forms, segments_of_mixed_lengths) {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < 300; ++i) lengths.push_back(i * 7 % 13);
  lengths.insert(lengths.end(), {1025, 0, 1024, 3, 1023, if_small<std::size_t>(1100, 8192), 5,
                                 if_small<std::size_t>(1200, 8193), 0, if_small<std::size_t>(8200, 100000), 1});
  for (const pattern how : {pattern::random, pattern::few}) {
    for (const std::size_t k : {1, 6, 70}) {
      ASSERT_NO_FATAL_FAILURE((expect_segments<true, false, form::arg, float>(lengths, k, how)));
      ASSERT_NO_FATAL_FAILURE((expect_segments<false, true, form::arg, float>(lengths, k, how)));
    }
  }
  // More results than a block sorts, and as many.
  ASSERT_NO_FATAL_FAILURE((expect_segments<false, true, form::arg, float>(lengths, 2100, pattern::few)));
  ASSERT_NO_FATAL_FAILURE((expect_segments<false, true, form::arg, float>(lengths, 2048, pattern::random)));
}

TEST(device_segmented_top_k_forms, rows_with_gaps_and_lengths) {
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

// As signed numbers, these would be negative: a length of all items, and all of them as results.
TEST(device_segmented_top_k_forms, unsigned_numbers_may_be_as_large_as_their_type) {
  const std::size_t rows = 3, stride = 11;
  constexpr std::uint64_t all_items = ~std::uint64_t{0};
  const auto keys = make_keys<std::int32_t>(rows * stride, pattern::random);
  const std::vector<segment> all = {{0, stride}, {stride, 4}, {2 * stride, stride}};
  const std::vector<place> places = {{0, 3}, {stride, 4}, {2 * stride, stride}};
  const device_vector<std::uint64_t> lengths(std::vector<std::uint64_t>{all_items, 4, std::uint64_t{1} << 63});
  const device_vector<std::uint64_t> numbers(std::vector<std::uint64_t>{3, all_items, std::uint64_t{1} << 63});
  const strata::SegmentsByLengths segments(rows, lengths.data(), stride);
  const std::uint64_t* const k = numbers.data();
  ASSERT_NO_FATAL_FAILURE((expect_results<true, true, form::arg>(keys, all, places, rows * stride, segments,
                                                                 strata::ResultRows(k, stride))));
  const device_vector<int> offsets(std::vector<int>{0, static_cast<int>(stride), static_cast<int>(2 * stride)});
  ASSERT_NO_FATAL_FAILURE((expect_results<false, false, form::pairs>(
      keys, all, places, rows * stride, segments, strata::ResultsAtOffsets(k, stride, offsets.data()))));
}

// ------------------------------------------------------------------ forms of results

/// The numbers of results are from 0 to `stride`, negative, and above `stride`.
template <class Hub>
void expect_numbers_of_each_segment(std::size_t rows, std::size_t size, std::size_t stride) {
  SCOPED_TRACE(testing::Message() << rows << " rows of " << size << ", up to " << stride << " results");
  const auto keys = make_keys<float>(rows * size, pattern::random);
  std::vector<segment> all(rows);
  std::vector<place> places(rows), compact(rows);
  std::vector<int> numbers(rows), offsets(rows);
  std::size_t outputs = 0;
  for (std::size_t s = 0; s < rows; ++s) {
    const std::size_t any = s * 7 % 12 * stride / 12;
    numbers[s] = s == 5 ? -3 : s == 6 ? static_cast<int>(stride + 88) : static_cast<int>(any);
    const std::size_t k = s == 5 ? 0 : s == 6 ? stride : any;
    all[s] = {s * size, size};
    places[s] = {s * stride, k};
    compact[s] = {outputs, k};
    offsets[s] = static_cast<int>(outputs);
    outputs += k;
  }
  const device_vector<int> d_numbers(numbers), d_offsets(offsets);
  const strata::SegmentsOfSize segments(rows, size);
  const int* const k = d_numbers.data();
  ASSERT_NO_FATAL_FAILURE((expect_results<true, false, form::arg, std::uint32_t, Hub>(
      keys, all, places, rows * stride, segments, strata::ResultRows(k, stride))));
  ASSERT_NO_FATAL_FAILURE((expect_results<false, true, form::pairs, std::uint32_t, Hub>(
      keys, all, compact, outputs, segments, strata::ResultsAtOffsets(k, stride, d_offsets.data()))));
  const float padding = -1;
  ASSERT_NO_FATAL_FAILURE((expect_results<true, true, form::arg, std::uint32_t, Hub>(
      keys, all, places, rows * stride, segments, strata::PaddedResultRows(k, stride, padding, -1), 0, &padding,
      stride)));
}

TEST(device_segmented_top_k_forms, numbers_of_results_of_each_segment) {
  ASSERT_NO_FATAL_FAILURE(expect_numbers_of_each_segment<strata::default_policy_hub>(40, 70, 12));
  ASSERT_NO_FATAL_FAILURE(expect_numbers_of_each_segment<strata::default_policy_hub>(8, 1100, 12));
  // By groups, in blocks of each size, by several blocks, and by one block of each segment.
  for (const std::size_t size : {120, 250, 500, 1100}) {
    ASSERT_NO_FATAL_FAILURE(expect_numbers_of_each_segment<short_tiles>(9, size, 6));
    ASSERT_NO_FATAL_FAILURE(expect_numbers_of_each_segment<short_tiles>(9, size, 90));
  }
  ASSERT_NO_FATAL_FAILURE(expect_numbers_of_each_segment<short_tiles>(2 * 7, 3000, 5));
  // More than a block sorts.
  ASSERT_NO_FATAL_FAILURE(expect_numbers_of_each_segment<strata::default_policy_hub>(7, 2100, 2060));
}

TEST(device_segmented_top_k_forms, padding_behind_short_segments) {
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

// Their results are padding, and nothing is written before it.
TEST(device_segmented_top_k_forms, segments_of_negative_length_are_empty) {
  const std::size_t rows = 3, size = 6, stride = 4;
  const auto keys = make_keys<float>(rows * size, pattern::random);
  const std::vector<place> places = {{0, stride}, {stride, stride}, {2 * stride, stride}};
  const float padding = -1;
  const strata::PaddedResultRows results(stride, stride, padding, -1);
  const device_vector<int> begins(std::vector<int>{7, 3, 12}), ends(std::vector<int>{2, 6, 11});
  ASSERT_NO_FATAL_FAILURE((expect_results<true, true, form::arg>(
      keys, {{7, 0}, {3, 3}, {12, 0}}, places, rows * stride,
      strata::SegmentsByOffsets(rows, begins.data(), ends.data()), results, 0, &padding, stride)));
  const device_vector<int> lengths(std::vector<int>{-1, 2, -6});
  ASSERT_NO_FATAL_FAILURE((expect_results<true, false, form::arg>(
      keys, {{0, 0}, {size, 2}, {2 * size, 0}}, places, rows * stride,
      strata::SegmentsByLengths(rows, lengths.data(), size), results, 0, &padding, stride)));
}

TEST(device_segmented_top_k_forms, a_number_that_the_device_knows) {
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

TEST(device_segmented_top_k_forms, computed_keys) {
  device_vector<std::int32_t> out(6), places(6);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceSegmentedTopK::ArgMax(storage..., counting<std::int32_t>(-7), out.data(), places.data(),
                                       strata::SegmentsOfSize(2, 100), 3);
  }));
  EXPECT_EQ((std::vector<std::int32_t>{90, 91, 92, 190, 191, 192}), out.to_host());
  EXPECT_EQ((std::vector<std::int32_t>{97, 98, 99, 97, 98, 99}), places.to_host());
}

TEST(device_segmented_top_k_forms, indices_without_keys) {
  const device_vector<float> in(std::vector<float>{3, 1, 2, 5, 9, 7});
  device_vector<std::int64_t> places(4);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return DeviceSegmentedTopK::ArgMaxSorted(storage..., in.data(), strata::DiscardOutputIterator<>(), places.data(),
                                             strata::SegmentsOfSize(2, 3), 2);
  }));
  EXPECT_EQ((std::vector<std::int64_t>{0, 2, 1, 2}), places.to_host());
}

TEST(device_segmented_top_k_forms, a_graph_may_be_replayed_with_other_keys) {
  using key = std::uint32_t;
  // Segments of a warp, and long ones that all blocks share.
  for (const auto& [rows, size] :
       std::vector<std::pair<std::size_t, std::size_t>>{{40, 90}, {3, if_small<std::size_t>(9000, 60000)}}) {
    const std::size_t num_rows = rows, row_size = size, k = 7;
    device_vector<key> in(rows * size), out(rows * k);
    const auto call = [&](void* storage, std::size_t& bytes, cudaStream_t on) {
      return DeviceSegmentedTopK::MaxKeysSorted(storage, bytes, in.data(), out.data(),
                                                strata::SegmentsOfSize(num_rows, row_size), k, on);
    };
    std::size_t bytes = 0;
    ASSERT_CUDA_SUCCESS(call(nullptr, bytes, nullptr));
    const scratch storage(bytes, 8);
    graph recorded([&](cudaStream_t on) { return call(storage.data(), bytes, on); });
    ASSERT_CUDA_SUCCESS(recorded.status());
    const stream where;
    for (const pattern how : {pattern::random, pattern::equal, pattern::few}) {
      const auto keys = make_keys<key>(rows * size, how, static_cast<std::uint64_t>(how));
      in.assign(keys);
      out.poison();
      recorded.replay(where);
      where.synchronize();
      std::vector<key> expected;
      for (std::size_t row = 0; row < rows; ++row) {
        for (const std::uint32_t i : expected_items<true>(keys, {row * size, size}, k, true)) {
          expected.push_back(keys[row * size + i]);
        }
      }
      EXPECT_EQ(expected, out.to_host()) << size;
    }
  }
}

// ------------------------------------------------------------------ arguments

TEST(device_segmented_top_k_forms, bad_arguments_are_refused) {
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
  EXPECT_FALSE(refused(null, nullptr, strata::SegmentsOfSize(5, 0), 2));
  EXPECT_TRUE(refused(keys, nullptr, strata::SegmentsOfSize(5, 0), strata::PaddedResultRows(2, 2, 0.0f, 0)));
  // No result is written behind the last item of the output, so the next array may begin there.
  const strata::SegmentsOfSize one_row(1, 50);
  EXPECT_FALSE(refused(keys, const_cast<float*>(keys) + 50, one_row, 1000));
  EXPECT_TRUE(refused(keys + 49, const_cast<float*>(keys), one_row, 1000));
  EXPECT_EQ(cudaErrorInvalidValue, in_storage(true, [&](auto&&... storage) {
              return DeviceSegmentedTopK::MaxKeys(storage..., keys, keys_out, rows, 2);
            }));
}

TEST(device_segmented_top_k_forms, narrow_types_of_indices_are_refused) {
  const device_vector<float> in(std::vector<float>(1000, 1.0f));
  device_vector<float> out(1000);
  device_vector<signed char> narrow(1000);
  const auto status = [&](const auto& segments, const auto& k) {
    return in_storage(false, [&](auto&&... storage) {
      return DeviceSegmentedTopK::ArgMax(storage..., in.data(), out.data(), narrow.data(), segments, k);
    });
  };
  EXPECT_CUDA_SUCCESS(status(strata::SegmentsOfSize(2, 128), 2));
  EXPECT_EQ(cudaErrorInvalidValue, status(strata::SegmentsOfSize(2, 129), 2));
  const device_vector<int> offsets({0, 100, 200});
  EXPECT_CUDA_SUCCESS(status(strata::SegmentsByOffsets(2, offsets.data(), offsets.data() + 1), 2));
  using Numbers = strata::CountingInputIterator<int, signed char>;
  EXPECT_CUDA_SUCCESS(status(strata::SegmentsOfSize(128, 4), strata::ResultRows(Numbers(0), 2)));
  EXPECT_EQ(cudaErrorInvalidValue, status(strata::SegmentsOfSize(129, 4), strata::ResultRows(Numbers(0), 2)));
}

}  // namespace device_segmented_top_k_forms_test
