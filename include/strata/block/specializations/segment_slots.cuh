// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/detail/standard.hpp>
#include <strata/core/macros.hpp>
#include <strata/core/operators.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/warp/warp_reduce.cuh>
#include <strata/warp/warp_scan.cuh>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The items of one thread: part number `owner` of a segment, which has the indices [begin, end) of the tile.
struct segment_slot {
  int begin;
  int end;
  int owner;
  int items;
  int items_per_thread;

  STRATA_D int local_begin() const { return begin + owner * items_per_thread; }
  /// True if the run of 2^level owners to which this one belongs is stored in descending order: if it is the second of
  /// a pair, or the last of several runs of its segment, which becomes the second of a pair later.
  STRATA_D bool descends(int level) const {
    const int run = owner >> level;
    return run != 0 && ((run & 1) != 0 || begin + (((run + 1) << level) * items_per_thread) >= end);
  }
};

/// Assigns the threads of a block to segments. Segments have the order of the threads that pass them to `plan`. Each
/// segment begins with a thread of its own.
template <int BlockThreads, int ItemsPerThread>
struct segment_slots {
  static constexpr int warps = BlockThreads / warp_threads;

  struct storage {
    long long offsets[BlockThreads];  // what was passed to `plan` with each segment
    int begins[BlockThreads];
    int lengths[BlockThreads];
    unsigned short first_threads[BlockThreads];
    unsigned heads[warps];  // bit i: thread i of the warp owns the first items of a segment
    unsigned warp_slots[warps];
    int warp_items[warps];
    unsigned max_owners;  // bitwise or of (number of owners - 1) of all segments
    int taken;            // segments of the first warp that fit, empty ones included
  };

  /// All threads call this. Threads from `count` on pass an empty segment. Returns how many segments fit: the first
  /// ones, up to the first for which too few threads are left. Empty segments are counted, too, so the number may
  /// exceed `count`.
  STRATA_D static int plan(storage& memory, int thread, int length, long long offset, int count) {
    const int warp = thread / warp_threads, lane = thread % warp_threads;
    if (count <= warp_threads) {
      // One warp has all segments: the other warps have nothing to do.
      if (warp == 0) {
        if (lane < warps) memory.heads[lane] = 0;
        __syncwarp();
        const sums local = sums::of(length);
        const bool fits = write(memory, local, scan(local), length, offset);
        const unsigned others = warp_or(fits && length > 0 ? local.slots() - 1 : 0);
        const unsigned taken = __ballot_sync(full_warp_mask, fits);
        if (lane == 0) {
          memory.max_owners = others;
          memory.taken = __popc(taken);
        }
      }
      __syncthreads();
      return memory.taken;
    }
    if (thread < warps) memory.heads[thread] = 0;
    if (thread == 0) memory.max_owners = 0;
    const sums local = sums::of(length);
    sums total = scan(local);
    if (lane == warp_threads - 1) {
      memory.warp_slots[warp] = total.slots_and_segments;
      memory.warp_items[warp] = total.items;
    }
    __syncthreads();
    STRATA_UNROLL
    for (int w = 0; w < warps - 1; ++w) {
      if (w < warp) total = total + sums{memory.warp_slots[w], memory.warp_items[w]};
    }
    const bool fits = write(memory, local, total, length, offset);
    const unsigned others = warp_or(fits && length > 0 ? local.slots() - 1 : 0);
    if (lane == 0 && others != 0) atomicOr(&memory.max_owners, others);
    return __syncthreads_count(fits);
  }

  /// Returns the number of segments with items.
  STRATA_D static int segments(const storage& memory) {
    int count = 0;
    STRATA_UNROLL
    for (int w = 0; w < warps; ++w) count += __popc(memory.heads[w]);
    return count;
  }

  STRATA_D static int items(const storage& memory) {
    const int count = segments(memory);
    return count > 0 ? memory.begins[count - 1] + memory.lengths[count - 1] : 0;
  }

