// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Shared by the tests of BlockMergeSort and WarpMergeSort: keys, comparators, and a kernel that sorts the tiles of many
// teams. A team is a block or a logical warp.
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/types.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace merge_sort_cases {

using strata_test::device_vector;
using strata_test::same_bits;
using strata_test::words;

// ---------------------------------------------------------------------------- keys
/// Only the rank of a key determines its order. Its other bits distinguish equal keys.
template <class Key>
struct ranked {
  STRATA_HD static Key make(int rank, int number) {
    return static_cast<Key>(sizeof(Key) == 1 ? rank : 4 * rank + number % 4);
  }
  STRATA_HD static int rank(const Key& key) { return static_cast<int>(key) / (sizeof(Key) == 1 ? 1 : 4); }
};
template <std::size_t Count, class Word>
struct ranked<words<Count, Word>> {
  STRATA_HD static words<Count, Word> make(int rank, int number) {
    words<Count, Word> key{};
    for (std::size_t i = 1; i < Count; ++i) key.word[i] = static_cast<Word>(number + 7 * rank);
    key.word[0] = static_cast<Word>(rank);
    return key;
  }
  STRATA_HD static int rank(const words<Count, Word>& key) { return static_cast<int>(key.word[0]); }
};

struct ascending {
  template <class Key>
  STRATA_HD bool operator()(const Key& a, const Key& b) const {
    return ranked<Key>::rank(a) < ranked<Key>::rank(b);
  }
};
struct descending {
  template <class Key>
  STRATA_HD bool operator()(const Key& a, const Key& b) const {
    return ranked<Key>::rank(b) < ranked<Key>::rank(a);
  }
};

/// The rank of items that are not valid. No comparator may be called with it.
constexpr int missing_rank = 100;

/// Counts all calls, and those with a key that is not valid.
struct watching {
  unsigned* calls;
  unsigned* wrong_calls;
  template <class Key>
  STRATA_D bool operator()(const Key& a, const Key& b) const {
    atomicAdd(calls, 1u);
    if (ranked<Key>::rank(a) == missing_rank || ranked<Key>::rank(b) == missing_rank) {
      atomicAdd(wrong_calls, 1u);
    }
    return ascending{}(a, b);
  }
};

/// A comparator that is no ordering. With a `state`, its answers change from call to call. Without one, they are
/// constant, but contradict each other.
struct nonsense {
  unsigned* state;
  template <class Key>
  STRATA_D bool operator()(const Key& a, const Key& b) const {
    unsigned x = static_cast<unsigned>(ranked<Key>::rank(a)) * 0x9e3779b9u +
                 static_cast<unsigned>(ranked<Key>::rank(b)) * 0x85ebca6bu;
    if (state != nullptr) x += atomicAdd(state, 0x9e3779b9u);
    x ^= x >> 15;
    x *= 0x2c1b3c6du;
    return (x >> 16 & 1) != 0;
  }
};

/// Keys for `tiles` tiles. The first `valid` ones of a tile have ranks below `different`, which is at most 64. The
/// others have `missing_rank`.
template <class Key>
std::vector<Key> keys_of(int tile, int tiles, int different, int valid) {
  const auto size = static_cast<std::size_t>(tile) * static_cast<std::size_t>(tiles);
  const std::vector<int> ranks =
      strata_test::random_integers(size, 0, different - 1, static_cast<std::uint64_t>(different) * 77);
  std::vector<Key> keys(size);
  for (std::size_t i = 0; i < size; ++i) {
    const int number = static_cast<int>(i);
    keys[i] = ranked<Key>::make(number % tile < valid ? ranks[i] : missing_rank, number);
  }
  return keys;
}

// ---------------------------------------------------------------------------- cases
/// A `Case` has the members type, value, items, tile, threads (of a team), teams (of a block), dimensions(), and a type
/// Sort with `Sort make(storage)`. In kernels it also has team(), thread() and is_member().
enum form { keys_only, with_values };

template <class Case, form Form, class Compare>
STRATA_KERNEL void sort_tiles(const typename Case::type* in, int valid_items, typename Case::type* keys_out,
                              typename Case::value* values_out, Compare compare) {
  using Sort = typename Case::Sort;
  STRATA_SHARED(storages, typename Sort::TempStorage[static_cast<std::size_t>(Case::teams)]);
  if (!Case::is_member()) return;
  constexpr int items = Case::items;
  const int first = Case::thread() * items;
  const int offset = Case::team() * Case::tile + first;
  typename Case::type keys[static_cast<std::size_t>(items)];
  typename Case::value values[static_cast<std::size_t>(items)];
  for (int i = 0; i < items; ++i) {
    keys[i] = in[offset + i];
    values[i] = ranked<typename Case::value>::make((first + i) % 64, first + i);
  }
  Sort sort(storages[Case::team()]);
  if constexpr (Form == keys_only) {
    if (valid_items == INT_MAX) {
      sort.Sort(keys, compare);
    } else {
      sort.SortPartialTile(keys, valid_items, compare);
    }
  } else {
    if (valid_items == INT_MAX) {
      sort.Sort(keys, values, compare);
    } else {
      sort.SortPartialTile(keys, values, valid_items, compare);
    }
  }
  for (int i = 0; i < items; ++i) {
    keys_out[offset + i] = keys[i];
    values_out[offset + i] = values[i];
  }
}

template <class Case, form Form>
class tile_sorter {
  using Key = typename Case::type;
  using Value = typename Case::value;
  static constexpr std::size_t size = static_cast<std::size_t>(Case::tile * Case::teams);

 public:
  explicit tile_sorter(int different, int valid = INT_MAX)
      : keys_(keys_of<Key>(Case::tile, Case::teams, different, valid)),
        valid_(valid),
        in_(keys_),
        keys_out_(size),
        values_out_(size) {}

  /// Sorts on the device by `compare`, and expects the order of `order`.
  template <class Compare, class Order>
  void test(Compare compare, Order order) {
    sort(compare);
    if (testing::Test::HasFatalFailure()) return;
    const int sorted = std::min(std::max(valid_, 0), Case::tile);
    for (int team = 0; team < Case::teams; ++team) {
      std::vector<int> numbers(static_cast<std::size_t>(Case::tile));
      std::iota(numbers.begin(), numbers.end(), 0);
      const auto key = [&](int i) { return keys_[static_cast<std::size_t>(team * Case::tile + i)]; };
      std::stable_sort(numbers.begin(), numbers.begin() + sorted, [&](int a, int b) { return order(key(a), key(b)); });
      for (int i = 0; i < Case::tile; ++i) {
        const int number = numbers[static_cast<std::size_t>(i)];
        expect_item(team, i, key(number), number);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }

  /// Sorts by a comparator that is no ordering, and expects the same items in any order, keys still with their values.
  void test_permutation(nonsense compare) {
    sort(compare);
    if (testing::Test::HasFatalFailure()) return;
    const int sorted = std::min(std::max(valid_, 0), Case::tile);
    for (int team = 0; team < Case::teams; ++team) {
      std::vector<std::string> expected, found;
      for (int i = 0; i < Case::tile; ++i) {
        const auto place = static_cast<std::size_t>(team * Case::tile + i);
        expected.push_back(bytes_of(keys_[place], ranked<Value>::make(i % 64, i)));
        found.push_back(bytes_of(keys_found_[place], values_found_[place]));
      }
      std::sort(expected.begin(), expected.begin() + sorted);
      std::sort(found.begin(), found.begin() + sorted);
      ASSERT_TRUE(found == expected) << "team " << team << ", " << valid_ << " valid items";
    }
  }

 private:
  template <class Compare>
  void sort(Compare compare) {
    keys_out_.poison();
    values_out_.poison();
    ASSERT_CUDA_SUCCESS(strata::launch({"sort_tiles", 1, Case::dimensions()}, sort_tiles<Case, Form, Compare>,
                                       in_.data(), valid_, keys_out_.data(), values_out_.data(), compare));
    keys_found_ = keys_out_.to_host();
    values_found_ = values_out_.to_host();
  }

  static std::string bytes_of(const Key& key, const Value& value) {
    std::string bytes(sizeof(Key) + sizeof(Value), ' ');
    std::memcpy(&bytes[0], &key, sizeof(Key));
    std::memcpy(&bytes[sizeof(Key)], &value, sizeof(Value));
    return bytes;
  }

  void expect_item(int team, int i, const Key& key, int number) {
    const auto place = static_cast<std::size_t>(team * Case::tile + i);
    ASSERT_TRUE(same_bits(keys_found_[place], key))
        << "key " << i << " of team " << team << ", " << valid_ << " valid items";
    if (Form == keys_only) return;
    ASSERT_TRUE(same_bits(values_found_[place], ranked<Value>::make(number % 64, number)))
        << "value " << i << " of team " << team << ", " << valid_ << " valid items";
  }

  std::vector<Key> keys_;
  int valid_;
  device_vector<Key> in_, keys_out_;
  device_vector<Value> values_out_;
  std::vector<Key> keys_found_;
  std::vector<Value> values_found_;
};

/// The most calls of the comparator that the sort of a tile may make.
constexpr unsigned most_calls(int threads, int items) {
  int calls = threads * (items * (items - 1) / 2);
  for (int run = 1; run < threads; run *= 2) {
    calls += threads * (items + strata::detail::log2_ceiling(static_cast<unsigned long long>(items * run) + 1));
  }
  return static_cast<unsigned>(calls);
}

template <class Case>
void test_calls() {
  for (const int valid : {INT_MAX, Case::tile - 1, Case::tile / 2 + 1, 1, 0}) {
    device_vector<unsigned> counts(std::vector<unsigned>{0, 0});
    tile_sorter<Case, with_values>(64, valid).test(watching{counts.data(), counts.data() + 1}, ascending{});
    const std::vector<unsigned> counted = counts.to_host();
    EXPECT_LE(counted[0], unsigned{Case::teams} * most_calls(Case::threads, Case::items));
    EXPECT_EQ(counted[1], 0u) << "calls with items that are not valid";
    EXPECT_TRUE(valid >= 2 || counted[0] == 0) << counted[0] << " calls";
  }
}

template <class Case>
void test_nonsense() {
  device_vector<unsigned> state(std::vector<unsigned>{12345});
  for (int trial = 0; trial < (strata_test::is_small() ? 2 : 20); ++trial) {
    for (const int valid : {INT_MAX, Case::tile - 2}) {
      tile_sorter<Case, with_values> sorter(64, valid);
      sorter.test_permutation(nonsense{state.data()});
      sorter.test_permutation(nonsense{nullptr});
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace merge_sort_cases
