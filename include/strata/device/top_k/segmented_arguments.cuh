// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/arrays.hpp>
#include <strata/device/engine/counts.cuh>
#include <strata/device/engine/future_count.cuh>
#include <strata/device/engine/segments.cuh>

#include <cstddef>
#include <limits>
#include <type_traits>

/// \file
/// Arguments of DeviceSegmentedTopK: where the segments are, how many results each has, and where they are written.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// True if `rows` rows that begin `stride` items apart are refused.
inline bool refuses_rows(long long rows, long long stride, const char* argument) {
  constexpr long long max_items = std::numeric_limits<long long>::max();
  return detail::is_refused(stride < 0, argument, "is negative or larger than 2^63 - 1") ||
         detail::is_refused(stride > 0 && rows > max_items / stride, argument,
                            "times the number of segments is larger than 2^63 - 1");
}

/// Returns a number that was read from device memory: 0 if it is negative, and `most` if it is larger than that.
template <class Number>
STRATA_D long long number_up_to(const Number& number, long long most) {
  if constexpr (std::is_unsigned_v<Number>) {
    // As a signed number, one from 2^63 on would be negative.
    return number > static_cast<unsigned long long>(most) ? most : static_cast<long long>(number);
  } else {
    const auto signed_number = static_cast<long long>(number);
    return signed_number < 0 ? 0 : detail::least(signed_number, most);
  }
}

/// What kernels take for SegmentsOfSize.
class segments_of_size {
 public:
  segments_of_size(long long num_segments, long long size, long long stride)
      : num_segments_(num_segments), size_(size), stride_(stride) {}

  STRATA_HD long long num_segments() const { return num_segments_; }
  /// The largest size, as far as the host knows.
  static constexpr bool has_max_size = true;
  long long max_size() const { return size_; }
  STRATA_D segment_bounds operator()(long long segment) const { return {segment * stride_, size_}; }

  bool are_refused() const {
    return detail::refuses_count(num_segments_, "num_segments") || detail::refuses_count(size_, "size") ||
           detail::is_refused(size_ > 0xffffffff, "size", "is larger than 2^32 - 1") ||
           detail::refuses_rows(num_segments_, stride_, "stride");
  }
  bool have_null() const { return false; }
  /// Returns the number of items of the input up to the end of the last segment.
  std::size_t reach() const {
    if (num_segments_ == 0 || size_ == 0) return 0;
    return static_cast<std::size_t>(num_segments_ - 1) * static_cast<std::size_t>(stride_) +
           static_cast<std::size_t>(size_);
  }
  bool overlap(const argument_bytes&) const { return false; }

 private:
  long long num_segments_, size_, stride_;
};

/// What kernels take for SegmentsByOffsets.
template <class BeginOffsetIterator, class EndOffsetIterator>
class segments_by_offsets {
 public:
  segments_by_offsets(long long num_segments, BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets)
      : num_segments_(num_segments), offsets_{d_begin_offsets, d_end_offsets} {}

  STRATA_HD long long num_segments() const { return num_segments_; }
  static constexpr bool has_max_size = false;
  long long max_size() const { return std::numeric_limits<long long>::max(); }
  STRATA_D segment_bounds operator()(long long segment) const { return offsets_(segment); }

  bool are_refused() const { return !offsets_.have_valid_counts(num_segments_); }
  bool have_null() const { return offsets_.has_null(); }
  std::size_t reach() const { return num_segments_ > 0 ? 1 : 0; }
  bool overlap(const argument_bytes& output) const { return offsets_.overlap(output, num_segments_); }

 private:
  long long num_segments_;
  offset_segments<BeginOffsetIterator, EndOffsetIterator> offsets_;
};

/// What kernels take for SegmentsByLengths.
template <class LengthIterator>
class segments_by_lengths {
 public:
  segments_by_lengths(long long num_segments, LengthIterator d_lengths, long long stride)
      : num_segments_(num_segments), stride_(stride), lengths_(d_lengths) {}

  STRATA_HD long long num_segments() const { return num_segments_; }
  static constexpr bool has_max_size = true;
  long long max_size() const { return stride_; }
  STRATA_D segment_bounds operator()(long long segment) const {
    const iterator_value_t<LengthIterator> length = detail::item_at(lengths_, static_cast<std::size_t>(segment));
    return {segment * stride_, detail::number_up_to(length, stride_)};
  }

  bool are_refused() const {
    return detail::refuses_count(num_segments_, "num_segments") ||
           detail::refuses_rows(num_segments_, stride_, "stride") ||
           detail::refuses_reach(lengths_, num_segments_, "d_lengths");
  }
  bool have_null() const { return detail::refuses_null(lengths_, "d_lengths"); }
  std::size_t reach() const { return num_segments_ > 0 && stride_ > 0 ? 1 : 0; }
  bool overlap(const argument_bytes& output) const {
    return detail::refuses_overlap(output, detail::bytes_of(lengths_, num_segments_, "d_lengths"));
  }

 private:
  long long num_segments_, stride_;
  LengthIterator lengths_;
};

