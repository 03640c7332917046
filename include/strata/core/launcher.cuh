// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>

#if !STRATA_NVRTC

#include <strata/core/detail/driver_functions.cuh>
#include <strata/core/platform.cuh>

#include <cstddef>
#include <cstdio>
#include <utility>

STRATA_NAMESPACE_BEGIN

/// How a kernel is started. `name` is what diagnostics call it.
struct launch_configuration {
  const char* name;                      ///< Name of the kernel in diagnostics.
  dim3 grid;                             ///< Size of the grid, in blocks.
  dim3 block;                            ///< Size of a block, in threads.
  std::size_t dynamic_shared_bytes = 0;  ///< Bytes of dynamic shared memory of a block.
  cudaStream_t stream = nullptr;         ///< Stream of the launch.
  /// Blocks per cluster; above 1 needs sm_90.
  unsigned cluster_size = 1;
  /// Lets the kernel start before the previous one in the stream has ended (programmatic dependent launch,
  /// sm_90). The kernel must call platform::wait_for_previous_kernel() before it reads what the previous
  /// one writes, or writes what the previous one reads or writes.
  bool programmatic = false;
  /// All blocks are resident together, so that they may wait for each other. The kernel starts when the
  /// device has resources for all of them. If the device cannot hold them, the launch fails with
  /// cudaErrorCooperativeLaunchTooLarge. A captured launch does not fail, but its graph never ends.
  bool cooperative = false;
};

namespace detail {

inline cudaError_t after_launch(const launch_configuration& configuration, cudaError_t status) {
#if STRATA_DEBUG_LOG
  std::fprintf(stderr, "strata: %s<<<%u x %u x %u, %u x %u x %u, %zu bytes>>>: %s\n", configuration.name,
               configuration.grid.x, configuration.grid.y, configuration.grid.z, configuration.block.x,
               configuration.block.y, configuration.block.z, configuration.dynamic_shared_bytes,
               cudaGetErrorString(status));
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
    std::fprintf(stderr, "strata: kernel %s failed: %s\n", configuration.name, cudaGetErrorString(status));
  }
#endif
  static_cast<void>(configuration);
  return status;
}

#if !STRATA_HOST_SIMT
/// Converts a configuration to what cudaLaunchKernelEx takes.
class launch_attributes {
 public:
  cudaLaunchConfig_t of(const launch_configuration& configuration) {
    cudaLaunchConfig_t launch{};
    launch.gridDim = configuration.grid;
    launch.blockDim = configuration.block;
    launch.dynamicSmemBytes = configuration.dynamic_shared_bytes;
    launch.stream = configuration.stream;
    launch.attrs = attributes_;
    if (configuration.cluster_size > 1) {
      cudaLaunchAttribute& cluster = attributes_[launch.numAttrs++];
      cluster.id = cudaLaunchAttributeClusterDimension;
      cluster.val.clusterDim.x = configuration.cluster_size;
      cluster.val.clusterDim.y = 1;
      cluster.val.clusterDim.z = 1;
    }
    if (configuration.programmatic) {
      cudaLaunchAttribute& programmatic = attributes_[launch.numAttrs++];
      programmatic.id = cudaLaunchAttributeProgrammaticStreamSerialization;
      programmatic.val.programmaticStreamSerializationAllowed = 1;
    }
    if (configuration.cooperative) {
      cudaLaunchAttribute& cooperative = attributes_[launch.numAttrs++];
      cooperative.id = cudaLaunchAttributeCooperative;
      cooperative.val.cooperative = 1;
    }
    return launch;
  }

 private:
  cudaLaunchAttribute attributes_[3];
};
#endif

}  // namespace detail

/// Starts `kernel` with `arguments`, which convert to its parameter types. This is the only function that starts
/// kernels, on the GPU and on the host back end. Returns the error of this launch; an error that an earlier call left
/// is neither returned nor cleared. Dynamic shared memory above 48 KB must have been allowed once by
/// `allow_dynamic_shared_memory`.
template <class... Parameters, class... Arguments>
[[nodiscard]] cudaError_t launch(const launch_configuration& configuration, void (*kernel)(Parameters...),
                                 Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                "strata::launch: pass exactly one argument for each parameter of the kernel");
#if STRATA_HOST_SIMT
  const cudaError_t status = ::strata::simt::launch(
      ::strata::simt::launch_parameters{configuration.name, configuration.grid, configuration.block,
                                        configuration.cluster_size, configuration.dynamic_shared_bytes,
                                        configuration.stream, configuration.cooperative},
      kernel, std::forward<Arguments>(arguments)...);
#else
  detail::launch_attributes attributes;
  const cudaLaunchConfig_t launch = attributes.of(configuration);
  const cudaError_t status = cudaLaunchKernelEx(&launch, kernel, static_cast<Parameters>(arguments)...);
#endif
  return detail::after_launch(configuration, status);
}

/// Raises the kernel's limit of dynamic shared memory on the current device; needed once per kernel
/// and device above 48 KB.
template <class... Parameters>
[[nodiscard]] cudaError_t allow_dynamic_shared_memory(void (*kernel)(Parameters...), std::size_t bytes) {
  return detail::set_max_dynamic_shared_memory(reinterpret_cast<const void*>(kernel), bytes);
}

/// Finds how many clusters of the kernel the current device holds at a time: 0 if the device is a part of a GPU in
/// which no GPU processing cluster has enough multiprocessors.
template <class... Parameters>
[[nodiscard]] cudaError_t resident_clusters(launch_configuration configuration, void (*kernel)(Parameters...),
                                            int& clusters) {
#if STRATA_HOST_SIMT
  static_cast<void>(kernel);
  clusters = configuration.cluster_size <= 16 ? 1 : 0;
  return cudaSuccess;
#else
  configuration.stream = nullptr;  // because the query is about the device
  configuration.programmatic = false;
  detail::launch_attributes attributes;
  const cudaLaunchConfig_t launch = attributes.of(configuration);
  return cudaOccupancyMaxActiveClusters(&clusters, reinterpret_cast<const void*>(kernel), &launch);
#endif
}

STRATA_NAMESPACE_END

#endif  // !STRATA_NVRTC
