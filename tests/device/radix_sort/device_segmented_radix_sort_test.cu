// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSegmentedRadixSort sorts each segment by itself, stably, and writes nothing outside of segments.
#include <strata/core/radix_key.hpp>
#include <strata/device/device_segmented_radix_sort.cuh>

#if STRATA_HOST_SIMT
#include <strata/simt/half.hpp>
#else
#include <cuda_fp16.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/device_call.cuh"
#include "device/radix_sort/segmented_radix_sort_support.cuh"
#include "device/schedules.cuh"
#include "device/segment_shapes.cuh"

namespace {

using namespace device_test;
using strata::DeviceSegmentedRadixSort;
using strata::DoubleBuffer;
using strata::NullType;
using offset = std::int64_t;

// ------------------------------------------------------------------ segments

using tiny_tiles = tiles_of<256, 2>;
/// One block sorts segments of up to 2^16 items.
using large_tiles = tiles_of<1024, 32>;

offset items_of(const segment_shape& shape) {
  offset items = 0;
  for (std::size_t s = 0; s < shape.begins.size(); ++s) {
    items += std::max<offset>(0, shape.ends[s] - shape.begins[s]);
  }
  return items;
}

/// Lengths around the limits of a warp, of one tile and of several tiles. Segments are scattered, with gaps.
const segment_shape& mixed() {
  static const segment_shape shape =
      scattered(consecutive("mixed", {0,   1,   2,   31,  32,   33,   3,    0, 255, 256,
                                      257, 511, 512, 513, 1023, 1024, 1025, 0, 1,   if_small(2500, 9000),
                                      30,  40,  600}),
                1);
  return shape;
}

const std::vector<segment_shape>& shapes() {
  static const std::vector<segment_shape> all = [] {
    std::mt19937_64 bits = strata_test::random_bits(5);
    using lengths_of = std::vector<offset>;
    std::vector<segment_shape> some = {mixed()};
    for (const offset length : {0, 1, 33, 512, 513, if_small(3000, 40000)}) {
      some.push_back(consecutive("one_of_" + std::to_string(length), {length}));
    }
    some.push_back(consecutive("all_empty", lengths_of(700)));
    lengths_of lengths = lengths_around_powers(if_small(64, 4096));
    some.push_back(scattered(consecutive("around_powers", lengths), 2));
    lengths.clear();
    for (int length = 0; length <= 40; ++length) lengths.push_back(length);
    some.push_back(consecutive("0_to_40", lengths));
    // Lengths proportional to 1 / rank, in random order.
    lengths.clear();
    for (offset rank = 1; rank <= if_small(200, 2000); ++rank) {
      lengths.push_back(if_small(2000, 20000) / rank);
    }
    std::shuffle(lengths.begin(), lengths.end(), bits);
    some.push_back(scattered(consecutive("power_law", lengths), 3));
    lengths.assign(if_small<std::size_t>(2000, 100000), 0);
    for (offset& length : lengths) length = static_cast<offset>(bits() % 4);
    some.push_back(scattered(consecutive("very_many_tiny", lengths), 4));
    lengths.resize(300);
    lengths[123] = if_small(3000, 20000);
    some.push_back(scattered(consecutive("one_huge_among_tiny", lengths), 5));
    return some;
  }();
  return all;
}

struct device_offsets {
  explicit device_offsets(const segment_shape& shape) : begins(shape.begins), ends(shape.ends) {}
  device_vector<offset> begins;
  device_vector<offset> ends;
};

// ------------------------------------------------------------------ keys, values, expectations

enum class pattern { random, few, equal, low_byte, mostly_one };
constexpr pattern all_patterns[] = {pattern::random, pattern::few, pattern::equal, pattern::low_byte,
                                    pattern::mostly_one};

template <class Key>
std::vector<Key> make_keys(std::size_t count, pattern how, std::uint64_t seed = 0) {
  std::mt19937_64 bits = strata_test::random_bits(seed + 100);
  std::vector<Key> keys(count);
  for (Key& key : keys) {
    std::uint64_t words[2] = {bits(), bits()};
    if (how == pattern::few) words[0] = words[1] = words[0] % 3 * 0x0101010101010101u;
    if (how == pattern::equal || (how == pattern::mostly_one && words[0] % 8 != 0)) {
      words[0] = words[1] = 0x1234567812345678u;
    }
    if (how == pattern::low_byte) {
      words[0] %= 256;
      words[1] = 0;
    }
    std::memcpy(static_cast<void*>(&key), words, sizeof(Key));
  }
  return keys;
}

struct words_40 {
  std::uint64_t word[5];
};

/// Values made from the input index, which show what item moved where.
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

constexpr std::size_t nowhere = ~std::size_t{0};

/// Input index of the item that belongs at each place, by std::stable_sort; `nowhere` outside of segments.
template <class Key>
std::vector<std::size_t> expected_order(const segment_shape& shape, const std::vector<Key>& keys, bool is_descending,
                                        int begin_bit, int end_bit) {
  using Traits = strata::RadixTraits<Key>;
  using word = typename Traits::word;
  const auto bits_of = [&](std::size_t i) {
    if (begin_bit == end_bit) return word{0};
    const int drop = Traits::bits - end_bit;
    word ordered = Traits::ordered(keys[i]);
    ordered = static_cast<word>(static_cast<word>(ordered << drop) >> drop);
    return static_cast<word>(ordered >> begin_bit);
  };
  std::vector<std::size_t> order(keys.size(), nowhere);
  for (std::size_t s = 0; s < shape.begins.size(); ++s) {
    if (shape.ends[s] <= shape.begins[s]) continue;
    const auto first = order.begin() + shape.begins[s];
    const auto last = order.begin() + shape.ends[s];
    for (auto place = first; place != last; ++place) {
      *place = static_cast<std::size_t>(place - order.begin());
    }
    std::stable_sort(first, last, [&](std::size_t a, std::size_t b) {
      return is_descending ? bits_of(b) < bits_of(a) : bits_of(a) < bits_of(b);
    });
  }
  return order;
}

/// Expects items of `in` in the given order. Items whose order is `nowhere` must be as before.
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

template <class Hub, bool IsDescending, class Value, class Key>
cudaError_t tuned_sort(void* storage, std::size_t& bytes, const Key* in, Key* out, const Value* values_in,
                       Value* values_out, const device_offsets& offsets, offset items, offset segments, int begin_bit,
                       int end_bit, cudaStream_t on = nullptr) {
  return sort_segments_tuned<Hub, IsDescending>(storage, bytes, in, out, values_in, values_out, items, segments,
                                                offsets.begins.data(), offsets.ends.data(), begin_bit, end_bit, on);
}
template <bool IsDescending, class Value, class Key>
cudaError_t tiny_sort(void* storage, std::size_t& bytes, const Key* in, Key* out, const Value* values_in,
                      Value* values_out, const device_offsets& offsets, offset items, offset segments, int begin_bit,
                      int end_bit, cudaStream_t on = nullptr) {
  return tuned_sort<tiny_tiles, IsDescending>(storage, bytes, in, out, values_in, values_out, offsets, items, segments,
                                              begin_bit, end_bit, on);
}
template <bool IsDescending, class Value, class Key>
cudaError_t tiny_sort_buffers(void* storage, std::size_t& bytes, DoubleBuffer<Key>& keys, DoubleBuffer<Key>& values,
                              offset items, offset segments, const offset* begins, const offset* ends, int begin_bit,
                              int end_bit) {
  if constexpr (std::is_same_v<Value, NullType>) {
    NullType none;
    return sort_segments_tuned<tiny_tiles, IsDescending>(storage, bytes, keys, none, items, segments, begins, ends,
                                                         begin_bit, end_bit);
  } else {
    return sort_segments_tuned<tiny_tiles, IsDescending>(storage, bytes, keys, values, items, segments, begins, ends,
                                                         begin_bit, end_bit);
  }
}

// ------------------------------------------------------------------ keys of all types

template <bool IsDescending, class Key>
void expect_sorts_keys() {
  constexpr int bits = strata::RadixTraits<Key>::bits;
  const segment_shape& shape = mixed();
  const device_offsets offsets(shape);
  for (const pattern how : all_patterns) {
    if (is_small() && how != pattern::random && how != pattern::few) continue;
    SCOPED_TRACE(testing::Message() << "pattern " << static_cast<int>(how));
    const std::vector<Key> keys = make_keys<Key>(shape.items(), how);
    const device_vector<Key> in(keys);
    const std::vector<Key> before = make_keys<Key>(shape.items(), pattern::random, 9);
    device_vector<Key> out(before);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return tiny_sort<IsDescending, NullType>(storage, bytes, in.data(), out.data(), nullptr, nullptr, offsets,
                                               items_of(shape), shape.segments(), 0, bits);
    }));
    const auto order = expected_order(shape, keys, IsDescending, 0, bits);
    expect_gathered(keys, order, out.to_host(), before);
  }
}

