// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSegmentedSort with segments that are sorted by their digits, by many blocks or by one, beside others that are
// merged.
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

namespace {

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

/// Merged in the first kernel, queued, in tiles, and of one to four tiles of passes.
segment_shape mixed() {
  return consecutive("mixed", {0, 1, 30, 700, 193, 501, 500, 2, 769, 450, 2600, 90, 0, 768, 2305, 17});
}
/// All segments lie behind as many items as the call has: scratch arrays are shorter.
segment_shape behind() {
  segment_shape shape = scattered(consecutive("behind", {900, 30, 501, 2000, 300}), 44);
  for (offset& begin : shape.begins) begin += 30000;
  for (offset& end : shape.ends) end += 30000;
  return shape;
}
std::vector<segment_shape> long_shapes() {
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

/// Numbers whose bits are those of the pattern. Of floating-point numbers some are NaNs and zeros of both signs.
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

TEST(device_segmented_sort_long, keys) {
  expect_all_copies<false, std::uint32_t, NullType>();
  expect_all_copies<true, float, NullType>();
}

TEST(device_segmented_sort_long, pairs) {
  expect_all_copies<true, std::int32_t, std::uint32_t>();
  expect_all_copies<false, float, std::uint64_t>();
}

enum class small : std::int16_t {};

TEST(device_segmented_sort_long, keys_of_other_sizes) {
  expect_copies<false, std::int64_t, NullType>(mixed(), pattern::random);
  expect_copies<true, __half, std::uint32_t>(mixed(), pattern::random);
#if !STRATA_TEST_SMALL
  expect_copies<false, std::int8_t, NullType>(mixed(), pattern::random);
#endif
#if !STRATA_TEST_FEW_TYPES
  expect_copies<true, double, std::uint32_t>(mixed(), pattern::random);
  expect_copies<false, small, std::uint32_t>(mixed(), pattern::few);
#endif
}

TEST(device_segmented_sort_long, a_hub_may_say_that_none_are_long) {
  using Sort = TunedDeviceSegmentedSort<one_policy_hub<never_long_rows>>;
  expect_copies<false, std::uint32_t, std::uint32_t, Sort>(mixed(), pattern::random);
}

// ------------------------------------------------------------------ a block for each segment

template <class Key, class Value>
using numbers_hub = strata::segmented_sort_policy_hub<Key, Value>;
/// The library's rows: tiles of 4,096 items. What is longer is left to a grid, or without one is queued.
template <class Key, class Value, int GridThreads>
struct number_tile_rows : numbers_hub<Key, Value>::template rows<typename numbers_hub<Key, Value>::merges::rows_900,
                                                                 typename numbers_hub<Key, Value>::digits::Policy900> {
  static constexpr strata::merge_sort_grid_tuning resident_grid{GridThreads, 9, 1};
};

std::vector<segment_shape> number_tile_shapes() {
  return {scattered(consecutive("tiles", {2000, 0, 4096, 1, 4095, 1500}), 51),
          consecutive("around_a_tile", {4097, 4096, 4095, 4000}), consecutive("short", {513, 512, 511, 0, 1, 1535}),
          scattered(consecutive("longer", {9000, 1100, 5000, 300, 2000, 4097}), 52)};
}

template <bool IsDescending, class Key, class Value>
void expect_number_tiles(pattern how) {
  for (const segment_shape& shape : number_tile_shapes()) {
    expect_copies<IsDescending, Key, Value, strata::DeviceSegmentedSort>(shape, how);
    expect_copies<IsDescending, Key, Value, TunedDeviceSegmentedSort<one_policy_hub<number_tile_rows<Key, Value, 0>>>>(
        shape, how);
  }
}

TEST(device_segmented_sort_number_tiles, keys) {
  expect_number_tiles<true, float, NullType>(pattern::random);
  expect_number_tiles<false, std::uint32_t, NullType>(pattern::random);
}

TEST(device_segmented_sort_number_tiles, pairs) {
  expect_number_tiles<false, std::int16_t, std::uint32_t>(pattern::few);
  expect_number_tiles<true, float, std::int32_t>(pattern::random);
}

/// Words whose high 20 bits are one of `prefixes` numbers: a block sorts by these first. The others are random, the
/// first two are the least and the greatest word.
template <class Key>
std::vector<Key> keys_of_few_prefixes(std::size_t count, unsigned prefixes) {
  std::vector<std::uint32_t> words = make_bits<std::uint32_t>(count, pattern::random);
  for (std::uint32_t& word : words) {
    word = (0x3f800 + word % prefixes) << 12 | (word >> 20);
  }
  for (std::size_t i = 0; i + 1 < count; i += 500) {
    words[i] = 0;
    words[i + 1] = ~0u;
  }
  std::vector<Key> keys(count);
  std::memcpy(static_cast<void*>(keys.data()), words.data(), count * sizeof(Key));
  return keys;
}

TEST(device_segmented_sort_number_tiles, keys_that_differ_in_low_bits) {
  const segment_shape shape = scattered(consecutive("prefixes", {2000, 4096, 1, 2500}), 53);
  // As many neighbours as a thread compares with, fewer, and more.
  for (const unsigned prefixes : {1u, 40u, 75u, 85u, 100u, 1000u, 30000u}) {
    SCOPED_TRACE(prefixes);
    expect_copies_of<false, std::uint32_t, std::uint32_t, strata::DeviceSegmentedSort>(
        shape, keys_of_few_prefixes<std::uint32_t>(shape.items(), prefixes));
    expect_copies_of<true, float, std::int32_t, strata::DeviceSegmentedSort>(
        shape, keys_of_few_prefixes<float>(shape.items(), prefixes));
    // NaN and zeros with a sign: by position, although keys have no values.
    std::vector<float> keys = keys_of_few_prefixes<float>(shape.items(), prefixes);
    for (std::size_t i = 0; i < keys.size(); i += 7) keys[i] = i % 2 == 0 ? -0.0f : 0.0f;
    expect_copies_of<false, float, NullType, strata::DeviceSegmentedSort>(shape, keys);
  }
}

TEST(device_segmented_sort_number_tiles, tuning_says_which_calls) {
  // On an H200.
  constexpr int multiprocessors = 132;
  constexpr strata::number_tile_tuning tuning = numbers_hub<float, NullType>::MaxPolicy::number_tile;
  const auto takes = [&](std::size_t segments, std::size_t mean, std::size_t more = 0) {
    return tuning.takes(segments * mean + more, segments, multiprocessors);
  };
  for (const std::size_t few : {std::size_t{1}, std::size_t{16}, std::size_t{264}}) {
    SCOPED_TRACE(few);
    EXPECT_FALSE(takes(few, 0));
    EXPECT_FALSE(takes(few, 511, few - 1));
    EXPECT_TRUE(takes(few, 512));
    EXPECT_TRUE(takes(few, 1200, few / 2));
    EXPECT_TRUE(takes(few, 4096));
    EXPECT_FALSE(takes(few, 4097));
  }
  for (const std::size_t many : {std::size_t{265}, std::size_t{1} << 20}) {
    SCOPED_TRACE(many);
    EXPECT_FALSE(takes(many, 512));
    EXPECT_FALSE(takes(many, 3584));
    EXPECT_TRUE(takes(many, 3585));
    EXPECT_FALSE(takes(many, 3585, 1)) << "of different lengths";
    EXPECT_TRUE(takes(many, 4096));
    EXPECT_FALSE(takes(many, 4097));
  }
  constexpr strata::number_tile_tuning never{512, 8, 2, 0};
  EXPECT_FALSE(never.takes(4096, 1, multiprocessors));
  EXPECT_FALSE(never.takes(1000 * 4096, 1000, multiprocessors));
}

/// Tiles of 256 items.
template <class Key, class Value>
struct small_number_tile_rows : number_tile_rows<Key, Value, 0> {
  static constexpr strata::number_tile_tuning number_tile{32, 8, 1, 2};
};

/// So many segments of 240 items on average that they are queued without a further kernel.
segment_shape many_rows() {
  std::vector<std::int64_t> sizes(1100, 240);
  for (std::size_t i = 0; i < 16; ++i) sizes[60 * i + 7] = 0;
  sizes[3] += 400;
  sizes[5] += 16 * 240 - 400;
  sizes[9] -= 1;
  sizes[10] += 1;
  return consecutive("many_rows", sizes);
}

TEST(device_segmented_sort_number_tiles, of_many_segments) {
  const segment_shape shape = many_rows();
  ASSERT_TRUE((small_number_tile_rows<float, NullType>::number_tile.takes(
      shape.items(), static_cast<std::size_t>(shape.segments()), 132)));
  expect_copies<true, float, NullType,
                TunedDeviceSegmentedSort<one_policy_hub<small_number_tile_rows<float, NullType>>>>(shape,
                                                                                                   pattern::random);
  using PairSort = TunedDeviceSegmentedSort<one_policy_hub<small_number_tile_rows<std::int32_t, std::uint32_t>>>;
  expect_copies<false, std::int32_t, std::uint32_t, PairSort>(shape, pattern::few);
}

// ------------------------------------------------------------------ in place

template <bool IsDescending, class Key, class Value, class Sort = LongSort>
void expect_in_buffers(const segment_shape& shape, const std::vector<Key>& keys) {
  constexpr bool has_values = !std::is_same_v<Value, NullType>;
  using Moved = std::conditional_t<has_values, Value, char>;
  SCOPED_TRACE(shape);
  const std::vector<Moved> values = make_values<Moved>(shape.items());
  const std::vector<Key> other_before = make_bits<Key>(shape.items(), pattern::reversed);
  const std::vector<Moved> other_values_before(shape.items());
  const device_offsets offsets(shape);
  device_vector<Key> first(keys), other(other_before);
  device_vector<Moved> first_values(values), other_values(other_values_before);
  DoubleBuffer<Key> key_buffers(other.data(), first.data());
  DoubleBuffer<Moved> value_buffers(other_values.data(), first_values.data());
  key_buffers.selector = value_buffers.selector = 1;
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    const offset *begins = offsets.begins.data(), *ends = offsets.ends.data();
    if constexpr (has_values) {
      return IsDescending ? Sort::StableSortPairsDescending(storage, bytes, key_buffers, value_buffers, items_of(shape),
                                                            shape.segments(), begins, ends)
                          : Sort::StableSortPairs(storage, bytes, key_buffers, value_buffers, items_of(shape),
                                                  shape.segments(), begins, ends);
    } else {
      return IsDescending
                 ? Sort::StableSortKeysDescending(storage, bytes, key_buffers, items_of(shape), shape.segments(),
                                                  begins, ends)
                 : Sort::StableSortKeys(storage, bytes, key_buffers, items_of(shape), shape.segments(), begins, ends);
    }
  }));
  EXPECT_EQ(1, key_buffers.selector);
  const std::vector<std::size_t> order = order_of<IsDescending>(shape, keys);
  expect_gathered(keys, order, first.to_host(), keys);
  if (has_values) expect_gathered(values, order, first_values.to_host(), values);
  const std::vector<Key> other_after = other.to_host();
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != nowhere) continue;
    ASSERT_EQ(0, std::memcmp(&other_before[i], &other_after[i], sizeof(Key))) << "key " << i;
  }
}

