// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/requirements.hpp>
#include <strata/core/detail/temporary_storage.hpp>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/policy_hub.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/transform/dispatch.cuh>
#include <strata/device/transform/problem_difference.cuh>

#include <cstddef>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Saves the neighbour of each tile in another one, before any tile is overwritten.
template <class MaxPolicy, bool IsLeft, class Input, class T>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.block_threads)
    STRATA_KERNEL void save_neighbours_kernel(Input in, T* saved, const STRATA_GRID_CONSTANT tile_range range) {
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  long long tile = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; tile < range.tiles; tile += threads) {
    const long long index = IsLeft ? range.first_of(tile) - 1 : range.first_of(tile + 1);
    if (index >= 0 && index < range.num_items) saved[tile] = detail::item_at(in, static_cast<std::size_t>(index));
  }
}

/// One call of DeviceAdjacentDifference.
template <bool IsLeft, bool IsInPlace, class PolicyHub, class Input, class Output, class NumItemsT, class Op>
cudaError_t dispatch_difference(void* d_temp_storage, std::size_t& temp_storage_bytes, Input in, Output out,
                                NumItemsT num_items, Op op, cudaStream_t stream) {
  using MaxPolicy = typename tile_policy<PolicyHub>::newest;
  output_requirements<Output>::check();
  using Problem = difference_problem<IsLeft, IsInPlace, Input, Output, Op>;
  using Tiles = tiles_of<Problem, Output, Input>;
  using T = typename Problem::T;
  if (detail::refuses_count(num_items, "num_items") || detail::refuses_reach(in, num_items, "d_in") ||
      detail::refuses_reach(out, num_items, "d_out")) {
    return cudaErrorInvalidValue;
  }
  const auto count = static_cast<std::size_t>(num_items);
  temporary_storage::layout<1> storage;
  // One neighbour for each of the smallest tiles of all policies: a size query does not know the device.
  constexpr std::size_t least_tile = detail::least_in_chain<Tiles::template smallest, MaxPolicy>();
  if (IsInPlace) storage.template reserve<T>(0, count / least_tile + 1);
  if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
  if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
  if (count == 0) return cudaSuccess;
  if (detail::refuses_null(in, "d_in") || detail::refuses_null(out, "d_out") ||
      (!IsInPlace &&
       detail::refuses_overlap(detail::bytes_of(out, count, "d_out"), detail::bytes_of(in, count, "d_in")))) {
    return cudaErrorInvalidValue;
  }
  return detail::invoke_with_policy<MaxPolicy>(stream, [&](auto policy, const device_properties& device) {
    const Problem problem{out, op, storage.template get<T>(0)};
    tile_range range = Tiles::template cut<decltype(policy)>(count, out, in);
    launch_configuration launch{"strata::DeviceAdjacentDifference", 0, dim3(policy.tuning.block_threads), 0, stream, 1,
                                device.ptx_version >= 900};
    if (IsInPlace && range.tiles > 1) {
      launch.grid = static_cast<unsigned>(ceiling_divide<long long>(range.tiles, policy.tuning.block_threads));
      const cudaError_t status =
          strata::launch(launch, save_neighbours_kernel<MaxPolicy, IsLeft, Input, T>, in, problem.saved, range);
      if (status != cudaSuccess) return status;
    }
    launch.grid = blocks_of(range);
    return strata::launch(launch, tiles_kernel<MaxPolicy, Tiles, Problem, Input>, problem, range, in);
  });
}

STRATA_ARCH_DETAIL_NAMESPACE_END
