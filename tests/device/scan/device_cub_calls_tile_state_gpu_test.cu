// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels with CUB's tile states, with CUB and with strata in its place: see meta/cub_calls/calls.cuh.
#include <cuda_runtime.h>

#include <cub/agent/single_pass_scan_operators.cuh>
#include <cub/block/block_scan.cuh>

#include <strata/block/block_scan.cuh>
#include <strata/device/scan_tile_state.cuh>

#include "meta/cub_calls/calls.cuh"

namespace of_cub {
namespace lib = cub;
using cub_calls::device_vector;
#include "meta/cub_calls/device_scan_tile_state.inl"
}  // namespace of_cub

namespace of_strata {
namespace lib = strata;
using cub_calls::device_vector;
#include "meta/cub_calls/device_scan_tile_state.inl"
}  // namespace of_strata

STRATA_COMPARE_CUB_CALLS(device_scan_tile_state)
