// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/launch.cuh>
#include <strata/device/radix_sort/agent_block.cuh>
#include <strata/device/radix_sort/agent_cluster.cuh>
#include <strata/device/radix_sort/agent_grid.cuh>
#include <strata/device/radix_sort/problem.cuh>
#include <strata/device/radix_sort/tuning.hpp>

#include <cstddef>
#include <type_traits>

/// \file
/// The kernels and launches of sorts in one launch: by one block, by one cluster, by a grid of resident blocks.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The two block tunings of a policy, of which a kernel takes one.
template <class Policy>
struct small_radix_block {
  static constexpr radix_block_tuning value = Policy::small_block;
};
template <class Policy>
struct large_radix_block {
  static constexpr radix_block_tuning value = Policy::large_block;
};

/// Sorts in one block.
template <class MaxPolicy, template <class> class BlockTuning, class KeyIterator, class ValueIterator, class Value,
          class Digits, class Count>
__launch_bounds__(BlockTuning<typename MaxPolicy::ActivePolicy>::value.block_threads, 1)
    STRATA_KERNEL void radix_block_kernel(KeyIterator keys_in, iterator_value_t<KeyIterator>* keys_out,
                                          ValueIterator values_in, Value* values_out, Count count,
                                          radix_bit_range range, Digits digits) {
  using Agent = AgentRadixBlock<BlockTuning<typename MaxPolicy::ActivePolicy>, KeyIterator, ValueIterator, Digits>;
  STRATA_DYNAMIC_SHARED(shared);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared, detail::number_of_items<int>(count), range, digits).sort(keys_in, keys_out, values_in, values_out);
}

/// Sorts in one cluster.
template <class MaxPolicy, class KeyIterator, class ValueIterator, class Value, class Digits, class Count>
__launch_bounds__(MaxPolicy::ActivePolicy::cluster.block_threads, 1)
    STRATA_KERNEL void radix_cluster_kernel(KeyIterator keys_in, iterator_value_t<KeyIterator>* keys_out,
                                            ValueIterator values_in, Value* values_out, Count count, int tile_bits,
                                            radix_bit_range range, Digits digits) {
  if constexpr (MaxPolicy::ActivePolicy::cluster.blocks > 0) {
    using Agent = AgentRadixCluster<typename MaxPolicy::ActivePolicy, KeyIterator, ValueIterator, Digits>;
    STRATA_DYNAMIC_SHARED(shared);
    platform::wait_for_previous_kernel();
    platform::launch_next_kernel();
    Agent(shared, detail::number_of_items<int>(count), tile_bits, range, digits)
        .sort(keys_in, keys_out, values_in, values_out);
  }
}

/// Sorts by all blocks of a grid. All blocks are resident.
template <class MaxPolicy, class KeyIterator, class ValueIterator, class Value, class Digits>
__launch_bounds__(MaxPolicy::ActivePolicy::grid.block_threads, MaxPolicy::ActivePolicy::grid.blocks_per_multiprocessor)
    STRATA_KERNEL void radix_grid_kernel(
        const STRATA_GRID_CONSTANT radix_buffers<KeyIterator, iterator_value_t<KeyIterator>> keys,
        const STRATA_GRID_CONSTANT radix_buffers<ValueIterator, Value> values, unsigned num_items, int thread_items,
        radix_bit_range range, Digits digits, radix_grid_workspace workspace) {
  using Agent = AgentRadixGrid<typename MaxPolicy::ActivePolicy, KeyIterator, ValueIterator, Digits>;
  STRATA_DYNAMIC_SHARED(shared);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared, keys, values, num_items, thread_items, range, digits, workspace).run();
}

/// Copies keys and values. It is launched if there are no bits to sort by. In place, with an odd number of passes, it
/// copies the items to scratch before the first pass.
template <class KeyIterator, class ValueIterator, class Value, class Count>
STRATA_KERNEL void radix_copy_kernel(KeyIterator keys_in, iterator_value_t<KeyIterator>* keys_out,
                                     ValueIterator values_in, Value* values_out, Count count) {
  const auto num_items = detail::number_of_items<std::size_t>(count);
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < num_items; i += step) {
    keys_out[i] = *detail::advanced(keys_in, i);
    if constexpr (!std::is_same_v<ValueIterator, NullType>) values_out[i] = *detail::advanced(values_in, i);
  }
}

template <class Problem>
cudaError_t launch_radix_copy(const Problem& problem, typename Problem::Key* keys_to,
                              typename Problem::Value* values_to, std::size_t max_blocks) {
  constexpr int threads = 256;
  const std::size_t blocks = detail::ceiling_divide<std::size_t>(problem.num_items, threads);
  return strata::launch(
      problem.configuration("strata::DeviceRadixSort, copy", detail::least(blocks, max_blocks), threads),
      radix_copy_kernel<typename Problem::KeyIterator, typename Problem::ValueIterator, typename Problem::Value,
                        typename Problem::Count>,
      problem.keys.input, keys_to, problem.values.input, values_to, problem.count);
}

/// True if a block may have this much dynamic shared memory.
inline bool fits_in_block(std::size_t shared_bytes, const device_properties& device) {
  return shared_bytes <= static_cast<std::size_t>(device.shared_bytes_of_block);
}

