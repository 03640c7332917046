// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls of CUB's transformations, with CUB and, as far as it has them, with strata in its place: see
// meta/cub_calls/calls.cuh.
#include <cuda_runtime.h>

#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_adjacent_difference.cuh>
#include <cub/device/device_for.cuh>
#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>

#include "meta/cub_calls/calls.cuh"
#include "meta/cub_calls/lacking.hpp"

namespace of_cub {
namespace lib = cub;
using cub_calls::device_vector;
#include "meta/cub_calls/device_adjacent_difference.inl"
#include "meta/cub_calls/device_for.inl"
#include "meta/cub_calls/device_transform.inl"
}  // namespace of_cub

#if STRATA_LACKS_DEVICE_ADJACENT_DIFFERENCE
STRATA_MAKE_CUB_CALLS(device_adjacent_difference)
#else
#include <strata/device/device_adjacent_difference.cuh>
namespace of_strata {
namespace lib = strata;
using cub_calls::device_vector;
#include "meta/cub_calls/device_adjacent_difference.inl"
}  // namespace of_strata
STRATA_COMPARE_CUB_CALLS(device_adjacent_difference)
#endif

#if STRATA_LACKS_DEVICE_FOR
STRATA_MAKE_CUB_CALLS(device_for)
#else
#include <strata/device/device_for.cuh>
namespace of_strata {
namespace lib = strata;
using cub_calls::device_vector;
#include "meta/cub_calls/device_for.inl"
}  // namespace of_strata
STRATA_COMPARE_CUB_CALLS(device_for)
#endif

#if STRATA_LACKS_DEVICE_TRANSFORM
STRATA_MAKE_CUB_CALLS(device_transform)
#else
#include <strata/device/device_transform.cuh>
namespace of_strata {
namespace lib = strata;
using cub_calls::device_vector;
#include "meta/cub_calls/device_transform.inl"
}  // namespace of_strata
STRATA_COMPARE_CUB_CALLS(device_transform)
#endif
