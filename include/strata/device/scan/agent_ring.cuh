// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/bank_conflicts.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/platform_bulk_copy.cuh>
#include <strata/core/shared_layout.hpp>
#include <strata/core/types.hpp>
#include <strata/device/scan/initial_value.cuh>
#include <strata/device/scan/tuning.hpp>
#include <strata/device/scan/wave_sums.cuh>
#include <strata/warp/warp_scan.cuh>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// An array from its first 16-byte boundary on is cut into tiles; `head_items` come before it.
struct scan_ring_shape {
  std::size_t num_items;
  std::size_t tiles;
  unsigned head_items;
};

/// Scans long inputs, whose items and sums have 1, 2, 4, 8 or 16 bytes, at the speed of memory.
///
/// Tiles come into a ring of stages in shared memory, so that bytes are on their way all the time,
/// whatever the scanning threads do. Warps have roles, and a barrier in shared memory for each thing
/// that one role hands to another; nowhere does the whole block wait:
///
/// - *scanning warps* fold a tile, of which each thread has neighbouring vectors of 16 bytes; `lag`
///   rounds later, when the prefix has come, they scan it in place and store it;
/// - the *loading warp* starts a bulk copy when a stage is free; of an input that is no array, or
///   has another size than the output, several *loading warps* read items, and stages hold sums;
/// - the *publishing warp* adds up the warps' sums and tells the other blocks;
/// - the *prefix warp* gathers the sums of the tiles in between, and hands each scanning warp what
///   comes before it.
///
/// The lag hides the time from a block's own sum to everybody's. A thread's number of vectors is
/// odd, so that the accesses of 16 bytes have no bank conflicts without padding.
///
/// Source: the roles and the lag were found by measurement; bulk copies with barriers as in the
/// CUDA programming guide.
template <class Policy, bool UsesBulkCopies, class InputIterator, class OutputIterator, class AccumT,
          class ScanOp, bool IsInclusive, class InitT>
class AgentScanRing {
  static constexpr scan_ring_tuning tuning = Policy::ring;
  using OutputValue = output_value_t<OutputIterator, AccumT>;
  // What stages hold, before and after.
  using InputT = std::conditional_t<UsesBulkCopies, iterator_value_t<InputIterator>, AccumT>;
  using OutputT = std::conditional_t<UsesBulkCopies, OutputValue, AccumT>;
  static constexpr int scanning_threads = tuning.scanning_threads;
  static constexpr int scanning_warps = scanning_threads / warp_threads;
  static constexpr int vectors = tuning.vectors_per_thread;
  static constexpr unsigned stages = static_cast<unsigned>(tuning.stages);
  static constexpr unsigned lag = static_cast<unsigned>(tuning.lag);
  static constexpr int width = static_cast<int>(16 / sizeof(InputT));  // items of a vector
  static constexpr int thread_items = vectors * width;
  static constexpr int warp_items = warp_threads * thread_items;
  static constexpr int loading_warps = UsesBulkCopies ? 1 : tuning.item_loading_warps;
  static constexpr int loading_threads = loading_warps * warp_threads;
  static constexpr bool has_initial_value = !std::is_same_v<InitT, NullType>;
  // Rounds between the fold of a tile and the use of its sums, and two more for those who read.
  static constexpr unsigned slots = lag + 2;
  using Sums = wave_sums<AccumT>;

  // not for users: DispatchScan sees to it
  static_assert(sizeof(InputT) == sizeof(OutputT) && 16 % sizeof(InputT) == 0,
                "results take the places of items");
  static_assert(scanning_threads % warp_threads == 0 && scanning_warps <= warp_threads,
                "scan_ring_tuning::scanning_threads must be a multiple of 32, at most 1024");
  static_assert(vectors % 2 == 1, "scan_ring_tuning::vectors_per_thread must be odd: an even number"
                                  " of vectors has bank conflicts");
  // not for users: the model must say the same
  static_assert(conflict_degree(PlainLayout{}, blocked_access<16, vectors>{}) == 1,
                "the scanning threads' vectors have bank conflicts");
  static_assert(lag >= 1 && lag <= Sums::max_lag && stages > lag,
                "scan_ring_tuning::lag must be 1 or 2, and there must be more stages");
  // not for users: DeviceScan sees to it
  static_assert(IsInclusive || has_initial_value, "an exclusive scan begins with something");

