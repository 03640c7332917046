// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/nvtx.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/arguments.cuh>
#include <strata/device/overlap.hpp>
#include <strata/device/radix_sort/dispatch.cuh>
#include <strata/device/radix_sort/index_iterator.cuh>

#include <cstddef>
#include <type_traits>

/// \file
/// What is behind the overloads of DeviceRadixSort.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

template <class A, class B, class NumItemsT>
bool sort_overlaps(const void* d_temp_storage, const A& a, const B& b, NumItemsT num_items) {
  const auto count = static_cast<std::size_t>(num_items);
  return d_temp_storage != nullptr && num_items > 0 && detail::arrays_overlap(a, count, b, count);
}

// Whether there is an odd number of passes.
inline bool moves_to_alternate(int begin_bit, int end_bit) {
  return begin_bit < end_bit && radix_bit_range{begin_bit, end_bit}.passes() % 2 != 0;
}
template <class T>
radix_places<const T*, T> double_buffer_places(const DoubleBuffer<T>& buffers, bool moves) {
  T* const current = buffers.Current();
  T* const other = buffers.Alternate();
  return moves ? radix_places<const T*, T>{current, other, current}
               : radix_places<const T*, T>{current, current, other};
}

template <bool IsDescending, class KeyIterator, class Key, class NumItemsT, class Decomposer>
cudaError_t sort_keys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                      KeyIterator d_keys_in, Key* d_keys_out, NumItemsT num_items,
                      Decomposer decomposer, int begin_bit, int end_bit, cudaStream_t stream) {
  STRATA_NVTX_RANGE("strata::DeviceRadixSort::SortKeys");
  if (detail::sort_overlaps(d_temp_storage, d_keys_in, d_keys_out, num_items)) {
    return cudaErrorInvalidValue;
  }
  return DispatchRadixSort<KeyIterator, NullType, Key, IsDescending, Decomposer>::Dispatch(
      d_temp_storage, temp_storage_bytes, {d_keys_in, d_keys_out, nullptr}, {}, num_items,
      begin_bit, end_bit, decomposer, radix_buffers::in_storage, stream);
}

template <bool IsDescending, class KeyIterator, class Key, class ValueIterator, class Value,
          class NumItemsT, class Decomposer>
cudaError_t sort_pairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                       KeyIterator d_keys_in, Key* d_keys_out, ValueIterator d_values_in,
                       Value* d_values_out, NumItemsT num_items, Decomposer decomposer,
                       int begin_bit, int end_bit, cudaStream_t stream) {
  STRATA_NVTX_RANGE("strata::DeviceRadixSort::SortPairs");
  if (detail::sort_overlaps(d_temp_storage, d_keys_in, d_keys_out, num_items) ||
      detail::sort_overlaps(d_temp_storage, d_keys_in, d_values_out, num_items) ||
      detail::sort_overlaps(d_temp_storage, d_values_in, d_keys_out, num_items) ||
      detail::sort_overlaps(d_temp_storage, d_values_in, d_values_out, num_items) ||
      detail::sort_overlaps(d_temp_storage, d_keys_out, d_values_out, num_items)) {
    return cudaErrorInvalidValue;
  }
  return DispatchRadixSort<KeyIterator, ValueIterator, Value, IsDescending, Decomposer>::
      Dispatch(d_temp_storage, temp_storage_bytes, {d_keys_in, d_keys_out, nullptr},
               {d_values_in, d_values_out, nullptr}, num_items, begin_bit, end_bit, decomposer,
               radix_buffers::in_storage, stream);
}

template <bool IsDescending, class Key, class NumItemsT, class Decomposer>
cudaError_t sort_keys(void* d_temp_storage, std::size_t& temp_storage_bytes,
                      DoubleBuffer<Key>& d_keys, NumItemsT num_items, Decomposer decomposer,
                      int begin_bit, int end_bit, cudaStream_t stream) {
  STRATA_NVTX_RANGE("strata::DeviceRadixSort::SortKeys");
  if (detail::sort_overlaps(d_temp_storage, d_keys.Current(), d_keys.Alternate(), num_items)) {
    return cudaErrorInvalidValue;
  }
  const bool moves = moves_to_alternate(begin_bit, end_bit);
  const cudaError_t status =
      DispatchRadixSort<const Key*, NullType, Key, IsDescending, Decomposer>::Dispatch(
          d_temp_storage, temp_storage_bytes, detail::double_buffer_places(d_keys, moves), {},
          num_items, begin_bit, end_bit, decomposer, radix_buffers::two_of_the_caller, stream);
  if (d_temp_storage != nullptr && status == cudaSuccess && moves) d_keys.selector ^= 1;
  return status;
}

template <bool IsDescending, class Key, class Value, class NumItemsT, class Decomposer>
cudaError_t sort_pairs(void* d_temp_storage, std::size_t& temp_storage_bytes,
                       DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values,
                       NumItemsT num_items, Decomposer decomposer, int begin_bit, int end_bit,
                       cudaStream_t stream) {
  STRATA_NVTX_RANGE("strata::DeviceRadixSort::SortPairs");
  for (int i = 0; i < 2; ++i) {
    if (detail::sort_overlaps(d_temp_storage, d_keys.d_buffers[i], d_values.d_buffers[0],
                              num_items) ||
        detail::sort_overlaps(d_temp_storage, d_keys.d_buffers[i], d_values.d_buffers[1],
                              num_items)) {
      return cudaErrorInvalidValue;
    }
  }
  if (sort_overlaps(d_temp_storage, d_keys.Current(), d_keys.Alternate(), num_items) ||
      detail::sort_overlaps(d_temp_storage, d_values.Current(), d_values.Alternate(), num_items)) {
    return cudaErrorInvalidValue;
  }
  const bool moves = moves_to_alternate(begin_bit, end_bit);
  const cudaError_t status =
      DispatchRadixSort<const Key*, const Value*, Value, IsDescending, Decomposer>::Dispatch(
          d_temp_storage, temp_storage_bytes, detail::double_buffer_places(d_keys, moves),
          detail::double_buffer_places(d_values, moves), num_items, begin_bit, end_bit, decomposer,
          radix_buffers::two_of_the_caller, stream);
  if (d_temp_storage != nullptr && status == cudaSuccess && moves) {
    d_keys.selector ^= 1;
    d_values.selector ^= 1;
  }
  return status;
}

template <bool IsDescending, class KeyIterator, class Index, class NumItemsT, class Decomposer>
cudaError_t sort_indices(void* d_temp_storage, std::size_t& temp_storage_bytes,
                         KeyIterator d_keys_in, Index* d_indices_out, NumItemsT num_items,
                         Decomposer decomposer, int begin_bit, int end_bit,
                         cudaStream_t stream) {
  STRATA_NVTX_RANGE("strata::DeviceRadixSort::ArgSort");
  static_assert(std::is_integral_v<Index>,
                "DeviceRadixSort::ArgSort writes numbers of items: d_indices_out must point to "
                "integers");
  if (!can_index<Index>(num_items) ||
      detail::sort_overlaps(d_temp_storage, d_keys_in, d_indices_out, num_items)) {
    return cudaErrorInvalidValue;
  }
  return DispatchRadixSort<KeyIterator, index_iterator<Index>, Index, IsDescending, Decomposer>::
      Dispatch(d_temp_storage, temp_storage_bytes, {d_keys_in, nullptr, nullptr},
               {{}, d_indices_out, nullptr}, num_items, begin_bit, end_bit, decomposer,
               radix_buffers::and_sorted_keys_in_storage, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
