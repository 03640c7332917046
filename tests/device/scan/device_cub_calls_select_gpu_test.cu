// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls of CUB's selections, with CUB and with strata in its place: see meta/cub_calls/calls.cuh.
#include <strata/device/device_run_length_encode.cuh>
#include <strata/device/device_select.cuh>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>

#include "meta/cub_calls/calls.cuh"

namespace of_cub {
namespace lib = cub;
using cub_calls::device_vector;
#include "meta/cub_calls/device_select.inl"
}  // namespace of_cub
namespace of_strata {
namespace lib = strata;
using cub_calls::device_vector;
#include "meta/cub_calls/device_select.inl"
}  // namespace of_strata

STRATA_COMPARE_CUB_CALLS(device_select)
STRATA_COMPARE_CUB_CALLS(device_run_length_encode)
