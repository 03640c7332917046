// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/barrier.cuh>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/launch.cuh>
#include <strata/device/merge_sort/agent_grid.cuh>
#include <strata/device/merge_sort/tuning.hpp>
#include <strata/device/merge_sort/workspace.cuh>

#include <cstddef>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The two rows of a policy for sorts of one segment in one launch. Grids that sort several segments use the second
/// row, too.
template <class Policy>
struct one_cluster_row {
  static constexpr merge_sort_grid_tuning value = Policy::one_cluster;
};
template <class Policy>
struct resident_grid_row {
  static constexpr merge_sort_grid_tuning value = Policy::resident_grid;
};

/// Sorts one segment. All blocks of the kernel are resident together.
template <class MaxPolicy, template <class> class Row, class Key, class Value, class KeysIn, class ValuesIn,
          class Compare>
__launch_bounds__(Row<typename MaxPolicy::ActivePolicy>::value.block_threads,
                  Row<typename MaxPolicy::ActivePolicy>::value.blocks_per_multiprocessor)
    STRATA_KERNEL void merge_sort_grid_kernel(const STRATA_GRID_CONSTANT KeysIn keys,
                                              const STRATA_GRID_CONSTANT ValuesIn values,
                                              const STRATA_GRID_CONSTANT merge_sort_arrays<Key, Value> output,
                                              const STRATA_GRID_CONSTANT merge_sort_arrays<Key, Value> buffer,
                                              unsigned num_items, unsigned tile_items,
                                              const STRATA_GRID_CONSTANT grid_barrier_arguments barrier,
                                              const STRATA_GRID_CONSTANT Compare compare) {
  using Agent =
      AgentMergeSortGrid<Row<typename MaxPolicy::ActivePolicy>, whole_grid, Key, Value, KeysIn, ValuesIn, Compare>;
  STRATA_DYNAMIC_SHARED(shared);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(shared, whole_grid{}, output, buffer, num_items, tile_items, compare).sort(keys, values, barrier);
}

/// Sorts one segment in one launch of `merge_sort_grid_kernel`.
template <class MaxPolicy, class Policy, template <class> class Row, class Key, class Value, class KeysIn,
          class ValuesIn, class Compare>
struct merge_sort_grid {
  static_assert(detail::are_whole_warps(Policy::one_cluster.block_threads, Policy::resident_grid.block_threads),
                "merge_sort_grid_tuning: block_threads must be a multiple of 32, at most 1024");
  static_assert(detail::are_whole_warps(Policy::whole_array.block_threads, Policy::merge_whole_array.block_threads) &&
                    Policy::whole_array.tile_items() >= MaxPolicy::one_tile.tile_items(),
                "merge sort tuning: block_threads of `whole_array` and `merge_whole_array` must be multiples of 32, "
                "at most 1024, and the tile must not be smaller than that of `one_tile`");
  static_assert(Policy::one_cluster.items_per_thread % 2 != 0 && Policy::resident_grid.items_per_thread % 2 != 0,
                "merge_sort_grid_tuning: items_per_thread must be odd, so that a tile has no gaps");
  static_assert(Policy::one_cluster.tile_items() == MaxPolicy::one_cluster.tile_items(),
                "merge_sort_grid_tuning: `one_cluster` must have the same tile in all policies of a chain");

  static constexpr merge_sort_grid_tuning row = Row<Policy>::value;
  using Arrays = merge_sort_arrays<Key, Value>;
  using Agent = AgentMergeSortGrid<Row<Policy>, whole_grid, Key, Value, KeysIn, ValuesIn, Compare>;
  static constexpr int block_threads = row.block_threads;
  static constexpr std::size_t shared_bytes = sizeof(typename Agent::TempStorage);

  /// Launches the sort. `is_launched` becomes false if the device does not hold a block for each tile at a time.
  static cudaError_t launch(launch_configuration grid, const device_properties& device, std::size_t max_blocks,
                            const KeysIn& keys, const ValuesIn& values, const Arrays& output, const Arrays& buffer,
                            std::size_t items, const grid_barrier_arguments& barrier, const Compare& compare,
                            bool& is_launched) {
    std::size_t resident = 0;
    const cudaError_t status = row.cluster_blocks > 0 ? blocks_of_cluster(grid, device, resident)
                                                      : blocks_of_grid(device, max_blocks, resident);
    if (status != cudaSuccess) return status;
    std::size_t tiles = ceiling_divide(items, static_cast<std::size_t>(row.tile_items()));
    is_launched = tiles <= resident;
    if (!is_launched) return cudaSuccess;
    // The greatest number of smaller tiles that takes no more levels.
    const std::size_t most_tiles = std::size_t{1} << detail::log2_ceiling(tiles);
    if (most_tiles <= resident) tiles = most_tiles;
    const std::size_t tile_items = round_up(ceiling_divide(items, tiles), std::size_t{warp_threads});
    tiles = ceiling_divide(items, tile_items);
    grid.grid = dim3(static_cast<unsigned>(tiles));
    if (row.cluster_blocks > 0) {
      grid.cluster_size = static_cast<unsigned>(tiles);
    } else if (tiles > 1) {
      grid.cooperative = true;
      grid.programmatic = false;
    }
    return strata::launch(grid, kernel, keys, values, output, buffer, static_cast<unsigned>(items),
                          static_cast<unsigned>(tile_items), barrier, compare);
  }

 private:
  static constexpr auto kernel = merge_sort_grid_kernel<MaxPolicy, Row, Key, Value, KeysIn, ValuesIn, Compare>;

  static cudaError_t blocks_of_grid(const device_properties& device, std::size_t max_blocks, std::size_t& blocks) {
    static kernel_property_cache cache;
    const cudaError_t status = detail::resident_blocks(cache, device, kernel, block_threads, shared_bytes, blocks,
                                                       row.blocks_per_multiprocessor);
    if (blocks > max_blocks) blocks = max_blocks;
    return status;
  }

  /// `blocks` becomes 1 if the device cannot hold a cluster, or if the stream may use only a part of the device.
  static cudaError_t blocks_of_cluster(launch_configuration cluster, const device_properties& device,
                                       std::size_t& blocks) {
    static kernel_property_cache cache;
    int unused = 0;
    cudaError_t status = detail::resident_blocks_per_multiprocessor(cache, kernel, block_threads, shared_bytes, unused);
    blocks = 1;
    if (status != cudaSuccess || device.in_green_context || device.ptx_version < 900) return status;
    cluster.grid = dim3(row.cluster_blocks);
    cluster.cluster_size = row.cluster_blocks;
    static kernel_property_cache clusters_cache;
    int clusters = 0;
    status =
        clusters_cache.get(clusters, [&](int& count) { return strata::resident_clusters(cluster, kernel, count); });
    if (clusters > 0) blocks = row.cluster_blocks;
    return status;
  }
};

STRATA_ARCH_DETAIL_NAMESPACE_END
