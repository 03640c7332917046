// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

#include <cstddef>
#include <cstdio>
#include <utility>

STRATA_NAMESPACE_BEGIN

/// How a kernel is started. `name` is what diagnostics call it.
struct launch_configuration {
  const char* name;
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared_bytes = 0;
  cudaStream_t stream = nullptr;
  /// Blocks per cluster; above 1 needs sm_90.
  unsigned cluster_size = 1;
  /// Lets the kernel start before the previous one in the stream has ended (programmatic dependent
  /// launch, sm_90): it must call platform::wait_for_previous_kernel() before it reads or writes
  /// what that one writes or reads.
  bool programmatic = false;
  /// All blocks are resident together, so that they may wait for each other; if the device cannot
  /// hold them, the launch fails with cudaErrorCooperativeLaunchTooLarge.
  bool cooperative = false;
};

namespace detail {

inline cudaError_t after_launch(const launch_configuration& configuration, cudaError_t status) {
#if STRATA_DEBUG_LOG
  std::fprintf(stderr, "strata: %s<<<%u x %u x %u, %u x %u x %u, %zu bytes>>>: %s\n",
               configuration.name, configuration.grid.x, configuration.grid.y, configuration.grid.z,
               configuration.block.x, configuration.block.y, configuration.block.z,
               configuration.dynamic_shared_bytes, cudaGetErrorString(status));
#endif
#if STRATA_DEBUG_SYNC
  if (status == cudaSuccess) {
    // A stream that is being captured cannot be waited for.
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(configuration.stream, &capture) == cudaSuccess &&
        capture == cudaStreamCaptureStatusNone) {
      status = cudaStreamSynchronize(configuration.stream);
    }
  }
  if (status != cudaSuccess) {
    std::fprintf(stderr, "strata: kernel %s failed: %s\n", configuration.name,
                 cudaGetErrorString(status));
  }
#endif
  static_cast<void>(configuration);
  return status;
}

}  // namespace detail

/// Starts `kernel` with `arguments`, which convert to its parameter types. The one place where
/// kernels are started, on the GPU and on the host back end. Returns the launch's own error; an
/// error that an earlier call left behind is neither returned nor cleared. Dynamic shared memory
/// above 48 KB must have been allowed once by `allow_dynamic_shared_memory`.
template <class... Parameters, class... Arguments>
[[nodiscard]] cudaError_t launch(const launch_configuration& configuration,
                                 void (*kernel)(Parameters...), Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                "strata::launch: pass exactly one argument for each parameter of the kernel");
#if STRATA_HOST_SIMT
  const cudaError_t status = ::strata::simt::launch(
      ::strata::simt::launch_parameters{configuration.name, configuration.grid, configuration.block,
                                        configuration.cluster_size,
                                        configuration.dynamic_shared_bytes, configuration.stream,
                                        configuration.cooperative},
      kernel, std::forward<Arguments>(arguments)...);
#else
  cudaLaunchAttribute attributes[3];
  unsigned count = 0;
  if (configuration.cluster_size > 1) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count].val.clusterDim.x = configuration.cluster_size;
    attributes[count].val.clusterDim.y = 1;
    attributes[count].val.clusterDim.z = 1;
    ++count;
  }
  if (configuration.programmatic) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count].val.programmaticStreamSerializationAllowed = 1;
    ++count;
  }
  if (configuration.cooperative) {
    attributes[count].id = cudaLaunchAttributeCooperative;
    attributes[count].val.cooperative = 1;
    ++count;
  }
  cudaLaunchConfig_t launch{};
  launch.gridDim = configuration.grid;
  launch.blockDim = configuration.block;
  launch.dynamicSmemBytes = configuration.dynamic_shared_bytes;
  launch.stream = configuration.stream;
  launch.attrs = attributes;
  launch.numAttrs = count;
  const cudaError_t status =
      cudaLaunchKernelEx(&launch, kernel, static_cast<Parameters>(arguments)...);
#endif
  return detail::after_launch(configuration, status);
}

/// Raises the kernel's limit of dynamic shared memory on the current device; needed once per kernel
/// and device above 48 KB.
template <class... Parameters>
[[nodiscard]] cudaError_t allow_dynamic_shared_memory(void (*kernel)(Parameters...),
                                                      std::size_t bytes) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(bytes));
}

STRATA_NAMESPACE_END
