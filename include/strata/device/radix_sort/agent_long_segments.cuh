// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/radix_key.hpp>
#include <strata/core/types.hpp>
#include <strata/device/engine/work_queue.cuh>
#include <strata/device/radix_sort/agent_pass.cuh>
#include <strata/device/radix_sort/digit_counts.cuh>
#include <strata/device/radix_sort/long_segments.cuh>
#include <strata/device/radix_sort/problem.cuh>

#include <cstddef>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// One block counts the digits of all passes in its tiles of the long segments. Blocks share out the tiles evenly, and
/// each has neighbouring ones. The last block to finish its tiles of a segment plans the segment's passes. No block
/// waits.
template <class Policy, class Key, class Digits>
class AgentLongSegmentCount {
  static constexpr int block_threads = Policy::histogram.block_threads;
  static constexpr unsigned long long tile_items =
      static_cast<unsigned long long>(Policy::pass.block_threads) * Policy::pass.items_per_thread;
  static constexpr int max_passes = detail::ceiling_divide(Digits::key_bits, radix_bits);
  using Counts = radix_digit_counts<Policy, const Key*, Digits>;
  using Planner = radix_pass_planner<block_threads, max_passes>;
  using Segments = long_segments<max_passes>;
  using Segment = typename Segments::Segment;

 public:
  using TempStorage = typename Planner::TempStorage;

  /// Dynamic shared memory.
  static constexpr std::size_t counter_bytes() { return Counts::shared_bytes(); }

  STRATA_D AgentLongSegmentCount(TempStorage& storage, unsigned* counters, const Key* keys,
                                 const radix_bit_range& range, const Digits& digits, radix_result result,
                                 const Segments& segments, long_segment_progress* progress)
      : storage_(storage),
        counters_(counters),
        keys_(keys),
        range_(range),
        digits_(digits),
        result_(result),
        segments_(segments),
        progress_(progress) {}

  STRATA_D void run() {
    const long_segment_count all = long_segment_count::of(progress_->listed);
    const unsigned long long blocks = detail::least(all.tiles, gridDim.x);
    if (blockIdx.x >= blocks) return;
    unsigned long long tile = all.tiles * blockIdx.x / blocks;
    const unsigned long long end = all.tiles * (blockIdx.x + 1) / blocks;
    for (std::size_t s = segment_of(tile, all.segments); tile < end; ++s) {
      const unsigned long long end_of_segment = segments_.list[s].first_tile + segments_.list[s].tiles;
      const unsigned long long next = detail::least(end_of_segment, end);
      prepare_tiles(s, tile, next);
      count_tiles(s, tile, next);
      tile = next;
    }
  }

 private:
  // Returns the last segment that does not begin after the tile.
  STRATA_D std::size_t segment_of(unsigned long long tile, std::size_t count) const {
    std::size_t segment = 0;
    while (count > 1) {
      const std::size_t half = count / 2;
      if (segments_.list[segment + half].first_tile <= tile) segment += half;
      count -= half;
    }
    return segment;
  }

  // Writes what the first pass reads about the tiles.
  STRATA_D void prepare_tiles(std::size_t segment, unsigned long long first, unsigned long long end) const {
    for (unsigned long long tile = first + threadIdx.x; tile < end; tile += block_threads) {
      segments_.segment_of_tile[tile] = static_cast<unsigned>(segment);
    }
    const auto words = static_cast<unsigned long long>(radix_bins * segments_.state_words);
    auto* const states = static_cast<unsigned*>(segments_.states[0]);
    for (unsigned long long i = first * words + threadIdx.x; i < end * words; i += block_threads) states[i] = 0;
  }

