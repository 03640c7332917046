// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/distributed/join/capacity.hpp>
#include <strata/distributed/join/route.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

/// \file
/// What all ranks tell each other before rows move, and what each of them concludes from it: the same on all ranks.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// What a rank says of its call.
struct join_header {
  std::int64_t status;
  std::int64_t build_rows;
  std::int64_t probe_rows;
  std::int64_t build_capacity;
  std::int64_t probe_capacity;
  /// What must be the same on all ranks.
  std::int64_t signature;
};

/// The same, and the hashes of some probe rows.
struct join_message {
  static constexpr unsigned max_samples = 256;

  join_header header;
  std::uint64_t samples[max_samples];

  static unsigned samples_of(std::int64_t probe_rows) {
    return probe_rows < static_cast<std::int64_t>(max_samples) ? static_cast<unsigned>(probe_rows) : max_samples;
  }
};

/// A hash, and how many probe rows are estimated to have it.
struct join_sample {
  std::uint64_t hash;
  std::uint64_t rows;
};

/// How many rows of all ranks there are. Sums of up to 2^16 numbers below 2^32 fit.
struct join_total_rows {
  std::uint64_t build = 0;
  std::uint64_t probe = 0;

  join_total_rows(const join_message* messages, int ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      build += static_cast<std::uint64_t>(messages[rank].header.build_rows);
      probe += static_cast<std::uint64_t>(messages[rank].header.probe_rows);
    }
  }
};

/// Whether fewer rows move if all ranks get all build rows, and the probe rows stay: build x (ranks - 1) instead of
/// (build + probe) x (ranks - 1) / ranks, if keys are spread over all ranks.
inline bool is_build_side_small(const join_total_rows& total, int ranks) {
  return total.build * static_cast<std::uint64_t>(ranks - 1) < total.probe;
}

/// A key is hot if more than 1 of 4 x ranks probe rows is estimated to have it: a quarter of a rank's share.
inline constexpr std::uint64_t hot_key_divisor = 4;
/// Fewer samples of a key say nothing.
inline constexpr unsigned least_hot_samples = 8;

/// Finds the hot keys. `samples` has room for those of all ranks.
inline join_hot_keys find_hot_keys(const join_message* messages, int ranks, std::uint64_t probe_rows,
                                   join_sample* samples) {
  std::size_t count = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const join_message& message = messages[rank];
    const unsigned of_rank = join_message::samples_of(message.header.probe_rows);
    for (unsigned i = 0; i < of_rank; ++i) {
      // A sample stands for the rows from it to the next one. 0: a row without a partner.
      const auto rows = static_cast<std::uint64_t>(message.header.probe_rows) / of_rank;
      if (message.samples[i] != 0) samples[count++] = {message.samples[i], rows};
    }
  }
  std::sort(samples, samples + count, [](const join_sample& a, const join_sample& b) { return a.hash < b.hash; });
  const std::uint64_t least_rows = probe_rows / (hot_key_divisor * static_cast<std::uint64_t>(ranks));
  std::size_t found = 0;
  for (std::size_t begin = 0, end = 0; begin < count; begin = end) {
    std::uint64_t rows = 0;
    for (; end < count && samples[end].hash == samples[begin].hash; ++end) rows += samples[end].rows;
    if (end - begin < least_hot_samples || rows <= least_rows) continue;
    samples[found++] = {samples[begin].hash, rows};
  }
  // The hottest ones. Those with as many rows are taken in the order of their hashes, so that all ranks agree.
  std::sort(samples, samples + found, [](const join_sample& a, const join_sample& b) {
    return a.rows != b.rows ? a.rows > b.rows : a.hash < b.hash;
  });
  join_hot_keys hot;
  hot.count = found < join_hot_keys::most ? static_cast<unsigned>(found) : join_hot_keys::most;
  for (unsigned i = 0; i < hot.count; ++i) hot.hashes[i] = samples[i].hash;
  std::sort(hot.hashes, hot.hashes + hot.count);
  return hot;
}

}  // namespace detail
STRATA_NAMESPACE_END
