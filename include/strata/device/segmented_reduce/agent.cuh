// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/reduce/agent.cuh>
#include <strata/device/reduce/input.cuh>
#include <strata/device/reduce/output.cuh>
#include <strata/device/segmented_reduce/segments.cuh>
#include <strata/device/segmented_reduce/tuning.hpp>
#include <strata/warp/warp_reduce.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What one block does with a batch of neighbouring segments: each warp reads the bounds of its
/// part of the batch, one segment a lane, and takes the segments by length: short ones a thread
/// each, medium ones a few lanes each, longer ones with the whole warp. What is longer still is
/// left to the block and, in chunks, to the second kernel.
template <class Policy, class AccumT, class InputIterator, class OutputIterator, class Segments,
          class ReductionOp, class TransformOp, class InitT>
class AgentSegmentedReduce {
  static constexpr segmented_reduce_tuning tuning = Policy::segmented;
  static constexpr int block_threads = tuning.block_threads;
  static constexpr int block_warps = block_threads / warp_threads;
  static constexpr int group_threads = tuning.group_threads;
  static constexpr int groups = warp_threads / group_threads;
  static constexpr bool is_commutative = operator_traits<ReductionOp, AccumT>::commutative;
  // Items that a lane asks for before it uses the first.
  static constexpr int items_in_flight = sizeof(AccumT) <= 16 ? 8 : 4;

  static_assert(block_threads == Policy::tuning.block_threads,
                "the two tunings of a segmented_reduce policy must have the same block_threads");
  static_assert(
      block_threads >= max_chunks_per_segment,
      "segmented_reduce_tuning::block_threads must not be below max_chunks_per_segment: a "
      "block reads one chunk's result per thread");

  using BlockAgent = AgentReduce<Policy, AccumT, ReductionOp, TransformOp>;
  template <int Threads>
  using GroupReduce = WarpReduce<AccumT, Threads>;

 public:
  struct TempStorage {
    typename BlockAgent::TempStorage block;
    typename GroupReduce<warp_threads>::TempStorage warp_reduce[block_warps];
    typename GroupReduce<group_threads>::TempStorage group_reduce[block_warps][groups];
    Uninitialized<AccumT[max_chunks_per_segment]> chunk_results;
    int num_block_segments;
    int block_segments[block_warps * warp_threads];
  };

  STRATA_D AgentSegmentedReduce(TempStorage& storage, InputIterator d_in, OutputIterator d_out,
                                Segments segments, ReductionOp reduction_op,
                                TransformOp transform_op, InitT init)
      : storage_(storage),
        d_in_(d_in),
        d_out_(d_out),
        segments_(segments),
        transform_op_(transform_op),
        init_(init),
        reduction_op_(reduction_op),
        block_agent_(storage.block, reduction_op, transform_op) {}

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
    if (has_segment) bounds = segments_(warp_first + lane);

    if (has_segment && bounds.length <= tuning.thread_items) {
      reduce_by_thread(warp_first + lane, bounds);
    }
    const auto lanes_with = [&](long long above, long long up_to) {
      return __ballot_sync(full_warp_mask, bounds.length > above && bounds.length <= up_to);
    };
    reduce_by_groups<group_threads>(lanes_with(tuning.thread_items, tuning.group_items), warp_first,
                                    bounds, storage_.group_reduce[warp]);
    reduce_by_groups<warp_threads>(lanes_with(tuning.group_items, tuning.warp_items), warp_first,
                                   bounds, &storage_.warp_reduce[warp]);

