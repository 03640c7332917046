// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <strata/block/classic/block_hillis_steele_scan.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "block/tree_cases.cuh"
#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace block_hillis_steele_scan_test {

using namespace tree_cases;
using strata::BlockHillisSteeleScan;
using strata::PlainLayout;
using strata_test::device_vector;

// Padding frees trees of conflicts, but adds conflicts here.
static_assert(strata::detail::hillis_steele_degree<int, PlainLayout>(1024) == 1);
static_assert(strata::detail::hillis_steele_degree<int, strata::PaddedLayout<32, 1>>(1024) == 2);

// ---------------------------------------------------------------------------- results
constexpr int ways = 5;
template <class T, int Threads, class Operator>
STRATA_KERNEL void scan_every_way(const T* in, T initial_value, T* out, T* aggregates) {
  using scan = BlockHillisSteeleScan<T, Threads>;
  STRATA_SHARED(temp_storage, typename scan::TempStorage);
  const T mine = in[threadIdx.x];
  T results[ways] = {mine, mine, mine, mine, mine};
  T aggregate[2];

  scan(temp_storage).InclusiveScan(mine, results[0], Operator{});
  __syncthreads();
  scan(temp_storage).ExclusiveScan(mine, results[1], initial_value, Operator{});
  __syncthreads();
  scan(temp_storage).InclusiveScan(mine, results[2], Operator{}, aggregate[0]);
  __syncthreads();
  scan(temp_storage).ExclusiveScan(mine, results[3], initial_value, Operator{}, aggregate[1]);
  scan().InclusiveScan(results[4], results[4], Operator{});

  for (int way = 0; way < ways; ++way) out[static_cast<unsigned>(way * Threads) + threadIdx.x] = results[way];
  aggregates[2 * threadIdx.x] = aggregate[0];
  aggregates[2 * threadIdx.x + 1] = aggregate[1];
}

template <class T, class Operator, int Threads>
void test_size() {
  SCOPED_TRACE(testing::Message() << Threads << " threads");
  std::vector<T> items, exclusive{initial<T, Operator>()}, inclusive;
  for (int i = 0; i < Threads; ++i) {
    items.push_back(item<T, Operator>(i));
    inclusive.push_back(i == 0 ? items[0] : static_cast<T>(Operator{}(inclusive.back(), items.back())));
    exclusive.push_back(static_cast<T>(Operator{}(exclusive.back(), items.back())));
  }
  const device_vector<T> in(items);
  device_vector<T> out(ways * items.size()), aggregates(2 * items.size());
  ASSERT_CUDA_SUCCESS(strata::launch({"scan_every_way", 1, unsigned{Threads}}, scan_every_way<T, Threads, Operator>,
                                     in.data(), initial<T, Operator>(), out.data(), aggregates.data()));
  const std::vector<T> results = out.to_host();
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (const std::size_t way : {0u, 2u, 4u}) {
      ASSERT_EQ(results[way * items.size() + i], inclusive[i]) << "way " << way << ", item " << i;
    }
    for (const std::size_t way : {1u, 3u}) {
      ASSERT_EQ(results[way * items.size() + i], exclusive[i]) << "way " << way << ", item " << i;
    }
  }
  for (const T& aggregate : aggregates.to_host()) ASSERT_EQ(aggregate, inclusive.back());
}

template <class T, class Operator, int... Threads>
void test_sizes() {
  (test_size<T, Operator, Threads>(), ...);
}

TEST(block_hillis_steele_scan, order_is_kept_in_blocks_of_any_size) {
  test_sizes<range, join_ranges, 1, 2, 3, 31, 32, 33, 64, 100, 1024>();
}
TEST(block_hillis_steele_scan, sums_of_int) { test_sizes<int, strata::Sum, 32, 100, 1024>(); }
TEST(block_hillis_steele_scan, sums_of_float) { test_sizes<float, strata::Sum, 1000>(); }
TEST(block_hillis_steele_scan, sums_of_int64) { test_sizes<std::int64_t, strata::Sum, 512>(); }
TEST(block_hillis_steele_scan, sums_of_double) { test_sizes<double, strata::Sum, 1024>(); }
TEST(block_hillis_steele_scan, largest_byte) { test_sizes<signed char, strata::Max, 256>(); }
TEST(block_hillis_steele_scan, sixteen_bytes_with_an_operator_that_does_not_commute) {
  test_sizes<affine, compose, 64, 512>();
}

