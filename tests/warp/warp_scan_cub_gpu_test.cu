// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares WarpScan with CUB's: one kernel source, with the library as a parameter. Also scans with operators of
// libcu++.
#include <strata/core/launcher.cuh>
#include <strata/warp/warp_scan.cuh>

#include <gtest/gtest.h>

#include <cub/warp/warp_scan.cuh>
#include <cuda/std/functional>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "support/test_support.cuh"
#include "support/test_types.cuh"

namespace warp_scan_cub_test {

using strata_test::device_vector;

enum class library { ours, cub };

template <library Library, class T, int Width>
using warp_scan = std::conditional_t<Library == library::ours, strata::WarpScan<T, Width>, cub::WarpScan<T, Width>>;

constexpr int results_per_thread = 23;

template <library Library, class T, int Width, class Operator>
STRATA_KERNEL void scan_in_every_form(const T* in, T initial, T* out, Operator op) {
  using scanner = warp_scan<Library, T, Width>;
  constexpr int pitch = (Width & (Width - 1)) == 0 ? Width : 32;
  constexpr unsigned members = strata::full_warp_mask >> (32 - (pitch == 32 ? Width : 32));
  if (threadIdx.x % pitch >= Width) return;
  __shared__ typename scanner::TempStorage temp_storage[64 / Width + 1];
  scanner scan(temp_storage[threadIdx.x / pitch]);
  const T item = in[threadIdx.x];
  const bool has_lane_below = threadIdx.x % pitch > 0;
  T first = item, second = item;
  T* result = out + threadIdx.x * results_per_thread;
  // Store one or two results of a form. A result that is not specified is replaced by the item.
  const auto take_one = [&](bool specified = true) {
    *result++ = specified ? first : item;
    __syncwarp(members);
  };
  const auto take_two = [&](bool first_specified = true, bool second_specified = true) {
    *result++ = first_specified ? first : item;
    *result++ = second_specified ? second : item;
    __syncwarp(members);
  };
  scan.InclusiveSum(item, first);
  take_one();
  scan.InclusiveSum(item, first, second);
  take_two();
  scan.ExclusiveSum(item, first);
  take_one();
  scan.ExclusiveSum(item, first, second);
  take_two();
  scan.InclusiveScan(item, first, op);
  take_one();
  scan.InclusiveScan(item, first, op, second);
  take_two();
  scan.InclusiveScan(item, first, initial, op);
  take_one();
  scan.InclusiveScan(item, first, initial, op, second);
  take_two();
  scan.ExclusiveScan(item, first, op);
  take_one(has_lane_below);
  scan.ExclusiveScan(item, first, op, second);
  take_two(has_lane_below);
  scan.ExclusiveScan(item, first, initial, op);
  take_one();
  scan.ExclusiveScan(item, first, initial, op, second);
  take_two();
  scan.Scan(item, first, second, op);
  take_two(true, has_lane_below);
  scan.Scan(item, first, second, initial, op);
  take_two();
  *result++ = scan.Broadcast(item, Width / 2);
}

template <class T, int Width, class Operator>
void compare(Operator op) {
  constexpr unsigned threads = 64;
  // Small integers, whose sums are exact in any association.
  const std::vector<T> items = strata_test::random_items<T>(threads, Width, 7);
  const device_vector<T> in(items);
  device_vector<T> ours(threads * results_per_thread), cubs(threads * results_per_thread);
  ASSERT_CUDA_SUCCESS(strata::launch({"ours", 1, threads}, scan_in_every_form<library::ours, T, Width, Operator>,
                                     in.data(), items[7], ours.data(), op));
  ASSERT_CUDA_SUCCESS(strata::launch({"cub", 1, threads}, scan_in_every_form<library::cub, T, Width, Operator>,
                                     in.data(), items[7], cubs.data(), op));
  const std::vector<T> our_results = ours.to_host(), cub_results = cubs.to_host();
  for (std::size_t i = 0; i < our_results.size(); ++i) {
    ASSERT_TRUE(strata_test::same_bits(our_results[i], cub_results[i]))
        << Width << " lanes, thread " << i / results_per_thread << ", result " << i % results_per_thread;
  }
}

TEST(warp_scan_beside_cub, results_are_those_of_cub) {
  compare<int, 32>(cuda::std::plus<>{});
  compare<int, 16>(strata_test::plain_sum{});
  compare<std::int8_t, 8>(strata_test::plain_sum{});
  compare<float, 32>(cuda::std::plus<>{});
  compare<unsigned, 32>(cuda::std::multiplies<>{});
  compare<double, 21>(strata::Max{});
  compare<strata_test::struct12, 32>(strata_test::plain_sum{});
}

}  // namespace warp_scan_cub_test
