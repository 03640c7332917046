// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares every overload of BlockScan with a sequential loop.
#include <strata/block/block_scan.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <climits>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace block_scan_forms_test {

using namespace strata_test;
using strata::BLOCK_SCAN_RAKING;
using strata::BLOCK_SCAN_WARP_SCANS;
using strata::BlockScan;
using strata::BlockScanAlgorithm;

constexpr int threads = 50;

// The arguments of a scan besides items and operator. Each form is called inclusively and exclusively.
enum form { plain, with_aggregate, with_initial, with_initial_and_aggregate, with_callback, forms };

// A thread's items are one item or an array. The calls are written in the same way.
template <class Item>
inline constexpr int items_of = 1;
template <class T, std::size_t Count>
inline constexpr int items_of<T[Count]> = static_cast<int>(Count);
template <class T>
STRATA_D T& at(T& item, int) {
  return item;
}
template <class T, std::size_t Count>
STRATA_D T& at(T (&items)[Count], int i) {
  return items[i];
}

template <class T>
struct returns_prefix {
  T prefix;
  T* aggregate;
  STRATA_D T operator()(const T& block_aggregate) {
    *aggregate = block_aggregate;  // each lane stores the aggregate that it was called with
    return prefix;
  }
};

// Type of `Valid` for the forms without a number of valid items. The PartialTile forms take an int.
struct no_count {};

// For each form: the thread's results, and the aggregate that it got. First inclusive forms, then exclusive ones.
template <class Item, class T, class Valid, BlockScanAlgorithm Algorithm, class Operator>
STRATA_KERNEL void scan_in_every_form(const T* in, T prefix, Valid valid, T* out, Operator op) {
  using scanner = BlockScan<T, threads, Algorithm>;
  STRATA_SHARED(temp_storage, typename scanner::TempStorage);
  constexpr int items = items_of<Item>;
  const int first = static_cast<int>(threadIdx.x) * items;
  for (int f = 0; f < 2 * forms; ++f) {
    __syncthreads();
    Item mine, result;
    for (int i = 0; i < items; ++i) at(mine, i) = at(result, i) = in[first + i];
    T aggregate = at(mine, 0);
    returns_prefix<T> callback{prefix, &aggregate};
    scanner scan(temp_storage);
    if constexpr (std::is_same_v<Valid, no_count>) {
      if (f == plain) scan.InclusiveScan(mine, result, op);
      if (f == with_aggregate) scan.InclusiveScan(mine, result, op, aggregate);
      if (f == with_initial) scan.InclusiveScan(result, result, prefix, op);
      if (f == with_initial_and_aggregate) {
        scan.InclusiveScan(mine, result, prefix, op, aggregate);
      }
      if (f == with_callback) scan.InclusiveScan(result, result, op, callback);
      if (f == forms + plain) scan.ExclusiveScan(result, result, op);
      if (f == forms + with_aggregate) scan.ExclusiveScan(mine, result, op, aggregate);
      if (f == forms + with_initial) scan.ExclusiveScan(mine, result, prefix, op);
      if (f == forms + with_initial_and_aggregate) {
        scan.ExclusiveScan(result, result, prefix, op, aggregate);
      }
      if (f == forms + with_callback) scan.ExclusiveScan(mine, result, op, callback);
    } else {
      if (f == plain) scan.InclusiveScanPartialTile(mine, result, op, valid);
      if (f == with_aggregate) scan.InclusiveScanPartialTile(mine, result, op, valid, aggregate);
      if (f == with_initial) scan.InclusiveScanPartialTile(result, result, prefix, op, valid);
      if (f == with_initial_and_aggregate) {
        scan.InclusiveScanPartialTile(mine, result, prefix, op, valid, aggregate);
      }
      if (f == with_callback) scan.InclusiveScanPartialTile(result, result, op, valid, callback);
      if (f == forms + plain) scan.ExclusiveScanPartialTile(result, result, op, valid);
      if (f == forms + with_aggregate) {
        scan.ExclusiveScanPartialTile(mine, result, op, valid, aggregate);
      }
      if (f == forms + with_initial) {
        scan.ExclusiveScanPartialTile(mine, result, prefix, op, valid);
      }
      if (f == forms + with_initial_and_aggregate) {
        scan.ExclusiveScanPartialTile(result, result, prefix, op, valid, aggregate);
      }
      if (f == forms + with_callback) {
        scan.ExclusiveScanPartialTile(mine, result, op, valid, callback);
      }
    }
    T* const results = out + (f * threads + static_cast<int>(threadIdx.x)) * (items + 1);
    for (int i = 0; i < items; ++i) results[i] = at(result, i);
    results[items] = aggregate;
  }
}

