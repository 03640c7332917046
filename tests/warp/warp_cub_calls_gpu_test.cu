// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Makes the same calls of warp collectives with CUB and with strata, and compares results. See
// meta/cub_calls/calls.cuh.
#include <strata/warp/warp_exchange.cuh>
#include <strata/warp/warp_load.cuh>
#include <strata/warp/warp_merge_sort.cuh>
#include <strata/warp/warp_reduce.cuh>
#include <strata/warp/warp_scan.cuh>
#include <strata/warp/warp_store.cuh>

#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_store.cuh>
#include <cuda/functional>
#include <cuda/std/functional>

#include "meta/cub_calls/calls.cuh"

namespace of_cub {
namespace lib = cub;
#include "meta/cub_calls/warp.inl"
}  // namespace of_cub
namespace of_strata {
namespace lib = strata;
#include "meta/cub_calls/warp.inl"
}  // namespace of_strata

STRATA_COMPARE_CUB_CALLS(warp_reduce)
STRATA_COMPARE_CUB_CALLS(warp_scan)
STRATA_COMPARE_CUB_CALLS(warp_load_store)
STRATA_COMPARE_CUB_CALLS(warp_exchange)
STRATA_COMPARE_CUB_CALLS(warp_merge_sort)
