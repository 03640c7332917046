// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compares calls of CUB's histograms with strata's: see meta/cub_calls/calls.cuh.
#include <cuda_runtime.h>

#include <cub/device/device_histogram.cuh>
#include <cuda/std/array>

#include <strata/device/device_histogram.cuh>

#include "meta/cub_calls/calls.cuh"

// CUB deprecates C++ arrays as arguments, but documents them.
#pragma nv_diag_suppress 1215, 1444
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace of_cub {
namespace lib = cub;
using cub_calls::device_vector;
#include "meta/cub_calls/device_histogram.inl"
}  // namespace of_cub

namespace of_strata {
namespace lib = strata;
using cub_calls::device_vector;
#include "meta/cub_calls/device_histogram.inl"
}  // namespace of_strata

STRATA_COMPARE_CUB_CALLS(device_histogram)
