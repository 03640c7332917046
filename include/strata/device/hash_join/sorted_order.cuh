// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Where the results of tiles go that are in the order of the tiles: each adds up what those before
/// it have, back to one that knows all (decoupled look-back). Tiles are taken by tickets, so that
/// those before have begun.
struct join_sorted_order {
  /// Null: in any order.
  unsigned* states;
  unsigned long long* sums;
  unsigned long long* ends;
  unsigned long long* ticket;
  unsigned long long tiles;

  static constexpr unsigned has_sum = 1;
  static constexpr unsigned has_end = 2;

  /// By one warp: how many results the tiles before have. Valid in all lanes.
  STRATA_D unsigned long long begin_of(unsigned long long tile, unsigned long long results) const {
    using Count = unsigned long long;
    const unsigned lane = platform::lane_id();
    if (lane == 0) {
      sums[tile] = results;
      // release: pairs with the acquire below, for the sum.
      platform::store_release(states + tile, has_sum);
    }
    Count before = 0;
    for (Count end = tile; end > 0;) {
      unsigned state = has_end;
      Count value = 0;
      if (lane < end) {
        const Count other = end - 1 - lane;
        while ((state = platform::load_acquire(states + other)) == 0) STRATA_SPIN();
        value = state == has_end ? ends[other] : sums[other];
      }
      const unsigned all = __ballot_sync(full_warp_mask, state == has_end ? 1 : 0);
      // Those before the nearest one that knows all are in its value.
      if (all != 0 && static_cast<int>(lane) >= __ffs(static_cast<int>(all))) value = 0;
      STRATA_UNROLL
      for (unsigned distance = warp_threads / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(full_warp_mask, value, distance);
      }
      before += value;
      if (all != 0) break;
      end -= warp_threads;
    }
    if (lane == 0) {
      ends[tile] = before + results;
      // release: pairs with the acquire above, for the end.
      platform::store_release(states + tile, has_end);
    }
    return before;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
