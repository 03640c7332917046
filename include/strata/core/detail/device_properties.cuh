// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#if !STRATA_NVRTC

#include <strata/core/detail/driver_functions.cuh>
#include <strata/core/platform.cuh>

#include <atomic>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

// The attributes of this kernel tell which of the compiled architectures the driver chose for a device.
template <class>
STRATA_KERNEL void empty_kernel() {}

/// The properties of a device that a dispatch needs.
struct device_properties {
  int ptx_version = 0;
  int multiprocessors = 0;  // that the stream may use
  bool in_green_context = false;
  int l2_bytes = 0;
  int shared_bytes_of_block = 0;  // maximum of a block: see allow_dynamic_shared_memory()
};

inline cudaError_t query_device_properties(int device, device_properties& properties) {
  cudaError_t status = cudaDeviceGetAttribute(&properties.multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (status != cudaSuccess) return status;
  status = cudaDeviceGetAttribute(&properties.l2_bytes, cudaDevAttrL2CacheSize, device);
  if (status != cudaSuccess) return status;
  status = cudaDeviceGetAttribute(&properties.shared_bytes_of_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (status != cudaSuccess) return status;
#if STRATA_HOST_SIMT
  const unsigned capability = ::strata::simt::config().compute_capability;
  if (capability != 0 && capability * 10 < STRATA_SIMT_PTX_VERSION) return cudaErrorNoKernelImageForDevice;
  properties.ptx_version = STRATA_SIMT_PTX_VERSION;
#else
  // cudaErrorNoKernelImageForDevice or cudaErrorInvalidDeviceFunction from here means that strata was not compiled for
  // the architecture of this device.
  cudaFuncAttributes attributes;
  status = cudaFuncGetAttributes(&attributes, empty_kernel<void>);
  if (status != cudaSuccess) return status;
  properties.ptx_version = attributes.ptxVersion * 10;
#endif
  return status;
}

/// The number of devices for which caches have room.
inline constexpr int max_cached_devices = 64;

/// True if caches may be used for a device: they have room for it, and its properties have not changed. On the host
/// back end, tests change the simulated device.
inline bool is_cached_device(int device) {
#if STRATA_HOST_SIMT
  if (!::strata::simt::has_first_device()) return false;
#endif
  return device < max_cached_devices;
}

/// Properties of the current device, queried once per device and process. Under MPS or MIG, the multiprocessors are
/// those that the process may use.
inline cudaError_t current_device_properties(device_properties& properties) {
  struct entry {
    std::atomic<bool> is_known;
    std::atomic<int> ptx_version, multiprocessors, l2_bytes, shared_bytes_of_block;
  };
  static entry cache[max_cached_devices];  // zero-initialised; threads that race write the same

  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status != cudaSuccess) return status;
  entry* const known = is_cached_device(device) ? &cache[device] : nullptr;
  if (known != nullptr && known->is_known.load(std::memory_order_acquire)) {
    properties.ptx_version = known->ptx_version.load(std::memory_order_relaxed);
    properties.multiprocessors = known->multiprocessors.load(std::memory_order_relaxed);
    properties.l2_bytes = known->l2_bytes.load(std::memory_order_relaxed);
    properties.shared_bytes_of_block = known->shared_bytes_of_block.load(std::memory_order_relaxed);
    return cudaSuccess;
  }
  status = query_device_properties(device, properties);
  if (status == cudaSuccess && known != nullptr) {
    known->ptx_version.store(properties.ptx_version, std::memory_order_relaxed);
    known->multiprocessors.store(properties.multiprocessors, std::memory_order_relaxed);
    known->l2_bytes.store(properties.l2_bytes, std::memory_order_relaxed);
    known->shared_bytes_of_block.store(properties.shared_bytes_of_block, std::memory_order_relaxed);
    known->is_known.store(true, std::memory_order_release);
  }
  return status;
}

/// Properties of the current device, with the multiprocessors that kernels on `stream` may use.
inline cudaError_t current_device_properties(device_properties& properties, cudaStream_t stream) {
  const cudaError_t status = current_device_properties(properties);
  const int multiprocessors = green_context_multiprocessors(stream);
  properties.in_green_context = multiprocessors > 0;
  if (properties.in_green_context) properties.multiprocessors = multiprocessors;
  return status;
}

STRATA_ARCH_DETAIL_NAMESPACE_END

#endif  // !STRATA_NVRTC
