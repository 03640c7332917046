// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: BlockTranspose: no padding of this tile is free of bank conflicts: choose sides that are powers of two or multiples of 32
#include <strata/block/block_transpose.cuh>

#ifdef STRATA_BAD
using layout = strata::ChosenLayout;
#else
using layout = strata::PlainLayout;
#endif

STRATA_KERNEL void transpose() {
  using Transpose = strata::BlockTranspose<int, 48, 40, 128, 1, 1, layout>;
  int items[Transpose::items_per_thread] = {};
  Transpose().Transpose(items, items);
}