  template <class Iterator>
  using difference_of = typename std::iterator_traits<Iterator>::difference_type;

  struct vector {
    uint4 words;

    template <class T>
    STRATA_D void get(T (&items)[width]) const {
      memcpy(static_cast<void*>(items), &words, 16);
    }
    template <class T>
    STRATA_D void set(const T (&items)[width]) {
      memcpy(&words, static_cast<const void*>(items), 16);
    }
  };

 public:
  static constexpr int tile_items = scanning_threads * thread_items;
  static constexpr int tile_bytes = scanning_threads * vectors * 16;
  static constexpr int block_threads = scan_ring_threads(tuning, UsesBulkCopies);
  static constexpr std::size_t dynamic_shared_bytes =
      static_cast<std::size_t>(stages) * static_cast<std::size_t>(tile_bytes);

  struct TempStorage {
    platform::mbarrier full[stages];
    platform::mbarrier empty[stages];
    platform::mbarrier folded[slots];
    platform::mbarrier prefixed[slots];
    Uninitialized<AccumT> sum_of_warp[slots][scanning_warps];
    Uninitialized<AccumT> prefix_of_warp[slots][scanning_warps];
    Uninitialized<AccumT> head;  // of block 0: what comes before the first tile, with the init
    Uninitialized<AccumT> head_sum;
  };

  STRATA_D AgentScanRing(TempStorage& storage, unsigned char* stages_in_shared_memory,
                         InputIterator d_in, OutputIterator d_out, const scan_ring_shape& input,
                         ScanOp scan_op, const InitT& init, const typename Sums::arguments& exchange)
      : storage_(storage),
        stages_(stages_in_shared_memory),
        in_(d_in + static_cast<difference_of<InputIterator>>(input.head_items)),
        out_(d_out + static_cast<difference_of<OutputIterator>>(input.head_items)),
        input_(input),
        scan_op_(scan_op),
        init_(init),
        sums_(exchange, blockIdx.x, gridDim.x) {}

  STRATA_D void scan() {
    const int warp = static_cast<int>(threadIdx.x) / warp_threads;
    if (threadIdx.x == 0) prepare();
    __syncthreads();
    // The block's tiles.
    const auto count = static_cast<unsigned>(
        blockIdx.x < input_.tiles ? (input_.tiles - blockIdx.x - 1) / gridDim.x + 1 : 0);
    if (warp < scanning_warps) {
      scan_tiles(warp, count);
    } else if (warp < scanning_warps + loading_warps) {
      load_tiles(count);
    } else if (warp == scanning_warps + loading_warps) {
      publish_sums(count);
    } else {
      gather_prefixes(count);
    }
  }

 private:
  STRATA_D void prepare() {
    for (unsigned s = 0; s < stages; ++s) {
      storage_.full[s].init(loading_threads);
      storage_.empty[s].init(scanning_threads);
    }
    for (unsigned s = 0; s < slots; ++s) {
      storage_.folded[s].init(scanning_warps);
      // By who gathers prefixes; and by who publishes, as the sums that it read may be overwritten.
      storage_.prefixed[s].init(gridDim.x > 1 ? 2 * warp_threads : warp_threads);
    }
    platform::fence_mbarrier_init();
    if (blockIdx.x != 0) return;
    // The items before the first boundary, at most 15.
    AccumT prefix{}, sum{};
    bool has_prefix = has_initial_value;
    if constexpr (has_initial_value) prefix = initial_value<AccumT>(init_);
    if constexpr (UsesBulkCopies) {
      for (unsigned i = 0; i < input_.head_items; ++i) {
        const std::ptrdiff_t place = static_cast<std::ptrdiff_t>(i) - input_.head_items;
        const AccumT item = static_cast<AccumT>(in_[place]);
        sum = i > 0 ? combine(sum, item) : item;
        const AccumT next = has_prefix ? combine(prefix, item) : item;
        out_[place] = static_cast<OutputT>(IsInclusive ? next : prefix);
        prefix = next;
        has_prefix = true;
      }
    }
    storage_.head.Alias() = prefix;
    storage_.head_sum.Alias() = sum;
  }

  STRATA_D AccumT combine(const AccumT& a, const AccumT& b) {
    return static_cast<AccumT>(scan_op_(a, b));
  }

