// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/engine/look_back.cuh>
#include <strata/device/engine/work_queue.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The output offsets of tiles, each of which a block joins. With an order, the results of a tile follow those of all
/// tiles before it. Else one addition to the counter of all results reserves their range.
template <int BlockThreads>
class join_tile_offsets {
  using Count = unsigned long long;
  static constexpr unsigned warps = BlockThreads / warp_threads;

 public:
  struct TempStorage {
    Count sums[warps];
    Count offset;
    Count ticket;
  };

  STRATA_D join_tile_offsets(TempStorage& storage, const warp_look_back& order, Count* total)
      : storage_(storage), order_(order), total_(total) {}

  STRATA_D bool is_ordered() const { return order_.states != nullptr; }

  /// The number of the next tile in the order. The caller checks whether there is one.
  STRATA_D Count take_ticket() { return take_block_ticket(order_.ticket, storage_.ticket); }

  /// The sum over all warps; `before` is that over the warps before the calling one.
  STRATA_D Count sum_of_block(Count sum, Count& before) {
    if (platform::lane_id() == 0) storage_.sums[threadIdx.x / warp_threads] = sum;
    __syncthreads();
    Count all = 0;
    STRATA_UNROLL
    for (unsigned w = 0; w < warps; ++w) {
      if (w == threadIdx.x / warp_threads) before = all;
      all += storage_.sums[w];
    }
    return all;
  }

  /// By the whole block: reserves the range of a tile's results, and returns its begin.
  STRATA_D Count reserve_and_broadcast(Count tile, Count results) { return broadcast(reserve(tile, results)); }
  /// The same in two steps, between which other warps do not wait. `reserve` returns the begin in the first
  /// thread.
  STRATA_D Count reserve(Count tile, Count results) {
    Count offset = 0;
    if (!is_ordered()) {
      if (threadIdx.x == 0 && results != 0) offset = atomicAdd(total_, results);
    } else if (threadIdx.x < warp_threads) {
      offset = order_.begin_of(tile, results);
      if (threadIdx.x == 0 && tile + 1 == order_.tiles) *total_ = offset + results;
    }
    return offset;
  }
  STRATA_D Count broadcast(Count offset) {
    if (threadIdx.x == 0) storage_.offset = offset;
    __syncthreads();
    return storage_.offset;
  }

 private:
  TempStorage& storage_;
  const warp_look_back& order_;
  Count* total_;
};

}  // namespace detail
STRATA_NAMESPACE_END
