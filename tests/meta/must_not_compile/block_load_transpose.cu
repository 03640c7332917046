// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: BlockLoad does not support the BLOCK_LOAD_\*TRANSPOSE\* algorithms: for the same arrangement use BLOCK_LOAD_VECTORIZE
#include <strata/block/block_load.cuh>

STRATA_KERNEL void load(const int* in) {
  int items[4];
  strata::BlockLoad<int, 64, 4, strata::BLOCK_LOAD_VECTORIZE>().Load(in, items);
#ifdef STRATA_BAD
  strata::BlockLoad<int, 64, 4, strata::BLOCK_LOAD_WARP_TRANSPOSE>().Load(in, items);
#endif
}