template <class Item, BlockScanAlgorithm Algorithm, class Valid>
void test_forms(Valid given) {
  constexpr int items = items_of<Item>;
  constexpr int tile = threads * items;
  int valid = tile;
  if constexpr (!std::is_same_v<Valid, no_count>) valid = given < tile ? given : tile;
  SCOPED_TRACE(testing::Message() << items << " items, " << valid << " valid, algorithm " << Algorithm);
  const std::vector<string_hash> text = random_items<string_hash>(tile, 5);
  const string_hash prefix = string_hash::of('^');
  const device_vector<string_hash> in(text);
  device_vector<string_hash> out(2 * forms * threads * (items + 1));
  ASSERT_CUDA_SUCCESS(strata::launch({"scan_in_every_form", 1, threads},
                                     scan_in_every_form<Item, string_hash, Valid, Algorithm, join>, in.data(), prefix,
                                     given, out.data(), join{}));
  const std::vector<string_hash> results = out.to_host();
  const string_hash* result = results.data();
  for (int f = 0; f < 2 * forms; ++f) {
    const bool inclusive = f < forms;
    const bool has_prefix = f % forms >= with_initial;
    string_hash sum = prefix, all = text[0];
    std::vector<string_hash> expected = text;
    for (int i = 0; i < valid; ++i) {
      const string_hash& item = text[static_cast<std::size_t>(i)];
      string_hash& scanned = expected[static_cast<std::size_t>(i)];
      if (!inclusive) scanned = sum;
      sum = i > 0 || has_prefix ? join{}(sum, item) : item;
      all = i > 0 ? join{}(all, item) : item;
      if (inclusive) scanned = sum;
    }
    for (int t = 0; t < threads; ++t) {
      SCOPED_TRACE(testing::Message() << "form " << f << ", thread " << t);
      for (int i = 0; i < items; ++i, ++result) {
        const bool unspecified = t == 0 && i == 0 && !inclusive && !has_prefix && valid > 0;
        if (!unspecified) {
          ASSERT_EQ(*result, expected[static_cast<std::size_t>(t * items + i)]) << "item " << i;
        }
      }
      const int own = f % forms;
      const bool has_aggregate =
          own == with_aggregate || own == with_initial_and_aggregate || (own == with_callback && t < 32);
      ASSERT_EQ(*result++, has_aggregate && valid > 0 ? all : text[static_cast<std::size_t>(t * items)]);
    }
  }
}

template <class Item, BlockScanAlgorithm Algorithm>
void test_whole_and_partial_tiles() {
  test_forms<Item, Algorithm>(no_count{});
  for (const int valid : {INT_MIN, 0, 1, 31, 32, threads - 1, 77, INT_MAX}) {
    test_forms<Item, Algorithm>(valid);
  }
}

TEST(block_scan_forms, every_form_of_warp_scans_gives_the_reference) {
  test_whole_and_partial_tiles<string_hash, BLOCK_SCAN_WARP_SCANS>();
  test_whole_and_partial_tiles<string_hash[3], BLOCK_SCAN_WARP_SCANS>();
}

TEST(block_scan_forms, every_form_of_raking_gives_the_reference) {
  test_whole_and_partial_tiles<string_hash, BLOCK_SCAN_RAKING>();
  test_whole_and_partial_tiles<string_hash[3], BLOCK_SCAN_RAKING>();
}

// ---------------------------------------------------------------------------- sums
template <class Item, class T, int Threads, BlockScanAlgorithm Algorithm>
STRATA_KERNEL void sums_in_every_form(const T* in, T prefix, T* out) {
  using scanner = BlockScan<T, Threads, Algorithm>;
  STRATA_SHARED(temp_storage, typename scanner::TempStorage);
  constexpr int items = items_of<Item>;
  const int first = static_cast<int>(threadIdx.x) * items;
  for (int f = 0; f < 6; ++f) {
    __syncthreads();
    Item mine, result;
    for (int i = 0; i < items; ++i) at(mine, i) = at(result, i) = in[first + i];
    T aggregate{};
    returns_prefix<T> callback{prefix, &aggregate};
    scanner scan(temp_storage);
    if (f == 0) scan.InclusiveSum(mine, result);
    if (f == 1) scan.InclusiveSum(result, result, aggregate);
    if (f == 2) scan.InclusiveSum(mine, result, callback);
    if (f == 3) scan.ExclusiveSum(result, result);
    if (f == 4) scan.ExclusiveSum(mine, result, aggregate);
    if (f == 5) scan.ExclusiveSum(mine, result, callback);
    T* const results = out + (f * Threads + static_cast<int>(threadIdx.x)) * (items + 1);
    for (int i = 0; i < items; ++i) results[i] = at(result, i);
    results[items] = aggregate;
  }
}

