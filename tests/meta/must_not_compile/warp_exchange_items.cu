// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: WarpExchange needs at least one item per thread
#include <strata/warp/warp_exchange.cuh>

#if defined(STRATA_BAD)
constexpr int count = 0;
#else
constexpr int count = 1;
#endif

STRATA_KERNEL void bytes(int* out) {
  *out = static_cast<int>(sizeof(typename strata::WarpExchange<int, count>::TempStorage));
}
