// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares calls of CUB's merge sorts with strata's: see meta/cub_calls/calls.cuh.
#include <strata/device/device_merge_sort.cuh>

#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_merge_sort.cuh>
#include <cuda/std/functional>

#include "meta/cub_calls/calls.cuh"

namespace of_cub {
namespace lib = cub;
using cub_calls::device_vector;
#include "meta/cub_calls/device_merge_sort.inl"
}  // namespace of_cub
namespace of_strata {
namespace lib = strata;
using cub_calls::device_vector;
#include "meta/cub_calls/device_merge_sort.inl"
}  // namespace of_strata

STRATA_COMPARE_CUB_CALLS(device_merge_sort)
