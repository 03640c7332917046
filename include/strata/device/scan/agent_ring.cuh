// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform_bulk_copy.cuh>
#include <strata/core/types.hpp>
#include <strata/device/scan/wave_sums.cuh>
#include <strata/warp/warp_scan.cuh>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// An input that is cut into tiles, after `head_items` that come before all tiles.
struct ring_shape {
  std::size_t num_items;
  std::size_t tiles;
  unsigned head_items;
};

/// What a thread of the ring sees of a tile: the warp has a contiguous part of it, and each lane a
/// contiguous part of that.
struct ring_share {
  unsigned char* stage;
  std::size_t first_item;  // of the tile, after the head
  int warp;
  int lane;
  int warp_items;  // that there are
  int thread_items;
};

/// Takes a long input once through shared memory, at the speed of memory, where the result of each
/// tile needs the sum of all tiles before.
///
/// Tiles come into a ring of stages in shared memory, so that bytes are on their way all the time,
/// whatever the scanning threads do. Warps have roles, and a barrier in shared memory for each
/// thing that one role hands to another; nowhere does the whole block wait:
///
/// - *loading warps* fill a stage when it is free, by bulk copies or item by item;
/// - *scanning warps* fold a tile to its sum; `lag` rounds later, when the sum of all tiles before
///   has come, they finish it;
/// - the *publishing warp* adds up the warps' sums and tells the other blocks;
/// - the *prefix warp* gathers the sums of the tiles in between, and hands each scanning warp what
///   comes before it.
///
/// The lag hides the time from a block's own sum to everybody's.
///
/// What is done with a tile is up to `Work`:
///
/// - `Sum`, `scan_op()`, `has_initial_value` and `initial_value()`: what tiles are folded to;
/// - `scanning_threads`, `thread_items`, `stages`, `stage_bytes`, `loading_warps`, `lag`: its
///   shape;
/// - `load(stage, full, first_item, valid_items)`, by the loading warps: fills a stage, and arrives
///   at `full` with every thread;
/// - `fold<IsFull>(share, held)`, by each scanning thread: the sum of its items. What it leaves in
///   `held`, a `Held`, it finds there again in
/// - `settle<IsFull>(share, held, below)`, with the sum of the lanes below, when the warp's sum is
///   on its way: whatever can be done without that of the tiles before. It returns a `Carried`, for
/// - `finish<IsFull>(share, carried, has_warp_prefix, warp_prefix)`, with the sum of all before the
///   warp. After that the stage is free. Only the first thread of all may have nothing before it;
/// - `finish_all(total)`, by one thread, with the sum of everything, if it `has_total`;
/// - `scan_head(items, prefix, sum)`, by one thread, if it `may_have_head`: finishes the items
///   before the first tile, appends them to `prefix`, and adds them up.
///
/// Source: the roles and the lag were found by measurement; bulk copies with barriers as in the
/// CUDA programming guide.
template <class Work>
class AgentRing {
  using Sum = typename Work::Sum;
  using Carried = typename Work::Carried;
  using Sums = wave_sums<Sum>;
  static constexpr int scanning_threads = Work::scanning_threads;
  static constexpr int scanning_warps = scanning_threads / warp_threads;
  static constexpr unsigned stages = static_cast<unsigned>(Work::stages);
  static constexpr unsigned lag = static_cast<unsigned>(Work::lag);
  static constexpr int thread_items = Work::thread_items;
  static constexpr int warp_items = warp_threads * thread_items;
  // Rounds between the fold of a tile and the use of its sums, and two more for those who read.
  static constexpr unsigned slots = lag + 2;

  // not for users: the policies' rows are checked where they are read
  static_assert(scanning_threads % warp_threads == 0 && scanning_warps <= warp_threads,
                "a multiple of 32 threads scans, at most 1024");
  // not for users: as above
  static_assert(lag >= 1 && lag <= Sums::max_lag && stages > lag,
                "a ring's lag must be 1 or 2, and there must be more stages");