/// The number of results that each segment may have: one number for all, a FutureCount, or an iterator that has a
/// number for each segment.
template <class K>
struct top_k_number {
  K k;

  bool is_refused(long long num_segments) const {
    if constexpr (is_count_type<K>) {
      static_cast<void>(num_segments);
      return detail::refuses_count(k, "k");
    } else {
      return detail::refuses_reach(k, num_segments, "k");
    }
  }
  bool has_null() const {
    if constexpr (is_future_count<K>) {
      return detail::is_refused(detail::is_null_count(k), "k", "is a FutureCount of a null pointer");
    } else if constexpr (std::is_integral_v<K>) {
      return false;
    } else {
      return detail::refuses_null(k, "k");
    }
  }
  bool overlaps(const argument_bytes& output, long long num_segments) const {
    if constexpr (is_future_count<K>) {
      return detail::refuses_overlap(output, detail::bytes_of(k.pointer(), 1, "k"));
    } else if constexpr (std::is_integral_v<K>) {
      return false;
    } else {
      return detail::refuses_overlap(output, detail::bytes_of(k, num_segments, "k"));
    }
  }

  /// Returns the number for a segment that has room for `most` results.
  STRATA_D long long operator()(long long segment, long long most) const {
    if constexpr (is_count_type<K>) {
      static_cast<void>(segment);
      return detail::least(detail::number_of_items<long long>(k), most);
    } else {
      const iterator_value_t<K> number = detail::item_at(k, static_cast<std::size_t>(segment));
      return detail::number_up_to(number, most);
    }
  }
};

/// What kernels take for ResultRows.
template <class K>
class result_rows {
 public:
  static constexpr bool has_padding = false;

  result_rows(K k, long long stride) : number_{k}, stride_(stride) {}

  long long max_results() const { return stride_; }
  STRATA_D long long begin(long long segment) const { return segment * stride_; }
  /// Returns the number of results of a segment of `length` items.
  STRATA_D long long count(long long segment, long long length) const {
    return number_(segment, detail::least(length, stride_));
  }

  bool are_refused(long long num_segments) const {
    return number_.is_refused(num_segments) || detail::refuses_rows(num_segments, stride_, "stride");
  }
  bool have_null() const { return number_.has_null(); }
  /// Returns the number of items of an output up to the last result, if segments have up to `max_size` items.
  std::size_t reach(long long num_segments, long long max_size) const {
    const auto last = static_cast<std::size_t>(detail::least(stride_, max_size));
    if (num_segments == 0 || last == 0) return 0;
    return static_cast<std::size_t>(num_segments - 1) * static_cast<std::size_t>(stride_) + last;
  }
  bool overlap(const argument_bytes& output, long long num_segments) const {
    return number_.overlaps(output, num_segments);
  }

 private:
  top_k_number<K> number_;
  long long stride_;
};

/// What kernels take for PaddedResultRows.
template <class K, class Key, class Value = int>
class padded_result_rows : public result_rows<K> {
 public:
  static constexpr bool has_padding = true;

  padded_result_rows(K k, long long stride, Key key, Value value = Value{})
      : result_rows<K>(k, stride), stride_(stride), key_(key), value_(value) {}

  std::size_t reach(long long num_segments, long long) const { return result_rows<K>::reach(num_segments, stride_); }
  STRATA_D long long stride() const { return stride_; }
  STRATA_D const Key& key() const { return key_; }
  STRATA_D const Value& value() const { return value_; }

 private:
  long long stride_;
  Key key_;
  Value value_;
};

/// What kernels take for ResultsAtOffsets.
template <class K, class OffsetIterator>
class results_at_offsets {
 public:
  static constexpr bool has_padding = false;

  results_at_offsets(K k, long long max_k, OffsetIterator d_offsets) : number_{k}, max_k_(max_k), offsets_(d_offsets) {}

  long long max_results() const { return max_k_; }
  STRATA_D long long begin(long long segment) const {
    return static_cast<long long>(detail::item_at(offsets_, static_cast<std::size_t>(segment)));
  }
  STRATA_D long long count(long long segment, long long length) const {
    return number_(segment, detail::least(length, max_k_));
  }

  bool are_refused(long long num_segments) const {
    return number_.is_refused(num_segments) || detail::refuses_count(max_k_, "max_k") ||
           detail::refuses_reach(offsets_, num_segments, "d_offsets");
  }
  bool have_null() const { return number_.has_null() || detail::refuses_null(offsets_, "d_offsets"); }
  std::size_t reach(long long num_segments, long long max_size) const {
    return num_segments > 0 && max_k_ > 0 && max_size > 0 ? 1 : 0;
  }
  bool overlap(const argument_bytes& output, long long num_segments) const {
    return number_.overlaps(output, num_segments) ||
           detail::refuses_overlap(output, detail::bytes_of(offsets_, num_segments, "d_offsets"));
  }

 private:
  top_k_number<K> number_;
  long long max_k_;
  OffsetIterator offsets_;
};

/// Returns what kernels take for an argument of a call.
struct top_k_access {
  template <class Argument>
  static const auto& of(const Argument& argument) {
    return argument.arguments_;
  }
};

}  // namespace detail

