// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>

#include <atomic>
#include <cstddef>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// What the runtime has said of one kernel and size of shared memory, for each device; 0: not yet queried.
/// One static object for each query.
struct kernel_property_cache {
  static constexpr int devices = 64;
  std::atomic<int> values[devices];

  /// `value` for the current device: by `query(value)` if it is not known.
  template <class Query>
  cudaError_t get(int& value, const Query& query) {
    int device = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status != cudaSuccess) return status;
    std::atomic<int>* const known = device < devices ? &values[device] : nullptr;
    value = known != nullptr ? known->load(std::memory_order_relaxed) : 0;
    if (value > 0) return cudaSuccess;
    status = query(value);
    if (status == cudaSuccess && known != nullptr) known->store(value, std::memory_order_relaxed);
    return status;
  }
};

/// How many blocks a multiprocessor holds at a time. Lets the kernel have its shared memory.
template <class Kernel>
cudaError_t resident_blocks_per_multiprocessor(kernel_property_cache& cache, Kernel kernel,
                                               int block_threads, std::size_t shared_bytes,
                                               int& blocks) {
  return cache.get(blocks, [&](int& count) {
    constexpr std::size_t always_allowed = 48u << 10;
    if (shared_bytes > always_allowed) {
      const cudaError_t status = strata::allow_dynamic_shared_memory(kernel, shared_bytes);
      if (status != cudaSuccess) return status;
    }
    const cudaError_t status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &count, reinterpret_cast<const void*>(kernel), block_threads, shared_bytes);
    return status == cudaSuccess && count < 1 ? cudaErrorLaunchOutOfResources : status;
  });
}

/// Starts a kernel whose blocks wait for each other, by a cooperative launch, and go through any number
/// of tiles: a block for each of `tiles` (at least one), up to `max_blocks` and to what `device`, which
/// says what the stream may use of it, holds at a time. The grid of `configuration` is ignored.
template <class... Parameters, class... Arguments>
cudaError_t launch_resident(launch_configuration configuration, kernel_property_cache& cache,
                            const device_properties& device, std::size_t tiles,
                            std::size_t max_blocks, void (*kernel)(Parameters...),
                            const Arguments&... arguments) {
  int per_multiprocessor = 0;
  const cudaError_t status = detail::resident_blocks_per_multiprocessor(
      cache, kernel, static_cast<int>(configuration.block.x), configuration.dynamic_shared_bytes,
      per_multiprocessor);
  if (status != cudaSuccess) return status;
  const std::size_t resident = static_cast<std::size_t>(per_multiprocessor) *
                               static_cast<std::size_t>(device.multiprocessors);
  std::size_t blocks = tiles < max_blocks ? tiles : max_blocks;
  if (blocks > resident) blocks = resident;
  configuration.grid = dim3(static_cast<unsigned>(blocks));
  configuration.cooperative = blocks > 1;
  return strata::launch(configuration, kernel, arguments...);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