/// Each segment has another number of digits that differ, from none to all.
std::vector<std::uint32_t> keys_of_few_digits(const segment_shape& shape) {
  std::vector<std::uint32_t> keys = make_bits<std::uint32_t>(shape.items(), pattern::random);
  constexpr std::uint32_t masks[] = {0xff000000, 0x00ff0000, 0x00ffff00, 0, 0xff00ffff, 0xffffffff};
  for (std::size_t s = 0; s < shape.begins.size(); ++s) {
    for (offset i = shape.begins[s]; i < shape.ends[s]; ++i) keys[static_cast<std::size_t>(i)] &= masks[s % 6];
  }
  return keys;
}

TEST(device_segmented_sort_long, between_two_buffers) {
  for (const segment_shape& shape : long_shapes()) {
    expect_in_buffers<false, std::uint32_t, NullType>(shape, keys_of_few_digits(shape));
    expect_in_buffers<true, std::uint32_t, std::uint32_t>(shape, keys_of_few_digits(shape));
  }
  const segment_shape shape = scattered(mixed(), 43);
#if !STRATA_TEST_SMALL
  expect_in_buffers<false, __half, NullType>(shape, make_bits<__half>(shape.items(), pattern::random));
#endif
  const segment_shape tiles = consecutive("tiles", {2000, 4096, 1, 1500});
  expect_in_buffers<false, std::int32_t, std::uint32_t, strata::DeviceSegmentedSort>(
      tiles, make_bits<std::int32_t>(tiles.items(), pattern::few));
  expect_in_buffers<true, float, NullType, strata::DeviceSegmentedSort>(
      tiles, make_bits<float>(tiles.items(), pattern::random));
  // One pass would leave these in the other array: all are merged.
  expect_in_buffers<true, std::uint8_t, std::uint32_t>(shape, make_bits<std::uint8_t>(shape.items(), pattern::random));
}

