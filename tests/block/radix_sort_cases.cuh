// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the tests of BlockRadixSort: keys, calls, and the expected order.
#pragma once

#include <strata/block/block_radix_sort.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "block/radix_cases.cuh"
#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace block_radix_sort_test {

using namespace strata;
using strata_test::device_vector;
using strata_test::same_bits;

// ---------------------------------------------------------------------------- keys
struct event {
  std::uint8_t kind;
  std::int16_t year;
  float weight;
  std::uint64_t payload;
};

struct by_year_weight_kind {
  STRATA_HD RadixFields<std::int16_t&, float&, std::uint8_t&> operator()(event& e) const {
    return {e.year, e.weight, e.kind};
  }
};

enum class color : short { red = -3 };
enum class truth : bool {};  // stands for bool, because std::vector<bool> has no data()

template <class Key>
Key from_number(std::uint64_t number, std::size_t i) {
  Key key{};
  if constexpr (std::is_same_v<Key, truth>) {
    key = static_cast<truth>((number & 1) != 0);
  } else if constexpr (sizeof(Key) == 16) {
    const std::uint64_t words[2] = {number, i % 3 == 0 ? 0 : number * 31};
    std::memcpy(&key, words, sizeof(key));
  } else {
    std::memcpy(static_cast<void*>(&key), &number, sizeof(key));
  }
  return key;
}
template <>
inline event from_number<event>(std::uint64_t number, std::size_t i) {
  return {static_cast<std::uint8_t>(number), static_cast<std::int16_t>(number >> 48),
          static_cast<float>(static_cast<int>(number >> 8 & 15) - 7) * (i % 4 == 0 ? 0.0f : 1.0f), i};
}

template <class Key>
inline constexpr bool is_float = detail::radix_mantissa_bits<Key> != 0;

/// With `ordinary`, floating-point keys are numbers, and keys with different bits compare as different.
template <class Key>
std::vector<Key> tile_of_keys(radix_cases::spread how, std::size_t count, bool ordinary = false) {
  constexpr int bits = sizeof(Key) < 8 ? 8 * static_cast<int>(sizeof(Key)) : 64;
  const std::vector<std::uint64_t> numbers = radix_cases::numbers(how, count, bits);
  std::vector<Key> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = from_number<Key>(numbers[i], i);
  if constexpr (is_float<Key>) {
    if (ordinary) {
      for (std::size_t i = 0; i < count; ++i) {
        if constexpr (sizeof(Key) == 1) {
          keys[i] = from_number<Key>(numbers[i] & 0x73, i);  // positive and finite
        } else {
          keys[i] = static_cast<Key>(static_cast<float>(static_cast<int>(numbers[i] % 201) - 100) * 0.25f);
        }
      }
      return keys;
    }
  }
  if constexpr (is_float<Key> && sizeof(Key) > 1) {
    // Special numbers, which random bits rarely produce.
    const float special[] = {0.0f, -0.0f, NAN, -NAN, INFINITY, -INFINITY, 1.0f};
    for (std::size_t i = 0; i < count; i += 3) keys[i] = static_cast<Key>(special[i / 3 % 7]);
  }
  return keys;
}

inline bool is_same(const event& a, const event& b) { return a.payload == b.payload; }
template <class Key>
bool is_same(const Key& a, const Key& b) {
  return same_bits(a, b);
}

// ---------------------------------------------------------------------------- cases
template <class Key, int Items_, int RadixBits, int X, int Y = 1, int Z = 1,
          class Decomposer_ = detail::identity_decomposer, bool Memoize = true,
          BlockRadixSortAlgorithm Algorithm = BLOCK_RADIX_SORT_DEFAULT>
struct sort_case {
  using type = Key;
  using Decomposer = Decomposer_;
  static constexpr bool is_decomposed = !std::is_same_v<Decomposer, detail::identity_decomposer>;
  static constexpr int items = Items_, threads = X * Y * Z, tile = threads * items;
  static constexpr int key_bits = detail::radix_key_bits<Key, Decomposer>();
  using Sort = BlockRadixSort<Key, X, items, int, RadixBits, Memoize, BLOCK_SCAN_WARP_SCANS,
                              cudaSharedMemBankSizeFourByte, Y, Z, Algorithm>;
  static dim3 dimensions() { return {unsigned{X}, unsigned{Y}, unsigned{Z}}; }
  STRATA_D static int thread() {
    return static_cast<int>(threadIdx.x) + X * static_cast<int>(threadIdx.y + Y * threadIdx.z);
  }
};

