// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/block/block_exchange.cuh>
#include <strata/block/block_scan.cuh>
#include <strata/block/specializations/block_scan_warp_scans.cuh>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/find_segments.cuh>
#include <strata/device/engine/tile_prefix.cuh>
#include <strata/device/scan/initial_value.cuh>
#include <strata/device/scan/segmented_tuning.hpp>
#include <strata/device/scan/sum_of_run.cuh>
#include <strata/warp/warp_reduce.cuh>

#include <cstddef>
#include <type_traits>

/// \file
/// Scans segments that follow each other: segment s is items [offsets[s], offsets[s + 1]).
///
/// If the call has no `offset_slices` and all segments are short, each warp scans whole segments. If offsets are not in
/// order, each block does. Otherwise the items are cut into one chunk for each block, or for fewer blocks if there are
/// few items. A chunk begins with a segment if one begins within a quarter of a chunk behind the cut, or within a whole
/// chunk if chunks are short. Then the block needs nothing from other blocks. Else the chunk begins amid a long
/// segment, and the block needs the sum of this segment's items before the chunk:
///
///     segments   |--0--|-1-|---------------------2--------------------|--3--|---4---|
///     chunks     |  block 0     |   block 1   |   block 2   |         block 3       |
///                       (sum of 2 in 0) (.. and in 1) (.. and in 2)
///
/// A block whose chunk ends amid a segment first reduces its part of this segment, and publishes the sum (see
/// tile_prefix.cuh). So items of long segments are read twice. Then the block scans its chunk from left to right, tile
/// by tile. It loads a tile while it scans the one before.
///
/// Forward progress: a block waits for blocks with lower numbers, and perhaps for the block that owns its input (see
/// tile_prefix.cuh). After some milliseconds, more if chunks are long, it reduces the missing part itself, in the order
/// of operations of that part's block.
///
/// A bitmap in shared memory says where segments begin in a tile. The block keeps a window of the offsets in registers,
/// and loads the next ones before they are needed.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// `sum_of_run::has_begin` of a part without items.
inline constexpr unsigned has_no_items = 2;

/// True if the operator may be called for items of different segments, and for values that are no items: it takes less
/// time to ignore its result than to branch. Operands may also change places. A user's operator is not called in this
/// way: it might assert something on its operands.
template <class T, class ScanOp>
inline constexpr bool may_combine_anything = std::is_arithmetic_v<T> &&
                                             (takes_any_operands<ScanOp, T> ||
                                              detail::known_operation<ScanOp, T>() != hardware_reduction::none);

/// combine_runs for parts that may have no items.
template <class T, class ScanOp>
struct combine_parts {
  ScanOp op;

  STRATA_HD sum_of_run<T> operator()(const sum_of_run<T>& a, const sum_of_run<T>& b) {
    const bool is_a = b.has_begin == has_no_items;
    const bool is_b = b.has_begin != 0 || a.has_begin == has_no_items;
    if constexpr (may_combine_anything<T, ScanOp>) {
      const T both = static_cast<T>(op(a.value, b.value));
      return {is_a ? a.value : is_b ? b.value : both, !is_a && is_b ? b.has_begin : a.has_begin};
    } else {
      if (is_a) return a;
      if (is_b) return b;
      return {static_cast<T>(op(a.value, b.value)), a.has_begin};
    }
  }
};

/// The end of each segment, one behind its last item, for `find_segment`.
template <class OffsetT>
struct segment_ends {
  const OffsetT* ends;
  template <class Index>
  STRATA_D long long operator[](Index segment) const {
    return static_cast<long long>(ends[segment]);
  }
};

/// What a call must know about its offsets.
struct offset_facts {
  bool are_in_order;  // none is below the one before
  bool are_close;     // no segment has more than `most_items` items, an argument of find_offset_facts()
};