// ------------------------------------------------------------------ indices

template <bool IsDescending, class Key, class Index, class Sort = LongSort>
void expect_indices(const segment_shape& shape) {
  SCOPED_TRACE(shape);
  const std::vector<Key> keys = make_bits<Key>(shape.items(), pattern::few);
  const std::vector<Index> before(shape.items(), Index{7});
  const device_offsets offsets(shape);
  const device_vector<Key> in(keys);
  device_vector<Index> out(before);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    const offset *begins = offsets.begins.data(), *ends = offsets.ends.data();
    return IsDescending ? Sort::SortIndicesDescending(storage, bytes, in.data(), out.data(), items_of(shape),
                                                      shape.segments(), begins, ends)
                        : Sort::SortIndices(storage, bytes, in.data(), out.data(), items_of(shape), shape.segments(),
                                            begins, ends);
  }));
  const std::vector<std::size_t> order = order_of<IsDescending>(shape, keys);
  const std::vector<Index> indices = out.to_host();
  for (std::size_t i = 0; i < order.size(); ++i) {
    ASSERT_EQ(order[i] == nowhere ? Index{7} : static_cast<Index>(order[i]), indices[i]) << i;
  }
}

TEST(device_segmented_sort_long, indices) {
  for (const segment_shape& shape : long_shapes()) {
    expect_indices<false, std::uint32_t, std::uint32_t>(shape);
    expect_indices<true, float, std::int64_t>(shape);
  }
  for (const segment_shape& shape : number_tile_shapes()) {
    expect_indices<true, float, std::uint32_t, strata::DeviceSegmentedSort>(shape);
  }
}

