// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Sorts of segments, and merge sorts of whole arrays, in place: keys, values or both are sorted over their input.
// Segments have lengths for each kernel, and keys have even and odd numbers of digits.
#include <strata/core/radix_key.hpp>
#include <strata/device/device_merge_sort.cuh>
#include <strata/device/device_segmented_merge_sort.cuh>
#include <strata/device/device_segmented_radix_sort.cuh>
#include <strata/device/device_segmented_sort.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "device/merge_sort/segmented_merge_sort_support.cuh"
#include "device/radix_sort/segmented_radix_sort_support.cuh"
#include "device/schedules.cuh"

namespace {

using namespace merge_sort_test;
using strata::DeviceSegmentedRadixSort;
using strata::DeviceSegmentedSort;

// ------------------------------------------------------------------ what a sort must do

/// True where the output array is the input array.
struct in_place {
  bool keys;
  bool values;
};
constexpr in_place all_ways[] = {{true, false}, {false, true}, {true, true}};

/// The arrays of a call. Sorts of keys alone ignore the values.
template <class Key, class Value>
struct arrays {
  Key* keys_in;
  Key* keys_out;
  Value* values_in;
  Value* values_out;
  offset items;
  offset segments;
  const offset* begins;
  const offset* ends;
};

/// `sort(storage, bytes, arrays)` is a two-phase call, `compare(a, b)` its order. The size query gets null pointers.
/// All items are compared, also those outside of segments.
template <class Key, class Value, bool HasValues = true, class Compare, class Sort>
void expect_sorts(const segment_shape& shape, pattern how, in_place is, const Compare& compare, const Sort& sort) {
  SCOPED_TRACE(testing::Message() << shape << ", pattern " << static_cast<int>(how) << (is.keys ? ", keys" : "")
                                  << (is.values ? ", values" : "") << " in place");
  const std::vector<Key> keys = make_keys<Key>(shape.items(), how);
  const std::vector<Value> values = make_values<Value>(shape.items());
  const std::vector<Key> other_keys = make_keys<Key>(shape.items(), pattern::random, 9);
  const std::vector<Value> other_values(shape.items());
  const device_offsets offsets(shape);
  device_vector<Key> keys_in(keys), keys_out(other_keys);
  device_vector<Value> values_in(values), values_out(other_values);
  ASSERT_CUDA_SUCCESS(in_two_phases([&](void* storage, std::size_t& bytes) {
    arrays<Key, Value> of{nullptr, nullptr, nullptr, nullptr, items_of(shape), shape.segments(), nullptr, nullptr};
    if (storage != nullptr) {
      of.keys_in = keys_in.data(), of.keys_out = (is.keys ? keys_in : keys_out).data();
      of.values_in = values_in.data(), of.values_out = (is.values ? values_in : values_out).data();
      of.begins = offsets.begins.data(), of.ends = offsets.ends.data();
    }
    return sort(storage, bytes, of);
  }));
  const std::vector<std::size_t> order = expected_order(shape, keys, compare);
  const std::vector<std::size_t> untouched(order.size(), nowhere);
  expect_gathered(keys, order, (is.keys ? keys_in : keys_out).to_host(), is.keys ? keys : other_keys);
  if (!is.keys) expect_gathered(keys, untouched, keys_in.to_host(), keys);
  if (!HasValues) return;
  expect_gathered(values, order, (is.values ? values_in : values_out).to_host(), is.values ? values : other_values);
  if (!is.values) expect_gathered(values, untouched, values_in.to_host(), values);
}

/// Order of a radix sort by bits `begin_bit` to `end_bit` - 1.
template <bool IsDescending, class Key>
auto order_by_bits(int begin_bit, int end_bit) {
  return [=](const Key& a, const Key& b) {
    using Traits = strata::RadixTraits<Key>;
    const auto bits_of = [=](const Key& key) {
      const std::uint64_t all = Traits::ordered(key), width = static_cast<std::uint64_t>(end_bit - begin_bit);
      return width == 0 ? 0 : all >> begin_bit & (~std::uint64_t{0} >> (64 - width));
    };
    return IsDescending ? bits_of(b) < bits_of(a) : bits_of(a) < bits_of(b);
  };
}

// ------------------------------------------------------------------ DeviceSegmentedRadixSort

// Passes sort segments of more than 512 items: those of one block up to 1024 items, those of many blocks above.
using many_blocks = tiles_of<256, 2>;
/// With this hub, all passes are those of one block.
using one_block = tiles_of<1024, 32>;

/// Lengths for a warp, a small tile, a whole tile, passes of one block, and passes of many blocks.
segment_shape all_lengths() {
  return scattered(consecutive("all lengths", {0, 1, 2, 32, 33, 256, 257, 512, 513, 1024, 1025, 2100, 3, 700, 1}), 51);
}
/// Segments begin behind item 30000. Scratch arrays are shorter, so they must not be indexed like the input.
segment_shape behind() {
  segment_shape shape = scattered(consecutive("behind", {1400, 900, 30, 501, 2000}), 52);
  for (offset& begin : shape.begins) begin += 30000;
  for (offset& end : shape.ends) end += 30000;
  return shape;
}

template <class Hub, bool IsDescending, class Key, class Value>
void expect_radix_pairs(const segment_shape& shape, pattern how, in_place is, int begin_bit, int end_bit) {
  SCOPED_TRACE(testing::Message() << "bits " << begin_bit << " to " << end_bit);
  expect_sorts<Key, Value>(shape, how, is, order_by_bits<IsDescending, Key>(begin_bit, end_bit),
                           [=](void* storage, std::size_t& bytes, const arrays<Key, Value>& of) {
                             return sort_segments_tuned<Hub, IsDescending, Value, Key>(
                                 storage, bytes, of.keys_in, of.keys_out, of.values_in, of.values_out, of.items,
                                 of.segments, of.begins, of.ends, begin_bit, end_bit);
                           });
}

template <class Hub, bool IsDescending, class Key, class Value>
void expect_radix_pairs_all_ways(std::initializer_list<std::pair<int, int>> ranges) {
  for (const segment_shape& shape : {all_lengths(), behind()}) {
    for (const in_place is : all_ways) {
      for (const auto& bits : ranges) {
        for (const pattern how : {pattern::random, pattern::few, pattern::equal}) {
          ASSERT_NO_FATAL_FAILURE(
              (expect_radix_pairs<Hub, IsDescending, Key, Value>(shape, how, is, bits.first, bits.second)));
        }
      }
    }
  }
}

TEST(device_segmented_sort_in_place, radix_pairs) {
  expect_radix_pairs_all_ways<many_blocks, false, std::uint32_t, std::uint32_t>(
      {{0, 32}, {0, 24}, {4, 20}, {3, 8}, {7, 7}});
  expect_radix_pairs_all_ways<one_block, true, std::uint32_t, std::uint32_t>({{0, 32}, {0, 24}, {4, 20}, {7, 7}});
}

TEST(device_segmented_sort_in_place, radix_pairs_of_other_sizes) {
  expect_radix_pairs_all_ways<many_blocks, true, std::uint8_t, std::uint32_t>({{0, 8}});
  expect_radix_pairs_all_ways<many_blocks, false, std::int64_t, std::uint8_t>({{0, 64}, {0, 56}});
}

TEST(device_segmented_sort_in_place, radix_keys) {
  for (const segment_shape& shape : {all_lengths(), behind()}) {
    for (const auto& [begin, end] : {std::pair{0, 16}, std::pair{0, 8}, std::pair{5, 5}, std::pair{1, 14}}) {
      for (const pattern how : {pattern::random, pattern::few, pattern::equal}) {
        const int begin_bit = begin, end_bit = end;
        expect_sorts<std::uint16_t, char, false>(
            shape, how, {true, false}, order_by_bits<false, std::uint16_t>(begin_bit, end_bit),
            [=](void* storage, std::size_t& bytes, const arrays<std::uint16_t, char>& of) {
              return sort_segments_tuned<many_blocks, false, NullType, std::uint16_t>(
                  storage, bytes, of.keys_in, of.keys_out, nullptr, nullptr, of.items, of.segments, of.begins, of.ends,
                  begin_bit, end_bit);
            });
      }
    }
  }
}

// ------------------------------------------------------------------ DeviceSegmentedSort

/// Segments of more than 500 items are sorted by digits, if keys have an even number of digits.
struct long_rows : tiny_tiles::Policy {
  static constexpr strata::radix_histogram_tuning histogram{256, 16 << 10};
  static constexpr strata::radix_pass_tuning pass{256, 3, 1};
  static constexpr strata::long_segment_tuning long_segments{500, 0, 0, 0};
  static constexpr strata::number_tile_tuning number_tile{0, 0, 0, 0};
};
using LongSort = strata::TunedDeviceSegmentedSort<one_policy_hub<long_rows>>;

template <class Key, class Value>
void expect_number_pairs(const segment_shape& shape, pattern how, in_place is) {
  expect_sorts<Key, Value>(shape, how, is, order_by_bits<true, Key>(0, 8 * sizeof(Key)),
                           [](void* storage, std::size_t& bytes, const arrays<Key, Value>& of) {
                             return LongSort::SortPairsDescending(storage, bytes, static_cast<const Key*>(of.keys_in),
                                                                  of.keys_out, static_cast<const Value*>(of.values_in),
                                                                  of.values_out, of.items, of.segments, of.begins,
                                                                  of.ends);
                           });
}

TEST(device_segmented_sort_in_place, number_pairs) {
  for (const segment_shape& shape : {all_lengths(), behind(), consecutive("one", {2500})}) {
    for (const in_place is : all_ways) {
      for (const pattern how : {pattern::random, pattern::few, pattern::equal}) {
        ASSERT_NO_FATAL_FAILURE((expect_number_pairs<std::uint32_t, std::uint32_t>(shape, how, is)));
        ASSERT_NO_FATAL_FAILURE((expect_number_pairs<std::uint8_t, std::uint32_t>(shape, how, is)));
      }
    }
  }
}

TEST(device_segmented_sort_in_place, number_keys) {
  for (const pattern how : {pattern::random, pattern::few, pattern::equal}) {
    expect_sorts<float, char, false>(all_lengths(), how, {true, false}, order_by_bits<false, float>(0, 32),
                                     [](void* storage, std::size_t& bytes, const arrays<float, char>& of) {
                                       return LongSort::SortKeys(storage, bytes, of.keys_in, of.keys_out, of.items,
                                                                 of.segments, of.begins, of.ends);
                                     });
  }
}

// ------------------------------------------------------------------ merge sorts

using SegmentedMergeSort = strata::TunedDeviceSegmentedMergeSort<tiny_tiles>;
using MergeSort = strata::TunedDeviceMergeSort<tiny_tiles>;

TEST(device_segmented_sort_in_place, merged_pairs_of_segments) {
  for (const segment_shape& shape : {all_lengths(), behind(), consecutive("short", std::vector<offset>(300, 7))}) {
    for (const in_place is : all_ways) {
      for (const pattern how : {pattern::random, pattern::few}) {
        expect_sorts<record12, std::uint32_t>(
            shape, how, is, is_less{},
            [](void* storage, std::size_t& bytes, const arrays<record12, std::uint32_t>& of) {
              return SegmentedMergeSort::SortPairsCopy(storage, bytes, of.keys_in, of.values_in, of.keys_out,
                                                       of.values_out, of.items, of.segments, of.begins, of.ends,
                                                       is_less{});
            });
      }
    }
  }
}

/// Sizes for one block, a cluster, a grid, and three kernels.
constexpr offset sizes[] = {1, 150, 192, 193, 1500, 5000, 20000};

TEST(device_segmented_sort_in_place, merged_pairs_of_an_array) {
  for (const offset size : sizes) {
    for (const in_place is : all_ways) {
      expect_sorts<std::uint32_t, std::uint64_t>(
          consecutive(std::to_string(size), {size}), pattern::few, is, is_less{},
          [](void* storage, std::size_t& bytes, const arrays<std::uint32_t, std::uint64_t>& of) {
            return MergeSort::SortPairsCopy(storage, bytes, of.keys_in, of.values_in, of.keys_out, of.values_out,
                                            of.items, is_less{});
          });
    }
  }
}

TEST(device_segmented_sort_in_place, merged_keys_of_an_array) {
  for (const offset size : sizes) {
    expect_sorts<std::int32_t, char, false>(
        consecutive(std::to_string(size), {size}), pattern::random, {true, false}, is_less{},
        [](void* storage, std::size_t& bytes, const arrays<std::int32_t, char>& of) {
          return MergeSort::SortKeysCopy(storage, bytes, of.keys_in, of.keys_out, of.items, is_less{});
        });
  }
}

// ------------------------------------------------------------------ schedules

TEST(device_segmented_sort_in_place, in_any_order_of_blocks) {
  const segment_shape shape = all_lengths();
  under_all_schedules([&](std::size_t i) {
    const in_place is = all_ways[i % 3];
    const pattern how = i % 5 == 0 ? pattern::equal : i % 2 == 0 ? pattern::few : pattern::random;
    expect_radix_pairs<many_blocks, false, std::uint32_t, std::uint32_t>(shape, how, is, 0, i % 4 < 2 ? 32 : 24);
    expect_number_pairs<std::uint32_t, std::uint32_t>(shape, how, is);
  });
}

}  // namespace