/// Returns facts of a block's slice of the `num_segments + 1` offsets. All threads of each of `blocks` blocks call
/// this.
template <class OffsetT, class Index>
STRATA_D offset_facts find_offset_facts(const OffsetT* offsets, Index num_segments, long long most_items,
                                        unsigned block, unsigned blocks) {
  constexpr int batch = 8;
  const auto threads = static_cast<std::size_t>(blockDim.x) * blocks;
  bool are_in_order = true, are_close = true;
  for (std::size_t i = static_cast<std::size_t>(block) * blockDim.x + threadIdx.x; i < num_segments;
       i += batch * threads) {
    STRATA_UNROLL
    for (int j = 0; j < batch; ++j) {
      const std::size_t at = i + static_cast<std::size_t>(j) * threads;
      if (at >= num_segments) continue;
      const auto begin = static_cast<long long>(offsets[at]), end = static_cast<long long>(offsets[at + 1]);
      are_in_order = begin <= end && are_in_order;
      are_close = end - begin <= most_items && are_close;
    }
  }
  are_in_order = __syncthreads_and(are_in_order ? 1 : 0) != 0;
  return {are_in_order, __syncthreads_and(are_close ? 1 : 0) != 0};
}

/// What an earlier kernel has found about the order of offsets: `in_order[i]` is 0 if slice i of the offsets decreases.
/// Without slices, each block finds out itself.
struct offset_slices {
  const unsigned* in_order;
  unsigned count;
};

template <class Policy, class AccumT, class InputIterator, class OutputIterator, class OffsetT, class Index,
          class ScanOp, bool IsInclusive, class InitT>
class AgentContiguousSegmentedScan {
  static constexpr segmented_scan_tuning tuning = Policy::contiguous;
  static constexpr int block_threads = tuning.block_threads;
  static constexpr int items_per_thread = tuning.items_per_thread;
  static constexpr int tile_items = block_threads * items_per_thread;
  using Sum = sum_of_run<AccumT>;
  using Combine = combine_parts<AccumT, ScanOp>;
  using Aggregates = one_round_aggregates<Sum>;
  using Exchange = BlockExchange<AccumT, block_threads, items_per_thread>;
  using BlockScanT = BlockScan<Sum, block_threads, BLOCK_SCAN_WARP_SCANS>;
  static constexpr bool has_initial_value = !std::is_same_v<InitT, NullType>;
  static constexpr bool has_bits = items_per_thread <= 32;
  static constexpr int warps = block_threads / warp_threads;
  static constexpr int warp_items = warp_threads * items_per_thread;
  // not for users: DeviceSegmentedScan ensures it
  static_assert(IsInclusive || has_initial_value, "an exclusive scan needs an initial value");
  static_assert(block_threads % warp_threads == 0, "segmented_scan_tuning::block_threads must be a multiple of 32");
  static_assert(has_bits,
                "segmented_scan_tuning::items_per_thread must be at most 32, because a thread keeps one bit for each "
                "item");

  // A cut between two chunks, or one of the two ends of all items.
  struct cut {
    long long item;           // the first one behind
    long long segment_begin;  // of the segment of the item before, if the cut is amid it
    Index next;               // the first offset that is not before `item`
    bool is_amid_segment;
  };
  static constexpr unsigned cut_warps = block_threads >= 2 * warp_threads ? 2 : 1;

 public:
  /// n items are cut into at most n / min_chunk_items chunks, rounded up.
  static constexpr long long min_chunk_items = detail::least(tile_items / 2, 2048);

  // On any GPU, a block reduces this many items in much less than the milliseconds for which blocks wait.
  static constexpr long long patient_items = 1ll << 18;

  struct TempStorage {
    typename Exchange::TempStorage exchange;
    typename BlockScanT::TempStorage scan;
    AccumT sums_of_warps[warps];
    bool has_begin_in_warp[warps];
    Sum prefix;
    cut cuts[2];
    // A bit for each item of a tile: whether a segment begins with it.
    unsigned begins[tile_items / warp_threads];
    OffsetT first_in_window;
    OffsetT last_in_window;
  };

