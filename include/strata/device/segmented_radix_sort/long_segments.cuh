// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/radix_sort/problem.cuh>
#include <strata/device/radix_sort/tuning.hpp>

#include <cstddef>

/// \file
/// The long segments of a call, which many blocks sort. The kernel that sorts the other segments lists them.
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

  /// A block sorts a segment of 1 / 256 of the items while the others sort as much each. More segments than that may
  /// be listed only if they have 2^16 items, and never more than 2^16. The limits increase with the number of items,
  /// and decrease with the size of a tile.
  static constexpr long_segment_limits of(std::size_t num_items, std::size_t tile_items) {
    constexpr std::size_t part = 256, enough_items = std::size_t{1} << 16, max_segments = std::size_t{1} << 16;
    const std::size_t two_tiles = 2 * tile_items;
    const std::size_t fair = min(num_items / part, enough_items);
    const std::size_t bound = max(max(two_tiles, fair), num_items / max_segments);
    const std::size_t most = min(min(num_items / (two_tiles + 1), max(part, num_items / enough_items)), max_segments);
    return {bound, most, most == 0 ? 0 : num_items / tile_items + most};
  }

 private:
  static constexpr std::size_t min(std::size_t a, std::size_t b) { return a < b ? a : b; }
  static constexpr std::size_t max(std::size_t a, std::size_t b) { return a < b ? b : a; }
};

/// What the kernels of a call share in device memory; 0 when the first one starts.
struct segmented_radix_sort_progress {
  unsigned long long segments_taken;
  unsigned long long items_taken;  // of the scratch arrays in temporary storage
  unsigned long long listed;       // see long_segment_count
  unsigned long long tickets;      // of the passes over long segments
  unsigned long long most_passes;  // that a long segment takes
};

/// How many long segments are listed and how many tiles they have, in one word: one addition numbers both.
///
///     | segments: 24 bits | tiles: 40 bits |
struct long_segment_count {
  unsigned long long segments;
  unsigned long long tiles;

  STRATA_D static long_segment_count of(unsigned long long word) {
    return {word >> tile_bits, word & ((1ull << tile_bits) - 1)};
  }
  /// By one thread: the counts before the segment.
  STRATA_D static long_segment_count add_segment(unsigned long long* word, unsigned long long tiles) {
    return of(atomicAdd(word, 1ull << tile_bits | tiles));
  }

 private:
  static constexpr int tile_bits = 40;
};

/// An element of the list.
template <int MaxPasses>
struct long_segment {
  long long begin;  // in the arrays of the call
  unsigned long long length;
  long long scratch_begin;  // in the scratch arrays
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
  unsigned long long* bins;   // of each segment and pass: how many items have a digit, then how many a smaller one
  void* states[2];            // look-back states of each tile and digit; they alternate
  int state_words;            // of 32 bits, in a state
  unsigned* segment_of_tile;  // index in the list

  STRATA_D unsigned long long* bins_of(std::size_t segment) const { return bins + segment * bins_per_segment; }

  static constexpr int bins_per_segment = MaxPasses * radix_bins;
};

template <class Digits>
using long_segments_of = long_segments<ceiling_divide(Digits::key_bits, radix_bits)>;

}  // namespace detail
STRATA_NAMESPACE_END
