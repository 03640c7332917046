// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#if !STRATA_NVRTC

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/platform.cuh>

STRATA_ARCH_NAMESPACE_BEGIN

/// Finds the architecture whose code runs on the current device, as 100 * major + 10 * minor. It is one of the
/// architectures for which the program is compiled. On the host SIMT back end it is STRATA_SIMT_PTX_VERSION, by default
/// 900. Only the host calls this. If the CUDA runtime has an error, it is returned, and `ptx_version` does not change.
/// cudaErrorNoKernelImageForDevice or cudaErrorInvalidDeviceFunction means that the program is not compiled for the
/// device.
inline cudaError_t PtxVersion(int& ptx_version) {
  detail::device_properties properties;
  const cudaError_t status = detail::current_device_properties(properties);
  if (status == cudaSuccess) ptx_version = properties.ptx_version;
  return status;
}

/// Finds the architecture whose code runs on `device`. The current device stays the same.
inline cudaError_t PtxVersion(int& ptx_version, int device) {
  int current = 0;
  cudaError_t status = cudaGetDevice(&current);
  if (status != cudaSuccess) return status;
  if (device == current) return PtxVersion(ptx_version);
  status = cudaSetDevice(device);
  if (status != cudaSuccess) return status;
  status = PtxVersion(ptx_version);
  const cudaError_t restored = cudaSetDevice(current);
  return status != cudaSuccess ? status : restored;
}

/// Finds the compute capability of a device, as 100 * major + 10 * minor. Only the host calls this. If the CUDA runtime
/// has an error, it is returned, and `sm_version` does not change.
inline cudaError_t SmVersion(int& sm_version, int device) {
  int major = 0, minor = 0;
  cudaError_t status = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (status != cudaSuccess) return status;
  status = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  if (status == cudaSuccess) sm_version = 100 * major + 10 * minor;
  return status;
}

/// Finds the compute capability of the current device, as 100 * major + 10 * minor.
inline cudaError_t SmVersion(int& sm_version) {
  int device = 0;
  const cudaError_t status = cudaGetDevice(&device);
  return status == cudaSuccess ? SmVersion(sm_version, device) : status;
}

STRATA_ARCH_NAMESPACE_END

#endif  // !STRATA_NVRTC
