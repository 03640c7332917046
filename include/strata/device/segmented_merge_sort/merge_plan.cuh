// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/segmented_merge_sort/split_runs.cuh>
#include <strata/device/segmented_merge_sort/workspace.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A tile of the result of a merge of four runs. The items of a run lie side by side.
struct merge_share {
  long long from[merge_ways];
  long long to;
  long long keys_from, keys_to;  // where keys are, behind where values are
  int counts[merge_ways];
  int skipped;  // items before the tile's
  int items;    // 0: nothing of the tile takes part
  bool from_buffer;
};

/// Gives a block its tiles of a level of merges, and finds which items of the runs belong there.
///
/// The searches for a block's next tiles go on while it merges those it has.
template <int BlockThreads, int ItemsPerThread, int TileItems, int RunItems, class Key, class Value,
          class Compare>
class SegmentMergePlan {
  using Arrays = merge_sort_arrays<Key, Value>;
  using Splitter = RunSplitter<Key, Compare, 16>;
  using FastSplitter = RunSplitter<Key, Compare, warp_threads>;
  static constexpr int tiles_of_run = RunItems / TileItems;
  static_assert(RunItems % TileItems == 0,
                "segmented_merge_sort tuning: a tile that is sorted must be some tiles of its merges");
  static constexpr int warps = BlockThreads / warp_threads;
  static constexpr int shares_at_once = 15;
  static constexpr int all_steps = 1 << 30, usual_steps = 30;

  /// What a tile of a level belongs to.
  struct tile_of_level {
    run_group<Key> runs;
    long long first;     // of the runs: item of the arrays
    long long to;        // the same of the result
    long long diagonal;  // the tile's first item, in the result
    int items;
    bool from_buffer;
    long long keys_from, keys_to;
  };

 public:
  // Two merges go on beside each other, and no thread takes part in both.
  static constexpr int room_items = (BlockThreads - 1) * ItemsPerThread;
  static_assert(room_items >= TileItems,
                "segment_merge_tuning::tile_items must leave a thread without items");
  /// Items that a search may leave open at an end of a tile.
  static constexpr int most_open = (room_items - TileItems) / 2;

  struct TempStorage {
    merge_share shares[shares_at_once];
    // Of those that are being planned, and of the one behind.
    tile_of_level tiles[shares_at_once + 1];
    split_search<Key> searches[shares_at_once + 1];
    splitter_keys<Key> splitters[warps];
    // In shared memory: merges need all registers.
    int count;           // of shares
    unsigned ticket;     // for the next stretch of tiles
    unsigned next_tile;  // the first of the stretch that is being planned
    int next_count;      // its tiles
  };

  STRATA_D SegmentMergePlan(TempStorage& storage, const merge_sort_workspace& workspace,
                            const Arrays& output, const Arrays& buffer, const Compare& compare)
      : storage_(storage),
        workspace_(workspace),
        output_(output),
        buffer_(buffer),
        compare_(compare) {}

  /// By all threads, before the first tiles of a level. Reads no keys.
  STRATA_D void begin(unsigned level) {
    if (thread() == 0) take_stretch(blockIdx.x);
    __syncthreads();
    begin_searches(static_cast<int>(level));
  }

  /// Behind a barrier: whether the block has tiles to merge.
  STRATA_D bool has_next() const { return storage_.next_count > 0; }

  /// By all threads: plans the next tiles.
  STRATA_D void next(unsigned level) {
    if (thread() == 0) {
      storage_.ticket = gridDim.x + atomicAdd(&workspace_.progress->taken_by_merges[level], 1u);
    }
    go_on(all_steps);
    __syncthreads();
    if (thread() < storage_.next_count) plan_share(thread());
    if (thread() == 0) storage_.count = storage_.next_count;
    __syncthreads();
    if (thread() == 0) take_stretch(storage_.ticket);
    __syncthreads();
    begin_searches(static_cast<int>(level));
  }

  /// The tiles that are planned.
  STRATA_D int count() const { return storage_.count; }
  STRATA_D const merge_share& share(int s) const { return storage_.shares[s]; }

  /// By all threads, once for each tile: goes on with the searches, which wait for memory.
  STRATA_D void go_on() {
    const int count = storage_.count;
    go_on(count * 2 >= usual_steps ? 2 : ceiling_divide(usual_steps, count));
  }

 private:
  /// Computed again where it is needed, so that nothing that depends on it takes registers in between.
  STRATA_D static int thread() {
    int thread = static_cast<int>(threadIdx.x);
    platform::forget(thread);
    return thread;
  }
  STRATA_D unsigned num_tiles() const {
    return static_cast<unsigned>(workspace_.num_tiles()) * unsigned{tiles_of_run};
  }
  /// A ticket stands for some neighbouring tiles: at most as many as there is room for, and if that is not
  /// all, for most of what is left for a block when as many tickets as there are blocks are given out. So
  /// blocks take tickets rarely, for the first search of each is waited for, and end together.
  STRATA_D void take_stretch(unsigned ticket) {
    constexpr auto most = static_cast<unsigned>(shares_at_once);
    const unsigned blocks = gridDim.x;
    unsigned first = 0, left = num_tiles(), count = 0, round = ticket / blocks;
    if (left >= 2 * most * blocks) {
      // Rounds of as many as there is room for.
      const unsigned long_rounds = left / (most * blocks) - 1;
      const unsigned passed = round < long_rounds ? round : long_rounds;
      round -= passed;
      first = passed * most * blocks;
      left -= first;
    }
    STRATA_UNROLL_N(1)
    while (left > 0) {
      const bool is_all = first == 0 && left <= most * blocks;
      count = is_all ? ceiling_divide(left, blocks) : left / 8 * 7 / blocks;
      count = count < 1 ? 1 : count < most ? count : most;
      if (round == 0) break;
      --round;
      const unsigned passed = count * blocks < left ? count * blocks : left;
      first += passed;
      left -= passed;
    }
    const unsigned before = ticket % blocks * count;
    storage_.next_tile = first + before;
    storage_.next_count =
        before >= left ? 0 : static_cast<int>(left - before < count ? left - before : count);
  }

