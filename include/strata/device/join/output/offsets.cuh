// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/warp/warp_scan.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// By all threads of a block: adds what they have counted to the total. One thread does it, because all
/// blocks add to the same counter. `sum` lies in shared memory.
STRATA_D void add_join_results(unsigned long long& sum, unsigned long long counted, unsigned long long* total) {
  // Not WarpReduce: it keeps the order of operands, for which every step would compare lanes.
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

/// Reserves a range of the output for the results of a group of warps, by one addition to the counter of
/// all results. Additions to one counter are serialised, so they must be few; the warps of a group wait
/// for each other, so groups must be small. Without `Group`, all threads are one.
template <int BlockThreads, int Group = BlockThreads>
class join_output_offsets {
  using Count = unsigned long long;
  static constexpr unsigned threads = BlockThreads;

 public:
  static constexpr unsigned group_threads = threads % Group == 0 && threads <= 15 * Group ? Group : threads;

 private:
  static constexpr unsigned groups = threads / group_threads;
  static constexpr unsigned group_warps = group_threads / warp_threads;

 public:
  /// Double-buffered, so that a warp may be one call ahead of others.
  struct TempStorage {
    unsigned sums[2][groups][group_warps];
    Count offsets[2][groups];
  };

  STRATA_D join_output_offsets(TempStorage& storage, Count* total) : storage_(storage), total_(total) {}

  /// An exclusive scan over the lanes of a warp that starts at `sum`: returns the offset of this lane's
  /// result, if it has one, and adds the results of all lanes to `sum`.
  STRATA_D static unsigned scan_flag(bool has_one, unsigned& sum, unsigned lower_lanes = platform::lane_mask_lt()) {
    const unsigned lanes = __ballot_sync(full_warp_mask, has_one ? 1 : 0);
    const unsigned before = sum + static_cast<unsigned>(__popc(lanes & lower_lanes));
    sum += static_cast<unsigned>(__popc(lanes));
    return before;
  }
  /// The same for any number of results.
  STRATA_D static unsigned scan_count(unsigned count, unsigned& sum) {
    using Scan = WarpScan<unsigned>;
    typename Scan::TempStorage unused;
    unsigned before = 0;
    unsigned all = 0;
    Scan(unused).ExclusiveSum(count, before, all);
    before += sum;
    sum += all;
    return before;
  }

  /// The lane that has result number `at` of a warp, where the results of a lane begin at `begin`: the
  /// last lane with `begin <= at`. If several lanes begin there, all but the last have no results.
  STRATA_D static unsigned owner_of(unsigned at, unsigned begin) {
    unsigned owner = 0;
    STRATA_UNROLL
    for (unsigned step = warp_threads / 2; step > 0; step /= 2) {
      const unsigned its_begin = __shfl_sync(full_warp_mask, begin, static_cast<int>(owner + step));
      if (its_begin <= at) owner += step;
    }
    return owner;
  }

  /// By all threads of a group: the output offset of the `sum` results of the calling warp.
  STRATA_D Count reserve(unsigned sum) {
    const unsigned group = threadIdx.x / group_threads;
    const unsigned warp = threadIdx.x % group_threads / warp_threads;
    unsigned* const sums = storage_.sums[buffer_][group];
    Count& offset = storage_.offsets[buffer_][group];
    buffer_ ^= 1;
    if (platform::lane_id() == 0) sums[warp] = sum;
    platform::group_barrier(group + 1, group_threads);
    unsigned before = 0;
    unsigned all = 0;
    STRATA_UNROLL
    for (unsigned w = 0; w < group_warps; ++w) {
      if (w == warp) before = all;
      all += sums[w];
    }
    if (threadIdx.x % group_threads == 0) offset = all == 0 ? 0 : atomicAdd(total_, Count{all});
    platform::group_barrier(group + 1, group_threads);
    return offset + before;
  }

 private:
  TempStorage& storage_;
  Count* total_;
  unsigned buffer_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END