  STRATA_D void count_tiles(std::size_t index, unsigned long long first, unsigned long long end) {
    Segment& segment = segments_.list[index];
    if (range_.passes() > 0) {
      const unsigned long long item = (first - segment.first_tile) * tile_items;
      const unsigned long long left = segment.length - item;
      const unsigned long long items = (end - first) * tile_items;
      Counts counts(counters_, range_, digits_);
      counts.clear();
      __syncthreads();
      counts.count_keys(keys_ + segment.begin + static_cast<long long>(item),
                        static_cast<std::size_t>(detail::least(items, left)), 0, 1);
      __syncthreads();
      counts.add_to(segments_.bins_of(index));
      if (!counts.is_exact()) platform::store_relaxed(&segment.inexact, 1u);
    }
    __syncthreads();
    const bool is_last = threadIdx.x == 0 && detail::add_done(&segment.tiles_counted, end - first) == segment.tiles;
    if (__syncthreads_or(is_last ? 1 : 0) != 0) plan(index, segment);
  }

  STRATA_D void plan(std::size_t index, Segment& segment) {
    const int passes = range_.passes();
    if (passes > 0) {
      radix_workspace workspace{};
      workspace.bins = segments_.bins_of(index);
      workspace.inexact = &segment.inexact;
      workspace.plan = segment.plan;
      Planner::plan(storage_, workspace, passes, static_cast<std::size_t>(segment.length), result_);
    }
    if (threadIdx.x == 0) {
      if (passes == 0) {
        // Without bits to sort by, one pass copies the items.
        const bool is_constant = true;
        detail::plan_radix_passes(segment.plan, 1, &is_constant, true, radix_result::output);
      }
      int in_order = 0;
      for (int pass = 0; pass < (passes == 0 ? 1 : passes); ++pass) {
        if (!segment.plan[pass].is_skipped) segment.passes_in_order[in_order++] = static_cast<unsigned char>(pass);
      }
      segment.passes = in_order;
      atomicMax(&progress_->most_passes, static_cast<unsigned long long>(in_order));
    }
  }

  TempStorage& storage_;
  unsigned* counters_;
  const Key* keys_;
  const radix_bit_range& range_;
  const Digits& digits_;
  radix_result result_;
  const Segments& segments_;
  long_segment_progress* progress_;
};

/// All passes over the long segments. A block takes one tile of one pass after another, by tickets:
///
///     ticket     0  1  2  3  4    5  6  7  8  9    ...        of 5 tiles in all long segments
///     pass       first            second                      that the tile's segment does not skip
///     tile       0  1  2  3  4    0  1  2  3  4
///
/// Before a block moves a tile, it waits until the pass before has moved all tiles of the same segment. Then it moves
/// the tile as AgentRadixPass does, whose look-back waits for tiles before it in the same pass.
///
/// Forward progress: both waits are for lower tickets only.
///
/// `ValueIterator` is NullType for sorts of keys.
template <class Policy, class Key, class ValueIterator, class Value, class Digits, class State>
class AgentLongSegmentPasses {
  static constexpr int max_passes = detail::ceiling_divide(Digits::key_bits, radix_bits);
  static constexpr bool has_values = !std::is_same_v<ValueIterator, NullType>;
  using Pass = AgentRadixPass<Policy, const Key*, ValueIterator, Digits, State>;
  using KeyBuffers = radix_buffers<const Key*, Key>;
  using ValueBuffers = radix_buffers<ValueIterator, Value>;
  using Segments = long_segments<max_passes>;
  using Segment = typename Segments::Segment;

 public:
  static constexpr std::size_t tile_items = Pass::tile_items;

  struct TempStorage {
    // Buffers of the segment of the block's tile. Thread 0 writes them.
    KeyBuffers keys;
    ValueBuffers values;
    radix_workspace workspace;
    Segment* segment;
    unsigned long long length;
    unsigned long long first_tile;
    unsigned long long tiles;
    int passes;
    int complete_passes;  // at least this many have moved all tiles
    // What follows describes the tile.
    bool is_over;  // there is none
    int pass;
    std::size_t tile;
  };

  /// Dynamic shared memory: what a pass needs lies behind the rest.
  static constexpr std::size_t pass_offset = round_up(sizeof(TempStorage), std::size_t{128});
  static constexpr std::size_t shared_bytes = pass_offset + Pass::shared_bytes;

