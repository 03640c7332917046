// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls of CUB's transformations, with CUB and with strata in its place: see meta/cub_calls/calls.cuh.
#include <cuda_runtime.h>

#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_adjacent_difference.cuh>
#include <cub/device/device_for.cuh>
#include <cub/device/device_transform.cuh>
#include <cuda/std/mdspan>
#include <cuda/std/tuple>

#include <strata/device/device_adjacent_difference.cuh>
#include <strata/device/device_for.cuh>
#include <strata/device/device_transform.cuh>

#include "meta/cub_calls/calls.cuh"

namespace of_cub {
namespace lib = cub;
using cub_calls::device_vector;
#include "meta/cub_calls/device_adjacent_difference.inl"
#include "meta/cub_calls/device_for.inl"
#include "meta/cub_calls/device_transform.inl"
}  // namespace of_cub

namespace of_strata {
namespace lib = strata;
using cub_calls::device_vector;
#include "meta/cub_calls/device_adjacent_difference.inl"
#include "meta/cub_calls/device_for.inl"
#include "meta/cub_calls/device_transform.inl"
}  // namespace of_strata

STRATA_COMPARE_CUB_CALLS(device_adjacent_difference)
STRATA_COMPARE_CUB_CALLS(device_for)
STRATA_COMPARE_CUB_CALLS(device_transform)