TEST(device_segmented_radix_sort, keys_of_any_types) {
  expect_sorts_keys<false, float>();
  expect_sorts_keys<true, std::uint8_t>();
#if !STRATA_TEST_FEW_TYPES
  expect_sorts_keys<false, std::uint8_t>();
  expect_sorts_keys<false, std::uint32_t>();
  expect_sorts_keys<false, std::int64_t>();
  expect_sorts_keys<true, std::int64_t>();
  expect_sorts_keys<false, __half>();
  expect_sorts_keys<true, strata::detail::uint128>();
#endif
}

// ------------------------------------------------------------------ pairs, shapes, bits

template <class Key, class Value, class Hub = tiny_tiles, bool IsDescending = false>
void expect_stable_pairs(const segment_shape& shape, pattern how, int begin_bit, int end_bit) {
  SCOPED_TRACE(testing::Message() << shape << ", pattern " << static_cast<int>(how) << ", bits " << begin_bit << " to "
                                  << end_bit);
  const std::vector<Key> keys = make_keys<Key>(shape.items(), how);
  const std::vector<Value> values = make_values<Value>(shape.items());
  const device_offsets offsets(shape);
  const device_vector<Key> in(keys);
  const device_vector<Value> values_in(values);
  const std::vector<Key> before = make_keys<Key>(shape.items(), pattern::random, 9);
  const std::vector<Value> values_before(shape.items());
  device_vector<Key> out(before);
  device_vector<Value> values_out(values_before);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return tuned_sort<Hub, IsDescending>(storage, bytes, in.data(), out.data(), values_in.data(), values_out.data(),
                                         offsets, items_of(shape), shape.segments(), begin_bit, end_bit);
  }));
  const auto order = expected_order(shape, keys, IsDescending, begin_bit, end_bit);
  expect_gathered(keys, order, out.to_host(), before);
  expect_gathered(values, order, values_out.to_host(), values_before);
}