    unsigned long_segments = __ballot_sync(full_warp_mask, bounds.length > tuning.warp_items);
    for (; long_segments != 0; long_segments &= long_segments - 1) {
      const int owner = __ffs(static_cast<int>(long_segments)) - 1;
      const long long length = __shfl_sync(full_warp_mask, bounds.length, owner);
      const bool is_queued =
          length > tuning.block_items &&
          queue.push(warp_first + owner, segment_chunks(length, tuning.block_items).count);
      if (!is_queued && lane == 0) {
        const int position = atomicAdd(&storage_.num_block_segments, 1);
        storage_.block_segments[position] = warp * segments_per_warp + owner;
      }
    }
    __syncthreads();
    for (int i = 0; i < storage_.num_block_segments; ++i) {
      reduce_by_block(first_segment + storage_.block_segments[i]);
    }
  }

  /// Reduces one chunk of the queue; the block that finishes a segment's last chunk finishes the
  /// segment.
  STRATA_D void reduce_queued_chunk(unsigned chunk, const chunk_queue<AccumT>& queue) {
    const int first = queue.first_chunk[chunk];
    if (first < 0) return;
    const long long segment = queue.segment[first];
    const segment_bounds bounds = segments_(segment);
    const segment_chunks chunks(bounds.length, tuning.block_items);
    AccumT result;
    reduce_chunk(bounds, chunks, chunk - static_cast<unsigned>(first), result);

    STRATA_SHARED(is_last, bool);
    if (threadIdx.x == 0) {
      queue.partial_results[chunk] = result;
      platform::fence_acq_rel();
      is_last = atomicAdd(queue.num_finished + first, 1u) + 1 == chunks.count;
      platform::fence_acq_rel();
    }
    __syncthreads();
    if (is_last) {
      if (threadIdx.x < chunks.count) {
        result = queue.partial_results[static_cast<unsigned>(first) + threadIdx.x];
      }
      store(segment, block_agent_.reduce_values(result, static_cast<int>(chunks.count)));
    }
    __syncthreads();
  }

 private:
  STRATA_D AccumT load(const segment_bounds& bounds, long long item) {
    using difference = typename std::iterator_traits<InputIterator>::difference_type;
    return static_cast<AccumT>(
        transform_op_(static_cast<iterator_value_t<InputIterator>>(
                          d_in_[static_cast<difference>(bounds.begin + item)]),
                      static_cast<std::size_t>(item)));
  }

  STRATA_D AccumT combine(const AccumT& a, const AccumT& b) {
    return static_cast<AccumT>(reduction_op_(a, b));
  }

  // Called by the thread that has the result.
  STRATA_D void store_from_here(long long segment, const AccumT& result, bool has_result) {
    store_result(block_agent_, d_out_ + static_cast<std::ptrdiff_t>(segment), init_, result,
                 has_result);
  }

  STRATA_D void store(long long segment, const AccumT& result) {
    if (threadIdx.x == 0) store_from_here(segment, result, true);
  }

  STRATA_D void reduce_by_thread(long long segment, const segment_bounds& bounds) {
    AccumT result;
    if (bounds.length > 0) {
      result = load(bounds, 0);
      for (long long i = 1; i < bounds.length; ++i) result = combine(result, load(bounds, i));
    }
    store_from_here(segment, result, bounds.length > 0);
  }

  // Takes the segments of the lanes in `owners`, as many at a time as the warp has groups.
  template <int Threads, class Storage>
  STRATA_D void reduce_by_groups(unsigned owners, long long warp_first,
                                 const segment_bounds& bounds, Storage* storage) {
    constexpr int num_groups = warp_threads / Threads;
    const int group = static_cast<int>(platform::lane_id()) / Threads;
    const int lane = static_cast<int>(platform::lane_id()) % Threads;
    while (owners != 0) {
      int owner = -1;
      STRATA_UNROLL
      for (int i = 0; i < num_groups; ++i) {
        if (i == group && owners != 0) owner = __ffs(static_cast<int>(owners)) - 1;
        owners &= owners - 1;  // zero stays zero
      }
      const int source = owner < 0 ? 0 : owner;
      const segment_bounds mine{__shfl_sync(full_warp_mask, bounds.begin, source),
                                __shfl_sync(full_warp_mask, bounds.length, source)};
      if (owner >= 0) {
        const AccumT result = reduce_by_lanes<Threads>(mine, lane, storage[group]);
        if (lane == 0) store_from_here(warp_first + owner, result, true);
      }
      __syncwarp();
    }
  }

  // A segment with at least as many items as lanes.
  template <int Threads, class Storage>
  STRATA_D AccumT reduce_by_lanes(const segment_bounds& bounds, int lane, Storage& storage) {
    GroupReduce<Threads> group_reduce(storage);
    if constexpr (is_commutative) {
      AccumT result = load(bounds, lane);
      long long item = lane + Threads;
      constexpr int unroll = items_in_flight;
      for (; item + (unroll - 1) * Threads < bounds.length; item += unroll * Threads) {
        AccumT loaded[unroll];
        STRATA_UNROLL
        for (int i = 0; i < unroll; ++i) loaded[i] = load(bounds, item + i * Threads);
        STRATA_UNROLL
        for (int i = 0; i < unroll; ++i) result = combine(result, loaded[i]);
      }
      AccumT loaded[unroll];
      STRATA_UNROLL
      for (int i = 0; i < unroll - 1; ++i) {
        if (item + i * Threads < bounds.length) loaded[i] = load(bounds, item + i * Threads);
      }
      STRATA_UNROLL
      for (int i = 0; i < unroll - 1; ++i) {
        if (item + i * Threads < bounds.length) result = combine(result, loaded[i]);
      }
      return group_reduce.Reduce(result, reduction_op_);
    } else {
      // Rows of a few neighbouring items per lane, combined in order row by row.
      constexpr int row_items = 4;
      AccumT result;
      for (long long row = 0; row < bounds.length; row += row_items * Threads) {
        const long long first = row + lane * row_items;
        AccumT reduced;
        STRATA_UNROLL
        for (int i = 0; i < row_items; ++i) {
          if (first + i < bounds.length) {
            const AccumT loaded = load(bounds, first + i);
            reduced = i == 0 ? loaded : combine(reduced, loaded);
          }
        }
        const long long lanes = ceiling_divide<long long>(bounds.length - row, row_items);
        reduced = group_reduce.Reduce(reduced, reduction_op_,
                                      lanes < Threads ? static_cast<int>(lanes) : Threads);
        if (lane == 0) result = row > 0 ? combine(result, reduced) : reduced;
      }
      return result;
    }
  }

  STRATA_D void reduce_chunk(const segment_bounds& bounds, const segment_chunks& chunks,
                             unsigned chunk, AccumT& result) {
    const long long begin = chunks.begin(chunk);
    using difference = typename std::iterator_traits<InputIterator>::difference_type;
    const auto d_chunk = d_in_ + static_cast<difference>(bounds.begin + begin);
    const auto items = static_cast<std::size_t>(chunks.items(chunk, bounds.length));
    block_agent_.reduce_share(d_chunk, even_share::cut(d_chunk, items, 1), 0,
                              static_cast<std::size_t>(begin), result);
  }

  // The same arithmetic as through the queue, so that the results are the same.
  STRATA_D void reduce_by_block(long long segment) {
    const segment_bounds bounds = segments_(segment);
    const segment_chunks chunks(bounds.length, tuning.block_items);
    AccumT result;
    for (unsigned chunk = 0; chunk < chunks.count; ++chunk) {
      reduce_chunk(bounds, chunks, chunk, result);
      if (threadIdx.x == 0) storage_.chunk_results.Alias()[chunk] = result;
      __syncthreads();
    }
    if (threadIdx.x < chunks.count) result = storage_.chunk_results.Alias()[threadIdx.x];
    store(segment, block_agent_.reduce_values(result, static_cast<int>(chunks.count)));
    __syncthreads();
  }

  TempStorage& storage_;
  InputIterator d_in_;
  OutputIterator d_out_;
  Segments segments_;
  TransformOp transform_op_;
  InitT init_;
  ReductionOp reduction_op_;
  BlockAgent block_agent_;
};

}  // namespace detail
STRATA_NAMESPACE_END
