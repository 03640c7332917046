// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Segments with many distributions of length, for benchmarks of segmented algorithms.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "harness/inputs.cuh"
#include "harness/measure.cuh"

namespace bench {

/// `segments + 1` offsets. The last one is the number of items.
using offset_list = std::vector<std::int32_t>;

inline offset_list equal_segments(std::int64_t segments, std::int64_t length) {
  offset_list offsets(static_cast<std::size_t>(segments) + 1);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    offsets[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) * length);
  }
  return offsets;
}

/// Appends segments of `next_length(index)` items until `end` is reached.
template <class NextLength>
void fill_until(offset_list& offsets, std::int64_t end, NextLength&& next_length) {
  for (std::uint64_t i = 0; offsets.back() < end; ++i) {
    const std::int64_t next = offsets.back() + static_cast<std::int64_t>(next_length(i));
    offsets.push_back(static_cast<std::int32_t>(std::min(next, end)));
  }
}

/// One segment with half of the items, between segments of 1 to 15 items.
inline offset_list one_huge_many_tiny(std::int64_t n, std::uint64_t seed) {
  const auto tiny = [seed](std::uint64_t i) { return random_bits(seed + i) % 15 + 1; };
  offset_list offsets = {0};
  fill_until(offsets, n / 4, tiny);
  offsets.push_back(static_cast<std::int32_t>(offsets.back() + n / 2));
  fill_until(offsets, n, tiny);
  return offsets;
}

/// Nine of ten segments are empty, the others have 1 to 127 items.
inline offset_list mostly_empty(std::int64_t n, std::uint64_t seed) {
  offset_list offsets = {0};
  fill_until(offsets, n, [seed](std::uint64_t i) {
    const std::uint64_t bits = random_bits(seed + i);
    return bits % 10 != 0 ? 0 : (bits >> 32) % 127 + 1;
  });
  return offsets;
}

/// n / 100 segments whose lengths are proportional to 1 / rank, in random order.
inline offset_list zipf(std::int64_t n, std::uint64_t seed) {
  const auto segments = static_cast<std::size_t>(n / 100);
  double harmonic = 0;
  for (std::size_t rank = 1; rank <= segments; ++rank) harmonic += 1.0 / static_cast<double>(rank);
  std::vector<std::int64_t> lengths(segments);
  std::int64_t rest = n;
  for (std::size_t i = 0; i < segments; ++i) {
    lengths[i] = static_cast<std::int64_t>(static_cast<double>(n) / harmonic / static_cast<double>(i + 1));
    rest -= lengths[i];
  }
  lengths[0] += rest;  // rounding down left less than n / 100 items
  for (std::size_t i = segments; i > 1; --i) {
    std::swap(lengths[i - 1], lengths[random_bits(seed + i) % i]);
  }
  offset_list offsets = {0};
  for (const std::int64_t length : lengths) {
    offsets.push_back(static_cast<std::int32_t>(offsets.back() + length));
  }
  return offsets;
}

/// Segments of `Length` items; the last one may be shorter.
template <int Length>
offset_list alike(std::int64_t n, std::uint64_t) {
  offset_list offsets = equal_segments(n / Length, Length);
  if (offsets.back() < n) offsets.push_back(static_cast<std::int32_t>(n));
  return offsets;
}
inline offset_list single(std::int64_t n, std::uint64_t) { return {0, static_cast<std::int32_t>(n)}; }

/// A distribution of segment lengths for the benchmarks of sorts.
struct named_law {
  const char* name;
  offset_list (*offsets)(std::int64_t n, std::uint64_t seed);
  /// Largest log2 of n at which CUB is timed. CUB uses one block for each segment.
  int most_of_cub;
  /// Largest log2 of n at which a kernel of one block of 6,400 items per segment is timed. Beyond it, a call takes more
  /// than half a second.
  int most_of_one_block = 0;
};
inline constexpr named_law sort_laws[] = {
    {"u8", alike<8>, 27, 24},
    {"u32", alike<32>, 27, 27},
    {"u100", alike<100>, 27, 27},
    {"u500", alike<500>, 27, 27},
    {"u2000", alike<2000>, 27, 27},
    {"u6400", alike<6400>, 27, 27},
    {"u10000", alike<10000>, 27},
    {"u100000", alike<100000>, 27},
    {"u1e7", alike<10000000>, 20},
    {"single", single, 20},
    {"zipf", zipf, 24},
    {"huge_tiny", one_huge_many_tiny, 20},
    {"many_empty", mostly_empty, 27},
};

/// Adds a rival. If it would take too long to time, calls it only once, so that its result exists.
inline void add_rival(workload& work, const peer& rival, bool is_rival, const environment& env) {
  if (is_rival) {
    work.peers.push_back(rival);
  } else {
    check(rival.call(env.stream), rival.lib.c_str());
    check(cudaStreamSynchronize(env.stream), rival.lib.c_str());
    work.has_reference = true;
  }
}

}  // namespace bench
