// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Segments of many laws of length, for benchmarks of segmented algorithms.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "harness/inputs.cuh"

namespace bench {

/// `segments + 1` offsets; the last is the number of items.
using offset_list = std::vector<std::int32_t>;

inline offset_list equal_segments(std::int64_t segments, std::int64_t length) {
  offset_list offsets(static_cast<std::size_t>(segments) + 1);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    offsets[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) * length);
  }
  return offsets;
}

/// Appends segments with the lengths that `next_length(index)` gives until `end` is reached.
template <class NextLength>
void fill_until(offset_list& offsets, std::int64_t end, NextLength&& next_length) {
  for (std::uint64_t i = 0; offsets.back() < end; ++i) {
    const std::int64_t next = offsets.back() + static_cast<std::int64_t>(next_length(i));
    offsets.push_back(static_cast<std::int32_t>(std::min(next, end)));
  }
}

/// One segment of half of the items between segments of 1 to 15.
inline offset_list one_huge_many_tiny(std::int64_t n, std::uint64_t seed) {
  const auto tiny = [seed](std::uint64_t i) { return random_bits(seed + i) % 15 + 1; };
  offset_list offsets = {0};
  fill_until(offsets, n / 4, tiny);
  offsets.push_back(static_cast<std::int32_t>(offsets.back() + n / 2));
  fill_until(offsets, n, tiny);
  return offsets;
}

/// Nine of ten segments empty, the others of 1 to 127.
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
    lengths[i] =
        static_cast<std::int64_t>(static_cast<double>(n) / harmonic / static_cast<double>(i + 1));
    rest -= lengths[i];
  }
  lengths[0] += rest;  // What rounding down left over: less than n / 100.
  for (std::size_t i = segments; i > 1; --i) {
    std::swap(lengths[i - 1], lengths[random_bits(seed + i) % i]);
  }
  offset_list offsets = {0};
  for (const std::int64_t length : lengths) {
    offsets.push_back(static_cast<std::int32_t>(offsets.back() + length));
  }
  return offsets;
}

}  // namespace bench