 public:
  static constexpr int tile_items = scanning_threads * thread_items;
  static constexpr int block_threads =
      scanning_threads + warp_threads * (Work::loading_warps + 2);
  static constexpr int blocks_per_multiprocessor = Work::blocks_per_multiprocessor;
  static constexpr std::size_t dynamic_shared_bytes =
      static_cast<std::size_t>(stages) * static_cast<std::size_t>(Work::stage_bytes);

  struct TempStorage {
    platform::mbarrier full[stages];
    platform::mbarrier empty[stages];
    platform::mbarrier folded[slots];
    platform::mbarrier prefixed[slots];
    Uninitialized<Sum> sum_of_warp[slots][scanning_warps];
    Uninitialized<Sum> prefix_of_warp[slots][scanning_warps];
    Uninitialized<Sum> head;  // of block 0: what comes before the first tile, with the init
    Uninitialized<Sum> head_sum;
  };

  STRATA_D AgentRing(TempStorage& storage, unsigned char* stages_in_shared_memory, Work& work,
                     const ring_shape& input, const wave_sums_arguments& exchange)
      : storage_(storage),
        stages_(stages_in_shared_memory),
        work_(work),
        input_(input),
        sums_(exchange, blockIdx.x, gridDim.x) {}

  STRATA_D void run() {
    const int warp = static_cast<int>(threadIdx.x) / warp_threads;
    if (threadIdx.x == 0) prepare();
    __syncthreads();
    // The block's tiles.
    const auto count = static_cast<unsigned>(
        blockIdx.x < input_.tiles ? (input_.tiles - blockIdx.x - 1) / gridDim.x + 1 : 0);
    if (warp < scanning_warps) {
      scan_tiles(warp, count);
    } else if (warp < scanning_warps + Work::loading_warps) {
      load_tiles(count);
    } else if (warp == scanning_warps + Work::loading_warps) {
      publish_sums(count);
    } else {
      gather_prefixes(count);
    }
  }

 private:
  STRATA_D void prepare() {
    for (unsigned s = 0; s < stages; ++s) {
      storage_.full[s].init(Work::loading_warps * warp_threads);
      storage_.empty[s].init(scanning_threads);
    }
    for (unsigned s = 0; s < slots; ++s) {
      storage_.folded[s].init(scanning_warps);
      // By who gathers prefixes; and by who publishes, as the sums that it read may be overwritten.
      storage_.prefixed[s].init(gridDim.x > 1 ? 2 * warp_threads : warp_threads);
    }
    platform::fence_mbarrier_init();
    if constexpr (Work::may_have_head) {
      if (blockIdx.x != 0) return;
      Sum prefix{}, sum{};
      if constexpr (Work::has_initial_value) prefix = work_.initial_value();
      work_.scan_head(input_.head_items, prefix, sum);
      storage_.head.Alias() = prefix;
      storage_.head_sum.Alias() = sum;
    }
  }

  STRATA_D unsigned head_items() const { return Work::may_have_head ? input_.head_items : 0; }
  // Of the blocks with the most tiles.
  STRATA_D unsigned rounds() const {
    return static_cast<unsigned>((input_.tiles - 1) / gridDim.x) + 1;
  }
  STRATA_D std::size_t first_item(unsigned round) const {
    return (static_cast<std::size_t>(round) * gridDim.x + blockIdx.x) * tile_items;
  }
  STRATA_D bool is_last_of_all(unsigned round) const {
    return first_item(round) + tile_items >= input_.num_items - head_items();
  }
  // Items of the block's tile that there are.
  STRATA_D int valid_items(unsigned round) const {
    const std::size_t left = input_.num_items - head_items() - first_item(round);
    return left < tile_items ? static_cast<int>(left) : tile_items;
  }
  STRATA_D static int within(int count, int first, int most) {
    const int left = count - first;
    return left < 0 ? 0 : left < most ? left : most;
  }
  STRATA_D unsigned char* stage(unsigned round) const {
    return stages_ + static_cast<std::size_t>(round % stages) * Work::stage_bytes;
  }
  template <bool IsFull>
  STRATA_D ring_share share(unsigned round, int warp) const {
    const int lane = static_cast<int>(platform::lane_id());
    const int of_warp =
        IsFull ? warp_items : within(valid_items(round), warp * warp_items, warp_items);
    const int of_thread = IsFull ? thread_items : within(of_warp, lane * thread_items, thread_items);
    return {stage(round), first_item(round), warp, lane, of_warp, of_thread};
  }