  STRATA_D AgentLongSegmentPasses(unsigned char* shared, const KeyBuffers& keys, const ValueBuffers& values,
                                  const radix_bit_range& range, const Digits& digits, const Segments& segments,
                                  long_segment_progress* progress)
      : storage_(*reinterpret_cast<TempStorage*>(shared)),
        shared_(shared + pass_offset),
        keys_(keys),
        values_(values),
        range_(range),
        digits_(digits),
        segments_(segments),
        progress_(progress) {}

  STRATA_D void run() {
    const unsigned long long tiles = long_segment_count::of(progress_->listed).tiles;
    if (tiles == 0) return;
    if (threadIdx.x == 0) storage_.first_tile = storage_.tiles = 0;  // no segment
    for (;;) {
      if (threadIdx.x == 0) storage_.is_over = !take_tile(tiles);
      __syncthreads();
      if (storage_.is_over) return;
      move_tile(shared_, storage_, range_, digits_);
      __syncthreads();
      if (threadIdx.x == 0) detail::add_done(&storage_.segment->tiles_moved, 1);
    }
  }

 private:
  // A function of its own: if it is inlined into the loop over tiles, ptxas spills a hundred registers.
  STRATA_DETAIL_D_NOINLINE static void move_tile(unsigned char* shared, const TempStorage& storage,
                                                 const radix_bit_range& range, const Digits& digits) {
    Pass(shared, storage.keys, storage.values, static_cast<std::size_t>(storage.length), storage.pass, range, digits,
         storage.workspace)
        .move_tile(storage.tile);
  }

  // Takes the next tile. Returns false if there is none left. One thread calls this.
  STRATA_D bool take_tile(unsigned long long tiles) const {
    for (;;) {
      const unsigned long long ticket = detail::take_ticket(&progress_->tickets);
      const unsigned long long order = ticket / tiles;
      const unsigned long long tile = ticket - order * tiles;
      if (order >= progress_->most_passes) return false;
      // The unsigned difference is large if the tile comes before the segment.
      if (tile - storage_.first_tile >= storage_.tiles) load_segment(segments_.segment_of_tile[tile]);
      const auto passes_before = static_cast<int>(order);
      if (passes_before >= storage_.passes) continue;
      if (passes_before > storage_.complete_passes) {
        detail::wait_until_done(&storage_.segment->tiles_moved, order * storage_.tiles);
        storage_.complete_passes = passes_before;
      }
      storage_.pass = storage_.segment->passes_in_order[passes_before];
      storage_.tile = static_cast<std::size_t>(tile - storage_.first_tile);
      return true;
    }
  }

  STRATA_D void load_segment(unsigned index) const {
    Segment& segment = segments_.list[index];
    storage_.keys = {keys_.input + segment.begin, keys_.output + segment.keys_out_begin,
                     keys_.scratch + segment.scratch_begin};
    if constexpr (has_values) {
      storage_.values = {detail::advanced(values_.input, static_cast<std::size_t>(segment.begin)),
                         values_.output + segment.begin, values_.scratch + segment.scratch_begin};
    }
    const std::size_t first_state = static_cast<std::size_t>(segment.first_tile) * radix_bins;
    storage_.workspace = {};
    storage_.workspace.bins = segments_.bins_of(index);
    storage_.workspace.plan = segment.plan;
    for (int i = 0; i < 2; ++i) storage_.workspace.states[i] = static_cast<State*>(segments_.states[i]) + first_state;
    storage_.segment = &segment;
    storage_.length = segment.length;
    storage_.first_tile = segment.first_tile;
    storage_.tiles = segment.tiles;
    storage_.passes = segment.passes;
    storage_.complete_passes = 0;
  }

  TempStorage& storage_;
  unsigned char* shared_;
  const KeyBuffers& keys_;
  const ValueBuffers& values_;
  const radix_bit_range& range_;
  const Digits& digits_;
  const Segments& segments_;
  long_segment_progress* progress_;
};

}  // namespace detail
STRATA_NAMESPACE_END
