// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>

#include <atomic>
#include <cstddef>
#include <utility>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Blocks of one kernel that a multiprocessor holds, for each device; 0: not yet asked. One static
/// object for each kernel and size of shared memory.
struct resident_blocks_cache {
  static constexpr int devices = 64;
  std::atomic<int> blocks[devices];
};

template <class Kernel>
cudaError_t resident_blocks_per_multiprocessor(resident_blocks_cache& cache, Kernel kernel,
                                               int block_threads, std::size_t shared_bytes,
                                               int& blocks) {
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status != cudaSuccess) return status;
  std::atomic<int>* const known =
      device < resident_blocks_cache::devices ? &cache.blocks[device] : nullptr;
  blocks = known != nullptr ? known->load(std::memory_order_relaxed) : 0;
  if (blocks > 0) return cudaSuccess;
  constexpr std::size_t always_allowed = 48u << 10;
  if (shared_bytes > always_allowed) {
    status = allow_dynamic_shared_memory(kernel, shared_bytes);
    if (status != cudaSuccess) return status;
  }
  status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, reinterpret_cast<const void*>(kernel), block_threads, shared_bytes);
  if (status == cudaSuccess && blocks < 1) return cudaErrorLaunchOutOfResources;
  if (status == cudaSuccess && known != nullptr) {
    known->store(blocks, std::memory_order_relaxed);
  }
  return status;
}

/// Starts a kernel whose blocks wait for each other and go through any number of tiles, with `blocks`
/// blocks or, where a part of the device is all that the context may use, as many as it holds. The
/// grid of `configuration` is ignored.
template <class... Parameters, class... Arguments>
cudaError_t launch_resident_blocks(launch_configuration configuration, std::size_t blocks,
                                   void (*kernel)(Parameters...), const Arguments&... arguments) {
  for (;;) {
    configuration.grid = dim3(static_cast<unsigned>(blocks));
    configuration.cooperative = blocks > 1;
    const cudaError_t launched = launch(configuration, kernel, arguments...);
    if (launched != cudaErrorCooperativeLaunchTooLarge || blocks == 1) return launched;
    static_cast<void>(cudaGetLastError());
    blocks /= 2;
  }
}

/// The same with a block for each of `tiles` (at least one), up to `max_blocks` and to what the device
/// holds at a time.
template <class... Parameters, class... Arguments>
cudaError_t launch_resident(const launch_configuration& configuration, resident_blocks_cache& cache,
                            const device_properties& device, std::size_t tiles,
                            std::size_t max_blocks, void (*kernel)(Parameters...),
                            const Arguments&... arguments) {
  int per_multiprocessor = 0;
  const cudaError_t status =
      resident_blocks_per_multiprocessor(cache, kernel, static_cast<int>(configuration.block.x),
                                         configuration.dynamic_shared_bytes, per_multiprocessor);
  if (status != cudaSuccess) return status;
  const std::size_t resident = static_cast<std::size_t>(per_multiprocessor) *
                               static_cast<std::size_t>(device.multiprocessors);
  const std::size_t blocks = tiles < max_blocks ? tiles : max_blocks;
  return launch_resident_blocks(configuration, blocks < resident ? blocks : resident, kernel,
                                arguments...);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