  STRATA_D AgentContiguousSegmentedScan(TempStorage& storage, InputIterator d_in, OutputIterator d_out,
                                        const OffsetT* offsets, Index num_segments, ScanOp scan_op, const InitT& init,
                                        bool may_overwrite_input)
      : storage_(storage),
        d_in_(d_in),
        d_out_(d_out),
        offsets_(offsets),
        num_segments_(num_segments),
        scan_op_(scan_op),
        init_(init),
        may_overwrite_input_(may_overwrite_input) {}

  STRATA_D void scan(const tile_aggregates_arguments& exchange, const offset_slices& slices) {
    for (int i = static_cast<int>(threadIdx.x); i < tile_items / warp_threads; i += block_threads) {
      storage_.begins[i] = 0;
    }
    bool is_ordered = false;
    if (slices.count == 0) {
      if (scan_by_warps(is_ordered)) return;
    } else {
      is_ordered = are_in_order(slices);
    }
    // If offsets are not in order, each segment that ends before it begins is empty, and the others lie in any order.
    // Then a block scans a whole segment at a time.
    Index segment = blockIdx.x;
    Index next = segment, end = segment;
    long long first = 0, last = 0;
    if (is_ordered) {
      if (!cut_into_chunks()) return;
      const cut front = storage_.cuts[0];
      const cut back = storage_.cuts[1];
      first = front.item;
      last = back.item;
      next = front.next;
      end = num_segments_;
      begin_chunk(exchange, front, back);
    }
    unsigned is_chunk = is_ordered ? 1 : 0;
    for (;;) {
      // There is one loop for chunks and for segments, because the code of a tile is long.
      platform::optimization_barrier(is_chunk);
      if (is_chunk == 0) {
        if (segment >= num_segments_) return;
        first = offset_at(segment);
        last = offset_at(segment + 1);
        next = segment;
        end = segment + 1;
      }
      scan_chunk(first, last, next, end);
      if (is_chunk != 0) break;
      if (num_segments_ - segment <= gridDim.x) return;
      segment += gridDim.x;
    }
    leave(exchange);
  }

 private:
  STRATA_D long long offset_at(Index i) const { return static_cast<long long>(offsets_[i]); }

  STRATA_D bool are_in_order(const offset_slices& slices) const {
    bool in_order = true;
    for (unsigned i = threadIdx.x; i < slices.count; i += block_threads) in_order = slices.in_order[i] != 0 && in_order;
    return __syncthreads_and(in_order ? 1 : 0) != 0;
  }

  // ------------------------------------------------------------------ short segments

  // A segment of up to this many items is short.
  static constexpr int most_items_for_warp = 4 * warp_items;

  // If all segments are short, scans them, and returns true. Else says whether offsets are in order. The first items
  // are under way while the block finds out, unless another block may write there.
  STRATA_D bool scan_by_warps(bool& are_in_order) {
    const Index all_warps = static_cast<Index>(gridDim.x) * warps;
    Index segment = static_cast<Index>(threadIdx.x / warp_threads) * gridDim.x + blockIdx.x;
    AccumT ahead[items_per_thread];
    long long first = 0, last = 0;
    const auto load = [&] {
      if (first < last) {
        load_items(first, static_cast<int>(platform::lane_id()), count_of(first, last, warp_items), warp_items, ahead);
      }
    };
    const auto find = [&] {
      first = segment < num_segments_ ? offset_at(segment) : 0;
      last = segment < num_segments_ ? offset_at(segment + 1) : 0;
    };
    find();
    if (!may_overwrite_input_) load();
    const offset_facts facts = detail::find_offset_facts(offsets_, num_segments_, most_items_for_warp, 0, 1);
    are_in_order = facts.are_in_order;
    if (!facts.are_close) return false;
    bool is_loaded = !may_overwrite_input_;
    for (;;) {
      if (!is_loaded) load();
      if (first < last) scan_by_warp(first, last, ahead);
      if (segment >= num_segments_ || num_segments_ - segment <= all_warps) return true;
      segment += all_warps;
      find();
      is_loaded = false;
    }
  }

