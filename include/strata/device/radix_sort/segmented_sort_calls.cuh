// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform/values.cuh>
#include <strata/core/policy_hub.hpp>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/merge_sort/calls.cuh>
#include <strata/device/radix_sort/segmented_sort_long.cuh>
#include <strata/device/radix_sort/segmented_sort_tuning.hpp>
#include <strata/device/radix_sort/tuning.hpp>
#include <strata/iterator/counting_input_iterator.cuh>

#include <cstddef>
#include <type_traits>

/// \file
/// DeviceSegmentedSort is DeviceSegmentedMergeSort with the order of radix sorts as comparator. In large calls the
/// longest segments are sorted by their digits instead.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The order of radix sorts as a comparator. It compares keys themselves where that gives the same order:
/// making the words that radix sorts compare takes up to ten instructions. `<` of floating-point numbers
/// alone would be no strict weak ordering because of NaNs.
template <class Key, bool IsDescending>
struct is_before_in_radix_sorts {
  STRATA_HD bool operator()(const Key& a, const Key& b) const { return IsDescending ? ascends(b, a) : ascends(a, b); }

 private:
  STRATA_HD static bool ascends(const Key& a, const Key& b) {
    if constexpr (std::is_integral_v<Key>) {
      return a < b;
    } else if constexpr (std::is_floating_point_v<Key>) {
      return platform::is_less_or_before_nan(a, b);
    } else {
      return RadixTraits<Key>::ordered(a) < RadixTraits<Key>::ordered(b);
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

template <class Key>
void check_number_keys() {
  static_assert(is_radix_key<Key>,
                "DeviceSegmentedSort takes integers and enumerations, and floating-point numbers of 8 to 64 bits; "
                "DeviceSegmentedMergeSort takes other keys, with a comparator");
}

template <class Policy>
using segmented_sort_rows = std::void_t<if_rows<radix_histogram_tuning, decltype(Policy::histogram)>,
                                        if_rows<radix_pass_tuning, decltype(Policy::pass)>,
                                        if_rows<long_segment_tuning, decltype(Policy::long_segments)>,
                                        if_rows<number_tile_tuning, decltype(Policy::number_tile)>>;

/// How numbers are sorted: the hub of the merges, and what sorts the longest segments. Passes over digits take values
/// from a `ValueIterator`.
template <class PolicyHub, class Key, class ValueIterator, class Value, bool IsDescending>
struct number_sort {
  static_assert(hub_has_rows<segmented_sort_rows, PolicyHub>,
                "DeviceSegmentedSort: each policy in the chain of PolicyHub::MaxPolicy must have, beside the members "
                "for merge sorts, histogram (radix_histogram_tuning), pass (radix_pass_tuning), long_segments "
                "(long_segment_tuning) and number_tile (number_tile_tuning)");
  using Hub = hub_or<segmented_sort_rows, PolicyHub, segmented_sort_policy_hub<Key, Value>>;
  using MaxPolicy = typename Hub::MaxPolicy;
  // The library's rows of passes are those of DeviceSegmentedRadixSort: programs that call both share the kernels.
  using library_rows = segmented_sort_policy_hub<Key, Value>;
  using PassPolicy =
      typename std::conditional_t<std::is_same_v<Hub, library_rows>, typename library_rows::digits, Hub>::MaxPolicy;
  using LongSort =
      std::conditional_t<MaxPolicy::long_segments.longest_merged == 0 && MaxPolicy::number_tile.most_segments == 0,
                         merge_long_segments,
                         sort_long_by_digits<MaxPolicy, PassPolicy, Key, ValueIterator, Value, IsDescending>>;
};

/// `d_values_in` is a pointer to `Value`, or NullType if keys have no values. If `alternate` is not null, the inputs
/// are the arrays of `output`, which are sorted in place. `alternate` is the second buffer, and has unspecified
/// contents afterwards.
template <bool IsDescending, class PolicyHub, class Key, class ValuesIn, class Value, class Segments>
cudaError_t sort_numbers(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                         ValuesIn d_values_in, const merge_sort_arrays<Key, Value>& output,
                         const segments_to_sort<Segments>& all, cudaStream_t stream,
                         const merge_sort_arrays<Key, Value>* alternate = nullptr) {
  detail::check_number_keys<Key>();
  using sorting = number_sort<PolicyHub, Key, ValuesIn, Value, IsDescending>;
  return detail::merge_sort_segments<typename sorting::Hub, Key, Value, typename sorting::LongSort>(
      d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in, output, all,
      is_before_in_radix_sorts<Key, IsDescending>{}, alternate != nullptr, true, stream, alternate);
}

template <bool IsDescending, class PolicyHub, class Key, class Segments>
cudaError_t sort_number_segments(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                 Key* d_keys_out, const segments_to_sort<Segments>& all, cudaStream_t stream) {
  const merge_sort_arrays<Key, NullType> output{d_keys_out, nullptr};
  return detail::sort_numbers<IsDescending, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, NullType{},
                                                       output, all, stream);
}

template <bool IsDescending, class PolicyHub, class Key, class Segments>
cudaError_t sort_number_segments(void* d_temp_storage, std::size_t& temp_storage_bytes, const DoubleBuffer<Key>& d_keys,
                                 const segments_to_sort<Segments>& all, cudaStream_t stream) {
  const merge_sort_arrays<Key, NullType> current{d_keys.Current(), nullptr}, alternate{d_keys.Alternate(), nullptr};
  return detail::sort_numbers<IsDescending, PolicyHub, Key>(d_temp_storage, temp_storage_bytes, current.keys,
                                                            NullType{}, current, all, stream, &alternate);
}

template <bool IsDescending, class PolicyHub, class Key, class Value, class Segments>
cudaError_t sort_number_segments(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys_in,
                                 Key* d_keys_out, const Value* d_values_in, Value* d_values_out,
                                 const segments_to_sort<Segments>& all, cudaStream_t stream) {
  const merge_sort_arrays<Key, Value> output{d_keys_out, d_values_out};
  return detail::sort_numbers<IsDescending, PolicyHub>(d_temp_storage, temp_storage_bytes, d_keys_in, d_values_in,
                                                       output, all, stream);
}

template <bool IsDescending, class PolicyHub, class Key, class Value, class Segments>
cudaError_t sort_number_segments(void* d_temp_storage, std::size_t& temp_storage_bytes, const DoubleBuffer<Key>& d_keys,
                                 const DoubleBuffer<Value>& d_values, const segments_to_sort<Segments>& all,
                                 cudaStream_t stream) {
  const merge_sort_arrays<Key, Value> current{d_keys.Current(), d_values.Current()},
      alternate{d_keys.Alternate(), d_values.Alternate()};
  return detail::sort_numbers<IsDescending, PolicyHub, Key, const Value*>(
      d_temp_storage, temp_storage_bytes, current.keys, current.values, current, all, stream, &alternate);
}

template <bool IsDescending, class PolicyHub, class Key, class Index, class Segments>
cudaError_t sort_number_indices(void* d_temp_storage, std::size_t& temp_storage_bytes, const Key* d_keys,
                                Index* d_indices, const segments_to_sort<Segments>& all, cudaStream_t stream) {
  detail::check_number_keys<Key>();
  using sorting = number_sort<PolicyHub, Key, CountingInputIterator<Index>, Index, IsDescending>;
  return detail::merge_sort_indices<typename sorting::Hub, typename sorting::LongSort>(
      d_temp_storage, temp_storage_bytes, d_keys, d_indices, all, is_before_in_radix_sorts<Key, IsDescending>{},
      stream);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
