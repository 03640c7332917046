// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: WARP_LOAD_TRANSPOSE needs storage for each logical warp: pass a TempStorage to the constructor
#include <strata/warp/warp_load.cuh>

STRATA_KERNEL void load(int* data) {
  int items[4] = {1, 2, 3, 4};
  using transposing = strata::WarpLoad<int, 4, strata::WARP_LOAD_TRANSPOSE>;
  STRATA_SHARED(temp_storage, transposing::TempStorage);
  transposing(temp_storage).Load(data, items);
  strata::WarpLoad<int, 4, strata::WARP_LOAD_VECTORIZE>().Load(data, items);
#ifdef STRATA_BAD
  transposing().Load(data, items);
#endif
}
