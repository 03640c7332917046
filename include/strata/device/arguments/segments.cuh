// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/arguments/arrays.hpp>
#include <strata/device/arguments/counts.cuh>

#include <cstddef>
#include <limits>
#include <type_traits>

/// \file
/// Segments of a sequence, as arguments of a call: where they are, and what the host knows of them.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The items of a segment. One that ends before it begins is empty.
struct segment_bounds {
  long long begin;
  long long length;
};

/// Segments given by two sequences of offsets.
template <class BeginOffsetIterator, class EndOffsetIterator>
struct offset_segments {
  BeginOffsetIterator begins;
  EndOffsetIterator ends;

  /// Whether a segment may have more items, as far as the host knows.
  bool may_exceed(long long) const { return true; }

  /// Whether there can be so many segments. Size queries ask this, too.
  template <class Integer>
  bool have_valid_counts(Integer num_segments) const {
    return detail::is_count(num_segments) && detail::can_reach(begins, num_segments) &&
           detail::can_reach(ends, num_segments);
  }
  /// Whether types of arrays can represent all items and the indices in a segment. Of items and of
  /// indices only the device knows.
  template <class InputIterator, class OutputIterator>
  bool have_valid_types(const InputIterator&, const OutputIterator& d_out, long long num_segments) const {
    return detail::can_reach(d_out, num_segments);
  }

  bool has_null() const { return detail::is_null(begins) || detail::is_null(ends); }

  /// Whether segments of `d_in` can be read to write one item each to `d_out`. How far segments
  /// reach is known to the device alone.
  template <class InputIterator, class OutputIterator>
  bool are_valid(const InputIterator& d_in, const OutputIterator& d_out, long long num_segments) const {
    return !has_null() && !detail::is_null(d_in) &&
           !overlap(d_out, static_cast<std::size_t>(num_segments), num_segments) &&
           !detail::begins_within(d_out, d_in, 1);
  }
  /// Whether an array of `count` items has a byte in common with the offsets.
  template <class OutputIterator, class NumSegmentsT>
  bool overlap(const OutputIterator& d_out, std::size_t count, NumSegmentsT num_segments) const {
    return detail::arrays_overlap(d_out, count, begins, num_segments) ||
           detail::arrays_overlap(d_out, count, ends, num_segments);
  }

  STRATA_D segment_bounds operator()(long long segment) const {
    using begin_difference = typename std::iterator_traits<BeginOffsetIterator>::difference_type;
    using end_difference = typename std::iterator_traits<EndOffsetIterator>::difference_type;
    const auto begin = static_cast<long long>(begins[static_cast<begin_difference>(segment)]);
    const auto end = static_cast<long long>(ends[static_cast<end_difference>(segment)]);
    return {begin, end > begin ? end - begin : 0};
  }
};

/// Segments of one size, side by side.
struct fixed_size_segments {
  long long size;

  bool may_exceed(long long length) const { return size > length; }

  template <class Integer>
  bool have_valid_counts(Integer num_segments) const {
    constexpr long long max_items = std::numeric_limits<long long>::max();
    return detail::is_count(num_segments) &&
           (size == 0 || (size > 0 && static_cast<long long>(num_segments) <= max_items / size));
  }
  template <class InputIterator, class OutputIterator>
  bool have_valid_types(const InputIterator& d_in, const OutputIterator& d_out, long long num_segments) const {
    return detail::can_reach(d_out, num_segments) && detail::can_reach(d_in, num_segments * size) &&
           (num_segments == 0 || argument_traits<OutputIterator>::can_index(static_cast<std::size_t>(size)));
  }

  bool has_null() const { return false; }

  template <class InputIterator, class OutputIterator>
  bool are_valid(const InputIterator& d_in, const OutputIterator& d_out, long long num_segments) const {
    const auto items = static_cast<std::size_t>(num_segments * size);
    return items == 0 || (!detail::is_null(d_in) && !detail::arrays_overlap(d_out, num_segments, d_in, items));
  }
  template <class OutputIterator, class NumSegmentsT>
  bool overlap(const OutputIterator&, std::size_t, NumSegmentsT) const {
    return false;
  }

  STRATA_D segment_bounds operator()(long long segment) const { return {segment * size, size}; }
};

/// The only segment of a call: a type of its own, so that calls with one segment compile fewer kernels.
struct single_segment : fixed_size_segments {};

}  // namespace detail
STRATA_NAMESPACE_END
