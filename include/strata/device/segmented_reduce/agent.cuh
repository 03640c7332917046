// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/device/reduce/agent.cuh>
#include <strata/device/reduce/grid_exchange.cuh>
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
  static constexpr int item_bytes = static_cast<int>(sizeof(iterator_value_t<InputIterator>));
  static constexpr int warp_items = tuning.warp_bytes / item_bytes > tuning.group_items
                                        ? tuning.warp_bytes / item_bytes
                                        : tuning.group_items;
  static constexpr int chunk_items =
      tuning.chunk_bytes / item_bytes > warp_items ? tuning.chunk_bytes / item_bytes : warp_items;
  // Items that a lane asks for before it uses the first.
  static constexpr int items_in_flight = sizeof(AccumT) <= 16 ? 8 : 4;

  static_assert(block_threads == Policy::tuning.block_threads,
                "the two tunings of a segmented_reduce policy must have the same block_threads");
  static_assert(
      block_threads >= max_chunks_per_segment,
      "segmented_reduce_tuning::block_threads must not be below max_chunks_per_segment: a "
      "block reads one chunk's result per thread");

  using Exchange = grid_exchange<AccumT>;
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
    typename Exchange::TempStorage exchange;
    unsigned first_chunk[max_one_launch_segments];
    unsigned chunks_of_warp[block_warps];
  };

  /// Longest segments that need no chunks, whatever reduces them.
  static constexpr long long max_items_without_chunks = chunk_items;

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
    reduce_by_groups<warp_threads>(lanes_with(tuning.group_items, warp_items), warp_first, bounds,
                                   &storage_.warp_reduce[warp]);

    unsigned long_segments = __ballot_sync(full_warp_mask, bounds.length > warp_items);
    for (; long_segments != 0; long_segments &= long_segments - 1) {
      const int owner = __ffs(static_cast<int>(long_segments)) - 1;
      const long long length = __shfl_sync(full_warp_mask, bounds.length, owner);
      const bool is_queued =
          length > chunk_items &&
          queue.push(warp_first + owner, segment_chunks(length, chunk_items).count);
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

  /// Reduces the segments, none of them long, that fall to the warps of the block when all `blocks`
  /// take them in turn, one a warp.
  STRATA_D void reduce_in_turn(unsigned block, unsigned blocks, long long num_segments) {
    const unsigned warp = threadIdx.x / warp_threads;
    const int lane = static_cast<int>(platform::lane_id());
    const long long stride = static_cast<long long>(blocks) * block_warps;
    for (long long segment = block + static_cast<long long>(warp) * blocks; segment < num_segments;
         segment += stride) {
      const segment_bounds bounds = segments_(segment);
      if (bounds.length <= tuning.thread_items) {
        if (lane == 0) reduce_by_thread(segment, bounds);
      } else if (bounds.length < warp_threads) {
        if (lane < group_threads) {
          const AccumT result =
              reduce_by_lanes<group_threads>(bounds, lane, storage_.group_reduce[warp][0]);
          if (lane == 0) store_from_here(segment, result, true);
        }
      } else if (bounds.length <= warp_items) {
        const AccumT result =
            reduce_by_lanes<warp_threads>(bounds, lane, storage_.warp_reduce[warp]);
        if (lane == 0) store_from_here(segment, result, true);
      }
      __syncwarp();
    }
  }

  /// Reduces the block's share of the chunks of long segments, as near to 1 / `blocks` of them as can
  /// be. Every block looks at all lengths, so that all agree on the numbers of the chunks. A share is
  /// contiguous: only its first and its last segment may have to be combined with other blocks'.
  STRATA_D void reduce_share_of_long(unsigned block, unsigned blocks, long long num_segments,
                                     const typename Exchange::arguments& exchange) {
    if (!has_long_segment(num_segments)) return;
    const unsigned num_chunks = number_chunks(num_segments);
    const auto share_begin = [&](unsigned rank) {
      return static_cast<unsigned>(static_cast<unsigned long long>(num_chunks) * rank / blocks);
    };
    const unsigned share_end = share_begin(block + 1);
    int shared_segments[2];
    int num_shared = 0;
    int segment = 0;
    for (unsigned begin = share_begin(block); begin < share_end;) {
      segment = segment_of_chunk(begin, segment);
      const unsigned first = storage_.first_chunk[segment];
      const segment_bounds bounds = segments_(segment);
      const segment_chunks chunks(bounds.length, chunk_items);
      const unsigned end = share_end - first < chunks.count ? share_end : first + chunks.count;
      const bool has_packets = first + chunks.count <= max_chunks;
      if (!has_packets && begin > first) {
        begin = end;  // the block that has the first chunk takes them all
        continue;
      }
      const unsigned mine = has_packets ? end - begin : chunks.count;
      for (unsigned i = 0; i < mine; ++i) {
        AccumT result;
        reduce_chunk(bounds, chunks, begin - first + i, result);
        if (threadIdx.x == 0) storage_.chunk_results.Alias()[i] = result;
        __syncthreads();
      }
      if (mine == chunks.count) {
        combine_chunks(segment, storage_.chunk_results.Alias(), mine);
      } else {
        for (unsigned i = threadIdx.x; i < mine; i += block_threads) {
          exchange_of(exchange, first, begin - first + i, chunks.count)
              .publish(storage_.chunk_results.Alias()[i]);
        }
        platform::fence_sc();
        shared_segments[num_shared++ & 1] = segment;
      }
      __syncthreads();
      begin = end;
    }
    if (threadIdx.x < warp_threads) {
      for (int i = 0; i < num_shared; ++i) {
        const unsigned first = storage_.first_chunk[shared_segments[i]];
        const unsigned chunks =
            segment_chunks(segments_(shared_segments[i]).length, chunk_items).count;
        finish_by_warp(shared_segments[i], exchange_of(exchange, first, 0, chunks), chunks);
      }
    }
  }

  /// Reduces one chunk of the queue; the block that finishes a segment's last chunk finishes the
  /// segment.
  STRATA_D void reduce_queued_chunk(unsigned chunk, const chunk_queue<AccumT>& queue) {
    const int first = queue.first_chunk[chunk];
    if (first < 0) return;
    const long long segment = queue.segment[first];
    const segment_bounds bounds = segments_(segment);
    const segment_chunks chunks(bounds.length, chunk_items);
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
    if (is_last) combine_chunks(segment, queue.partial_results + first, chunks.count);
    __syncthreads();
  }

 private:
  STRATA_D bool has_long_segment(long long num_segments) {
    bool has_long = false;
    for (long long i = threadIdx.x; i < num_segments; i += block_threads) {
      has_long = has_long || segments_(i).length > warp_items;
    }
    return __syncthreads_or(has_long) != 0;
  }

  // Numbers the chunks of all long segments in order; returns how many there are.
  STRATA_D unsigned number_chunks(long long num_segments) {
    constexpr int per_thread = max_one_launch_segments / block_threads;
    const long long first = static_cast<long long>(threadIdx.x) * per_thread;
    unsigned chunks[per_thread];
    unsigned own = 0;
    STRATA_UNROLL
    for (int i = 0; i < per_thread; ++i) {
      const long long length = first + i < num_segments ? segments_(first + i).length : 0;
      chunks[i] = length > warp_items ? segment_chunks(length, chunk_items).count : 0;
      own += chunks[i];
    }
    const unsigned warp = threadIdx.x / warp_threads;
    unsigned up_to_here = own;
    STRATA_UNROLL
    for (unsigned offset = 1; offset < warp_threads; offset *= 2) {
      const unsigned before = __shfl_up_sync(full_warp_mask, up_to_here, offset);
      if (platform::lane_id() >= offset) up_to_here += before;
    }
    if (platform::lane_id() == warp_threads - 1) storage_.chunks_of_warp[warp] = up_to_here;
    __syncthreads();
    unsigned next = up_to_here - own;
    unsigned total = 0;
    for (unsigned i = 0; i < block_warps; ++i) {
      if (i < warp) next += storage_.chunks_of_warp[i];
      total += storage_.chunks_of_warp[i];
    }
    STRATA_UNROLL
    for (int i = 0; i < per_thread; ++i) {
      storage_.first_chunk[first + i] = next;
      next += chunks[i];
    }
    __syncthreads();
    return total;
  }

  // The last segment, from `low` on, whose first chunk is not above `chunk`: those without chunks come
  // before it.
  STRATA_D int segment_of_chunk(unsigned chunk, int low) const {
    int high = max_one_launch_segments;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (storage_.first_chunk[middle] <= chunk ? low : high) = middle;
    }
    return low;
  }

  STRATA_D Exchange exchange_of(typename Exchange::arguments exchange, unsigned first_chunk,
                                unsigned chunk, unsigned chunks) {
    exchange.packets += static_cast<std::size_t>(first_chunk) * Exchange::packets_per_value;
    return Exchange(storage_.exchange, exchange, chunk, chunks);
  }

  // Combines the results of a segment's chunks, if this is the last block to come here. Looks first
  // whether all are there: the operator must not meet what nobody has published.
  STRATA_D void finish_by_warp(long long segment, Exchange exchange, unsigned chunks) {
    AccumT result;
    bool is_complete = true;
    for (unsigned i = platform::lane_id(); i < chunks; i += warp_threads) {
      is_complete = exchange.collect(i, result) && is_complete;
    }
    if (__all_sync(full_warp_mask, is_complete) == 0) return;
    const auto collect = [&](unsigned chunk) {
      AccumT value;
      exchange.collect(chunk, value);  // stays there when another block takes the tags back
      return value;
    };
    fold_chunks_of_lane(chunks, collect, result);
    result = combine_lanes(result, chunks);
    const bool is_winner = platform::lane_id() == 0 && exchange.claim();
    if (__any_sync(full_warp_mask, is_winner) == 0) return;
    for (unsigned i = platform::lane_id(); i < chunks; i += warp_threads) exchange.take_back(i);
    if (is_winner) store_from_here(segment, result, true);
  }

  // Called by the block; warp 0 combines.
  STRATA_D void combine_chunks(long long segment, const AccumT* chunk_results, unsigned chunks) {
    if (threadIdx.x >= warp_threads) return;
    AccumT result;
    fold_chunks_of_lane(
        chunks, [&](unsigned chunk) { return chunk_results[chunk]; }, result);
    store(segment, combine_lanes(result, chunks));
  }

  // However they come together, chunks are combined in the same way: each lane folds neighbouring
  // ones, then the lanes are combined.
  template <class Get>
  STRATA_D void fold_chunks_of_lane(unsigned chunks, Get get, AccumT& result) {
    const unsigned per_lane = ceiling_divide<unsigned>(chunks, warp_threads);
    const unsigned first = platform::lane_id() * per_lane;
    for (unsigned i = 0; i < per_lane && first + i < chunks; ++i) {
      const AccumT value = get(first + i);
      result = i == 0 ? value : combine(result, value);
    }
  }

  STRATA_D AccumT combine_lanes(const AccumT& value, unsigned chunks) {
    const unsigned per_lane = ceiling_divide<unsigned>(chunks, warp_threads);
    GroupReduce<warp_threads> warp_reduce(storage_.warp_reduce[threadIdx.x / warp_threads]);
    return warp_reduce.Reduce(value, reduction_op_,
                              static_cast<int>(ceiling_divide<unsigned>(chunks, per_lane)));
  }

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
    const segment_chunks chunks(bounds.length, chunk_items);
    AccumT result;
    for (unsigned chunk = 0; chunk < chunks.count; ++chunk) {
      reduce_chunk(bounds, chunks, chunk, result);
      if (threadIdx.x == 0) storage_.chunk_results.Alias()[chunk] = result;
      __syncthreads();
    }
    combine_chunks(segment, storage_.chunk_results.Alias(), chunks.count);
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
