// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DeviceReduce uses cuda::std::numeric_limits for extremes, in a program that includes libcu++ after strata's headers.
#include <strata/device/device_reduce.cuh>
#include <strata/device/device_segmented_reduce.cuh>

#if STRATA_HOST_SIMT
// The host compiler does not find libcu++. These lines stand for its header.
#define _CUDA_STD_LIMITS
namespace cuda::std {
inline namespace any_version {
template <class T>
class numeric_limits {
 public:
  static constexpr bool is_specialized = false;
};
}  // namespace any_version
}  // namespace cuda::std
#endif
#include <strata/core/cuda_std_limits.hpp>

#include <gtest/gtest.h>

#include "support/cuda_limits.cuh"
