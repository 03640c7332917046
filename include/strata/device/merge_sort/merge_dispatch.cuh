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
#include <strata/device/merge_sort/agent_merge_ranges.cuh>
#include <strata/device/merge_sort/merge_tuning.hpp>
#include <strata/thread/thread_merge.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// partition_point() with half as many steps, each with three calls. Faster if the calls read device memory.
template <class Predicate>
STRATA_D unsigned long long partition_point_by_quarters(unsigned long long first, unsigned long long last,
                                                        const Predicate& is_behind) {
  while (first < last) {
    const unsigned long long quarter = (last - first) / 4;
    const unsigned long long at1 = first + quarter, at2 = first + (last - first) / 2, at3 = at2 + quarter;
    const bool is_behind1 = is_behind(at1), is_behind2 = is_behind(at2), is_behind3 = is_behind(at3);
    first = is_behind1 ? first : is_behind2 ? at1 + 1 : is_behind3 ? at2 + 1 : at3 + 1;
    last = is_behind1 ? at1 : is_behind2 ? at2 : is_behind3 ? at3 : last;
  }
  return first;
}

/// Computes how many items of the first range come before each tile, and before the end.
///
/// A warp searches for 32 neighbouring diagonals. One half of it searches for the first of them, the other half for the
/// first of the next warp. Then each lane searches between the two results, where at most the items of 32 tiles are
/// left.
template <class MaxPolicy, class Arrays, class Compare>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.block_threads)
    STRATA_KERNEL void merge_splits_kernel(const STRATA_GRID_CONSTANT Arrays arrays, Compare compare,
                                           unsigned long long tiles, unsigned long long* splits) {
  using Diagonal = merge_diagonal<Arrays, Compare>;
  constexpr unsigned long long tile_items = AgentMerge<typename MaxPolicy::ActivePolicy, Arrays, Compare>::tile_items;
  constexpr unsigned half_warp = warp_threads / 2;
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  const unsigned lane = platform::lane_id();
  const unsigned long long tile = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const auto diagonal_of = [&](unsigned long long t) { return t < tiles ? t * tile_items : arrays.count(); };
  const unsigned long long begin = diagonal_of(tile - lane), end = diagonal_of(tile - lane + warp_threads);
  const Diagonal bound{arrays, compare, lane < half_warp ? begin : end};
  const unsigned long long found = detail::warp_partition_point(bound.first(), bound.last(), 4, bound);
  const unsigned long long begin1 = __shfl_sync(full_warp_mask, found, 0);
  const unsigned long long end1 = __shfl_sync(full_warp_mask, found, half_warp);
  if (tile > tiles) return;
  const Diagonal cut{arrays, compare, diagonal_of(tile)};
  const unsigned long long begin2 = begin - begin1, end2 = end - end1;
  const unsigned long long first = cut.diagonal > end2 ? cut.diagonal - end2 : 0, last = cut.diagonal - begin2;
  splits[tile] = detail::partition_point_by_quarters(detail::most(first, begin1), detail::least(last, end1), cut);
}

/// Merges the ranges. Each block makes one tile.
template <class MaxPolicy, class Arrays, class Compare>
__launch_bounds__(MaxPolicy::ActivePolicy::tuning.block_threads,
                  MaxPolicy::ActivePolicy::tuning.blocks_per_multiprocessor)
    STRATA_KERNEL void merge_ranges_kernel(const STRATA_GRID_CONSTANT Arrays arrays, Compare compare,
                                           const unsigned long long* splits) {
  using Agent = AgentMerge<typename MaxPolicy::ActivePolicy, Arrays, Compare>;
  STRATA_SHARED(storage, Uninitialized<typename Agent::TempStorage>);
  platform::wait_for_previous_kernel();
  platform::launch_next_kernel();
  Agent(storage.Alias(), arrays, compare).merge(blockIdx.x, splits);
}

template <class Policy>
using merge_rows = if_rows<merge_tuning, decltype(Policy::tuning)>;