  /// Returns the number of levels of merges that the longest segment needs.
  STRATA_D static int levels(const storage& memory) {
    const unsigned owners = memory.max_owners;
    return owners == 0 ? 0 : 32 - __clz(static_cast<int>(owners));
  }

  /// Returns how many levels, from the first on, merge only runs of one warp's threads. This is the largest n up to 5
  /// for which all segments begin with threads whose numbers are multiples of 2^n.
  STRATA_D static int warp_levels(const storage& memory) {
    unsigned heads = 0;
    STRATA_UNROLL
    for (int w = 0; w < warps; ++w) heads |= memory.heads[w];
    int levels = 0;
    for (const unsigned multiples : {0x55555555u, 0x11111111u, 0x01010101u, 0x00010001u, 1u}) {
      if ((heads & ~multiples) == 0) ++levels;
    }
    return levels;
  }

  STRATA_D static segment_slot slot_of(const storage& memory, int thread, int origin) {
    const int warp = thread / warp_threads, lane = thread % warp_threads;
    int segment = __popc(memory.heads[warp] & (full_warp_mask >> (warp_threads - 1 - lane))) - 1;
    STRATA_UNROLL
    for (int w = 0; w < warps - 1; ++w) {
      if (w < warp) segment += __popc(memory.heads[w]);
    }
    segment_slot slot{origin, origin, 0, 0, ItemsPerThread};
    if (segment < 0) return slot;
    slot.begin += memory.begins[segment];
    slot.end = slot.begin + memory.lengths[segment];
    slot.owner = thread - static_cast<int>(memory.first_threads[segment]);
    const int left = slot.end - slot.local_begin();
    slot.items = left < 0 ? 0 : detail::least(left, ItemsPerThread);
    return slot;
  }

 private:
  /// What some segments need together.
  struct sums {
    // The number of slots and the number of segments with items, in one word. Up to 1024 threads pass a segment of up
    // to 1024 slots each, so the number of slots is below 2^21.
    static constexpr int count_shift = 21;
    unsigned slots_and_segments;
    int items;

    STRATA_D static sums of(int length) {
      return {
          static_cast<unsigned>((length + ItemsPerThread - 1) / ItemsPerThread) | (length > 0 ? 1u << count_shift : 0u),
          length};
    }
    STRATA_D unsigned slots() const { return slots_and_segments & ((1u << count_shift) - 1); }
    STRATA_D unsigned segments() const { return slots_and_segments >> count_shift; }
    STRATA_D friend sums operator+(const sums& a, const sums& b) {
      return {a.slots_and_segments + b.slots_and_segments, a.items + b.items};
    }
  };

  /// The sums of the lanes up to this one.
  STRATA_D static sums scan(const sums& local) {
    typename WarpScan<sums>::TempStorage unused;
    sums total;
    WarpScan<sums>(unused).InclusiveSum(local, total);
    return total;
  }
  /// The result is valid in lane 0.
  STRATA_D static unsigned warp_or(unsigned value) {
    typename WarpReduce<unsigned>::TempStorage unused;
    return WarpReduce<unsigned>(unused).Reduce(value, BitOr{});
  }

  /// Writes where a segment is, given the sums up to it. Returns false if no owners are left for it.
  STRATA_D static bool write(storage& memory, const sums& local, const sums& up_to, int length, long long offset) {
    const unsigned end = up_to.slots();
    if (end > unsigned{BlockThreads}) return false;
    if (length > 0) {
      const unsigned segment = up_to.segments() - 1, first_thread = end - local.slots();
      memory.offsets[segment] = offset;
      memory.begins[segment] = up_to.items - length;
      memory.lengths[segment] = length;
      memory.first_threads[segment] = static_cast<unsigned short>(first_thread);
      atomicOr(&memory.heads[first_thread / warp_threads], 1u << (first_thread % warp_threads));
    }
    return true;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
