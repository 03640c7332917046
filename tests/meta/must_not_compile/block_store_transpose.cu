// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: BlockStore does not support the BLOCK_STORE_\*TRANSPOSE\* algorithms: for the same arrangement use BLOCK_STORE_VECTORIZE
#include <strata/block/block_store.cuh>

STRATA_KERNEL void store(int* out) {
  const int items[4] = {1, 2, 3, 4};
  strata::BlockStore<int, 64, 4, strata::BLOCK_STORE_VECTORIZE>().Store(out, items);
#ifdef STRATA_BAD
  strata::BlockStore<int, 64, 4, strata::BLOCK_STORE_TRANSPOSE>().Store(out, items);
#endif
}
