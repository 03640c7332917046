// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Wrong calls that debug builds detect at run time.
#define STRATA_DEBUG 1
#include <strata/block/block_transpose.cuh>
#include <strata/core/launcher.cuh>

#include "support/expect_assertion.cuh"

namespace {

STRATA_KERNEL void transpose_a_tile() {
  using Transpose = strata::BlockTranspose<int, 32, 32, 64>;
  int items[Transpose::items_per_thread] = {};
  Transpose().Transpose(items, items);
}

TEST(block_transpose_assertions, blocks_of_another_size) {
  strata_test::expect_assertion(
      [] {
        return strata::launch({"transpose_a_tile", 1, 32}, transpose_a_tile);
      },
      "BlockTranspose was instantiated for blocks of 64 x 1 x 1 threads");
}

}  // namespace
