// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: BlockTranspose needs a tile of rows and columns
// errors: 4, the layout of the tile asserts that too
#include <strata/block/block_transpose.cuh>

#ifdef STRATA_BAD
constexpr int rows = 0;
#else
constexpr int rows = 16;
#endif

STRATA_KERNEL void transpose() {
  using Transpose = strata::BlockTranspose<int, rows, 16, 64>;
  int items[16] = {};
  Transpose().Transpose(*reinterpret_cast<int(*)[Transpose::items_per_thread]>(&items),
                        *reinterpret_cast<int(*)[Transpose::items_per_thread]>(&items));
}
