// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform/bulk_copy.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/tile_aggregates.cuh>
#include <strata/warp/warp_scan.cuh>

#include <cstddef>

/// \file
/// Reads a long input once, through shared memory, at the speed of memory. The result of each tile may need the
/// aggregate of all tiles before it.
///
/// A block's tiles come into a circular buffer of stages in shared memory, so that loads are always in flight. Warps
/// have roles, and pass buffers to each other by barriers in shared memory (mbarriers). The block as a whole never
/// waits. The diagram shows the way of tile k, with the barriers beside the arrows:
///
///     loading warps      load(k)                                    load(k + stages)
///                          |  full                                    ^  empty
///     scanning warps     upsweep(k), local_scan(k)                  downsweep(k)      `lag` rounds later
///                          |  swept                                   ^  prefixed
///     publishing warp    publish(k) ---> other blocks                 |
///     prefix warp          '---> aggregates of other blocks ---> prefixes(k)
///
/// - *loading warps* fill a stage when it is empty, by bulk copies or item by item;
/// - *scanning warps* reduce a tile to an aggregate for each warp (upsweep) and do what needs no other
///   tile (local scan); `lag` rounds later they complete it with its prefix (downsweep);
/// - the *publishing warp* combines the warps' aggregates and publishes the tile's;
/// - the *prefix warp* reads the other blocks' aggregates and gives each scanning warp its prefix.
///
/// The lag hides the time between the end of a block's upsweep and the end of the upsweeps of all blocks. Lag and roles
/// were found by measurement. Forward progress: all blocks are resident, so all aggregates come (see
/// tile_aggregates.cuh); in a block, each role waits for earlier rounds, or for an earlier role of a round.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// An input that is cut into tiles. The first tile begins behind `head_items` items.
struct tiled_input {
  std::size_t num_items;
  std::size_t tiles;
  unsigned head_items;
};

/// The items of a tile that a thread scans: a contiguous part of those of its warp, which are contiguous.
struct thread_slice {
  unsigned char* stage;
  std::size_t first_item;  // index of the tile's first item; index 0 is behind the head
  int warp;
  int lane;
  int warp_items;    // valid ones
  int thread_items;  // valid ones
};

/// Round k uses one of `Buffers` buffers, in turn. `phase` is the parity of this use of the buffer, by which
/// mbarriers distinguish one use from the next.
template <unsigned Buffers>
struct pipeline_state {
  unsigned index;
  unsigned phase;

  STRATA_D explicit pipeline_state(unsigned round) : index(round % Buffers), phase(round / Buffers % 2) {}
  /// The phase of the previous use of the buffer.
  STRATA_D unsigned previous_phase() const { return phase ^ 1; }
};

/// What the block does with a tile is up to `Steps`, the steps<Policy, UsesBulkCopies> of a problem:
///
/// - `Aggregate`, `scan_op()`, `has_initial_value`, `initial_value()`: what tiles are reduced to;
/// - `Stage::tuning`, `thread_items`, `bytes`, `loading_warps`: the shape of a stage;
/// - `load(stage, full, first_item, valid_items)`, by the loading warps: fills a stage, and arrives at
///   `full` with each thread;
/// - `upsweep<IsFull>(slice, state)`, by each scanning thread: returns the aggregate of its items. It may keep what it
///   has read in `state`, a `ThreadState`, for the local scan;
/// - `local_scan<IsFull>(slice, state, below)`, with the aggregate of the lanes below. Returns a `LocalResult` for the
///   downsweep;
/// - `downsweep<IsFull>(slice, result, has_warp_prefix, warp_prefix)`, with the aggregate of all items before
///   the warp's, which only the first warp of all may lack. Then the stage is empty;
/// - `write_total(total)`, by one thread, with the aggregate of the input, if it `has_total`;
/// - `scan_head(items, prefix, aggregate)`, by one thread, if it `may_have_head`: completes the items before
///   the first tile, appends them to `prefix`, and reduces them to `aggregate`.
template <class Steps>
class AgentScanPipeline {
  using Aggregate = typename Steps::Aggregate;
  using LocalResult = typename Steps::LocalResult;
  using Aggregates = tile_aggregates<Aggregate>;
  using Stage = typename Steps::Stage;
  static constexpr auto tuning = Stage::tuning;
  static constexpr int scanning_threads = tuning.scanning_threads;
  static constexpr int scanning_warps = scanning_threads / warp_threads;
  static constexpr unsigned stages = static_cast<unsigned>(tuning.stages);
  static constexpr unsigned lag = static_cast<unsigned>(tuning.lag);
  static constexpr int thread_items = Stage::thread_items;
  static constexpr int warp_items = warp_threads * thread_items;
  // Slots for aggregates and prefixes of warps: `lag` for the rounds between upsweep and downsweep, and two more for
  // rounds in which they are still read.
  static constexpr unsigned slots = lag + 2;
  using stage_state = pipeline_state<stages>;
  using slot_state = pipeline_state<slots>;

