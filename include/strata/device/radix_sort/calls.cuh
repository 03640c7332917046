// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/nvtx.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/radix_sort/dispatch.cuh>
#include <strata/iterator/counting_input_iterator.cuh>

#include <cstddef>
#include <type_traits>

/// \file
/// Argument checks of the overloads of DeviceRadixSort, and their dispatch.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The result of overloads for decomposers.
template <class Decomposer, class Key>
using if_decomposer =
    std::enable_if_t<std::is_invocable_v<Decomposer, Key&> && !std::is_integral_v<Decomposer>, cudaError_t>;

/// The type of an input of items of type `T`: `Iterator`, or `const T*` if a size query passes `nullptr`.
template <class Iterator, class T>
using radix_input = std::conditional_t<std::is_null_pointer_v<Iterator>, const T*, Iterator>;

/// True if a sort between two buffers ends in the alternate one, because its number of passes is odd.
inline bool ends_in_alternate(int begin_bit, int end_bit) {
  return begin_bit < end_bit && radix_bit_range{begin_bit, end_bit}.passes() % 2 != 0;
}
template <class T>
radix_buffers<const T*, T> buffers_of(const DoubleBuffer<T>& buffers, bool to_alternate) {
  T* const current = buffers.Current();
  T* const alternate = buffers.Alternate();
  return to_alternate ? radix_buffers<const T*, T>{current, alternate, current}
                      : radix_buffers<const T*, T>{current, current, alternate};
}

/// Selects the alternate buffers if a sort into them was launched.
template <class... T>
cudaError_t select_alternate(bool is_selected, cudaError_t status, DoubleBuffer<T>&... buffers) {
  if (is_selected && status == cudaSuccess) ((buffers.selector ^= 1), ...);
  return status;
}

template <bool IsDescending, class PolicyHub = default_policy_hub, class KeyIterator, class Key, class NumItemsT,
          class Decomposer>
cudaError_t sort_keys(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in, Key* d_keys_out,
                      NumItemsT num_items, Decomposer decomposer, int begin_bit, int end_bit, cudaStream_t stream) {
  STRATA_NVTX_RANGE(d_temp_storage,
                    IsDescending ? "strata::DeviceRadixSort::SortKeysDescending" : "strata::DeviceRadixSort::SortKeys");
  if (d_temp_storage != nullptr &&
      detail::refuses_partial_overlap(d_keys_out, "d_keys_out", d_keys_in, "d_keys_in", num_items)) {
    return cudaErrorInvalidValue;
  }
  return DispatchRadixSort<radix_input<KeyIterator, Key>, NullType, Key, NumItemsT, IsDescending, Decomposer,
                           PolicyHub>::Dispatch(d_temp_storage, temp_storage_bytes, {d_keys_in, d_keys_out, nullptr},
                                                {}, num_items, begin_bit, end_bit, decomposer,
                                                radix_scratch::in_storage, stream);
}

template <bool IsDescending, class PolicyHub = default_policy_hub, class KeyIterator, class Key, class ValueIterator,
          class Value, class NumItemsT, class Decomposer>
cudaError_t sort_pairs(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in, Key* d_keys_out,
                       ValueIterator d_values_in, Value* d_values_out, NumItemsT num_items, Decomposer decomposer,
                       int begin_bit, int end_bit, cudaStream_t stream) {
  STRATA_NVTX_RANGE(d_temp_storage, IsDescending ? "strata::DeviceRadixSort::SortPairsDescending"
                                                 : "strata::DeviceRadixSort::SortPairs");
  if (d_temp_storage != nullptr && detail::pairs_overlap(d_keys_in, d_keys_out, d_values_in, d_values_out, num_items)) {
    return cudaErrorInvalidValue;
  }
  using Dispatch = DispatchRadixSort<radix_input<KeyIterator, Key>, radix_input<ValueIterator, Value>, Value, NumItemsT,
                                     IsDescending, Decomposer, PolicyHub>;
  return Dispatch::Dispatch(d_temp_storage, temp_storage_bytes, {d_keys_in, d_keys_out, nullptr},
                            {d_values_in, d_values_out, nullptr}, num_items, begin_bit, end_bit, decomposer,
                            radix_scratch::in_storage, stream);
}

template <bool IsDescending, class PolicyHub = default_policy_hub, class Key, class NumItemsT, class Decomposer>
cudaError_t sort_keys(void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                      NumItemsT num_items, Decomposer decomposer, int begin_bit, int end_bit, cudaStream_t stream) {
  STRATA_NVTX_RANGE(d_temp_storage,
                    IsDescending ? "strata::DeviceRadixSort::SortKeysDescending" : "strata::DeviceRadixSort::SortKeys");
  if (d_temp_storage != nullptr && detail::buffers_overlap(d_keys, num_items)) return cudaErrorInvalidValue;
  const bool to_alternate = ends_in_alternate(begin_bit, end_bit);
  const cudaError_t status =
      DispatchRadixSort<const Key*, NullType, Key, NumItemsT, IsDescending, Decomposer, PolicyHub>::Dispatch(
          d_temp_storage, temp_storage_bytes, detail::buffers_of(d_keys, to_alternate), {}, num_items, begin_bit,
          end_bit, decomposer, radix_scratch::double_buffer, stream);
  return detail::select_alternate(d_temp_storage != nullptr && to_alternate, status, d_keys);
}

template <bool IsDescending, class PolicyHub = default_policy_hub, class Key, class Value, class NumItemsT,
          class Decomposer>
cudaError_t sort_pairs(void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                       DoubleBuffer<Value>& d_values, NumItemsT num_items, Decomposer decomposer, int begin_bit,
                       int end_bit, cudaStream_t stream) {
  STRATA_NVTX_RANGE(d_temp_storage, IsDescending ? "strata::DeviceRadixSort::SortPairsDescending"
                                                 : "strata::DeviceRadixSort::SortPairs");
  if (d_temp_storage != nullptr && detail::buffers_overlap(d_keys, d_values, num_items)) return cudaErrorInvalidValue;
  const bool to_alternate = ends_in_alternate(begin_bit, end_bit);
  using Dispatch = DispatchRadixSort<const Key*, const Value*, Value, NumItemsT, IsDescending, Decomposer, PolicyHub>;
  const cudaError_t status =
      Dispatch::Dispatch(d_temp_storage, temp_storage_bytes, detail::buffers_of(d_keys, to_alternate),
                         detail::buffers_of(d_values, to_alternate), num_items, begin_bit, end_bit, decomposer,
                         radix_scratch::double_buffer, stream);
  return detail::select_alternate(d_temp_storage != nullptr && to_alternate, status, d_keys, d_values);
}

/// Sorts the indices of the keys as values, and keeps the sorted keys in temporary storage.
template <bool IsDescending, class PolicyHub, class KeyIterator, class Index, class NumItemsT, class Decomposer>
cudaError_t sort_indices(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterator d_keys_in,
                         Index* d_indices_out, NumItemsT num_items, Decomposer decomposer, int begin_bit, int end_bit,
                         cudaStream_t stream) {
  STRATA_NVTX_RANGE(d_temp_storage,
                    IsDescending ? "strata::DeviceRadixSort::ArgSortDescending" : "strata::DeviceRadixSort::ArgSort");
  static_assert(std::is_integral_v<Index>,
                "DeviceRadixSort::ArgSort writes indices of items: d_indices_out must point to integers");
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
