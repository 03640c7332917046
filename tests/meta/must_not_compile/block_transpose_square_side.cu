// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: BlockTranspose: SquareSide must be 1, or divide both sides of the tile and make units of 4, 8 or 16 bytes
// errors: 4, the layout of the tile asserts that too
#include <strata/block/block_transpose.cuh>

#ifdef STRATA_BAD
constexpr int side = 8;
#else
constexpr int side = 4;
#endif

STRATA_KERNEL void transpose() {
  using Transpose = strata::BlockTranspose<int, 32, 32, 64, 1, 1, strata::ChosenLayout, side>;
  int items[Transpose::items_per_thread] = {};
  Transpose().Transpose(items, items);
}
