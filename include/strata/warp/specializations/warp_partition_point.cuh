// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Does what partition_point of the thread layer does, with 2^`log2_lanes` neighbouring lanes for each search. Returns
/// the first index in [first, last) for which `is_behind` is true, or `last`. Each step waits for memory, and divides
/// the range by the number of lanes plus one. So a search takes fewer steps than a thread would. All lanes of a warp
/// call this. The lanes of a search have the same range and result. Whatever `is_behind` answers, the result is in
/// [first, last].
template <class Count, class Predicate>
STRATA_D Count warp_partition_point(Count first, Count last, int log2_lanes, const Predicate& is_behind) {
  const unsigned lanes = 1u << log2_lanes;
  const unsigned lane = platform::lane_id() & (lanes - 1);
  const unsigned first_lane = platform::lane_id() - lane;
  while (__any_sync(full_warp_mask, first < last ? 1 : 0) != 0) {
    // Each lane votes whether the last index of its part of the range is before the point.
    const Count each = (last - first) / (lanes + 1) + 1;
    const Count mine = first + each * (lane + 1) - 1;
    const bool is_before = mine < last && !is_behind(mine);
    const unsigned votes = __ballot_sync(full_warp_mask, is_before ? 1 : 0) >> first_lane;
    const unsigned before =
        static_cast<unsigned>(__popc(votes & (lanes == warp_threads ? full_warp_mask : (1u << lanes) - 1)));
    const Count next = first + each * before;
    const Count end = next + each - 1;
    first = detail::least(next, last);
    last = detail::least(end, last);
  }
  return first;
}

}  // namespace detail
STRATA_NAMESPACE_END
