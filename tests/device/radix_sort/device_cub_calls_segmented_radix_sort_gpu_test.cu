// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls of CUB's radix sorts of segments, with CUB and with strata in its place: see meta/cub_calls/calls.cuh.
#include <strata/device/device_segmented_radix_sort.cuh>

#include <cub/device/device_segmented_radix_sort.cuh>

#include "meta/cub_calls/calls.cuh"

namespace of_cub {
namespace lib = cub;
using cub_calls::device_vector;
#include "meta/cub_calls/device_segmented_radix_sort.inl"
}  // namespace of_cub
namespace of_strata {
namespace lib = strata;
using cub_calls::device_vector;
#include "meta/cub_calls/device_segmented_radix_sort.inl"
}  // namespace of_strata

STRATA_COMPARE_CUB_CALLS(device_segmented_radix_sort_keys)
STRATA_COMPARE_CUB_CALLS(device_segmented_radix_sort_pairs)
