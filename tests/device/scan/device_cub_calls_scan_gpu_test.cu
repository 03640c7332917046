// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls of CUB's scans, with CUB and with strata in its place: see meta/cub_calls/calls.cuh.
#include <strata/device/device_scan.cuh>
#include <strata/iterator/cache_modified_output_iterator.cuh>

#include <cub/device/device_scan.cuh>
#include <cub/iterator/cache_modified_output_iterator.cuh>
#include <cuda/functional>
#include <cuda/std/functional>

#include "meta/cub_calls/calls.cuh"

namespace of_cub {
namespace lib = cub;
using cub_calls::device_vector;
#include "meta/cub_calls/device_scan.inl"
}  // namespace of_cub
namespace of_strata {
namespace lib = strata;
using cub_calls::device_vector;
#include "meta/cub_calls/device_scan.inl"
}  // namespace of_strata

STRATA_COMPARE_CUB_CALLS(device_scan)