TEST(device_segmented_radix_sort, pairs_are_stable_in_segments_of_any_shape) {
  for (const segment_shape& shape : shapes()) {
    ASSERT_NO_FATAL_FAILURE((expect_stable_pairs<std::uint32_t, std::uint32_t>(shape, pattern::few, 0, 32)));
  }
  for (const pattern how : all_patterns) {
    ASSERT_NO_FATAL_FAILURE((expect_stable_pairs<std::uint32_t, std::uint32_t>(mixed(), how, 0, 32)));
  }
}

#if !STRATA_TEST_FEW_TYPES
TEST(device_segmented_radix_sort, large_values) {
  for (const pattern how : {pattern::few, pattern::random}) {
    ASSERT_NO_FATAL_FAILURE((expect_stable_pairs<std::int64_t, words_40>(mixed(), how, 0, 64)));
  }
}
#endif

TEST(device_segmented_radix_sort, any_bits) {
  const segment_shape shape = scattered(consecutive("some", {5, 0, 32, 100, 700, 1, 0, 513}), 7);
  for (int begin = 0; begin <= 32; begin += is_small() ? 11 : 3) {
    for (int end = begin; end <= 32; end += is_small() ? 7 : 1) {
      ASSERT_NO_FATAL_FAILURE((expect_stable_pairs<std::uint32_t, std::uint32_t>(shape, pattern::random, begin, end)));
    }
  }
}

// A block counts digits in small counters. In a segment of many tiles, it adds them to larger ones before they
// overflow.
TEST(device_segmented_radix_sort, of_many_tiles_by_one_block) {
  const std::size_t items = if_small<std::size_t>(34000, 65536);
  const segment_shape shape = scattered(consecutive("long", {3, static_cast<offset>(items), 0, 600, 1000}), 8);
  ASSERT_NO_FATAL_FAILURE((expect_stable_pairs<std::uint32_t, std::uint32_t, large_tiles>(shape, pattern::low_byte, 0,
                                                                                          is_small() ? 8 : 32)));
}

// ------------------------------------------------------------------ long segments, by many blocks

/// Many blocks sort a long segment. With tiny tiles, segments of more than 1024 items are long.
const std::vector<segment_shape>& shapes_with_long() {
  static const std::vector<segment_shape> all = [] {
    using lengths_of = std::vector<offset>;
    std::vector<segment_shape> some;
    for (const offset length : {1024, 1025, 1535, 1536, 1537, 2048}) {
      some.push_back(consecutive("all_of_" + std::to_string(length), {length}));
    }
    some.push_back(scattered(consecutive("empty_and_long", {0, 1100, 0, 0, 2049, 0}), 31));
    some.push_back(consecutive("long_side_by_side", {1025, 1600, 1025, 3000}));
    lengths_of lengths(if_small<std::size_t>(100, 1000));
    for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = static_cast<offset>(i * i % 50);
    for (const std::size_t i : {std::size_t{0}, std::size_t{17}, lengths.size() - 1}) {
      lengths[i] = static_cast<offset>(1025 + 100 * i % 3000);
    }
    lengths[40] = 1000;
    some.push_back(scattered(consecutive("several_among_short", lengths), 32));
    return some;
  }();
  return all;
}

TEST(device_segmented_radix_sort, long_segments) {
  for (const segment_shape& shape : shapes_with_long()) {
    ASSERT_NO_FATAL_FAILURE((expect_stable_pairs<std::uint32_t, std::uint32_t>(shape, pattern::random, 0, 32)));
    ASSERT_NO_FATAL_FAILURE(
        (expect_stable_pairs<std::uint16_t, std::uint16_t, tiny_tiles, true>(shape, pattern::low_byte, 0, 16)));
  }
}

TEST(device_segmented_radix_sort, long_segments_by_any_bits) {
  const segment_shape shape = scattered(consecutive("some", {40, 1100, 0, 2050}), 37);
  for (const auto& [begin, end] : {std::pair(7, 7), std::pair(3, 5), std::pair(9, 22), std::pair(31, 32)}) {
    ASSERT_NO_FATAL_FAILURE((expect_stable_pairs<std::uint32_t, std::uint32_t>(shape, pattern::random, begin, end)));
  }
}

/// Segments need different passes: in segment `s`, byte b of the keys varies only if bit b of `s` is set.
std::vector<std::uint32_t> keys_with_different_passes(const segment_shape& shape) {
  std::vector<std::uint32_t> keys = make_keys<std::uint32_t>(shape.items(), pattern::random);
  for (std::size_t s = 0; s < shape.begins.size(); ++s) {
    std::uint32_t mask = 0;
    for (std::size_t byte = 0; byte < 4; ++byte) mask |= (s >> byte & 1) != 0 ? 0xffu << 8 * byte : 0;
    for (offset i = shape.begins[s]; i < shape.ends[s]; ++i) keys[static_cast<std::size_t>(i)] &= mask;
  }
  return keys;
}

