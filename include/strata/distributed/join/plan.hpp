// SPDX-FileCopyrightText: 2026 The strata authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <strata/core/macros.hpp>
#include <strata/core/platform.cuh>
#include <strata/distributed/join/route.cuh>

#include <cstddef>
#include <cstdint>

/// \file
/// The plan of a side's exchange: which rows go from which rank to which. It follows from the numbers of rows of each
/// class on all ranks.

STRATA_NAMESPACE_BEGIN
namespace detail {

/// The destination of rows without a key: a rank, or one of these values.
struct join_null_target {
  static constexpr int nowhere = -1;
  static constexpr int same_rank = -2;
  static constexpr int all_ranks = -3;

  int target;

  bool sends(int from, int to) const {
    return target == to || target == all_ranks || (target == same_rank && from == to);
  }
};

/// A run: rows of a rank for another rank, side by side in the sender's arrays. Offsets are in rows.
struct join_send_run {
  std::int64_t begin;
  std::int64_t rows;
};

/// The rows of a side that move. Each rank sends up to three runs to another rank. The receiver has all runs of the
/// first section, then those of the second and of the third, and within a section in the order of ranks. So rows
/// without a key are behind all others.
struct join_side_plan {
  static constexpr int sections = 3;
  enum section_number { keys, frequent_keys, nulls };

  int ranks;
  /// The numbers of rows of each class on each rank. `stride` is the distance from one rank's numbers to the next.
  const std::int64_t* counts;
  std::size_t stride;
  join_null_target null_target;

  const std::int64_t* counts_of(int rank) const { return counts + static_cast<std::size_t>(rank) * stride; }

  join_send_run run(int from, int to, int section) const {
    const std::int64_t* const of = counts_of(from);
    join_send_run result{0, rows(from, to, section)};
    for (unsigned before = 0; before < class_of(to, section); ++before) result.begin += of[before];
    return result;
  }
  std::int64_t rows(int from, int to, int section) const {
    if (section == nulls && !null_target.sends(from, to)) return 0;
    return counts_of(from)[class_of(to, section)];
  }
  std::int64_t received(int to, int section) const {
    std::int64_t sum = 0;
    for (int from = 0; from < ranks; ++from) sum += rows(from, to, section);
    return sum;
  }
  std::int64_t received(int to) const { return received(to, keys) + received(to, frequent_keys) + received(to, nulls); }

 private:
  unsigned class_of(int to, int section) const {
    const join_classes classes{static_cast<unsigned>(ranks)};
    if (section == keys) return static_cast<unsigned>(to);
    return section == frequent_keys ? classes.to_all() : classes.null();
  }
};

}  // namespace detail
STRATA_NAMESPACE_END