  // All lanes of a warp scan a segment. `ahead` has its first items.
  STRATA_D void scan_by_warp(long long first, long long last, AccumT (&ahead)[items_per_thread]) {
    const unsigned lane = platform::lane_id();
    AccumT of_segment{};
    for (long long tile = first; tile < last; tile += warp_items) {
      AccumT items[items_per_thread];
      Exchange(storage_.exchange).WarpStripedToBlocked(ahead, items);
      const int count = count_of(tile, last, warp_items);
      const long long next = tile + warp_items;
      if (next < last) load_items(next, static_cast<int>(lane), count_of(next, last, warp_items), warp_items, ahead);
      const int of_thread = usable_items(static_cast<int>(lane), count);
      const unsigned begins = tile == first && lane == 0 ? 1 : 0;
      const AccumT sum = sum_over_lanes(sum_of_items(items, begins, of_thread), lane, of_thread);
      AccumT before = platform::shuffle_up(full_warp_mask, sum, 1u);
      if (tile != first) {
        if (lane == 0) {
          before = of_segment;
        } else if (of_thread > 0) {
          before = combine(of_segment, before);
        }
      }
      if (next < last) {
        const AccumT of_tile = platform::shuffle(full_warp_mask, sum, warp_threads - 1);
        of_segment = tile == first ? of_tile : combine(of_segment, of_tile);
      }
      scan_items(items, begins, before, of_thread);
      __syncwarp();
      Exchange(storage_.exchange).BlockedToWarpStriped(items);
      store_items(tile, static_cast<int>(lane), count, warp_items, items);
      __syncwarp();
    }
  }

  // ------------------------------------------------------------------ chunks

  // Returns false if the block has no chunk.
  STRATA_D bool cut_into_chunks() {
    first_item_ = offset_at(0);
    const long long num_items = offset_at(num_segments_) - first_item_;
    if (num_items == 0) return false;
    const long long max_blocks = gridDim.x;
    const long long useful_blocks = detail::ceiling_divide(num_items, min_chunk_items);
    chunk_items_ = detail::ceiling_divide(num_items, detail::least(useful_blocks, max_blocks));
    blocks_ = static_cast<unsigned>(detail::ceiling_divide(num_items, chunk_items_));
    if (blockIdx.x >= blocks_) return false;
    for (unsigned end = threadIdx.x / warp_threads; end < 2; end += cut_warps) {
      const cut found = find_cut(blockIdx.x + end);
      if (platform::lane_id() == 0) storage_.cuts[end] = found;
    }
    __syncthreads();
    return true;
  }

  // Finds where chunk `block` begins. All lanes of a warp call this.
  STRATA_D cut find_cut(unsigned block) const {
    if (block == 0) return {first_item_, first_item_, 0, false};
    if (block == blocks_) return {offset_at(num_segments_), 0, num_segments_, false};
    const long long item = first_item_ + chunk_items_ * block;
    // The segment of the item before, which ends at the next offset.
    const Index segment = detail::find_segment(segment_ends<OffsetT>{offsets_ + 1}, num_segments_, item - 1);
    const long long next = offset_at(segment + 1);
    // Even twice the items of a short chunk fit a tile.
    const long long most_behind = 2 * chunk_items_ <= tile_items ? chunk_items_ - 1 : chunk_items_ / 4;
    if (next - item <= most_behind) return {next, 0, segment + 1, false};
    return {item, offset_at(segment), segment + 1, true};
  }

  STRATA_D static int items_of_thread(int thread, int tile_count) {
    const int left = tile_count - thread * items_per_thread;
    return left < 0 ? 0 : detail::least(left, items_per_thread);
  }

  // ------------------------------------------------------------------ sums of the ends of chunks