// Some segments skip passes that others take. Still, the results of all segments must lie in the same array.
TEST(device_segmented_radix_sort, long_segments_skip_passes_of_their_own) {
  std::vector<offset> lengths;
  for (int s = 0; s < 16; ++s) lengths.push_back(s % 5 == 4 ? 800 : 1025 + 90 * s);
  const segment_shape shape = scattered(consecutive("passes", lengths), 33);
  const std::vector<std::uint32_t> keys = keys_with_different_passes(shape);
  const auto order = expected_order(shape, keys, false, 0, 32);
  const device_offsets offsets(shape);
  const device_vector<std::uint32_t> in(keys);
  const std::vector<std::uint32_t> before(keys.size(), 7);
  device_vector<std::uint32_t> out(before);
  under_all_schedules([&](std::size_t) {
    out.assign(before);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return tiny_sort<false, NullType>(storage, bytes, in.data(), out.data(), nullptr, nullptr, offsets,
                                        items_of(shape), shape.segments(), 0, 32);
    }));
    ASSERT_NO_FATAL_FAILURE(expect_gathered(keys, order, out.to_host(), before));
  });
}

TEST(device_segmented_radix_sort, long_segments_under_any_schedule) {
  const segment_shape shape = scattered(consecutive("some", {2100, 5, 1030, 0, 1500, 700, 1025}), 34);
  under_all_schedules([&](std::size_t i) {
    expect_stable_pairs<std::uint32_t, std::uint32_t>(shape, i % 2 == 0 ? pattern::few : pattern::random, 0, 24);
  });
}

// One segment has 79, 137 or 9,766 tiles, depending on the build: more tiles than the blocks that take them, or fewer.
TEST(device_segmented_radix_sort, of_very_many_tiles) {
  const std::size_t items = if_small<std::size_t>(40000, STRATA_HOST_SIMT ? 70000 : 5000000);
  const segment_shape shape = scattered(consecutive("long", {3, static_cast<offset>(items), 0, 600, 1000}), 35);
  ASSERT_NO_FATAL_FAILURE(
      (expect_stable_pairs<std::uint32_t, std::uint32_t>(shape, pattern::random, 0, is_small() ? 16 : 32)));
}

TEST(device_segmented_radix_sort, limits_of_long_segments) {
  using limits = strata::detail::long_segment_limits;
  for (const std::size_t tile : {256u, 512u, 3584u, 11520u, 65536u}) {
    limits last = limits::of(0, tile);
    const auto check = [&](std::size_t items) {
      SCOPED_TRACE(testing::Message() << items << " items, tiles of " << tile);
      const limits now = limits::of(items, tile);
      // At most this many segments are longer than the bound. Each may end with a tile of one item.
      const std::size_t longest_list = items / (static_cast<std::size_t>(now.bound) + 1);
      EXPECT_LE(longest_list, now.most_segments);
      EXPECT_LE(items / tile + longest_list, now.most_tiles + (longest_list == 0 ? items / tile : 0));
      EXPECT_EQ(items <= now.bound, now.most_segments == 0);
      EXPECT_LE(now.most_segments, std::size_t{1} << 16);
      EXPECT_GE(now.bound, 2 * tile);
      EXPECT_GE(now.most_segments, last.most_segments);
      EXPECT_GE(now.most_tiles, last.most_tiles);
      // Storage for these tiles also suffices for larger tiles.
      const limits of_larger = limits::of(items, tile + tile / 3);
      EXPECT_LE(of_larger.most_segments, now.most_segments);
      EXPECT_LE(of_larger.most_tiles, now.most_tiles);
      last = now;
    };
    for (std::size_t items = 0; items < 70000; items += 1 + items / 700) check(items);
    for (std::size_t items = 70000; items < std::size_t{1} << 45; items += items / 97) check(items);
  }
}

TEST(device_segmented_radix_sort, under_any_schedule) {
  const segment_shape shape = scattered(consecutive("some", {600, 5, 0, 1100, 40, 32, 700, 300, 2, 513, 1}), 21);
  under_all_schedules([&](std::size_t i) {
    expect_stable_pairs<std::uint32_t, std::uint32_t>(shape, i % 2 == 0 ? pattern::few : pattern::random, 0, 16);
  });
}

#if !STRATA_DEBUG
// Segments have more items than the call says. Those that do not fit in temporary storage are left alone, and debug
// builds report it. Guard bands show writes behind the storage.
TEST(device_segmented_radix_sort, leaves_what_has_no_room_in_storage) {
  const segment_shape shape = consecutive("too_many", {5, 600, 7, 600, 600, 9});
  const std::vector<std::uint32_t> keys = make_keys<std::uint32_t>(shape.items(), pattern::random);
  const std::vector<std::uint32_t> before(shape.items(), 77);
  const device_offsets offsets(shape);
  const device_vector<std::uint32_t> in(keys);
  device_vector<std::uint32_t> out(before);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return tiny_sort<false, NullType>(storage, bytes, in.data(), out.data(), nullptr, nullptr, offsets, offset{1300},
                                      shape.segments(), 0, 32);
  }));
  // Two of the three long segments fit.
  const std::vector<std::uint32_t> sorted = out.to_host();
  EXPECT_EQ(600, std::count(sorted.begin(), sorted.end(), 77u));
}

