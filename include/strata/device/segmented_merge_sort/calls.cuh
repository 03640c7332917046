// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/arguments.cuh>
#include <strata/device/overlap.hpp>
#include <strata/device/reduce/output.cuh>
#include <strata/device/segmented_merge_sort/dispatch.cuh>
#include <strata/device/segmented_merge_sort/transfer.cuh>
#include <strata/device/segmented_reduce/segments.cuh>

#include <cstddef>
#include <limits>
#include <type_traits>

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Which segments a call sorts, from counts of any integer types; what the host can know of them.
template <class Segments>
struct segments_to_sort {
  Segments segments;
  unsigned long long num_items = 0;
  long long num_segments = 0;
  long long longest = 0;
  bool has_valid_counts = true;
  bool has_offsets = true;
};

template <class NumItemsT, class NumSegmentsT, class Begins, class Ends>
segments_to_sort<offset_segments<Begins, Ends>> segments_by_offsets(NumItemsT num_items,
                                                                    NumSegmentsT num_segments,
                                                                    Begins begins, Ends ends) {
  static_assert(std::is_integral_v<iterator_value_t<Begins>> &&
                    std::is_integral_v<iterator_value_t<Ends>>,
                "Offset iterator type should be integral.");
  segments_to_sort<offset_segments<Begins, Ends>> all{{begins, ends}};
  all.has_valid_counts = detail::is_count(num_items) && detail::is_count(num_segments);
  if (!all.has_valid_counts) return all;
  all.num_items = static_cast<unsigned long long>(num_items);
  all.num_segments = static_cast<long long>(num_segments);
  all.longest = static_cast<long long>(num_items);
  all.has_offsets =
      num_items == 0 || num_segments == 0 || (!detail::is_null(begins) && !detail::is_null(ends));
  return all;
}

template <class NumSegmentsT, class SegmentSizeT>
segments_to_sort<fixed_size_segments> segments_of_size(NumSegmentsT num_segments,
                                                       SegmentSizeT segment_size) {
  segments_to_sort<fixed_size_segments> all{{0}};
  all.has_valid_counts = detail::is_count(num_segments) && detail::is_count(segment_size);
  if (!all.has_valid_counts) return all;
  all.segments.size = all.longest = static_cast<long long>(segment_size);
  all.num_segments = static_cast<long long>(num_segments);
  if (all.longest > 0 && all.num_segments > std::numeric_limits<long long>::max() / all.longest) {
    all.has_valid_counts = false;
    return all;
  }
  all.num_items = static_cast<unsigned long long>(all.num_segments) *
                  static_cast<unsigned long long>(all.longest);
  return all;
}

/// A comparator whose operator() is not const, as one that is.
template <class Compare>
struct const_comparator {
  Compare compare;

  template <class A, class B>
  STRATA_HD bool operator()(const A& a, const B& b) const {
    Compare own = compare;
    return static_cast<bool>(own(a, b));
  }
};
template <class Key, class Compare>
using const_comparator_t =
    std::conditional_t<std::is_invocable_v<const Compare&, const Key&, const Key&>, Compare,
                       const_comparator<Compare>>;

/// Sorts keys, and values with them unless `Value` is NullType, from inputs to outputs, which are the
/// same arrays in sorts in place.
template <class Key, class Value, class KeysIn, class ValuesIn, class Segments, class Compare>
cudaError_t merge_sort_segments(void* d_temp_storage, std::size_t& temp_storage_bytes, KeysIn keys,
                                ValuesIn values, merge_sort_arrays<Key, Value> output,
                                const segments_to_sort<Segments>& all, Compare compare,
                                bool is_in_place, bool wants_keys, cudaStream_t stream) {
  constexpr bool has_values = !std::is_same_v<Value, NullType>;
  if (!all.has_valid_counts) return cudaErrorInvalidValue;
  if (d_temp_storage != nullptr && all.num_items != 0 && all.num_segments != 0) {
    const auto items = static_cast<std::size_t>(all.num_items);
    const auto overlap = [items](const auto& a, const auto& b) {
      return detail::arrays_overlap(a, items, b, items);
    };
    const auto lies_on_offsets = [&](const auto& out) {
      return all.segments.overlap(out, items, static_cast<std::size_t>(all.num_segments));
    };
    if (!all.has_offsets || detail::is_null(keys)) return cudaErrorInvalidValue;
    if (wants_keys && (output.keys == nullptr || lies_on_offsets(output.keys) ||
                       (!is_in_place && overlap(keys, output.keys)))) {
      return cudaErrorInvalidValue;
    }
    if constexpr (has_values) {
      if (detail::is_null(values) || output.values == nullptr || lies_on_offsets(output.values) ||
          overlap(keys, output.values) || (wants_keys && overlap(output.keys, output.values)) ||
          (!is_in_place &&
           (overlap(values, output.values) || (wants_keys && overlap(values, output.keys))))) {
        return cudaErrorInvalidValue;
      }
    }
  }
  if constexpr (compare_requirements<Compare, Key>::are_met) {
    using ConstCompare = const_comparator_t<Key, Compare>;
    using Dispatch =
        DispatchSegmentedMergeSort<Key, Value, KeysIn, ValuesIn, Segments, ConstCompare>;
    return Dispatch::Dispatch(
        d_temp_storage, temp_storage_bytes,
        {keys, values, output, all.num_items, all.num_segments, all.segments, all.longest,
         is_in_place, wants_keys, ConstCompare{compare}, stream});
  }
  return cudaErrorInvalidValue;
}

STRATA_ARCH_DETAIL_NAMESPACE_END
