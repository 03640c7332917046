// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// BlockSegmentedMergeSort: sorts each segment of a tile stably.
#include <strata/block/block_segmented_merge_sort.cuh>
#include <strata/core/launcher.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "support/test_support.cuh"

namespace {

using strata::NullType;
using strata_test::device_vector;

struct first_word_is_less {
  template <class T>
  STRATA_HD bool operator()(const T& a, const T& b) const {
    return a.words[0] < b.words[0];
  }
};
template <int Words>
struct record {
  std::uint32_t words[Words];
};

/// Sorts segments, given by their lengths, in as many rounds as it takes. `turns` counts the rounds.
template <class Sort, class Key>
STRATA_KERNEL void sort_segments(Key* keys, std::uint32_t* values, const int* begins, int count, int origin,
                                 int* turns) {
  STRATA_SHARED(storage, typename Sort::TempStorage);
  Sort sort(storage);
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int first = 0; first < count;) {
    const int mine = first + thread;
    const int length = mine < count ? begins[mine + 1] - begins[mine] : 0;
    const int planned = origin == Sort::least_origin ? sort.Plan(length, mine, count - first) : sort.Plan(length, mine);
    sort.Origin(origin);
    const int tile = begins[first];
    for (int i = thread; i < sort.Items(); i += threads) {
      if constexpr (std::is_same_v<typename Sort::Item, Key>) {
        *sort.Position(i) = keys[tile + i];
      } else {
        sort.Position(i)->key = keys[tile + i];
        sort.Position(i)->value = values[tile + i];
      }
    }
    __syncthreads();
    sort.Sort(first_word_is_less{});
    // Copies segment by segment. Empty segments are not numbered.
    for (int s = 0; s < sort.Segments(); ++s) {
      const int begin = sort.Begin(s), place = begins[sort.Place(s)];
      for (int i = thread; i < sort.Length(s); i += threads) {
        if constexpr (std::is_same_v<typename Sort::Item, Key>) {
          keys[place + i] = *sort.Position(begin + i);
        } else {
          keys[place + i] = sort.Position(begin + i)->key;
          values[place + i] = sort.Position(begin + i)->value;
        }
      }
    }
    if (thread == 0) ++*turns;
    first += planned;
    __syncthreads();
  }
}

/// The number of rounds if each segment has as few threads as possible.
int expected_turns(const std::vector<int>& lengths, int threads, int items_per_thread) {
  int turns = 0;
  for (std::size_t s = 0; s < lengths.size(); ++turns) {
    int owners = 0;
    for (int taken = 0; taken < threads && s < lengths.size(); ++taken, ++s) {
      owners += (lengths[s] + items_per_thread - 1) / items_per_thread;
      if (owners > threads) break;
    }
  }
  return turns;
}

template <int Threads, int ItemsPerThread, int Words, bool HasValues>
void expect_sorts(const std::vector<int>& lengths) {
  using Key = record<Words>;
  using Sort = strata::BlockSegmentedMergeSort<Key, Threads, ItemsPerThread,
                                               std::conditional_t<HasValues, std::uint32_t, NullType>>;
  SCOPED_TRACE(testing::Message() << Threads << " x " << ItemsPerThread << ", " << Words << " words, " << lengths.size()
                                  << " segments from " << lengths[0]);
  std::vector<int> begins = {0};
  for (const int length : lengths) begins.push_back(begins.back() + length);
  const auto size = static_cast<std::size_t>(begins.back());
  std::mt19937_64 bits = strata_test::random_bits(size);
  std::vector<Key> keys(size);
  std::vector<std::uint32_t> values(size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::uint32_t& word : keys[i].words) word = static_cast<std::uint32_t>(i);
    keys[i].words[0] = static_cast<std::uint32_t>(bits() % 50);
    values[i] = static_cast<std::uint32_t>(i);
  }
  device_vector<Key> device_keys(keys);
  device_vector<std::uint32_t> device_values(values);
  const device_vector<int> device_begins(begins);
  device_vector<int> turns(std::vector<int>{0});
  for (const int origin : {Sort::least_origin, Sort::most_origin}) {
    device_keys.assign(keys);
    device_values.assign(values);
    turns.assign({0});
    ASSERT_CUDA_SUCCESS(strata::launch({"sort_segments", dim3(1), dim3(Threads)}, sort_segments<Sort, Key>,
                                       device_keys.data(), device_values.data(), device_begins.data(),
                                       static_cast<int>(lengths.size()), origin, turns.data()));
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    std::vector<std::uint32_t> order = values;
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      std::stable_sort(order.begin() + begins[s], order.begin() + begins[s + 1],
                       [&](std::uint32_t a, std::uint32_t b) { return keys[a].words[0] < keys[b].words[0]; });
    }
    const std::vector<Key> sorted = device_keys.to_host();
    const std::vector<std::uint32_t> moved = device_values.to_host();
    for (std::size_t i = 0; i < size; ++i) {
      for (int w = 0; w < Words; ++w) ASSERT_EQ(keys[order[i]].words[w], sorted[i].words[w]) << i;
      ASSERT_EQ(HasValues ? order[i] : values[i], moved[i]) << i;
    }
    EXPECT_EQ(expected_turns(lengths, Threads, ItemsPerThread), turns.to_host()[0]);
  }
}

