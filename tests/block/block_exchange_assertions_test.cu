// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define STRATA_DEBUG 1
#include <strata/block/block_exchange.cuh>
#include <strata/core/launcher.cuh>
#include <strata/warp/warp_exchange.cuh>

#include <gtest/gtest.h>

#include "support/expect_assertion.cuh"
#include "support/test_support.cuh"

namespace {

using strata_test::expect_assertion;

// Thread 0 passes `first_rank` as the rank of its first item, whose correct rank is 0.
template <bool Sliced>
STRATA_KERNEL void scatter_in_block(int first_rank) {
  const int thread = static_cast<int>(threadIdx.x);
  int items[2] = {2 * thread, 2 * thread + 1};
  const int ranks[2] = {thread == 0 ? first_rank : items[0], items[1]};
  strata::BlockExchange<int, 64, 2, Sliced>().ScatterToBlocked(items, ranks);
  STRATA_ASSERT(items[0] == 2 * thread && items[1] == 2 * thread + 1, "wrong items");
}

STRATA_KERNEL void scatter_in_warp(int first_rank) {
  using exchange = strata::WarpExchange<int, 2>;
  STRATA_SHARED(temp_storage, exchange::TempStorage);
  const int lane = static_cast<int>(threadIdx.x);
  int items[2] = {lane, lane + 32};
  const int ranks[2] = {lane == 0 ? first_rank : items[0], items[1]};
  exchange(temp_storage).ScatterToStriped(items, ranks);
  STRATA_ASSERT(items[0] == lane && items[1] == lane + 32, "wrong items");
}

template <bool Sliced>
cudaError_t in_block(int first_rank, unsigned threads) {
  return strata::launch({"scatter_in_block", 1, threads}, scatter_in_block<Sliced>, first_rank);
}
cudaError_t in_warp(int first_rank) { return strata::launch({"scatter_in_warp", 1, 32}, scatter_in_warp, first_rank); }

TEST(exchange, debug_builds_accept_right_use) {
  EXPECT_CUDA_SUCCESS(in_block<false>(0, 64));
  EXPECT_CUDA_SUCCESS(in_block<true>(0, 64));
  EXPECT_CUDA_SUCCESS(in_warp(0));
}

TEST(exchange, debug_builds_refuse_ranks_out_of_range) {
  expect_assertion([] { return in_block<false>(-1, 64); }, "BlockExchange: rank -1 of item 0 is not in 0 .. 127");
  expect_assertion([] { return in_block<true>(128, 64); }, "BlockExchange: rank 128 of item 0 is not in 0 .. 127");
  expect_assertion([] { return in_warp(64); }, "WarpExchange: rank 64 of item 0 is not in 0 .. 63");
}

TEST(exchange, debug_builds_refuse_another_block_shape) {
  expect_assertion([] { return in_block<false>(0, 32); },
                   "BlockExchange was instantiated for blocks of 64 x 1 x 1 threads");
}

}  // namespace
