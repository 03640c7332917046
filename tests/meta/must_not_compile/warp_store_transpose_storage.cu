// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: WARP_STORE_TRANSPOSE needs storage for each logical warp: pass a TempStorage to the constructor
#include <strata/warp/warp_store.cuh>

STRATA_KERNEL void store(int* data) {
  int items[4] = {1, 2, 3, 4};
  using transposing = strata::WarpStore<int, 4, strata::WARP_STORE_TRANSPOSE>;
  STRATA_SHARED(temp_storage, transposing::TempStorage);
  transposing(temp_storage).Store(data, items);
  strata::WarpStore<int, 4, strata::WARP_STORE_VECTORIZE>().Store(data, items);
#ifdef STRATA_BAD
  transposing().Store(data, items);
#endif
}