  /// Warps are to look for the ends of the runs' parts before each of the next tiles and behind the last.
  STRATA_D void begin_searches(int level) {
    if (takes_whole_warps()) {
      begin_by<FastSplitter>(level);
    } else {
      begin_by<Splitter>(level);
    }
  }
  /// Each by at most so many steps.
  STRATA_D void go_on(int steps) {
    if (takes_whole_warps()) {
      go_on_by<FastSplitter>(steps);
    } else {
      go_on_by<Splitter>(steps);
    }
  }
  /// While all warps have searches of their own, these may as well take all of a warp.
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
  STRATA_D void go_on_by(int steps) {
    const By splitter(storage_.splitters[thread() / warp_threads], compare_);
    const int count = storage_.next_count;
    for_searches<By>(count, [&](int s) {
      split_search<Key>* const search = s <= count ? &storage_.searches[s] : nullptr;
      STRATA_UNROLL_N(1)
      for (int step = 0; step < steps && splitter.step(search, most_open); ++step) {
      }
    });
  }
  /// By all lanes of a warp: numbers of its searches, a lane's own, which may be beyond `count`. There are
  /// none where there are no tiles.
  template <class By, class Use>
  STRATA_D static void for_searches(int count, const Use& use) {
    constexpr int of_warp = warp_threads / By::lanes;
    STRATA_UNROLL_N(1)
    for (int first = thread() / warp_threads * of_warp; first <= count && count > 0;
         first += warps * of_warp) {
      use(first + By::search_of_lane());
    }
    __syncwarp();
  }

  STRATA_D void plan_share(int s) {
    const tile_of_level& tile = storage_.tiles[s];
    merge_share& planned = storage_.shares[s];
    const run_group<Key> runs = tile.runs;
    const bool is_last = tile.diagonal + tile.items >= runs.num_items;
    long long before = 0, items = 0;
    STRATA_UNROLL_N(1)
    for (int run = 0; run < merge_ways; ++run) {
      const long long begin = storage_.searches[s].brackets[run].least;
      const long long end =
          is_last ? runs.length(run) : storage_.searches[s + 1].brackets[run].most;
      before += begin;
      items += end - begin;
      planned.from[run] = tile.first + run * runs.run_items + begin;
      planned.counts[run] = begin <= end ? static_cast<int>(end - begin) : room_items + 1;
      if (begin > end || end - begin > room_items) items = room_items + 1;
    }
    planned.skipped = static_cast<int>(tile.diagonal - before);
    // If the comparator is no ordering, searches need not agree: then the tile takes what lies there.
    if (before > tile.diagonal || tile.diagonal - before > most_open ||
        items < planned.skipped + tile.items || items > room_items) {
      planned.skipped = 0;
      long long first = tile.diagonal, left = tile.items;
      STRATA_UNROLL_N(1)
      for (int run = 0; run < merge_ways; ++run) {
        const long long length = runs.length(run);
        const long long begin = first < length ? first : length;
        const long long count = length - begin < left ? length - begin : left;
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
    const unsigned owner = workspace_.tiles[number / unsigned{tiles_of_run}];
    if (owner == merge_sort_workspace::no_segment) return tile;
    const split_segment whole = workspace_.split[owner];
    const long long begin =
        static_cast<long long>(number - whole.first_tile * unsigned{tiles_of_run}) * TileItems;
    if (level >= whole.levels || begin >= whole.length) return tile;
    const long long run = static_cast<long long>(RunItems) << (2 * level);
    const long long first = begin / RunItems >> (2 * level + 2) << (2 * level + 2);
    const long long first_item = first * RunItems;
    const long long left = whole.length - first_item;
    const long long items = left < merge_ways * run ? left : merge_ways * run;
    tile.diagonal = begin - first_item;
    const long long rest = items - tile.diagonal;
    tile.items = rest < TileItems ? static_cast<int>(rest) : TileItems;
    // After as many levels as the segment has, it lies in the output.
    tile.from_buffer = (whole.levels - level) % 2 != 0;
    tile.first = (tile.from_buffer ? whole.buffer_begin : whole.begin) + first_item;
    tile.to = (tile.from_buffer ? whole.begin : whole.buffer_begin) + first_item;
    const long long scratch =
        workspace_.keys_are_scratch ? whole.buffer_begin - whole.begin : 0;
    tile.keys_from = tile.from_buffer ? 0 : scratch;
    tile.keys_to = tile.from_buffer ? scratch : 0;
    tile.runs = {(tile.from_buffer ? buffer_ : output_).keys + tile.first + tile.keys_from, run,
                 items};
    return tile;
  }

  TempStorage& storage_;
  const merge_sort_workspace& workspace_;
  const Arrays& output_;
  const Arrays& buffer_;
  const Compare& compare_;
};

}  // namespace detail
STRATA_NAMESPACE_END
