// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/distributed/join/message.hpp>
#include <strata/distributed/join/plan.hpp>
#include <strata/distributed/join/route.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>

/// \file
/// The destinations of the rows of both sides. They follow from the messages of all ranks, so all ranks find the same.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// A hash, with an estimate of the number of probe rows that have it.
struct join_sample {
  std::uint64_t hash;
  std::uint64_t rows;
};

/// The number of rows of all ranks. Sums of up to 2^16 numbers below 2^32 fit.
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

/// Returns the number of the first row of a rank among the rows of all ranks, for one side.
inline std::int64_t join_rows_before(const join_message* messages, int rank, bool is_build) {
  std::int64_t rows = 0;
  for (int i = 0; i < rank; ++i) {
    rows += is_build ? messages[i].header.build_rows : messages[i].header.probe_rows;
  }
  return rows;
}

/// True if fewer rows move when all ranks get all build rows, and the probe rows stay. That moves build x (ranks - 1)
/// rows instead of (build + probe) x (ranks - 1) / ranks, if keys are spread over all ranks. A probe row that goes to
/// the rank of its key costs `cost`. A build row that goes to one rank costs 1. If it goes to all ranks, each copy
/// costs 1.
inline bool is_build_side_small(const join_total_rows& total, int ranks, std::uint64_t cost = 1) {
  return total.build * static_cast<std::uint64_t>(ranks - 1) < cost * total.probe;
}

/// A row that goes to the rank of its key is sent with its number, and both sides are sorted by rank. A build side that
/// all ranks get unsorted needs neither: the number of a row is its position. Two H200, 2026-11-26: 2^27 x 2^27 u32 on
/// each GPU take 8.5 ms if the build side goes to all ranks, and 14.8 ms if each row goes to the rank of its key. For
/// more GPUs the cost is an estimate.
inline constexpr std::uint64_t cost_of_routed_row = 2;

/// What is known of rows that go straight to the ranks of their keys (direct.cuh). Such a row costs no more than one
/// copy of a build row that goes to all ranks.
struct join_direct_routing {
  bool is_possible;
  /// With fewer rows on a rank, another message and more launches take longer than what they save.
  std::uint64_t min_rows;

  bool has_gain(const join_message* messages, const join_total_rows& total, int ranks) const {
    const auto of_ranks = static_cast<std::uint64_t>(ranks);
    bool has_room = true;
    for (int rank = 0; rank < ranks; ++rank) {
      has_room = has_room && static_cast<std::uint64_t>(messages[rank].header.probe_capacity) >= total.probe / of_ranks;
    }
    return has_room && (total.build + total.probe) / of_ranks >= min_rows;
  }
};

/// True if all ranks have room for all build rows, and all build rows have a key.
inline bool can_send_whole_side(const join_message* messages, const join_total_rows& total, int ranks) {
  for (int rank = 0; rank < ranks; ++rank) {
    const join_header& header = messages[rank].header;
    if (header.has_build_mask != 0 || static_cast<std::uint64_t>(header.build_capacity) < total.build) return false;
  }
  return true;
}

/// A key is frequent if, by an estimate, more than one in 4 x ranks probe rows has it: a quarter of a rank's share.
inline constexpr std::uint64_t frequent_key_divisor = 4;
/// A key with fewer samples does not count as frequent.
inline constexpr unsigned min_samples_of_frequent_key = 8;

/// Finds the frequent keys. `samples` has memory for the samples of all ranks.
inline join_frequent_keys find_frequent_keys(const join_message* messages, int ranks, std::uint64_t probe_rows,
                                             join_sample* samples) {
  std::size_t count = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const join_message& message = messages[rank];
    const unsigned of_rank = join_message::samples_of(message.header.probe_rows);
    for (unsigned i = 0; i < of_rank; ++i) {
      // A sample counts for the rows from it to the next one. The hash 0 means a row without a partner.
      const auto rows = static_cast<std::uint64_t>(message.header.probe_rows) / of_rank;
      if (message.samples[i] != 0) samples[count++] = {message.samples[i], rows};
    }
  }
  std::sort(samples, samples + count, [](const join_sample& a, const join_sample& b) { return a.hash < b.hash; });
  const std::uint64_t least_rows = probe_rows / (frequent_key_divisor * static_cast<std::uint64_t>(ranks));
  std::size_t found = 0;
  for (std::size_t begin = 0, end = 0; begin < count; begin = end) {
    std::uint64_t rows = 0;
    for (; end < count && samples[end].hash == samples[begin].hash; ++end) rows += samples[end].rows;
    if (end - begin < min_samples_of_frequent_key || rows <= least_rows) continue;
    samples[found++] = {samples[begin].hash, rows};
  }
  // Takes the most frequent keys. Keys with equal numbers of rows are ordered by hash, so that all ranks agree.
  std::sort(samples, samples + found, [](const join_sample& a, const join_sample& b) {
    return a.rows != b.rows ? a.rows > b.rows : a.hash < b.hash;
  });
  join_frequent_keys frequent;
  frequent.count = found < join_frequent_keys::most ? static_cast<unsigned>(found) : join_frequent_keys::most;
  for (unsigned i = 0; i < frequent.count; ++i) frequent.hashes[i] = samples[i].hash;
  std::sort(frequent.hashes, frequent.hashes + frequent.count);
  return frequent;
}

