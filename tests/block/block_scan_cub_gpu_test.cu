// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares BlockScan with CUB's: one kernel source, with the library as a parameter.
#include <strata/block/block_scan.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include <cub/block/block_scan.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace block_scan_cub_test {

using strata_test::device_vector;

enum class library { ours, cub };

// The library's algorithm with the same value as ours in its enumeration.
template <library Library, class T, int X, int Algorithm, int Y, int Z>
using block_scan = std::conditional_t<Library == library::ours,
                                      strata::BlockScan<T, X, static_cast<strata::BlockScanAlgorithm>(Algorithm), Y, Z>,
                                      cub::BlockScan<T, X, static_cast<cub::BlockScanAlgorithm>(Algorithm), Y, Z>>;

static_assert(static_cast<int>(strata::BLOCK_SCAN_RAKING) == static_cast<int>(cub::BLOCK_SCAN_RAKING) &&
              static_cast<int>(strata::BLOCK_SCAN_RAKING_MEMOIZE) == static_cast<int>(cub::BLOCK_SCAN_RAKING_MEMOIZE) &&
              static_cast<int>(strata::BLOCK_SCAN_WARP_SCANS) == static_cast<int>(cub::BLOCK_SCAN_WARP_SCANS));

// The callback of CUB's documentation.
template <class T, class Operator>
struct running_prefix {
  T total;
  Operator op;
  STRATA_D T operator()(T block_aggregate) {
    const T before = total;
    total = op(total, block_aggregate);
    return before;
  }
};

constexpr int results_per_thread = 39;

// CUB's BlockScan does not take `const` arrays, and takes callbacks by reference.
template <library Library, class T, int X, int Algorithm, int Y, int Z, class Operator>
STRATA_KERNEL void scan_in_every_form(const T* in, T initial, T* out, Operator op) {
  using scanner = block_scan<Library, T, X, Algorithm, Y, Z>;
  __shared__ typename scanner::TempStorage temp_storage;
  const unsigned rank = threadIdx.x + X * (threadIdx.y + Y * threadIdx.z);
  T items[2] = {in[2 * rank], in[2 * rank + 1]};
  T one = initial, two[2] = {initial, initial}, all = initial;
  T* result = out + rank * results_per_thread;
  // Store one or two results of a form. A first output that is not specified is replaced by the initial value.
  const auto take_one = [&](bool specified = true) {
    *result++ = specified ? one : initial;
    __syncthreads();
  };
  const auto take_two = [&](bool specified = true) {
    *result++ = specified ? two[0] : initial;
    *result++ = two[1];
    __syncthreads();
  };
  running_prefix<T, Operator> prefix{initial, op};
  scanner scan(temp_storage);

  scan.InclusiveScan(items[0], one, op);
  take_one();
  scan.InclusiveScan(items[0], one, op, all);
  take_one();
  *result++ = all;
  scan.InclusiveScan(items[0], one, op, prefix);
  take_one();
  scan.InclusiveScan(items, two, op);
  take_two();
  scan.InclusiveScan(items, two, op, all);
  take_two();
  *result++ = all;
  scan.InclusiveScan(items, two, initial, op);
  take_two();
  scan.InclusiveScan(items, two, initial, op, all);
  take_two();
  *result++ = all;
  scan.InclusiveScan(items, two, op, prefix);
  take_two();

  scan.ExclusiveScan(items[0], one, op);
  take_one(rank > 0);
  scan.ExclusiveScan(items[0], one, op, all);
  take_one(rank > 0);
  *result++ = all;
  scan.ExclusiveScan(items[0], one, initial, op);
  take_one();
  scan.ExclusiveScan(items[0], one, initial, op, all);
  take_one();
  *result++ = all;
  scan.ExclusiveScan(items[0], one, op, prefix);
  take_one();
  scan.ExclusiveScan(items, two, op);
  take_two(rank > 0);
  scan.ExclusiveScan(items, two, op, all);
  take_two(rank > 0);
  *result++ = all;
  scan.ExclusiveScan(items, two, initial, op);
  take_two();
  scan.ExclusiveScan(items, two, initial, op, all);
  take_two();
  *result++ = all;
  scan.ExclusiveScan(items, two, op, prefix);
  take_two();

  // ExclusiveSum begins with T{}, so its first output is specified.
  scan.ExclusiveSum(items, two, all);
  take_two();
  *result++ = all;
  scan.InclusiveSum(items[0], one);
  take_one();
}

template <class T, int X, int Algorithm, int Y = 1, int Z = 1, class Operator>
void compare(Operator op) {
  constexpr int threads = X * Y * Z;
  // Small integers, whose sums are exact in any association.
  const int largest = strata_test::is_narrow_float<T> ? 1 : 20;
  const std::vector<T> items = strata_test::random_items<T>(2 * threads, 0, largest);
  const device_vector<T> in(items);
  device_vector<T> ours(threads * results_per_thread), cubs(threads * results_per_thread);
  const dim3 block(X, Y, Z);
  ASSERT_CUDA_SUCCESS(strata::launch({"ours", 1, block},
                                     scan_in_every_form<library::ours, T, X, Algorithm, Y, Z, Operator>, in.data(),
                                     items[7], ours.data(), op));
  ASSERT_CUDA_SUCCESS(strata::launch({"cub", 1, block},
                                     scan_in_every_form<library::cub, T, X, Algorithm, Y, Z, Operator>, in.data(),
                                     items[7], cubs.data(), op));
  const std::vector<T> our_results = ours.to_host(), cub_results = cubs.to_host();
  for (std::size_t i = 0; i < our_results.size(); ++i) {
    ASSERT_TRUE(strata_test::same_bits(our_results[i], cub_results[i]))
        << "algorithm " << Algorithm << ", " << threads << " threads, thread " << i / results_per_thread << ", result "
        << i % results_per_thread;
  }
}

template <int Algorithm>
void compare_types() {
  compare<std::int32_t, 128, Algorithm>(strata_test::plain_sum{});
  compare<std::int8_t, 60, Algorithm>(strata_test::plain_sum{});
  compare<double, 8, Algorithm, 4, 4>(strata::Max{});
  compare<strata_test::struct12, 256, Algorithm>(strata_test::plain_sum{});
}

TEST(block_scan_beside_cub, warp_scans) { compare_types<cub::BLOCK_SCAN_WARP_SCANS>(); }
TEST(block_scan_beside_cub, raking) { compare_types<cub::BLOCK_SCAN_RAKING>(); }
TEST(block_scan_beside_cub, memoizing_raking) { compare_types<cub::BLOCK_SCAN_RAKING_MEMOIZE>(); }

}  // namespace block_scan_cub_test
