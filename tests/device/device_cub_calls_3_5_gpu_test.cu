// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares calls that CUB introduced in versions 3.1 to 3.5 with strata's: see meta/cub_calls/calls.cuh. Nothing is
// compared if the toolkit's CUB is older than 3.5.
#include <cuda_runtime.h>

#include <cub/version.cuh>

#include <gtest/gtest.h>

#if CUB_VERSION >= 300500
#include <cub/device/device_batched_topk.cuh>
#include <cub/device/device_copy.cuh>
#include <cub/device/device_find.cuh>
#include <cub/device/device_for.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_segmented_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cub/device/device_transform.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_reduce_batched.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cuda/argument>
#include <cuda/iterator>
#include <cuda/std/array>
#include <cuda/std/execution>
#include <cuda/std/functional>
#include <cuda/std/mdspan>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>
#include <cuda/stream_ref>

#include <strata/device/device_batched_topk.cuh>
#include <strata/device/device_copy.cuh>
#include <strata/device/device_find.cuh>
#include <strata/device/device_for.cuh>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_segmented_reduce.cuh>
#include <strata/device/device_segmented_scan.cuh>
#include <strata/device/device_select.cuh>
#include <strata/device/device_transform.cuh>
#include <strata/warp/warp_exchange.cuh>
#include <strata/warp/warp_reduce.cuh>
#include <strata/warp/warp_reduce_batched.cuh>
#include <strata/warp/warp_scan.cuh>

#include "meta/cub_calls/calls.cuh"

namespace of_cub {
namespace lib = cub;
using cub_calls::device_vector;
#include "meta/cub_calls/device_of_cub_3_5.inl"
#include "meta/cub_calls/warp_of_cub_3_5.inl"
}  // namespace of_cub

namespace of_strata {
namespace lib = strata;
using cub_calls::device_vector;
#include "meta/cub_calls/device_of_cub_3_5.inl"
#include "meta/cub_calls/warp_of_cub_3_5.inl"
}  // namespace of_strata

STRATA_COMPARE_CUB_CALLS(device_find)
STRATA_COMPARE_CUB_CALLS(device_transform_if)
STRATA_COMPARE_CUB_CALLS(device_select_unique)
STRATA_COMPARE_CUB_CALLS(device_reduce_by_comparator)
STRATA_COMPARE_CUB_CALLS(device_segmented_scan)
STRATA_COMPARE_CUB_CALLS(device_segments_of_one_length)
STRATA_COMPARE_CUB_CALLS(device_for_layouts)
STRATA_COMPARE_CUB_CALLS(device_copy_arrays)
STRATA_COMPARE_CUB_CALLS(device_batched_top_k)
STRATA_COMPARE_CUB_CALLS(warp_reduce_batched)
STRATA_COMPARE_CUB_CALLS(warp_reduce_extremes)
STRATA_COMPARE_CUB_CALLS(warp_scan_partial)
STRATA_COMPARE_CUB_CALLS(warp_exchange_in_place)
#else
TEST(cub_calls_3_5, are_compared_with_cub_3_5) { GTEST_SKIP() << "CUB is " << CUB_VERSION; }
#endif
