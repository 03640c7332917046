// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/nvtx.hpp>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/calls.cuh>
#include <strata/device/segmented_radix_sort/dispatch.cuh>
#include <strata/device/segmented_reduce/segments.cuh>

#include <cstddef>

/// \file
/// What is behind the overloads of DeviceSegmentedRadixSort.

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Which bits of the keys of which segments.
template <class NumItemsT, class NumSegmentsT, class BeginOffsetIterator, class EndOffsetIterator>
struct segmented_sort_arguments {
  NumItemsT num_items;
  NumSegmentsT num_segments;
  offset_segments<BeginOffsetIterator, EndOffsetIterator> segments;
  int begin_bit;
  int end_bit;
  cudaStream_t stream;

  /// Of which arrays must not overlap.
  NumItemsT items_to_sort() const { return num_segments > 0 ? num_items : NumItemsT{0}; }

  template <bool IsDescending, class Value, class Key, class ValuePlaces>
  cudaError_t dispatch(void* d_temp_storage, std::size_t& temp_storage_bytes,
                       const radix_places<const Key*, Key>& keys, const ValuePlaces& values,
                       bool between_two_buffers) const {
    return DispatchSegmentedRadixSort<Key, Value, IsDescending, BeginOffsetIterator,
                                      EndOffsetIterator>::
        Dispatch(d_temp_storage, temp_storage_bytes, keys, values, num_items, num_segments,
                 segments, begin_bit, end_bit, between_two_buffers, stream);
  }
};
template <class NumItemsT, class NumSegmentsT, class Begin, class End>
segmented_sort_arguments(NumItemsT, NumSegmentsT, offset_segments<Begin, End>, int, int,
                         cudaStream_t)
    -> segmented_sort_arguments<NumItemsT, NumSegmentsT, Begin, End>;

template <bool IsDescending, class Key, class Arguments>
cudaError_t sort_segments(void* d_temp_storage, std::size_t& temp_storage_bytes,
                          const Key* d_keys_in, Key* d_keys_out, const Arguments& arguments) {
  STRATA_NVTX_RANGE("strata::DeviceSegmentedRadixSort::SortKeys");
  if (sort_overlaps(d_temp_storage, d_keys_in, d_keys_out, arguments.items_to_sort())) {
    return cudaErrorInvalidValue;
  }
  return arguments.template dispatch<IsDescending, NullType>(
      d_temp_storage, temp_storage_bytes,
      radix_places<const Key*, Key>{d_keys_in, d_keys_out, nullptr},
      radix_places<const Key*, Key>{}, false);
}

template <bool IsDescending, class Key, class Value, class Arguments>
cudaError_t sort_segments(void* d_temp_storage, std::size_t& temp_storage_bytes,
                          const Key* d_keys_in, Key* d_keys_out, const Value* d_values_in,
                          Value* d_values_out, const Arguments& arguments) {
  STRATA_NVTX_RANGE("strata::DeviceSegmentedRadixSort::SortPairs");
  const auto num_items = arguments.items_to_sort();
  if (sort_overlaps(d_temp_storage, d_keys_in, d_keys_out, num_items) ||
      detail::sort_overlaps(d_temp_storage, d_keys_in, d_values_out, num_items) ||
      detail::sort_overlaps(d_temp_storage, d_values_in, d_keys_out, num_items) ||
      detail::sort_overlaps(d_temp_storage, d_values_in, d_values_out, num_items) ||
      detail::sort_overlaps(d_temp_storage, d_keys_out, d_values_out, num_items)) {
    return cudaErrorInvalidValue;
  }
  return arguments.template dispatch<IsDescending, Value>(
      d_temp_storage, temp_storage_bytes,
      radix_places<const Key*, Key>{d_keys_in, d_keys_out, nullptr},
      radix_places<const Value*, Value>{d_values_in, d_values_out, nullptr}, false);
}

template <bool IsDescending, class Key, class Arguments>
cudaError_t sort_segments(void* d_temp_storage, std::size_t& temp_storage_bytes,
                          DoubleBuffer<Key>& d_keys, const Arguments& arguments) {
  STRATA_NVTX_RANGE("strata::DeviceSegmentedRadixSort::SortKeys");
  if (sort_overlaps(d_temp_storage, d_keys.Current(), d_keys.Alternate(),
                    arguments.items_to_sort())) {
    return cudaErrorInvalidValue;
  }
  const bool moves = detail::moves_to_alternate(arguments.begin_bit, arguments.end_bit);
  const cudaError_t status = arguments.template dispatch<IsDescending, NullType>(
      d_temp_storage, temp_storage_bytes, detail::double_buffer_places(d_keys, moves),
      radix_places<const Key*, Key>{}, true);
  if (d_temp_storage != nullptr && status == cudaSuccess && moves) d_keys.selector ^= 1;
  return status;
}

template <bool IsDescending, class Key, class Value, class Arguments>
cudaError_t sort_segments(void* d_temp_storage, std::size_t& temp_storage_bytes,
                          DoubleBuffer<Key>& d_keys, DoubleBuffer<Value>& d_values,
                          const Arguments& arguments) {
  STRATA_NVTX_RANGE("strata::DeviceSegmentedRadixSort::SortPairs");
  const auto num_items = arguments.items_to_sort();
  for (int i = 0; i < 2; ++i) {
    if (sort_overlaps(d_temp_storage, d_keys.d_buffers[i], d_values.d_buffers[0], num_items) ||
        sort_overlaps(d_temp_storage, d_keys.d_buffers[i], d_values.d_buffers[1], num_items)) {
      return cudaErrorInvalidValue;
    }
  }
  if (sort_overlaps(d_temp_storage, d_keys.Current(), d_keys.Alternate(), num_items) ||
      sort_overlaps(d_temp_storage, d_values.Current(), d_values.Alternate(), num_items)) {
    return cudaErrorInvalidValue;
  }
  const bool moves = detail::moves_to_alternate(arguments.begin_bit, arguments.end_bit);
  const cudaError_t status = arguments.template dispatch<IsDescending, Value>(
      d_temp_storage, temp_storage_bytes, detail::double_buffer_places(d_keys, moves),
      detail::double_buffer_places(d_values, moves), true);
  if (d_temp_storage != nullptr && status == cudaSuccess && moves) {
    d_keys.selector ^= 1;
    d_values.selector ^= 1;
  }
  return status;
}

STRATA_ARCH_DETAIL_NAMESPACE_END
