// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/type_name.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/environment.hpp>
#include <strata/device/top_k/agent_segmented.cuh>
#include <strata/device/top_k/segmented_arguments.cuh>
#include <strata/device/top_k/segmented_dispatch.cuh>
#include <strata/iterator/counting_input_iterator.cuh>
#include <strata/iterator/specializations/random_access.hpp>
#include <strata/iterator/transform_input_iterator.cuh>

#include <cstddef>
#include <limits>
#include <type_traits>

/// \file
/// Arguments of DeviceBatchedTopK: numbers in the wrappers of `cuda::args`, without the headers of libcu++, and an
/// iterator for each segment.

STRATA_NAMESPACE_BEGIN
namespace detail {

// ------------------------------------------------------------------ numbers

/// The kinds of arguments for a number. The wrappers of libcu++ are recognised by their names. Functions of their
/// namespace, found by argument-dependent lookup, return the numbers or iterators that wrappers hold.
enum class annotated_number {
  none,
  value,           ///< An integer, `constant` or `immediate`: the host knows it.
  on_device,       ///< `deferred`: one number in device memory.
  of_each_segment  ///< `deferred_sequence`: as many numbers in device memory as there are segments.
};

template <class T>
constexpr annotated_number annotated_number_of() {
  if constexpr (std::is_integral_v<T>) {
    return annotated_number::value;
  } else if constexpr (std::is_class_v<T>) {
    const char* text = detail::type_name<T>();
    if (!detail::skips(text, "cuda::")) return annotated_number::none;
    text = detail::without_namespaces(text);
    if (detail::is_name(text, "constant") || detail::is_name(text, "immediate")) return annotated_number::value;
    if (detail::is_name(text, "deferred")) return annotated_number::on_device;
    if (detail::is_name(text, "deferred_sequence")) return annotated_number::of_each_segment;
  }
  return annotated_number::none;
}

/// Returns the number, or an iterator to it.
template <class T>
auto annotated_argument(const T& argument) {
  if constexpr (std::is_integral_v<T>) {
    return argument;
  } else {
    return __unwrap(argument);
  }
}

/// Returns the number, or its upper bound. An impossible number is returned as a negative one, an impossible bound as
/// the largest number.
template <class T>
long long annotated_bound(const T& argument) {
  if constexpr (detail::annotated_number_of<T>() == annotated_number::value) {
    return count64(detail::annotated_argument(argument));
  } else {
    const long long bound = count64(__highest_(argument));
    return bound < 0 ? std::numeric_limits<long long>::max() : bound;
  }
}

/// Returns the same number for each segment: the first item of `iterator`.
template <class Iterator>
struct first_item_of {
  using value_type = iterator_value_t<Iterator>;

  Iterator iterator;

  STRATA_HD value_type operator()(long long /*segment*/) const { return detail::item_at(iterator, 0); }
};

/// Returns an integer, or an iterator to a number for each segment.
template <class T>
auto number_of_segment(const T& argument) {
  if constexpr (detail::annotated_number_of<T>() == annotated_number::value) {
    return detail::annotated_bound(argument);
  } else if constexpr (detail::annotated_number_of<T>() == annotated_number::on_device) {
    using First = first_item_of<decltype(detail::annotated_argument(argument))>;
    return TransformInputIterator<typename First::value_type, First, CountingInputIterator<long long>>(
        CountingInputIterator<long long>(0), First{detail::annotated_argument(argument)});
  } else {
    return detail::annotated_argument(argument);
  }
}

// ------------------------------------------------------------------ items

/// The items of all segments. `iterators` has an iterator for each segment. Item i is item i % 2^shift of segment
/// i / 2^shift.
template <class Iterators>
class segment_items : public random_access<segment_items<Iterators>, long long, long long> {
  using base = random_access<segment_items, long long, long long>;
  using Items = iterator_value_t<Iterators>;

 public:
  using value_type = typename std::iterator_traits<Items>::value_type;
  using reference = decltype(*std::declval<Items&>());
  using pointer = void;

  segment_items(Iterators iterators, int shift) : iterators_(iterators), shift_(shift) {}

  STRATA_HD Items from(std::size_t n) const {
    const std::size_t place = static_cast<std::size_t>(this->position_) + n;
    const std::size_t segment = place >> shift_;
    return detail::advanced(detail::item_at(iterators_, segment), place - (segment << shift_));
  }
  template <class Distance>
  STRATA_HD reference operator[](Distance n) const {
    return *from(static_cast<std::size_t>(n));
  }
  STRATA_HD reference operator*() const { return *from(0); }

  const Iterators& iterators() const { return iterators_; }

 private:
  Iterators iterators_;
  int shift_;
};
template <class Iterators>
inline constexpr bool has_items_of_segments<segment_items<Iterators>> = true;

/// The iterators may lie in device memory, so the host does not know where the items are.
template <class Iterators>
struct argument_traits<segment_items<Iterators>> {
  static bool is_null(const segment_items<Iterators>& items) { return detail::is_null(items.iterators()); }
  STRATA_HD static byte_range bytes(const segment_items<Iterators>&, std::size_t) { return {}; }
  static constexpr bool can_index(std::size_t) { return true; }
  static constexpr bool overlaps_itself(const segment_items<Iterators>&) { return false; }
};

/// Returns the items of all segments, or NullType if there are no iterators.
template <class Iterators>
auto items_of_segments(const Iterators& iterators, int shift) {
  if constexpr (std::is_same_v<Iterators, NullType>) {
    return NullType{};
  } else {
    return segment_items<Iterators>(iterators, shift);
  }
}

/// Results in rows of 2^shift items.
template <class K>
class batched_result_rows : public result_rows<K> {
 public:
  batched_result_rows(K k, long long max_results, int shift)
      : result_rows<K>(k, 1LL << shift), max_results_(max_results) {}

