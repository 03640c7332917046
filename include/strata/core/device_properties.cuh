// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

#include <atomic>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

// Its attributes tell which of the compiled architectures the driver chose for a device.
template <class>
STRATA_KERNEL void empty_kernel() {}

/// What a dispatch asks of a device. 32 bits each, so that both can be published as one word.
struct device_properties {
  int ptx_version = 0;
  int multiprocessors = 0;
};

inline cudaError_t query_device_properties(int device, device_properties& properties) {
  cudaError_t status =
      cudaDeviceGetAttribute(&properties.multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (status != cudaSuccess) return status;
#if STRATA_HOST_SIMT
  properties.ptx_version = 900;
#else
  // cudaErrorNoKernelImageForDevice / InvalidDeviceFunction from here means: strata was not
  // compiled for this device's architecture.
  cudaFuncAttributes attributes;
  status = cudaFuncGetAttributes(&attributes, empty_kernel<void>);
  if (status != cudaSuccess) return status;
  properties.ptx_version = attributes.ptxVersion * 10;
#endif
  return status;
}

/// Properties of the current device; the driver is asked once per device and process, so a repeat
/// call costs one `cudaGetDevice`.
inline cudaError_t current_device_properties(device_properties& properties) {
  constexpr int max_cached_devices = 64;
  // Zero-initialised; a device's word is non-zero once known. Threads that race write the same
  // word.
  static std::atomic<unsigned long long> cache[max_cached_devices];

  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status != cudaSuccess) return status;
  if (device < max_cached_devices) {
    const unsigned long long known = cache[device].load(std::memory_order_relaxed);
    if (known != 0) {
      properties.ptx_version = static_cast<int>(known >> 32);
      properties.multiprocessors = static_cast<int>(known & 0xffffffffu);
      return cudaSuccess;
    }
  }
  status = query_device_properties(device, properties);
  if (status == cudaSuccess && device < max_cached_devices) {
    cache[device].store((static_cast<unsigned long long>(properties.ptx_version) << 32) |
                            static_cast<unsigned>(properties.multiprocessors),
                        std::memory_order_relaxed);
  }
  return status;
}

STRATA_ARCH_DETAIL_NAMESPACE_END
