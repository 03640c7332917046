// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/types.hpp>
#include <strata/distributed/sort/tuning.hpp>

#include <cstddef>

STRATA_NAMESPACE_BEGIN
namespace detail {

/// Which part of the sorted sequence each rank gets, and how the part is cut into chunks. Chunk `c` of rank `r` has the
/// number `r * chunks + c` among the chunks of all ranks. Splitter `i` is the position before chunk `i`.
struct sort_shares {
  int ranks;
  int chunks;
  long long items;

  /// `tuning` says whether there are several chunks. Host and device compute the same.
  STRATA_HD static sort_shares of(int ranks, long long items, const distributed_sort_tuning& tuning) {
    const bool has_chunks = (items + ranks - 1) / ranks > tuning.max_items_without_chunks;
    return {ranks, has_chunks ? tuning.chunks : 1, items};
  }

  /// `part * whole / parts`, rounded down, without overflow: `part` and `parts` are small.
  STRATA_HD static long long fraction(long long whole, int part, int parts) {
    return whole / parts * part + whole % parts * part / parts;
  }

  STRATA_HD int all_chunks() const { return ranks * chunks; }
  STRATA_HD long long begin_of_rank(int rank) const { return fraction(items, rank, ranks); }
  STRATA_HD long long of_rank(int rank) const { return begin_of_rank(rank + 1) - begin_of_rank(rank); }

  /// Returns how many items come before a splitter. `splitter` is 0 to `all_chunks()`.
  STRATA_HD long long before(int splitter) const {
    const int rank = splitter / chunks, chunk = splitter % chunks;
    const long long begin = begin_of_rank(rank);
    return chunk == 0 ? begin : begin + fraction(of_rank(rank), chunk, chunks);
  }
};

/// What follows from the number of ranks and the size of a key.
struct sort_sizes {
  int ranks;
  distributed_sort_tuning tuning;
  std::size_t key_bytes;

  /// A round with `s` samples of each rank leaves brackets of up to (ranks + 1) / s of their widths (brackets.cuh).
  /// With this number of samples, it leaves a quarter at most.
  int min_samples() const { return 4 * (ranks + 1); }
  int first_samples() const { return samples_of(tuning.first_samples); }
  int samples() const { return samples_of(tuning.samples / ranks); }
  int max_splitters() const { return ranks * tuning.chunks - 1; }

  /// Returns how many rounds after the first are enough to narrow each bracket to one position, if no rank has more
  /// than `items` items.
  int rounds_after_first(long long items) const {
    int rounds = 0;
    for (long long width = left_by(items, first_samples()); width > 0; width = left_by(width, samples())) ++rounds;
    return rounds;
  }

  /// The largest number of items in a chunk of a rank's output, if the output has at most `capacity` items. It never
  /// falls if `capacity` grows.
  long long max_chunk(long long capacity) const {
    const long long undivided = tuning.max_items_without_chunks, divided = capacity / tuning.chunks + 1;
    if (capacity <= undivided || tuning.chunks == 1) return capacity;
    return detail::most(divided, undivided);
  }

 private:
  int samples_of(int wanted) const {
    const std::size_t within = static_cast<std::size_t>(tuning.sample_bytes) / key_bytes;
    const int count = static_cast<std::size_t>(wanted) < within ? wanted : static_cast<int>(within);
    return detail::most(count, min_samples());
  }
  long long left_by(long long width, int samples) const {
    return width == 0 ? 0 : (ranks + 1) * ((width - 1) / samples);
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
