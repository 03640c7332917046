// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define STRATA_DEBUG 1
#include <strata/core/launcher.cuh>
#include <strata/warp/warp_reduce.cuh>

#include <gtest/gtest.h>

#include "support/expect_assertion.cuh"
#include "support/test_support.cuh"

namespace {

using strata_test::expect_assertion;

template <int Width>
STRATA_KERNEL void sum_of_lane_numbers(int valid_items) {
  using reducer = strata::WarpReduce<int, Width>;
  STRATA_SHARED(temp_storage, typename reducer::TempStorage);
  const int lane = static_cast<int>(threadIdx.x) % Width;
  const int sum = reducer(temp_storage).AllSum(lane, valid_items);
  STRATA_ASSERT(sum == valid_items * (valid_items - 1) / 2, "wrong sum %d", sum);
}

template <int Width>
cudaError_t sum(int valid_items, unsigned threads) {
  return strata::launch({"sum_of_lane_numbers", 1, threads}, sum_of_lane_numbers<Width>, valid_items);
}

TEST(warp_reduce, debug_builds_accept_right_use) {
  EXPECT_CUDA_SUCCESS(sum<32>(1, 64));
  EXPECT_CUDA_SUCCESS(sum<32>(32, 64));
  EXPECT_CUDA_SUCCESS(sum<8>(8, 64));
  EXPECT_CUDA_SUCCESS(sum<20>(13, 20));
}

TEST(warp_reduce, debug_builds_refuse_valid_items_out_of_range) {
  expect_assertion([] { return sum<32>(0, 32); }, "valid_items is 0, must be 1 to 32");
  expect_assertion([] { return sum<32>(33, 32); }, "valid_items is 33, must be 1 to 32");
  expect_assertion([] { return sum<8>(-1, 64); }, "valid_items is -1, must be 1 to 8");
}

TEST(warp_reduce, debug_builds_refuse_lanes_beyond_an_odd_width) {
  expect_assertion([] { return sum<20>(20, 32); }, "a logical warp of 20 threads has the first lanes only");
}

}  // namespace