// The list and the states of tiles have room for two of the four long segments. The others are left alone, and short
// segments are sorted.
TEST(device_segmented_radix_sort, leaves_long_segments_that_have_no_room) {
  const segment_shape shape = consecutive("too_many", {5, 1100, 7, 1100, 1100, 1100, 9});
  const std::vector<std::uint32_t> keys = make_keys<std::uint32_t>(shape.items(), pattern::random);
  const std::vector<std::uint32_t> before(shape.items(), 77);
  const device_offsets offsets(shape);
  device_vector<std::uint32_t> in(keys), out(before);
  for (const bool is_double_buffer : {false, true}) {
    in.assign(keys);
    out.assign(before);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      if (is_double_buffer) {
        DoubleBuffer<std::uint32_t> buffers(in.data(), out.data()), none;
        return tiny_sort_buffers<false, NullType>(storage, bytes, buffers, none, offset{2300}, shape.segments(),
                                                  offsets.begins.data(), offsets.ends.data(), 0, 8);
      }
      return tiny_sort<false, NullType>(storage, bytes, static_cast<const std::uint32_t*>(in.data()), out.data(),
                                        nullptr, nullptr, offsets, offset{2300}, shape.segments(), 0, 8);
    }));
    const std::vector<std::uint32_t> sorted = out.to_host();
    EXPECT_EQ(2200, std::count(sorted.begin(), sorted.end(), 77u));
    EXPECT_TRUE(std::none_of(sorted.end() - 9, sorted.end(), [](std::uint32_t key) { return key == 77; }));
  }
}
#endif

// ------------------------------------------------------------------ as the library chooses

/// Sorts by a public function: `sort(storage, bytes, in, out, values_in, values_out, ...)`.
template <bool IsDescending, class Sort>
void expect_public(const segment_shape& shape, bool has_values, const Sort& sort) {
  using Key = std::uint32_t;
  SCOPED_TRACE(testing::Message() << shape << (IsDescending ? ", descending" : "")
                                  << (has_values ? ", pairs" : ", keys"));
  const std::vector<Key> keys = make_keys<Key>(shape.items(), pattern::mostly_one);
  const std::vector<Key> values = make_values<Key>(shape.items());
  const device_offsets offsets(shape);
  const device_vector<Key> in(keys), values_in(values);
  const std::vector<Key> before(shape.items(), 77);
  device_vector<Key> out(before), values_out(before);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return sort(storage, bytes, in.data(), out.data(), values_in.data(), values_out.data(), items_of(shape),
                shape.segments(), offsets.begins.data(), offsets.ends.data());
  }));
  const auto order = expected_order(shape, keys, IsDescending, 0, 32);
  expect_gathered(keys, order, out.to_host(), before);
  const std::vector<std::size_t> nothing(order.size(), nowhere);
  expect_gathered(values, has_values ? order : nothing, values_out.to_host(), before);
}

TEST(device_segmented_radix_sort, every_function) {
  const segment_shape shape =
      scattered(consecutive("library", {0, 1, 30, 33, 511, 513, 4095, 4097, if_small(5000, 20000)}), 9);
  expect_public<false>(shape, false,
                       [](auto* storage, std::size_t& bytes, auto* in, auto* out, auto*, auto*, auto... rest) {
                         return DeviceSegmentedRadixSort::SortKeys(storage, bytes, in, out, rest...);
                       });
  expect_public<true>(shape, false,
                      [](auto* storage, std::size_t& bytes, auto* in, auto* out, auto*, auto*, auto... rest) {
                        return DeviceSegmentedRadixSort::SortKeysDescending(storage, bytes, in, out, rest...);
                      });
  expect_public<false>(shape, true, [](auto* storage, std::size_t& bytes, auto... rest) {
    return DeviceSegmentedRadixSort::SortPairs(storage, bytes, rest...);
  });
  expect_public<true>(shape, true, [](auto* storage, std::size_t& bytes, auto... rest) {
    return DeviceSegmentedRadixSort::SortPairsDescending(storage, bytes, rest...);
  });
}

TEST(device_segmented_radix_sort, values_may_be_none) {
  const segment_shape shape = scattered(consecutive("none", {0, 1, 33, 700, 5000}), 9);
  const NullType* in = nullptr;
  NullType* out = nullptr;
  expect_public<false>(shape, false,
                       [&](auto* storage, std::size_t& bytes, auto* keys, auto* keys_out, auto*, auto*, auto... rest) {
                         return DeviceSegmentedRadixSort::SortPairs(storage, bytes, keys, keys_out, in, out, rest...);
                       });
}

// ------------------------------------------------------------------ two buffers