// ------------------------------------------------------------------ segments of one size

TEST(device_segmented_sort_long, segments_of_one_size) {
  for (const offset size : {500, 501, 1600}) {
    const segment_shape shape = consecutive("of_one_size", std::vector<offset>(5, size));
    SCOPED_TRACE(size);
    const std::vector<std::int32_t> keys = make_bits<std::int32_t>(shape.items(), pattern::random);
    const device_vector<std::int32_t> in(keys);
    device_vector<std::int32_t> out(keys);
    ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
      return LongSort::SortKeys(storage, bytes, in.data(), out.data(), 5, size);
    }));
    expect_gathered(keys, order_of<false>(shape, keys), out.to_host(), keys);
  }
}

// ------------------------------------------------------------------ graphs

TEST(device_segmented_sort_long, a_graph_may_be_replayed_with_other_segments) {
  constexpr offset most = 6000;
  const std::vector<std::uint32_t> keys = make_bits<std::uint32_t>(most, pattern::random);
  const device_vector<std::uint32_t> in(keys);
  device_vector<std::uint32_t> out(keys);
  device_offsets offsets(consecutive("unset", {0, 0, 0, 0, 0}));
  std::size_t bytes = 0;
  const auto call = [&](void* storage, cudaStream_t on) {
    return LongSort::SortKeys(storage, bytes, in.data(), out.data(), most, 5, offsets.begins.data(),
                              offsets.ends.data(), on);
  };
  ASSERT_CUDA_SUCCESS(call(nullptr, nullptr));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t on) { return call(storage.data(), on); });
  ASSERT_CUDA_SUCCESS(recorded.status());
  const stream on;
  for (const std::vector<offset>& lengths : std::vector<std::vector<offset>>{{0, 0, most, 0, 0},
                                                                             {1, 2, 3, 4, 5},
                                                                             {501, 700, 2000, 450, 1300},
                                                                             {100, 500, 0, 400, 7},
                                                                             {2500, 0, 0, 0, 3000}}) {
    const segment_shape shape = consecutive("replay", lengths);
    offsets.begins.assign(shape.begins);
    offsets.ends.assign(shape.ends);
    const std::vector<std::uint32_t> before(keys.size(), 77);
    out.assign(before);
    ASSERT_NO_FATAL_FAILURE(recorded.replay(on));
    on.synchronize();
    std::vector<std::size_t> order =
        order_of<false>(shape, std::vector<std::uint32_t>(keys.begin(), keys.begin() + most));
    ASSERT_NO_FATAL_FAILURE(expect_gathered(keys, order, out.to_host(), before));
  }
}

