// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>

#include <cstddef>
#include <limits>
#include <type_traits>

/// \file
/// Segments of a sequence, as arguments of a call: where they are, and what the host knows of them.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The items of a segment. A segment that ends before it begins is empty.
struct segment_bounds {
  long long begin;
  long long length;
};

/// Segments given by two sequences of offsets.
template <class BeginOffsetIterator, class EndOffsetIterator>
struct offset_segments {
  BeginOffsetIterator begins;
  EndOffsetIterator ends;

  /// True if a segment may have more items than the argument, as far as the host knows.
  bool may_exceed(long long) const { return true; }

  /// True if the number of segments is possible. Size queries ask this, too.
  template <class Integer>
  bool have_valid_counts(Integer num_segments) const {
    return !detail::refuses_count(num_segments, "num_segments") &&
           !detail::refuses_reach(begins, num_segments, "d_begin_offsets") &&
           !detail::refuses_reach(ends, num_segments, "d_end_offsets");
  }
  /// True if the types of arrays can represent all items, all results and the indices in a segment. Only the device
  /// knows how many items there are, so only the results in `d_out` are checked.
  template <class InputIterator, class OutputIterator>
  bool have_valid_types(const InputIterator&, const OutputIterator& d_out, long long num_segments) const {
    return !detail::refuses_reach(d_out, num_segments, "d_out");
  }

  /// True if a call is refused for null offsets.
  bool has_null() const {
    return detail::refuses_null(begins, "d_begin_offsets") || detail::refuses_null(ends, "d_end_offsets");
  }

  /// True if a call may read the segments of `d_in`, and write one item to `d_out` for each segment. Only the device
  /// knows how far segments reach.
  template <class InputIterator, class OutputIterator>
  bool are_valid(const InputIterator& d_in, const OutputIterator& d_out, long long num_segments) const {
    return !has_null() && !detail::refuses_null(d_in, "d_in") &&
           !overlap(detail::bytes_of(d_out, static_cast<std::size_t>(num_segments), "d_out"), num_segments) &&
           !detail::refuses_overlap(detail::bytes_of(d_out, 1, "d_out"), detail::bytes_of(d_in, 1, "d_in"));
  }
  /// True if a call is refused for an output that has a byte in common with the offsets.
  template <class NumSegmentsT>
  bool overlap(const argument_bytes& output, NumSegmentsT num_segments) const {
    return detail::refuses_overlap(output, detail::bytes_of(begins, num_segments, "d_begin_offsets")) ||
           detail::refuses_overlap(output, detail::bytes_of(ends, num_segments, "d_end_offsets"));
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
    return !detail::refuses_count(num_segments, "num_segments") &&
           !detail::is_refused(size < 0, "segment_size", "is negative or larger than 2^63 - 1") &&
           !detail::is_refused(size > 0 && static_cast<long long>(num_segments) > max_items / size, "num_segments",
                               "times segment_size is larger than 2^63 - 1");
  }
  template <class InputIterator, class OutputIterator>
  bool have_valid_types(const InputIterator& d_in, const OutputIterator& d_out, long long num_segments) const {
    return !detail::refuses_reach(d_out, num_segments, "d_out") &&
           !detail::refuses_reach(d_in, num_segments * size, "d_in") &&
           !(num_segments != 0 && detail::refuses_index(d_out, static_cast<std::size_t>(size)));
  }

  bool has_null() const { return false; }

  template <class InputIterator, class OutputIterator>
  bool are_valid(const InputIterator& d_in, const OutputIterator& d_out, long long num_segments) const {
    const auto items = static_cast<std::size_t>(num_segments * size);
    return items == 0 || (!detail::refuses_null(d_in, "d_in") &&
                          !detail::refuses_overlap(detail::bytes_of(d_out, num_segments, "d_out"),
                                                   detail::bytes_of(d_in, items, "d_in")));
  }
  template <class NumSegmentsT>
  bool overlap(const argument_bytes&, NumSegmentsT) const {
    return false;
  }

  STRATA_D segment_bounds operator()(long long segment) const { return {segment * size, size}; }
};

/// The only segment of a call. It has a type of its own, so that calls with one segment compile fewer kernels.
struct single_segment : fixed_size_segments {};

}  // namespace detail
STRATA_NAMESPACE_END
