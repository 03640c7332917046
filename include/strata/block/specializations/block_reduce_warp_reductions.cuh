// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/specializations/reduce_lanes.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/shuffle.cuh>
#include <strata/core/types.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// BLOCK_REDUCE_WARP_REDUCTIONS: every warp reduces its items by shuffles and writes one aggregate;
/// after a barrier the aggregates are reduced. Operands keep their order.
template <class T, int Threads>
struct block_reduce_warp_reductions {
  static constexpr int warps = ceiling_divide(Threads, warp_threads);
  static constexpr int last_warp_lanes = Threads - (warps - 1) * warp_threads;

  // A thread that reads the aggregates and folds them spends an operator for each, a warp spends a
  // shuffle (about 25 cycles for each 4 bytes) and an operator for each doubling. Up to 8 small
  // aggregates the thread is first; it would need too many registers for 8 large ones.
  static constexpr bool thread_combines = warps <= (sizeof(T) <= 16 ? 8 : 2);

  // For an all-reduce every warp combines for itself, which saves a barrier. All must do it in the
  // same way, or their floating-point results would differ; a last warp with fewer lanes than there
  // are aggregates cannot.
  static constexpr bool every_warp_combines = last_warp_lanes >= warps;

  static constexpr std::size_t alignment =
      alignof(T) < 16 && warps * sizeof(T) % 16 == 0 ? 16 : alignof(T);
  struct storage {
    alignas(alignment) T aggregates[static_cast<std::size_t>(warps)];
  };

  template <bool Full, bool AllThreads, class Operator>
  STRATA_D static T reduce(storage& shared, int thread, const T& value, Operator op, int valid) {
    if constexpr (warps == 1) {
      const T result = detail::reduce_lanes<last_warp_lanes, Full>(value, op, valid);
      if constexpr (AllThreads) return broadcast<last_warp_lanes>(result);
      return result;
    } else {
      const int warp = thread / warp_threads;
      const int lane = thread % warp_threads;
      const int warp_valid = valid - warp * warp_threads;
      T result = value;
      if (Full || warp_valid > 0) {
        result = reduce_own_warp<Full>(warp, value, op, warp_valid);
        if (lane == 0) shared.aggregates[warp] = result;
      }
      __syncthreads();

      const int active_warps = ceiling_divide(valid, warp_threads);
      if constexpr (thread_combines) {
        if (AllThreads || thread == 0) result = fold_aggregates<Full>(shared, op, active_warps);
      } else if constexpr (AllThreads && every_warp_combines) {
        result = reduce_aggregates<Full>(shared, lane, value, op, active_warps);
        result = last_warp_lanes == warp_threads || warp < warps - 1
                     ? broadcast<warp_threads>(result)
                     : broadcast<last_warp_lanes>(result);
      } else {
        if (warp == 0) result = reduce_aggregates<Full>(shared, lane, value, op, active_warps);
        if constexpr (AllThreads) {
          // Only thread 0 has read aggregate 0.
          if (thread == 0) shared.aggregates[0] = result;
          __syncthreads();
          result = shared.aggregates[0];
        }
      }
      return result;
    }
  }

 private:
  // Full warps and the last one run different code: the last may lack lanes.
  template <bool Full, class Operator>
  STRATA_D static T reduce_own_warp(int warp, const T& value, Operator op, int valid) {
    if (last_warp_lanes < warp_threads && warp == warps - 1) {
      return detail::reduce_lanes<last_warp_lanes, Full>(value, op, valid);
    }
    return detail::reduce_lanes<warp_threads, Full>(value, op,
                                                    valid < warp_threads ? valid : warp_threads);
  }

  template <bool Full, class Operator>
  STRATA_D static T fold_aggregates(const storage& shared, Operator op, int active_warps) {
    T result = shared.aggregates[0];
    STRATA_UNROLL
    for (int warp = 1; warp < warps; ++warp) {
      if (Full || warp < active_warps) {
        result = static_cast<T>(op(result, shared.aggregates[warp]));
      }
    }
    return result;
  }

  template <bool Full, class Operator>
  STRATA_D static T reduce_aggregates(const storage& shared, int lane, const T& value, Operator op,
                                      int active_warps) {
    T result = value;
    if (lane < warps) {
      if (Full || lane < active_warps) result = shared.aggregates[lane];
      result = detail::reduce_lanes<warps, Full>(result, op, active_warps);
    }
    return result;
  }

  template <int Lanes>
  STRATA_D static T broadcast(const T& value) {
    constexpr unsigned mask = full_warp_mask >> (warp_threads - Lanes);
    return platform::shuffle(mask, value, 0);
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