template <class Policy>
struct range_merge_tile {
  static constexpr std::size_t value =
      static_cast<std::size_t>(Policy::tuning.block_threads) * Policy::tuning.items_per_thread;
};

/// Carries out one call of a merge.
template <class Arrays, class Compare, class PolicyHub = default_policy_hub>
struct DispatchMerge {
  static_assert(hub_has_rows<merge_rows, PolicyHub>,
                "DeviceMerge: each policy in the chain of PolicyHub::MaxPolicy must name itself in its ChainedPolicy "
                "and have the member tuning (merge_tuning)");
  static constexpr int value_bytes = Arrays::has_values ? static_cast<int>(sizeof(typename Arrays::Value)) : 0;
  using MaxPolicy =
      typename hub_or<merge_rows, PolicyHub,
                      merge_policy_hub<static_cast<int>(sizeof(typename Arrays::Key)), value_bytes>>::MaxPolicy;

  struct argument_names {
    const char *keys1, *values1, *count1, *keys2, *values2, *count2, *keys_out, *values_out;
  };
  static constexpr argument_names names =
      Arrays::has_values ? argument_names{"keys_in1",   "values_in1", "num_pairs1", "keys_in2",
                                          "values_in2", "num_pairs2", "keys_out",   "values_out"}
                         : argument_names{"keys_in1", "", "num_keys1", "keys_in2", "", "num_keys2", "keys_out", ""};