template <class Item, int Threads, BlockScanAlgorithm Algorithm>
void test_sums() {
  using T = std::remove_extent_t<Item>;
  constexpr int items = items_of<Item>;
  SCOPED_TRACE(testing::Message() << items << " items, " << Threads << " threads, algorithm " << Algorithm);
  const std::vector<T> numbers = random_items<T>(Threads * items, Threads);
  const device_vector<T> in(numbers);
  device_vector<T> out(6 * Threads * (items + 1));
  const T prefix = static_cast<T>(17);
  ASSERT_CUDA_SUCCESS(strata::launch({"sums_in_every_form", 1, Threads},
                                     sums_in_every_form<Item, T, Threads, Algorithm>, in.data(), prefix, out.data()));
  const std::vector<T> results = out.to_host();
  const T* result = results.data();
  const plain_sum plus;
  const T all = reference_reduce(numbers, plus);
  for (int f = 0; f < 6; ++f) {
    T sum = f % 3 == 2 ? prefix : T{};
    for (int t = 0; t < Threads; ++t) {
      SCOPED_TRACE(testing::Message() << "form " << f << ", thread " << t);
      for (int i = 0; i < items; ++i) {
        const T before = sum;
        sum = plus(sum, numbers[static_cast<std::size_t>(t * items + i)]);
        ASSERT_EQ(*result++, f < 3 ? sum : before) << "item " << i;
      }
      ASSERT_EQ(*result++, f % 3 == 1 || (f % 3 == 2 && t < 32) ? all : T{});
    }
  }
}

template <BlockScanAlgorithm Algorithm>
void test_sums_of_words_and_others() {
  test_sums<int, 32, Algorithm>();
  test_sums<unsigned[2], 64, Algorithm>();
  test_sums<signed char, 256, Algorithm>();
  test_sums<short[3], 320, Algorithm>();
  test_sums<long long, 352, Algorithm>();
  test_sums<unsigned[4], 100, Algorithm>();
  test_sums<float[2], 160, Algorithm>();
  test_sums<double, 320, Algorithm>();
  // With raking, all warps scan sums of words.
  test_sums<short, 512, Algorithm>();
  test_sums<unsigned[2], 544, Algorithm>();
  test_sums<int, 1024, Algorithm>();
}

TEST(block_scan_forms, sums_of_words_and_of_other_numbers) {
  test_sums_of_words_and_others<BLOCK_SCAN_WARP_SCANS>();
  test_sums_of_words_and_others<BLOCK_SCAN_RAKING>();
}

// ---------------------------------------------------------------------------- overloads
struct largest_so_far {
  long long largest;
  STRATA_D long long operator()(long long block_aggregate) {
    const long long before = largest;
    if (block_aggregate > largest) largest = block_aggregate;
    return before;
  }
};

// A named operator must not be taken for a callback, nor an initial value of another type for an operator.
STRATA_KERNEL void ambiguous_looking_calls(long long* out) {
  using scanner = BlockScan<long long, 32>;
  const strata::Max op;
  long long result, all;
  scanner().ExclusiveScan(threadIdx.x, result, -5, op);
  out[threadIdx.x] = result;
  scanner().InclusiveScan(threadIdx.x, result, 7, op, all);
  out[32 + threadIdx.x] = result + 100 * all;
  largest_so_far callback{3};
  scanner().InclusiveScan(threadIdx.x, result, op, callback);
  out[64 + threadIdx.x] = result;
}

TEST(block_scan_forms, operators_initial_values_and_callbacks_are_told_apart) {
  device_vector<long long> out(96);
  ASSERT_CUDA_SUCCESS(strata::launch({"ambiguous_looking_calls", 1, 32}, ambiguous_looking_calls, out.data()));
  const std::vector<long long> results = out.to_host();
  for (int i = 0; i < 32; ++i) {
    const auto t = static_cast<std::size_t>(i);
    EXPECT_EQ(results[t], i == 0 ? -5 : i - 1);
    EXPECT_EQ(results[32 + t], (i < 7 ? 7 : i) + 3100);
    EXPECT_EQ(results[64 + t], i < 3 ? 3 : i);
  }
}

}  // namespace block_scan_forms_test