/// The destinations of the rows of a call.
struct join_destinations {
  /// All ranks get all build rows, and no probe row moves.
  bool probe_stays = false;
  /// The build rows are sent as they are: not sorted by classes, and without their numbers.
  bool sends_whole_build_side = false;
  /// Each row goes straight to one rank, or is dropped.
  bool is_direct = false;
  /// If a rank has no room for the rows that go to it directly, the whole build side can be sent instead.
  bool may_send_whole_build_side = false;
  /// Build rows with a frequent key go to all ranks, and probe rows with such a key stay.
  join_frequent_keys frequent;
  join_null_target build_nulls{join_null_target::nowhere};
  join_null_target probe_nulls{join_null_target::nowhere};
};

/// What the kind of a join requires of destinations.
struct join_destination_rules {
  /// True if several ranks may have copies of a build row. Otherwise each build row is on one rank, which finds out
  /// whether it has a partner.
  bool may_copy_build_rows;
  /// True if build rows without a partner are in the result.
  bool keeps_build_rows;
  bool keeps_probe_rows;
  bool nulls_equal;
};

/// True if some rank may have rows without a key that the join needs. They take part in the exchange, even if they stay
/// on their rank. Direct routing has no place for them.
inline bool do_nulls_move(const join_message* messages, int ranks, const join_destination_rules& rules) {
  for (int rank = 0; rank < ranks; ++rank) {
    const join_header& header = messages[rank].header;
    if (header.has_build_mask != 0 && (rules.nulls_equal || rules.keeps_build_rows)) return true;
    if (header.has_probe_mask != 0 && (rules.nulls_equal || rules.keeps_probe_rows)) return true;
  }
  return false;
}

/// Chooses the destinations. `samples` has memory for the samples of all ranks.
inline join_destinations choose_destinations(const join_message* messages, int ranks,
                                             const join_destination_rules& rules, const join_direct_routing& direct,
                                             join_sample* samples) {
  join_destinations result;
  const join_total_rows total(messages, ranks);
  const bool may_be_direct = direct.is_possible && !detail::do_nulls_move(messages, ranks, rules);
  if (rules.may_copy_build_rows) {
    const bool is_small = detail::is_build_side_small(total, ranks);
    result.sends_whole_build_side = (is_small || detail::is_build_side_small(total, ranks, cost_of_routed_row)) &&
                                    detail::can_send_whole_side(messages, total, ranks);
    if (result.sends_whole_build_side && !is_small && may_be_direct && direct.has_gain(messages, total, ranks)) {
      // Direct routing sends a row to one rank only. The build rows of a frequent key would go to all ranks. So if
      // there are frequent keys, the whole build side is sent.
      const join_frequent_keys frequent = detail::find_frequent_keys(messages, ranks, total.probe, samples);
      result.sends_whole_build_side = frequent.count > 0;
      result.may_send_whole_build_side = true;
    }
    result.probe_stays = result.sends_whole_build_side || is_small;
  }
  if (rules.may_copy_build_rows && !result.probe_stays) {
    result.frequent = detail::find_frequent_keys(messages, ranks, total.probe, samples);
  }
  if (!rules.nulls_equal) {
    if (rules.keeps_build_rows) result.build_nulls.target = join_null_target::same_rank;
    if (rules.keeps_probe_rows) result.probe_nulls.target = join_null_target::same_rank;
  } else if (result.probe_stays || result.frequent.contains(join_null_route_hash)) {
    result.build_nulls.target = join_null_target::all_ranks;
    result.probe_nulls.target = join_null_target::same_rank;
  } else {
    const unsigned rank = detail::join_rank_of(join_null_route_hash, static_cast<unsigned>(ranks));
    result.build_nulls.target = result.probe_nulls.target = static_cast<int>(rank);
  }
  result.is_direct = may_be_direct && !result.probe_stays && result.frequent.count == 0;
  return result;
}

/// Returns how a rank finds the class of a row of one of its sides.
inline join_routing routing_of(const join_destinations& destinations, bool is_build,
                               const join_destination_rules& rules, int rank, int ranks) {
  const join_classes classes{static_cast<unsigned>(ranks)};
  const auto here = static_cast<join_class_t>(rank);
  const auto dropped = static_cast<join_class_t>(classes.dropped());
  const bool keeps_rows = is_build ? rules.keeps_build_rows : rules.keeps_probe_rows;
  const join_null_target nulls = is_build ? destinations.build_nulls : destinations.probe_nulls;
  join_routing routing{};
  routing.by_rank.classes = classes;
  routing.are_all_frequent = is_build && destinations.probe_stays;
  routing.frequent_class = is_build ? static_cast<join_class_t>(classes.to_all()) : here;
  routing.by_rank.null_class =
      nulls.target == join_null_target::nowhere ? dropped : static_cast<join_class_t>(classes.null());
  routing.by_rank.unequal_class = keeps_rows ? here : dropped;
  routing.frequent = destinations.frequent;
  return routing;
}

}  // namespace detail
STRATA_NAMESPACE_END
