// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Functions of the driver, for what the CUDA runtime cannot do or does with a side effect. They are found at run time,
/// so that a program links only the runtime.

#include <strata/core/macros.hpp>

#if !STRATA_NVRTC

#include <strata/core/platform.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

#if !STRATA_HOST_SIMT

/// Returns the function `name` of the driver, as version `cuda_version` of CUDA declares it; null if the driver does
/// not have it. With toolkits before 12.5, the version is the toolkit's. Its results have the numbers of cudaError_t.
template <class Function>
Function* driver_function(const char* name, unsigned cuda_version) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t status = cudaGetDriverEntryPointByVersion(name, &address, cuda_version, cudaEnableDefault, &found);
#else
  static_cast<void>(cuda_version);
  const cudaError_t status = cudaGetDriverEntryPoint(name, &address, cudaEnableDefault, &found);
#endif
  const bool is_found = status == cudaSuccess && found == cudaDriverEntryPointSuccess;
  return is_found ? reinterpret_cast<Function*>(address) : nullptr;
}

// From <cuda.h>, which has more than 20,000 lines (CUDA 13.0). tests/device/device_green_context_gpu_test.cu compares
// these declarations with it.

/// cuFuncSetAttribute
using driver_set_attribute = cudaError_t(cudaFunction_t, int attribute, int value);
/// CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
inline constexpr int driver_max_dynamic_shared_bytes = 8;

/// cuStreamGetGreenCtx
using driver_stream_green_context = cudaError_t(cudaStream_t, void** green_context);
/// CUdevResource of CUDA 12.4; `type` is CU_DEV_RESOURCE_TYPE_SM
struct driver_resource {
  int type;
  unsigned char internal[92];
  unsigned multiprocessors;
  unsigned char other[44];
};
/// cuGreenCtxGetDevResource
using driver_green_context_resource = cudaError_t(void* green_context, driver_resource*, int type);
/// CU_DEV_RESOURCE_TYPE_SM
inline constexpr int driver_multiprocessor_resource = 1;

/// Sets cudaFuncAttributeMaxDynamicSharedMemorySize. cudaFuncSetAttribute would clear an error that an earlier call has
/// left.
inline cudaError_t set_max_dynamic_shared_memory(const void* kernel, std::size_t bytes) {
  static auto* const set_attribute = driver_function<driver_set_attribute>("cuFuncSetAttribute", 9000);
  if (set_attribute == nullptr) return cudaErrorNotSupported;
  cudaFunction_t function = nullptr;
  const cudaError_t status = cudaGetFuncBySymbol(&function, kernel);
  if (status != cudaSuccess) return status;
  return set_attribute(function, driver_max_dynamic_shared_bytes, static_cast<int>(bytes));
}

/// If `stream` belongs to a green context, returns the number of multiprocessors that kernels on the stream may use.
/// Otherwise returns zero. Device attributes describe the whole device, so only the driver knows the number. A
/// cooperative launch of more blocks than the context holds fails. If it is captured, it does not fail, and its graph
/// never ends.
inline int green_context_multiprocessors(cudaStream_t stream) {
  static auto* const get_context = driver_function<driver_stream_green_context>("cuStreamGetGreenCtx", 12040);
  static auto* const get_resource = driver_function<driver_green_context_resource>("cuGreenCtxGetDevResource", 12040);
  void* context = nullptr;
  if (get_context == nullptr || get_resource == nullptr || get_context(stream, &context) != cudaSuccess ||
      context == nullptr) {
    return 0;
  }
  driver_resource resource;
  const cudaError_t status = get_resource(context, &resource, driver_multiprocessor_resource);
  return status == cudaSuccess ? static_cast<int>(resource.multiprocessors) : 0;
}

#else

inline cudaError_t set_max_dynamic_shared_memory(const void* kernel, std::size_t bytes) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}

inline int green_context_multiprocessors(cudaStream_t) { return 0; }

#endif

}  // namespace detail
STRATA_NAMESPACE_END

#endif  // !STRATA_NVRTC
