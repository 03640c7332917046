// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/engine/look_back.cuh>
#include <strata/device/engine/work_queue.cuh>
#include <strata/warp/warp_reduce.cuh>
#include <strata/warp/warp_scan.cuh>

#include <cstdint>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Adds the counts of the threads to the total. One thread does it, because all blocks add to the same counter. `sum`
/// lies in shared memory. All threads of a block call this.
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

/// Reserves a range of the output for the results of a group of warps, by one addition to the counter of all results.
/// Additions to one counter are serialised, so they must be few; the warps of a group wait for each other, so groups
/// must be small. Without `Group`, all threads are one group.
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
  /// scan_flag for lanes with any number of results.
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

  /// Returns the lane that has result number `at` of a warp, where the results of a lane begin at `begin`: the
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

  /// Returns the output offset of the `sum` results of the calling warp. All threads of a group call this.
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

/// The output offsets of tiles, each of which a block joins. With an order, the results of a tile follow those of all
/// tiles before it. Otherwise one addition to the counter of all results reserves their range.
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

  /// Returns the number of the next tile in the order. The caller checks whether there is one.
  STRATA_D Count take_ticket() { return detail::take_block_ticket(order_.ticket, storage_.ticket); }

  /// Returns the sum over all warps; `before` becomes the sum over the warps before the calling one.
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

  /// Reserves the range of a tile's results, and returns its begin. The whole block calls it.
  STRATA_D Count reserve_and_broadcast(Count tile, Count results) { return broadcast(reserve(tile, results)); }
  /// `reserve` and `broadcast` are the two steps of reserve_and_broadcast; other warps do not wait between them.
  /// `reserve` returns the begin in the first thread.
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

/// Finds the row of a list that a result belongs to, for 32 results at a time. Every row has at least one result. Those
/// of row `i` begin at `begins[i]`. After these begins, the array has `warp_threads` numbers that are greater than the
/// number of any result.
class join_result_rows {
  using Reduce = WarpReduce<unsigned>;

 public:
  /// For the results from number `first` on. A warp calls this.
  STRATA_D join_result_rows(const unsigned* begins, unsigned rows, unsigned first) : begins_(begins), row_(0) {
    for (unsigned end = rows; end - row_ > 1;) {
      const unsigned middle = (row_ + end) / 2;
      if (begins[middle] <= first) {
        row_ = middle;
      } else {
        end = middle;
      }
    }
  }

  /// Returns the row of result `base` + lane. Each call has a `base` greater by 32 than the call before. It may be
  /// greater by a larger multiple of 32 if all results between belong to the row `last()`. The first `base` may be less
  /// than `first`, and less than 0 (modulo 2^32).
  STRATA_D unsigned next(unsigned base) {
    const unsigned lane = platform::lane_id();
    // Rows that begin after `base` set the bit of their first result.
    const unsigned offset = begins_[row_ + 1 + lane] - base;
    typename Reduce::TempStorage unused;
    const unsigned heads = Reduce(unused).AllReduce(offset < warp_threads ? 1u << offset : 0u, BitOr{});
    const unsigned up_to_lane = ~0u >> (warp_threads - 1 - lane);
    const unsigned mine = row_ + static_cast<unsigned>(__popc(heads & up_to_lane));
    row_ += static_cast<unsigned>(__popc(heads));
    return mine;
  }
  /// Returns the row of the last of the 32 results for which `next` was called.
  STRATA_D unsigned last() const { return row_; }

 private:
  const unsigned* begins_;
  unsigned row_;
};

}  // namespace detail
STRATA_NAMESPACE_END