  // ------------------------------------------------------------------ the loading warps
  STRATA_D void load_tiles(unsigned count) {
    for (unsigned round = 0; round < count; ++round) {
      const unsigned s = round % stages;
      if (round >= stages) storage_.empty[s].wait((round / stages - 1) % 2);
      work_.load(stage(round), storage_.full[s], first_item(round), valid_items(round));
    }
  }

  // ------------------------------------------------------------------ the scanning warps
  STRATA_D void scan_tiles(int warp, unsigned count) {
    Carried carried[lag]{};  // of the rounds that wait for their prefix
    for (unsigned round = 0; round < count + lag; ++round) {
      Carried to_carry{};
      if (round < count) {
        const unsigned s = round % stages;
        storage_.full[s].wait(round / stages % 2);
        to_carry = valid_items(round) == tile_items ? fold<true>(round, warp)
                                                    : fold<false>(round, warp);
      }
      if (round >= lag) {
        const unsigned last = round - lag;
        storage_.prefixed[last % slots].wait(last / slots % 2);
        if (valid_items(last) == tile_items) {
          finish<true>(last, warp, carried[0]);
        } else {
          finish<false>(last, warp, carried[0]);
        }
      }
      STRATA_UNROLL
      for (unsigned i = 0; i + 1 < lag; ++i) carried[i] = carried[i + 1];
      carried[lag - 1] = to_carry;
    }
  }

  // Adds up the thread's items, and the warp's.
  template <bool IsFull>
  STRATA_D Carried fold(unsigned round, int warp) {
    const ring_share part = share<IsFull>(round, warp);
    typename Work::Held held;
    const Sum sum = work_.template fold<IsFull>(part, held);
    typename WarpScan<Sum>::TempStorage unused;
    Sum inclusive{}, exclusive{};
    const int lanes = ceiling_divide(part.warp_items, thread_items);
    if constexpr (IsFull) {
      WarpScan<Sum>(unused).Scan(sum, inclusive, exclusive, work_.scan_op());
    } else {
      WarpScan<Sum>(unused).ScanPartial(sum, inclusive, exclusive, work_.scan_op(), lanes);
    }
    const int last_lane = IsFull ? warp_threads - 1 : lanes - 1;
    if (part.lane == (last_lane > 0 ? last_lane : 0)) {
      if (IsFull || part.warp_items > 0) {
        storage_.sum_of_warp[round % slots][warp].Alias() = inclusive;
      }
      storage_.folded[round % slots].arrive();
    }
    return work_.template settle<IsFull>(part, held, exclusive);
  }

  template <bool IsFull>
  STRATA_D void finish(unsigned round, int warp, const Carried& carried) {
    const ring_share part = share<IsFull>(round, warp);
    const bool has_warp_prefix =
        Work::has_initial_value || round > 0 || blockIdx.x > 0 || warp > 0 || head_items() > 0;
    Sum prefix{};
    if (has_warp_prefix && (IsFull || part.warp_items > 0)) {
      prefix = storage_.prefix_of_warp[round % slots][warp].Alias();
    }
    work_.template finish<IsFull>(part, carried, has_warp_prefix, prefix);
    platform::fence_before_bulk_copy();
    storage_.empty[round % stages].arrive();
  }

  // ------------------------------------------------------------------ sums and prefixes
  STRATA_D Sum combine(const Sum& a, const Sum& b) const {
    return static_cast<Sum>(work_.scan_op()(a, b));
  }