template <int Threads, int ItemsPerThread, int Words, bool HasValues>
void expect_sorts_any() {
  constexpr int tile = Threads * ItemsPerThread;
  std::vector<int> lengths = {tile};
  expect_sorts<Threads, ItemsPerThread, Words, HasValues>({tile});
  expect_sorts<Threads, ItemsPerThread, Words, HasValues>({tile - 1, tile, 0, 1, tile / 2 + 1});
  expect_sorts<Threads, ItemsPerThread, Words, HasValues>(std::vector<int>(2 * Threads + 3, 0));
  for (const int length : {1, 2, ItemsPerThread, ItemsPerThread + 1, 3 * ItemsPerThread, 12 * ItemsPerThread}) {
    expect_sorts<Threads, ItemsPerThread, Words, HasValues>(std::vector<int>(Threads + 5, length));
  }
  std::mt19937_64 bits = strata_test::random_bits(7);
  for (int i = 0; i < (strata_test::is_small() ? 3 : 20); ++i) {
    lengths.clear();
    for (int s = 0; s < 60; ++s) {
      const auto any = static_cast<int>(bits() % static_cast<unsigned>(tile));
      lengths.push_back(bits() % 3 == 0 ? any : any % (4 * ItemsPerThread));
    }
    expect_sorts<Threads, ItemsPerThread, Words, HasValues>(lengths);
  }
}

TEST(block_segmented_merge_sort, words_in_blocks_of_any_shape) {
  expect_sorts_any<32, 3, 1, false>();
  expect_sorts_any<128, 8, 1, false>();
  // A shape for which some levels of the merge need no barrier of the block.
  expect_sorts_any<160, 3, 1, false>();
#if !STRATA_TEST_FEW_TYPES
  expect_sorts_any<96, 1, 1, false>();
  expect_sorts_any<64, 16, 1, false>();
  expect_sorts_any<64, 25, 1, false>();
#endif
}

TEST(block_segmented_merge_sort, keys_of_any_size_with_values) {
  expect_sorts_any<32, 4, 1, true>();
  expect_sorts_any<64, 3, 3, true>();
#if !STRATA_TEST_FEW_TYPES
  expect_sorts_any<64, 8, 4, false>();
  expect_sorts_any<64, 3, 10, false>();
  expect_sorts_any<32, 7, 2, false>();
#endif
}

// ------------------------------------------------------------------ a segment for each thread

