// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSegmentedTopK beside a stable sort of each segment by the standard library: lengths around those of each method,
// numbers of results from 0 to beyond the segment, forms of segments and of results, types, ties, zeros and NaN.
#include <strata/device/device_segmented_top_k.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "device/device_call.cuh"
#include "device/radix_sort/device_radix_sort_support.cuh"
#include "device/test_iterators.cuh"
#include "support/test_types.cuh"

namespace device_segmented_top_k_test {

using namespace device_test;
using strata::DeviceSegmentedTopK;
using strata::NullType;

struct segment {
  std::size_t begin;
  std::size_t length;
};

/// The indices in a segment of its results.
template <bool IsMax, class Key>
std::vector<std::uint32_t> expected_items(const std::vector<Key>& keys, const segment& of, std::size_t k,
                                          bool is_sorted) {
  const auto first = keys.begin() + static_cast<std::ptrdiff_t>(of.begin);
  const std::vector<Key> own(first, first + static_cast<std::ptrdiff_t>(of.length));
  std::vector<std::uint32_t> order = expected_order<IsMax>(own, 0, strata::RadixTraits<Key>::bits);
  order.resize(std::min(k, order.size()));
  if (!is_sorted) std::sort(order.begin(), order.end());
  return order;
}

/// What a call must write: for each segment, where its results begin, and how many there may be.
struct place {
  std::size_t begin;
  std::size_t k;
};

enum class form { keys, pairs, arg };

/// Blocks and warps that hold few items: segments are long from 513 items on.
struct short_tiles {
  struct rows {
    static constexpr strata::top_k_warp_tuning narrow{64, 4, 2};
    static constexpr strata::top_k_warp_tuning middle{64, 16, 2};
    static constexpr strata::top_k_warp_tuning wide{64, 32, 2};
    static constexpr strata::top_k_block_tuning small_block{64, 2, 1};
    static constexpr strata::top_k_block_tuning block{128, 4, 1};
    static constexpr strata::top_k_block_tuning large_block{256, 4, 1};
    static constexpr strata::top_k_tuning select{128, 1};
  };
  struct Policy : strata::ChainedPolicy<750, Policy, Policy>, rows {};
  using MaxPolicy = Policy;
};

/// Calls one of the twelve functions.
template <bool IsMax, bool IsSorted, form Form, class Hub = strata::default_policy_hub, class In, class Out,
          class ValuesIn, class ValuesOut, class Segments, class K, class... Storage>
cudaError_t call(const In& in, Out out, const ValuesIn& values, ValuesOut values_out, const Segments& segments,
                 const K& k, Storage&&... storage) {
  using all = strata::TunedDeviceSegmentedTopK<Hub>;
  static_cast<void>(values);
  static_cast<void>(values_out);
  if constexpr (Form == form::keys) {
    if constexpr (IsMax) {
      return IsSorted ? all::MaxKeysSorted(storage..., in, out, segments, k)
                      : all::MaxKeys(storage..., in, out, segments, k);
    } else {
      return IsSorted ? all::MinKeysSorted(storage..., in, out, segments, k)
                      : all::MinKeys(storage..., in, out, segments, k);
    }
  } else if constexpr (Form == form::pairs) {
    if constexpr (IsMax) {
      return IsSorted ? all::MaxPairsSorted(storage..., in, out, values, values_out, segments, k)
                      : all::MaxPairs(storage..., in, out, values, values_out, segments, k);
    } else {
      return IsSorted ? all::MinPairsSorted(storage..., in, out, values, values_out, segments, k)
                      : all::MinPairs(storage..., in, out, values, values_out, segments, k);
    }
  } else {
    if constexpr (IsMax) {
      return IsSorted ? all::ArgMaxSorted(storage..., in, out, values_out, segments, k)
                      : all::ArgMax(storage..., in, out, values_out, segments, k);
    } else {
      return IsSorted ? all::ArgMinSorted(storage..., in, out, values_out, segments, k)
                      : all::ArgMin(storage..., in, out, values_out, segments, k);
    }
  }
}

/// Fills what the call must not have touched, or has padded.
template <class T>
struct expectation {
  std::vector<T> items;
  std::vector<bool> is_written;