  // Of the blocks with the most tiles.
  STRATA_D unsigned rounds() const {
    return static_cast<unsigned>((input_.tiles - 1) / gridDim.x) + 1;
  }
  STRATA_D std::size_t first_item(unsigned round) const {
    return (static_cast<std::size_t>(round) * gridDim.x + blockIdx.x) * tile_items;
  }
  // Items of the block's tile that there are.
  STRATA_D int valid_items(unsigned round) const {
    const std::size_t left = input_.num_items - input_.head_items - first_item(round);
    return left < tile_items ? static_cast<int>(left) : tile_items;
  }
  STRATA_D static int within(int count, int first, int most) {
    const int left = count - first;
    return left < 0 ? 0 : left < most ? left : most;
  }

  // ------------------------------------------------------------------ the loading warps
  STRATA_D void load_tiles(unsigned count) {
    for (unsigned round = 0; round < count; ++round) {
      const unsigned s = round % stages;
      if (round >= stages) storage_.empty[s].wait((round / stages - 1) % 2);
      auto* const stage = reinterpret_cast<InputT*>(stages_ + static_cast<std::size_t>(s) *
                                                                  tile_bytes);
      if constexpr (UsesBulkCopies) {
        copy_tile(stage, storage_.full[s], in_ + first_item(round), valid_items(round));
      } else {
        load_items(stage, static_cast<difference_of<InputIterator>>(first_item(round)),
                   valid_items(round));
        storage_.full[s].arrive();
      }
    }
  }

  STRATA_D void copy_tile(InputT* stage, platform::mbarrier& full, const InputT* from, int valid) {
    const int lane = static_cast<int>(platform::lane_id());
    const unsigned bytes = static_cast<unsigned>(valid) * unsigned{sizeof(InputT)} / 16 * 16;
    // Items behind the last boundary.
    const int whole = valid / width * width;
    if (whole + lane < valid) stage[whole + lane] = from[whole + lane];
    if (lane == 0) {
      full.arrive_and_expect(bytes);
      if (bytes > 0) full.copy(stage, from, bytes);
    } else {
      full.arrive();
    }
  }

