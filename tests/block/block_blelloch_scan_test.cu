// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/block/classic/block_blelloch_scan.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "block/tree_cases.cuh"
#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace block_blelloch_scan_test {

using namespace tree_cases;
using strata::BlockBlellochScan;
using strata::PaddedLayout;
using strata::PlainLayout;
using strata::TreeLayout;
using strata_test::device_vector;

// ---------------------------------------------------------------------------- the model
// Compares with the table in the header.
template <class T, class Layout>
constexpr bool has_degrees(const int (&expected)[10]) {
  for (int i = 0; i < 10; ++i) {
    if (strata::detail::blelloch_level_degree<T, Layout>(1 << i, 1024) != expected[i]) return false;
  }
  return true;
}
static_assert(has_degrees<int, PlainLayout>({2, 4, 8, 16, 32, 16, 8, 4, 2, 1}));
static_assert(has_degrees<double, PlainLayout>({2, 4, 8, 16, 16, 16, 8, 4, 2, 1}));
static_assert(has_degrees<affine, PlainLayout>({2, 4, 8, 8, 8, 8, 8, 4, 2, 1}));
static_assert(has_degrees<int, PaddedLayout<32, 1>>({1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
static_assert(has_degrees<double, PaddedLayout<32, 1>>({2, 2, 2, 2, 1, 2, 2, 2, 2, 1}));
static_assert(has_degrees<affine, PaddedLayout<32, 1>>({2, 4, 4, 2, 1, 2, 4, 4, 2, 1}));
template <class T, int Elements>
inline constexpr int default_degree = strata::detail::blelloch_degree<T, TreeLayout<T, Elements>>(Elements, 2);
static_assert(default_degree<int, 1024> == 1 && default_degree<double, 1024> == 1);
static_assert(default_degree<affine, 1024> == 1 && default_degree<range, 1024> == 1);
static_assert(default_degree<int, 8192> == 1 && default_degree<affine, 8192> == 1);
static_assert(default_degree<char, 8192> == 1 && default_degree<short, 8192> == 1);
static_assert(strata::detail::blelloch_level_degree<int, PaddedLayout<32, 1>>(16, 2048) == 1);
static_assert(strata::detail::blelloch_level_degree<int, PaddedLayout<32, 1>>(32, 2048) == 2);
static_assert(strata::detail::blelloch_level_degree<int, PaddedLayout<32, 1>>(512, 2048) == 2);

// ---------------------------------------------------------------------------- results
// Results of each thread: exclusive, inclusive, each again with its aggregate, and exclusive in place. The first scans
// use one storage, the last ones private storage.
constexpr int ways = 5;
template <class T, int Threads, int Elements, class Layout, class Operator>
STRATA_KERNEL void scan_every_way(const T* in, T initial_value, T* out, T* aggregates) {
  using scan = BlockBlellochScan<T, Threads, Elements, Layout>;
  constexpr int items_per_thread = Elements / Threads;
  STRATA_SHARED(temp_storage, typename scan::TempStorage);
  const int first = static_cast<int>(threadIdx.x) * items_per_thread;
  T items[items_per_thread], results[ways][items_per_thread];
  for (int i = 0; i < items_per_thread; ++i) items[i] = results[4][i] = in[first + i];
  T aggregate[2];

  scan(temp_storage).ExclusiveScan(items, results[0], initial_value, Operator{});
  __syncthreads();
  scan(temp_storage).InclusiveScan(items, results[1], initial_value, Operator{});
  __syncthreads();
  scan(temp_storage).ExclusiveScan(items, results[2], initial_value, Operator{}, aggregate[0]);
  __syncthreads();
  scan(temp_storage).InclusiveScan(items, results[3], initial_value, Operator{}, aggregate[1]);
  scan().ExclusiveScan(results[4], results[4], initial_value, Operator{});

  for (int way = 0; way < ways; ++way) {
    for (int i = 0; i < items_per_thread; ++i) {
      out[way * Elements + first + i] = results[way][i];
    }
  }
  aggregates[2 * threadIdx.x] = aggregate[0];
  aggregates[2 * threadIdx.x + 1] = aggregate[1];
}

template <class T, class Operator, int Threads, int Elements, class Layout>
void test_layout() {
  SCOPED_TRACE(testing::Message() << Threads << " threads, " << Elements << " elements");
  std::vector<T> items, exclusive, inclusive;
  T prefix = initial<T, Operator>();
  T sum = item<T, Operator>(0);
  for (int i = 0; i < Elements; ++i) {
    items.push_back(item<T, Operator>(i));
    exclusive.push_back(prefix);
    prefix = static_cast<T>(Operator{}(prefix, items.back()));
    inclusive.push_back(prefix);
    if (i > 0) sum = static_cast<T>(Operator{}(sum, items.back()));
  }
  const device_vector<T> in(items);
  device_vector<T> out(ways * items.size()), aggregates(2 * std::size_t{Threads});
  ASSERT_CUDA_SUCCESS(strata::launch({"scan_every_way", 1, unsigned{Threads}},
                                     scan_every_way<T, Threads, Elements, Layout, Operator>, in.data(),
                                     initial<T, Operator>(), out.data(), aggregates.data()));
  const std::vector<T> results = out.to_host();
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (const std::size_t way : {0u, 2u, 4u}) {
      ASSERT_EQ(results[way * items.size() + i], exclusive[i]) << "way " << way << ", item " << i;
    }
    for (const std::size_t way : {1u, 3u}) {
      ASSERT_EQ(results[way * items.size() + i], inclusive[i]) << "way " << way << ", item " << i;
    }
  }
  for (const T& aggregate : aggregates.to_host()) ASSERT_EQ(aggregate, sum);
}

template <class T, class Operator, int Threads, int Elements = 2 * Threads>
void test_scan() {
  test_layout<T, Operator, Threads, Elements, TreeLayout<T, Elements>>();
  test_layout<T, Operator, Threads, Elements, PlainLayout>();
}

TEST(block_blelloch_scan, order_is_kept_for_any_number_of_elements) {
  test_scan<range, join_ranges, 1, 1>();
  test_scan<range, join_ranges, 1>();
  test_scan<range, join_ranges, 2>();
  test_scan<range, join_ranges, 16>();
  test_scan<range, join_ranges, 32>();
  test_scan<range, join_ranges, 64>();
  test_scan<range, join_ranges, 512>();
}
TEST(block_blelloch_scan, any_number_of_items_per_thread) {
  test_scan<range, join_ranges, 128, 128>();
  test_scan<range, join_ranges, 8, 64>();
  test_scan<range, join_ranges, 32, 256>();
  test_scan<int, strata::Sum, 256, 1024>();
  test_scan<int, strata::Sum, 1024, 1024>();
}
TEST(block_blelloch_scan, two_thousand_elements_and_more) {
  test_scan<int, strata::Sum, 1024>();
  test_scan<int, strata::Sum, 512, 4096>();
}
TEST(block_blelloch_scan, sums_of_int) { test_scan<int, strata::Sum, 512>(); }
TEST(block_blelloch_scan, sums_of_float) { test_scan<float, strata::Sum, 512>(); }
TEST(block_blelloch_scan, sums_of_int64) { test_scan<std::int64_t, strata::Sum, 256>(); }
TEST(block_blelloch_scan, sums_of_double) { test_scan<double, strata::Sum, 512>(); }
TEST(block_blelloch_scan, largest_byte) { test_scan<signed char, strata::Max, 256>(); }
TEST(block_blelloch_scan, sixteen_bytes_with_an_operator_that_does_not_commute) {
  test_scan<affine, compose, 32>();
  test_scan<affine, compose, 512>();
}

// ---------------------------------------------------------------------------- as a user calls it
STRATA_KERNEL void offsets(const int* count, int* offset) {
  using Scan = strata::BlockBlellochScan<int, 128>;  // 256 elements, 2 per thread
  STRATA_SHARED(temp_storage, Scan::TempStorage);
  int items[2] = {count[2 * threadIdx.x], count[2 * threadIdx.x + 1]};
  Scan(temp_storage).ExclusiveSum(items, items);
  offset[2 * threadIdx.x] = items[0];
  offset[2 * threadIdx.x + 1] = items[1];
}

STRATA_KERNEL void ends(const int* count, int* end) {
  int items[2] = {count[2 * threadIdx.x], count[2 * threadIdx.x + 1]};
  BlockBlellochScan<int, 128>().InclusiveSum(items, items);
  end[2 * threadIdx.x] = items[0];
  end[2 * threadIdx.x + 1] = items[1];
}

TEST(block_blelloch_scan, gives_both_kinds_of_sums) {
  std::vector<int> counts, expected{0};
  for (int i = 0; i < 256; ++i) {
    counts.push_back(i * i % 17);
    expected.push_back(expected.back() + counts.back());
  }
  const device_vector<int> in(counts);
  device_vector<int> out(256);
  ASSERT_CUDA_SUCCESS(strata::launch({"offsets", 1, 128}, offsets, in.data(), out.data()));
  EXPECT_EQ(out.to_host(), std::vector<int>(expected.begin(), expected.end() - 1));
  ASSERT_CUDA_SUCCESS(strata::launch({"ends", 1, 128}, ends, in.data(), out.data()));
  EXPECT_EQ(out.to_host(), std::vector<int>(expected.begin() + 1, expected.end()));
}

// ---------------------------------------------------------------------------- bank conflicts
template <class T, int Threads, int Elements, class Layout>
STRATA_KERNEL void only_scan(T* out) {
  using scan = BlockBlellochScan<T, Threads, Elements, Layout>;
  STRATA_SHARED(temp_storage, typename scan::TempStorage);
  T items[Elements / Threads] = {};
  scan(temp_storage).ExclusiveSum(items, items);
  out[threadIdx.x] = items[0];
}

/// Each item is stored and loaded once. Each pair takes two loads and a store on the way up, and two loads and two
/// stores on the way down. The root takes one access more.
template <class T, int Threads, int Elements, class Layout>
strata::wavefront_count model() {
  constexpr int items_per_thread = Elements / Threads;
  strata::wavefront_count total = {1, 1};
  for (int i = 0; i < items_per_thread; ++i) {
    total = total + count<T, Layout>(i, items_per_thread, Elements, 2);
  }
  for (int s = 1; s < Elements; s *= 2) {
    total =
        total + count<T, Layout>(s - 1, 2 * s, Elements, 1 + 2) + count<T, Layout>(2 * s - 1, 2 * s, Elements, 2 + 2);
  }
  return total;
}

template <class T, int Threads, int Elements, class Layout>
void test_bank_conflicts() {
  SCOPED_TRACE(testing::Message() << Threads << " threads, " << Elements << " elements");
  device_vector<T> out(Threads);
  begin_counting();
  ASSERT_CUDA_SUCCESS(
      strata::launch({"only_scan", 1, unsigned{Threads}}, only_scan<T, Threads, Elements, Layout>, out.data()));
  expect_counted(model<T, Threads, Elements, Layout>());
  if (!std::is_same_v<Layout, PlainLayout>) expect_no_conflicts();
}

template <class T>
void test_bank_conflicts() {
  test_bank_conflicts<T, 512, 1024, TreeLayout<T, 1024>>();
  test_bank_conflicts<T, 128, 512, TreeLayout<T, 512>>();
  test_bank_conflicts<T, 512, 1024, PlainLayout>();
  test_bank_conflicts<T, 32, 128, PlainLayout>();
}

TEST(block_blelloch_scan, conflicts_counted_are_those_of_the_model) {
  if (!counts_bank_conflicts()) GTEST_SKIP() << "only check mode counts bank conflicts";
  test_bank_conflicts<int>();
  test_bank_conflicts<double>();
  test_bank_conflicts<strata_test::int128>();
  test_bank_conflicts<int, 1024, 2048, TreeLayout<int, 2048>>();
}

}  // namespace block_blelloch_scan_test