/// Segments go to threads in reverse: the first one to the last `owners` threads. If `owners` is 0, all threads sort
/// the only segment together.
template <class Sort>
STRATA_KERNEL void sort_own(typename Sort::Item* items, const int* begins, int count, int owners, int origin) {
  STRATA_SHARED(storage, typename Sort::TempStorage);
  Sort sort(storage);
  sort.Origin(origin);
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int i = thread; i < begins[count]; i += threads) *sort.Position(i) = items[i];
  __syncthreads();
  const int mine = owners == 0 ? 0 : (threads - 1 - thread) / owners;
  // One call, made by all threads, because it contains a barrier.
  const int begin = mine < count ? begins[mine] : 0, end = mine < count ? begins[mine + 1] : 0;
  if (owners == 0) {
    sort.SortAll(end - begin, first_word_is_less{});
  } else if (owners == 1) {
    sort.SortOwn(begin, end - begin, first_word_is_less{});
  } else {
    sort.SortOwn(begin, end - begin, owners, first_word_is_less{});
  }
  for (int i = thread; i < begins[count]; i += threads) items[i] = *sort.Position(i);
}

template <int Threads, int ItemsPerThread, int Words>
void expect_sorts_own(int count, unsigned most, int owners = 1) {
  using Item = record<Words>;
  using Sort = strata::BlockSegmentedMergeSort<Item, Threads, ItemsPerThread>;
  SCOPED_TRACE(testing::Message() << Threads << " x " << ItemsPerThread << ", " << Words << " words, " << count
                                  << " segments up to " << most << ", " << owners << " threads each");
  std::mt19937_64 bits = strata_test::random_bits(most);
  std::vector<int> begins = {0};
  for (int s = 0; s < count; ++s) {
    begins.push_back(begins.back() + static_cast<int>(most - (s % 2 == 0 ? 0 : bits() % (most + 1))));
  }
  std::vector<Item> items(static_cast<std::size_t>(begins.back()));
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (std::uint32_t& word : items[i].words) word = static_cast<std::uint32_t>(i);
    items[i].words[0] = static_cast<std::uint32_t>(bits() % 4);
  }
  std::vector<Item> expected = items;
  for (std::size_t s = 0; s < static_cast<std::size_t>(count); ++s) {
    std::stable_sort(expected.begin() + begins[s], expected.begin() + begins[s + 1], first_word_is_less{});
  }
  const device_vector<int> device_begins(begins);
  for (const int origin : {Sort::least_origin, Sort::most_origin}) {
    device_vector<Item> sorted(items);
    ASSERT_CUDA_SUCCESS(strata::launch({"sort_own", dim3(1), dim3(Threads)}, sort_own<Sort>, sorted.data(),
                                       device_begins.data(), count, owners, origin));
    ASSERT_CUDA_SUCCESS(cudaDeviceSynchronize());
    const std::vector<Item> actual = sorted.to_host();
    for (std::size_t i = 0; i < items.size(); ++i) {
      for (int w = 0; w < Words; ++w) ASSERT_EQ(expected[i].words[w], actual[i].words[w]) << i;
    }
  }
}

TEST(block_segmented_merge_sort, a_segment_for_each_thread) {
  for (const unsigned most : {8u, 1u, 5u}) expect_sorts_own<64, 8, 2>(64, most);
  expect_sorts_own<64, 8, 1>(64, 8);
  expect_sorts_own<32, 3, 3>(20, 3);
  expect_sorts_own<32, 1, 1>(1, 1);
}

TEST(block_segmented_merge_sort, a_segment_for_some_threads) {
  for (const unsigned most : {16u, 9u, 2u}) expect_sorts_own<64, 8, 2>(32, most, 2);
  expect_sorts_own<64, 3, 1>(16, 12, 4);
  expect_sorts_own<64, 8, 1>(8, 64, 8);
  expect_sorts_own<64, 3, 3>(2, 96, 32);
  expect_sorts_own<32, 4, 1>(5, 15, 4);
}

TEST(block_segmented_merge_sort, a_segment_for_all_threads) {
  for (const unsigned most : {0u, 1u, 3u, 4u, 191u, 192u}) expect_sorts_own<64, 3, 1>(1, most, 0);
  expect_sorts_own<96, 5, 2>(1, 480, 0);
  expect_sorts_own<96, 8, 3>(1, 700, 0);
  expect_sorts_own<32, 3, 1>(1, 50, 0);
}

}  // namespace
