// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/device_properties.cuh>
#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
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
  device_properties device;

  static cudaError_t Dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes, const Arrays& arrays,
                              std::int64_t count1, std::int64_t count2, const Compare& compare, cudaStream_t stream) {
    if (!is_count(count1) || !is_count(count2) || !is_count(arrays.count()) ||
        !detail::can_reach(arrays.keys1, count1) || !detail::can_reach(arrays.values1, count1) ||
        !detail::can_reach(arrays.keys2, count2) || !detail::can_reach(arrays.values2, count2)) {
      return cudaErrorInvalidValue;
    }
    if (d_temp_storage == nullptr) {
      temp_storage_bytes = 1;
      return cudaSuccess;
    }
    if (temp_storage_bytes < 1) return cudaErrorInvalidValue;
    if (arrays.count() == 0) return cudaSuccess;
    if (has_null(arrays, count1, count2) ||
        outputs_overlap(
            {detail::bytes_of(arrays.keys_out, arrays.count()), detail::bytes_of(arrays.values_out, arrays.count())},
            {detail::bytes_of(arrays.keys1, count1), detail::bytes_of(arrays.values1, count1),
             detail::bytes_of(arrays.keys2, count2), detail::bytes_of(arrays.values2, count2)})) {
      return cudaErrorInvalidValue;
    }
    DispatchMerge dispatch{arrays, compare, stream, {}};
    const cudaError_t status = detail::current_device_properties(dispatch.device, stream);
    if (status != cudaSuccess) return status;
    return PolicyHub::MaxPolicy::Invoke(dispatch.device.ptx_version, dispatch);
  }

  template <class ActivePolicy>
  cudaError_t Invoke() {
    constexpr merge_tuning tuning = ActivePolicy::tuning;
    constexpr unsigned long long tile_items = tuning.block_threads * tuning.items_per_thread, most_blocks = 0x7fffffff;
    const unsigned long long tiles = ceiling_divide(arrays.count(), tile_items);
    // All multiprocessors have all their blocks before a block has two tiles.
    const auto resident = static_cast<unsigned>(device.multiprocessors * tuning.blocks_per_multiprocessor);
    unsigned long long tiles_per_block = tiles / resident;
    if (tiles_per_block > tuning.tiles_per_block) tiles_per_block = tuning.tiles_per_block;
    if (tiles_per_block < ceiling_divide(tiles, most_blocks)) tiles_per_block = ceiling_divide(tiles, most_blocks);
    const auto blocks = static_cast<unsigned>(ceiling_divide(tiles, tiles_per_block));
    return strata::launch(
        {"strata::DeviceMerge", dim3(blocks), dim3(tuning.block_threads), 0, stream, 1, device.ptx_version >= 900},
        merge_ranges_kernel<typename PolicyHub::MaxPolicy, Arrays, Compare>, arrays, compare, tiles, tiles_per_block);
  }

 private:
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
