// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by tests of DeviceSegmentedMergeSort and DeviceMergeSort: tilings with which small inputs take the paths of
// large ones, keys of all sizes, and expected results by std::stable_sort.
#pragma once

#include <strata/device/device_segmented_merge_sort.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "device/device_call.cuh"
#include "device/segment_shapes.cuh"

namespace merge_sort_test {

using namespace device_test;
using strata::NullType;
using offset = std::int64_t;

/// Tiles of 192 items, or of 384 if the mean segment is longer, merged in tiles of 96. With smaller means, segments of
/// more than 16, 24 or 96 items are queued.
struct tiny_tiles {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::segment_tile_tuning one_thread{32, 2, 1, 16};
    static constexpr strata::segment_tile_tuning few_threads{64, 4, 1, 24};
    static constexpr strata::segment_tile_tuning part_of_tile{64, 3, 1, 96};
    static constexpr strata::segment_tile_tuning one_tile{64, 3, 1, 192};
    static constexpr strata::segment_tile_tuning many_tiles{128, 3, 1, 384};
    static constexpr strata::segment_tile_tuning tile_per_multiprocessor{64, 5, 1, 320};
    static constexpr strata::segment_tile_tuning whole_array{128, 5, 1, 640};
    static constexpr strata::segment_merge_tuning merge{32, 5, 1, 96};
    static constexpr strata::segment_merge_tuning merge_per_multiprocessor{32, 7, 1, 160};
    static constexpr strata::segment_merge_tuning merge_whole_array{64, 7, 1, 320};
    static constexpr strata::merge_sort_grid_tuning one_cluster{64, 3, 1, 8}, resident_grid{64, 5, 4};
  };
  using MaxPolicy = Policy;
};

// ------------------------------------------------------------------ keys

/// Records that are sorted by their second word.
struct record7 {
  std::uint8_t words[7];
};
struct record11 {
  std::uint8_t words[11];
};
struct record12 {
  std::uint32_t words[3];
};
struct record16 {
  alignas(16) std::uint32_t words[4];
};
struct record40 {
  std::uint64_t words[5];
};

template <class T>
STRATA_HD auto number_of(const T& key) {
  if constexpr (std::is_arithmetic_v<T>) {
    return key;
  } else {
    return key.words[1];
  }
}
struct is_less {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return number_of(a) < number_of(b);
  }
};
struct is_greater {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return number_of(b) < number_of(a);
  }
};

enum class pattern { random, few, equal, sorted, reversed };
inline constexpr pattern all_patterns[] = {pattern::random, pattern::few, pattern::equal, pattern::sorted,
                                           pattern::reversed};

template <class Key>
std::vector<Key> make_keys(std::size_t count, pattern how, std::uint64_t seed = 0) {
  std::mt19937_64 bits = strata_test::random_bits(seed + 100);
  std::vector<Key> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t number = bits();
    if (how == pattern::few) number %= 37;
    if (how == pattern::equal) number = 5;
    if (how == pattern::sorted) number = i / 3;
    if (how == pattern::reversed) number = (count - i) / 3;
    if constexpr (std::is_arithmetic_v<Key>) {
      keys[i] = static_cast<Key>(number);
    } else {
      // The other words of a key tell its position.
      using word_type = std::decay_t<decltype(keys[i].words[1])>;
      for (word_type& word : keys[i].words) word = static_cast<word_type>(i);
      keys[i].words[1] = static_cast<word_type>(number);
    }
  }
  return keys;
}

/// Values that tell their positions.
template <class Value>
std::vector<Value> make_values(std::size_t count) {
  std::vector<Value> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::memset(static_cast<void*>(&values[i]), 0x11, sizeof(Value));
    const std::uint64_t number = i * 2654435761u + 17;
    std::memcpy(static_cast<void*>(&values[i]), &number, std::min(sizeof(number), sizeof(Value)));
  }
  return values;
}

// ------------------------------------------------------------------ expectations

inline constexpr std::size_t nowhere = ~std::size_t{0};

