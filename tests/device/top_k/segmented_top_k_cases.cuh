// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the tests of DeviceSegmentedTopK: calls, and their expected results by a stable sort of each segment.
#pragma once

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

namespace segmented_top_k_test {

using namespace device_test;
using strata::DeviceSegmentedTopK;
using strata::NullType;

struct segment {
  std::size_t begin;
  std::size_t length;
};

/// Indices, within a segment, of the segment's results.
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

/// Where the results of a segment begin, and how many there may be.
struct place {
  std::size_t begin;
  std::size_t k;
};

enum class form { keys, pairs, arg };

/// Blocks and warps that hold few items: segments are long from 513 items on.
struct short_tiles {
  struct rows {
    static constexpr strata::top_k_warp_tuning narrow{64, 4, 2, 1};
    static constexpr strata::top_k_warp_tuning middle{64, 16, 2, 1};
    static constexpr strata::top_k_warp_tuning wide{64, 32, 2, 1};
    static constexpr strata::top_k_block_tuning small_groups{64, 2, 1};
    static constexpr strata::top_k_block_tuning groups{64, 4, 1};
    static constexpr strata::top_k_block_tuning large_groups{64, 8, 1};
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
    if constexpr (IsMax && IsSorted) return all::MaxKeysSorted(storage..., in, out, segments, k);
    if constexpr (IsMax && !IsSorted) return all::MaxKeys(storage..., in, out, segments, k);
    if constexpr (!IsMax && IsSorted) return all::MinKeysSorted(storage..., in, out, segments, k);
    if constexpr (!IsMax && !IsSorted) return all::MinKeys(storage..., in, out, segments, k);
  } else if constexpr (Form == form::pairs) {
    if constexpr (IsMax && IsSorted) return all::MaxPairsSorted(storage..., in, out, values, values_out, segments, k);
    if constexpr (IsMax && !IsSorted) return all::MaxPairs(storage..., in, out, values, values_out, segments, k);
    if constexpr (!IsMax && IsSorted) return all::MinPairsSorted(storage..., in, out, values, values_out, segments, k);
    if constexpr (!IsMax && !IsSorted) return all::MinPairs(storage..., in, out, values, values_out, segments, k);
  } else {
    if constexpr (IsMax && IsSorted) return all::ArgMaxSorted(storage..., in, out, values_out, segments, k);
    if constexpr (IsMax && !IsSorted) return all::ArgMax(storage..., in, out, values_out, segments, k);
    if constexpr (!IsMax && IsSorted) return all::ArgMinSorted(storage..., in, out, values_out, segments, k);
    if constexpr (!IsMax && !IsSorted) return all::ArgMin(storage..., in, out, values_out, segments, k);
  }
}

/// What a call must write to an output. Items that were not given to write() must not be written.
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

/// Makes a call and checks its results. `all` are the segments in `keys`, whose array begins `shift` items behind a
/// boundary.
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
  ASSERT_NO_FATAL_FAILURE((expect_results<IsMax, IsSorted, Form, Value, Hub>(
      keys, all, places, rows * k + 3, strata::SegmentsOfSize(rows, size), k, shift)));
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

}  // namespace segmented_top_k_test