template <class Key, int Items, int Threads, BlockRadixSortAlgorithm Algorithm,
          class Decomposer = detail::identity_decomposer>
using algorithm_case = sort_case<Key, Items, 4, Threads, 1, 1, Decomposer, true, Algorithm>;

enum way { up, down, up_striped, down_striped, ways };
STRATA_HD constexpr bool is_descending(int which) { return which == down || which == down_striped; }
STRATA_HD constexpr bool is_striped(int which) { return which >= up_striped; }

/// `items` are keys, or keys and values.
template <class Sort, class Range, class... Items>
STRATA_D void sort_one_way(Sort sort, int which, int valid_items, const Range& by, Items&... items) {
  by([&](auto... range) {
    switch (which) {
      case up:
        return sort.SortPartialTile(items..., valid_items, range...);
      case down:
        return sort.SortDescendingPartialTile(items..., valid_items, range...);
      case up_striped:
        return sort.SortBlockedToStripedPartialTile(items..., valid_items, range...);
      default:
        return sort.SortDescendingBlockedToStripedPartialTile(items..., valid_items, range...);
    }
  });
}
template <class Sort, class Range, class... Items>
STRATA_D void sort_one_way(Sort sort, int which, const Range& by, Items&... items) {
  by([&](auto... range) {
    switch (which) {
      case up:
        return sort.Sort(items..., range...);
      case down:
        return sort.SortDescending(items..., range...);
      case up_striped:
        return sort.SortBlockedToStriped(items..., range...);
      default:
        return sort.SortDescendingBlockedToStriped(items..., range...);
    }
  });
}

/// A call that a test makes.
struct call {
  int which;
  int valid_items;  // or `whole`, which calls the function for whole tiles
  int begin_bit;    // or a negative number, which calls without a range of bits
  int end_bit;
};
constexpr int whole = -1;

/// Sorts a tile. If there is an array for values, the values are the numbers of the items.
template <class Case>
STRATA_KERNEL void sort_tile(const typename Case::type* in, call how, typename Case::type* keys_out, int* values_out) {
  STRATA_SHARED(temp_storage, typename Case::Sort::TempStorage);
  constexpr int items = Case::items;
  const int thread = Case::thread();
  typename Case::type keys[static_cast<std::size_t>(items)];
  int values[static_cast<std::size_t>(items)];
  for (int i = 0; i < items; ++i) {
    keys[i] = in[thread * items + i];
    values[i] = thread * items + i;
  }
  typename Case::Sort sort(temp_storage);
  const auto by_all = [&](const auto& sort_by) {
    if constexpr (Case::is_decomposed) {
      sort_by(typename Case::Decomposer{});
    } else {
      sort_by();
    }
  };
  const auto by = [&](const auto& sort_by) {
    if (how.begin_bit < 0) {
      by_all(sort_by);
    } else if constexpr (Case::is_decomposed) {
      sort_by(typename Case::Decomposer{}, how.begin_bit, how.end_bit);
    } else {
      sort_by(how.begin_bit, how.end_bit);
    }
  };
  const bool has_values = values_out != nullptr;
  if (how.valid_items == whole) {
    if (has_values) {
      sort_one_way(sort, how.which, by, keys, values);
    } else {
      sort_one_way(sort, how.which, by, keys);
    }
  } else {
    if (has_values) {
      sort_one_way(sort, how.which, how.valid_items, by_all, keys, values);
    } else {
      sort_one_way(sort, how.which, how.valid_items, by_all, keys);
    }
  }
  for (int i = 0; i < items; ++i) {
    const int place = is_striped(how.which) ? i * Case::threads + thread : thread * items + i;
    keys_out[place] = keys[i];
    if (has_values) values_out[place] = values[i];
  }
}

/// An integer that orders keys by their bits from `begin_bit` to `end_bit - 1`. Tests of radix keys show that the
/// single bits are right.
template <class Case>
detail::uint128 sort_word(const typename Case::type& key, int begin_bit, int end_bit) {
  const detail::radix_digits<typename Case::type, false, typename Case::Decomposer> bit_of{};
  detail::uint128 word = 0;
  for (int bit = end_bit - 1; bit >= begin_bit; --bit) word = word << 1 | bit_of(key, bit, 1);
  return word;
}