  // not for users: problem_scan.cuh checks rows of scan_pipeline_tuning; rows for columns are checked only here
  static_assert(scanning_threads % warp_threads == 0 && scanning_warps <= warp_threads,
                "a multiple of 32 threads scans, at most 1024");
  // not for users: as above
  static_assert(lag >= 1 && lag <= Aggregates::max_lag && stages > lag,
                "a pipeline's lag must be 1 or 2, and less than stages");

 public:
  static constexpr int tile_items = scanning_threads * thread_items;
  static constexpr int block_threads = scanning_threads + warp_threads * (Stage::loading_warps + 2);
  static constexpr int blocks_per_multiprocessor = tuning.blocks_per_multiprocessor;
  static constexpr std::size_t dynamic_shared_bytes =
      static_cast<std::size_t>(stages) * static_cast<std::size_t>(Stage::bytes);

  struct TempStorage {
    platform::mbarrier full[stages];
    platform::mbarrier empty[stages];
    platform::mbarrier swept[slots];
    platform::mbarrier prefixed[slots];
    Uninitialized<Aggregate> warp_aggregate[slots][scanning_warps];
    Uninitialized<Aggregate> warp_prefix[slots][scanning_warps];
    Uninitialized<Aggregate> head;  // of block 0: what comes before the first tile, with the initial value
    Uninitialized<Aggregate> head_aggregate;
  };

  STRATA_D AgentScanPipeline(TempStorage& storage, unsigned char* stages_in_shared_memory, Steps& steps,
                             const tiled_input& input, const tile_aggregates_arguments& exchange)
      : storage_(storage),
        stages_(stages_in_shared_memory),
        steps_(steps),
        input_(input),
        aggregates_(exchange, blockIdx.x, gridDim.x) {}

  STRATA_D void run() {
    const int warp = static_cast<int>(threadIdx.x) / warp_threads;
    if (threadIdx.x == 0) prepare();
    __syncthreads();
    // The block's tiles.
    const auto count =
        static_cast<unsigned>(blockIdx.x < input_.tiles ? (input_.tiles - blockIdx.x - 1) / gridDim.x + 1 : 0);
    if (warp < scanning_warps) {
      scan_tiles(warp, count);
    } else if (warp < scanning_warps + Stage::loading_warps) {
      load_tiles(count);
    } else if (warp == scanning_warps + Stage::loading_warps) {
      publish_aggregates(count);
    } else {
      gather_prefixes(count);
    }
  }

 private:
  STRATA_D void prepare() {
    for (unsigned s = 0; s < stages; ++s) {
      storage_.full[s].init(Stage::loading_warps * warp_threads);
      storage_.empty[s].init(scanning_threads);
    }
    for (unsigned s = 0; s < slots; ++s) {
      storage_.swept[s].init(scanning_warps);
      // The prefix warp arrives. If there is something to publish, so does the publishing warp when it has read the
      // warps' aggregates, because these may be overwritten afterwards.
      storage_.prefixed[s].init(gridDim.x > 1 ? 2 * warp_threads : warp_threads);
    }
    platform::fence_mbarrier_init();
    if constexpr (Steps::may_have_head) {
      if (blockIdx.x != 0) return;
      Aggregate prefix{}, aggregate{};
      if constexpr (Steps::has_initial_value) prefix = steps_.initial_value();
      steps_.scan_head(input_.head_items, prefix, aggregate);
      storage_.head.Alias() = prefix;
      storage_.head_aggregate.Alias() = aggregate;
    }
  }

