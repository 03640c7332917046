// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/requirements.hpp>
#include <strata/core/temporary_storage.hpp>
#include <strata/core/types.hpp>
#include <strata/device/adjacent_difference/problem_difference.cuh>
#include <strata/device/arguments/arrays.hpp>
#include <strata/device/arguments/counts.cuh>
#include <strata/device/transform/dispatch.cuh>
#include <strata/device/transform/tile.cuh>
#include <strata/device/transform/tuning.hpp>

#include <cstddef>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Saves the neighbour behind the edge of each tile, before any tile is overwritten.
template <class MaxPolicy, class Problem, class Input>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.block_threads) STRATA_KERNEL
    void save_neighbours_kernel(Input in, typename Problem::T* saved, tile_range range) {
  using Tile = typename Problem::template tile<typename MaxPolicy::ActivePolicy>;
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long number = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; number < range.tiles;
       number += step) {
    const auto tile = range.template tile<Tile>(number);
    const long long index = Problem::behind_edge(tile);
    if (tile.has(index)) saved[number] = detail::item_at(in, static_cast<std::size_t>(index));
  }
}

/// One call of DeviceAdjacentDifference.
template <bool IsLeft, bool IsInPlace, class PolicyHub = tile_policy_hub, class Input, class Output, class NumItemsT,
          class Op>
cudaError_t dispatch_difference(void* d_temp_storage, std::size_t& temp_storage_bytes, Input in, Output out,
                                NumItemsT num_items, Op op, cudaStream_t stream) {
  output_requirements<Output>::check();
  using MaxPolicy = typename PolicyHub::MaxPolicy;
  using Problem = difference_problem<IsLeft, IsInPlace, Input, Output, Op>;
  using T = typename Problem::T;
  if (!is_count(num_items) || !detail::can_reach(in, num_items) || !detail::can_reach(out, num_items)) {
    return cudaErrorInvalidValue;
  }
  temporary_storage::layout<1> storage;
  // The first tile may begin before the array.
  if (IsInPlace) {
    constexpr auto tile_items = static_cast<std::size_t>(Problem::template tile<MaxPolicy>::items);
    storage.template reserve<T>(0, static_cast<std::size_t>(num_items) / tile_items + 2);
  }
  if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
  if (!storage.map(d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
  if (num_items == 0) return cudaSuccess;
  if (detail::is_null(in) || detail::is_null(out) ||
      (!IsInPlace && detail::arrays_overlap(out, num_items, in, num_items))) {
    return cudaErrorInvalidValue;
  }
  return detail::invoke_with_policy<PolicyHub>(stream, [&](auto policy, const device_properties& device) {
    using Tile = typename Problem::template tile<decltype(policy)>;
    static_assert(Tile::items >= Problem::template tile<MaxPolicy>::items,
                  "the newest policy must have the smallest tiles: it says how many neighbours are saved");
    const Problem problem{out, op, storage.template get<T>(0)};
    const auto range =
        tile_range::cut<Tile>(static_cast<long long>(num_items), items_behind_boundary<Tile::width>(out));
    launch_configuration launch{"strata::DeviceAdjacentDifference", 0, dim3(policy.tuning.block_threads), 0,
                                stream, 1, device.ptx_version >= 900};
    if (IsInPlace && range.tiles > 1) {
      launch.grid = number_of_blocks(ceiling_divide<long long>(range.tiles, policy.tuning.block_threads));
      const cudaError_t status =
          strata::launch(launch, save_neighbours_kernel<MaxPolicy, Problem, Input>, in, problem.saved, range);
      if (status != cudaSuccess) return status;
    }
    launch.grid = number_of_blocks(range.tiles);
    return strata::launch(launch, tiles_kernel<MaxPolicy, Problem, Input>, problem, range, in);
  });
}

STRATA_ARCH_DETAIL_NAMESPACE_END