template <class Case>
std::vector<int> expected_values(const std::vector<typename Case::type>& keys, bool descending, int valid_items,
                                 int begin_bit, int end_bit) {
  std::vector<detail::uint128> words;
  for (const auto& key : keys) words.push_back(sort_word<Case>(key, begin_bit, end_bit));
  std::vector<int> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  const int valid = std::min(std::max(valid_items, 0), Case::tile);
  std::stable_sort(order.begin(), order.begin() + valid, [&](int a, int b) {
    const auto x = words[static_cast<std::size_t>(a)], y = words[static_cast<std::size_t>(b)];
    return descending ? y < x : x < y;
  });
  return order;
}

template <class Case>
class tile_sorter {
 public:
  explicit tile_sorter(const std::vector<typename Case::type>& keys)
      : keys_(keys), in_(keys), keys_out_(keys.size()), values_out_(keys.size()) {}

  /// Sorts pairs of keys and values, then keys alone.
  void test(const call& how) {
    const bool is_whole = how.begin_bit < 0;
    const std::vector<int> expected =
        expected_values<Case>(keys_, is_descending(how.which), how.valid_items == whole ? Case::tile : how.valid_items,
                              is_whole ? 0 : how.begin_bit, is_whole ? Case::key_bits : how.end_bit);
    for (const bool has_values : {true, false}) {
      SCOPED_TRACE(testing::Message() << "way " << how.which << ", " << how.valid_items << " valid items, bits "
                                      << how.begin_bit << " to " << how.end_bit << (has_values ? ", pairs" : ""));
      keys_out_.poison();
      values_out_.poison();
      ASSERT_CUDA_SUCCESS(strata::launch({"sort_tile", 1, Case::dimensions()}, sort_tile<Case>, in_.data(), how,
                                         keys_out_.data(), has_values ? values_out_.data() : nullptr));
      const std::vector<typename Case::type> keys = keys_out_.to_host();
      const std::vector<int> values = values_out_.to_host();
      for (std::size_t i = 0; i < expected.size(); ++i) {
        if (has_values) {
          ASSERT_EQ(values[i], expected[i]) << "value " << i;
        }
        ASSERT_TRUE(is_same(keys[i], keys_[static_cast<std::size_t>(expected[i])])) << "key " << i;
      }
    }
  }

 private:
  std::vector<typename Case::type> keys_;
  device_vector<typename Case::type> in_, keys_out_;
  device_vector<int> values_out_;
};

using int128 = strata_test::int128;

template <class Case>
void test_all_keys() {
  using Key = typename Case::type;
  for (const radix_cases::spread how : radix_cases::spreads) {
    for (const bool ordinary : {false, true}) {
      if (ordinary && !is_float<Key>) continue;
      tile_sorter<Case> sorter(tile_of_keys<Key>(how, std::size_t{Case::tile}, ordinary));
      for (int which = 0; which < ways; ++which) {
        sorter.test({which, whole, whole, whole});
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

template <class Case>
void test_ranges() {
  tile_sorter<Case> sorter(
      tile_of_keys<typename Case::type>(radix_cases::spread::random, std::size_t{Case::tile}, true));
  constexpr int bits = Case::key_bits;
  const int ranges[][2] = {{0, 0},        {0, 1},           {bits - 1, bits}, {bits, bits},
                           {3, bits - 1}, {bits / 2, bits}, {1, bits / 2},    {0, bits}};
  for (const auto& range : ranges) {
    for (int which = 0; which < ways; ++which) {
      sorter.test({which, whole, range[0], range[1]});
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

template <class Case>
void test_partial_tiles() {
  constexpr int tile = Case::tile;
  // Some keys are the greatest ones, so a sort must not fill up the tile with another key behind them.
  for (const auto how :
       {radix_cases::spread::random, radix_cases::spread::equal_highest, radix_cases::spread::equal_lowest}) {
    for (const bool ordinary : {false, true}) {
      if (ordinary && !is_float<typename Case::type>) continue;
      tile_sorter<Case> sorter(tile_of_keys<typename Case::type>(how, std::size_t{tile}, ordinary));
      for (const int valid : {INT_MIN, 0, 1, 2, tile / 3, tile - 1, tile + 1, INT_MAX}) {
        for (int which = 0; which < ways; ++which) {
          sorter.test({which, valid, whole, whole});
          if (testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

}  // namespace block_radix_sort_test
