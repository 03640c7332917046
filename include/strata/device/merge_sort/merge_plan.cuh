// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/work_queue.cuh>
#include <strata/device/merge_sort/split_runs.cuh>
#include <strata/device/merge_sort/workspace.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A tile of the result of a merge of four runs, and the part of each run that its items come from.
struct merge_tile {
  long long from[merge_ways];
  long long to;
  long long keys_from, keys_to;  // a key's index less the index of its value: 0 unless keys are in scratch
  int counts[merge_ways];
  int skipped;  // items before the tile's
  int items;    // 0: the tile has no items in this level
  bool from_buffer;
};

/// Assigns tiles of a level of merges to a block, and finds which items of the runs belong there.
///
/// The block makes the steps of the searches for its next tiles while it merges the present ones.
///
/// In the first level, runs have `TilesOfRun` tiles, or `tiles_of_run` tiles if `TilesOfRun` is 0.
template <int BlockThreads, int ItemsPerThread, int TileItems, int TilesOfRun, class Key, class Value, class Compare>
class SegmentMergePlan {
  using Arrays = merge_sort_arrays<Key, Value>;
  using Splitter = RunSplitter<Key, Compare, 16>;
  using FastSplitter = RunSplitter<Key, Compare, warp_threads>;
  static constexpr int warps = BlockThreads / warp_threads;
  static constexpr int tiles_per_batch = 15;
  static constexpr int all_steps = 1 << 30, steps_per_batch = 30;

  /// Which runs a tile of a level is merged from.
  struct tile_of_level {
    run_group<Key> runs;
    long long first;     // index of the first item of the runs
    long long to;        // index of the first item of their merge
    long long diagonal;  // the tile's first item, in the result
    int items;
    bool from_buffer;
    long long keys_from, keys_to;
  };

 public:
  // The first two runs are merged, and so are the last two. A thread works on one of these two merges, not on both. The
  // last thread of a merge may be partly idle, so the capacity is less by the items of one thread.
  static constexpr int capacity_items = (BlockThreads - 1) * ItemsPerThread;
  static_assert(capacity_items >= TileItems,
                "segment_merge_tuning::tile_items must be at most (block_threads - 1) * "
                "items_per_thread");
  /// Items that a search may leave open at each end of a tile.
  static constexpr int max_open = (capacity_items - TileItems) / 2;

  struct TempStorage {
    merge_tile planned[tiles_per_batch];
    // The runs of the next tiles, and of the tile behind them.
    tile_of_level tiles[tiles_per_batch + 1];
    split_search<Key> searches[tiles_per_batch + 1];
    splitter_keys<Key> splitters[warps];
    // These are in shared memory because merges need all registers.
    int count;           // of the present tiles
    unsigned ticket;     // for the next tiles
    unsigned next_tile;  // the first of them
    int next_count;
  };

  STRATA_D SegmentMergePlan(TempStorage& storage, const merge_sort_workspace& workspace, const Arrays& output,
                            const Arrays& buffer, const Compare& compare, int tiles_of_run)
      : storage_(storage),
        workspace_(workspace),
        output_(output),
        buffer_(buffer),
        compare_(compare),
        tiles_of_run_(TilesOfRun > 0 ? TilesOfRun : tiles_of_run) {}

  /// Begins a level, and reads no keys. All threads call this, before the first tiles of the level.
  STRATA_D void begin(unsigned level) {
    if (thread() == 0) take_tiles(blockIdx.x);
    __syncthreads();
    begin_searches(static_cast<int>(level));
  }

  /// True if the block has tiles to merge. A barrier must come before.
  STRATA_D bool has_next() const { return storage_.next_count > 0; }

  /// Makes the next tiles the present ones, and begins to search for their successors. All threads call this.
  STRATA_D void next(unsigned level) {
    if (thread() == 0) {
      // The first ticket of each block is its number.
      storage_.ticket = gridDim.x + detail::take_ticket(&workspace_.progress->merge_tickets[level]);
    }
    make_steps(all_steps);
    __syncthreads();
    if (thread() < storage_.next_count) plan_tile(thread());
    if (thread() == 0) storage_.count = storage_.next_count;
    __syncthreads();
    if (thread() == 0) take_tiles(storage_.ticket);
    __syncthreads();
    begin_searches(static_cast<int>(level));
  }

