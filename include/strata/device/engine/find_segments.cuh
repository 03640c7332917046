// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

/// \file
/// A segmented scan is a scan of all segments end to end, in their order. In this logical sequence, segment s
/// ends at `ends[s]`, the sum of the lengths of all segments up to s. Empty segments have no items in it.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Returns, in all lanes, the segment in which `item` lies. There must be such a segment. Segment s ends at `ends[s]`.
/// The search makes 32 probes a step: each step leaves a thirty-second of the segments. All lanes of a warp call this.
template <class Ends, class Index, class Item>
STRATA_D Index find_segment(const Ends& ends, Index num_segments, Item item) {
  Index first = 0;
  for (Index count = num_segments; count > 1;) {
    // Each lane probes the end of a range of `step` segments. The end of the last range is known to lie behind the
    // item.
    const Index step = count / warp_threads + (count % warp_threads != 0 ? 1 : 0);
    const Index before = platform::lane_id() * step;
    const bool is_behind = before >= count || count - before <= step || ends[first + before + (step - 1)] > item;
    const unsigned lanes = __ballot_sync(full_warp_mask, is_behind ? 1 : 0);
    const Index skipped = static_cast<Index>(__ffs(static_cast<int>(lanes)) - 1) * step;
    first += skipped;
    count = detail::least(count - skipped, step);
  }
  return first;
}

/// Finds the segments of several items of a tile, by binary searches side by side, so that their loads overlap. All
/// items lie in segments `first` to `first + count`. All of these segments except the last one end in the tile, so 32
/// bits are enough for their ends. One thread calls this.
template <class Index, int Items>
STRATA_D void find_segments(const unsigned long long* ends, Index first, Index count, unsigned long long tile_begin,
                            const unsigned (&positions)[Items], Index (&segments)[Items]) {
  STRATA_UNROLL
  for (int i = 0; i < Items; ++i) segments[i] = first;
  for (; count > 0; count /= 2) {
    const Index half = count - count / 2;
    STRATA_UNROLL
    for (int i = 0; i < Items; ++i) {
      const auto end = static_cast<unsigned>(ends[segments[i] + (half - 1)]) - static_cast<unsigned>(tile_begin);
      if (end <= positions[i]) segments[i] += half;
    }
  }
}

}  // namespace detail
STRATA_NAMESPACE_END
