// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/shuffle.cuh>
#include <strata/device/scan/agent_ring.cuh>
#include <strata/device/scan/ring_column.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// By all lanes of a warp: at which of its items, whose keys lie at `keys`, a run of equal ones
/// begins; the thread's keys stay in `held`. The key before the warp's first lies before the others,
/// unless the item is the first of all: no warp may write to its last key meanwhile.
template <bool IsFull, class Shape, class Key, class EqualityOp>
STRATA_D typename Shape::flags find_begins(const Key* keys, const ring_share& share,
                                           EqualityOp& equality_op,
                                           Key (&held)[Shape::thread_items]) {
  constexpr int thread_items = Shape::thread_items;
  detail::hold_items<IsFull, Shape>(keys, share.thread_items, held);
  // Where there are items in a lane, the lane below is full.
  Key before = platform::shuffle_up(full_warp_mask, held[thread_items - 1], 1u);
  const bool is_first = share.first_item == 0 && share.warp == 0 && share.lane == 0;
  if (share.lane == 0 && !is_first && (IsFull || share.thread_items > 0)) before = keys[-1];
  typename Shape::flags begins{};
  STRATA_UNROLL
  for (int i = 0; i < thread_items; ++i) {
    if (!IsFull && i >= share.thread_items) break;
    const Key& left = i > 0 ? held[i - 1] : before;
    const bool is_begin = (i == 0 && is_first) || !equality_op(left, held[i]);
    begins.set(i, is_begin);
  }
  return begins;
}

}  // namespace detail
STRATA_NAMESPACE_END