// ------------------------------------------------------------------ which calls

template <class Sort>
std::size_t nodes_of_call(offset items, offset segments) {
  const std::vector<std::uint32_t> keys(static_cast<std::size_t>(items));
  const device_vector<std::uint32_t> in(keys);
  device_vector<std::uint32_t> out(keys);
  const device_vector<offset> offsets(std::vector<offset>(static_cast<std::size_t>(segments) + 1, 0));
  std::size_t bytes = 0;
  const auto call = [&](void* storage, cudaStream_t on) {
    return Sort::SortKeys(storage, bytes, in.data(), out.data(), items, segments, offsets.data(), offsets.data() + 1,
                          on);
  };
  EXPECT_CUDA_SUCCESS(call(nullptr, nullptr));
  const scratch storage(bytes);
  graph recorded([&](cudaStream_t on) { return call(storage.data(), on); });
  EXPECT_CUDA_SUCCESS(recorded.status());
  return recorded.nodes();
}

/// No grid that finds the segments of a call of few itself.
template <class Rows>
struct without_grid : Rows {
  static constexpr strata::merge_sort_grid_tuning resident_grid{0, 1, 1};
};

TEST(device_segmented_sort_long, only_large_calls_launch_two_more_kernels) {
  using Sort = TunedDeviceSegmentedSort<one_policy_hub<without_grid<large_call_rows>>>;
  using Merges = TunedDeviceSegmentedSort<one_policy_hub<without_grid<never_long_rows>>>;
  const auto more_nodes = [](offset items, offset segments) {
    return nodes_of_call<Sort>(items, segments) - nodes_of_call<Merges>(items, segments);
  };
  EXPECT_EQ(0u, more_nodes(1999, 1));
  EXPECT_EQ(2u, more_nodes(2000, 1));
  EXPECT_EQ(2u, more_nodes(3000, 3));
  EXPECT_EQ(0u, more_nodes(2999, 3));
  EXPECT_EQ(0u, more_nodes(5999, 600));
  EXPECT_EQ(2u, more_nodes(6000, 600));
}

