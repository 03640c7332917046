// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_scan.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/engine/last_block.cuh>
#include <strata/device/engine/segments.cuh>
#include <strata/device/reduce/segment_reducer.cuh>
#include <strata/device/reduce/segmented_tuning.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The tuning of the blocks of a single launch, in the form that SegmentReducer reads.
template <class Policy>
struct one_launch_policy {
  static constexpr segmented_reduce_tuning segmented = Policy::segmented;
  static constexpr reduce_tuning tuning = Policy::one_launch_tuning;
};

/// Reduces up to `max_one_launch_segments` segments in one launch. Warps take the short segments in turn, blocks take
/// the segments of medium length, and all blocks share the items of the long segments.
///
///     long segments   |---- 0 ----|-- 1 --|------- 2 -------|--- 3 ---|     items, one after another
///     shares          |-- block 0 --|-- block 1 --|-- block 2 --|-- block 3|
///
/// A segment inside one share is reduced by its block. In a segment of several shares, here 1, 2 and 3, each block
/// publishes its part, and the last block to publish combines the parts (`last_block_gather`).
template <class Policy, class AccumT, class InputIterator, class OutputIterator, class Segments, class ReductionOp,
          class TransformOp, class InitT>
class AgentSegmentedReduceOneLaunch : SegmentReducer<one_launch_policy<Policy>, AccumT, InputIterator, OutputIterator,
                                                     Segments, ReductionOp, TransformOp, InitT> {
  using Reducer = SegmentReducer<one_launch_policy<Policy>, AccumT, InputIterator, OutputIterator, Segments,
                                 ReductionOp, TransformOp, InitT>;
  using Reducer::block_threads, Reducer::block_warps, Reducer::group_threads, Reducer::tuning;
  using Gather = last_block_gather<AccumT>;
  static constexpr int min_warp_items = Reducer::items_within(tuning.one_launch_warp_bytes, tuning.group_items);
  static constexpr int max_warp_items = Reducer::items_within(tuning.warp_bytes, min_warp_items);
  static constexpr int max_segments = max_one_launch_segments<AccumT>;
  static constexpr int max_rows = detail::ceiling_divide(max_segments, block_threads);
  // Shares begin at multiples of this many items of a segment. Every long segment has more.
  static constexpr int granule = 64;
  static constexpr int block_items = Reducer::items_within(tuning.one_launch_block_bytes, granule);
  // Parts of a segment that a lane loads before it uses the first.
  static constexpr unsigned parts_per_batch = 4;

  using ItemScan = BlockScan<unsigned long long, block_threads, BLOCK_SCAN_WARP_SCANS>;
  using SegmentScan = BlockScan<int, block_threads, BLOCK_SCAN_WARP_SCANS>;

  struct share_range {
    unsigned first;
    unsigned count;
  };

  /// The items of the long segments, numbered one after another and shared evenly. A share that would begin inside a
  /// segment begins a little earlier, at a multiple of `granule` items of the segment, so that all shares of a segment
  /// are aligned to 16 bytes alike.
  struct item_shares {
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

    /// Returns the item of a segment at which a share begins, if an even cut would begin it at `item`.
    STRATA_D static long long cut(unsigned long long item) { return static_cast<long long>(item - item % granule); }

    /// The shares that have a part of the segment with items `first` to `end`.
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
    typename Gather::TempStorage gather;
    // For each long segment, in order, the number of items of long segments before it; then the total. Until
    // number_long_segments(): the length of each segment, 0 for those that are not long.
    unsigned long long first_item[max_rows * block_threads + 1];
    unsigned short segment[max_segments];
    typename ItemScan::TempStorage item_scan;
    typename SegmentScan::TempStorage segment_scan;
    // The share of this block.
    Uninitialized<item_shares> shares;
    unsigned long long share_begin;
    unsigned long long share_end;
    int first_rank;
  };
  // not for users: both are constants of the library
  static_assert(max_segments <= 1 << 16, "a segment's number must fit into `segment`");
  static_assert(
      block_threads > warp_threads,
      "DeviceSegmentedReduce: one_launch_tuning must have at least 64 block_threads, because two warps combine "
      "the first and the last segment of a block's share");

  /// Returns the length of the longest segment that one warp reduces. It grows with the number of segments: if there
  /// are many, most warps have a segment.
  STRATA_HD static long long max_items_of_warp(long long num_segments) {
    const long long items = num_segments * 2 * max_warp_items / max_segments;
    if (items < min_warp_items) return min_warp_items;
    return items < max_warp_items ? items : max_warp_items;
  }

  template <class... Arguments>
  STRATA_D explicit AgentSegmentedReduceOneLaunch(TempStorage& storage, long long num_segments, Arguments... arguments)
      : Reducer(storage.reducer, arguments...),
        storage_(storage),
        num_segments_(static_cast<int>(num_segments)),
        warp_items_(max_items_of_warp(num_segments)),
        long_items_(warp_items_ > block_items ? warp_items_ : block_items) {}

  /// Reduces the segments that are not long. Every `blocks`-th segment belongs to this block, whose warps take them in
  /// turn.
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
          const AccumT result = this->template reduce_by_lanes<group_threads>(bounds, lane);
          if (lane == 0) this->store_from_here(segment, result, true);
        }
      } else if (bounds.length <= warp_items_) {
        const AccumT result = this->template reduce_by_lanes<warp_threads>(bounds, lane);
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

  /// Reads the lengths of all segments. Returns true if some are long. Call this first.
  STRATA_D bool find_long_segments() {
    long long lengths[max_rows];  // all loads are under way before the first is used
    STRATA_UNROLL
    for (int row = 0; row < max_rows; ++row) {
      const int segment = row * block_threads + static_cast<int>(threadIdx.x);
      lengths[row] = segment < num_segments_ ? this->segments_(segment).length : 0;
    }
    bool found = false;
    STRATA_UNROLL
    for (int row = 0; row < max_rows; ++row) {
      const bool is_long = lengths[row] > long_items_;
      storage_.first_item[row * block_threads + static_cast<int>(threadIdx.x)] =
          is_long ? static_cast<unsigned long long>(lengths[row]) : 0;
      found = found || is_long;
    }
    return __syncthreads_or(found) != 0;
  }

  /// Reduces the block's share of the items of long segments, about 1 / `blocks` of them. Every block reads all
  /// lengths, so all blocks agree on the shares. A share is contiguous: only its first and its last segment may have
  /// parts in other shares. Call this if find_long_segments() has found some.
  STRATA_D void reduce_share_of_long(unsigned block, unsigned blocks, const typename Gather::arguments& gather) {
    if (!number_long_segments(block, blocks)) return;

    int rank = storage_.first_rank;
    while (reduce_part_of(rank, block, gather)) ++rank;

    // One warp for the first segment of the share, one for the last.
    if (threadIdx.x == 0) platform::fence_sc();
    __syncthreads();
    const unsigned warp = threadIdx.x / warp_threads;
    const int first_rank = storage_.first_rank;
    if (warp > 1 || (warp == 1 && rank == first_rank)) return;
    if (warp == 0) rank = first_rank;
    const share_range range = storage_.shares.Alias().of(storage_.first_item[rank], storage_.first_item[rank + 1]);
    if (range.count > 1) {
      combine_by_warp(storage_.segment[rank], gather_of(gather, range, block), range.count);
    }
  }

 private:
  // Reduces the block's part of a segment. Returns true if the next segment has a part in the block's share, too.
  STRATA_D bool reduce_part_of(int rank, unsigned block, const typename Gather::arguments& gather) {
    AccumT result;
    {
      const unsigned long long first = storage_.first_item[rank];
      const segment_bounds bounds = this->segments_(storage_.segment[rank]);
      const long long begin = storage_.share_begin > first ? item_shares::cut(storage_.share_begin - first) : 0;
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
      if (item_shares::cut(share_begin > first ? share_begin - first : 0) == 0 && share_end >= end) {
        this->store_from_here(storage_.segment[rank], result, true);
      } else {
        gather_of(gather, storage_.shares.Alias().of(first, end), block).publish(result);
      }
    }
    return share_end >= end && item_shares::cut(share_end - end) != 0;
  }

  // Lists the long segments and cuts the block's share. Returns false if the block has none.
  STRATA_D bool number_long_segments(unsigned block, unsigned blocks) {
    // Each thread numbers neighbouring segments. Their lengths lie in `first_item` until the scans' barriers.
    const int rows = detail::ceiling_divide(num_segments_, block_threads);
    const int first_segment = static_cast<int>(threadIdx.x) * rows;
    unsigned long long lengths[max_rows];
    unsigned long long items = 0;
    int segments = 0;
    STRATA_UNROLL
    for (int i = 0; i < max_rows; ++i) {
      lengths[i] = i < rows ? storage_.first_item[first_segment + i] : 0;
      items += lengths[i];
      segments += lengths[i] != 0 ? 1 : 0;
    }
    unsigned long long next_item, num_items;
    int rank, num_long;
    ItemScan(storage_.item_scan).ExclusiveSum(items, next_item, num_items);
    SegmentScan(storage_.segment_scan).ExclusiveSum(segments, rank, num_long);

    const item_shares shares(num_items, blocks);
    if (block >= shares.count) return false;
    const unsigned long long share_begin = shares.begin(block);
    if (threadIdx.x == 0) {
      storage_.shares.Alias() = shares;
      storage_.share_begin = share_begin;
      storage_.share_end = shares.begin(block + 1);
      storage_.first_item[num_long] = num_items;
    }
    STRATA_UNROLL
    for (int i = 0; i < max_rows; ++i) {
      if (lengths[i] == 0) continue;
      storage_.segment[rank] = static_cast<unsigned short>(first_segment + i);
      storage_.first_item[rank] = next_item;
      if (share_begin >= next_item && share_begin < next_item + lengths[i]) {
        storage_.first_rank = rank;
      }
      next_item += lengths[i];
      ++rank;
    }
    __syncthreads();
    return true;
  }

  // Gathers among the shares that have a part of one segment. Two segments with several shares have at most one share
  // in common: with two slots for each share, their words do not overlap.
  STRATA_D Gather gather_of(typename Gather::arguments gather, const share_range& range, unsigned block) {
    gather.words += static_cast<std::size_t>(2 * range.first) * Gather::words_per_value;
    return Gather(storage_.gather, gather, block - range.first, range.count);
  }

  // Combines the results of a segment's parts, if this is the last block to publish one. First it checks that all
  // are complete: the operator must not see a value that no block has published.
  STRATA_D void combine_by_warp(long long segment, Gather gather, unsigned parts) {
    for (unsigned first = 0; first < parts; first += parts_per_batch * warp_threads) {
      bool is_complete = true;
      STRATA_UNROLL
      for (unsigned i = 0; i < parts_per_batch; ++i) {
        const unsigned part = first + i * warp_threads + platform::lane_id();
        AccumT value;
        if (part < parts) is_complete = gather.collect(part, value) & is_complete;
      }
      if (__all_sync(full_warp_mask, is_complete) == 0) return;
    }
    const auto collect = [&](unsigned part) {
      AccumT value;
      gather.collect(part, value);  // the value stays when another block erases the epochs
      return value;
    };
    const AccumT result = this->combine_parts(parts, collect);
    const bool is_elected = platform::lane_id() == 0 && gather.elect();
    if (__any_sync(full_warp_mask, is_elected) == 0) return;
    for (unsigned i = platform::lane_id(); i < parts; i += warp_threads) gather.erase(i);
    if (is_elected) this->store_from_here(segment, result, true);
  }

  TempStorage& storage_;
  int num_segments_;
  long long warp_items_;  // longest segment of a warp
  long long long_items_;  // longest segment of a block; longer ones are long
};

}  // namespace detail
STRATA_NAMESPACE_END