  // Thread `thread` reduces its part of the items [first, last). If the operator allows it, that is every
  // `block_threads`th item; else the thread's items of the tile that begins with `first`.
  STRATA_D Sum sum_of_thread(int thread, long long first, long long last) {
    Sum sum{AccumT{}, has_no_items};
    if constexpr (may_combine_anything<AccumT, ScanOp>) {
      for (; first < last; first += tile_items) {
        const auto in = at(d_in_, first);
        const int count = count_of(first, last, tile_items);
        if (thread >= count) break;
        AccumT items[items_per_thread];
        STRATA_UNROLL
        for (int i = 0; i < items_per_thread; ++i) {
          if (i * block_threads + thread < count) items[i] = static_cast<AccumT>(in[i * block_threads + thread]);
        }
        STRATA_UNROLL
        for (int i = 0; i < items_per_thread; ++i) {
          if (i * block_threads + thread < count) {
            sum = {sum.has_begin == has_no_items ? items[i] : combine(sum.value, items[i]), 0};
          }
        }
      }
    } else {
      const auto in = at(d_in_, first);
      const int of_thread = items_of_thread(thread, count_of(first, last, tile_items));
      STRATA_UNROLL_N(1)
      for (int i = 0; i < of_thread; ++i) {
        const auto item = static_cast<AccumT>(in[thread * items_per_thread + i]);
        sum = {i == 0 ? item : combine(sum.value, item), 0};
      }
    }
    return sum;
  }

  // The sum of what a chunk has of the segment that begins with item `begin` and goes on behind the chunk.
  // `reduce(first, last)` adds what sum_of_thread returns for each thread.
  template <class Reduce>
  STRATA_D Sum sum_of_end(long long first, long long last, long long begin, const Reduce& reduce) {
    const long long from = begin < first ? first : begin;
    Sum sum{AccumT{}, has_no_items};
    if constexpr (may_combine_anything<AccumT, ScanOp>) {
      sum = reduce(from, last);
    } else {
      Combine op{scan_op_};
      for (long long tile = from; tile < last; tile += tile_items) {
        sum = op(sum, reduce(tile, last - tile < tile_items ? last : tile + tile_items));
      }
    }
    if (begin < first) return sum;
    if constexpr (has_initial_value) sum.value = combine(detail::initial_value<AccumT>(init_), sum.value);
    sum.has_begin = 1;
    return sum;
  }

  // Reduces the chunk's end. All threads of the chunk's block call this and get the sum.
  STRATA_D Sum reduce_end(long long first, long long last, long long begin) {
    return sum_of_end(first, last, begin, [&](long long from, long long to) {
      Sum below, all;
      Combine op{scan_op_};
      BlockScanT(storage_.scan).ExclusiveScan(sum_of_thread(static_cast<int>(threadIdx.x), from, to), below, op, all);
      __syncthreads();
      return all;
    });
  }

  // One warp of another block computes what reduce_end() computes, bit for bit.
  struct chunk_reducer {
    AgentContiguousSegmentedScan& agent;
    STRATA_D Sum operator()(unsigned block) const {
      const cut front = agent.find_cut(block);
      const cut back = agent.find_cut(block + 1);
      return agent.sum_of_end(front.item, back.item, back.segment_begin, [&](long long from, long long to) {
        Combine op{agent.scan_op_};
        const auto of_thread = [&](int thread) { return agent.sum_of_thread(thread, from, to); };
        return block_scan_warp_scans<Sum, block_threads>::sum_by_one_warp(of_thread, op);
      });
    }
  };

  // Publishes the sum of the chunk's end, if the next chunk needs it, and gets what comes before the chunk.
  STRATA_D void begin_chunk(const tile_aggregates_arguments& exchange, const cut& front, const cut& back) {
    if (!front.is_amid_segment && !back.is_amid_segment) return;
    Aggregates aggregates(exchange, blockIdx.x, blocks_);
    if (back.is_amid_segment) {
      bool is_input_owned_by_other = false;
      if (may_overwrite_input_ && threadIdx.x == 0) is_input_owned_by_other = aggregates.acquire_input();
      const Sum of_end = reduce_end(front.item, back.item, back.segment_begin);
      if (threadIdx.x == 0) {
        if (is_input_owned_by_other) {
          aggregates.wait_for_owner();
        } else {
          aggregates.publish(0, of_end);
        }
      }
    }
    if (!front.is_amid_segment) return;
    if (threadIdx.x < warp_threads) {
      const auto first = static_cast<unsigned>((front.segment_begin - first_item_) / chunk_items_);
      // A block publishes after it has read its part. A warp that reduces the part of another block takes many times as
      // long as that block. So if chunks are long, the warp waits longer before it does so.
      const auto patience = static_cast<unsigned>(1 + detail::least(chunk_items_ / patient_items, 1ll << 20));
      const Sum sum =
          aggregates.aggregate_from(first, patience, Combine{scan_op_}, chunk_reducer{*this}, may_overwrite_input_);
      if (threadIdx.x == 0) storage_.prefix = sum;
    }
    __syncthreads();
    running_ = storage_.prefix.value;
  }