  STRATA_D void load_items(InputT* stage, difference_of<InputIterator> first, int valid) {
    // Of a thread, under way together.
    constexpr int at_once = sizeof(InputT) <= 4 ? 16 : static_cast<int>(64 / sizeof(InputT));
    const int thread = static_cast<int>(threadIdx.x) - scanning_threads;
    for (int begin = thread; begin < valid; begin += at_once * loading_threads) {
      InputT items[at_once];
      STRATA_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const int place = begin + i * loading_threads;
        if (place < valid) items[i] = static_cast<InputT>(in_[first + place]);
      }
      STRATA_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const int place = begin + i * loading_threads;
        if (place < valid) stage[place] = items[i];
      }
    }
  }

  // ------------------------------------------------------------------ the scanning warps
  STRATA_D void scan_tiles(int warp, unsigned count) {
    AccumT below[lag]{};  // of the lanes below in the warp, of the rounds that wait for their prefix
    for (unsigned round = 0; round < count + lag; ++round) {
      AccumT sum_below{};
      if (round < count) {
        const unsigned s = round % stages;
        storage_.full[s].wait(round / stages % 2);
        sum_below = valid_items(round) == tile_items ? fold<true>(round, warp)
                                                     : fold<false>(round, warp);
      }
      if (round >= lag) {
        const unsigned last = round - lag;
        storage_.prefixed[last % slots].wait(last / slots % 2);
        if (valid_items(last) == tile_items) {
          finish<true>(last, warp, below[0]);
        } else {
          finish<false>(last, warp, below[0]);
        }
      }
      STRATA_UNROLL
      for (unsigned i = 0; i + 1 < lag; ++i) below[i] = below[i + 1];
      below[lag - 1] = sum_below;
    }
  }

  STRATA_D vector* vectors_of_warp(unsigned round, int warp) const {
    return reinterpret_cast<vector*>(stages_ +
                                     static_cast<std::size_t>(round % stages) * tile_bytes) +
           warp * warp_threads * vectors;
  }

  // Adds up the thread's items, and the warp's; returns the sum of the lanes below.
  template <bool IsFull>
  STRATA_D AccumT fold(unsigned round, int warp) {
    const int lane = static_cast<int>(platform::lane_id());
    const vector* const from = vectors_of_warp(round, warp) + lane * vectors;
    const int of_warp =
        IsFull ? warp_items : within(valid_items(round), warp * warp_items, warp_items);
    const int of_thread = IsFull ? thread_items : within(of_warp, lane * thread_items, thread_items);
    AccumT sum{};
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      if (!IsFull && v * width >= of_thread) break;
      InputT items[width];
      from[v].get(items);
      STRATA_UNROLL
      for (int i = 0; i < width; ++i) {
        if (!IsFull && v * width + i >= of_thread) break;
        const AccumT item = static_cast<AccumT>(items[i]);
        sum = v + i > 0 ? combine(sum, item) : item;
      }
    }
    typename WarpScan<AccumT>::TempStorage unused;
    AccumT inclusive{}, exclusive{};
    if constexpr (IsFull) {
      WarpScan<AccumT>(unused).Scan(sum, inclusive, exclusive, scan_op_);
    } else {
      WarpScan<AccumT>(unused).ScanPartial(sum, inclusive, exclusive, scan_op_,
                                           ceiling_divide(of_warp, thread_items));
    }
    const int last_lane = IsFull ? warp_threads - 1 : ceiling_divide(of_warp, thread_items) - 1;
    if (lane == (last_lane > 0 ? last_lane : 0)) {
      if (IsFull || of_warp > 0) {
        storage_.sum_of_warp[round % slots][warp].Alias() = inclusive;
      }
      storage_.folded[round % slots].arrive();
    }
    return exclusive;
  }

  // Scans the warp's items in place, and stores them.
  template <bool IsFull>
  STRATA_D void finish(unsigned round, int warp, const AccumT& below) {
    const int lane = static_cast<int>(platform::lane_id());
    vector* const of_warp = vectors_of_warp(round, warp);
    const int valid =
        IsFull ? warp_items : within(valid_items(round), warp * warp_items, warp_items);
    const int of_thread = IsFull ? thread_items : within(valid, lane * thread_items, thread_items);

    // Only the first thread of all may have nothing before it.
    const bool has_warp_prefix =
        has_initial_value || round > 0 || blockIdx.x > 0 || warp > 0 || input_.head_items > 0;
    bool has_prefix = has_warp_prefix || lane > 0;
    AccumT prefix{};
    if (has_warp_prefix && (IsFull || valid > 0)) {
      prefix = storage_.prefix_of_warp[round % slots][warp].Alias();
    }
    if (lane > 0 && (IsFull || of_thread > 0)) {
      prefix = has_warp_prefix ? combine(prefix, below) : below;
    }

    vector held[vectors];
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      if (IsFull || v * width < of_thread) held[v] = of_warp[lane * vectors + v];
    }
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      if (!IsFull && v * width >= of_thread) break;
      InputT items[width];
      OutputT results[width];
      held[v].get(items);
      if constexpr (!IsFull) memcpy(static_cast<void*>(results), items, 16);
      STRATA_UNROLL
      for (int i = 0; i < width; ++i) {
        if (!IsFull && v * width + i >= of_thread) break;
        const AccumT item = static_cast<AccumT>(items[i]);
        if constexpr (IsInclusive) {
          prefix = (has_initial_value || v + i > 0 || has_prefix) ? combine(prefix, item) : item;
          results[i] = static_cast<OutputT>(prefix);
        } else {
          results[i] = static_cast<OutputT>(prefix);
          prefix = combine(prefix, item);
        }
      }
      held[v].set(results);
      of_warp[lane * vectors + v] = held[v];
    }
    __syncwarp();
    store(of_warp, static_cast<difference_of<OutputIterator>>(first_item(round)) + warp * warp_items,
          valid);
    platform::fence_before_bulk_copy();
    storage_.empty[round % stages].arrive();
  }

  // The warp's results, neighbouring lanes to neighbouring places.
  STRATA_D void store(const vector* from, difference_of<OutputIterator> first, int count) {
    const int lane = static_cast<int>(platform::lane_id());
    int stored = 0;
    if constexpr (UsesBulkCopies) {
      OutputT* const to = out_ + first;
      if (reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
        const int whole = count / width;
        STRATA_UNROLL
        for (int v = 0; v < vectors; ++v) {
          const int i = v * warp_threads + lane;
          if (i < whole) store_vector(to + i * width, from[i]);
        }
        stored = whole * width;
      }
    }
    STRATA_UNROLL_N(4)
    for (int i = stored + lane; i < count; i += warp_threads) {
      out_[first + i] = static_cast<OutputValue>(reinterpret_cast<const OutputT*>(from)[i]);
    }
  }
  STRATA_D static void store_vector(OutputT* to, const vector& from) {
#if STRATA_HOST_SIMT
    std::memcpy(static_cast<void*>(to), &from, 16);
#else
    *reinterpret_cast<uint4*>(to) = from.words;
#endif
  }

  // ------------------------------------------------------------------ sums and prefixes
  // The sums of the scanning warps up to each; lanes of others have none. Returns their number.
  STRATA_D int scan_warps(unsigned round, AccumT& inclusive, AccumT& exclusive) {
    const int lane = static_cast<int>(platform::lane_id());
    const int warps = ceiling_divide(valid_items(round), warp_items);
    AccumT sum{};
    if (lane < warps) sum = storage_.sum_of_warp[round % slots][lane].Alias();
    typename WarpScan<AccumT>::TempStorage unused;
    WarpScan<AccumT>(unused).ScanPartial(sum, inclusive, exclusive, scan_op_, warps);
    return warps;
  }

  STRATA_D void publish_sums(unsigned count) {
    if (gridDim.x == 1) return;
    const int lane = static_cast<int>(platform::lane_id());
    for (unsigned round = 0; round < count; ++round) {
      storage_.folded[round % slots].wait(round / slots % 2);
      AccumT inclusive{}, exclusive{};
      const int warps = scan_warps(round, inclusive, exclusive);
      // Nobody reads the sum of the last tile, so it must not lie about when the tags are taken away.
      const bool is_read = first_item(round) + tile_items < input_.num_items - input_.head_items;
      if (is_read && lane == warps - 1) {
        const bool after_head = round == 0 && blockIdx.x == 0 && input_.head_items > 0;
        sums_.publish(round, after_head ? combine(storage_.head_sum.Alias(), inclusive)
                                        : inclusive);
      }
      storage_.prefixed[round % slots].arrive();
    }
  }

  STRATA_D void gather_prefixes(unsigned count) {
    const int lane = static_cast<int>(platform::lane_id());
    AccumT prefix{};  // of the tile, in all lanes
    bool has_prefix;
    const auto begin_with_initial_value = [&] {
      has_prefix = has_initial_value;
      if constexpr (has_initial_value) prefix = initial_value<AccumT>(init_);
    };
    begin_with_initial_value();
    const bool after_head = blockIdx.x == 0 && input_.head_items > 0;
    if (after_head) {
      prefix = storage_.head.Alias();
      has_prefix = true;
    }
    typename WarpScan<AccumT>::TempStorage unused;
    for (unsigned round = 0; round < count; ++round) {
      // The sums of others are of no use before the block's own.
      storage_.folded[round % slots].wait(round / slots % 2);
      if (gridDim.x > 1 && sums_.tiles_before(round) > 0) {
        // The head is in the sum of the first tile.
        if (after_head && round == 1) begin_with_initial_value();
        const AccumT between =
            WarpScan<AccumT>(unused).Broadcast(sums_.sum_before(round, scan_op_, NullType{}), 0);
        prefix = has_prefix ? combine(prefix, between) : between;
        has_prefix = true;
      }
      AccumT inclusive{}, exclusive{};
      const int warps = scan_warps(round, inclusive, exclusive);
      if (lane < warps) {
        AccumT of_warp = prefix;
        if (lane > 0) of_warp = has_prefix ? combine(prefix, exclusive) : exclusive;
        storage_.prefix_of_warp[round % slots][lane].Alias() = of_warp;
      }
      storage_.prefixed[round % slots].arrive();
      if (gridDim.x == 1) {
        const AccumT sum =
            WarpScan<AccumT>(unused).Broadcast(inclusive, static_cast<unsigned>(warps - 1));
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
  InputIterator in_;
  OutputIterator out_;
  const scan_ring_shape& input_;
  ScanOp scan_op_;
  const InitT& init_;
  Sums sums_;
};

}  // namespace detail
STRATA_NAMESPACE_END
