// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/launcher.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/scan/agent_ring.cuh>
#include <strata/device/scan/ring_column.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Counts items of an input whose size has this type.
template <class NumItemsT>
using item_count_t =
    std::conditional_t<(sizeof(NumItemsT) <= 4), unsigned, unsigned long long>;

/// The thread's flagged items to `to` and the places behind it.
template <class Shape, class T>
STRATA_D void write_flagged(const T (&held)[Shape::thread_items],
                            typename Shape::flags flags, T* to) {
  // One predicate for each item, kept for all columns, is more than ptxas can allocate.
  platform::forget(flags.bits);
  STRATA_UNROLL
  for (int i = 0; i < Shape::thread_items; ++i) {
    if (flags.at(i)) *to++ = held[i];
  }
}

/// By all lanes of a warp: moves its flagged items to the front of `of_warp`, its part of a stage,
/// which holds them in blocked arrangement; `rank` are flagged in the lanes below, `in_warp` in all.
/// If all are, they are where they belong: the last item's place is never written, as the warp above
/// may be reading it.
template <class Shape, class T>
STRATA_D void compact(const T (&held)[Shape::thread_items], const typename Shape::flags& flags,
                      const ring_share& share, int rank, int in_warp, T* of_warp) {
  __syncwarp();  // All items are in registers.
  if (in_warp < share.warp_items) detail::write_flagged<Shape>(held, flags, of_warp + rank);
}

/// By all lanes of a warp: the number of flags in it; those of the lanes below are known.
STRATA_D int flags_in_warp(const ring_share& share, int lane_items, int below, int own) {
  const int last_lane = ceiling_divide(share.warp_items, lane_items) - 1;
  return __shfl_sync(full_warp_mask, (share.lane > 0 ? below : 0) + own,
                     last_lane > 0 ? last_lane : 0);
}

}  // namespace detail
STRATA_NAMESPACE_END

STRATA_ARCH_DETAIL_NAMESPACE_BEGIN

template <class Iterator>
STRATA_KERNEL void write_zero_kernel(Iterator out) {
  *out = static_cast<output_value_t<Iterator, int>>(0);
}

/// What there is of an empty input: nothing.
template <class Iterator>
cudaError_t write_zero(const char* name, Iterator out, cudaStream_t stream) {
  launch_configuration configuration{name, dim3(1), dim3(1)};
  configuration.stream = stream;
  return strata::launch(configuration, write_zero_kernel<Iterator>, out);
}

STRATA_ARCH_DETAIL_NAMESPACE_END
