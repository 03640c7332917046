// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/last_block.cuh>
#include <strata/device/engine/segments.cuh>
#include <strata/device/engine/work_queue.cuh>
#include <strata/device/reduce/segment_reducer.cuh>
#include <strata/device/reduce/segmented_tuning.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// How a long segment is cut: a function of its length alone, so that results do not depend on
/// which block reduces which chunk.
struct segment_chunks {
  unsigned count;
  long long items_per_chunk;

  STRATA_HD segment_chunks(long long length, int chunk_items) {
    const long long wanted = ceiling_divide<long long>(length, chunk_items);
    const long long chunks = detail::least(wanted, max_chunks_per_segment);
    // Chunks begin at multiples of 64 items of their segment, so all of them have the same alignment to vectors of any
    // type.
    items_per_chunk = round_up<long long>(ceiling_divide<long long>(length, chunks), 64);
    count = static_cast<unsigned>(ceiling_divide<long long>(length, items_per_chunk));
  }

  STRATA_HD long long begin(unsigned chunk) const { return chunk * items_per_chunk; }
  STRATA_HD long long items(unsigned chunk, long long length) const {
    const long long rest = length - begin(chunk);
    return detail::least(rest, items_per_chunk);
  }
};

/// A chunk of a long segment.
struct queued_chunk {
  long long segment;
  segment_bounds bounds;  // of the segment
  long long begin;        // of the chunk's items in the segment
  long long end;
  unsigned first;  // number of the segment's first chunk
  unsigned count;  // of the segment's chunks; 0 if there was no room for all
};

/// Chunks of long segments that the first kernel queues for the second. `num_chunks` is zero before the first chunk.
/// Later it may exceed `max_chunks`.
template <class AccumT>
struct chunk_queue {
  unsigned* num_chunks;
  queued_chunk* chunks;
  unsigned* num_finished;  // at a segment's first chunk: how many of its chunks are finished
  AccumT* partial_results;

  /// Called by a warp; false if the queue is full.
  STRATA_D bool push(long long segment, const segment_bounds& bounds, const segment_chunks& pushed) const {
    unsigned first = 0;
    if (platform::lane_id() == 0) first = detail::take_tickets(num_chunks, pushed.count);
    first = __shfl_sync(full_warp_mask, first, 0);
    const bool fits = first + pushed.count <= max_chunks && first + pushed.count >= first;
    if (fits && platform::lane_id() == 0) num_finished[first] = 0;
    for (unsigned i = platform::lane_id(); i < pushed.count && first + i < max_chunks; i += warp_threads) {
      const long long begin = pushed.begin(i);
      chunks[first + i] = {
          segment, bounds, begin, begin + pushed.items(i, bounds.length), first, fits ? pushed.count : 0};
    }
    return fits;
  }
};

/// What one block does with a batch of neighbouring segments. Each warp reads the bounds of its part of the batch, one
/// segment a lane. By their length, segments are reduced by a thread, by `group_threads` lanes or by the warp. Longer
/// ones go to a queue, in chunks that blocks of a second kernel reduce. If the queue is full, this block reduces them.
template <class Policy, class AccumT, class InputIterator, class OutputIterator, class Segments, class ReductionOp,
          class TransformOp, class InitT>