  STRATA_D void leave(const tile_aggregates_arguments& exchange) const {
    Aggregates aggregates(exchange, blockIdx.x, blocks_);
    if (!aggregates.must_be_erased(1)) return;
    unsigned long long departures = 0;
    if (threadIdx.x == 0) departures = aggregates.leave();
    if (__syncthreads_or(departures == blocks_ ? 1 : 0) == 0) return;
    // If results may overwrite the input, words with its owners lie where the aggregates of a second round would be.
    aggregates.erase(threadIdx.x, block_threads, may_overwrite_input_ ? 2 : 1);
  }

  STRATA_D static int count_of(long long first, long long last, int most) {
    return last - first < most ? static_cast<int>(last - first) : most;
  }

  // Scans items [first, last). Segments begin at `offsets[next]` to `offsets[end - 1]`. `running_` is what comes before
  // the first item, if no segment begins with it.
  STRATA_D void scan_chunk(long long first, long long last, Index next, Index end) {
    if (first >= last) return;
    AccumT ahead[items_per_thread];
    const int first_of_lane =
        static_cast<int>(threadIdx.x / warp_threads) * warp_items + static_cast<int>(platform::lane_id());
    load_items(first, first_of_lane, count_of(first, last, tile_items), tile_items, ahead);
    load_window(next, end);
    for (long long tile = first; tile < last; tile += tile_items) {
      AccumT items[items_per_thread];
      Exchange(storage_.exchange).WarpStripedToBlocked(ahead, items);
      // The next tile is under way while this one is scanned.
      const long long after = tile + tile_items;
      if (after < last) load_items(after, first_of_lane, count_of(after, last, tile_items), tile_items, ahead);
      const int count = count_of(tile, last, tile_items);
      scan_tile(tile, count, items, end);
      __syncwarp();
      Exchange(storage_.exchange).BlockedToWarpStriped(items);
      store_items(tile, first_of_lane, count, tile_items, items);
      __syncwarp();
    }
  }

  // ------------------------------------------------------------------ tiles

  // Loads every 32nd of the `count` items that begin at `tile`, starting with item `first` of these. Behind their end,
  // threads get the last item. `count` is at most `whole`.
  STRATA_D void load_items(long long tile, int first, int count, int whole, AccumT (&items)[items_per_thread]) const {
    if (count == whole) {
      const auto in = at(d_in_, tile + first);
      STRATA_UNROLL
      for (int i = 0; i < items_per_thread; ++i) items[i] = static_cast<AccumT>(in[i * warp_threads]);
    } else {
      const auto in = at(d_in_, tile);
      STRATA_UNROLL
      for (int i = 0; i < items_per_thread; ++i) {
        items[i] = static_cast<AccumT>(in[detail::least(first + i * warp_threads, count - 1)]);
      }
    }
  }
  STRATA_D void store_items(long long tile, int first, int count, int whole,
                            const AccumT (&items)[items_per_thread]) const {
    using Output = output_value_t<OutputIterator, AccumT>;
    const auto out = at(d_out_, tile + first);
    if (count == whole) {
      STRATA_UNROLL
      for (int i = 0; i < items_per_thread; ++i) out[i * warp_threads] = static_cast<Output>(items[i]);
    } else {
      STRATA_UNROLL
      for (int i = 0; i < items_per_thread; ++i) {
        if (first + i * warp_threads < count) out[i * warp_threads] = static_cast<Output>(items[i]);
      }
    }
  }

