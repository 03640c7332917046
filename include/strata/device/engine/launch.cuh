// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>

#include <atomic>
#include <cstddef>
#include <limits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// \file
/// Launches of blocks that wait for each other.
///
///     blocks = min(tiles, max_blocks, multiprocessors of the stream x blocks that one holds at a time)
///
/// Forward progress: all blocks are resident from the start of the kernel to its end, so every block may wait for
/// every other. Two things ensure it. The launch is cooperative: the device starts no block before it has capacity for
/// all. And the grid is never larger than that capacity, which counts only the multiprocessors that the stream may use
/// (green contexts, MPS, MIG): a captured launch of too many blocks is not refused, and its graph would never end.

/// True if a graph may replay what is launched on this stream. A replay carries the same arguments, hence the same
/// epoch. So a call that may be replayed erases its tagged words before it ends, unless a replay overwrites them before
/// it reads them (tile_aggregates.cuh).
inline bool is_replayable(cudaStream_t stream) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusActive;
  const bool is_known = cudaStreamIsCapturing(stream, &capture) == cudaSuccess;
  return !is_known || capture != cudaStreamCaptureStatusNone;
}

/// A property of a kernel on each device, or 0 if it has not been queried yet. Each pair of kernel and property has a
/// static object.
struct kernel_property_cache {
  std::atomic<int> values[max_cached_devices];

  /// Gets the property on the current device. `query(value)` finds it the first time.
  template <class Query>
  cudaError_t get(int& value, const Query& query) {
    int device = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status != cudaSuccess) return status;
    std::atomic<int>* const known = detail::is_cached_device(device) ? &values[device] : nullptr;
    value = known != nullptr ? known->load(std::memory_order_relaxed) : 0;
    if (value > 0) return cudaSuccess;
    status = query(value);
    if (status == cudaSuccess && known != nullptr) known->store(value, std::memory_order_relaxed);
    return status;
  }
};

/// Finds how many blocks a multiprocessor holds at a time, at least one. Nothing is cached, so the amount of shared
/// memory may differ from call to call.
template <class... Parameters>
cudaError_t query_resident_blocks(void (*kernel)(Parameters...), int block_threads, std::size_t shared_bytes,
                                  int& blocks) {
  const cudaError_t status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, reinterpret_cast<const void*>(kernel), block_threads, shared_bytes);
  return status == cudaSuccess && blocks < 1 ? cudaErrorLaunchOutOfResources : status;
}

/// Finds how many blocks of a kernel a multiprocessor holds at a time, or takes the number from a cache. So all calls
/// for a kernel must pass the same amount of shared memory. Allows the kernel its dynamic shared memory.
template <class Kernel>
cudaError_t resident_blocks_per_multiprocessor(kernel_property_cache& cache, Kernel kernel, int block_threads,
                                               std::size_t shared_bytes, int& blocks) {
  return cache.get(blocks, [&](int& count) {
    constexpr std::size_t always_allowed = 48u << 10;
    if (shared_bytes > always_allowed) {
      const cudaError_t status = strata::allow_dynamic_shared_memory(kernel, shared_bytes);
      if (status != cudaSuccess) return status;
    }
    return detail::query_resident_blocks(kernel, block_threads, shared_bytes, count);
  });
}

/// Returns how many blocks the multiprocessors of the stream hold at a time, if one multiprocessor can hold
/// `per_multiprocessor`. At most `max_per_multiprocessor` blocks count for each multiprocessor.
inline std::size_t resident_blocks_of(const device_properties& device, int per_multiprocessor,
                                      int max_per_multiprocessor) {
  const int blocks = detail::least(per_multiprocessor, max_per_multiprocessor);
  return static_cast<std::size_t>(blocks) * static_cast<std::size_t>(device.multiprocessors);
}

/// Finds how many blocks of a kernel all multiprocessors of the stream hold at a time. All calls for a kernel must pass
/// the same amount of shared memory. Allows the kernel its dynamic shared memory.
template <class Kernel>
cudaError_t resident_blocks(kernel_property_cache& cache, const device_properties& device, Kernel kernel,
                            int block_threads, std::size_t shared_bytes, std::size_t& blocks,
                            int max_blocks_per_multiprocessor = std::numeric_limits<int>::max()) {
  int per_multiprocessor = 0;
  const cudaError_t status =
      detail::resident_blocks_per_multiprocessor(cache, kernel, block_threads, shared_bytes, per_multiprocessor);
  blocks = detail::resident_blocks_of(device, per_multiprocessor, max_blocks_per_multiprocessor);
  return status;
}

/// Launches a kernel whose blocks wait for each other and divide `tiles` tiles (at least one) among them. The grid of
/// `configuration` is ignored.
template <class... Parameters, class... Arguments>
cudaError_t launch_resident(launch_configuration configuration, kernel_property_cache& cache,
                            const device_properties& device, std::size_t tiles, std::size_t max_blocks,
                            void (*kernel)(Parameters...), const Arguments&... arguments) {
  std::size_t resident = 0;
  const cudaError_t status = detail::resident_blocks(cache, device, kernel, static_cast<int>(configuration.block.x),
                                                     configuration.dynamic_shared_bytes, resident);
  if (status != cudaSuccess) return status;
  std::size_t blocks = detail::least(tiles, max_blocks);
  if (blocks > resident) blocks = resident;
  configuration.grid = dim3(static_cast<unsigned>(blocks));
  configuration.cooperative = blocks > 1;
  return strata::launch(configuration, kernel, arguments...);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
