// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/warp_reduce.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Combines one value of every thread of a block in the order of the threads, tile after tile. For operators that
/// are not commutative.
///
///     all warps   tiles 0 .. 15 -> partials[0] | tiles 16 .. 31 -> partials[1]    | tiles 32 .. 47 -> partials[0]
///     warp 0                           barrier | combines partials[0]     barrier | combines partials[1]
///
/// Each warp reduces its values of a tile by shuffles and writes one partial result. Warp 0 combines the partial
/// results of several tiles at a time. The other warps start the next tiles meanwhile, in the other buffer: the
/// barrier before the next flush keeps them from coming back to this one too early.
template <class AccumT, int BlockThreads, class ReductionOp>
class ordered_tiles {
  static constexpr int warps = BlockThreads / warp_threads;
  static constexpr int tiles_per_flush = sizeof(AccumT) <= 16 ? 16 : sizeof(AccumT) <= 512 ? 4 : 1;
  static constexpr int partials_per_flush = tiles_per_flush * warps;
  static constexpr int partials_per_lane = ceiling_divide(partials_per_flush, warp_threads);

 public:
  struct TempStorage {
    Uninitialized<AccumT[partials_per_flush]> partials[2];
  };

  STRATA_D ordered_tiles(TempStorage& storage, ReductionOp reduction_op)
      : storage_(storage), reduction_op_(reduction_op) {}

  /// By all threads of the block: appends a tile.
  STRATA_D void add(const AccumT& value) {
    keep(detail::reduce_lanes<warp_threads, true>(value, reduction_op_, warp_threads));
    partials_ += warps;
    if (partials_ == partials_per_flush) flush();
  }

  /// By all threads of the block: appends the last tile, in which the first `threads` (at least one) have a value.
  STRATA_D void add_last(const AccumT& value, int threads) {
    const int lanes = threads - static_cast<int>(threadIdx.x / warp_threads * warp_threads);
    if (lanes > 0) {
      const int valid = detail::least(lanes, warp_threads);
      keep(detail::reduce_lanes<warp_threads, false>(value, reduction_op_, valid));
    }
    partials_ += ceiling_divide(threads, int{warp_threads});
  }

  /// By all threads of the block, after at least one tile: the result in thread 0.
  STRATA_D AccumT result() {
    if (partials_ > 0) flush();
    return result_;
  }

 private:
  STRATA_D void keep(const AccumT& value) {
    if (platform::lane_id() == 0) {
      storage_.partials[buffer_].Alias()[partials_ + static_cast<int>(threadIdx.x / warp_threads)] = value;
    }
  }

  STRATA_D void flush() {
    __syncthreads();
    if (threadIdx.x < warp_threads) {
      const AccumT* const partials = storage_.partials[buffer_].Alias();
      const int first = static_cast<int>(threadIdx.x) * partials_per_lane;
      AccumT value;
      if (first < partials_) {
        value = partials[first];
        STRATA_UNROLL
        for (int i = 1; i < partials_per_lane; ++i) {
          if (first + i < partials_) value = combine(value, partials[first + i]);
        }
      }
      const int lanes = ceiling_divide(partials_, partials_per_lane);
      value = detail::reduce_lanes<warp_threads, false>(value, reduction_op_, lanes);
      if (threadIdx.x == 0) result_ = has_result_ ? combine(result_, value) : value;
    }
    has_result_ = true;
    partials_ = 0;
    buffer_ ^= 1;
  }

  STRATA_D AccumT combine(const AccumT& a, const AccumT& b) { return static_cast<AccumT>(reduction_op_(a, b)); }

  TempStorage& storage_;
  ReductionOp reduction_op_;
  AccumT result_;
  bool has_result_ = false;
  int buffer_ = 0;
  int partials_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END