// ---------------------------------------------------------------------------- as a user calls it
STRATA_KERNEL void running_maximum(const float* in, float* out) {
  using Scan = strata::BlockHillisSteeleScan<float, 256>;
  STRATA_SHARED(temp_storage, Scan::TempStorage);
  float item = in[threadIdx.x];
  Scan(temp_storage).InclusiveScan(item, item, strata::Max{});
  out[threadIdx.x] = item;
}

STRATA_KERNEL void sums(const float* in, float* inclusive, float* exclusive) {
  BlockHillisSteeleScan<float, 256>().InclusiveSum(in[threadIdx.x], inclusive[threadIdx.x]);
  __syncthreads();
  BlockHillisSteeleScan<float, 256>().ExclusiveSum(in[threadIdx.x], exclusive[threadIdx.x]);
}

TEST(block_hillis_steele_scan, gives_maxima_and_both_kinds_of_sums) {
  std::vector<float> items, maxima, sum{0};
  for (int i = 0; i < 256; ++i) {
    items.push_back(static_cast<float>(i * 311 % 256));
    maxima.push_back(*std::max_element(items.begin(), items.end()));
    sum.push_back(sum.back() + items.back());
  }
  const device_vector<float> in(items);
  device_vector<float> out(256), before(256);
  ASSERT_CUDA_SUCCESS(strata::launch({"running_maximum", 1, 256}, running_maximum, in.data(), out.data()));
  EXPECT_EQ(out.to_host(), maxima);
  ASSERT_CUDA_SUCCESS(strata::launch({"sums", 1, 256}, sums, in.data(), out.data(), before.data()));
  EXPECT_EQ(out.to_host(), std::vector<float>(sum.begin() + 1, sum.end()));
  EXPECT_EQ(before.to_host(), std::vector<float>(sum.begin(), sum.end() - 1));
}

// ---------------------------------------------------------------------------- bank conflicts
template <class T, int Threads>
STRATA_KERNEL void only_scan(T* out) {
  using scan = BlockHillisSteeleScan<T, Threads>;
  STRATA_SHARED(temp_storage, typename scan::TempStorage);
  T item = static_cast<T>(threadIdx.x);
  scan(temp_storage).InclusiveSum(item, item);
  out[threadIdx.x] = item;
}

/// Each step writes all elements, and reads the element `distance` before each.
template <class T>
strata::wavefront_count model(int threads) {
  strata::wavefront_count total;
  for (int distance = 1; distance < threads; distance *= 2) {
    total = total + count<T, PlainLayout>(0, 1, threads);
    // Lanes read the element that is `distance` before theirs. A lane with a negative index reads nothing.
    total = total + count<T, PlainLayout>(-distance, 1, threads - distance);
  }
  return total;
}

template <class T, int Threads>
void test_bank_conflicts() {
  device_vector<T> out(Threads);
  begin_counting();
  ASSERT_CUDA_SUCCESS(strata::launch({"only_scan", 1, unsigned{Threads}}, only_scan<T, Threads>, out.data()));
  expect_counted(model<T>(Threads));
  expect_no_conflicts();
}

TEST(block_hillis_steele_scan, conflicts_counted_are_those_of_the_model) {
  if (!counts_bank_conflicts()) GTEST_SKIP() << "only check mode counts bank conflicts";
  test_bank_conflicts<int, 1024>();
  test_bank_conflicts<int, 100>();
  test_bank_conflicts<double, 1024>();
  test_bank_conflicts<strata_test::int128, 512>();
}

}  // namespace block_hillis_steele_scan_test
