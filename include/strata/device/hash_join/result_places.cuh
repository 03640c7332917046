// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform_thread_groups.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// By all threads of a block: adds what each has counted to the total, by one addition, because all
/// blocks have the same counter. `sum` is shared.
STRATA_D void add_join_results(unsigned long long& sum, unsigned long long counted,
                               unsigned long long* total) {
  STRATA_UNROLL
  for (unsigned distance = warp_threads / 2; distance > 0; distance /= 2) {
    counted += __shfl_down_sync(full_warp_mask, counted, distance);
  }
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (platform::lane_id() == 0 && counted != 0) atomicAdd(&sum, counted);
  __syncthreads();
  if (threadIdx.x == 0 && sum != 0) atomicAdd(total, sum);
}

/// Gives results their places behind all that have come before: by one addition for a group of
/// warps, because additions to one counter wait for each other, and so do the warps of a group.
template <int BlockThreads>
class join_result_places {
  using Count = unsigned long long;
  static constexpr unsigned threads = BlockThreads;

 public:
  static constexpr unsigned group_threads =
      threads % 128 == 0 && threads <= 15 * 128 ? 128 : threads;

 private:
  static constexpr unsigned groups = threads / group_threads;
  static constexpr unsigned group_warps = group_threads / warp_threads;

 public:
  /// Used in turn, so that a warp may be one call ahead of others.
  struct TempStorage {
    unsigned sums[2][groups][group_warps];
    Count places[2][groups];
  };

  STRATA_D join_result_places(TempStorage& storage, Count* total)
      : storage_(storage), total_(total) {}

  /// Where the result of this lane begins behind `sum`, which then is behind those of all lanes.
  STRATA_D static unsigned begin_of_one(bool has_one, unsigned& sum,
                                        unsigned lower_lanes = platform::lane_mask_lt()) {
    const unsigned lanes = __ballot_sync(full_warp_mask, has_one ? 1 : 0);
    const unsigned before = sum + static_cast<unsigned>(__popc(lanes & lower_lanes));
    sum += static_cast<unsigned>(__popc(lanes));
    return before;
  }
  /// The same of any number of results.
  STRATA_D static unsigned begin_of_several(unsigned count, unsigned& sum) {
    unsigned end = count;
    STRATA_UNROLL
    for (unsigned distance = 1; distance < warp_threads; distance *= 2) {
      const unsigned lower = __shfl_up_sync(full_warp_mask, end, distance);
      if (platform::lane_id() >= distance) end += lower;
    }
    const unsigned before = sum + end - count;
    sum += __shfl_sync(full_warp_mask, end, warp_threads - 1);
    return before;
  }

  /// Which lane has result number `at` of a warp, the lanes' results beginning at `begin`: the last one
  /// that begins not behind it; of those that begin there, the one with results.
  STRATA_D static unsigned owner_of(unsigned at, unsigned begin) {
    unsigned owner = 0;
    STRATA_UNROLL
    for (unsigned step = warp_threads / 2; step > 0; step /= 2) {
      const unsigned its_begin = __shfl_sync(full_warp_mask, begin, owner + step);
      if (its_begin <= at) owner += step;
    }
    return owner;
  }

  /// By all threads of a group: where the `sum` results of the calling warp go.
  STRATA_D Count take(unsigned sum) {
    const unsigned group = threadIdx.x / group_threads;
    const unsigned warp = threadIdx.x % group_threads / warp_threads;
    unsigned* const sums = storage_.sums[turn_][group];
    Count& place = storage_.places[turn_][group];
    turn_ ^= 1;
    if (platform::lane_id() == 0) sums[warp] = sum;
    platform::group_barrier(group + 1, group_threads);
    unsigned before = 0;
    unsigned all = 0;
    STRATA_UNROLL
    for (unsigned w = 0; w < group_warps; ++w) {
      if (w == warp) before = all;
      all += sums[w];
    }
    if (threadIdx.x % group_threads == 0) place = all == 0 ? 0 : atomicAdd(total_, Count{all});
    platform::group_barrier(group + 1, group_threads);
    return place + before;
  }

 private:
  TempStorage& storage_;
  Count* total_;
  unsigned turn_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END
