// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Makes the same calls of a block's sorts with CUB and with strata, and compares results. See meta/cub_calls/calls.cuh.
#include <strata/block/block_merge_sort.cuh>
#include <strata/block/block_radix_rank.cuh>
#include <strata/block/block_radix_sort.cuh>

#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cuda/std/functional>
#include <cuda/std/tuple>

#include "meta/cub_calls/calls.cuh"

namespace of_cub {
namespace lib = cub;
#include "meta/cub_calls/block_sort.inl"
}  // namespace of_cub
namespace of_strata {
namespace lib = strata;
#include "meta/cub_calls/block_sort.inl"
}  // namespace of_strata

STRATA_COMPARE_CUB_CALLS(block_radix_sort)
STRATA_COMPARE_CUB_CALLS(block_merge_sort)
STRATA_COMPARE_CUB_CALLS(block_radix_rank)
