// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Calls of DeviceSegmentedRadixSort with policies for tests.
#pragma once

#include <strata/device/device_segmented_radix_sort.cuh>

#include <cstddef>
#include <type_traits>

namespace device_test {

/// Tiles of 512 items. Passes sort longer segments, in tiles of `PassItems` items for each of `PassThreads` threads:
/// passes of many blocks if a segment is longer than two of these tiles, otherwise passes of one block.
template <int PassThreads, int PassItems>
struct tiles_of {
  struct Policy : strata::ChainedPolicy<750, Policy, Policy> {
    static constexpr strata::segmented_radix_sort_tuning segmented{256, 1, 2, 1, 64 << 10};
    static constexpr strata::radix_histogram_tuning histogram{256, 16 << 10};
    static constexpr strata::radix_pass_tuning pass{PassThreads, PassItems, 1};
  };
  using MaxPolicy = Policy;
};

/// A two-phase call with the tuning `Hub`. `Value` is NullType for keys alone.
template <class Hub, bool IsDescending, class Value, class Key, class Offset, class NumItemsT, class NumSegmentsT>
cudaError_t sort_segments_tuned(void* storage, std::size_t& bytes, const Key* in, Key* out, const Value* values_in,
                                Value* values_out, NumItemsT items, NumSegmentsT segments, const Offset* begins,
                                const Offset* ends, int begin_bit, int end_bit, cudaStream_t on = nullptr) {
  using Sort = strata::TunedDeviceSegmentedRadixSort<Hub>;
  if constexpr (std::is_same_v<Value, strata::NullType>) {
    static_cast<void>(values_in), static_cast<void>(values_out);
    if constexpr (IsDescending) {
      return Sort::SortKeysDescending(storage, bytes, in, out, items, segments, begins, ends, begin_bit, end_bit, on);
    } else {
      return Sort::SortKeys(storage, bytes, in, out, items, segments, begins, ends, begin_bit, end_bit, on);
    }
  } else if constexpr (IsDescending) {
    return Sort::SortPairsDescending(storage, bytes, in, out, values_in, values_out, items, segments, begins, ends,
                                     begin_bit, end_bit, on);
  } else {
    return Sort::SortPairs(storage, bytes, in, out, values_in, values_out, items, segments, begins, ends, begin_bit,
                           end_bit, on);
  }
}

/// Sorts segments between two buffers. `Values` is a DoubleBuffer, or NullType for keys alone.
template <class Hub, bool IsDescending, class Key, class Values, class Offset, class NumItemsT, class NumSegmentsT>
cudaError_t sort_segments_tuned(void* storage, std::size_t& bytes, strata::DoubleBuffer<Key>& keys, Values& values,
                                NumItemsT items, NumSegmentsT segments, const Offset* begins, const Offset* ends,
                                int begin_bit, int end_bit, cudaStream_t on = nullptr) {
  using Sort = strata::TunedDeviceSegmentedRadixSort<Hub>;
  if constexpr (std::is_same_v<Values, strata::NullType>) {
    static_cast<void>(values);
    if constexpr (IsDescending) {
      return Sort::SortKeysDescending(storage, bytes, keys, items, segments, begins, ends, begin_bit, end_bit, on);
    } else {
      return Sort::SortKeys(storage, bytes, keys, items, segments, begins, ends, begin_bit, end_bit, on);
    }
  } else if constexpr (IsDescending) {
    return Sort::SortPairsDescending(storage, bytes, keys, values, items, segments, begins, ends, begin_bit, end_bit,
                                     on);
  } else {
    return Sort::SortPairs(storage, bytes, keys, values, items, segments, begins, ends, begin_bit, end_bit, on);
  }
}

}  // namespace device_test