  long long max_results() const { return max_results_; }
  std::size_t reach(long long num_segments, long long max_size) const {
    return max_results_ > 0 ? result_rows<K>::reach(num_segments, max_size) : 0;
  }

 private:
  long long max_results_;
};

// ------------------------------------------------------------------ requirements

/// True if an environment requires `output_ordering::unsorted`. False if it requires nothing.
template <class Where>
constexpr bool may_be_unsorted() {
  using Requirements = typename requirements_of<Where>::all;
  constexpr int order = detail::required_number<Requirements, environment_query::output_ordering>(
      static_cast<int>(output_ordering::stable_sorted));
  return static_cast<output_ordering>(order) == output_ordering::unsorted;
}

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

/// Carries out one call of DeviceBatchedTopK.
template <bool IsMax, bool IsSorted, class KeyIterators, class KeyOutputIterators, class ValueIterators,
          class ValueOutputIterators, class SegmentSizes, class K, class NumSegments>
cudaError_t batched_top_k(void* d_temp_storage, std::size_t& temp_storage_bytes, KeyIterators d_keys_in,
                          KeyOutputIterators d_keys_out, ValueIterators d_values_in, ValueOutputIterators d_values_out,
                          const SegmentSizes& segment_sizes, const K& k, const NumSegments& num_segments,
                          cudaStream_t stream) {
  constexpr annotated_number size_is = detail::annotated_number_of<SegmentSizes>(),
                             k_is = detail::annotated_number_of<K>();
  static_assert(size_is != annotated_number::none && k_is != annotated_number::none,
                "DeviceBatchedTopK: segment_sizes and k must be integers, or a constant, immediate, deferred or "
                "deferred_sequence of cuda::args");
  static_assert(detail::annotated_number_of<NumSegments>() == annotated_number::value,
                "DeviceBatchedTopK: num_segments must be an integer, or a constant or immediate of cuda::args");
  if constexpr (size_is != annotated_number::none && k_is != annotated_number::none &&
                detail::annotated_number_of<NumSegments>() == annotated_number::value) {
    const long long segments = detail::annotated_bound(num_segments);
    const long long most_items = detail::annotated_bound(segment_sizes);
    const long long most_results = detail::least(detail::annotated_bound(k), most_items);
    // The bound of a length may be more than any memory has, for example the largest number of its type. Then each
    // segment gets an equal share of the item indices below 2^62.
    const int room =
        detail::most(62 - detail::log2_ceiling(static_cast<unsigned long long>(detail::most(segments, 1LL))), 0);
    const auto shift_for = [room](long long items) {
      return detail::least(detail::log2_ceiling(static_cast<unsigned long long>(detail::most(items, 1LL))), room);
    };
    const int shift = shift_for(most_items), results_shift = shift_for(most_results);
    const long long stride = 1LL << shift;
    if (detail::is_refused(size_is == annotated_number::value && most_items > stride, "segment_sizes",
                           "times the number of segments (rounded up to a power of two) is larger than 2^62") ||
        detail::refuses_reach(d_keys_in, segments, "d_keys_in") ||
        detail::refuses_reach(d_keys_out, segments, "d_keys_out") ||
        detail::refuses_reach(d_values_in, segments, "d_values_in") ||
        detail::refuses_reach(d_values_out, segments, "d_values_out")) {
      return cudaErrorInvalidValue;
    }
    if (d_temp_storage != nullptr && segments > 0 && most_results > 0) {
      if constexpr (size_is != annotated_number::value) {
        if (detail::refuses_null(detail::annotated_argument(segment_sizes), "segment_sizes")) {
          return cudaErrorInvalidValue;
        }
      }
      if constexpr (k_is != annotated_number::value) {
        if (detail::refuses_null(detail::annotated_argument(k), "k")) return cudaErrorInvalidValue;
      }
    }
    const auto call = [&](const auto& rows) {
      const auto number = detail::number_of_segment(k);
      return detail::segmented_top_k<IsMax, IsSorted, default_policy_hub>(
          d_temp_storage, temp_storage_bytes, detail::items_of_segments(d_keys_in, shift),
          detail::items_of_segments(d_keys_out, results_shift), detail::items_of_segments(d_values_in, shift),
          detail::items_of_segments(d_values_out, results_shift), rows,
          batched_result_rows<std::decay_t<decltype(number)>>(number, most_results, results_shift),
          identity_decomposer{}, stream);
    };
    if constexpr (size_is == annotated_number::value) {
      return call(segments_of_size(segments, most_items, stride));
    } else {
      const auto sizes = detail::number_of_segment(segment_sizes);
      return call(segments_by_lengths<std::decay_t<decltype(sizes)>>(segments, sizes, stride));
    }
  } else {
    return cudaErrorInvalidValue;
  }
}

STRATA_ARCH_DETAIL_NAMESPACE_END
