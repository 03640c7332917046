// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls of CUB's reductions, with CUB and with strata in its place: see meta/cub_calls/calls.cuh.
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_segmented_reduce.cuh>
#include <strata/iterator/arg_index_input_iterator.cuh>
#include <strata/iterator/cache_modified_input_iterator.cuh>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/iterator/arg_index_input_iterator.cuh>
#include <cub/iterator/cache_modified_input_iterator.cuh>
#include <cuda/functional>
#include <cuda/std/functional>

#include "meta/cub_calls/calls.cuh"

// CUB deprecates the KeyValuePair forms of ArgMin and ArgMax, but documents them.
#pragma nv_diag_suppress 1215, 1444
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace of_cub {
namespace lib = cub;
using cub_calls::device_vector;
#include "meta/cub_calls/device_reduce.inl"
}  // namespace of_cub
namespace of_strata {
namespace lib = strata;
using cub_calls::device_vector;
#include "meta/cub_calls/device_reduce.inl"
}  // namespace of_strata

STRATA_COMPARE_CUB_CALLS(device_reduce)
STRATA_COMPARE_CUB_CALLS(device_reduce_by_key)
STRATA_COMPARE_CUB_CALLS(device_segmented_reduce)
