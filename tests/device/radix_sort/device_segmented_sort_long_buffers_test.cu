// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// test: check

// DeviceSegmentedSort with long segments: sorts in DoubleBuffers, and sorts that return indices.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "device/radix_sort/segmented_sort_support.cuh"

namespace {

using namespace segmented_sort_test;

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

/// In each segment, another number of digits varies, from none to all.
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
  // Keys of one byte take one pass, which would leave the result in the other array. So all segments are merged.
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

}  // namespace
