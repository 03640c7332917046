// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Makes the same calls of BlockMergeSortStrategy with CUB and with strata, and compares results. See
// meta/cub_calls/calls.cuh.
#include <cuda_runtime.h>

#include <cub/block/block_merge_sort.cuh>

#include <strata/block/block_merge_sort.cuh>

#include "meta/cub_calls/calls.cuh"

namespace of_cub {
namespace lib = cub;
using cub_calls::device_vector;
#include "meta/cub_calls/block_merge_sort_strategy.inl"
}  // namespace of_cub

namespace of_strata {
namespace lib = strata;
using cub_calls::device_vector;
#include "meta/cub_calls/block_merge_sort_strategy.inl"
}  // namespace of_strata

STRATA_COMPARE_CUB_CALLS(block_merge_sort_strategy)