/// `is_launched` is false if the keys and values are too large for the shared memory of a block.
template <class MaxPolicy, class ActivePolicy, template <class> class Block, class Problem>
cudaError_t launch_radix_block(const Problem& problem, bool& is_launched) {
  using KeyIterator = typename Problem::KeyIterator;
  using ValueIterator = typename Problem::ValueIterator;
  using Digits = typename Problem::Digits;
  using Agent = AgentRadixBlock<Block<ActivePolicy>, KeyIterator, ValueIterator, Digits>;
  const auto kernel = radix_block_kernel<MaxPolicy, Block, KeyIterator, ValueIterator, typename Problem::Value, Digits,
                                         typename Problem::SmallCount>;
  constexpr int threads = Block<ActivePolicy>::value.block_threads;
  is_launched = detail::fits_in_block(Agent::shared_bytes, problem.device);
  if (!is_launched) return cudaSuccess;
  static kernel_property_cache cache;
  int unused;
  const cudaError_t status =
      detail::resident_blocks_per_multiprocessor(cache, kernel, threads, Agent::shared_bytes, unused);
  if (status != cudaSuccess) return status;
  return strata::launch(
      problem.programmatic(problem.configuration("strata::DeviceRadixSort", 1, threads, Agent::shared_bytes)), kernel,
      problem.keys.input, problem.keys.output, problem.values.input, problem.values.output,
      static_cast<typename Problem::SmallCount>(problem.count), problem.range, problem.digits);
}

/// `is_launched` is false if the device cannot hold a cluster, for example because it is a part of a GPU, or if the
/// keys and values are too large for the shared memory of a block.
template <class MaxPolicy, class ActivePolicy, class Problem>
cudaError_t launch_radix_cluster(const Problem& problem, bool& is_launched) {
  using KeyIterator = typename Problem::KeyIterator;
  using ValueIterator = typename Problem::ValueIterator;
  using Digits = typename Problem::Digits;
  using Agent = AgentRadixCluster<ActivePolicy, KeyIterator, ValueIterator, Digits>;
  constexpr radix_cluster_tuning tuning = ActivePolicy::cluster;
  constexpr auto blocks = static_cast<std::size_t>(tuning.blocks);
  const auto kernel = radix_cluster_kernel<MaxPolicy, KeyIterator, ValueIterator, typename Problem::Value, Digits,
                                           typename Problem::SmallCount>;
  is_launched = detail::fits_in_block(Agent::shared_bytes, problem.device);
  if (!is_launched) return cudaSuccess;
  static kernel_property_cache cache;
  int unused;
  cudaError_t status =
      detail::resident_blocks_per_multiprocessor(cache, kernel, tuning.block_threads, Agent::shared_bytes, unused);
  if (status != cudaSuccess) return status;
  launch_configuration configuration =
      problem.configuration("strata::DeviceRadixSort", blocks, tuning.block_threads, Agent::shared_bytes);
  configuration.cluster_size = tuning.blocks;
  static kernel_property_cache clusters_cache;
  int clusters = 0;
  status =
      clusters_cache.get(clusters, [&](int& count) { return strata::resident_clusters(configuration, kernel, count); });
  is_launched = clusters > 0;
  if (status != cudaSuccess || !is_launched) return status;
  configuration.programmatic = problem.device.ptx_version >= 900;
  const int min_bits = log2_ceiling(tuning.block_threads);
  const int tile_bits = detail::log2_ceiling(detail::ceiling_divide(problem.num_items, blocks));
  return strata::launch(configuration, kernel, problem.keys.input, problem.keys.output, problem.values.input,
                        problem.values.output, static_cast<typename Problem::SmallCount>(problem.count),
                        detail::most(tile_bits, min_bits), problem.range, problem.digits);
}

/// `is_launched` is false if the items need more than `max_blocks` blocks, or more blocks than the device holds at a
/// time, or if the keys and values are too large for the shared memory of a block.
template <class MaxPolicy, class ActivePolicy, class Problem>
cudaError_t launch_radix_grid(const Problem& problem, const radix_grid_workspace& workspace, std::size_t max_blocks,
                              bool& is_launched) {
  using KeyIterator = typename Problem::KeyIterator;
  using ValueIterator = typename Problem::ValueIterator;
  using Digits = typename Problem::Digits;
  using Agent = AgentRadixGrid<ActivePolicy, KeyIterator, ValueIterator, Digits>;
  constexpr radix_grid_tuning tuning = ActivePolicy::grid;
  constexpr auto threads = static_cast<std::size_t>(tuning.block_threads);
  constexpr auto min_thread_items = static_cast<std::size_t>(tuning.least_items_per_thread);
  constexpr auto max_thread_items = static_cast<std::size_t>(tuning.items_per_thread);
  const auto kernel = radix_grid_kernel<MaxPolicy, KeyIterator, ValueIterator, typename Problem::Value, Digits>;
  is_launched = false;
  if (!detail::fits_in_block(Agent::shared_bytes, problem.device)) return cudaSuccess;
  static kernel_property_cache cache;
  std::size_t resident = 0;
  const cudaError_t status =
      detail::resident_blocks(cache, problem.device, kernel, tuning.block_threads, Agent::shared_bytes, resident);
  if (status != cudaSuccess) return status;
  const auto multiprocessors = static_cast<std::size_t>(problem.device.multiprocessors);
  std::size_t thread_items = detail::ceiling_divide(problem.num_items, threads * multiprocessors);
  thread_items = thread_items < min_thread_items ? min_thread_items : detail::least(thread_items, max_thread_items);
  const std::size_t blocks = detail::ceiling_divide(problem.num_items, threads * thread_items);
  is_launched = blocks <= resident && blocks <= max_blocks;
  if (!is_launched) return cudaSuccess;
  launch_configuration configuration =
      problem.configuration("strata::DeviceRadixSort", blocks, tuning.block_threads, Agent::shared_bytes);
  configuration.cooperative = blocks > 1;
  return strata::launch(configuration, kernel, problem.keys, problem.values, static_cast<unsigned>(problem.num_items),
                        static_cast<int>(thread_items), problem.range, problem.digits, workspace);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
