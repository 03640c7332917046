// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define STRATA_DEBUG 1
#include <strata/block/block_radix_rank.cuh>
#include <strata/block/block_radix_sort.cuh>
#include <strata/core/launcher.cuh>

#include <gtest/gtest.h>

#include "support/expect_assertion.cuh"
#include "support/test_support.cuh"

namespace {

using strata_test::expect_assertion;

struct all_bits {
  STRATA_D unsigned Digit(unsigned key) const { return key; }
};

template <class Rank>
STRATA_KERNEL void rank_one(unsigned first_key) {
  const unsigned keys[1] = {threadIdx.x == 0 ? first_key : 0};
  int ranks[1];
  Rank().RankKeys(keys, ranks, all_bits{});
  STRATA_ASSERT(ranks[0] >= 0, "wrong rank");
}

STRATA_KERNEL void sort_one(int begin_bit, int end_bit) {
  short keys[1] = {static_cast<short>(-static_cast<int>(threadIdx.x))};
  strata::BlockRadixSort<short, 64, 1>().Sort(keys, begin_bit, end_bit);
  STRATA_ASSERT(keys[0] <= 0, "wrong key");
}

template <class Rank>
void test_digits() {
  EXPECT_CUDA_SUCCESS(strata::launch({"rank_one", 1, 64}, rank_one<Rank>, 15u));
  expect_assertion(
      [] {
        return strata::launch({"rank_one", 1, 64}, rank_one<Rank>, 16u);
      },
      "BlockRadixRank: digit 16 of item 0 is not in 0 .. 15");
  expect_assertion(
      [] {
        return strata::launch({"rank_one", 1, 32}, rank_one<Rank>, 0u);
      },
      "BlockRadixRank was instantiated for blocks of 64 x 1 x 1 threads");
}

TEST(block_radix_rank, debug_builds_refuse_digits_out_of_range) {
  test_digits<strata::BlockRadixRank<64, 4, false>>();
  test_digits<strata::BlockRadixRankMatch<64, 4, false>>();
}

TEST(block_radix_sort, debug_builds_refuse_bits_that_keys_do_not_have) {
  const auto sort = [](int begin_bit, int end_bit) {
    return strata::launch({"sort_one", 1, 64}, sort_one, begin_bit, end_bit);
  };
  EXPECT_CUDA_SUCCESS(sort(0, 16));
  EXPECT_CUDA_SUCCESS(sort(16, 16));
  expect_assertion([&] { return sort(0, 17); }, "BlockRadixSort: bits 0 to 17 are not a range of the 16 bits of a key");
  expect_assertion([&] { return sort(-1, 4); }, "BlockRadixSort: bits -1 to 4 are not a range of the 16 bits of a key");
  expect_assertion([&] { return sort(5, 4); }, "BlockRadixSort: bits 5 to 4 are not a range of the 16 bits of a key");
}

}  // namespace
