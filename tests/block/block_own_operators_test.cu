// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Applies strata's operators in collectives of warps and blocks to types that overload +, <, &, ... Operands must keep
// their order, and an enumeration of 4 bytes must not be reduced by the warp's integer instruction.
#include <strata/block/block_reduce.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/core/launcher.cuh>
#include <strata/warp/warp_reduce.cuh>
#include <strata/warp/warp_scan.cuh>

#include <numeric>
#include <vector>

#include "support/own_operators.cuh"
#include "support/test_support.cuh"

namespace {

using strata_test::affine;
using strata_test::device_vector;
using strata_test::make_own_items;
using strata_test::permutation;
using strata_test::runs;
using strata_test::tagged;

constexpr int threads = 160;

/// Reduces the block by two algorithms, and each warp. Then scans the block and each warp, inclusively.
template <class T, class Op>
STRATA_KERNEL void combine_all(const T* in, T* reduced, T* scanned, Op op) {
  using BlockReduce = strata::BlockReduce<T, threads>;
  using Raking = strata::BlockReduce<T, threads, strata::BLOCK_REDUCE_RAKING>;
  using BlockScan = strata::BlockScan<T, threads>;
  using WarpReduce = strata::WarpReduce<T>;
  using WarpScan = strata::WarpScan<T>;
  STRATA_SHARED(reduce_storage, typename BlockReduce::TempStorage);
  STRATA_SHARED(raking_storage, typename Raking::TempStorage);
  STRATA_SHARED(scan_storage, typename BlockScan::TempStorage);
  STRATA_SHARED(warp_storage, typename WarpReduce::TempStorage);
  STRATA_SHARED(warp_scan_storage, typename WarpScan::TempStorage[threads / 32]);
  const unsigned thread = threadIdx.x;
  const T item = in[thread];
  const T of_block = BlockReduce(reduce_storage).Reduce(item, op);
  const T by_raking = Raking(raking_storage).Reduce(item, op);
  if (thread == 0) reduced[0] = of_block, reduced[1] = by_raking;
  const T of_warp = WarpReduce(warp_storage).Reduce(item, op);
  if (thread % 32 == 0) reduced[2 + thread / 32] = of_warp;
  BlockScan(scan_storage).InclusiveScan(item, scanned[thread], op);
  WarpScan(warp_scan_storage[thread / 32]).InclusiveScan(item, scanned[threads + thread], op);
}

template <class T, class Op>
void test_order(Op op) {
  const std::vector<T> items = make_own_items<T>(threads);
  const device_vector<T> in(items);
  device_vector<T> reduced(2 + threads / 32), scanned(2 * threads);
  ASSERT_CUDA_SUCCESS(
      strata::launch({"combine_all", 1, threads}, combine_all<T, Op>, in.data(), reduced.data(), scanned.data(), op));
  const auto sum = [&](int first, int last) {
    return std::accumulate(items.begin() + first + 1, items.begin() + last, items[static_cast<unsigned>(first)], op);
  };
  const std::vector<T> sums = reduced.to_host();
  EXPECT_EQ(sum(0, threads), sums[0]);
  EXPECT_EQ(sum(0, threads), sums[1]);
  for (int warp = 0; warp < threads / 32; ++warp) {
    EXPECT_EQ(sum(32 * warp, 32 * warp + 32), sums[static_cast<unsigned>(2 + warp)]) << warp;
  }
  const std::vector<T> prefixes = scanned.to_host();
  for (int i = 0; i < threads; ++i) {
    EXPECT_EQ(sum(0, i + 1), prefixes[static_cast<unsigned>(i)]) << i;
    EXPECT_EQ(sum(i / 32 * 32, i + 1), prefixes[static_cast<unsigned>(threads + i)]) << i;
  }
}

// Exclusive sums of words subtract an item from its inclusive sum, which is exact only for integers.
TEST(block_own_operators, sums_of_integers_alone_are_sums_of_words) {
  using strata::detail::adds_as_words;
  static_assert(adds_as_words<strata::Sum, int> && adds_as_words<strata::Sum, char>);
  static_assert(!adds_as_words<strata::Sum, bool> && !adds_as_words<strata::Sum, float>);
  static_assert(!adds_as_words<strata::Sum, permutation> && !adds_as_words<strata::Sum, affine>);
  static_assert(!adds_as_words<strata::Max, int>);
}

TEST(block_own_operators, sums_keep_the_order_of_items) {
  test_order<affine>(strata::Sum{});
  test_order<runs>(strata::Sum{});
  test_order<permutation>(strata::Sum{});
}

TEST(block_own_operators, bits_keep_the_order_of_items) {
  test_order<permutation>(strata::BitAnd{});
  test_order<permutation>(strata::BitOr{});
  test_order<affine>(strata::BitXor{});
}

TEST(block_own_operators, extremes_are_the_first_of_equal_items) {
  test_order<tagged>(strata::Min{});
  test_order<tagged>(strata::Max{});
}

}  // namespace