  // The sums of the scanning warps up to each; lanes of others have none. Returns their number.
  STRATA_D int scan_warps(unsigned round, Sum& inclusive, Sum& exclusive) {
    const int lane = static_cast<int>(platform::lane_id());
    const int warps = ceiling_divide(valid_items(round), warp_items);
    Sum sum{};
    if (lane < warps) sum = storage_.sum_of_warp[round % slots][lane].Alias();
    typename WarpScan<Sum>::TempStorage unused;
    WarpScan<Sum>(unused).ScanPartial(sum, inclusive, exclusive, work_.scan_op(), warps);
    return warps;
  }

  STRATA_D void publish_sums(unsigned count) {
    if (gridDim.x == 1) return;
    const int lane = static_cast<int>(platform::lane_id());
    for (unsigned round = 0; round < count; ++round) {
      storage_.folded[round % slots].wait(round / slots % 2);
      Sum inclusive{}, exclusive{};
      const int warps = scan_warps(round, inclusive, exclusive);
      // Nobody reads the sum of the last tile, so it must not lie about when the tags are taken
      // away.
      if (!is_last_of_all(round) && lane == warps - 1) {
        if constexpr (Work::may_have_head) {
          if (round == 0 && blockIdx.x == 0 && head_items() > 0) {
            inclusive = combine(storage_.head_sum.Alias(), inclusive);
          }
        }
        sums_.publish(round, inclusive);
      }
      storage_.prefixed[round % slots].arrive();
    }
  }

  STRATA_D void gather_prefixes(unsigned count) {
    const int lane = static_cast<int>(platform::lane_id());
    Sum prefix{};  // of the tile, in all lanes
    bool has_prefix;
    const auto begin_with_initial_value = [&] {
      has_prefix = Work::has_initial_value;
      if constexpr (Work::has_initial_value) prefix = work_.initial_value();
    };
    begin_with_initial_value();
    const bool after_head = blockIdx.x == 0 && head_items() > 0;
    if (after_head) {
      prefix = storage_.head.Alias();
      has_prefix = true;
    }
    typename WarpScan<Sum>::TempStorage unused;
    for (unsigned round = 0; round < count; ++round) {
      // The sums of others are of no use before the block's own.
      storage_.folded[round % slots].wait(round / slots % 2);
      if (gridDim.x > 1 && sums_.tiles_before(round) > 0) {
        // The head is in the sum of the first tile.
        if (after_head && round == 1) begin_with_initial_value();
        const Sum between =
            WarpScan<Sum>(unused).Broadcast(sums_.sum_before(round, work_.scan_op()), 0);
        prefix = has_prefix ? combine(prefix, between) : between;
        has_prefix = true;
      }
      Sum inclusive{}, exclusive{};
      const int warps = scan_warps(round, inclusive, exclusive);
      if (lane < warps) {
        Sum of_warp = prefix;
        if (lane > 0) of_warp = has_prefix ? combine(prefix, exclusive) : exclusive;
        storage_.prefix_of_warp[round % slots][lane].Alias() = of_warp;
      }
      storage_.prefixed[round % slots].arrive();
      if constexpr (Work::has_total) {
        if (lane == warps - 1 && is_last_of_all(round)) {
          work_.finish_all(has_prefix ? combine(prefix, inclusive) : inclusive);
        }
      }
      if (gridDim.x == 1) {
        const Sum sum =
            WarpScan<Sum>(unused).Broadcast(inclusive, static_cast<unsigned>(warps - 1));
        prefix = has_prefix ? combine(prefix, sum) : sum;
        has_prefix = true;
      }
    }
    if (!sums_.must_be_erased(rounds())) return;
    unsigned long long departures = 0;
    if (lane == 0) departures = sums_.leave();
    if (__any_sync(full_warp_mask, departures == gridDim.x) != 0) {
      sums_.erase(static_cast<unsigned>(lane), warp_threads, rounds());
    }
  }

  TempStorage& storage_;
  unsigned char* stages_;
  Work& work_;
  const ring_shape& input_;
  Sums sums_;
};

}  // namespace detail
STRATA_NAMESPACE_END
