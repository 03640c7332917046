// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/scan/by_key.cuh>
#include <strata/device/segmented_reduce/segments.cuh>

#include <cstddef>
#include <type_traits>

/// \file
/// A segmented scan puts all segments end to end, in their order. In this logical sequence segment
/// s ends at `ends[s]`: the inclusive sums of the lengths. Empty segments take no part.

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
  static constexpr bool has_out_begins = !std::is_same_v<OutBeginOffsetIterator, NullType>;

  BeginOffsetIterator begins;
  OutBeginOffsetIterator out_begins;

  template <class Index>
  STRATA_D long long begin(Index segment) const {
    return offset(begins, segment);
  }
  template <class Index>
  STRATA_D long long out_begin(Index segment) const {
    if constexpr (has_out_begins) {
      return offset(out_begins, segment);
    } else {
      return begin(segment);
    }
  }

 private:
  template <class Iterator, class Index>
  STRATA_D static long long offset(const Iterator& offsets, Index segment) {
    using difference = typename std::iterator_traits<Iterator>::difference_type;
    return static_cast<long long>(offsets[static_cast<difference>(segment)]);
  }
};

/// By all lanes of a warp, in all of them: the segment of a logical item, which must exist. Each
/// step leaves a thirty-second of the segments.
template <class Index>
STRATA_D Index find_segment(const unsigned long long* ends, Index num_segments,
                            unsigned long long item) {
  Index first = 0;
  for (Index count = num_segments; count > 1;) {
    // Each lane looks at the end of a share of `step` segments; that of the last share is known to
    // lie behind the item.
    const Index step = count / warp_threads + (count % warp_threads != 0 ? 1 : 0);
    const Index before = platform::lane_id() * step;
    const bool is_behind = before >= count || count - before <= step ||
                           ends[first + before + (step - 1)] > item;
    const unsigned lanes = __ballot_sync(full_warp_mask, is_behind ? 1 : 0);
    const Index skipped = static_cast<Index>(__ffs(static_cast<int>(lanes)) - 1) * step;
    first += skipped;
    count = count - skipped < step ? count - skipped : step;
  }
  return first;
}

/// By one thread: the segments of several items of a tile. All lie in segments `first` to
/// `first + count`, of which all but the last end in the tile: 32 bits tell where. The items are
/// looked for side by side, so that their loads overlap.
template <class Index, int Items>
STRATA_D void find_segments(const unsigned long long* ends, Index first, Index count,
                            unsigned long long tile_begin, const unsigned (&positions)[Items],
                            Index (&segments)[Items]) {
  STRATA_UNROLL
  for (int i = 0; i < Items; ++i) segments[i] = first;
  for (; count > 0; count /= 2) {
    const Index half = count - count / 2;
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      const auto end = static_cast<unsigned>(ends[segments[i] + (half - 1)]) -
                       static_cast<unsigned>(tile_begin);
      if (end <= positions[i]) segments[i] += half;
    }
  }
}

}  // namespace detail
STRATA_NAMESPACE_END
