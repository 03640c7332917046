// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/policy_hub.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/transform/agent_batched_copy.cuh>
#include <strata/device/transform/batched_copy_tuning.hpp>
#include <strata/device/transform/buffers.cuh>

#include <cstddef>
#include <cstdint>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Copies buffers, `buffers_per_warp` (up to 32) for a warp at a time, and queues the bodies of long ones. With
/// `IsQueue`, it copies what has been queued.
template <class MaxPolicy, class Buffers, bool IsQueue>
__launch_bounds__(MaxPolicy::ActivePolicy::batched_copy.block_threads,
                  IsQueue ? detail::blocks_of_queue<Buffers>(MaxPolicy::ActivePolicy::batched_copy)
                          : MaxPolicy::ActivePolicy::batched_copy.blocks_per_multiprocessor)
    STRATA_KERNEL void batched_copy_kernel(Buffers buffers, std::size_t num_buffers, unsigned buffers_per_warp,
                                           buffer_queue queue) {
  using Agent = AgentBatchedCopy<typename MaxPolicy::ActivePolicy, Buffers>;
  constexpr unsigned block_warps = MaxPolicy::ActivePolicy::batched_copy.block_threads / warp_threads;
  STRATA_SHARED(storage, typename Agent::TempStorage[block_warps]);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent agent(storage[threadIdx.x / warp_threads], buffers);
  const std::size_t warp = std::size_t{blockIdx.x} * block_warps + threadIdx.x / warp_threads;
  const std::size_t warps = std::size_t{gridDim.x} * block_warps;
  if constexpr (IsQueue) {
    agent.copy_share(static_cast<unsigned>(warp), static_cast<unsigned>(warps), queue);
  } else {
    for (std::size_t first = warp * buffers_per_warp; first < num_buffers; first += warps * buffers_per_warp) {
      const std::size_t rest = num_buffers - first;
      agent.copy_batch(first, rest < buffers_per_warp ? static_cast<unsigned>(rest) : buffers_per_warp, queue);
    }
  }
}

template <class Policy>
using batched_copy_rows = if_rows<batched_copy_tuning, decltype(Policy::batched_copy)>;

/// One call of a batched copy.
template <class Buffers, class PolicyHub = default_policy_hub>
struct DispatchBatchedCopy {
  static_assert(hub_has_rows<batched_copy_rows, PolicyHub>,
                "DeviceCopy, DeviceMemcpy: each policy in the chain of PolicyHub::MaxPolicy must name itself in its "
                "ChainedPolicy and have the member batched_copy (batched_copy_tuning)");
  using MaxPolicy = typename hub_or<batched_copy_rows, PolicyHub, batched_copy_policy_hub>::MaxPolicy;

  Buffers buffers;
  std::size_t num_buffers;
  buffer_queue queue;
  cudaStream_t stream;
  device_properties device;

  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, const Buffers& buffers,
                              std::int64_t num_buffers, cudaStream_t stream) {
    if (detail::refuses_count(num_buffers, "the number of buffers or ranges") ||
        detail::refuses_reach(buffers.inputs, num_buffers, "inputs") ||
        detail::refuses_reach(buffers.outputs, num_buffers, "outputs") ||
        detail::refuses_reach(buffers.sizes, num_buffers, "sizes")) {
      return cudaErrorInvalidValue;
    }
    const auto count = static_cast<std::size_t>(num_buffers);
    temporary_storage::layout<3> storage;
    storage.template reserve<unsigned long long>(0, 1);
    storage.template reserve<unsigned>(1, count);
    storage.template reserve<std::size_t>(2, count);
    if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
    if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    if (num_buffers == 0) return cudaSuccess;
    if (detail::refuses_null(buffers.inputs, "inputs") || detail::refuses_null(buffers.outputs, "outputs") ||
        detail::refuses_null(buffers.sizes, "sizes")) {
      return cudaErrorInvalidValue;
    }

    DispatchBatchedCopy dispatch{buffers,
                                 count,
                                 {storage.template get<unsigned long long>(0), storage.template get<unsigned>(1),
                                  storage.template get<std::size_t>(2)},
                                 stream,
                                 {}};
    const cudaError_t status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    constexpr batched_copy_tuning tuning = ActivePolicy::batched_copy;
    static_assert(are_whole_warps(tuning.block_threads),
                  "batched_copy_tuning::block_threads must be a multiple of 32, at most 1024");
    constexpr std::size_t block_warps = tuning.block_threads / warp_threads;
    const auto multiprocessors = static_cast<std::size_t>(device.multiprocessors);
    // Small batches balance better, large ones cost less for each buffer.
    const std::size_t batches =
        multiprocessors * tuning.blocks_per_multiprocessor * block_warps * tuning.batches_per_warp;
    unsigned buffers_per_warp = warp_threads;
    while (buffers_per_warp > 1 && num_buffers / buffers_per_warp < batches) buffers_per_warp /= 2;
    const std::size_t blocks = ceiling_divide(num_buffers, block_warps * buffers_per_warp);
    constexpr std::size_t most_blocks = 0x7fffffff;

    const cudaError_t status = cudaMemsetAsync(queue.counter, 0, sizeof(*queue.counter), stream);
    if (status != cudaSuccess) return status;
    const auto launch = [&](auto kernel, const char* name, std::size_t grid) {
      return strata::launch({name, dim3(static_cast<unsigned>(grid)), dim3(tuning.block_threads), 0, stream, 1,
                             device.ptx_version >= 900},
                            kernel, buffers, num_buffers, buffers_per_warp, queue);
    };
    const cudaError_t launched = launch(batched_copy_kernel<MaxPolicy, Buffers, false>, "strata::DeviceMemcpy",
                                        blocks < most_blocks ? blocks : most_blocks);
    if (launched != cudaSuccess) return launched;
    return launch(batched_copy_kernel<MaxPolicy, Buffers, true>, "strata::DeviceMemcpy, queued buffers",
                  multiprocessors * detail::blocks_of_queue<Buffers>(tuning));
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
