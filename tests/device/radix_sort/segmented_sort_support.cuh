// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by tests of DeviceSegmentedSort with long segments of numbers: hubs, shapes, keys with given bits, and sorts
// from one array to another.
#pragma once

#include <strata/device/device_segmented_sort.cuh>

#if STRATA_HOST_SIMT
#include <strata/simt/half.hpp>
#else
#include <cuda_fp16.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "device/merge_sort/segmented_merge_sort_support.cuh"

namespace segmented_sort_test {

using namespace merge_sort_test;
using strata::ChainedPolicy;
using strata::DoubleBuffer;
using strata::TunedDeviceSegmentedSort;

// ------------------------------------------------------------------ hubs

/// Segments of more than 500 items are long. A pass has tiles of 768.
struct long_rows : tiny_tiles::Policy {
  static constexpr strata::radix_histogram_tuning histogram{256, 16 << 10};
  static constexpr strata::radix_pass_tuning pass{256, 3, 1};
  static constexpr strata::long_segment_tuning long_segments{500, 0, 0, 0};
  static constexpr strata::number_tile_tuning number_tile{0, 0, 0, 0};
};
struct never_long_rows : long_rows {
  static constexpr strata::long_segment_tuning long_segments{0, 0, 0, 0};
};
struct large_call_rows : long_rows {
  static constexpr strata::long_segment_tuning long_segments{500, 6000, 2000, 1000};
};
using LongSort = TunedDeviceSegmentedSort<one_policy_hub<long_rows>>;

// ------------------------------------------------------------------ shapes

/// Segments that are merged in the first kernel, queued, merged in tiles, or sorted by passes in one to four tiles.
inline segment_shape mixed() {
  return consecutive("mixed", {0, 1, 30, 700, 193, 501, 500, 2, 769, 450, 2600, 90, 0, 768, 2305, 17});
}
/// Segments begin behind item 30000. Scratch arrays are shorter, so they must not be indexed like the input.
inline segment_shape behind() {
  segment_shape shape = scattered(consecutive("behind", {900, 30, 501, 2000, 300}), 44);
  for (offset& begin : shape.begins) begin += 30000;
  for (offset& end : shape.ends) end += 30000;
  return shape;
}
inline std::vector<segment_shape> long_shapes() {
  return {scattered(mixed(), 41), consecutive("one", {3001}), consecutive("none", {500, 400, 3, 0, 193}),
          scattered(consecutive("five", {900, 501, 502, 1537, 640}), 42), behind()};
}

template <class Key>
bool is_before(const Key& a, const Key& b) {
  return strata::RadixTraits<Key>::ordered(a) < strata::RadixTraits<Key>::ordered(b);
}
template <bool IsDescending, class Key>
std::vector<std::size_t> order_of(const segment_shape& shape, const std::vector<Key>& keys) {
  return expected_order(shape, keys,
                        [](const Key& a, const Key& b) { return IsDescending ? is_before(b, a) : is_before(a, b); });
}

/// Numbers whose bits have the pattern. Floating-point numbers include NaNs and zeros of both signs.
template <class Key>
std::vector<Key> make_bits(std::size_t count, pattern how) {
  using Word = typename strata::RadixTraits<Key>::word;
  std::vector<Word> words = make_keys<Word>(count, how);
  if (strata::detail::radix_mantissa_bits<Key> != 0) {
    for (std::size_t i = 0; i < count; i += 3) words[i] = static_cast<Word>(words[i] << (8 * sizeof(Word) - 2));
  }
  std::vector<Key> keys(count);
  std::memcpy(static_cast<void*>(keys.data()), words.data(), count * sizeof(Key));
  return keys;
}

// ------------------------------------------------------------------ from one array to another

/// `Value` is NullType for keys alone.
template <bool IsDescending, class Key, class Value, class Sort = LongSort>
void expect_copies_of(const segment_shape& shape, const std::vector<Key>& keys) {
  constexpr bool has_values = !std::is_same_v<Value, NullType>;
  using Moved = std::conditional_t<has_values, Value, char>;
  SCOPED_TRACE(shape);
  const std::vector<Moved> values = make_values<Moved>(shape.items());
  const std::vector<Key> keys_before = make_bits<Key>(shape.items(), pattern::reversed);
  const std::vector<Moved> values_before(shape.items());
  const device_offsets offsets(shape);
  const device_vector<Key> in(keys);
  const device_vector<Moved> values_in(values);
  device_vector<Key> out(keys_before);
  device_vector<Moved> values_out(values_before);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    const auto call = [&](auto... arrays) {
      const offset *begins = offsets.begins.data(), *ends = offsets.ends.data();
      if constexpr (has_values && IsDescending) {
        return Sort::SortPairsDescending(storage, bytes, arrays..., items_of(shape), shape.segments(), begins, ends);
      } else if constexpr (has_values) {
        return Sort::SortPairs(storage, bytes, arrays..., items_of(shape), shape.segments(), begins, ends);
      } else if constexpr (IsDescending) {
        return Sort::SortKeysDescending(storage, bytes, arrays..., items_of(shape), shape.segments(), begins, ends);
      } else {
        return Sort::SortKeys(storage, bytes, arrays..., items_of(shape), shape.segments(), begins, ends);
      }
    };
    if constexpr (has_values) {
      return call(in.data(), out.data(), values_in.data(), values_out.data());
    } else {
      return call(in.data(), out.data());
    }
  }));
  const std::vector<std::size_t> order = order_of<IsDescending>(shape, keys);
  expect_gathered(keys, order, out.to_host(), keys_before);
  if (has_values) expect_gathered(values, order, values_out.to_host(), values_before);
}

template <bool IsDescending, class Key, class Value, class Sort = LongSort>
void expect_copies(const segment_shape& shape, pattern how) {
  SCOPED_TRACE(testing::Message() << "pattern " << static_cast<int>(how));
  expect_copies_of<IsDescending, Key, Value, Sort>(shape, make_bits<Key>(shape.items(), how));
}

template <bool IsDescending, class Key, class Value>
void expect_all_copies() {
  for (const segment_shape& shape : long_shapes()) {
    for (const pattern how : {pattern::random, pattern::few, pattern::equal}) {
      expect_copies<IsDescending, Key, Value>(shape, how);
    }
  }
}

inline std::vector<segment_shape> number_tile_shapes() {
  return {scattered(consecutive("tiles", {2000, 0, 4096, 1, 4095, 1500}), 51),
          consecutive("around_a_tile", {4097, 4096, 4095, 4000}), consecutive("short", {513, 512, 511, 0, 1, 1535}),
          scattered(consecutive("longer", {9000, 1100, 5000, 300, 2000, 4097}), 52)};
}

}  // namespace segmented_sort_test
