// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: BLOCK_STORE_WARP_TRANSPOSE and BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED need whole warps: choose a block of a multiple of 32 threads
#include <strata/block/block_store.cuh>

STRATA_KERNEL void store(int* out) {
  const int items[4] = {1, 2, 3, 4};
  using all_warps = strata::BlockStore<int, 64, 4, strata::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>;
  all_warps().Store(out, items);
#ifdef STRATA_BAD
  using no_warp = strata::BlockStore<int, 16, 4, strata::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>;
  no_warp().Store(out, items);
#endif
}
