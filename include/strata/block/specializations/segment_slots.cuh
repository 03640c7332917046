// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The items that a thread owns: a stretch of a segment [begin, end) of the tile, of which it is the
/// owner number `owner`.
struct segment_slot {
  int begin;
  int end;
  int owner;
  int items;
  int items_per_thread;

  STRATA_D int own_begin() const { return begin + owner * items_per_thread; }
  /// Whether the run of 2^level owners to which this one belongs is to be stored falling: it is the
  /// second of a pair, or the last, which will be the second of a pair at some higher level.
  STRATA_D bool falls(int level) const {
    const int run = owner >> level;
    return run != 0 &&
           ((run & 1) != 0 || begin + (((run + 1) << level) * items_per_thread) >= end);
  }
};

/// Which thread of a block owns what: segments in the order of those who bring them, each from a thread
/// of its own on.
template <int BlockThreads, int ItemsPerThread>
struct segment_slots {
  static constexpr int warps = BlockThreads / warp_threads;

  struct storage {
    long long places[BlockThreads];
    int begins[BlockThreads];
    int lengths[BlockThreads];
    unsigned short first_threads[BlockThreads];
    // A bit for each thread that owns a segment's first items.
    unsigned heads[warps];
    unsigned warp_slots[warps];
    int warp_items[warps];
    unsigned most_owners;  // or of all numbers of owners less one
    int taken;             // of a warp's segments
  };

  /// By all threads, of which the first `count` or more have a segment each, the others an empty one.
  /// Returns how many of the threads' segments, the first ones, have owners, at least.
  STRATA_D static int plan(storage& memory, int thread, int length, long long place, int count) {
    const int warp = thread / warp_threads, lane = thread % warp_threads;
    if (count <= warp_threads) {
      // All segments are those of one warp: the others have nothing to do.
      if (warp == 0) {
        if (lane < warps) memory.heads[lane] = 0;
        __syncwarp();
        sums total(length);
        const sums own = total;
        total.scan(lane);
        const bool fits = put(memory, own, total, length, place);
        const unsigned others = warp_or(fits && length > 0 ? own.slots() - 1 : 0);
        const unsigned taken = __ballot_sync(full_warp_mask, fits);
        if (lane == 0) {
          memory.most_owners = others;
          memory.taken = __popc(taken);
        }
      }
      __syncthreads();
      return memory.taken;
    }
    if (thread < warps) memory.heads[thread] = 0;
    if (thread == 0) memory.most_owners = 0;
    sums total(length);
    const sums own = total;
    total.scan(lane);
    if (lane == warp_threads - 1) {
      memory.warp_slots[warp] = total.slots_and_segments;
      memory.warp_items[warp] = total.items;
    }
    __syncthreads();
    STRATA_UNROLL
    for (int w = 0; w < warps - 1; ++w) {
      if (w < warp) {
        total.slots_and_segments += memory.warp_slots[w];
        total.items += memory.warp_items[w];
      }
    }
    const bool fits = put(memory, own, total, length, place);
    const unsigned others = warp_or(fits && length > 0 ? own.slots() - 1 : 0);
    if (lane == 0 && others != 0) atomicOr(&memory.most_owners, others);
    return __syncthreads_count(fits);
  }

  /// Segments with items.
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

  STRATA_D static int levels(const storage& memory) {
    const unsigned most = memory.most_owners;
    return most == 0 ? 0 : 32 - __clz(static_cast<int>(most));
  }

  /// Levels of merges each of whose pairs of runs is owned by threads of one warp: if the first threads of
  /// all segments are multiples of 2^n, n of them.
  STRATA_D static int levels_of_warps(const storage& memory) {
    // Lanes that are first ones.
    unsigned any = 0;
    STRATA_UNROLL
    for (int w = 0; w < warps; ++w) any |= memory.heads[w];
    int levels = 0;
    for (const unsigned multiples : {0x55555555u, 0x11111111u, 0x01010101u, 0x00010001u, 1u}) {
      if ((any & ~multiples) == 0) ++levels;
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
    const int left = slot.end - slot.own_begin();
    slot.items = left < 0 ? 0 : left < ItemsPerThread ? left : ItemsPerThread;
    return slot;
  }

 private:
  /// What some segments need together.
  struct sums {
    // Numbers of slots, below 2^21 for up to 1024 threads, and of segments with items, in one word.
    static constexpr int count_shift = 21;
    unsigned slots_and_segments;
    int items;

    STRATA_D explicit sums(int length)
        : slots_and_segments(
              static_cast<unsigned>((length + ItemsPerThread - 1) / ItemsPerThread) |
              (length > 0 ? 1u << count_shift : 0u)),
          items(length) {}
    STRATA_D unsigned slots() const { return slots_and_segments & ((1u << count_shift) - 1); }
    STRATA_D unsigned segments() const { return slots_and_segments >> count_shift; }
    /// Of the lanes up to this one.
    STRATA_D void scan(int lane) {
      STRATA_UNROLL
      for (unsigned distance = 1; distance < warp_threads; distance *= 2) {
        const unsigned other = __shfl_up_sync(full_warp_mask, slots_and_segments, distance);
        const int other_items = __shfl_up_sync(full_warp_mask, items, distance);
        if (lane >= static_cast<int>(distance)) {
          slots_and_segments += other;
          items += other_items;
        }
      }
    }
  };

  /// Writes where a segment is, given all up to it; false if there are no owners left for it.
  STRATA_D static bool put(storage& memory, const sums& own, const sums& up_to, int length,
                           long long place) {
    const unsigned end = up_to.slots();
    if (end > unsigned{BlockThreads}) return false;
    if (length > 0) {
      const unsigned segment = up_to.segments() - 1, first_thread = end - own.slots();
      memory.places[segment] = place;
      memory.begins[segment] = up_to.items - length;
      memory.lengths[segment] = length;
      memory.first_threads[segment] = static_cast<unsigned short>(first_thread);
      atomicOr(&memory.heads[first_thread / warp_threads], 1u << (first_thread % warp_threads));
    }
    return true;
  }

  STRATA_D static unsigned warp_or(unsigned value) {
    if constexpr (platform::has_redux) {
      return platform::redux_or(full_warp_mask, value);
    } else {
      STRATA_UNROLL
      for (int distance = 1; distance < warp_threads; distance *= 2) {
        value |= __shfl_xor_sync(full_warp_mask, value, distance);
      }
      return value;
    }
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