/// Segments of one size, such as the rows of a matrix: segment `s` has the items [s * stride, s * stride + size).
/// Segments may overlap.
class SegmentsOfSize {
 public:
  /// Segments without gaps.
  SegmentsOfSize(detail::count64 num_segments, detail::count64 segment_size)
      : SegmentsOfSize(num_segments, segment_size, segment_size) {}
  /// Segments that begin `stride` items apart.
  SegmentsOfSize(detail::count64 num_segments, detail::count64 segment_size, detail::count64 stride)
      : arguments_(num_segments, segment_size, stride) {}

 private:
  friend detail::top_k_access;
  detail::segments_of_size arguments_;
};

/// Segments by offsets: segment `s` has the items [d_begin_offsets[s], d_end_offsets[s]). Segments may overlap, lie in
/// any order and leave gaps. A segment that ends before it begins is empty.
template <class BeginOffsetIterator, class EndOffsetIterator>
class SegmentsByOffsets {
 public:
  /// If `d_end_offsets` is `d_begin_offsets + 1`, segments have no gaps.
  SegmentsByOffsets(detail::count64 num_segments, BeginOffsetIterator d_begin_offsets, EndOffsetIterator d_end_offsets)
      : arguments_(num_segments, d_begin_offsets, d_end_offsets) {}

 private:
  friend detail::top_k_access;
  detail::segments_by_offsets<BeginOffsetIterator, EndOffsetIterator> arguments_;
};

/// Segments by lengths, such as the rows of a matrix that are filled in part: segment `s` has the items
/// [s * stride, s * stride + d_lengths[s]). A negative length counts as 0, a length above `stride` as `stride`.
template <class LengthIterator>
class SegmentsByLengths {
 public:
  /// `stride` is also the largest length.
  SegmentsByLengths(detail::count64 num_segments, LengthIterator d_lengths, detail::count64 stride)
      : arguments_(num_segments, d_lengths, stride) {}

 private:
  friend detail::top_k_access;
  detail::segments_by_lengths<LengthIterator> arguments_;
};

/// Results in rows of `stride` items: the results of segment `s` begin at item s * stride. `k` is one number for all
/// segments, a FutureCount, or an iterator that has a number for each segment. A number larger than `stride` counts as
/// `stride`. Nothing is written behind the results of a segment.
template <class K>
class ResultRows {
 public:
  /// `stride` is also the largest number of results of a segment.
  ResultRows(K k, detail::count64 stride) : arguments_(k, stride) {}

 private:
  friend detail::top_k_access;
  detail::result_rows<K> arguments_;
};

/// Like ResultRows, but the items behind the results of a segment, up to `stride`, are filled: with `key` in the output
/// of keys, with `value` in the output of values or indices.
template <class K, class Key, class Value = int>
class PaddedResultRows {
 public:
  /// `stride` is also the largest number of results of a segment.
  PaddedResultRows(K k, detail::count64 stride, Key key, Value value = Value{}) : arguments_(k, stride, key, value) {}

 private:
  friend detail::top_k_access;
  detail::padded_result_rows<K, Key, Value> arguments_;
};

/// Results at offsets, for example without gaps: the results of segment `s` begin at item `d_offsets[s]`. `k` is as in
/// ResultRows. A number larger than `max_k` counts as `max_k`. The results of two segments must not overlap.
template <class K, class OffsetIterator>
class ResultsAtOffsets {
 public:
  /// If results are sorted and `max_k` is above 2,048, temporary storage has room for `max_k` results of each segment.
  ResultsAtOffsets(K k, detail::count64 max_k, OffsetIterator d_offsets) : arguments_(k, max_k, d_offsets) {}

 private:
  friend detail::top_k_access;
  detail::results_at_offsets<K, OffsetIterator> arguments_;
};

namespace detail {

template <class T>
inline constexpr bool is_top_k_segments = false;
template <>
inline constexpr bool is_top_k_segments<SegmentsOfSize> = true;
template <class Begin, class End>
inline constexpr bool is_top_k_segments<SegmentsByOffsets<Begin, End>> = true;
template <class Length>
inline constexpr bool is_top_k_segments<SegmentsByLengths<Length>> = true;

template <class K>
inline constexpr bool is_top_k_results = is_count_type<K>;
template <class K>
inline constexpr bool is_top_k_results<ResultRows<K>> = true;
template <class K, class Key, class Value>
inline constexpr bool is_top_k_results<PaddedResultRows<K, Key, Value>> = true;
template <class K, class Offset>
inline constexpr bool is_top_k_results<ResultsAtOffsets<K, Offset>> = true;

/// Returns the results that the argument `k` of a call stands for. An integer means rows of k items.
template <class K>
auto top_k_results(const K& k) {
  if constexpr (std::is_integral_v<K>) {
    return result_rows<K>(k, static_cast<long long>(detail::count_of(k)));
  } else if constexpr (is_future_count<K>) {
    return result_rows<K>(k, static_cast<long long>(k.max_items()));
  } else {
    return top_k_access::of(k);
  }
}

}  // namespace detail
STRATA_NAMESPACE_END
