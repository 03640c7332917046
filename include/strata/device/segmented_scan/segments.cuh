// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/scan/by_key.cuh>
#include <strata/device/segmented_reduce/segments.cuh>

#include <cstddef>
#include <iterator>
#include <type_traits>

/// \file
/// A segmented scan puts all segments end to end, in their order. In this logical sequence segment s
/// ends at `ends[s]`: the inclusive sums of the lengths. Empty segments take no part.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Lengths of segments, as an input iterator.
template <class BeginOffsetIterator, class EndOffsetIterator>
class segment_lengths : public indexed_iterator_traits<unsigned long long, unsigned long long> {
 public:
  using segments = offset_segments<BeginOffsetIterator, EndOffsetIterator>;

  STRATA_HD explicit segment_lengths(const segments& of) : of_(of) {}

  STRATA_HD segment_lengths operator+(std::ptrdiff_t n) const {
    segment_lengths moved = *this;
    moved.index_ += n;
    return moved;
  }
  STRATA_D unsigned long long operator*() const { return (*this)[0]; }
  STRATA_D unsigned long long operator[](std::ptrdiff_t n) const {
    return static_cast<unsigned long long>(of_(index_ + n).length);
  }

 private:
  segments of_;
  std::ptrdiff_t index_ = 0;
};

/// Where the items of segments are, and where their results go: to the same places if
/// `OutBeginOffsetIterator` is NullType.
template <class BeginOffsetIterator, class OutBeginOffsetIterator>
struct segment_places {
  BeginOffsetIterator begins;
  OutBeginOffsetIterator out_begins;

  STRATA_D long long begin(std::size_t segment) const { return offset(begins, segment); }
  STRATA_D long long out_begin(std::size_t segment) const {
    if constexpr (std::is_same_v<OutBeginOffsetIterator, NullType>) {
      return begin(segment);
    } else {
      return offset(out_begins, segment);
    }
  }

 private:
  template <class Iterator>
  STRATA_D static long long offset(const Iterator& offsets, std::size_t segment) {
    using difference = typename std::iterator_traits<Iterator>::difference_type;
    return static_cast<long long>(offsets[static_cast<difference>(segment)]);
  }
};

/// By all lanes of a warp, in all of them: the segment of a logical item, which must exist. Each step
/// leaves a thirty-second of the segments.
STRATA_D std::size_t find_segment(const unsigned long long* ends, std::size_t num_segments,
                                  unsigned long long item) {
  std::size_t first = 0;
  for (std::size_t count = num_segments; count > 1;) {
    const std::size_t step = ceiling_divide<std::size_t>(count, warp_threads);
    // The lane's share ends before this one; somewhere before the last one's end lies the item.
    const std::size_t share_end = (platform::lane_id() + 1) * step;
    const bool is_before = share_end >= count || ends[first + share_end - 1] > item;
    const unsigned lanes = __ballot_sync(full_warp_mask, is_before ? 1 : 0);
    const std::size_t skipped = static_cast<std::size_t>(__ffs(static_cast<int>(lanes)) - 1) * step;
    first += skipped;
    count = count - skipped < step ? count - skipped : step;
  }
  return first;
}

/// By one thread: the segments of several logical items, of which all lie in segments `first` to
/// `first + count`. The items' steps go side by side, so that their loads overlap.
template <int Items>
STRATA_D void find_segments(const unsigned long long* ends, std::size_t first, std::size_t count,
                            unsigned long long item, unsigned item_step,
                            std::size_t (&segments)[Items]) {
  STRATA_UNROLL
  for (int i = 0; i < Items; ++i) segments[i] = first;
  for (; count > 0; count /= 2) {
    const std::size_t half = count - count / 2;
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      const unsigned long long wanted = item + static_cast<unsigned>(i) * item_step;
      if (ends[segments[i] + half - 1] <= wanted) segments[i] += half;
    }
  }
}

}  // namespace detail
STRATA_NAMESPACE_END