  /// The present tiles.
  STRATA_D int count() const { return storage_.count; }
  STRATA_D const merge_tile& tile(int t) const { return storage_.planned[t]; }

  /// Makes some steps of the searches, which wait for memory. All threads call this, once for each present tile.
  STRATA_D void make_steps() {
    const int count = storage_.count;
    make_steps(count * 2 >= steps_per_batch ? 2 : ceiling_divide(steps_per_batch, count));
  }

 private:
  STRATA_D static int thread() { return detail::reloaded_thread_index(); }
  STRATA_D unsigned num_tiles() const {
    return static_cast<unsigned>(workspace_.num_tiles()) * static_cast<unsigned>(tiles_of_run_);
  }
  /// A ticket is for a batch of neighbouring tiles: as many as storage holds, and later fewer. A round is one ticket
  /// for each block. In later rounds, the batches of a round have 7/8 of the tiles that are left, divided equally among
  /// the blocks. So blocks take few tickets, and end at about the same time. If one round can take all tiles, batches
  /// are even. Few tickets matter because a block may have to wait for the searches of its next batch.
  STRATA_D void take_tiles(unsigned ticket) {
    constexpr auto capacity = static_cast<unsigned>(tiles_per_batch);
    const unsigned blocks = gridDim.x;
    unsigned first = 0, left = num_tiles(), count = 0, round = ticket / blocks;
    if (left >= 2 * capacity * blocks) {
      // Rounds of full batches.
      const unsigned long_rounds = left / (capacity * blocks) - 1;
      const unsigned passed = detail::least(round, long_rounds);
      round -= passed;
      first = passed * capacity * blocks;
      left -= first;
    }
    STRATA_UNROLL_N(1)
    while (left > 0) {
      const bool is_all = first == 0 && left <= capacity * blocks;
      count = is_all ? ceiling_divide(left, blocks) : left / 8 * 7 / blocks;
      count = count < 1 ? 1 : detail::least(count, capacity);
      if (round == 0) break;
      --round;
      const unsigned passed = detail::least(count * blocks, left);
      first += passed;
      left -= passed;
    }
    const unsigned before = ticket % blocks * count;
    storage_.next_tile = first + before;
    storage_.next_count = before >= left ? 0 : static_cast<int>(detail::least(left - before, count));
  }

  /// Begins the searches: for the beginning of each of the next tiles, and for the end of the last.
  STRATA_D void begin_searches(int level) {
    if (takes_whole_warps()) {
      begin_by<FastSplitter>(level);
    } else {
      begin_by<Splitter>(level);
    }
  }
  /// Makes at most `steps` steps of each search.
  STRATA_D void make_steps(int steps) {
    if (takes_whole_warps()) {
      make_steps_by<FastSplitter>(steps);
    } else {
      make_steps_by<Splitter>(steps);
    }
  }
  /// If there are no more searches than warps, a search may as well take all lanes of a warp.
  STRATA_D bool takes_whole_warps() const { return storage_.next_count < warps; }

  template <class By>
  STRATA_D void begin_by(int level) {
    const int count = storage_.next_count;
    for_searches<By>(count, [&](int s) {
      if (s > count) return;
      const tile_of_level tile = find_tile(level, storage_.next_tile + static_cast<unsigned>(s));
      if (platform::lane_id() % unsigned{By::lanes} == 0) storage_.tiles[s] = tile;
      By::begin(storage_.searches[s], tile.runs, tile.diagonal);
    });
  }
  template <class By>
  STRATA_D void make_steps_by(int steps) {
    const By splitter(storage_.splitters[thread() / warp_threads], compare_);
    const int count = storage_.next_count;
    for_searches<By>(count, [&](int s) {
      split_search<Key>* const search = s <= count ? &storage_.searches[s] : nullptr;
      STRATA_UNROLL_N(1)
      for (int step = 0; step < steps && splitter.step(search, max_open); ++step) {
      }
    });
  }
  /// Each group of `By::lanes` lanes of a warp makes one search at a time. Each lane calls `use` once for each search
  /// of its group, with the number of the search, which may be above `count`. If there are no tiles, there are no
  /// searches. All lanes of a warp call this.
  template <class By, class Use>
  STRATA_D static void for_searches(int count, const Use& use) {
    constexpr int of_warp = warp_threads / By::lanes;
    STRATA_UNROLL_N(1)
    for (int first = thread() / warp_threads * of_warp; first <= count && count > 0; first += warps * of_warp) {
      use(first + By::search_of_lane());
    }
    __syncwarp();
  }

