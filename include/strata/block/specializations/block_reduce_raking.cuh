// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/raking_layout.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/warp_reduce.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// BLOCK_REDUCE_RAKING, for more than one warp: every thread writes its item; each thread of the
/// first warp reduces a segment of consecutive items, one after the other; then that warp reduces the
/// segments. Operands keep their order.
template <class T, int Threads>
struct block_reduce_raking {
  using segments = raking_segments<T, Threads>;
  using layout = typename segments::layout;
  static constexpr int segment = segments::segment;
  static constexpr int rakers = segments::rakers;

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
      result = detail::reduce_lanes<rakers, Full>(result, op, ceiling_divide(valid, segment));
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

/// BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, for more than one warp: the threads behind the first warp
/// write their items; lane r of the first warp reduces its item and items r + 32, r + 64 ...;
/// then that warp reduces. Less shared memory and fewer accesses than raking, but operands change
/// places.
template <class T, int Threads>
struct block_reduce_raking_commutative_only {
  static constexpr int shared_items = Threads - warp_threads;
  // Neighbours access neighbouring items, which an odd pitch puts into different columns.
  using layout = raking_layout<T, shared_items, 0>;
  // not for users: it holds for every T and Threads
  static_assert(alignof(T) > 16 || layout::writes_conflict_free(), "raking has bank conflicts");

  using storage = typename layout::storage;

  template <bool Full, bool AllThreads, class Operator>
  STRATA_D static T reduce(storage& items, int thread, const T& value, Operator op, int valid) {
    if (thread >= warp_threads && (Full || thread < valid)) {
      items.item(thread - warp_threads) = value;
    }
    __syncthreads();
    T result = value;
    if (thread < warp_threads) {
      STRATA_UNROLL
      for (int first = 0; first < shared_items; first += warp_threads) {
        const int item = first + thread;
        const bool exact = Full && first + warp_threads <= shared_items;
        if (exact || item + warp_threads < valid) {
          result = static_cast<T>(op(result, items.item(item)));
        }
      }
      result = detail::reduce_lanes<warp_threads, Full>(result, op, detail::least(valid, warp_threads));
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