// A program may ask for the storage of a call with more segments.
TEST(device_segmented_sort_long, storage_does_not_depend_on_the_number_of_segments) {
  using Sort = TunedDeviceSegmentedSort<one_policy_hub<large_call_rows>>;
  std::uint32_t* const out = nullptr;
  const std::uint32_t* const in = nullptr;
  const offset* const offsets = nullptr;
  std::size_t of_one = 0, of_many = 0;
  ASSERT_CUDA_SUCCESS(Sort::SortKeys(nullptr, of_one, in, out, 4000, 1, offsets, offsets));
  ASSERT_CUDA_SUCCESS(Sort::SortKeys(nullptr, of_many, in, out, 4000, 4000, offsets, offsets));
  EXPECT_EQ(of_one, of_many);
}

// ------------------------------------------------------------------ more items than the call has

#if !STRATA_DEBUG
// Neither the list nor the buffer has capacity for more. Short segments are sorted, and nothing else is written.
TEST(device_segmented_sort_long, leaves_long_segments_that_have_no_room) {
  const segment_shape shape = consecutive("too_many", {5, 1100, 7, 1100, 1100, 1100, 9});
  const std::vector<std::uint32_t> keys = make_bits<std::uint32_t>(shape.items(), pattern::random);
  const std::vector<std::uint32_t> before(shape.items(), 77);
  const device_offsets offsets(shape);
  const device_vector<std::uint32_t> in(keys);
  device_vector<std::uint32_t> out(before);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    return LongSort::SortKeys(storage, bytes, in.data(), out.data(), 2300, shape.segments(), offsets.begins.data(),
                              offsets.ends.data());
  }));
  const std::vector<std::uint32_t> sorted = out.to_host();
  EXPECT_EQ(2200, std::count(sorted.begin(), sorted.end(), 77u));
  EXPECT_TRUE(std::none_of(sorted.end() - 9, sorted.end(), [](std::uint32_t key) { return key == 77; }));
}
#endif

// ------------------------------------------------------------------ as the library chooses

TEST(device_segmented_sort_long, limits) {
  using limits = strata::detail::long_segment_limits;
  constexpr std::size_t tile = 1000, bound = 1 << 17;
  EXPECT_EQ(0u, limits::above(bound, bound, tile).most_segments);
  EXPECT_EQ(0u, limits::above(bound, bound, tile).most_tiles);
  EXPECT_EQ(1u, limits::above(bound, bound + 1, tile).most_segments);
  EXPECT_EQ(bound / tile + 1, limits::above(bound, bound + 1, tile).most_tiles);
  // The list is never longer, however many items there are.
  EXPECT_EQ(bound, limits::above(bound, std::size_t{1} << 33, tile).bound);
  EXPECT_EQ(std::size_t{1} << 20, limits::above(bound, std::size_t{1} << 36, tile).bound);
  EXPECT_LE(limits::above(bound, std::size_t{1} << 50, tile).most_segments, std::size_t{1} << 16);
}

TEST(device_segmented_sort_long, rows_of_the_library) {
  const auto longest_merged = [](auto hub) { return decltype(hub)::MaxPolicy::long_segments.longest_merged; };
  EXPECT_GT(longest_merged(strata::segmented_sort_policy_hub<int, NullType>{}), 0u);
  EXPECT_GT(longest_merged(strata::segmented_sort_policy_hub<float, std::uint64_t>{}), 0u);
  EXPECT_EQ(longest_merged(strata::segmented_sort_policy_hub<double, std::uint64_t>{}), 0u);
  EXPECT_EQ(longest_merged(strata::segmented_sort_policy_hub<int, record40>{}), 0u);
}

}  // namespace
