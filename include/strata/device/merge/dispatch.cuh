// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/temporary_storage.hpp>
#include <strata/core/types.hpp>
#include <strata/device/arguments/arrays.hpp>
#include <strata/device/arguments/counts.cuh>
#include <strata/device/merge/agent.cuh>
#include <strata/device/merge/kernels.cuh>
#include <strata/device/merge/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Carries out one call of a merge; `PolicyHub` may be replaced to override the tuning.
template <class Arrays, class Compare,
          class PolicyHub = merge_policy_hub<static_cast<int>(sizeof(typename Arrays::Key))>>
struct DispatchMerge {
  const Arrays& arrays;
  const Compare& compare;
  cudaStream_t stream;
  unsigned long long* splits;  // null where blocks search
  device_properties device;

  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, const Arrays& arrays,
                              std::int64_t count1, std::int64_t count2, const Compare& compare, cudaStream_t stream) {
    if (!is_count(count1) || !is_count(count2) || !is_count(arrays.count()) ||
        !detail::can_reach(arrays.keys1, count1) || !detail::can_reach(arrays.values1, count1) ||
        !detail::can_reach(arrays.keys2, count2) || !detail::can_reach(arrays.values2, count2)) {
      return cudaErrorInvalidValue;
    }
    const unsigned long long tiles = number_of_tiles<typename PolicyHub::MaxPolicy>(arrays.count());
    if (tiles > max_tiles) return cudaErrorInvalidValue;
    const bool has_splits = tiles > PolicyHub::MaxPolicy::tuning.max_tiles_without_splits;
    temporary_storage::layout<1> storage;
    if (has_splits) storage.template reserve<unsigned long long>(0, tiles + 1);
    if (d_temp_storage == nullptr) return answer_size_query(storage, temp_storage_bytes);
    if (!storage.map(d_temp_storage, temp_storage_bytes)) return cudaErrorInvalidValue;
    if (arrays.count() == 0) return cudaSuccess;
    if (has_null(arrays, count1, count2) ||
        outputs_overlap(
            {detail::bytes_of(arrays.keys_out, arrays.count()), detail::bytes_of(arrays.values_out, arrays.count())},
            {detail::bytes_of(arrays.keys1, count1), detail::bytes_of(arrays.values1, count1),
             detail::bytes_of(arrays.keys2, count2), detail::bytes_of(arrays.values2, count2)})) {
      return cudaErrorInvalidValue;
    }
    DispatchMerge dispatch{
        arrays, compare, stream, has_splits ? storage.template get<unsigned long long>(0) : nullptr, {}};
    const cudaError_t status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    return PolicyHub::MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    constexpr int threads = ActivePolicy::tuning.block_threads;
    static_assert(tile_items<ActivePolicy> >= tile_items<typename PolicyHub::MaxPolicy>,
                  "the newest policy must have the smallest tiles: they say how many splits are kept");
    const unsigned long long tiles = number_of_tiles<ActivePolicy>(arrays.count());
    launch_configuration launch{"strata::DeviceMerge, splits", 0, dim3(threads), 0, stream, 1,
                                device.ptx_version >= 900};
    if (splits != nullptr) {
      launch.grid = dim3(static_cast<unsigned>(ceiling_divide(tiles + 1, static_cast<unsigned long long>(threads))));
      const cudaError_t status = strata::launch(
          launch, merge_splits_kernel<typename PolicyHub::MaxPolicy, Arrays, Compare>, arrays, compare, tiles, splits);
      if (status != cudaSuccess) return status;
    }
    launch.name = "strata::DeviceMerge";
    launch.grid = dim3(static_cast<unsigned>(tiles));
    return strata::launch(launch, merge_ranges_kernel<typename PolicyHub::MaxPolicy, Arrays, Compare>, arrays, compare,
                          splits);
  }

 private:
  static constexpr unsigned long long max_tiles = 0x7fffffff;
  template <class Policy>
  static constexpr unsigned long long tile_items = static_cast<unsigned long long>(Policy::tuning.block_threads) *
                                                   Policy::tuning.items_per_thread;
  template <class Policy>
  static unsigned long long number_of_tiles(unsigned long long items) {
    return ceiling_divide(items, tile_items<Policy>);
  }

  static bool has_null(const Arrays& arrays, std::int64_t count1, std::int64_t count2) {
    const auto is_null = [](std::int64_t count, const auto& keys, const auto& values) {
      return count > 0 && (detail::is_null(keys) || (Arrays::has_values && detail::is_null(values)));
    };
    return is_null(1, arrays.keys_out, arrays.values_out) || is_null(count1, arrays.keys1, arrays.values1) ||
           is_null(count2, arrays.keys2, arrays.values2);
  }
};

template <class Keys1, class Values1, class Keys2, class Values2, class KeysOut, class ValuesOut, class Compare>
cudaError_t merge_ranges(void* d_temp_storage, std::size_t& temp_storage_bytes, Keys1 keys1, Values1 values1,
                         std::int64_t count1, Keys2 keys2, Values2 values2, std::int64_t count2, KeysOut keys_out,
                         ValuesOut values_out, Compare compare, cudaStream_t stream) {
  using Arrays = merge_arrays<Keys1, Values1, Keys2, Values2, KeysOut, ValuesOut>;
  using Item = merge_pair<typename Arrays::Key, typename Arrays::Value>;
  static_assert(is_trivially_relocatable_v<typename Arrays::Key> &&
                    is_trivially_relocatable_v<typename Arrays::Value> && std::is_default_constructible_v<Item>,
                "DeviceMerge moves keys and values as bits: both must be trivially relocatable and default "
                "constructible");
  if constexpr (compare_requirements<Compare, typename Arrays::Key>::are_met) {
    const Arrays arrays{keys1,    values1,   static_cast<unsigned long long>(count1),
                        keys2,    values2,   static_cast<unsigned long long>(count2),
                        keys_out, values_out};
    return DispatchMerge<Arrays, Compare>::Dispatch(d_temp_storage, temp_storage_bytes, arrays, count1, count2, compare,
                                                    stream);
  }
  return cudaErrorInvalidValue;
}

STRATA_ARCH_DETAIL_NAMESPACE_END
