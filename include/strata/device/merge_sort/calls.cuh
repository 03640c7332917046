// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/segments.cuh>
#include <strata/device/merge_sort/dispatch.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The names of the arguments that pass the arrays of a call.
struct merge_sort_arguments {
  const char* keys;
  const char* values;
  const char* keys_out;
  const char* values_out;
  const char* keys_buffer = "a buffer of d_keys";
  const char* values_buffer = "a buffer of d_values";

  template <bool HasOneSegment>
  static constexpr merge_sort_arguments of(bool is_in_place) {
    if (HasOneSegment) {
      return is_in_place ? merge_sort_arguments{"d_keys", "d_items", "d_keys", "d_items"}
                         : merge_sort_arguments{"d_input_keys", "d_input_items", "d_output_keys", "d_output_items"};
    }
    return is_in_place ? merge_sort_arguments{"d_keys", "d_values", "d_keys", "d_values"}
                       : merge_sort_arguments{"d_keys_in", "d_values_in", "d_keys_out", "d_values_out"};
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// The segments of a call, made from counts of any integer types, and what the host knows of them.
template <class Segments>
struct segments_to_sort {
  Segments segments;
  unsigned long long num_items = 0;
  long long num_segments = 0;
  long long longest = 0;
  bool has_valid_counts = true;
};

template <class NumItemsT, class NumSegmentsT, class Begins, class Ends>
segments_to_sort<offset_segments<Begins, Ends>> segments_of(NumItemsT num_items, NumSegmentsT num_segments,
                                                            Begins begins, Ends ends) {
  static_assert(std::is_integral_v<iterator_value_t<Begins>> && std::is_integral_v<iterator_value_t<Ends>>,
                "offsets of segments must be integers: convert them, for example by a TransformInputIterator");
  segments_to_sort<offset_segments<Begins, Ends>> all{{begins, ends}};
  all.has_valid_counts = !detail::refuses_count(num_items, "num_items") && all.segments.have_valid_counts(num_segments);
  if (!all.has_valid_counts) return all;
  all.num_items = static_cast<unsigned long long>(num_items);
  all.num_segments = static_cast<long long>(num_segments);
  all.longest = static_cast<long long>(num_items);
  return all;
}

template <class Segments = fixed_size_segments, class NumSegmentsT, class SegmentSizeT>
segments_to_sort<Segments> segments_of(NumSegmentsT num_segments, SegmentSizeT segment_size) {
  segments_to_sort<Segments> all{};
  constexpr const char* size = std::is_same_v<Segments, single_segment> ? "num_items" : "segment_size";
  all.has_valid_counts =
      !detail::refuses_count(num_segments, "num_segments") && !detail::refuses_count(segment_size, size);
  if (!all.has_valid_counts) return all;
  all.segments.size = all.longest = static_cast<long long>(segment_size);
  all.num_segments = static_cast<long long>(num_segments);
  all.has_valid_counts = all.segments.have_valid_counts(num_segments);
  if (!all.has_valid_counts) return all;
  all.num_items = static_cast<unsigned long long>(all.num_segments) * static_cast<unsigned long long>(all.longest);
  return all;
}

/// Wraps a comparator whose operator() is not const. The operator() of the wrapper is const.
template <class Compare>
struct const_comparator {
  Compare compare;

  template <class A, class B>
  STRATA_HD bool operator()(const A& a, const B& b) const {
    Compare copy = compare;
    return static_cast<bool>(copy(a, b));
  }
};
template <class Key, class Compare>
using const_comparator_t =
    std::conditional_t<std::is_invocable_v<const Compare&, const Key&, const Key&>, Compare, const_comparator<Compare>>;

/// Iterator over 0, 1, 2 ...: the values of a sort of indices.
template <class Index>
struct item_index_iterator {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Index;
  using difference_type = long long;
  using pointer = const Index*;
  using reference = Index;
  STRATA_HD Index operator[](long long index) const {
    STRATA_ASSERT(can_index<Index>(index + 1), "the index %lld of an item does not fit the type of indices", index);
    return static_cast<Index>(index);
  }
};

/// Sorts keys, and values with them unless `Value` is NullType, from inputs to outputs. In sorts in place
/// both are the same arrays. A `buffer` has as many items as the output. With it, less temporary storage is needed.
template <class PolicyHub, class Key, class Value, class LongSort = merge_long_segments, class KeysIn, class ValuesIn,
          class Segments, class Compare>
cudaError_t merge_sort_segments(void* d_temp_storage, std::size_t& temp_storage_bytes, KeysIn keys, ValuesIn values,
                                merge_sort_arrays<Key, Value> output, const segments_to_sort<Segments>& all,
                                Compare compare, bool is_in_place, bool wants_keys, cudaStream_t stream,
                                const merge_sort_arrays<Key, Value>* buffer = nullptr) {
  constexpr bool has_values = !std::is_same_v<Value, NullType>;
  if (!all.has_valid_counts || detail::refuses_reach(keys, all.num_items, "d_keys") ||
      detail::refuses_reach(values, all.num_items, "d_values")) {
    return cudaErrorInvalidValue;
  }
  if (d_temp_storage != nullptr && all.num_items != 0 && all.num_segments != 0) {
    const auto names = merge_sort_arguments::of<std::is_same_v<Segments, single_segment>>(is_in_place);
    const auto items = static_cast<std::size_t>(all.num_items);
    if (all.segments.has_null() || detail::refuses_null(keys, names.keys) ||
        (wants_keys && detail::refuses_null(output.keys, names.keys_out)) ||
        (has_values &&
         (detail::refuses_null(values, names.values) || detail::refuses_null(output.values, names.values_out)))) {
      return cudaErrorInvalidValue;
    }
    if (buffer != nullptr && (detail::refuses_null(buffer->keys, names.keys_buffer) ||
                              (has_values && detail::refuses_null(buffer->values, names.values_buffer)))) {
      return cudaErrorInvalidValue;
    }
    // Keys that are not wanted are null, and so are missing arrays. Null arrays have no bytes.
    const merge_sort_arrays<Key, Value> second = buffer != nullptr ? *buffer : merge_sort_arrays<Key, Value>{};
    const argument_bytes outputs[] = {detail::bytes_of(output.keys, items, names.keys_out),
                                      detail::bytes_of(output.values, items, names.values_out),
                                      detail::bytes_of(second.keys, items, names.keys_buffer),
                                      detail::bytes_of(second.values, items, names.values_buffer)};
    if (detail::pairs_overlap(keys, output.keys, values, output.values, items,
                              {names.keys, names.keys_out, names.values, names.values_out}) ||
        detail::outputs_overlap(outputs)) {
      return cudaErrorInvalidValue;
    }
    for (const argument_bytes& written : outputs) {
      if (all.segments.overlap(written, all.num_segments)) return cudaErrorInvalidValue;
    }
  }
  constexpr bool has_defaults = std::is_default_constructible_v<Key> && std::is_default_constructible_v<Value>;
  static_assert(has_defaults, "merge sorts move keys and values as bits: both types must be default constructible");
  if constexpr (compare_requirements<Compare, Key>::are_met && are_relocatable<Key, Value> && has_defaults) {
    using ConstCompare = const_comparator_t<Key, Compare>;
    using Dispatch =
        DispatchSegmentedMergeSort<Key, Value, KeysIn, ValuesIn, Segments, ConstCompare, PolicyHub, LongSort>;
    return Dispatch::Dispatch(d_temp_storage, temp_storage_bytes,
                              {keys, values, output, all.num_items, all.num_segments, all.segments, all.longest,
                               is_in_place, wants_keys, ConstCompare{compare}, stream, buffer});
  }
  return cudaErrorInvalidValue;
}

/// Writes the indices of the keys in sorted order.
template <class PolicyHub, class LongSort = merge_long_segments, class Key, class Index, class Segments, class Compare>
cudaError_t merge_sort_indices(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys,
                               Index* d_indices, const segments_to_sort<Segments>& all, Compare compare,
                               cudaStream_t stream) {
  static_assert(std::is_integral_v<Index>, "SortIndices writes indices of items: d_indices must point to integers");
  if (detail::refuses_index_type<Index>(all.num_items, "d_indices")) return cudaErrorInvalidValue;
  return detail::merge_sort_segments<PolicyHub, Key, Index, LongSort>(
      d_temp_storage, temp_storage_bytes, d_keys, item_index_iterator<Index>{}, {nullptr, d_indices}, all, compare,
      false, false, stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
