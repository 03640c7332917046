// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: a warp-striped arrangement needs whole warps: choose a block of a multiple of 32 threads or of at most 32, or the striped arrangement
#include <strata/block/block_exchange.cuh>

STRATA_KERNEL void exchange(int* out) {
  int items[2] = {1, 2};
  strata::BlockExchange<int, 48, 2>().StripedToBlocked(items);
#ifdef STRATA_BAD
  strata::BlockExchange<int, 48, 2>().WarpStripedToBlocked(items);
#endif
  *out = items[0];
}
