// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Makes the same calls of a block's loads, stores and exchanges with CUB and with strata, and compares results. See
// meta/cub_calls/calls.cuh.
#include <strata/block/block_adjacent_difference.cuh>
#include <strata/block/block_discontinuity.cuh>
#include <strata/block/block_exchange.cuh>
#include <strata/block/block_histogram.cuh>
#include <strata/block/block_load.cuh>
#include <strata/block/block_run_length_decode.cuh>
#include <strata/block/block_shuffle.cuh>
#include <strata/block/block_store.cuh>
#include <strata/iterator/cache_modified_input_iterator.cuh>

#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/iterator/cache_modified_input_iterator.cuh>
#include <cuda/std/functional>

#include "meta/cub_calls/calls.cuh"

namespace of_cub {
namespace lib = cub;
#include "meta/cub_calls/block_items.inl"
}  // namespace of_cub
namespace of_strata {
namespace lib = strata;
#include "meta/cub_calls/block_items.inl"
}  // namespace of_strata

STRATA_COMPARE_CUB_CALLS(block_load_store)
STRATA_COMPARE_CUB_CALLS(block_exchange)
STRATA_COMPARE_CUB_CALLS(block_shuffle)
STRATA_COMPARE_CUB_CALLS(block_discontinuity)
STRATA_COMPARE_CUB_CALLS(block_adjacent_difference)
STRATA_COMPARE_CUB_CALLS(block_histogram)
STRATA_COMPARE_CUB_CALLS(block_run_length_decode)
