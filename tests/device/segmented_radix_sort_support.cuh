// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls of DeviceSegmentedRadixSort with other tunings than its own.
#pragma once

#include <strata/device/device_segmented_radix_sort.cuh>

#include <cstddef>
#include <type_traits>

namespace device_test {

/// Tiles of 512 items. A longer segment takes passes: of many blocks if it is longer than two tiles of these passes,
/// which have `PassItems` items for each of `PassThreads` threads, or of one block.
template <int PassThreads, int PassItems>
struct tiles_of {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::segmented_radix_sort_tuning segmented{256, 1, 2, 1, 64 << 10};
    static constexpr strata::radix_histogram_tuning histogram{256, 16 << 10};
    static constexpr strata::radix_pass_tuning pass{PassThreads, PassItems, 1};
  };
  using MaxPolicy = Policy;
  static constexpr std::size_t least_tile_items = static_cast<std::size_t>(PassThreads) * PassItems;
};
/// A two-phase call with the tuning `Hub`. `Value` is NullType for keys alone.
template <class Hub, bool IsDescending, class Value, class Key, class Offset, class NumItemsT, class NumSegmentsT>
cudaError_t sort_segments_tuned(void* storage, std::size_t& bytes, const Key* in, Key* out, const Value* values_in,
                                Value* values_out, NumItemsT items, NumSegmentsT segments, const Offset* begins,
                                const Offset* ends, int begin_bit, int end_bit, cudaStream_t on = nullptr) {
  using dispatch =
      strata::detail::DispatchSegmentedRadixSort<Key, Value, IsDescending, const Offset*, const Offset*, Hub>;
  typename dispatch::ValueBuffers values{};
  if constexpr (dispatch::has_values) values = {values_in, values_out, nullptr};
  return dispatch::Dispatch(storage, bytes, {in, out, nullptr}, values, items, segments, {begins, ends}, begin_bit,
                            end_bit, false, on);
}

/// The same between two buffers. `Values` is a DoubleBuffer, or NullType for keys alone.
template <class Hub, bool IsDescending, class Key, class Values, class Offset, class NumItemsT, class NumSegmentsT>
cudaError_t sort_segments_tuned(void* storage, std::size_t& bytes, strata::DoubleBuffer<Key>& keys, Values& values,
                                NumItemsT items, NumSegmentsT segments, const Offset* begins, const Offset* ends,
                                int begin_bit, int end_bit, cudaStream_t on = nullptr) {
  using namespace strata::detail;
  const bool to_alternate = ends_in_alternate(begin_bit, end_bit);
  const bool is_call = storage != nullptr && to_alternate;
  if constexpr (std::is_same_v<Values, strata::NullType>) {
    using dispatch = DispatchSegmentedRadixSort<Key, strata::NullType, IsDescending, const Offset*, const Offset*, Hub>;
    return select_alternate(is_call,
                            dispatch::Dispatch(storage, bytes, buffers_of(keys, to_alternate), {}, items, segments,
                                               {begins, ends}, begin_bit, end_bit, true, on),
                            keys);
  } else {
    using Value = std::remove_pointer_t<decltype(values.Current())>;
    using dispatch = DispatchSegmentedRadixSort<Key, Value, IsDescending, const Offset*, const Offset*, Hub>;
    return select_alternate(
        is_call,
        dispatch::Dispatch(storage, bytes, buffers_of(keys, to_alternate), buffers_of(values, to_alternate), items,
                           segments, {begins, ends}, begin_bit, end_bit, true, on),
        keys, values);
  }
}

}  // namespace device_test
