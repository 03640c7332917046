// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/segments.cuh>
#include <strata/device/engine/work_queue.cuh>
#include <strata/device/radix_sort/problem.cuh>
#include <strata/device/radix_sort/tuning.hpp>

#include <cstddef>

/// \file
/// The long segments of a call, which many blocks sort by their digits. The kernel that sorts the short segments lists
/// the long ones: the kernel of DeviceSegmentedRadixSort or of DeviceSegmentedSort.
///
///     list       segment 0     segment 1     segment 2         in the order in which blocks have come across them
///     tiles      0 1 2 3 4     5 6 7         8 9 10 11         numbered through all segments of the list
///
/// The order of the list differs from run to run. The results do not: a segment's sort is stable.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Which segments of a call are long, and how many of them and of their tiles there can be.
struct long_segment_limits {
  unsigned long long bound;  // longer segments are long
  std::size_t most_segments;
  std::size_t most_tiles;

  /// One block sorts a segment if its length is at most the greatest of three numbers: the items of two tiles; 1 / 256
  /// of the items of the call, but no more than 2^16; and 1 / 2^16 of the items of the call. While a block sorts a
  /// segment of this length, the other blocks are busy with other segments for about as long. At most 256 segments are
  /// listed, or, if that is more, one for each 2^16 items of the call, but never more than 2^16. `most_segments` and
  /// `most_tiles` never decrease if there are more items, and never increase if tiles are larger.
  static constexpr long_segment_limits of(std::size_t num_items, std::size_t tile_items) {
    constexpr std::size_t part = 256, enough_items = std::size_t{1} << 16;
    const std::size_t two_tiles = 2 * tile_items;
    const std::size_t fair = detail::least(num_items / part, enough_items);
    const std::size_t bound = detail::most(detail::most(two_tiles, fair), num_items / max_segments);
    const std::size_t most = detail::least(
        detail::least(num_items / (two_tiles + 1), detail::most(part, num_items / enough_items)), max_segments);
    return {bound, most, most == 0 ? 0 : num_items / tile_items + most};
  }

  /// Limits by which segments of more than `least_bound` items are long. In large calls the bound is higher, so that no
  /// more than 2^16 segments can be long.
  static constexpr long_segment_limits above(std::size_t least_bound, std::size_t num_items, std::size_t tile_items) {
    const std::size_t bound = detail::most(least_bound, num_items / max_segments);
    const std::size_t most = num_items / (bound + 1);
    return {bound, most, most == 0 ? 0 : num_items / tile_items + most};
  }

 private:
  static constexpr std::size_t max_segments = std::size_t{1} << 16;
};

/// What the kernels of a call share in device memory about its long segments. All members are 0 when the first kernel
/// starts.
struct long_segment_progress {
  unsigned long long items_taken;  // see take_items()
  unsigned long long listed;       // see long_segment_count
  unsigned long long tickets;      // of the passes
  unsigned long long most_passes;  // that a segment takes

  /// Takes `length` of the call's `num_items` items for a segment. Returns where the range begins, or -1 if too few
  /// items are left: then the segments have more than `num_items` items. One thread calls this.
  STRATA_D long long take_items(std::size_t length, std::size_t num_items) {
    const auto begin =
        static_cast<std::size_t>(detail::take_tickets(&items_taken, static_cast<unsigned long long>(length)));
    const bool is_within = begin <= num_items && length <= num_items - begin;
    STRATA_ASSERT(is_within, "segments have more than the num_items = %llu items of the call",
                  static_cast<unsigned long long>(num_items));
    return is_within ? static_cast<long long>(begin) : -1;
  }
};

/// The number of listed long segments and the number of their tiles, in one word, so that one addition increases both.
///
///     | segments: 24 bits | tiles: 40 bits |
struct long_segment_count {
  unsigned long long segments;
  unsigned long long tiles;

  STRATA_D static long_segment_count of(unsigned long long word) {
    return {word >> tile_bits, word & ((1ull << tile_bits) - 1)};
  }
  /// Adds a segment to the counts, and returns the counts before it. One thread calls this.
  STRATA_D static long_segment_count add_segment(unsigned long long* word, unsigned long long tiles) {
    return of(detail::take_tickets(word, 1ull << tile_bits | tiles));
  }

 private:
  static constexpr int tile_bits = 40;
};

/// An element of the list.
template <int MaxPasses>
struct long_segment {
  long long begin;  // in the arrays of the call
  unsigned long long length;
  long long keys_out_begin;  // in the array of sorted keys
  long long scratch_begin;   // in the scratch arrays
  unsigned long long first_tile;
  unsigned long long tiles;
  unsigned long long tiles_counted;
  unsigned long long tiles_moved;  // in all passes
  unsigned inexact;                // not 0: some keys are not exact (see radix_codes)
  int passes;                      // that are not skipped
  unsigned char passes_in_order[MaxPasses];
  radix_pass_plan plan[MaxPasses];
};

/// The list, and what the kernels know of its segments.
template <int MaxPasses>
struct long_segments {
  using Segment = long_segment<MaxPasses>;

  unsigned long long bound;  // longer segments are listed; no segment is, if this is the largest number
  Segment* list;
  unsigned long long* bins;   // of each segment and pass: items with each digit, later with a smaller digit
  void* states[2];            // look-back states of each tile and digit; passes use the two in turn
  int state_words;            // of 32 bits, in a state
  unsigned* segment_of_tile;  // index in the list

  STRATA_D unsigned long long* bins_of(std::size_t segment) const { return bins + segment * bins_per_segment; }

  /// Lists a segment of `tiles` tiles. One thread calls this. Returns the index of the segment in the list; the caller
  /// must clear the segment's bins. The list has capacity for every segment whose items were taken.
  STRATA_D std::size_t append(long_segment_progress& progress, const segment_bounds& bounds, unsigned long long tiles,
                              long long keys_out_begin, long long scratch_begin) const {
    const long_segment_count before = long_segment_count::add_segment(&progress.listed, tiles);
    Segment& segment = list[before.segments];
    segment.begin = bounds.begin;
    segment.length = static_cast<unsigned long long>(bounds.length);
    segment.keys_out_begin = keys_out_begin;
    segment.scratch_begin = scratch_begin;
    segment.first_tile = before.tiles;
    segment.tiles = tiles;
    segment.tiles_counted = segment.tiles_moved = 0;
    segment.inexact = 0;
    return static_cast<std::size_t>(before.segments);
  }
  /// Clears the bins of a segment. `threads` threads call this.
  STRATA_D void clear_bins(std::size_t segment, int thread, int threads) const {
    unsigned long long* const cleared = bins_of(segment);
    STRATA_UNROLL_N(1)
    for (int i = thread; i < bins_per_segment; i += threads) cleared[i] = 0;
  }

  static constexpr int bins_per_segment = MaxPasses * radix_bins;
};

template <class Digits>
using long_segments_of = long_segments<detail::ceiling_divide(Digits::key_bits, radix_bits)>;

}  // namespace detail
STRATA_NAMESPACE_END
