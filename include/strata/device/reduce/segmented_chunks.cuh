// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/engine/segments.cuh>
#include <strata/device/engine/work_queue.cuh>
#include <strata/device/reduce/segmented_tuning.hpp>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// How a long segment is cut: a function of its length alone, so that results do not depend on
/// which block reduces which chunk.
struct segment_chunks {
  unsigned count;
  long long items_per_chunk;

  STRATA_HD segment_chunks(long long length, int chunk_items) {
    const long long wanted = ceiling_divide<long long>(length, chunk_items);
    const long long chunks = detail::least(wanted, max_chunks_per_segment);
    // Multiples of 64 items keep the chunks' alignment to vectors of any type alike.
    items_per_chunk = round_up<long long>(ceiling_divide<long long>(length, chunks), 64);
    count = static_cast<unsigned>(ceiling_divide<long long>(length, items_per_chunk));
  }

  STRATA_HD long long begin(unsigned chunk) const { return chunk * items_per_chunk; }
  STRATA_HD long long items(unsigned chunk, long long length) const {
    const long long rest = length - begin(chunk);
    return detail::least(rest, items_per_chunk);
  }
};

/// A chunk of a long segment.
struct queued_chunk {
  long long segment;
  segment_bounds bounds;  // of the segment
  long long begin;        // of the chunk's items in the segment
  long long end;
  unsigned first;  // number of the segment's first chunk
  unsigned count;  // of the segment's chunks; 0 if there was no room for all
};

/// Chunks of long segments that the first kernel queues for the second. `num_chunks` is zero
/// before the first; it may come to exceed `max_chunks`.
template <class AccumT>
struct chunk_queue {
  unsigned* num_chunks;
  queued_chunk* chunks;
  unsigned* num_finished;  // of the same segment, for each segment's first chunk
  AccumT* partial_results;

  /// Called by a warp; false if the queue is full.
  STRATA_D bool push(long long segment, const segment_bounds& bounds, const segment_chunks& pushed) const {
    unsigned first = 0;
    if (platform::lane_id() == 0) first = detail::take_tickets(num_chunks, pushed.count);
    first = __shfl_sync(full_warp_mask, first, 0);
    const bool fits = first + pushed.count <= max_chunks && first + pushed.count >= first;
    if (fits && platform::lane_id() == 0) num_finished[first] = 0;
    for (unsigned i = platform::lane_id(); i < pushed.count && first + i < max_chunks; i += warp_threads) {
      const long long begin = pushed.begin(i);
      chunks[first + i] = {
          segment, bounds, begin, begin + pushed.items(i, bounds.length), first, fits ? pushed.count : 0};
    }
    return fits;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