  STRATA_D void plan_tile(int t) {
    const tile_of_level& tile = storage_.tiles[t];
    merge_tile& planned = storage_.planned[t];
    const run_group<Key> runs = tile.runs;
    const bool is_last = tile.diagonal + tile.items >= runs.num_items;
    long long before = 0, items = 0;
    STRATA_UNROLL_N(1)
    for (int run = 0; run < merge_ways; ++run) {
      const long long begin = storage_.searches[t].brackets[run].min;
      const long long end = is_last ? runs.length(run) : storage_.searches[t + 1].brackets[run].max;
      before += begin;
      items += end - begin;
      planned.from[run] = tile.first + run * runs.run_items + begin;
      planned.counts[run] = begin <= end ? static_cast<int>(end - begin) : capacity_items + 1;
      if (begin > end || end - begin > capacity_items) items = capacity_items + 1;
    }
    planned.skipped = static_cast<int>(tile.diagonal - before);
    // If the comparator is no ordering, the searches may contradict each other. Then the tile takes the items that lie
    // at its indices, so that the result is still a permutation.
    if (before > tile.diagonal || tile.diagonal - before > max_open || items < planned.skipped + tile.items ||
        items > capacity_items) {
      planned.skipped = 0;
      long long first = tile.diagonal, left = tile.items;
      STRATA_UNROLL_N(1)
      for (int run = 0; run < merge_ways; ++run) {
        const long long length = runs.length(run);
        const long long begin = detail::least(first, length);
        const long long count = detail::least(length - begin, left);
        planned.from[run] = tile.first + run * runs.run_items + begin;
        planned.counts[run] = static_cast<int>(count);
        first -= begin;
        left -= count;
      }
    }
    planned.to = tile.to + tile.diagonal;
    planned.keys_from = tile.keys_from;
    planned.keys_to = tile.keys_to;
    planned.items = tile.items;
    planned.from_buffer = tile.from_buffer;
  }

  STRATA_D tile_of_level find_tile(int level, unsigned number) const {
    tile_of_level tile{};
    if (number >= num_tiles()) return tile;
    const auto tiles_of_run = static_cast<unsigned>(tiles_of_run_);
    const long long run_items = static_cast<long long>(tiles_of_run_) * TileItems;
    const unsigned owner = workspace_.tiles[number / tiles_of_run];
    if (owner == merge_sort_workspace::no_segment) return tile;
    const split_segment whole = workspace_.split[owner];
    const long long begin = static_cast<long long>(number - whole.first_tile * tiles_of_run) * TileItems;
    if (level >= whole.levels || begin >= whole.length) return tile;
    const long long run = run_items << (2 * level);
    const long long first = begin / run_items >> (2 * level + 2) << (2 * level + 2);
    const long long first_item = first * run_items;
    const long long left = whole.length - first_item;
    const long long items = detail::least(left, merge_ways * run);
    tile.diagonal = begin - first_item;
    const long long rest = items - tile.diagonal;
    tile.items = rest < TileItems ? static_cast<int>(rest) : TileItems;
    // After its last level, a segment lies in the output.
    tile.from_buffer = (whole.levels - level) % 2 != 0;
    tile.first = (tile.from_buffer ? whole.buffer_begin : whole.begin) + first_item;
    tile.to = (tile.from_buffer ? whole.begin : whole.buffer_begin) + first_item;
    const long long scratch = workspace_.keys_are_scratch ? whole.buffer_begin - whole.begin : 0;
    tile.keys_from = tile.from_buffer ? 0 : scratch;
    tile.keys_to = tile.from_buffer ? scratch : 0;
    tile.runs = {(tile.from_buffer ? buffer_ : output_).keys + tile.first + tile.keys_from, run, items};
    return tile;
  }

  TempStorage& storage_;
  const merge_sort_workspace& workspace_;
  const Arrays& output_;
  const Arrays& buffer_;
  const Compare& compare_;
  int tiles_of_run_;
};

}  // namespace detail
STRATA_NAMESPACE_END
