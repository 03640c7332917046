// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <strata/core/macros.hpp>
#include <strata/core/nvtx.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/segmented_merge_sort/calls.cuh>
#include <strata/device/segmented_sort/order.cuh>

/// \file
/// What is behind the overloads of DeviceSegmentedSort.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// `values_in` and `values_out` are pointers to `Value`, or of NullType if keys have none. The
/// items of one buffer are sorted in place.
template <bool IsDescending, class Value, class Key, class ValuesIn, class Segments>
cudaError_t sort_items_by_words(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                const Key* d_keys_in, ValuesIn d_values_in,
                                const merge_sort_arrays<Key, Value>& output,
                                const segments_to_sort<Segments>& all, bool is_in_place,
                                cudaStream_t stream) {
  static_assert(
      is_radix_key<Key>,
      "DeviceSegmentedSort takes integers, enumerations, half, bfloat16, float and double; "
      "DeviceSegmentedMergeSort takes other keys, with a comparator");
  return detail::merge_sort_segments<Key, Value>(
      d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, output, all,
      is_before_in_radix_sorts<Key, IsDescending>{}, is_in_place, true, stream);
}

template <bool IsDescending, class Key, class Segments>
cudaError_t sort_segments_by_words(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                   const Key* d_keys_in, Key* d_keys_out,
                                   const segments_to_sort<Segments>& all, cudaStream_t stream) {
  STRATA_NVTX_RANGE("strata::DeviceSegmentedSort::SortKeys");
  return detail::sort_items_by_words<IsDescending, NullType>(
      d_temp_storage, temp_storage_bytes, d_keys_in, NullType{}, {d_keys_out, nullptr}, all, false,
      stream);
}

template <bool IsDescending, class Key, class Segments>
cudaError_t sort_segments_by_words(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                   const DoubleBuffer<Key>& d_keys,
                                   const segments_to_sort<Segments>& all, cudaStream_t stream) {
  STRATA_NVTX_RANGE("strata::DeviceSegmentedSort::SortKeys");
  Key* const keys = d_keys.Current();
  return detail::sort_items_by_words<IsDescending, NullType>(
      d_temp_storage, temp_storage_bytes, static_cast<const Key*>(keys), NullType{},
      {keys, nullptr}, all, true, stream);
}

template <bool IsDescending, class Key, class Value, class Segments>
cudaError_t sort_segments_by_words(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                   const Key* d_keys_in, Key* d_keys_out, const Value* d_values_in,
                                   Value* d_values_out, const segments_to_sort<Segments>& all,
                                   cudaStream_t stream) {
  STRATA_NVTX_RANGE("strata::DeviceSegmentedSort::SortPairs");
  return detail::sort_items_by_words<IsDescending, Value>(
      d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, {d_keys_out, d_values_out}, all,
      false, stream);
}

template <bool IsDescending, class Key, class Value, class Segments>
cudaError_t sort_segments_by_words(void* d_temp_storage, std::size_t& temp_storage_bytes,
                                   const DoubleBuffer<Key>& d_keys,
                                   const DoubleBuffer<Value>& d_values,
                                   const segments_to_sort<Segments>& all, cudaStream_t stream) {
  STRATA_NVTX_RANGE("strata::DeviceSegmentedSort::SortPairs");
  Key* const keys = d_keys.Current();
  Value* const values = d_values.Current();
  return detail::sort_items_by_words<IsDescending, Value>(
      d_temp_storage, temp_storage_bytes, static_cast<const Key*>(keys),
      static_cast<const Value*>(values), {keys, values}, all, true, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
