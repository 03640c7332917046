// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/segments.cuh>
#include <strata/device/radix_sort/calls.cuh>
#include <strata/device/radix_sort/segmented_dispatch.cuh>

#include <cstddef>
#include <type_traits>

/// \file
/// Argument checks of the overloads of DeviceSegmentedRadixSort, and their dispatch.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Which segments to sort by which bits of the keys.
template <class NumItemsT, class NumSegmentsT, class BeginOffsetIterator, class EndOffsetIterator>
struct segmented_sort_arguments {
  NumItemsT num_items;
  NumSegmentsT num_segments;
  offset_segments<BeginOffsetIterator, EndOffsetIterator> segments;
  int begin_bit;
  int end_bit;
  cudaStream_t stream;

  /// Returns the number of items of each array in the check for overlap: 0 in a size query, or without segments.
  NumItemsT items_to_check(const void* d_temp_storage) const {
    return d_temp_storage != nullptr && num_segments > 0 ? num_items : NumItemsT{0};
  }

  /// Sorts keys, with values unless `Value` is NullType.
  template <bool IsDescending, class PolicyHub, class Key, class Value>
  cudaError_t dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes,
                       const radix_buffers<const Key*, Key>& keys, const radix_buffers<const Value*, Value>& values,
                       bool is_double_buffer) const {
    using Dispatch =
        DispatchSegmentedRadixSort<Key, Value, IsDescending, BeginOffsetIterator, EndOffsetIterator, PolicyHub>;
    typename Dispatch::ValueBuffers buffers{};
    if constexpr (Dispatch::has_values) buffers = values;
    return Dispatch::Dispatch(d_temp_storage, temp_storage_bytes, keys, buffers, num_items, num_segments, segments,
                              begin_bit, end_bit, is_double_buffer, stream);
  }
};

template <bool IsDescending, class PolicyHub, class Key, class Arguments>
cudaError_t sort_segments(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in, Key* d_keys_out,
                          const Arguments& arguments) {
  const auto num_items = arguments.items_to_check(d_temp_storage);
  if (detail::refuses_partial_overlap(d_keys_out, "d_keys_out", d_keys_in, "d_keys_in", num_items)) {
    return cudaErrorInvalidValue;
  }
  return arguments.template dispatch<IsDescending, PolicyHub, Key, NullType>(
      d_temp_storage, temp_storage_bytes, {d_keys_in, d_keys_out, nullptr}, {}, false);
}

template <bool IsDescending, class PolicyHub, class Key, class Value, class Arguments>
cudaError_t sort_segments(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in, Key* d_keys_out,
                          const Value* d_values_in, Value* d_values_out, const Arguments& arguments) {
  const auto num_items = arguments.items_to_check(d_temp_storage);
  if (detail::pairs_overlap(d_keys_in, d_keys_out, d_values_in, d_values_out, num_items)) return cudaErrorInvalidValue;
  return arguments.template dispatch<IsDescending, PolicyHub, Key, Value>(d_temp_storage, temp_storage_bytes,
                                                                          {d_keys_in, d_keys_out, nullptr},
                                                                          {d_values_in, d_values_out, nullptr}, false);
}

template <bool IsDescending, class PolicyHub, class Key, class Arguments>
cudaError_t sort_segments(void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                          const Arguments& arguments) {
  if (detail::buffers_overlap(d_keys, arguments.items_to_check(d_temp_storage))) return cudaErrorInvalidValue;
  const bool to_alternate = detail::ends_in_alternate(arguments.begin_bit, arguments.end_bit);
  const cudaError_t status = arguments.template dispatch<IsDescending, PolicyHub, Key, NullType>(
      d_temp_storage, temp_storage_bytes, detail::buffers_of(d_keys, to_alternate), {}, true);
  return detail::select_alternate(d_temp_storage != nullptr && to_alternate, status, d_keys);
}

template <bool IsDescending, class PolicyHub, class Key, class Value, class Arguments>
cudaError_t sort_segments(void* d_temp_storage, std::size_t& temp_storage_bytes, DoubleBuffer<Key>& d_keys,
                          DoubleBuffer<Value>& d_values, const Arguments& arguments) {
  if (detail::buffers_overlap(d_keys, d_values, arguments.items_to_check(d_temp_storage))) return cudaErrorInvalidValue;
  const bool to_alternate = detail::ends_in_alternate(arguments.begin_bit, arguments.end_bit);
  const cudaError_t status = arguments.template dispatch<IsDescending, PolicyHub, Key, Value>(
      d_temp_storage, temp_storage_bytes, detail::buffers_of(d_keys, to_alternate),
      detail::buffers_of(d_values, to_alternate), true);
  return detail::select_alternate(d_temp_storage != nullptr && to_alternate, status, d_keys, d_values);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
