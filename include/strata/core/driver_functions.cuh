// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What the CUDA runtime cannot do or does with a side effect, done by functions of the driver. They
/// are found at run time: a program needs to link the runtime only.

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

#include <cstddef>

#if !STRATA_HOST_SIMT
#include <cuda.h>
#endif

STRATA_NAMESPACE_BEGIN
namespace detail {

#if !STRATA_HOST_SIMT

/// The function `name` of the driver, as version `cuda_version` of CUDA declares it; null if the driver
/// does not have it.
template <class Function>
Function* driver_function(const char* name, unsigned cuda_version) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &address, cuda_version, cudaEnableDefault, &found);
#else
  static_cast<void>(cuda_version);
  const cudaError_t status = cudaGetDriverEntryPoint(name, &address, cudaEnableDefault, &found);
#endif
  const bool is_found = status == cudaSuccess && found == cudaDriverEntryPointSuccess;
  return is_found ? reinterpret_cast<Function*>(address) : nullptr;
}

/// Sets cudaFuncAttributeMaxDynamicSharedMemorySize. Unlike cudaFuncSetAttribute, which takes an error
/// that an earlier call has left behind away, this leaves it there.
inline cudaError_t set_max_dynamic_shared_memory(const void* kernel, std::size_t bytes) {
  static auto* const set_attribute =
      driver_function<decltype(cuFuncSetAttribute)>("cuFuncSetAttribute", 9000);
  if (set_attribute == nullptr) return cudaErrorNotSupported;
  cudaFunction_t function = nullptr;
  const cudaError_t status = cudaGetFuncBySymbol(&function, kernel);
  if (status != cudaSuccess) return status;
  return static_cast<cudaError_t>(set_attribute(reinterpret_cast<CUfunction>(function),
                                                CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                static_cast<int>(bytes)));
}

/// The multiprocessors that kernels on `stream` may use if the stream belongs to a green context, else
/// 0. The driver alone knows: device attributes are those of the whole device. A cooperative launch of
/// more blocks than the context holds fails; one that is captured does not, and never ends.
inline int green_context_multiprocessors([[maybe_unused]] cudaStream_t stream) {
#if CUDART_VERSION >= 12040
  static auto* const get_context =
      driver_function<decltype(cuStreamGetGreenCtx)>("cuStreamGetGreenCtx", 12040);
  static auto* const get_resource =
      driver_function<decltype(cuGreenCtxGetDevResource)>("cuGreenCtxGetDevResource", 12040);
  CUgreenCtx context = nullptr;
  if (get_context == nullptr || get_resource == nullptr ||
      get_context(stream, &context) != CUDA_SUCCESS || context == nullptr) {
    return 0;
  }
  CUdevResource resource;
  const CUresult status = get_resource(context, &resource, CU_DEV_RESOURCE_TYPE_SM);
  return status == CUDA_SUCCESS ? static_cast<int>(resource.sm.smCount) : 0;
#else
  return 0;
#endif
}

#else

inline cudaError_t set_max_dynamic_shared_memory(const void* kernel, std::size_t bytes) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(bytes));
}

inline int green_context_multiprocessors(cudaStream_t) { return 0; }

#endif

}  // namespace detail
STRATA_NAMESPACE_END