class AgentSegmentedReduce
    : SegmentReducer<Policy, AccumT, InputIterator, OutputIterator, Segments, ReductionOp, TransformOp, InitT> {
  using Reducer =
      SegmentReducer<Policy, AccumT, InputIterator, OutputIterator, Segments, ReductionOp, TransformOp, InitT>;
  using Reducer::block_threads, Reducer::block_warps, Reducer::group_threads, Reducer::tuning;
  static constexpr int warp_items = Reducer::items_within(tuning.warp_bytes, tuning.group_items);
  static constexpr int chunk_items = Reducer::items_within(tuning.chunk_bytes, warp_items);

  static_assert(tuning.block_threads == block_threads,
                "DeviceSegmentedReduce: segmented and tuning of a policy must have the same block_threads");
  static_assert(block_threads >= max_chunks_per_segment,
                "segmented_reduce_tuning::block_threads must not be below max_chunks_per_segment");

 public:
  struct TempStorage {
    typename Reducer::TempStorage reducer;
    Uninitialized<AccumT[max_chunks_per_segment]> chunk_results;
    int num_block_segments;
    long long block_segments[block_warps * warp_threads];
  };

  /// The length of the longest segments that are not queued.
  static constexpr long long max_unqueued_items = warp_items;

  template <class... Arguments>
  STRATA_D explicit AgentSegmentedReduce(TempStorage& storage, Arguments... arguments)
      : Reducer(storage.reducer, arguments...), storage_(storage) {}

  /// Reduces the block's batch: `segments_per_warp` (a power of two up to 32) for each warp.
  STRATA_D void reduce_batch(long long first_segment, long long num_segments, int segments_per_warp,
                             const chunk_queue<AccumT>& queue) {
    if (threadIdx.x == 0) storage_.num_block_segments = 0;
    __syncthreads();

    const int warp = static_cast<int>(threadIdx.x) / warp_threads;
    const int lane = static_cast<int>(platform::lane_id());
    const long long warp_first = first_segment + static_cast<long long>(warp) * segments_per_warp;
    const bool has_segment = lane < segments_per_warp && warp_first + lane < num_segments;
    segment_bounds bounds{0, -1};
    if (has_segment) bounds = this->segments_(warp_first + lane);

    if (has_segment && bounds.length <= tuning.thread_items) {
      this->reduce_by_thread(warp_first + lane, bounds);
    }
    const auto lanes_with = [&](long long above, long long up_to) {
      return __ballot_sync(full_warp_mask, bounds.length > above && bounds.length <= up_to);
    };
    this->template reduce_by_groups<group_threads>(lanes_with(tuning.thread_items, tuning.group_items), warp_first,
                                                   bounds);
    this->template reduce_by_groups<warp_threads>(lanes_with(tuning.group_items, warp_items), warp_first, bounds);

    unsigned long_segments = __ballot_sync(full_warp_mask, bounds.length > warp_items);
    for (; long_segments != 0; long_segments &= long_segments - 1) {
      const int owner = __ffs(static_cast<int>(long_segments)) - 1;
      const segment_bounds pushed{__shfl_sync(full_warp_mask, bounds.begin, owner),
                                  __shfl_sync(full_warp_mask, bounds.length, owner)};
      const bool is_queued = queue.push(warp_first + owner, pushed, segment_chunks(pushed.length, chunk_items));
      if (!is_queued && lane == 0) {
        const int position = atomicAdd(&storage_.num_block_segments, 1);
        storage_.block_segments[position] = warp_first + owner;
      }
    }
    __syncthreads();
    for (int i = 0; i < storage_.num_block_segments; ++i) {
      reduce_by_block(storage_.block_segments[i]);
    }
  }

  /// Reduces one chunk of the queue. The block that reduces the last chunk of a segment combines them all.
  STRATA_D void reduce_queued_chunk(unsigned chunk, const chunk_queue<AccumT>& queue) {
    AccumT result;
    {
      const queued_chunk mine = queue.chunks[chunk];
      if (mine.count == 0) return;
      this->reduce_range(mine.bounds, mine.begin, mine.end, 0, result);
    }
    const unsigned first = queue.chunks[chunk].first;
    const unsigned count = queue.chunks[chunk].count;
    const long long segment = queue.chunks[chunk].segment;
    if (count == 1) {
      this->store(segment, result);
    } else {
      STRATA_SHARED(is_last, bool);
      if (threadIdx.x == 0) {
        queue.partial_results[chunk] = result;
        is_last = detail::arrive_is_last(queue.num_finished + first, count);
      }
      __syncthreads();
      if (is_last) combine_chunks(segment, queue.partial_results + first, count);
    }
    __syncthreads();
  }

 private:
  // All threads of the block call this. Warp 0 combines.
  STRATA_D void combine_chunks(long long segment, const AccumT* chunk_results, unsigned chunks) {
    if (threadIdx.x >= warp_threads) return;
    this->store(segment, this->combine_parts(chunks, [&](unsigned chunk) { return chunk_results[chunk]; }));
  }

  // Chunks and association are the same as through the queue, and so are the results. The bounds are read again for
  // each chunk, so that they take no registers while the items are loaded. This case is rare.
  STRATA_D void reduce_by_block(long long segment) {
    unsigned chunk = 0;
    for (;; ++chunk) {
      const segment_bounds bounds = this->segments_(segment);
      const segment_chunks chunks(bounds.length, chunk_items);
      if (chunk == chunks.count) break;
      AccumT result;
      const long long begin = chunks.begin(chunk);
      this->reduce_range(bounds, begin, begin + chunks.items(chunk, bounds.length), 0, result);
      if (threadIdx.x == 0) storage_.chunk_results.Alias()[chunk] = result;
      __syncthreads();
    }
    combine_chunks(segment, storage_.chunk_results.Alias(), chunk);
    __syncthreads();
  }

  TempStorage& storage_;
};

}  // namespace detail
STRATA_NAMESPACE_END