inline offset items_of(const segment_shape& shape) {
  offset items = 0;
  for (std::size_t s = 0; s < shape.begins.size(); ++s) {
    items += std::max<offset>(0, shape.ends[s] - shape.begins[s]);
  }
  return items;
}

/// For each place, the index of the item that belongs there; `nowhere` outside of segments.
template <class Key, class Compare>
std::vector<std::size_t> expected_order(const segment_shape& shape, const std::vector<Key>& keys, Compare compare) {
  std::vector<std::size_t> order(keys.size(), nowhere);
  for (std::size_t s = 0; s < shape.begins.size(); ++s) {
    if (shape.ends[s] <= shape.begins[s]) continue;
    const auto first = order.begin() + shape.begins[s];
    const auto last = order.begin() + shape.ends[s];
    for (auto place = first; place != last; ++place) {
      *place = static_cast<std::size_t>(place - order.begin());
    }
    std::stable_sort(first, last, [&](std::size_t a, std::size_t b) { return compare(keys[a], keys[b]); });
  }
  return order;
}

/// Expects the items of `in` in this order. Where the order says `nowhere`, items are as before.
template <class T>
void expect_gathered(const std::vector<T>& in, const std::vector<std::size_t>& order, const std::vector<T>& out,
                     const std::vector<T>& before) {
  ASSERT_EQ(order.size(), out.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const T expected = order[i] == nowhere ? before[i] : in[order[i]];
    const T actual = out[i];
    ASSERT_EQ(0, std::memcmp(&expected, &actual, sizeof(T)))
        << "place " << i << " of " << order.size()
        << (order[i] == nowhere ? " must not be written" : " must have another item");
  }
}

struct device_offsets {
  explicit device_offsets(const segment_shape& shape) : begins(shape.begins), ends(shape.ends) {}
  device_vector<offset> begins;
  device_vector<offset> ends;
};

// ------------------------------------------------------------------ calls with a tuning of one's own

/// A two-phase call; `Value` is NullType for keys alone. Without `out`, indices are sorted.
template <class Hub, class Value, class Key, class Segments, class Compare>
cudaError_t tuned_sort(void* storage, std::size_t& bytes, const Key* in, Key* out, const Value* values_in,
                       Value* values_out, const strata::detail::segments_to_sort<Segments>& all, Compare compare,
                       cudaStream_t on = nullptr) {
  const bool is_in_place = in == out;
  using strata::detail::DispatchSegmentedMergeSort;
  if constexpr (std::is_same_v<Value, NullType>) {
    using dispatch = DispatchSegmentedMergeSort<Key, Value, const Key*, NullType, Segments, Compare, Hub>;
    return dispatch::Dispatch(storage, bytes,
                              {in,
                               NullType{},
                               {out, nullptr},
                               all.num_items,
                               all.num_segments,
                               all.segments,
                               all.longest,
                               is_in_place,
                               true,
                               compare,
                               on});
  } else {
    using dispatch = DispatchSegmentedMergeSort<Key, Value, const Key*, const Value*, Segments, Compare, Hub>;
    return dispatch::Dispatch(storage, bytes,
                              {in,
                               values_in,
                               {out, values_out},
                               all.num_items,
                               all.num_segments,
                               all.segments,
                               all.longest,
                               is_in_place,
                               true,
                               compare,
                               on});
  }
}

// ------------------------------------------------------------------ what a sort must do

/// Sorts keys in place, or into an array that has other contents. Compares all items, also those outside of segments.
template <class Key, class Hub = tiny_tiles, class Compare>
void expect_sorts_keys(const segment_shape& shape, pattern how, bool is_in_place, Compare compare) {
  SCOPED_TRACE(testing::Message() << shape << ", pattern " << static_cast<int>(how) << ", bytes " << sizeof(Key)
                                  << (is_in_place ? ", in place" : ""));
  const std::vector<Key> keys = make_keys<Key>(shape.items(), how);
  const device_offsets offsets(shape);
  device_vector<Key> in(keys);
  const std::vector<Key> before = is_in_place ? keys : make_keys<Key>(shape.items(), pattern::random, 9);
  device_vector<Key> out(before);
  Key* const target = is_in_place ? in.data() : out.data();
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return tuned_sort<Hub, NullType, Key>(
        storage, bytes, in.data(), target, nullptr, nullptr,
        strata::detail::segments_of(items_of(shape), shape.segments(), offsets.begins.data(), offsets.ends.data()),
        compare);
  }));
  const auto order = expected_order(shape, keys, compare);
  expect_gathered(keys, order, (is_in_place ? in : out).to_host(), before);
}