/// Calls `sort(storage, bytes, d_keys, d_values, ...)` with bits 0 to `end_bit`, and checks both buffers.
template <bool IsDescending, class Sort>
void expect_between_buffers(const segment_shape& shape, const std::vector<std::uint32_t>& keys, int end_bit,
                            bool has_values, const Sort& sort) {
  using Key = std::uint32_t;
  SCOPED_TRACE(testing::Message() << "bits 0 to " << end_bit);
  const std::size_t size = shape.items();
  const std::vector<Key> values = make_values<Key>(size);
  const std::vector<Key> other(size, 0x55);
  const device_offsets offsets(shape);
  device_vector<Key> key_buffers[2] = {device_vector<Key>(other), device_vector<Key>(keys)};
  device_vector<Key> value_buffers[2] = {device_vector<Key>(other), device_vector<Key>(values)};
  DoubleBuffer<Key> d_keys(key_buffers[0].data(), key_buffers[1].data());
  DoubleBuffer<Key> d_values(value_buffers[0].data(), value_buffers[1].data());
  d_keys.selector = d_values.selector = 1;
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    const cudaError_t status = sort(storage, bytes, d_keys, d_values, items_of(shape), shape.segments(),
                                    offsets.begins.data(), offsets.ends.data(), 0, end_bit);
    if (storage == nullptr) {
      EXPECT_EQ(1, d_keys.selector);
    }
    return status;
  }));
  const int passes = (end_bit + 7) / 8;
  EXPECT_EQ((1 + passes) % 2, d_keys.selector);
  EXPECT_EQ(has_values ? d_keys.selector : 1, d_values.selector);
  const auto order = expected_order(shape, keys, IsDescending, 0, end_bit);
  const auto nothing = std::vector<std::size_t>(size, nowhere);
  const auto result = static_cast<std::size_t>(d_keys.selector);
  const std::vector<Key>& before = result == 1 ? keys : other;
  expect_gathered(keys, order, key_buffers[result].to_host(), before);
  if (has_values) {
    const std::vector<Key>& values_before = result == 1 ? values : other;
    expect_gathered(values, order, value_buffers[result].to_host(), values_before);
  } else {
    expect_gathered(values, nothing, value_buffers[1].to_host(), values);
  }
  // Items between segments stay untouched in the other buffer, too.
  const std::vector<Key> rest = key_buffers[1 - result].to_host();
  const std::vector<Key>& rest_before = result == 1 ? other : keys;
  for (std::size_t i = 0; i < size; ++i) {
    if (order[i] == nowhere) {
      ASSERT_EQ(rest_before[i], rest[i]) << i;
    }
  }
}

TEST(device_segmented_radix_sort, between_two_buffers) {
  static const segment_shape shape =
      scattered(consecutive("buffers", {7, 0, 32, 40, 1000, if_small(4500, 9000), 1, 0, 5000}), 11);
  const auto keys = [](pattern how) { return make_keys<std::uint32_t>(shape.items(), how); };
  for (const pattern how : {pattern::random, pattern::low_byte, pattern::equal, pattern::few}) {
    SCOPED_TRACE(testing::Message() << "pattern " << static_cast<int>(how));
    for (const int end : {0, 8, 13, 17, 32}) {
      if (is_small() && (end == 13 || how == pattern::few)) continue;
      expect_between_buffers<false>(shape, keys(how), end, true,
                                    [](auto* storage, std::size_t& bytes, auto& d_keys, auto& d_values, auto... rest) {
                                      return DeviceSegmentedRadixSort::SortPairs(storage, bytes, d_keys, d_values,
                                                                                 rest...);
                                    });
      // With tiny tiles, many blocks sort the two longest segments.
      expect_between_buffers<false>(shape, keys(how), end, true,
                                    [](auto* storage, std::size_t& bytes, auto& d_keys, auto& d_values, auto... rest) {
                                      return tiny_sort_buffers<false, std::uint32_t>(storage, bytes, d_keys, d_values,
                                                                                     rest...);
                                    });
    }
  }
  const auto random = keys(pattern::random);
  expect_between_buffers<true>(
      shape, random, 24, true, [](auto* storage, std::size_t& bytes, auto& d_keys, auto& d_values, auto... rest) {
        return DeviceSegmentedRadixSort::SortPairsDescending(storage, bytes, d_keys, d_values, rest...);
      });
  expect_between_buffers<true>(shape, random, 32, false,
                               [](auto* storage, std::size_t& bytes, auto& d_keys, auto&, auto... rest) {
                                 return DeviceSegmentedRadixSort::SortKeysDescending(storage, bytes, d_keys, rest...);
                               });
  expect_between_buffers<false>(shape, random, 32, false,
                                [](auto* storage, std::size_t& bytes, auto& d_keys, auto&, auto... rest) {
                                  return DeviceSegmentedRadixSort::SortKeys(storage, bytes, d_keys, rest...);
                                });
  expect_between_buffers<true>(
      shape, random, 24, false, [](auto* storage, std::size_t& bytes, auto& d_keys, auto&, auto... rest) {
        DoubleBuffer<NullType> none;
        return DeviceSegmentedRadixSort::SortPairsDescending(storage, bytes, d_keys, none, rest...);
      });
}

// Segments with odd and with even numbers of passes must end in the same buffer.
TEST(device_segmented_radix_sort, long_segments_between_two_buffers) {
  std::vector<offset> lengths;
  for (int s = 0; s < 16; ++s) lengths.push_back(s % 5 == 4 ? 800 : 1025 + 90 * s);
  const segment_shape shape = scattered(consecutive("passes", lengths), 36);
  const std::vector<std::uint32_t> keys = keys_with_different_passes(shape);
  for (const int end : {20, 32}) {
    expect_between_buffers<true>(shape, keys, end, false,
                                 [](auto* storage, std::size_t& bytes, auto& d_keys, auto& d_values, auto... rest) {
                                   return tiny_sort_buffers<true, NullType>(storage, bytes, d_keys, d_values, rest...);
                                 });
  }
}

TEST(device_segmented_radix_sort, storage_between_two_buffers) {
  const auto bytes_for = [](std::size_t items) {
    DoubleBuffer<std::uint32_t> keys;
    const int* const offsets = nullptr;
    std::size_t bytes = 0;
    EXPECT_CUDA_SUCCESS(DeviceSegmentedRadixSort::SortKeys(nullptr, bytes, keys, items, 10, offsets, offsets));
    return bytes;
  };
  EXPECT_LT(bytes_for(7000), 2000u);
  for (const std::size_t items : {std::size_t{1} << 23, std::size_t{1} << 30}) {
    EXPECT_LT(bytes_for(items), items * sizeof(std::uint32_t) / 4) << items;
  }
}

