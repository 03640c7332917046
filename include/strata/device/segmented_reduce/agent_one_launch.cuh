// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/reduce/grid_exchange.cuh>
#include <strata/device/segmented_reduce/segment_reducer.cuh>
#include <strata/device/segmented_reduce/segments.cuh>
#include <strata/device/segmented_reduce/tuning.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The tuning of blocks that do all in one launch.
template <class Policy>
struct one_launch_policy {
  static constexpr segmented_reduce_tuning segmented = Policy::segmented;
  static constexpr reduce_tuning tuning = Policy::one_launch_tuning;
};

/// Not too many segments, in one launch: the warps take the short ones in turn, the blocks those of
/// medium length, then all blocks share the items of the long ones.
template <class Policy, class AccumT, class InputIterator, class OutputIterator, class Segments,
          class ReductionOp, class TransformOp, class InitT>
class AgentSegmentedReduceOneLaunch
    : SegmentReducer<one_launch_policy<Policy>, AccumT, InputIterator, OutputIterator, Segments,
                     ReductionOp, TransformOp, InitT> {
  using Reducer = SegmentReducer<one_launch_policy<Policy>, AccumT, InputIterator, OutputIterator,
                                 Segments, ReductionOp, TransformOp, InitT>;
  using Reducer::block_threads, Reducer::block_warps, Reducer::group_threads, Reducer::tuning;
  using Exchange = grid_exchange<AccumT>;
  static constexpr int min_warp_items =
      Reducer::items_within(tuning.one_launch_warp_bytes, tuning.group_items);
  static constexpr int max_warp_items = Reducer::items_within(tuning.warp_bytes, min_warp_items);
  static constexpr int max_segments = max_one_launch_segments<AccumT>;
  static constexpr int block_items = Reducer::items_within(tuning.one_launch_block_bytes, 1);
  // Parts of a segment that a lane asks for before it looks at the first.
  static constexpr unsigned parts_at_once = 4;

  struct share_range {
    unsigned first;
    unsigned count;
  };

  /// The items of the long segments, counted through and shared evenly. Where a share would begin
  /// inside a segment it begins a little earlier, at a multiple of `granule` items of the segment:
  /// that leaves the shares' alignment to vectors of any type alike.
  struct item_shares {
    static constexpr unsigned granule = 64;
    static constexpr int min_items = Reducer::items_within(tuning.min_share_bytes, 4 * granule);

    unsigned count;  // none is empty
    unsigned longer;
    unsigned long long items;

    STRATA_D item_shares(unsigned long long num_items, unsigned blocks) {
      const unsigned long long enough = ceiling_divide<unsigned long long>(num_items, min_items);
      count = enough < blocks ? static_cast<unsigned>(enough) : blocks;
      items = num_items / count;
      longer = static_cast<unsigned>(num_items - items * count);
    }

    STRATA_D unsigned long long begin(unsigned share) const {
      return share * items + (share < longer ? share : longer);
    }

    /// Where a share begins that would begin at this item of a segment.
    STRATA_D static long long cut(unsigned long long item) {
      return static_cast<long long>(item / granule * granule);
    }

    /// Those that have a part of a segment, given its first item and what follows its last.
    STRATA_D share_range of(unsigned long long first, unsigned long long end) const {
      const unsigned first_share = last_up_to(first + granule - 1);
      return {first_share, last_up_to(end - 1) - first_share + 1};
    }

   private:
    STRATA_D unsigned last_up_to(unsigned long long item) const {
      auto share = static_cast<unsigned>(static_cast<float>(item) / static_cast<float>(items));
      share = share < count ? share : count - 1;
      while (begin(share) > item) --share;
      while (share + 1 < count && begin(share + 1) <= item) ++share;
      return share;
    }
  };

 public:
  struct TempStorage {
    typename Reducer::TempStorage reducer;
    typename Exchange::TempStorage exchange;
    // Of the long segments, in order; their items are counted through, the last count is the total.
    unsigned long long first_item[max_segments + 1];
    unsigned short segment[max_segments];
    unsigned long long items_of_warp[block_warps];
    int segments_of_warp[block_warps];
    // The block's share of them.
    Uninitialized<item_shares> shares;
    unsigned long long share_begin;
    unsigned long long share_end;
    int first_rank;
  };
  static_assert(max_segments <= 1 << 16, "a segment's number must fit into `segment`");

  /// Longest segments that are left to one warp: longer where there are segments for most warps.
  STRATA_HD static long long max_items_of_warp(long long num_segments) {
    const long long items = num_segments * 2 * max_warp_items / max_segments;
    if (items < min_warp_items) return min_warp_items;
    return items < max_warp_items ? items : max_warp_items;
  }

  template <class... Arguments>
  STRATA_D explicit AgentSegmentedReduceOneLaunch(TempStorage& storage, long long num_segments,
                                                  Arguments... arguments)
      : Reducer(storage.reducer, arguments...),
        storage_(storage),
        num_segments_(static_cast<int>(num_segments)),
        warp_items_(max_items_of_warp(num_segments)),
        long_items_(warp_items_ > block_items ? warp_items_ : block_items) {}

  /// Reduces the segments, none of them long, that fall to the block, and among its warps, when all
  /// `blocks` take them in turn.
  STRATA_D void reduce_in_turn(unsigned block, unsigned blocks) {
    const unsigned warp = threadIdx.x / warp_threads;
    const int lane = static_cast<int>(platform::lane_id());
    const long long stride = static_cast<long long>(blocks) * block_warps;
    bool has_medium = false;
    for (long long segment = block + static_cast<long long>(warp) * blocks; segment < num_segments_;
         segment += stride) {
      const segment_bounds bounds = this->segments_(segment);
      if (bounds.length <= tuning.thread_items) {
        if (lane == 0) this->reduce_by_thread(segment, bounds);
      } else if (bounds.length < warp_threads) {
        if (lane < group_threads) {
          const AccumT result = this->template reduce_by_lanes<group_threads>(bounds, 0, lane);
          if (lane == 0) this->store_from_here(segment, result, true);
        }
      } else if (bounds.length <= warp_items_) {
        const AccumT result = this->template reduce_by_lanes<warp_threads>(bounds, 0, lane);
        if (lane == 0) this->store_from_here(segment, result, true);
      } else {
        has_medium = has_medium || bounds.length <= block_items;
      }
      __syncwarp();
    }
    if (__syncthreads_or(has_medium) == 0) return;

    int turn = 0;
    for (long long segment = block; segment < num_segments_; segment += blocks) {
      const segment_bounds bounds = this->segments_(segment);
      if (bounds.length <= warp_items_ || bounds.length > block_items) continue;
      AccumT result;
      this->reduce_range(bounds, 0, bounds.length, turn, result);
      this->store(segment, result);
      ++turn;
    }
    __syncthreads();
  }

  /// Reduces the block's share of the items of long segments, as near to 1 / `blocks` of them as can
  /// be. Every block looks at all lengths, so that all agree on the shares. A share is contiguous:
  /// only its first and its last segment may have to be combined with other blocks'.
  STRATA_D void reduce_share_of_long(unsigned block, unsigned blocks,
                                     const typename Exchange::arguments& exchange) {
    const int num_long = number_long_segments();
    if (num_long == 0) return;
    // What is needed between segments waits in shared memory: the registers are for the loads.
    if (threadIdx.x == 0) {
      const item_shares shares(storage_.first_item[num_long], blocks);
      const bool has_share = block < shares.count;
      storage_.shares.Alias() = shares;
      storage_.share_begin = has_share ? shares.begin(block) : 0;
      storage_.share_end = has_share ? shares.begin(block + 1) : 0;
      storage_.first_rank = rank_of_item(storage_.share_begin, num_long);
    }
    __syncthreads();
    if (storage_.share_end == 0) return;

    int rank = storage_.first_rank;
    while (reduce_part_of(rank, block, exchange)) ++rank;

    // One warp for the first segment of the share, one for the last.
    if (threadIdx.x == 0) platform::fence_sc();
    __syncthreads();
    const unsigned warp = threadIdx.x / warp_threads;
    const int first_rank = storage_.first_rank;
    if (warp > 1 || (warp == 1 && rank == first_rank)) return;
    if (warp == 0) rank = first_rank;
    const share_range range =
        storage_.shares.Alias().of(storage_.first_item[rank], storage_.first_item[rank + 1]);
    if (range.count > 1) {
      finish_by_warp(storage_.segment[rank], exchange_of(exchange, range, block), range.count);
    }
  }

 private:
  // Reduces the block's part of a segment. True if the next segment has a part in the block's share.
  STRATA_D bool reduce_part_of(int rank, unsigned block,
                               const typename Exchange::arguments& exchange) {
    AccumT result;
    {
      const unsigned long long first = storage_.first_item[rank];
      const segment_bounds bounds = this->segments_(storage_.segment[rank]);
      const long long begin =
          storage_.share_begin > first ? item_shares::cut(storage_.share_begin - first) : 0;
      const long long end = storage_.share_end < storage_.first_item[rank + 1]
                                ? item_shares::cut(storage_.share_end - first)
                                : bounds.length;
      this->reduce_range(bounds, begin, end, rank, result);
    }
    const unsigned long long first = storage_.first_item[rank];
    const unsigned long long end = storage_.first_item[rank + 1];
    const unsigned long long share_end = storage_.share_end;
    if (threadIdx.x == 0) {
      const unsigned long long share_begin = storage_.share_begin;
      if (item_shares::cut(share_begin > first ? share_begin - first : 0) == 0 &&
          share_end >= end) {
        this->store_from_here(storage_.segment[rank], result, true);
      } else {
        exchange_of(exchange, storage_.shares.Alias().of(first, end), block).publish(result);
      }
    }
    return share_end >= end && item_shares::cut(share_end - end) != 0;
  }

  // Lists the long segments and returns how many there are. Loops are not unrolled where that does
  // not pay: fetching instructions for the first time takes time.
  STRATA_D int number_long_segments() {
    // Each warp looks at neighbouring segments, one a lane, in rows.
    const int lane = static_cast<int>(platform::lane_id());
    const int warp = static_cast<int>(threadIdx.x) / warp_threads;
    const int rows = ceiling_divide(num_segments_, block_threads);
    const int warp_first = warp * rows * warp_threads + lane;
    const auto long_length = [&](int row) -> unsigned long long {
      const int segment = warp_first + row * warp_threads;
      const long long length = segment < num_segments_ ? this->segments_(segment).length : 0;
      return length > long_items_ ? static_cast<unsigned long long>(length) : 0;
    };

    unsigned long long items = 0;
    int segments = 0;
    STRATA_UNROLL_N(4)
    for (int row = 0; row < rows; ++row) {
      const unsigned long long length = long_length(row);
      items += length;
      segments += length != 0 ? 1 : 0;
    }
    if (__syncthreads_or(segments) == 0) return 0;

    const sum_over_block<unsigned long long> item_sum(items, storage_.items_of_warp);
    const sum_over_block<int> segment_sum(segments, storage_.segments_of_warp);
    __syncthreads();
    unsigned long long next_item = item_sum.before_warp(warp);
    int next_rank = segment_sum.before_warp(warp);
    const int num_long = segment_sum.before_warp(block_warps);
    if (threadIdx.x == 0) storage_.first_item[num_long] = item_sum.before_warp(block_warps);

    STRATA_UNROLL_N(2)
    for (int row = 0; row < rows; ++row) {
      const unsigned long long length = long_length(row);
      const unsigned long_lanes = __ballot_sync(full_warp_mask, length != 0);
      unsigned long long up_to_here = length;
      STRATA_UNROLL
      for (int offset = 1; offset < warp_threads; offset *= 2) {
        const unsigned long long before = __shfl_up_sync(full_warp_mask, up_to_here, offset);
        if (lane >= offset) up_to_here += before;
      }
      if (length != 0) {
        const int rank = next_rank + __popc(long_lanes & platform::lane_mask_lt());
        storage_.segment[rank] = static_cast<unsigned short>(warp_first + row * warp_threads);
        storage_.first_item[rank] = next_item + up_to_here - length;
      }
      next_rank += __popc(long_lanes);
      next_item += __shfl_sync(full_warp_mask, up_to_here, warp_threads - 1);
    }
    __syncthreads();
    return num_long;
  }

  // Of one value per thread, by warps; readable after a barrier.
  template <class T>
  struct sum_over_block {
    const T (&sums)[block_warps];

    STRATA_D sum_over_block(T value, T (&sums_of_warps)[block_warps]) : sums(sums_of_warps) {
      STRATA_UNROLL
      for (int offset = warp_threads / 2; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(full_warp_mask, value, offset);
      }
      if (platform::lane_id() == 0) sums_of_warps[threadIdx.x / warp_threads] = value;
    }

    STRATA_D T before_warp(int warp) const {
      T sum = 0;
      STRATA_UNROLL
      for (int i = 0; i < block_warps; ++i) sum += i < warp ? sums[i] : 0;
      return sum;
    }
  };

  // Which of the long segments has the item.
  STRATA_D int rank_of_item(unsigned long long item, int num_long) const {
    int low = 0;
    int high = num_long;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (storage_.first_item[middle] <= item ? low : high) = middle;
    }
    return low;
  }

  // Of the shares that have a part of the segment. Two segments with several shares have at most one
  // in common: with two places for each share, their packets lie apart.
  STRATA_D Exchange exchange_of(typename Exchange::arguments exchange, const share_range& range,
                                unsigned block) {
    exchange.packets += static_cast<std::size_t>(2 * range.first) * Exchange::packets_per_value;
    return Exchange(storage_.exchange, exchange, block - range.first, range.count);
  }

  // Combines the results of a segment's parts, if this is the last block to come here. Looks first
  // whether all are there: the operator must not meet what nobody has published.
  STRATA_D void finish_by_warp(long long segment, Exchange exchange, unsigned parts) {
    for (unsigned first = 0; first < parts; first += parts_at_once * warp_threads) {
      bool is_complete = true;
      STRATA_UNROLL
      for (unsigned i = 0; i < parts_at_once; ++i) {
        const unsigned part = first + i * warp_threads + platform::lane_id();
        AccumT value;
        if (part < parts) is_complete = exchange.collect(part, value) & is_complete;
      }
      if (__all_sync(full_warp_mask, is_complete) == 0) return;
    }
    const auto collect = [&](unsigned part) {
      AccumT value;
      exchange.collect(part, value);  // stays there when another block takes the tags back
      return value;
    };
    AccumT result;
    this->fold_parts_of_lane(parts, collect, result);
    result = this->combine_lanes(result, parts);
    const bool is_winner = platform::lane_id() == 0 && exchange.claim();
    if (__any_sync(full_warp_mask, is_winner) == 0) return;
    for (unsigned i = platform::lane_id(); i < parts; i += warp_threads) exchange.take_back(i);
    if (is_winner) this->store_from_here(segment, result, true);
  }

  TempStorage& storage_;
  int num_segments_;
  long long warp_items_;  // up to here by a warp
  long long long_items_;  // up to here by a block
};

}  // namespace detail
STRATA_NAMESPACE_END