/// Expects a stable sort of pairs by `is_less`.
template <class Key, class Value, class Hub = tiny_tiles>
void expect_stable_pairs(const segment_shape& shape, pattern how, bool is_in_place) {
  SCOPED_TRACE(testing::Message() << shape << ", pattern " << static_cast<int>(how)
                                  << (is_in_place ? ", in place" : ""));
  const std::vector<Key> keys = make_keys<Key>(shape.items(), how);
  const std::vector<Value> values = make_values<Value>(shape.items());
  const device_offsets offsets(shape);
  device_vector<Key> in(keys);
  device_vector<Value> values_in(values);
  const std::vector<Key> before = is_in_place ? keys : make_keys<Key>(shape.items(), pattern::random, 9);
  const std::vector<Value> values_before = is_in_place ? values : std::vector<Value>(shape.items());
  device_vector<Key> out(before);
  device_vector<Value> values_out(values_before);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return tuned_sort<Hub, Value, Key>(
        storage, bytes, in.data(), is_in_place ? in.data() : out.data(), values_in.data(),
        is_in_place ? values_in.data() : values_out.data(),
        strata::detail::segments_of(items_of(shape), shape.segments(), offsets.begins.data(), offsets.ends.data()),
        is_less{});
  }));
  const auto order = expected_order(shape, keys, is_less{});
  expect_gathered(keys, order, (is_in_place ? in : out).to_host(), before);
  expect_gathered(values, order, (is_in_place ? values_in : values_out).to_host(), values_before);
}

// ------------------------------------------------------------------ comparators and segments that are not allowed

/// Comparators that are not strict weak orderings.
struct always {
  bool answer;
  STRATA_HD bool operator()(const int&, const int&) const { return answer; }
};
struct is_odd_less {
  STRATA_HD bool operator()(const int& a, const int& b) const { return ((a ^ b) & 1) != 0; }
};

/// Expects that a sort by one of these comparators ends, and writes nothing outside of segments.
template <class Hub, class Compare>
void expect_harmless(const segment_shape& shape, Compare compare) {
  const std::vector<int> keys = make_keys<int>(shape.items(), pattern::random);
  const device_offsets offsets(shape);
  device_vector<int> in(keys);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return tuned_sort<Hub, NullType, int>(
        storage, bytes, in.data(), in.data(), nullptr, nullptr,
        strata::detail::segments_of(items_of(shape), shape.segments(), offsets.begins.data(), offsets.ends.data()),
        compare);
  }));
  const std::vector<std::size_t> order = expected_order(shape, keys, is_less{});
  const std::vector<int> out = in.to_host();
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] == nowhere) {
      ASSERT_EQ(keys[i], out[i]) << i;
    }
  }
}

/// Returns how many items of segments a sort leaves out if it is told `num_items`, fewer than the segments have.
template <class Hub>
std::ptrdiff_t items_left_out(const segment_shape& shape, int num_items) {
  const device_offsets offsets(shape);
  const device_vector<std::uint32_t> in(make_keys<std::uint32_t>(shape.items(), pattern::random));
  constexpr std::uint32_t unwritten = 77;
  device_vector<std::uint32_t> out(std::vector<std::uint32_t>(shape.items(), unwritten));
  EXPECT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return tuned_sort<Hub, NullType, std::uint32_t>(
        storage, bytes, in.data(), out.data(), nullptr, nullptr,
        strata::detail::segments_of(num_items, shape.segments(), offsets.begins.data(), offsets.ends.data()),
        is_less{});
  }));
  const std::vector<std::uint32_t> sorted = out.to_host();
  return std::count(sorted.begin(), sorted.end(), unwritten);
}

}  // namespace merge_sort_test
