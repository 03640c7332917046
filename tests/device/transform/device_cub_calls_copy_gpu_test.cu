// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls of CUB's copies of many ranges, with CUB and with strata in its place: see meta/cub_calls/calls.cuh.
#include <cuda_runtime.h>

#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_copy.cuh>
#include <cub/device/device_memcpy.cuh>

#include <strata/device/device_copy.cuh>
#include <strata/device/device_memcpy.cuh>

#include "meta/cub_calls/calls.cuh"

namespace of_cub {
namespace lib = cub;
using cub_calls::device_vector;
#include "meta/cub_calls/device_copy.inl"
#include "meta/cub_calls/device_memcpy.inl"
}  // namespace of_cub

namespace of_strata {
namespace lib = strata;
using cub_calls::device_vector;
#include "meta/cub_calls/device_copy.inl"
#include "meta/cub_calls/device_memcpy.inl"
}  // namespace of_strata

STRATA_COMPARE_CUB_CALLS(device_copy)
STRATA_COMPARE_CUB_CALLS(device_memcpy)
