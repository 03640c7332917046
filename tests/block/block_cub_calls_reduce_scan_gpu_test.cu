// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Makes the same calls of a block's reductions and scans with CUB and with strata, and compares results. See
// meta/cub_calls/calls.cuh.
#include <strata/block/block_load.cuh>
#include <strata/block/block_reduce.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/block/block_store.cuh>

#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cuda/functional>
#include <cuda/std/functional>

#include "meta/cub_calls/calls.cuh"

namespace of_cub {
namespace lib = cub;
#include "meta/cub_calls/block_reduce_scan.inl"
}  // namespace of_cub
namespace of_strata {
namespace lib = strata;
#include "meta/cub_calls/block_reduce_scan.inl"
}  // namespace of_strata

STRATA_COMPARE_CUB_CALLS(block_reduce)
STRATA_COMPARE_CUB_CALLS(block_scan)
