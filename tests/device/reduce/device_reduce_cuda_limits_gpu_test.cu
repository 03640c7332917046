// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceReduce uses cuda::std::numeric_limits for extremes, in a program that includes libcu++ before strata's headers.
// clang-format off
#include <cuda/std/limits>
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_segmented_reduce.cuh>
// clang-format on

#include <gtest/gtest.h>

#include "support/cuda_limits.cuh"
