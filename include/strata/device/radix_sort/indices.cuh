// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/radix_sort/dispatch.cuh>
#include <strata/iterator/counting_input_iterator.cuh>

#include <cstddef>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Sorts the indices of the keys as values, and keeps the sorted keys in temporary storage.
template <bool IsDescending, class PolicyHub, class KeyIterator, class Index, class NumItemsT, class Decomposer>
cudaError_t sort_indices(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                         Index* d_indices_out, NumItemsT num_items, Decomposer decomposer, int begin_bit, int end_bit,
                         cudaStream_t stream) {
  STRATA_NVTX_RANGE(d_temp_storage,
                    IsDescending ? "strata::DeviceRadixSort::ArgSortDescending" : "strata::DeviceRadixSort::ArgSort");
  static_assert(std::is_integral_v<Index>,
                "DeviceRadixSort::ArgSort writes numbers of items: d_indices_out must point to integers");
  if (detail::refuses_index_type<Index>(detail::max_items(num_items), "d_indices_out") ||
      (d_temp_storage != nullptr && detail::refuses_overlap(detail::bytes_of(d_indices_out, num_items, "d_indices_out"),
                                                            detail::bytes_of(d_keys_in, num_items, "d_keys_in")))) {
    return cudaErrorInvalidValue;
  }
  using Indices = CountingInputIterator<Index>;
  return DispatchRadixSort<KeyIterator, Indices, Index, NumItemsT, IsDescending, Decomposer, PolicyHub>::Dispatch(
      d_temp_storage, temp_storage_bytes, {d_keys_in, nullptr, nullptr}, {Indices(0), d_indices_out, nullptr},
      num_items, begin_bit, end_bit, decomposer, radix_scratch::in_storage_with_sorted_keys, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