  STRATA_D unsigned head_items() const { return Steps::may_have_head ? input_.head_items : 0; }
  // Rounds of the blocks with the most tiles.
  STRATA_D unsigned rounds() const { return static_cast<unsigned>((input_.tiles - 1) / gridDim.x) + 1; }
  STRATA_D std::size_t first_item(unsigned round) const {
    return (static_cast<std::size_t>(round) * gridDim.x + blockIdx.x) * tile_items;
  }
  STRATA_D bool is_last_of_all(unsigned round) const {
    return first_item(round) + tile_items >= input_.num_items - head_items();
  }
  // Valid items of the block's tile of this round.
  STRATA_D int valid_items(unsigned round) const {
    const std::size_t left = input_.num_items - head_items() - first_item(round);
    return left < tile_items ? static_cast<int>(left) : tile_items;
  }
  STRATA_D static int within(int count, int first, int max_count) {
    const int left = count - first;
    return left < 0 ? 0 : detail::least(left, max_count);
  }
  STRATA_D unsigned char* stage(unsigned round) const {
    return stages_ + static_cast<std::size_t>(stage_state(round).index) * Stage::bytes;
  }
  template <bool IsFull>
  STRATA_D thread_slice slice(unsigned round, int warp) const {
    const int lane = static_cast<int>(platform::lane_id());
    const int of_warp = IsFull ? warp_items : within(valid_items(round), warp * warp_items, warp_items);
    const int of_thread = IsFull ? thread_items : within(of_warp, lane * thread_items, thread_items);
    return {stage(round), first_item(round), warp, lane, of_warp, of_thread};
  }

  // ------------------------------------------------------------------ the loading warps
  STRATA_D void load_tiles(unsigned count) {
    for (unsigned round = 0; round < count; ++round) {
      const stage_state state(round);
      if (round >= stages) storage_.empty[state.index].wait(state.previous_phase());
      steps_.load(stage(round), storage_.full[state.index], first_item(round), valid_items(round));
    }
  }

  // ------------------------------------------------------------------ the scanning warps
  STRATA_D void scan_tiles(int warp, unsigned count) {
    LocalResult results[lag]{};  // of the rounds that wait for their prefix
    for (unsigned round = 0; round < count + lag; ++round) {
      LocalResult result{};
      if (round < count) {
        const stage_state state(round);
        storage_.full[state.index].wait(state.phase);
        result = valid_items(round) == tile_items ? upsweep<true>(round, warp) : upsweep<false>(round, warp);
      }
      if (round >= lag) {
        const unsigned swept_round = round - lag;
        const slot_state state(swept_round);
        storage_.prefixed[state.index].wait(state.phase);
        if (valid_items(swept_round) == tile_items) {
          downsweep<true>(swept_round, warp, results[0]);
        } else {
          downsweep<false>(swept_round, warp, results[0]);
        }
      }
      STRATA_UNROLL
      for (unsigned i = 0; i + 1 < lag; ++i) results[i] = results[i + 1];
      results[lag - 1] = result;
    }
  }

  // Reduces the thread's items, and the warp's, and scans them as far as that needs no other warp.
  template <bool IsFull>
  STRATA_D LocalResult upsweep(unsigned round, int warp) {
    const thread_slice items = slice<IsFull>(round, warp);
    const slot_state slot(round);
    typename Steps::ThreadState state;
    const Aggregate aggregate = steps_.template upsweep<IsFull>(items, state);
    typename WarpScan<Aggregate>::TempStorage unused;
    Aggregate inclusive{}, exclusive{};
    const int lanes = ceiling_divide(items.warp_items, thread_items);
    if constexpr (IsFull) {
      WarpScan<Aggregate>(unused).Scan(aggregate, inclusive, exclusive, steps_.scan_op());
    } else {
      WarpScan<Aggregate>(unused).ScanPartial(aggregate, inclusive, exclusive, steps_.scan_op(), lanes);
    }
    const int last_lane = IsFull ? warp_threads - 1 : lanes - 1;
    if (items.lane == detail::most(last_lane, 0)) {
      if (IsFull || items.warp_items > 0) storage_.warp_aggregate[slot.index][warp].Alias() = inclusive;
      storage_.swept[slot.index].arrive();
    }
    return steps_.template local_scan<IsFull>(items, state, exclusive);
  }

  template <bool IsFull>
  STRATA_D void downsweep(unsigned round, int warp, const LocalResult& result) {
    const thread_slice items = slice<IsFull>(round, warp);
    const bool has_warp_prefix =
        Steps::has_initial_value || round > 0 || blockIdx.x > 0 || warp > 0 || head_items() > 0;
    Aggregate prefix{};
    if (has_warp_prefix && (IsFull || items.warp_items > 0)) {
      prefix = storage_.warp_prefix[slot_state(round).index][warp].Alias();
    }
    steps_.template downsweep<IsFull>(items, result, has_warp_prefix, prefix);
    platform::fence_before_bulk_copy();
    storage_.empty[stage_state(round).index].arrive();
  }