  // Values behind the end of a tile are combined with items only if may_combine_anything is true.
  static constexpr bool stops_at_end = !may_combine_anything<AccumT, ScanOp>;
  STRATA_D static int usable_items(int thread, int count) {
    return stops_at_end ? items_of_thread(thread, count) : items_per_thread;
  }

  // The sum of a thread's items, starting with the last one that begins a segment. Bit i of `begins` says whether item
  // i begins a segment.
  STRATA_D AccumT sum_of_items(const AccumT (&items)[items_per_thread], unsigned begins, int of_thread) {
    AccumT sum = items[0];
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      if (stops_at_end && i >= of_thread) break;
      if ((begins >> i & 1u) != 0) {
        sum = first_of_segment(items[i]);
      } else if (i > 0) {
        sum = combine(sum, items[i]);
      }
    }
    return sum;
  }
  // Adds the sums of up to `reach` lanes before.
  STRATA_D AccumT sum_over_lanes(AccumT sum, unsigned reach, int of_thread) {
    if (stops_at_end && of_thread == 0) reach = 0;
    STRATA_UNROLL
    for (unsigned distance = 1; distance < warp_threads; distance *= 2) {
      const AccumT other = platform::shuffle_up(full_warp_mask, sum, distance);
      if (distance <= reach) sum = combine(other, sum);
    }
    return sum;
  }
  STRATA_D void scan_items(AccumT (&items)[items_per_thread], unsigned begins, AccumT running, int of_thread) {
    STRATA_UNROLL
    for (int i = 0; i < items_per_thread; ++i) {
      if (stops_at_end && i >= of_thread) break;
      const AccumT item = items[i];
      const bool is_begin = (begins >> i & 1u) != 0;
      if constexpr (!IsInclusive) items[i] = is_begin ? detail::initial_value<AccumT>(init_) : running;
      running = is_begin ? first_of_segment(item) : combine(running, item);
      if constexpr (IsInclusive) items[i] = running;
    }
  }

  STRATA_D void scan_tile(long long tile, int count, AccumT (&items)[items_per_thread], Index end) {
    mark_begins(tile, count, end);
    const int of_thread = usable_items(static_cast<int>(threadIdx.x), count);
    const int active_warps = detail::ceiling_divide(count, warp_items);
    const int warp = static_cast<int>(threadIdx.x / warp_threads);
    const unsigned lane = platform::lane_id();
    const bool is_active = warp < active_warps;
    unsigned begins = 0, heads = 0;
    AccumT before{};
    if (is_active) {
      begins = take_begins_of_thread();
      // A lane in which no segment begins adds the sums of the lanes before it, back to the last one in which a segment
      // begins. Any other lane adds nothing.
      heads = __ballot_sync(full_warp_mask, begins != 0 ? 1 : 0);
      const unsigned heads_up_to = heads << (warp_threads - 1 - lane);
      const unsigned reach = heads_up_to != 0 ? static_cast<unsigned>(__clz(static_cast<int>(heads_up_to))) : lane;
      const AccumT sum = sum_over_lanes(sum_of_items(items, begins, of_thread), reach, of_thread);
      before = platform::shuffle_up(full_warp_mask, sum, 1u);
      if (lane == warp_threads - 1) {
        storage_.sums_of_warps[warp] = sum;
        storage_.has_begin_in_warp[warp] = heads != 0;
      }
    }
    __syncthreads();
    if (!is_active) return;
    AccumT before_warp = running_;
    // A tile that is not full is the last one of its chunk. So nothing needs the sum of its last warp.
    STRATA_UNROLL
    for (int i = 0; i < warps; ++i) {
      if (i == warp) before_warp = running_;
      if (i < active_warps - (count < tile_items ? 1 : 0)) {
        const AccumT of_warp = storage_.sums_of_warps[i];
        running_ = storage_.has_begin_in_warp[i] ? of_warp : combine(running_, of_warp);
      }
    }
    if (lane == 0) {
      before = before_warp;
    } else if ((heads & ((1u << lane) - 1)) == 0 && of_thread > 0) {
      before = combine(before_warp, before);
    }
    scan_items(items, begins, before, of_thread);
  }

  STRATA_D AccumT combine(const AccumT& a, const AccumT& b) { return static_cast<AccumT>(scan_op_(a, b)); }
  STRATA_D AccumT first_of_segment(const AccumT& item) {
    if constexpr (has_initial_value) {
      return combine(detail::initial_value<AccumT>(init_), item);
    } else {
      return item;
    }
  }

  // ------------------------------------------------------------------ where segments begin

  STRATA_D bool is_in_window(Index window, Index end) const { return window < end && threadIdx.x < end - window; }
  STRATA_D OffsetT load_offset(Index window, Index end) const {
    return is_in_window(window, end) ? offsets_[window + threadIdx.x] : OffsetT{};
  }
  STRATA_D void load_window(Index first, Index end) {
    window_begin_ = first;
    window_ = load_offset(first, end);
    next_window_ = load_offset(first + block_threads, end);
  }

  // Sets the bits of the items of a tile with which segments begin.
  STRATA_D void mark_begins(long long tile, int count, Index end) {
    for (;;) {
      const bool is_offset = is_in_window(window_begin_, end);
      const auto item = static_cast<unsigned long long>(window_) - static_cast<unsigned long long>(tile);
      if (is_offset && item < static_cast<unsigned long long>(count)) {
        const auto bit = static_cast<unsigned>(item);
        atomicOr(&storage_.begins[bit / warp_threads], 1u << bit % warp_threads);
      }
      const bool is_last = is_offset && threadIdx.x == block_threads - 1;
      if (threadIdx.x == 0) storage_.first_in_window = window_;
      if (is_last) storage_.last_in_window = window_;
      const bool is_over = is_last && static_cast<long long>(window_) < tile + count;
      if (__syncthreads_or(is_over ? 1 : 0) == 0) return;
      // Many empty segments one after another would take many windows.
      const OffsetT value = storage_.last_in_window;
      const bool is_skipped = storage_.first_in_window == value;
      __syncthreads();
      const Index next = window_begin_ + block_threads;
      if (is_skipped) {
        Index found = end;
        if (next < end && offset_at(end - 1) > static_cast<long long>(value)) {
          found = next + detail::find_segment(segment_ends<OffsetT>{offsets_ + next}, static_cast<Index>(end - next),
                                              static_cast<long long>(value));
        }
        load_window(found, end);
      } else {
        window_begin_ = next;
        window_ = next_window_;
        next_window_ = load_offset(next + block_threads, end);
      }
    }
  }

  // A bit for each of the thread's items: whether a segment begins with it. Clears the warp's part of the bitmap.
  STRATA_D unsigned take_begins_of_thread() {
    const unsigned bit = threadIdx.x * unsigned{items_per_thread};
    const unsigned word = bit / warp_threads;
    const unsigned shift = bit % warp_threads;
    unsigned begins = storage_.begins[word] >> shift;
    if constexpr (warp_threads % items_per_thread != 0) {
      const unsigned here = warp_threads - shift;
      if (here < items_per_thread) begins |= storage_.begins[word + 1] << here;
    }
    __syncwarp();
    const unsigned lane = platform::lane_id();
    if (lane < items_per_thread) storage_.begins[threadIdx.x / warp_threads * items_per_thread + lane] = 0;
    return begins & (0xffffffffu >> (32 - items_per_thread));
  }

  template <class Iterator>
  STRATA_D static Iterator at(const Iterator& iterator, long long item) {
    return iterator + static_cast<difference_of<Iterator>>(item);
  }

  TempStorage& storage_;
  InputIterator d_in_;
  OutputIterator d_out_;
  const OffsetT* offsets_;
  Index num_segments_;
  ScanOp scan_op_;
  const InitT& init_;
  bool may_overwrite_input_;
  long long first_item_ = 0;
  long long chunk_items_ = 1;
  unsigned blocks_ = 1;
  AccumT running_{};       // what comes before a tile
  OffsetT window_{};       // an offset for each thread
  OffsetT next_window_{};  // an offset of the next window for each thread
  Index window_begin_ = 0;
};

}  // namespace detail
STRATA_NAMESPACE_END
