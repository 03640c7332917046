// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/raking_layout.hpp>
#include <strata/block/specializations/reduce_lanes.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// BLOCK_REDUCE_RAKING, for more than one warp: every thread writes its item; each thread of the
/// first warp folds a segment of consecutive items, one after the other; then that warp reduces the
/// segments. Operands keep their order.
template <class T, int Threads>
struct block_reduce_raking {
  static constexpr int segment = ceiling_divide(Threads, warp_threads);
  static constexpr int rakers = ceiling_divide(Threads, segment);

  // Rakers read with a stride of one segment, `segment * pitch` units. The pitch is odd, so with
  // g = gcd(segment, columns) the strides fall on every g-th column and come round after columns /
  // g rakers: one unit of padding there shifts each round into columns not used yet, g rounds to a
  // wavefront. The padding falls every lcm(segment, columns) items, between two wavefronts of
  // writes, so those stay free of conflicts too.
  static constexpr int columns = raking_layout<T, Threads, 0>::columns;
  using layout =
      raking_layout<T, Threads, segment / greatest_common_divisor(segment, columns) * columns>;

  static constexpr bool reads_conflict_free() {
    for (int i = 0; i < segment; ++i) {
      if (!layout::conflict_free(i, segment, rakers)) return false;
    }
    return true;
  }
  // An item that must be aligned to more than a 16-byte access cannot have an odd pitch of those.
  // not for users: it holds for every T and Threads, by the argument above
  static_assert(alignof(T) > 16 || (reads_conflict_free() && layout::writes_conflict_free()),
                "raking has bank conflicts");

  using storage = typename layout::storage;

  template <bool Full, bool AllThreads, class Operator>
  STRATA_D static T reduce(storage& items, int thread, const T& value, Operator op, int valid) {
    if (Full || thread < valid) items.item(thread) = value;
    __syncthreads();
    T result = value;
    if (thread < rakers) {
      const int first = thread * segment;
      const int first_unit = layout::unit(first);
      if (Full || first < valid) result = items.at_unit(first_unit);
      STRATA_UNROLL
      for (int i = 1; i < segment; ++i) {
        if ((Full && Threads % segment == 0) || first + i < valid) {
          result = static_cast<T>(op(result, items.at_unit(first_unit + i * layout::pitch)));
        }
      }
      result = reduce_lanes<rakers, Full>(result, op, ceiling_divide(valid, segment));
    }
    if constexpr (AllThreads) {
      // Only thread 0 has read item 0.
      if (thread == 0) items.item(0) = result;
      __syncthreads();
      result = items.item(0);
    }
    return result;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
