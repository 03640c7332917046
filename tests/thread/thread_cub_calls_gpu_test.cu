// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Makes the same calls of thread functions, iterators and utilities with CUB and with strata, and compares results. See
// meta/cub_calls/calls.cuh.
#include <strata/core/chained_policy.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/core/util_device.cuh>
#include <strata/core/util_ptx.cuh>
#include <strata/iterator/arg_index_input_iterator.cuh>
#include <strata/iterator/cache_modified_input_iterator.cuh>
#include <strata/iterator/cache_modified_output_iterator.cuh>
#include <strata/thread/thread_load.cuh>
#include <strata/thread/thread_merge.cuh>
#include <strata/thread/thread_reduce.cuh>
#include <strata/thread/thread_search.cuh>
#include <strata/thread/thread_sort.cuh>
#include <strata/thread/thread_store.cuh>

#include <cub/block/block_merge_sort.cuh>
#include <cub/iterator/arg_index_input_iterator.cuh>
#include <cub/iterator/cache_modified_input_iterator.cuh>
#include <cub/iterator/cache_modified_output_iterator.cuh>
#include <cub/thread/thread_load.cuh>
#include <cub/thread/thread_operators.cuh>
#include <cub/thread/thread_reduce.cuh>
#include <cub/thread/thread_search.cuh>
#include <cub/thread/thread_sort.cuh>
#include <cub/thread/thread_store.cuh>
#include <cub/util_device.cuh>
#include <cub/util_ptx.cuh>
#include <cub/util_type.cuh>
#include <cuda/functional>
#include <cuda/std/array>
#include <cuda/std/functional>

#include "meta/cub_calls/calls.cuh"

// CUB deprecates MergePathSearch, but documents it.
#pragma nv_diag_suppress 1215, 1444
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace of_cub {
namespace lib = cub;
#include "meta/cub_calls/thread.inl"
}  // namespace of_cub
namespace of_strata {
namespace lib = strata;
#include "meta/cub_calls/thread.inl"
}  // namespace of_strata

STRATA_COMPARE_CUB_CALLS(thread_loads_and_stores)
STRATA_COMPARE_CUB_CALLS(thread_algorithms)
STRATA_COMPARE_CUB_CALLS(iterators)
STRATA_COMPARE_CUB_CALLS(utilities)