  // ------------------------------------------------------------------ aggregates and prefixes
  STRATA_D Aggregate combine(const Aggregate& a, const Aggregate& b) const {
    return static_cast<Aggregate>(steps_.scan_op()(a, b));
  }

  // Scans the aggregates of the scanning warps, a lane for each. Returns how many have items.
  STRATA_D int scan_warps(unsigned round, Aggregate& inclusive, Aggregate& exclusive) {
    const int lane = static_cast<int>(platform::lane_id());
    const int warps = detail::ceiling_divide(valid_items(round), warp_items);
    Aggregate aggregate{};
    if (lane < warps) aggregate = storage_.warp_aggregate[slot_state(round).index][lane].Alias();
    typename WarpScan<Aggregate>::TempStorage unused;
    WarpScan<Aggregate>(unused).ScanPartial(aggregate, inclusive, exclusive, steps_.scan_op(), warps);
    return warps;
  }

  STRATA_D void publish_aggregates(unsigned count) {
    if (gridDim.x == 1) return;
    const int lane = static_cast<int>(platform::lane_id());
    for (unsigned round = 0; round < count; ++round) {
      const slot_state slot(round);
      storage_.swept[slot.index].wait(slot.phase);
      Aggregate inclusive{}, exclusive{};
      const int warps = scan_warps(round, inclusive, exclusive);
      // No block reads the aggregate of the last tile. The aggregate is not published, because the prefix warp does
      // not wait for it: the store could land after the epochs have been erased.
      if (!is_last_of_all(round) && lane == warps - 1) {
        if constexpr (Steps::may_have_head) {
          if (round == 0 && blockIdx.x == 0 && head_items() > 0) {
            inclusive = combine(storage_.head_aggregate.Alias(), inclusive);
          }
        }
        aggregates_.publish(round, inclusive);
      }
      storage_.prefixed[slot.index].arrive();
    }
  }

  STRATA_D void gather_prefixes(unsigned count) {
    const int lane = static_cast<int>(platform::lane_id());
    Aggregate prefix{};  // of the tile, in all lanes
    bool has_prefix;
    const auto begin_with_initial_value = [&] {
      has_prefix = Steps::has_initial_value;
      if constexpr (Steps::has_initial_value) prefix = steps_.initial_value();
    };
    begin_with_initial_value();
    const bool after_head = blockIdx.x == 0 && head_items() > 0;
    if (after_head) {
      prefix = storage_.head.Alias();
      has_prefix = true;
    }
    typename WarpScan<Aggregate>::TempStorage unused;
    for (unsigned round = 0; round < count; ++round) {
      const slot_state slot(round);
      // Other blocks' aggregates are of no use before the block's own.
      storage_.swept[slot.index].wait(slot.phase);
      if (gridDim.x > 1 && aggregates_.tiles_before(round) > 0) {
        // The head is in the aggregate of the first tile.
        if (after_head && round == 1) begin_with_initial_value();
        const Aggregate between =
            WarpScan<Aggregate>(unused).Broadcast(aggregates_.aggregate_before(round, steps_.scan_op()), 0);
        prefix = has_prefix ? combine(prefix, between) : between;
        has_prefix = true;
      }
      Aggregate inclusive{}, exclusive{};
      const int warps = scan_warps(round, inclusive, exclusive);
      if (lane < warps) {
        Aggregate of_warp = prefix;
        if (lane > 0) of_warp = has_prefix ? combine(prefix, exclusive) : exclusive;
        storage_.warp_prefix[slot.index][lane].Alias() = of_warp;
      }
      storage_.prefixed[slot.index].arrive();
      if constexpr (Steps::has_total) {
        if (lane == warps - 1 && is_last_of_all(round)) {
          steps_.write_total(has_prefix ? combine(prefix, inclusive) : inclusive);
        }
      }
      if (gridDim.x == 1) {
        const Aggregate tile = WarpScan<Aggregate>(unused).Broadcast(inclusive, static_cast<unsigned>(warps - 1));
        prefix = has_prefix ? combine(prefix, tile) : tile;
        has_prefix = true;
      }
    }
    if (!aggregates_.must_be_erased(rounds())) return;
    unsigned long long departures = 0;
    if (lane == 0) departures = aggregates_.leave();
    if (__any_sync(full_warp_mask, departures == gridDim.x) != 0) {
      aggregates_.erase(static_cast<unsigned>(lane), warp_threads, rounds());
    }
  }

  TempStorage& storage_;
  unsigned char* stages_;
  Steps& steps_;
  const tiled_input& input_;
  Aggregates aggregates_;
};

}  // namespace detail
STRATA_NAMESPACE_END
