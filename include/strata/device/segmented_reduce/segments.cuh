// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/core/types.hpp>
#include <strata/device/arguments.cuh>
#include <strata/device/overlap.hpp>
#include <strata/device/reduce/output.cuh>
#include <strata/device/segmented_reduce/tuning.hpp>

#include <cstddef>
#include <limits>
#include <type_traits>

STRATA_NAMESPACE_BEGIN
namespace detail {

template <class T>
using if_integral = std::enable_if_t<std::is_integral_v<T>, cudaError_t>;
template <class T>
using if_not_integral = std::enable_if_t<!std::is_integral_v<T>, cudaError_t>;

/// Where a segment lies. One that ends before it begins is empty.
struct segment_bounds {
  long long begin;
  long long length;
};

/// Segments given by two sequences of offsets.
template <class BeginOffsetIterator, class EndOffsetIterator>
struct offset_segments {
  BeginOffsetIterator begins;
  EndOffsetIterator ends;

  /// What the host can know of the lengths and of the arguments.
  bool may_exceed(long long) const { return true; }
  bool has_valid_size(long long) const { return true; }
  template <class InputIterator, class OutputIterator>
  bool are_valid(const InputIterator& d_in, const OutputIterator& d_out,
                 long long num_segments) const {
    const auto count = static_cast<std::size_t>(num_segments);
    return !detail::is_null(begins) && !detail::is_null(ends) && !detail::is_null(d_in) &&
           detail::can_reach(begins, num_segments) && detail::can_reach(ends, num_segments) &&
           !overlap(d_out, count, count) && !detail::begins_within(d_out, d_in, 1);
  }
  /// Whether an array of `count` items lies on offsets.
  template <class OutputIterator>
  bool overlap(const OutputIterator& d_out, std::size_t count, std::size_t num_segments) const {
    return detail::arrays_overlap(d_out, count, begins, num_segments) ||
           detail::arrays_overlap(d_out, count, ends, num_segments);
  }

  STRATA_D segment_bounds operator()(long long segment) const {
    using begin_difference = typename std::iterator_traits<BeginOffsetIterator>::difference_type;
    using end_difference = typename std::iterator_traits<EndOffsetIterator>::difference_type;
    const auto begin = static_cast<long long>(begins[static_cast<begin_difference>(segment)]);
    const auto end = static_cast<long long>(ends[static_cast<end_difference>(segment)]);
    return {begin, end > begin ? end - begin : 0};
  }
};

/// Segments of one size, side by side.
struct fixed_size_segments {
  long long size;

  bool may_exceed(long long length) const { return size > length; }
  bool has_valid_size(long long num_segments) const {
    constexpr long long most = std::numeric_limits<long long>::max();
    return size == 0 || (size > 0 && num_segments <= most / size);
  }
  template <class InputIterator, class OutputIterator>
  bool are_valid(const InputIterator& d_in, const OutputIterator& d_out,
                 long long num_segments) const {
    const auto items = static_cast<std::size_t>(num_segments * size);
    return items == 0 ||
           (!detail::is_null(d_in) && detail::can_reach(d_in, items) &&
            detail::has_room_for_indices(d_out, static_cast<std::size_t>(size)) &&
            !detail::arrays_overlap(d_out, static_cast<std::size_t>(num_segments), d_in, items));
  }
  template <class OutputIterator>
  bool overlap(const OutputIterator&, std::size_t, std::size_t) const {
    return false;
  }

  STRATA_D segment_bounds operator()(long long segment) const { return {segment * size, size}; }
};

/// How a long segment is cut: a function of its length alone, so that results do not depend on who
/// reduces which chunk.
struct segment_chunks {
  unsigned count;
  long long items_per_chunk;

  STRATA_HD segment_chunks(long long length, int chunk_items) {
    const long long wanted = ceiling_divide<long long>(length, chunk_items);
    const long long chunks = wanted < max_chunks_per_segment ? wanted : max_chunks_per_segment;
    // Multiples of 64 items keep the chunks' alignment to vectors of any type alike.
    items_per_chunk = round_up<long long>(ceiling_divide<long long>(length, chunks), 64);
    count = static_cast<unsigned>(ceiling_divide<long long>(length, items_per_chunk));
  }

  STRATA_HD long long begin(unsigned chunk) const { return chunk * items_per_chunk; }
  STRATA_HD long long items(unsigned chunk, long long length) const {
    const long long rest = length - begin(chunk);
    return rest < items_per_chunk ? rest : items_per_chunk;
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

/// Chunks of long segments on their way from the first kernel to the second. `num_chunks` is zero
/// before the first; it may come to exceed `max_chunks`.
template <class AccumT>
struct chunk_queue {
  unsigned* num_chunks;
  queued_chunk* chunks;
  unsigned* num_finished;  // of the same segment, for each segment's first chunk
  AccumT* partial_results;

  /// Called by a warp; false if the queue is full.
  STRATA_D bool push(long long segment, const segment_bounds& bounds,
                     const segment_chunks& pushed) const {
    unsigned first = 0;
    if (platform::lane_id() == 0) first = atomicAdd(num_chunks, pushed.count);
    first = __shfl_sync(full_warp_mask, first, 0);
    const bool fits = first + pushed.count <= max_chunks && first + pushed.count >= first;
    if (fits && platform::lane_id() == 0) num_finished[first] = 0;
    for (unsigned i = platform::lane_id(); i < pushed.count && first + i < max_chunks;
         i += warp_threads) {
      const long long begin = pushed.begin(i);
      chunks[first + i] = {segment, bounds,
                           begin,   begin + pushed.items(i, bounds.length),
                           first,   fits ? pushed.count : 0};
    }
    return fits;
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