// ------------------------------------------------------------------ graphs

TEST(device_segmented_radix_sort, a_graph_may_be_replayed_with_other_segments) {
  using Key = std::uint32_t;
  const std::size_t count = 60;
  const std::size_t most = if_small<std::size_t>(9000, 40000);
  device_vector<Key> in(most), out(most), values_in(most), values_out(most);
  const std::vector<offset> unset(count);
  device_offsets offsets(segment_shape{"unset", unset, unset});
  const auto call = [&](void* storage, std::size_t& bytes, cudaStream_t on) {
    return tiny_sort<false>(storage, bytes, static_cast<const Key*>(in.data()), out.data(),
                            static_cast<const Key*>(values_in.data()), values_out.data(), offsets,
                            static_cast<offset>(most), static_cast<offset>(count), 0, 32, on);
  };
  std::size_t bytes = 0;
  ASSERT_CUDA_SUCCESS(call(nullptr, bytes, nullptr));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t on) { return call(storage.data(), bytes, on); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  // One node clears counters, one sorts short segments, two sort long segments.
  EXPECT_EQ(4u, recorded.nodes());
  const stream on;
  std::mt19937_64 bits = strata_test::random_bits(3);
  for (unsigned i = 0; i < if_small(4u, 12u); ++i) {
    std::vector<offset> lengths(count);
    if (i % 4 != 3) {
      for (offset& length : lengths) length = static_cast<offset>(bits() % (i % 4 == 0 ? 3 : 70));
    }
    // All replays together have more items in long segments than storage has room for. So each replay must reset its
    // counters.
    if (i % 4 != 0) lengths[bits() % count] = static_cast<offset>(most - 4500);
    const segment_shape shape = scattered(consecutive("replay", lengths), i);
    ASSERT_LE(shape.items(), most);
    const std::vector<Key> keys = make_keys<Key>(most, pattern::mostly_one, i);
    const std::vector<Key> values = make_values<Key>(most);
    const std::vector<Key> before(most, 99);
    in.assign(keys);
    values_in.assign(values);
    out.assign(before);
    values_out.assign(before);
    offsets.begins.assign(shape.begins);
    offsets.ends.assign(shape.ends);
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    SCOPED_TRACE(testing::Message() << "replay " << i);
    const auto order = expected_order(shape, keys, false, 0, 32);
    ASSERT_NO_FATAL_FAILURE(expect_gathered(keys, order, out.to_host(), before));
    ASSERT_NO_FATAL_FAILURE(expect_gathered(values, order, values_out.to_host(), before));
  }
}

// ------------------------------------------------------------------ offsets, counts, arguments

template <class Begin, class End, class Items, class Count>
void expect_offsets(const segment_shape& shape, const device_vector<Begin>& begins, const device_vector<End>& ends,
                    Items items, Count count) {
  const std::vector<std::uint32_t> keys = make_keys<std::uint32_t>(shape.items(), pattern::random);
  const std::vector<std::uint32_t> before(shape.items(), 3);
  const device_vector<std::uint32_t> in(keys);
  device_vector<std::uint32_t> out(before);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return DeviceSegmentedRadixSort::SortKeys(storage, bytes, in.data(), out.data(), items, count, begins.data(),
                                              ends.data());
  }));
  expect_gathered(keys, expected_order(shape, keys, false, 0, 32), out.to_host(), before);
}

TEST(device_segmented_radix_sort, offsets_and_counts_of_any_integer_types) {
  const auto converted = [](const std::vector<offset>& from, auto to) {
    return device_vector<decltype(to)>(std::vector<decltype(to)>(from.begin(), from.end()));
  };
  segment_shape shape = scattered(consecutive("some", {4, 0, 50, 600, 0, 33, 1}), 13);
  for (std::size_t i = 0; i < shape.ends.size(); ++i) {
    shape.ends[i] = std::max(shape.begins[i], shape.ends[i]);
  }
  expect_offsets(shape, converted(shape.begins, std::uint16_t{}), converted(shape.ends, std::uint64_t{}),
                 static_cast<unsigned short>(shape.items()), std::uint8_t{7});
}

/// Valid arguments, with one segment of two pairs. `change(arguments)` in expect_refused() makes one of them wrong.
struct arguments {
  std::vector<std::uint32_t> two = {2, 1};
  device_vector<std::uint32_t> memory{std::vector<std::uint32_t>{2, 1, 0, 0, 5, 6, 0, 0}};
  device_vector<int> device_offsets{std::vector<int>{0, 2}};
  std::uint32_t* keys_in = memory.data();
  std::uint32_t* keys_out = memory.data() + 2;
  std::uint32_t* values_in = memory.data() + 4;
  std::uint32_t* values_out = memory.data() + 6;
  long long items = 2;
  long long segments = 1;
  const int* begins = device_offsets.data();
  const int* ends = device_offsets.data() + 1;
  int begin_bit = 0;
  int end_bit = 32;
  bool is_short_of_storage = false;

