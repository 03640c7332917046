// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: WARP_EXCHANGE_SHUFFLE cannot scatter: use WARP_EXCHANGE_SMEM
#include <strata/warp/warp_exchange.cuh>

#if defined(STRATA_BAD)
constexpr auto algorithm = strata::WARP_EXCHANGE_SHUFFLE;
#else
constexpr auto algorithm = strata::WARP_EXCHANGE_SMEM;
#endif

STRATA_KERNEL void reverse(int* out) {
  using exchange = strata::WarpExchange<int, 1, 32, algorithm>;
  STRATA_SHARED(temp_storage, exchange::TempStorage);
  int items[1] = {static_cast<int>(threadIdx.x)};
  const int ranks[1] = {31 - items[0]};
  exchange(temp_storage).ScatterToStriped(items, ranks);
  out[threadIdx.x] = items[0];
}