  explicit expectation(std::size_t count) : items(count), is_written(count, false) {}
  void write(std::size_t at, const T& item) {
    items[at] = item;
    is_written[at] = true;
  }
  void must_be(const std::vector<T>& out, const char* what) const {
    ASSERT_EQ(items.size(), out.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (is_written[i]) {
        ASSERT_EQ(0, std::memcmp(&items[i], &out[i], sizeof(T))) << what << " at place " << i;
      } else {
        ASSERT_TRUE(strata_test::is_poison(out[i])) << what << " at place " << i << " must not be written";
      }
    }
  }
};

/// One call: `all` are the segments in `keys`, whose array begins `shift` items behind a boundary.
template <bool IsMax, bool IsSorted, form Form, class Value = std::uint32_t, class Hub = strata::default_policy_hub,
          class Key, class Segments, class K>
void expect_results(const std::vector<Key>& keys, const std::vector<segment>& all, const std::vector<place>& places,
                    std::size_t outputs, const Segments& segments, const K& k, std::size_t shift = 0,
                    const Key* padding = nullptr, std::size_t stride = 0) {
  std::vector<Key> shifted(shift, Key{});
  shifted.insert(shifted.end(), keys.begin(), keys.end());
  const device_vector<Key> in(shifted);
  const std::vector<Value> values = make_values<Value>(keys.size());
  const device_vector<Value> values_in(values);
  device_vector<Key> out(outputs);
  device_vector<Value> values_out(outputs);
  const Key* const first = in.data() + shift;
  ASSERT_CUDA_SUCCESS(in_two_phases([&](auto&&... storage) {
    return call<IsMax, IsSorted, Form, Hub>(first, out.data(), static_cast<const Value*>(values_in.data()),
                                            values_out.data(), segments, k, storage...);
  }));
  expectation<Key> expected(outputs);
  expectation<Value> expected_values(outputs);
  for (std::size_t s = 0; s < all.size(); ++s) {
    const auto items = expected_items<IsMax>(keys, all[s], places[s].k, IsSorted);
    for (std::size_t i = 0; i < items.size(); ++i) {
      expected.write(places[s].begin + i, keys[all[s].begin + items[i]]);
      if constexpr (Form == form::pairs) {
        expected_values.write(places[s].begin + i, values[all[s].begin + items[i]]);
      } else if constexpr (Form == form::arg) {
        expected_values.write(places[s].begin + i, static_cast<Value>(items[i]));
      }
    }
    for (std::size_t i = items.size(); padding != nullptr && i < stride; ++i) {
      expected.write(places[s].begin + i, *padding);
      if constexpr (Form == form::arg) expected_values.write(places[s].begin + i, static_cast<Value>(-1));
    }
  }
  ASSERT_NO_FATAL_FAILURE(expected.must_be(out.to_host(), "key"));
  ASSERT_NO_FATAL_FAILURE(expected_values.must_be(values_out.to_host(), "value"));
}

/// Rows of one size.
template <bool IsMax, bool IsSorted, form Form, class Value = std::uint32_t, class Hub = strata::default_policy_hub,
          class Key>
void expect_rows(const std::vector<Key>& keys, std::size_t rows, std::size_t size, std::size_t k,
                 std::size_t shift = 0) {
  SCOPED_TRACE(testing::Message() << k << " of " << rows << " rows of " << size << ", shift " << shift);
  std::vector<segment> all(rows);
  std::vector<place> places(rows);
  for (std::size_t s = 0; s < rows; ++s) {
    all[s] = {s * size, size};
    places[s] = {s * k, k};
  }
  ASSERT_NO_FATAL_FAILURE((expect_results<IsMax, IsSorted, Form, Value>(keys, all, places, rows * k + 3,
                                                                        strata::SegmentsOfSize(rows, size), k, shift)));
}

/// Segments of any lengths, by offsets.
template <bool IsMax, bool IsSorted, form Form, class Key, class Hub = strata::default_policy_hub>
void expect_segments(const std::vector<std::size_t>& lengths, std::size_t k, pattern how) {
  SCOPED_TRACE(testing::Message() << k << " of " << lengths.size() << " segments");
  std::vector<segment> all;
  std::vector<place> places;
  std::vector<int> offsets;
  std::size_t begin = 0;
  for (const std::size_t length : lengths) {
    offsets.push_back(static_cast<int>(begin));
    places.push_back({all.size() * k, k});
    all.push_back({begin, length});
    begin += length;
  }
  offsets.push_back(static_cast<int>(begin));
  const auto keys = make_keys<Key>(begin, how, begin + k);
  const device_vector<int> d_offsets(offsets);
  const strata::SegmentsByOffsets segments(lengths.size(), d_offsets.data(), d_offsets.data() + 1);
  ASSERT_NO_FATAL_FAILURE(
      (expect_results<IsMax, IsSorted, Form, std::uint32_t, Hub>(keys, all, places, all.size() * k + 3, segments, k)));
}

// ------------------------------------------------------------------ sizes and types

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
        ASSERT_NO_FATAL_FAILURE((expect_rows<false, false, form::arg>(keys, rows, size, k)));
        ASSERT_NO_FATAL_FAILURE((expect_rows<true, true, form::keys>(keys, rows, size, k)));
      }
    }
  }
}

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

// ------------------------------------------------------------------ long segments

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