  const Arrays& arrays;
  const Compare& compare;
  cudaStream_t stream;
  unsigned long long* splits;  // null where blocks search
  device_properties device;

  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, const Arrays& arrays,
                              std::int64_t count1, std::int64_t count2, const Compare& compare, cudaStream_t stream) {
    if (detail::refuses_count(count1, names.count1) || detail::refuses_count(count2, names.count2) ||
        detail::refuses_count(arrays.count(), "the sum of both counts") ||
        detail::refuses_reach(arrays.keys1, count1, names.keys1) ||
        detail::refuses_reach(arrays.values1, count1, names.values1) ||
        detail::refuses_reach(arrays.keys2, count2, names.keys2) ||
        detail::refuses_reach(arrays.values2, count2, names.values2) ||
        detail::refuses_reach(arrays.keys_out, arrays.count(), names.keys_out) ||
        detail::refuses_reach(arrays.values_out, arrays.count(), names.values_out)) {
      return cudaErrorInvalidValue;
    }
    const auto items = static_cast<unsigned long long>(arrays.count());
    // The number of splits of the policy with the smallest tiles: a size query does not know the device.
    constexpr unsigned long long least_tile = detail::least_in_chain<range_merge_tile, MaxPolicy>();
    const unsigned long long tiles = ceiling_divide(items, least_tile);
    if (detail::refuses_blocks(tiles > max_tiles, "the sum of both counts")) return cudaErrorInvalidValue;
    const bool has_splits = tiles > MaxPolicy::tuning.max_tiles_without_splits;
    temporary_storage::layout<1> storage;
    if (has_splits) storage.template reserve<unsigned long long>(0, tiles + 1);
    if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
    if (detail::refuses_storage(storage, d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    if (arrays.count() == 0) return cudaSuccess;
    if (has_null(arrays, count1, count2) ||
        detail::outputs_overlap({detail::bytes_of(arrays.keys_out, arrays.count(), names.keys_out),
                                 detail::bytes_of(arrays.values_out, arrays.count(), names.values_out)},
                                {detail::bytes_of(arrays.keys1, count1, names.keys1),
                                 detail::bytes_of(arrays.values1, count1, names.values1),
                                 detail::bytes_of(arrays.keys2, count2, names.keys2),
                                 detail::bytes_of(arrays.values2, count2, names.values2)})) {
      return cudaErrorInvalidValue;
    }
    DispatchMerge dispatch{
        arrays, compare, stream, has_splits ? storage.template get<unsigned long long>(0) : nullptr, {}};
    const cudaError_t status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    return MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    constexpr int threads = ActivePolicy::tuning.block_threads;
    static_assert(are_whole_warps(threads), "merge_tuning::block_threads must be a multiple of 32, at most 1024");
    static_assert(ActivePolicy::tuning.items_per_thread % 2 != 0,
                  "merge_tuning::items_per_thread must be odd, so that a tile has no gaps");
    constexpr unsigned long long tile_items = range_merge_tile<ActivePolicy>::value;
    const unsigned long long tiles = ceiling_divide(static_cast<unsigned long long>(arrays.count()), tile_items);
    launch_configuration launch{"strata::DeviceMerge, splits", 0, dim3(threads), 0, stream, 1,
                                device.ptx_version >= 900};
    if (splits != nullptr) {
      launch.grid = dim3(static_cast<unsigned>(ceiling_divide(tiles + 1, static_cast<unsigned long long>(threads))));
      const cudaError_t status =
          strata::launch(launch, merge_splits_kernel<MaxPolicy, Arrays, Compare>, arrays, compare, tiles, splits);
      if (status != cudaSuccess) return status;
    }
    launch.name = "strata::DeviceMerge";
    launch.grid = dim3(static_cast<unsigned>(tiles));
    return strata::launch(launch, merge_ranges_kernel<MaxPolicy, Arrays, Compare>, arrays, compare, splits);
  }

 private:
  static constexpr unsigned long long max_tiles = 0x7fffffff;

  static bool has_null(const Arrays& arrays, std::int64_t count1, std::int64_t count2) {
    const auto is_null = [](std::int64_t count, const auto& keys, const char* keys_argument, const auto& values,
                            const char* values_argument) {
      return count > 0 && (detail::refuses_null(keys, keys_argument) ||
                           (Arrays::has_values && detail::refuses_null(values, values_argument)));
    };
    return is_null(1, arrays.keys_out, names.keys_out, arrays.values_out, names.values_out) ||
           is_null(count1, arrays.keys1, names.keys1, arrays.values1, names.values1) ||
           is_null(count2, arrays.keys2, names.keys2, arrays.values2, names.values2);
  }
};

template <class PolicyHub = default_policy_hub, class Keys1, class Values1, class Keys2, class Values2, class KeysOut,
          class ValuesOut, class Compare>
cudaError_t merge_ranges(void* d_temp_storage, std::size_t& temp_storage_bytes, Keys1 keys1, Values1 values1,
                         std::int64_t count1, Keys2 keys2, Values2 values2, std::int64_t count2, KeysOut keys_out,
                         ValuesOut values_out, Compare compare, cudaStream_t stream) {
  using Arrays = merge_arrays<Keys1, Values1, Keys2, Values2, KeysOut, ValuesOut>;
  using Item = merge_pair<typename Arrays::Key, typename Arrays::Value>;
  static_assert(relocatable_requirements<typename Arrays::Key>::check());
  static_assert(relocatable_requirements<typename Arrays::Value>::check());
  static_assert(std::is_default_constructible_v<Item>,
                "DeviceMerge moves keys and values as bits: both types must be default constructible");
  if constexpr (compare_requirements<Compare, typename Arrays::Key>::are_met && std::is_default_constructible_v<Item> &&
                relocatable_requirements<typename Arrays::Key>::are_met &&
                relocatable_requirements<typename Arrays::Value>::are_met) {
    const Arrays arrays{keys1,    values1,   static_cast<unsigned long long>(count1),
                        keys2,    values2,   static_cast<unsigned long long>(count2),
                        keys_out, values_out};
    return DispatchMerge<Arrays, Compare, PolicyHub>::Dispatch(d_temp_storage, temp_storage_bytes, arrays, count1,
                                                               count2, compare, stream);
  }
  return cudaErrorInvalidValue;
}

STRATA_ARCH_DETAIL_NAMESPACE_END