  cudaError_t sort() const {
    return in_storage(is_short_of_storage, [&](void* storage, std::size_t& bytes) {
      return DeviceSegmentedRadixSort::SortPairs(storage, bytes, keys_in, keys_out, values_in, values_out, items,
                                                 segments, begins, ends, begin_bit, end_bit);
    });
  }
  cudaError_t sort_buffers() const {
    return in_storage(is_short_of_storage, [&](void* storage, std::size_t& bytes) {
      DoubleBuffer<std::uint32_t> keys(keys_in, keys_out), values(values_in, values_out);
      const cudaError_t status = DeviceSegmentedRadixSort::SortPairs(storage, bytes, keys, values, items, segments,
                                                                     begins, ends, begin_bit, end_bit);
      if (status != cudaSuccess) {
        EXPECT_EQ(0, keys.selector + values.selector);
      }
      return status;
    });
  }
};

template <class Change>
void expect_refused(const char* what, const Change& change) {
  SCOPED_TRACE(what);
  arguments wrong;
  change(wrong);
  EXPECT_EQ(cudaErrorInvalidValue, wrong.sort());
  EXPECT_EQ(cudaErrorInvalidValue, wrong.sort_buffers());
  EXPECT_EQ((std::vector<std::uint32_t>{2, 1, 0, 0, 5, 6, 0, 0}), wrong.memory.to_host());
}

TEST(device_segmented_radix_sort, refuses_wrong_arguments) {
  expect_refused("items", [](arguments& a) { a.items = -1; });
  expect_refused("segments", [](arguments& a) { a.segments = -1; });
  expect_refused("keys_in", [](arguments& a) { a.keys_in = nullptr; });
  expect_refused("keys_out", [](arguments& a) { a.keys_out = nullptr; });
  expect_refused("values_in", [](arguments& a) { a.values_in = nullptr; });
  expect_refused("values_out", [](arguments& a) { a.values_out = nullptr; });
  expect_refused("begins", [](arguments& a) { a.begins = nullptr; });
  expect_refused("ends", [](arguments& a) { a.ends = nullptr; });
  expect_refused("begin_bit", [](arguments& a) { a.begin_bit = -1; });
  expect_refused("end_bit", [](arguments& a) { a.end_bit = 33; });
  expect_refused("order of bits", [](arguments& a) { a.begin_bit = 9, a.end_bit = 8; });
  expect_refused("keys overlap", [](arguments& a) { a.keys_out = a.keys_in + 1; });
  expect_refused("values overlap", [](arguments& a) { a.values_out = a.values_in + 1; });
  expect_refused("outputs overlap", [](arguments& a) { a.values_out = a.keys_out + 1; });
  expect_refused("keys on offsets",
                 [](arguments& a) { a.keys_out = reinterpret_cast<std::uint32_t*>(const_cast<int*>(a.begins)) + 1; });
  expect_refused("storage", [](arguments& a) { a.is_short_of_storage = true; });
}

TEST(device_segmented_radix_sort, accepts_right_arguments) {
  const arguments right;
  EXPECT_CUDA_SUCCESS(right.sort());
  EXPECT_EQ((std::vector<std::uint32_t>{2, 1, 1, 2, 5, 6, 6, 5}), right.memory.to_host());
  // sort_buffers() does not tell which buffers have the results. The other ones may have anything.
  const arguments buffers;
  EXPECT_CUDA_SUCCESS(buffers.sort_buffers());
  const auto found = buffers.memory.to_host();
  const auto is_at = [&](std::size_t i, std::uint32_t a, std::uint32_t b) {
    return found[i] == a && found[i + 1] == b;
  };
  EXPECT_TRUE(is_at(0, 1, 2) || is_at(2, 1, 2));
  EXPECT_TRUE(is_at(4, 6, 5) || is_at(6, 6, 5));
}

cudaError_t sort_neighbours(const int* lists, int* sorted, int num_edges, const int* vertices, int num_vertices) {
  void* temp = nullptr;
  std::size_t bytes = 0;
  cudaError_t status = DeviceSegmentedRadixSort::SortKeys(nullptr, bytes, lists, sorted, num_edges, num_vertices,
                                                          vertices, vertices + 1);
  if (status == cudaSuccess) status = cudaMalloc(&temp, bytes);
  if (status == cudaSuccess) {
    status =
        DeviceSegmentedRadixSort::SortKeys(temp, bytes, lists, sorted, num_edges, num_vertices, vertices, vertices + 1);
  }
  EXPECT_CUDA_SUCCESS(cudaDeviceSynchronize());
  EXPECT_CUDA_SUCCESS(cudaFree(temp));
  return status;
}

TEST(device_segmented_radix_sort, sorts_segments_of_which_one_is_empty) {
  const device_vector<int> lists(std::vector<int>{5, 1, 3, -2, 9, 8});
  const device_vector<int> vertices(std::vector<int>{0, 3, 3, 6});
  device_vector<int> sorted(6);
  ASSERT_CUDA_SUCCESS(sort_neighbours(lists.data(), sorted.data(), 6, vertices.data(), 3));
  EXPECT_EQ((std::vector<int>{1, 3, 5, -2, 8, 9}), sorted.to_host());
}

TEST(device_segmented_radix_sort, nothing_to_sort) {
  for (const bool has_items : {false, true}) {
    arguments none;
    (has_items ? none.segments : none.items) = 0;
    EXPECT_CUDA_SUCCESS(none.sort());
    none.keys_in = none.keys_out = none.values_in = none.values_out = nullptr;
    none.begins = none.ends = nullptr;
    EXPECT_CUDA_SUCCESS(none.sort());
    EXPECT_EQ((std::vector<std::uint32_t>{2, 1, 0, 0, 5, 6, 0, 0}), none.memory.to_host());
  }
}

}  // namespace
