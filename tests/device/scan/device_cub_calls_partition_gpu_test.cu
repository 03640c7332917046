// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls of CUB's partitions and runs, with CUB and with strata in its place: see meta/cub_calls/calls.cuh.
#include <cuda_runtime.h>

#include <cub/device/device_partition.cuh>
#include <cub/device/device_run_length_encode.cuh>

#include <strata/device/device_partition.cuh>
#include <strata/device/device_run_length_encode.cuh>

#include "meta/cub_calls/calls.cuh"

namespace of_cub {
namespace lib = cub;
using cub_calls::device_vector;
#include "meta/cub_calls/device_non_trivial_runs.inl"
#include "meta/cub_calls/device_partition.inl"
}  // namespace of_cub

namespace of_strata {
namespace lib = strata;
using cub_calls::device_vector;
#include "meta/cub_calls/device_non_trivial_runs.inl"
#include "meta/cub_calls/device_partition.inl"
}  // namespace of_strata

STRATA_COMPARE_CUB_CALLS(device_partition)
STRATA_COMPARE_CUB_CALLS(device_non_trivial_runs)
