// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: BLOCK_LOAD_WARP_TRANSPOSE and BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED need whole warps: choose a block of a multiple of 32 threads
#include <strata/block/block_load.cuh>

STRATA_KERNEL void load(const int* in) {
  int items[4];
  strata::BlockLoad<int, 33, 4, strata::BLOCK_LOAD_TRANSPOSE>().Load(in, items);
#ifdef STRATA_BAD
  strata::BlockLoad<int, 33, 4, strata::BLOCK_LOAD_WARP_TRANSPOSE>().Load(in, items);
#endif
}
